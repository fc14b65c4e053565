/* Binding: descriptors, layouts and the algorithm for the shapes at hand. */
#include <string.h>

#include "bound.h"

/* ---- Descriptors ---- */

static tenon_status_t make_layout(const tenon__cublas_bound_t* bound, uint32_t operand,
                                  uint64_t rows, uint64_t columns, const tenon_sink_t* sink,
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
static tenon_status_t make_layouts(tenon__cublas_bound_t* bound, const tenon_sink_t* sink) {
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

static tenon_status_t describe(const tenon__cublas_bound_t* bound, cublasLtMatmulDesc_t operation,
                               cublasLtMatmulDescAttributes_t attribute, uint32_t value,
                               const tenon_sink_t* sink) {
  const tenon__cublas_calls_t* calls = &bound->instance->state->calls;
  return tenon__cublas_check(
      calls, sink,
      calls->cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof(value)),
      "cublasLtMatmulDescSetAttribute");
}

static tenon_status_t make_operation(const tenon__cublas_bound_t* bound,
                                     cublasLtEpilogue_t epilogue, const tenon_sink_t* sink,
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

static tenon_status_t make_operations(tenon__cublas_bound_t* bound, const tenon_sink_t* sink) {
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

static tenon__cublas_factor_t factor_of(const tenon__cublas_bound_t* bound, double value) {
  tenon__cublas_factor_t made;
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
static uint32_t common_alignment(const tenon__cublas_bound_t* bound, uint32_t alignment) {
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
static tenon_status_t ask(const tenon__cublas_bound_t* bound, uint32_t wanted, uint32_t alignment,
                          const tenon_sink_t* sink, tenon__cublas_algorithm_t* out) {
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
    *out = (tenon__cublas_algorithm_t){found[wanted].algo, alignment};
  }
  return status;
}

static bool has_extents(const tenon_tensor_view_t* view, const tenon_value_info_t* value) {
  bool all = true;
  for (uint32_t k = 0; k < view->rank; k++) {
    all = all && value->dims_opt[k] == view->dims[k];
  }
  return all;
}

/* As in a trial: without gaps. */
static bool is_in_rows(const tenon_tensor_view_t* view) {
  int64_t step = 1;
  bool is = true;
  for (uint32_t k = view->rank; k-- > 0;) {
    is = is && (view->dims[k] <= 1 || view->strides[k] == step);
    step *= view->dims[k];
  }
  return is;
}

/* The tactic's proposal is one for the shapes and strides with which it was timed. For other shapes
 * it would be any: there the library's first counts. In a box of a larger tensor the library may
 * have fewer proposals: there the first will do. In the trial a proposal that does not exist is
 * refused. */
static tenon_status_t choose(tenon__cublas_bound_t* bound, bool at_optimum, bool is_as_timed,
                             const tenon_sink_t* sink) {
  const tenon__cublas_instance_t* self = bound->instance;
  const uint32_t wanted = at_optimum ? self->choice.proposal : 0;
  tenon_status_t status = ask(bound, wanted, TENON_CUBLAS_ALIGNMENT, sink, &bound->aligned);
  if (status == TENON_OK && bound->aligned.alignment == 0 && wanted > 0 && !is_as_timed) {
    status = ask(bound, 0, TENON_CUBLAS_ALIGNMENT, sink, &bound->aligned);
  }
  if (status == TENON_OK) {
    status = ask(bound, 0, self->type.bytes, sink, &bound->anyhow);
  }
  if (status == TENON_OK && bound->aligned.alignment == 0 && !is_as_timed) {
    bound->aligned = bound->anyhow;
  }
  if (status == TENON_OK && bound->aligned.alignment == 0) {
    const tenon__cublas_geometry_t* g = &bound->geometry;
    return tenon__cublas_fail(
        sink, TENON_ERROR_UNSUPPORTED,
        "cuBLASLt proposes no algorithm number %u for %lld x %lld x %lld, %lld times", wanted,
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
                                    tenon__cublas_bound_t* bound, operands_t* out_operands) {
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
  tenon__cublas_bound_t* bound = handle;
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
  tenon__cublas_bound_t* bound = host->allocate(handle, sizeof(*bound));
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
  const bool at_optimum =
      has_extents(views.a, self->optimum[0]) && has_extents(views.b, self->optimum[1]);
  const bool is_as_timed =
      at_optimum && is_in_rows(views.a) && is_in_rows(views.b) && is_in_rows(views.y);
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
    status = choose(bound, at_optimum, is_as_timed, sink);
  }
  if (status != TENON_OK) {
    tenon__cublas_unbind(self, bound);
    *out_bound = NULL;
  }
  return status;
}
