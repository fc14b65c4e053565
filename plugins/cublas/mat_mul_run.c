/* Running: one call of the library for each point of the outer axes. */
#include <stdio.h>
#include <string.h>

#include "bound.h"

/* One call's addresses, by operand. */
typedef struct addresses_t {
  char* of[TENON_CUBLAS_OPERANDS];
} addresses_t;

/* Of what is packed, or of the region's input; nothing is written there. */
static char* address_of(const tenon_enqueue_t* call, const tenon__cublas_bound_t* bound,
                        uint32_t operand, uint32_t input) {
  const void* packed = bound->packed[operand];
  char* data = call->inputs[input].tensor.data;
  if (packed != NULL) {
    memcpy((void*)&data, (const void*)&packed, sizeof(data));
  }
  return data;
}

static addresses_t begin(const tenon_enqueue_t* call, const tenon__cublas_bound_t* bound) {
  const tenon__cublas_instance_t* self = bound->instance;
  addresses_t at = {{NULL}};
  at.of[TENON_CUBLAS_A] = address_of(call, bound, TENON_CUBLAS_A, self->a);
  at.of[TENON_CUBLAS_B] = address_of(call, bound, TENON_CUBLAS_B, self->b);
  at.of[TENON_CUBLAS_Y] = call->outputs[0].tensor.data;
  at.of[TENON_CUBLAS_C] = self->epilogue.residual == TENON_NONE
                              ? at.of[TENON_CUBLAS_Y]
                              : address_of(call, bound, TENON_CUBLAS_C, self->epilogue.residual);
  if (self->epilogue.bias != TENON_NONE) {
    at.of[TENON_CUBLAS_BIAS] = address_of(call, bound, TENON_CUBLAS_BIAS, self->epilogue.bias);
  }
  if (bound->sums_nothing) {
    at.of[TENON_CUBLAS_A] = at.of[TENON_CUBLAS_B] = call->host->zeroed(call->run);
  }
  return at;
}

/* Of the outer axes' point number `index`; the last axis runs fastest. */
static addresses_t advance(const tenon__cublas_bound_t* bound, const addresses_t* begin,
                           uint64_t index) {
  const tenon__cublas_geometry_t* g = &bound->geometry;
  addresses_t at = *begin;
  for (uint32_t axis = g->outer_rank; axis-- > 0;) {
    const tenon__cublas_axis_t* outer = &g->outer[axis];
    const int64_t place = (int64_t)(index % (uint64_t)outer->extent);
    index /= (uint64_t)outer->extent;
    for (uint32_t k = 0; k < TENON_CUBLAS_OPERANDS; k++) {
      const bool is_y = k == TENON_CUBLAS_C && bound->instance->epilogue.residual == TENON_NONE;
      const int64_t stride = outer->strides[is_y ? (uint32_t)TENON_CUBLAS_Y : k];
      at.of[k] += place * stride * (int64_t)bound->instance->type.bytes;
    }
  }
  return at;
}

static bool is_aligned(const addresses_t* at) {
  uintptr_t bits = 0;
  for (uint32_t k = 0; k < TENON_CUBLAS_OPERANDS; k++) {
    bits |= (uintptr_t)at->of[k];
  }
  return bits % TENON_CUBLAS_ALIGNMENT == 0;
}

/* What a call puts on the stream, all but its operands. */
typedef struct call_t {
  const tenon__cublas_bound_t* bound;
  void* workspace;
  cudaStream_t stream;
} call_t;

static cublasStatus_t set_bias(const tenon__cublas_bound_t* bound, const addresses_t* at) {
  const void* bias = at->of[TENON_CUBLAS_BIAS];
  return bound->instance->epilogue.bias == TENON_NONE
             ? CUBLAS_STATUS_SUCCESS
             : bound->instance->state->calls.cublasLtMatmulDescSetAttribute(
                   bound->operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias));
}

