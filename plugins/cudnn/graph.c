/* Writing an operation graph down. */
#include "graph.h"

#include <string.h>

/* ---- Descriptors ---- */

static void keep(tenon__cudnn_graph_t* graph, cudnnStatus_t result, const char* what) {
  if (graph->result == CUDNN_STATUS_SUCCESS && result != CUDNN_STATUS_SUCCESS) {
    graph->result = result;
    graph->failed = what;
  }
}

static cudnnBackendDescriptor_t make(tenon__cudnn_graph_t* graph, cudnnBackendDescriptorType_t type,
                                     const char* what) {
  cudnnBackendDescriptor_t made = NULL;
  if (graph->descriptor_count == TENON_CUDNN_DESCRIPTORS) {
    keep(graph, CUDNN_STATUS_NOT_SUPPORTED, "a graph of so many descriptors");
  }
  if (graph->result == CUDNN_STATUS_SUCCESS) {
    keep(graph, graph->library->cudnnBackendCreateDescriptor(type, &made), what);
  }
  if (made != NULL) {
    graph->descriptors[graph->descriptor_count++] = made;
  }
  return made;
}

static void set(tenon__cudnn_graph_t* graph, cudnnBackendDescriptor_t descriptor,
                cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
                const void* values) {
  if (graph->result == CUDNN_STATUS_SUCCESS) {
    keep(graph, graph->library->cudnnBackendSetAttribute(descriptor, name, type, count, values),
         "an attribute");
  }
}

static void finalize(tenon__cudnn_graph_t* graph, cudnnBackendDescriptor_t descriptor,
                     const char* what) {
  if (graph->result == CUDNN_STATUS_SUCCESS) {
    keep(graph, graph->library->cudnnBackendFinalize(descriptor), what);
  }
}

static void set_descriptor(tenon__cudnn_graph_t* graph, cudnnBackendDescriptor_t descriptor,
                           cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t value) {
  set(graph, descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, (const void*)&value);
}

void tenon__cudnn_graph_end(tenon__cudnn_graph_t* graph) {
  while (graph->descriptor_count > 0) {
    (void)graph->library->cudnnBackendDestroyDescriptor(
        graph->descriptors[--graph->descriptor_count]);
  }
}

/* ---- Tensors ---- */

typedef struct kind_t {
  cudnnDataType_t type;
  int64_t alignment;
  bool is_virtual;
  bool by_value;
} kind_t;

static cudnnBackendDescriptor_t add_tensor(tenon__cudnn_graph_t* graph,
                                           const tenon__cudnn_shape_t* shape, const kind_t* kind) {
  const int64_t name = ++graph->next_name;
  cudnnBackendDescriptor_t made = make(graph, CUDNN_BACKEND_TENSOR_DESCRIPTOR, "a tensor");
  set(graph, made, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &kind->type);
  set(graph, made, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, shape->rank, shape->dims);
  set(graph, made, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, shape->rank, shape->strides);
  set(graph, made, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &name);
  set(graph, made, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &kind->alignment);
  set(graph, made, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &kind->is_virtual);
  set(graph, made, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &kind->by_value);
  finalize(graph, made, "a tensor");
  return made;
}

static void add_source(tenon__cudnn_graph_t* graph, tenon__cudnn_source_t source, uint32_t index) {
  tenon__cudnn_tensors_t* tensors = graph->tensors;
  if (tensors->count == TENON_CUDNN_TENSORS) {
    keep(graph, CUDNN_STATUS_NOT_SUPPORTED, "a graph of so many tensors");
    return;
  }
  tensors->names[tensors->count] = graph->next_name;
  tensors->sources[tensors->count] = source;
  tensors->indices[tensors->count++] = index;
}

cudnnBackendDescriptor_t tenon__cudnn_tensor(tenon__cudnn_graph_t* graph, cudnnDataType_t type,
                                             const tenon__cudnn_shape_t* shape,
                                             tenon__cudnn_source_t source, uint32_t index) {
  const kind_t kind = {.type = type, .alignment = graph->alignment};
  cudnnBackendDescriptor_t made = add_tensor(graph, shape, &kind);
  add_source(graph, source, index);
  return made;
}

cudnnBackendDescriptor_t tenon__cudnn_between(tenon__cudnn_graph_t* graph,
                                              const tenon__cudnn_shape_t* shape) {
  const kind_t kind = {
      .type = CUDNN_DATA_FLOAT, .alignment = (int64_t)sizeof(float), .is_virtual = true};
  return add_tensor(graph, shape, &kind);
}

/* The alignment is what its descriptor says: cuDNN reads the number itself, wherever it is. */
static cudnnBackendDescriptor_t add_number(tenon__cudnn_graph_t* graph, uint32_t rank, float number,
                                           int64_t alignment) {
  const kind_t kind = {.type = CUDNN_DATA_FLOAT, .alignment = alignment, .by_value = true};
  const tenon__cudnn_shape_t one = {rank, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}};
  cudnnBackendDescriptor_t made = add_tensor(graph, &one, &kind);
  tenon__cudnn_tensors_t* tensors = graph->tensors;
  add_source(graph, TENON_CUDNN_NUMBER, tensors->number_count);
  if (graph->result == CUDNN_STATUS_SUCCESS) {
    tensors->numbers[tensors->number_count++] = number;
  }
  return made;
}

