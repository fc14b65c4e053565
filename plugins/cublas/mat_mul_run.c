/* Binding: descriptors, layouts and the algorithm for the shapes at hand. Running: one call of the
 * library for each point of the outer axes. */
#include <stdio.h>
#include <string.h>

#include "constants.h"

/* An algorithm, and what of addresses it relies on. */
typedef struct algorithm_t {
  cublasLtMatmulAlgo_t algorithm;
  uint32_t alignment; /* bytes; 0: there is none */
} algorithm_t;

/* A number in the type in which the library scales. */
typedef union factor_t {
  float single;
  double whole;
} factor_t;

/* What bind makes: a context's own. */
typedef struct bound_t {
  const tenon__cublas_instance_t* instance;
  tenon__cublas_geometry_t geometry;
  cublasLtMatmulDesc_t operation;
  cublasLtMatmulDesc_t partial; /* without what is done at the end of a sum; NULL: no such calls */
  cublasLtMatrixLayout_t layouts[TENON_CUBLAS_OPERANDS];
  algorithm_t aligned; /* the tactic's, for addresses as they usually are */
  algorithm_t anyhow;  /* for addresses of elements, wherever they stand */
  factor_t scale;
  factor_t residual;
  factor_t one;
  bool sums_nothing;
  const void* packed[TENON_CUBLAS_OPERANDS]; /* NULL: what the call gives */
} bound_t;

/* ---- Descriptors ---- */

static tenon_status_t make_layout(const bound_t* bound, uint32_t operand, uint64_t rows,
                                  uint64_t columns, const tenon_sink_t* sink,
                                  cublasLtMatrixLayout_t* out_layout) {
  const tenon__cublas_calls_t* calls = &bound->instance->state->calls;
  const tenon__cublas_axis_t* batch = &bound->geometry.batch;
  const int32_t count = (int32_t)batch->extent;
  tenon_status_t status = tenon__cublas_check(
      calls, sink,
      calls->cublasLtMatrixLayoutCreate(out_layout, bound->instance->type.data, rows, columns,
                                        bound->geometry.leading[operand]),
      "cublasLtMatrixLayoutCreate");
  if (status == TENON_OK && count != 1) {
    status = tenon__cublas_check(
        calls, sink,
        calls->cublasLtMatrixLayoutSetAttribute(*out_layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                &count, sizeof(count)),
        "cublasLtMatrixLayoutSetAttribute, count");
  }
  if (status == TENON_OK && count != 1) {
    status = tenon__cublas_check(calls, sink,
                                 calls->cublasLtMatrixLayoutSetAttribute(
                                     *out_layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                     &batch->strides[operand], sizeof(batch->strides[operand])),
                                 "cublasLtMatrixLayoutSetAttribute, stride");
  }
  return status;
}

/* As cuBLASLt stores them: columns are our lines. */
static tenon_status_t make_layouts(bound_t* bound, const tenon_sink_t* sink) {
  const tenon__cublas_geometry_t* g = &bound->geometry;
  const uint64_t m = (uint64_t)g->m.extent;
  const uint64_t n = (uint64_t)g->n.extent;
  const uint64_t k = (uint64_t)g->k.extent;
  const bool turned_a = g->turned[TENON_CUBLAS_A];
  const bool turned_b = g->turned[TENON_CUBLAS_B];
  const uint32_t c =
      bound->instance->epilogue.residual == TENON_NONE ? TENON_CUBLAS_Y : TENON_CUBLAS_C;
  cublasLtMatrixLayout_t* layouts = bound->layouts;
  tenon_status_t status = make_layout(bound, TENON_CUBLAS_A, turned_a ? m : k, turned_a ? k : m,
                                      sink, &layouts[TENON_CUBLAS_A]);
  if (status == TENON_OK) {
    status = make_layout(bound, TENON_CUBLAS_B, turned_b ? k : n, turned_b ? n : k, sink,
                         &layouts[TENON_CUBLAS_B]);
  }
  if (status == TENON_OK) {
    status = make_layout(bound, c, n, m, sink, &layouts[TENON_CUBLAS_C]);
  }
  if (status == TENON_OK) {
    status = make_layout(bound, TENON_CUBLAS_Y, n, m, sink, &layouts[TENON_CUBLAS_Y]);
  }
  return status;
}