static cublasStatus_t multiply(const call_t* call, const addresses_t* at) {
  const tenon__cublas_bound_t* bound = call->bound;
  const tenon__cublas_instance_t* self = bound->instance;
  const cublasLtMatrixLayout_t* layouts = bound->layouts;
  const tenon__cublas_algorithm_t* algorithm = is_aligned(at) ? &bound->aligned : &bound->anyhow;
  const cublasStatus_t result = set_bias(bound, at);
  if (result != CUBLAS_STATUS_SUCCESS || algorithm->alignment == 0) {
    return result != CUBLAS_STATUS_SUCCESS ? result : CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return self->state->calls.cublasLtMatmul(
      self->handle->handle, bound->operation, &bound->scale, at->of[TENON_CUBLAS_B],
      layouts[TENON_CUBLAS_B], at->of[TENON_CUBLAS_A], layouts[TENON_CUBLAS_A], &bound->residual,
      at->of[TENON_CUBLAS_C], layouts[TENON_CUBLAS_C], at->of[TENON_CUBLAS_Y],
      layouts[TENON_CUBLAS_Y], &algorithm->algorithm, call->workspace,
      call->workspace == NULL ? 0 : TENON_CUBLAS_WORKSPACE, call->stream);
}

/* Term by term, each added to what is in y: the residual with the first, the bias and the
 * activation with the last. Without an algorithm the library looks for one itself. */
static cublasStatus_t add_up(const call_t* call, const addresses_t* begin) {
  const tenon__cublas_bound_t* bound = call->bound;
  const tenon__cublas_instance_t* self = bound->instance;
  const cublasLtMatrixLayout_t* layouts = bound->layouts;
  const tenon__cublas_axis_t* sum = &bound->geometry.sum;
  const int64_t bytes = (int64_t)self->type.bytes;
  cublasStatus_t result = set_bias(bound, begin);
  for (int64_t k = 0; k < sum->extent && result == CUBLAS_STATUS_SUCCESS; k++) {
    const char* a = begin->of[TENON_CUBLAS_A] + k * sum->strides[TENON_CUBLAS_A] * bytes;
    const char* b = begin->of[TENON_CUBLAS_B] + k * sum->strides[TENON_CUBLAS_B] * bytes;
    const uint32_t c = k == 0 ? TENON_CUBLAS_C : TENON_CUBLAS_Y;
    result = self->state->calls.cublasLtMatmul(
        self->handle->handle, k + 1 == sum->extent ? bound->operation : bound->partial,
        &bound->scale, b, layouts[TENON_CUBLAS_B], a, layouts[TENON_CUBLAS_A],
        k == 0 ? &bound->residual : &bound->one, begin->of[c], layouts[c],
        begin->of[TENON_CUBLAS_Y], layouts[TENON_CUBLAS_Y], NULL, call->workspace,
        call->workspace == NULL ? 0 : TENON_CUBLAS_WORKSPACE, call->stream);
  }
  return result;
}

/* The library wants more of its workspace's address than the contract gives. */
static void* workspace_of(const tenon_enqueue_t* call, const tenon__cublas_bound_t* bound) {
  if (bound->instance->choice.has_workspace == 0) {
    return NULL;
  }
  char* scratch = call->host->scratch(call->run);
  const uintptr_t past = (uintptr_t)scratch % TENON_CUBLAS_WORKSPACE_ALIGNMENT;
  return past == 0 ? scratch : scratch + (TENON_CUBLAS_WORKSPACE_ALIGNMENT - past);
}

static tenon_status_t say_why(const tenon_enqueue_t* call, tenon_status_t status, const char* why) {
  const tenon__cublas_bound_t* bound = call->bound;
  const tenon__cublas_geometry_t* g = &bound->geometry;
  char message[160];
  (void)snprintf(message, sizeof(message), "a product of %lld x %lld x %lld, %lld times: %s",
                 (long long)g->m.extent, (long long)g->n.extent, (long long)g->k.extent,
                 (long long)g->batch.extent, why);
  return call->host->fail(call->run, status, message);
}

tenon_status_t tenon__cublas_enqueue(const tenon_enqueue_t* call) {
  const tenon__cublas_bound_t* bound = call->bound;
  if (bound->geometry.calls == 0) {
    return TENON_OK;
  }
  const tenon__cublas_instance_t* self = bound->instance;
  const tenon_cuda_native_t* native = self->handle->native;
  const tenon_status_t entered = native->enter(native->device);
  if (entered != TENON_OK) {
    return say_why(call, entered, "the device's context cannot be entered");
  }
  const call_t one = {bound, workspace_of(call, bound),
                      native->stream(call->host->stream(call->run))};
  const addresses_t first = begin(call, bound);
  cublasStatus_t result = CUBLAS_STATUS_SUCCESS;
  for (uint64_t k = 0; result == CUBLAS_STATUS_SUCCESS && k < bound->geometry.calls; k++) {
    const addresses_t at = advance(bound, &first, k);
    result = bound->geometry.sum.extent > 1 ? add_up(&one, &at) : multiply(&one, &at);
  }
  return result == CUBLAS_STATUS_SUCCESS
             ? TENON_OK
             : say_why(call, tenon__cublas_status(result),
                       self->state->calls.cublasLtGetStatusName(result));
}
