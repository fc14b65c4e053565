/* What the files of the stand-in for cuDNN share: an operation graph that has been read, and what
 * computes it. */
#ifndef TESTS_CONFORMANCE_STAND_IN_CUDNN_PROGRAM_H_
#define TESTS_CONFORMANCE_STAND_IN_CUDNN_PROGRAM_H_

#include <cudnn_adv.h>
#include <cudnn_graph.h>
#include <cudnn_ops.h>
#include <stdbool.h>
#include <stdint.h>

#include "stand_in.h"

enum { RANK = 5, TENSORS = 64, OPERATIONS = 64 };

typedef struct tensor_t {
  int64_t name;
  int64_t alignment;
  cudnnDataType_t type;
  int64_t rank;
  int64_t dims[RANK];
  int64_t strides[RANK];
  bool is_virtual;
  bool by_value;
  void* data; /* of a call: the memory, or what a virtual tensor holds */
  float number;
} tensor_t;

typedef struct operation_t {
  cudnnBackendDescriptorType_t type;
  int32_t x; /* tensors by number; -1: none */
  int32_t w; /* or the second operand */
  int32_t y;
  int32_t v; /* of attention, whose q is x and whose k is w */
  int32_t scale;
  cudnnPointwiseMode_t mode;
  bool propagates;
  double lower;
  double upper;
  int64_t axes;
  int64_t stride[3];
  int64_t dilation[3];
  int64_t begin[3];
  int64_t end[3];
} operation_t;

/* Of the older interface. */
struct cudnnTensorStruct {
  tensor_t tensor;
};

/* By value: what was read of it is destroyed before it runs. */
typedef struct program_t {
  int32_t tensor_count;
  int32_t operation_count;
  bool rounds; /* fp32 operands to tf32 */
  void* workspace;
  int64_t workspace_bytes;
  tensor_t tensors[TENSORS];
  operation_t operations[OPERATIONS];
} program_t;

/* cudnn.c. Work on the handle's stream, by the stand-in for the driver, which keeps a copy of the
 * parameters. */
cudnnStatus_t stand_in_work(cudnnHandle_t handle, stand_in_call_t call, const void* parameters,
                            size_t size);

/* cudnn_compute.c */
void stand_in_compute(const void* program);
float stand_in_load(const tensor_t* tensor, int64_t place);
/* As tensor cores read a number of f32. */
float stand_in_tf32(float value);
void stand_in_store(const tensor_t* tensor, int64_t place, double value);
/* The place of a point, 0 along axes of extent 1. */
int64_t stand_in_place(const tensor_t* tensor, const int64_t* point);
bool stand_in_next(int64_t* point, const int64_t* dims, int64_t rank);

/* cudnn_attention.c. Is it as cuDNN takes it? */
bool stand_in_takes_attention(const program_t* program);
void stand_in_attend(const program_t* program, const operation_t* operation);

#endif