cudnnBackendDescriptor_t tenon__cudnn_number(tenon__cudnn_graph_t* graph, uint32_t rank,
                                             float number) {
  return add_number(graph, rank, number, (int64_t)sizeof(float));
}

/* ---- Operations ---- */

static void add_operation(tenon__cudnn_graph_t* graph, cudnnBackendDescriptor_t operation,
                          const char* what) {
  finalize(graph, operation, what);
  if (graph->operation_count == TENON_CUDNN_OPERATIONS) {
    keep(graph, CUDNN_STATUS_NOT_SUPPORTED, "a graph of so many operations");
  } else {
    graph->operations[graph->operation_count++] = operation;
  }
}

static cudnnBackendDescriptor_t make_window(tenon__cudnn_graph_t* graph,
                                            const tenon__cudnn_steps_t* steps) {
  const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  const int64_t axes = steps->axes;
  cudnnBackendDescriptor_t window =
      make(graph, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, "a convolution");
  set(graph, window, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
  set(graph, window, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
  set(graph, window, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &axes);
  set(graph, window, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, axes, steps->strides);
  set(graph, window, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, axes, steps->dilations);
  set(graph, window, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, axes, steps->begin);
  set(graph, window, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, axes, steps->end);
  finalize(graph, window, "the window");
  return window;
}

void tenon__cudnn_convolve(tenon__cudnn_graph_t* graph, const tenon__cudnn_steps_t* steps,
                           bool transposed, const cudnnBackendDescriptor_t xwy[3]) {
  static const struct {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t window;
    cudnnBackendAttributeName_t xwy[3];
    cudnnBackendAttributeName_t alpha;
    cudnnBackendAttributeName_t beta;
  } names[2] = {
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
       {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
       {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX},
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA}};
  const float one = 1.0F;
  const float zero = 0.0F;
  const int which = transposed ? 1 : 0;
  cudnnBackendDescriptor_t window = make_window(graph, steps);
  cudnnBackendDescriptor_t operation = make(graph, names[which].type, "a convolution");
  set_descriptor(graph, operation, names[which].window, window);
  for (int k = 0; k < 3; k++) {
    set_descriptor(graph, operation, names[which].xwy[k], xwy[k]);
  }
  set(graph, operation, names[which].alpha, CUDNN_TYPE_FLOAT, 1, &one);
  set(graph, operation, names[which].beta, CUDNN_TYPE_FLOAT, 1, &zero);
  add_operation(graph, operation, "the convolution");
}

void tenon__cudnn_apply(tenon__cudnn_graph_t* graph, const tenon__cudnn_pointwise_t* what,
                        cudnnBackendDescriptor_t x, cudnnBackendDescriptor_t b,
                        cudnnBackendDescriptor_t y) {
  const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  const int32_t propagates = 1; /* NaN wins, as in max and min of this contract */
  const double lower = 0.0;
  cudnnBackendDescriptor_t mode =
      make(graph, CUDNN_BACKEND_POINTWISE_DESCRIPTOR, "a pointwise operation");
  set(graph, mode, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &what->mode);
  set(graph, mode, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &compute);
  if (what->mode == CUDNN_POINTWISE_RELU_FWD) {
    set(graph, mode, CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION, 1,
        &propagates);
    if (what->clips) {
      set(graph, mode, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, CUDNN_TYPE_DOUBLE, 1, &lower);
      set(graph, mode, CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, CUDNN_TYPE_DOUBLE, 1, &what->upper);
    }
  }
  finalize(graph, mode, "a pointwise operation");
  cudnnBackendDescriptor_t operation =
      make(graph, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, "a pointwise operation");
  set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, mode);
  set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
  if (b != NULL) {
    set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
  }
  set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  add_operation(graph, operation, "a pointwise operation");
}

void tenon__cudnn_attend(tenon__cudnn_graph_t* graph, const cudnnBackendDescriptor_t qkvy[4],
                         float scale) {
  cudnnBackendDescriptor_t operation =
      make(graph, CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR, "attention");
  cudnnBackendDescriptor_t factor = add_number(graph, 4, scale, graph->alignment);
  set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, qkvy[0]);
  set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, qkvy[1]);
  set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, qkvy[2]);
  set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, factor);
  set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, qkvy[3]);
  add_operation(graph, operation, "attention");
}

/* ---- The older interface ---- */

cudnnStatus_t tenon__cudnn_describe(const tenon__cudnn_library_t* library, cudnnDataType_t type,
                                    const tenon__cudnn_shape_t* shape,
                                    cudnnTensorDescriptor_t* out_descriptor) {
  int dims[TENON_CUDNN_RANK];
  int strides[TENON_CUDNN_RANK];
  for (uint32_t k = 0; k < shape->rank; k++) {
    dims[k] = (int)shape->dims[k];
    strides[k] = (int)shape->strides[k];
  }
  const cudnnStatus_t result = library->cudnnCreateTensorDescriptor(out_descriptor);
  return result != CUDNN_STATUS_SUCCESS
             ? result
             : library->cudnnSetTensorNdDescriptor(*out_descriptor, type, (int)shape->rank, dims,
                                                   strides);
}
