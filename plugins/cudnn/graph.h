/*
 * An operation graph of cuDNN while it is being written down, and the plan that comes of it. Every
 * function works on a graph that has failed already by doing nothing, so that only `finish` is
 * asked whether all went well. Descriptors are the graph's and go with it.
 */
#ifndef PLUGINS_CUDNN_GRAPH_H_
#define PLUGINS_CUDNN_GRAPH_H_

#include "library.h"

/* Axes of a tensor: batch, channels (or heads) and up to three spatial ones. */
enum {
  TENON_CUDNN_RANK = 5,
  TENON_CUDNN_TENSORS = 24,
  TENON_CUDNN_OPERATIONS = 64,
  TENON_CUDNN_DESCRIPTORS = 256
};

/* Extents and strides as cuDNN is told them; at least two spatial axes. */
typedef struct tenon__cudnn_shape_t {
  uint32_t rank;
  int64_t dims[TENON_CUDNN_RANK];
  int64_t strides[TENON_CUDNN_RANK];
} tenon__cudnn_shape_t;

/* A tensor of the older interface, which the caller destroys, also where this fails. */
cudnnStatus_t tenon__cudnn_describe(const tenon__cudnn_library_t* library, cudnnDataType_t type,
                                    const tenon__cudnn_shape_t* shape,
                                    cudnnTensorDescriptor_t* out_descriptor);

/* Where the data of a tensor comes from in a call. */
typedef enum tenon__cudnn_source_t {
  TENON_CUDNN_INPUT, /* the region's input `index` */
  TENON_CUDNN_OUTPUT,
  TENON_CUDNN_ZEROS,  /* zeroed memory */
  TENON_CUDNN_TURNED, /* memory of the step's: what lies there in another order */
  TENON_CUDNN_NUMBER, /* numbers[index], which cuDNN reads on the host */
} tenon__cudnn_source_t;

/* The tensors in memory, in the order of their names, which count from 1. */
typedef struct tenon__cudnn_tensors_t {
  uint32_t count;
  int64_t names[TENON_CUDNN_TENSORS];
  tenon__cudnn_source_t sources[TENON_CUDNN_TENSORS];
  uint32_t indices[TENON_CUDNN_TENSORS];
  uint32_t number_count;
  float numbers[TENON_CUDNN_TENSORS];
} tenon__cudnn_tensors_t;

typedef struct tenon__cudnn_graph_t {
  const tenon__cudnn_library_t* library;
  cudnnHandle_t handle;
  tenon__cudnn_tensors_t* tensors;
  int64_t alignment; /* that all tensors in memory have, in bytes */
  cudnnStatus_t result;
  const char* failed; /* what was refused */
  int64_t next_name;
  uint32_t descriptor_count;
  uint32_t operation_count;
  cudnnBackendDescriptor_t descriptors[TENON_CUDNN_DESCRIPTORS];
  cudnnBackendDescriptor_t operations[TENON_CUDNN_OPERATIONS];
} tenon__cudnn_graph_t;

/* A tensor in memory. */
cudnnBackendDescriptor_t tenon__cudnn_tensor(tenon__cudnn_graph_t* graph, cudnnDataType_t type,
                                             const tenon__cudnn_shape_t* shape,
                                             tenon__cudnn_source_t source, uint32_t index);
/* A value between two operations, in f32. */
cudnnBackendDescriptor_t tenon__cudnn_between(tenon__cudnn_graph_t* graph,
                                              const tenon__cudnn_shape_t* shape);
cudnnBackendDescriptor_t tenon__cudnn_number(tenon__cudnn_graph_t* graph, uint32_t rank,
                                             float number);

/* A window of `axes` spatial axes. */
typedef struct tenon__cudnn_steps_t {
  uint32_t axes;
  const int64_t* strides;
  const int64_t* dilations;
  const int64_t* begin;
  const int64_t* end;
} tenon__cudnn_steps_t;
/* y = x * w; `transposed`: x is what such a convolution of y would give. */
void tenon__cudnn_convolve(tenon__cudnn_graph_t* graph, const tenon__cudnn_steps_t* steps,
                           bool transposed, const cudnnBackendDescriptor_t xwy[3]);

/* What a pointwise operation is, beside its operands. */
typedef struct tenon__cudnn_pointwise_t {
  cudnnPointwiseMode_t mode;
  bool clips; /* RELU_FWD alone: at `upper` too */
  double upper;
} tenon__cudnn_pointwise_t;
/* `b` NULL: of one operand. */
void tenon__cudnn_apply(tenon__cudnn_graph_t* graph, const tenon__cudnn_pointwise_t* what,
                        cudnnBackendDescriptor_t x, cudnnBackendDescriptor_t b,
                        cudnnBackendDescriptor_t y);

/* y = softmax(scale * q k^T) v, all [batch, heads, tokens, features]. */
void tenon__cudnn_attend(tenon__cudnn_graph_t* graph, const cudnnBackendDescriptor_t qkvy[4],
                         float scale);

void tenon__cudnn_graph_end(tenon__cudnn_graph_t* graph);

/* Which of the heuristic's proposals are wanted. */
typedef struct tenon__cudnn_wish_t {
  bool exact;              /* fp32 as it is: no tensor cores, no transforms */
  bool compiled;           /* also engines that are compiled when the plan is made */
  bool any_number;         /* with fewer proposals the last one, instead of none */
  uint32_t index;          /* of those that are left */
  int64_t workspace_bytes; /* at most */
} tenon__cudnn_wish_t;

typedef struct tenon__cudnn_plan_t {
  cudnnBackendDescriptor_t plan;
  int64_t workspace_bytes;
  int64_t engine; /* cuDNN's number of it */
} tenon__cudnn_plan_t;
/* Says what was refused on the sink. */
tenon_status_t tenon__cudnn_plan_make(tenon__cudnn_graph_t* graph, const tenon__cudnn_wish_t* wish,
                                      const tenon_sink_t* sink, tenon__cudnn_plan_t* out_plan);

/* cuDNN's list of addresses, and what it was made of. All zero: none yet. */
typedef struct tenon__cudnn_pack_t {
  cudnnBackendDescriptor_t descriptor;
  void* pointers[TENON_CUDNN_TENSORS];
  void* workspace;
} tenon__cudnn_pack_t;
/* For these addresses, of the tensors in their order; made anew where one is another than in the
 * last call. `end` it, also where this fails. */
cudnnStatus_t tenon__cudnn_pack_renew(const tenon__cudnn_library_t* library,
                                      const tenon__cudnn_tensors_t* tensors, void* const* pointers,
                                      void* workspace, tenon__cudnn_pack_t* pack);
void tenon__cudnn_pack_end(const tenon__cudnn_library_t* library, tenon__cudnn_pack_t* pack);

#endif