static tenon_status_t describe(const bound_t* bound, cublasLtMatmulDesc_t operation,
                               cublasLtMatmulDescAttributes_t attribute, uint32_t value,
                               const tenon_sink_t* sink) {
  const tenon__cublas_calls_t* calls = &bound->instance->state->calls;
  return tenon__cublas_check(
      calls, sink,
      calls->cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof(value)),
      "cublasLtMatmulDescSetAttribute");
}

static tenon_status_t make_operation(const bound_t* bound, cublasLtEpilogue_t epilogue,
                                     const tenon_sink_t* sink,
                                     cublasLtMatmulDesc_t* out_operation) {
  const tenon__cublas_instance_t* self = bound->instance;
  const tenon__cublas_calls_t* calls = &self->state->calls;
  const bool* turned = bound->geometry.turned;
  const uint32_t turns[] = {turned[TENON_CUBLAS_B] ? CUBLAS_OP_T : CUBLAS_OP_N,
                            turned[TENON_CUBLAS_A] ? CUBLAS_OP_T : CUBLAS_OP_N};
  tenon_status_t status = tenon__cublas_check(
      calls, sink,
      calls->cublasLtMatmulDescCreate(out_operation, self->type.compute, self->type.scale),
      "cublasLtMatmulDescCreate");
  if (status == TENON_OK) {
    status = describe(bound, *out_operation, CUBLASLT_MATMUL_DESC_TRANSA, turns[0], sink);
  }
  if (status == TENON_OK) {
    status = describe(bound, *out_operation, CUBLASLT_MATMUL_DESC_TRANSB, turns[1], sink);
  }
  if (status == TENON_OK && epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
    status = describe(bound, *out_operation, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue, sink);
  }
  return status;
}

static tenon_status_t make_operations(bound_t* bound, const tenon_sink_t* sink) {
  static const cublasLtEpilogue_t epilogues[][2] = {
      [TENON_CUBLAS_NO_ACTIVATION] = {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS},
      [TENON_CUBLAS_RELU] = {CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU_BIAS},
      [TENON_CUBLAS_GELU] = {CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS}};
  const tenon__cublas_epilogue_t* epilogue = &bound->instance->epilogue;
  tenon_status_t status =
      make_operation(bound, epilogues[epilogue->activation][epilogue->bias != TENON_NONE ? 1 : 0],
                     sink, &bound->operation);
  if (status == TENON_OK && bound->geometry.sum.extent > 1) {
    status = make_operation(bound, CUBLASLT_EPILOGUE_DEFAULT, sink, &bound->partial);
  }
  return status;
}

static factor_t factor_of(const bound_t* bound, double value) {
  factor_t made;
  if (bound->instance->type.scale == CUDA_R_64F) {
    made.whole = value;
  } else {
    made.single = (float)value;
  }
  return made;
}

/* ---- Algorithms ---- */

static tenon_status_t prefer(const tenon__cublas_calls_t* calls, const tenon_sink_t* sink,
                             cublasLtMatmulPreference_t preference, uint64_t workspace,
                             const uint32_t alignments[4]) {
  static const cublasLtMatmulPreferenceAttributes_t sides[] = {
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
  /* Parts of a sum are never added up in the result's type: narrow ones are summed in f32. */
  static const uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  cublasStatus_t result = calls->cublasLtMatmulPreferenceSetAttribute(
      preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof(workspace));
  if (result == CUBLAS_STATUS_SUCCESS) {
    result = calls->cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reductions, sizeof(reductions));
  }
  for (size_t k = 0; k < 4 && result == CUBLAS_STATUS_SUCCESS; k++) {
    result = calls->cublasLtMatmulPreferenceSetAttribute(preference, sides[k], &alignments[k],
                                                         sizeof(alignments[k]));
  }
  return tenon__cublas_check(calls, sink, result, "cublasLtMatmulPreferenceSetAttribute");
}

