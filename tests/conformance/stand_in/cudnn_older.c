/* The older interface of the stand-in for cuDNN: tensors with descriptors of their own, a sum in
 * place, pooling. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cudnn_program.h"

struct cudnnPoolingStruct {
  cudnnPoolingMode_t mode;
  bool propagates;
  int64_t axes;
  int64_t kernel[3];
  int64_t padding[3];
  int64_t stride[3];
};

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* out) {
  *out = calloc(1, sizeof(**out));
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor) {
  free(tensor);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t out, cudnnDataType_t type,
                                         int rank, const int* dims, const int* strides) {
  out->tensor = (tensor_t){.type = type, .rank = rank};
  for (int k = 0; k < rank; k++) {
    out->tensor.dims[k] = dims[k];
    out->tensor.strides[k] = strides[k];
  }
  return CUDNN_STATUS_SUCCESS;
}

static tensor_t with_data(cudnnTensorDescriptor_t descriptor, const void* data) {
  tensor_t tensor = descriptor->tensor;
  memcpy((void*)&tensor.data, (const void*)&data, sizeof(data));
  return tensor;
}

static bool is_scale(const void* scale, float wanted) {
  float given = 0;
  memcpy(&given, scale, sizeof(given));
  return given == wanted;
}

/* NOLINTNEXTLINE(readability-function-size): cuDNN's own */
cudnnStatus_t cudnnAddTensor(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t a,
                             const void* from, const void* beta, cudnnTensorDescriptor_t c,
                             void* inout) {
  program_t program = {.tensor_count = 2, .operation_count = 1};
  if (!is_scale(alpha, 1.0F) || !is_scale(beta, 1.0F)) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  program.tensors[0] = with_data(a, from);
  program.tensors[1] = with_data(c, inout);
  program.operations[0] = (operation_t){.type = CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
                                        .mode = CUDNN_POINTWISE_ADD,
                                        .x = 1,
                                        .w = 0,
                                        .y = 1};
  return stand_in_work(handle, stand_in_compute, &program, sizeof(program));
}

/* NOLINTNEXTLINE(readability-function-size): cuDNN's own */
cudnnStatus_t cudnnTransformTensor(cudnnHandle_t handle, const void* alpha,
                                   cudnnTensorDescriptor_t x, const void* from, const void* beta,
                                   cudnnTensorDescriptor_t y, void* to) {
  program_t program = {.tensor_count = 2, .operation_count = 1};
  if (!is_scale(alpha, 1.0F) || !is_scale(beta, 0.0F)) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  program.tensors[0] = with_data(x, from);
  program.tensors[1] = with_data(y, to);
  program.operations[0] = (operation_t){.type = CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
                                        .mode = CUDNN_POINTWISE_IDENTITY,
                                        .x = 0,
                                        .w = -1,
                                        .y = 1};
  return stand_in_work(handle, stand_in_compute, &program, sizeof(program));
}

/* ---- Pooling ---- */

typedef struct pooling_t {
  struct cudnnPoolingStruct window;
  tensor_t x;
  tensor_t y;
} pooling_t;

cudnnStatus_t cudnnCreatePoolingDescriptor(cudnnPoolingDescriptor_t* out) {
  *out = calloc(1, sizeof(**out));
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyPoolingDescriptor(cudnnPoolingDescriptor_t window) {
  free(window);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetPoolingNdDescriptor(cudnnPoolingDescriptor_t out, cudnnPoolingMode_t mode,
                                          cudnnNanPropagation_t not_numbers, int axes,
                                          const int* kernel, const int* padding,
                                          const int* stride) {
  out->mode = mode;
  out->propagates = not_numbers == CUDNN_PROPAGATE_NAN;
  out->axes = axes;
  for (int a = 0; a < axes; a++) {
    out->kernel[a] = kernel[a];
    out->padding[a] = padding[a];
    out->stride[a] = stride[a];
  }
  return CUDNN_STATUS_SUCCESS;
}

static double larger(const pooling_t* p, double a, double b) {
  return p->window.propagates && (isnan(a) || isnan(b)) ? (double)NAN : fmax(a, b);
}

static double pool_window(const pooling_t* p, const int64_t* at) {
  int64_t tap[3] = {0};
  double most = -(double)INFINITY;
  double sum = 0;
  double inside = 0;
  double all = 0;
  do {
    int64_t from[RANK] = {at[0], at[1]};
    bool there = true;
    for (int64_t a = 0; a < p->window.axes; a++) {
      from[a + 2] = at[a + 2] * p->window.stride[a] + tap[a] - p->window.padding[a];
      there = there && from[a + 2] >= 0 && from[a + 2] < p->x.dims[a + 2];
    }
    const double value = there ? (double)stand_in_load(&p->x, stand_in_place(&p->x, from)) : 0;
    most = there ? larger(p, most, value) : most;
    sum += value;
    inside += there ? 1 : 0;
    all += 1;
  } while (stand_in_next(tap, p->window.kernel, p->window.axes));
  return p->window.mode == CUDNN_POOLING_MAX                             ? most
         : p->window.mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING ? sum / all
                                                                         : sum / inside;
}

static void pool_all(const void* parameters) {
  const pooling_t* p = parameters;
  int64_t at[RANK] = {0};
  do {
    stand_in_store(&p->y, stand_in_place(&p->y, at), pool_window(p, at));
  } while (stand_in_next(at, p->y.dims, p->y.rank));
}

/* NOLINTNEXTLINE(readability-function-size): cuDNN's own */
cudnnStatus_t cudnnPoolingForward(cudnnHandle_t handle, cudnnPoolingDescriptor_t window,
                                  const void* alpha, cudnnTensorDescriptor_t x, const void* from,
                                  const void* beta, cudnnTensorDescriptor_t y, void* to) {
  pooling_t pooling = {.window = *window, .x = with_data(x, from), .y = with_data(y, to)};
  bool fits = is_scale(alpha, 1.0F) && is_scale(beta, 0.0F);
  for (int64_t a = 0; a < window->axes; a++) {
    const int64_t room = pooling.x.dims[a + 2] + 2 * window->padding[a] - window->kernel[a];
    fits = fits && room >= 0 && room / window->stride[a] + 1 == pooling.y.dims[a + 2];
  }
  return fits ? stand_in_work(handle, pool_all, &pooling, sizeof(pooling)) : CUDNN_STATUS_BAD_PARAM;
}