/* What c's and y's lines have in common, of `alignment`. The library takes the width of its stores
 * from one of the two: on an H100 a product in f32 with lines of c of 128 bytes and of y of 152
 * stopped the device. */
static uint32_t common_alignment(const bound_t* bound, uint32_t alignment) {
  const tenon__cublas_geometry_t* g = &bound->geometry;
  const int64_t bytes = (int64_t)bound->instance->type.bytes;
  const int64_t steps[] = {g->leading[TENON_CUBLAS_C], g->leading[TENON_CUBLAS_Y],
                           g->batch.strides[TENON_CUBLAS_C], g->batch.strides[TENON_CUBLAS_Y]};
  const bool differ = steps[0] != steps[1] || steps[2] != steps[3];
  if (!differ || g->n.extent == 1 || bound->instance->epilogue.residual == TENON_NONE) {
    return alignment;
  }
  for (uint32_t k = 0; k < 4; k++) {
    while (steps[k] * bytes % alignment != 0) {
      alignment /= 2;
    }
  }
  return alignment;
}

/* Proposal number `wanted`; NONE found leaves the alignment 0. */
static tenon_status_t ask(const bound_t* bound, uint32_t wanted, uint32_t alignment,
                          const tenon_sink_t* sink, algorithm_t* out) {
  const tenon__cublas_instance_t* self = bound->instance;
  const tenon__cublas_calls_t* calls = &self->state->calls;
  const uint64_t workspace = self->choice.has_workspace != 0 ? TENON_CUBLAS_WORKSPACE : 0;
  cublasLtMatmulHeuristicResult_t found[TENON_CUBLAS_PROPOSALS];
  cublasLtMatmulPreference_t preference = NULL;
  int count = 0;
  tenon_status_t status =
      tenon__cublas_check(calls, sink, calls->cublasLtMatmulPreferenceCreate(&preference),
                          "cublasLtMatmulPreferenceCreate");
  if (status != TENON_OK) {
    return status;
  }
  const uint32_t result_alignment = common_alignment(bound, alignment);
  const uint32_t alignments[] = {alignment, alignment, result_alignment, result_alignment};
  status = prefer(calls, sink, preference, workspace, alignments);
  if (status == TENON_OK) {
    const cublasStatus_t result = calls->cublasLtMatmulAlgoGetHeuristic(
        self->handle->handle, bound->operation, bound->layouts[TENON_CUBLAS_B],
        bound->layouts[TENON_CUBLAS_A], bound->layouts[TENON_CUBLAS_C],
        bound->layouts[TENON_CUBLAS_Y], preference, (int)wanted + 1, found, &count);
    count = result == CUBLAS_STATUS_SUCCESS ? count : 0;
    status = result == CUBLAS_STATUS_NOT_SUPPORTED
                 ? TENON_OK
                 : tenon__cublas_check(calls, sink, result, "cublasLtMatmulAlgoGetHeuristic");
  }
  (void)calls->cublasLtMatmulPreferenceDestroy(preference);
  if (status == TENON_OK && count > (int)wanted && found[wanted].state == CUBLAS_STATUS_SUCCESS) {
    *out = (algorithm_t){found[wanted].algo, alignment};
  }
  return status;
}

static bool is_at(const tenon_value_info_t* value, const tenon_tensor_view_t* view) {
  bool all = true;
  for (uint32_t k = 0; k < view->rank; k++) {
    all = all && value->dims_opt[k] == view->dims[k];
  }
  return all;
}

/* The tactic's proposal is one for the optimum's shapes, where it was timed; for others it would be
 * any: there the library's first counts. */
static tenon_status_t choose(bound_t* bound, bool at_optimum, const tenon_sink_t* sink) {
  const tenon__cublas_instance_t* self = bound->instance;
  const uint32_t wanted = at_optimum ? self->choice.proposal : 0;
  tenon_status_t status = ask(bound, wanted, TENON_CUBLAS_ALIGNMENT, sink, &bound->aligned);
  if (status == TENON_OK) {
    status = ask(bound, 0, self->type.bytes, sink, &bound->anyhow);
  }
  if (status == TENON_OK && bound->aligned.alignment == 0) {
    const tenon__cublas_geometry_t* g = &bound->geometry;
    return tenon__cublas_fail(
        sink, TENON_ERROR_UNSUPPORTED,
        "cuBLASLt proposes no %u algorithms for %lld x %lld x %lld, %lld times", wanted + 1,
        (long long)g->m.extent, (long long)g->n.extent, (long long)g->k.extent,
        (long long)g->batch.extent);
  }
  return status;
}

/* ---- Binding ---- */

typedef struct operands_t {
  tenon__cublas_operand_t of[TENON_CUBLAS_OPERANDS];
} operands_t;

/* Those of the slot may be none. */
static tenon_status_t find_operands(tenon_binding_t* handle, const tenon_bind_table_t* host,
                                    bound_t* bound, operands_t* out_operands) {
  const tenon__cublas_instance_t* self = bound->instance;
  const uint32_t inputs[] = {[TENON_CUBLAS_A] = self->a,
                             [TENON_CUBLAS_B] = self->b,
                             [TENON_CUBLAS_C] = self->epilogue.residual,
                             [TENON_CUBLAS_BIAS] = self->epilogue.bias};
  bool found = true;
  for (uint32_t k = 0; k < sizeof(inputs) / sizeof(*inputs); k++) {
    found = found && tenon__cublas_operand(self, handle, host, inputs[k], &out_operands->of[k]);
    bound->packed[k] = out_operands->of[k].packed;
  }
  return found ? TENON_OK : TENON_ERROR_OUT_OF_MEMORY;
}

void tenon__cublas_unbind(void* instance, void* handle) {
  const tenon__cublas_instance_t* self = instance;
  const tenon__cublas_calls_t* calls = &self->state->calls;
  bound_t* bound = handle;
  for (uint32_t k = 0; k < TENON_CUBLAS_OPERANDS; k++) {
    if (bound->layouts[k] != NULL) {
      (void)calls->cublasLtMatrixLayoutDestroy(bound->layouts[k]);
    }
  }
  if (bound->operation != NULL) {
    (void)calls->cublasLtMatmulDescDestroy(bound->operation);
  }
  if (bound->partial != NULL) {
    (void)calls->cublasLtMatmulDescDestroy(bound->partial);
  }
}

tenon_status_t tenon__cublas_bind(void* instance, tenon_binding_t* handle,
                                  const tenon_bind_table_t* host, void** out_bound) {
  tenon__cublas_instance_t* self = instance;
  const tenon_sink_t* sink = host->sink == NULL ? NULL : host->sink(handle);
  bound_t* bound = host->allocate(handle, sizeof(*bound));
  operands_t operands;
  memset(&operands, 0, sizeof(operands));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  bound->instance = self;
  tenon_status_t status = find_operands(handle, host, bound, &operands);
  if (status != TENON_OK) {
    return status;
  }
  const tenon__cublas_operand_t* of = operands.of;
  const bool has_residual = self->epilogue.residual != TENON_NONE;
  const bool has_bias = self->epilogue.bias != TENON_NONE;
  const tenon__cublas_views_t views = {.a = &of[TENON_CUBLAS_A].view,
                                       .b = &of[TENON_CUBLAS_B].view,
                                       .c = has_residual ? &of[TENON_CUBLAS_C].view : NULL,
                                       .bias = has_bias ? &of[TENON_CUBLAS_BIAS].view : NULL,
                                       .y = &host->output(handle, 0)->tensor};
  bound->sums_nothing = views.a->dims[views.a->rank - 1] == 0;
  tenon__cublas_geometry_find(&views, &bound->geometry);
  *out_bound = bound;
  if (bound->geometry.calls == 0) {
    return TENON_OK;
  }
  bound->scale = factor_of(bound, self->epilogue.scale);
  bound->residual = factor_of(bound, views.c == NULL ? 0.0 : 1.0);
  bound->one = factor_of(bound, 1.0);
  const tenon_cuda_native_t* native = self->handle->native;
  if (self->choice.narrow != TENON_DTYPE_UNDEFINED && bound->geometry.sum.extent > 1) {
    return tenon__cublas_fail(sink, TENON_ERROR_UNSUPPORTED,
                              "a sum that runs backwards, each term rounded to a narrower type");
  }
  status = native->enter(native->device);
  if (status == TENON_OK) {
    status = make_operations(bound, sink);
  }
  if (status == TENON_OK) {
    status = make_layouts(bound, sink);
  }
  if (status == TENON_OK) {
    status =
        choose(bound, is_at(self->optimum[0], views.a) && is_at(self->optimum[1], views.b), sink);
  }
  if (status != TENON_OK) {
    tenon__cublas_unbind(self, bound);
    *out_bound = NULL;
  }
  return status;
}

/* ---- Running ---- */

/* One call's addresses, by operand. */
typedef struct addresses_t {
  char* of[TENON_CUBLAS_OPERANDS];
} addresses_t;

/* Of what is packed, or of the region's input; nothing is written there. */
static char* address_of(const tenon_enqueue_t* call, const bound_t* bound, uint32_t operand,
                        uint32_t input) {
  const void* packed = bound->packed[operand];
  char* data = call->inputs[input].tensor.data;
  if (packed != NULL) {
    memcpy((void*)&data, (const void*)&packed, sizeof(data));
  }
  return data;
}

static addresses_t begin(const tenon_enqueue_t* call, const bound_t* bound) {
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
static addresses_t advance(const bound_t* bound, const addresses_t* begin, uint64_t index) {
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
  const bound_t* bound;
  void* workspace;
  cudaStream_t stream;
} call_t;

static cublasStatus_t set_bias(const bound_t* bound, const addresses_t* at) {
  const void* bias = at->of[TENON_CUBLAS_BIAS];
  return bound->instance->epilogue.bias == TENON_NONE
             ? CUBLAS_STATUS_SUCCESS
             : bound->instance->state->calls.cublasLtMatmulDescSetAttribute(
                   bound->operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias));
}

static cublasStatus_t multiply(const call_t* call, const addresses_t* at) {
  const bound_t* bound = call->bound;
  const tenon__cublas_instance_t* self = bound->instance;
  const cublasLtMatrixLayout_t* layouts = bound->layouts;
  const algorithm_t* algorithm = is_aligned(at) ? &bound->aligned : &bound->anyhow;
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
  const bound_t* bound = call->bound;
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
static void* workspace_of(const tenon_enqueue_t* call, const bound_t* bound) {
  if (bound->instance->choice.has_workspace == 0) {
    return NULL;
  }
  char* scratch = call->host->scratch(call->run);
  const uintptr_t past = (uintptr_t)scratch % TENON_CUBLAS_WORKSPACE_ALIGNMENT;
  return past == 0 ? scratch : scratch + (TENON_CUBLAS_WORKSPACE_ALIGNMENT - past);
}

static tenon_status_t say_why(const tenon_enqueue_t* call, tenon_status_t status, const char* why) {
  const bound_t* bound = call->bound;
  const tenon__cublas_geometry_t* g = &bound->geometry;
  char message[160];
  (void)snprintf(message, sizeof(message), "a product of %lld x %lld x %lld, %lld times: %s",
                 (long long)g->m.extent, (long long)g->n.extent, (long long)g->k.extent,
                 (long long)g->batch.extent, why);
  return call->host->fail(call->run, status, message);
}

tenon_status_t tenon__cublas_enqueue(const tenon_enqueue_t* call) {
  const bound_t* bound = call->bound;
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
