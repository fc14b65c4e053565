/* y = x * w, with weights that are packed as PACKED times themselves, under a name that does not
 * say so: who runs it on what another build packed computes something else. It is chosen for its
 * estimate. */
#include "stranger.h"

TENON_PLUGIN_MANIFEST("packed", "1.0.0",
                      "offers: operator packed.scale/1\n"
                      "offers: kernel scale packed.scale/1 cpu\n");

static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  (void)state;
  out_refusal->reason = TENON_REFUSAL_CONSTANT_REQUIRED;
  return table->value(region, table->input(region, 1))->constant_data != NULL;
}

STRANGER_TACTICS(list) {
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic), .name = "packed", .estimate_seconds = 1e-9};
  (void)state;
  (void)region;
  (void)table;
  return add(emit, &tactic);
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  if (!TENON_HAS(call, tenon_prepare_t, host)) { /* a pointer. NOLINT(bugprone-sizeof-expression) */
    return TENON_ERROR_INTERNAL;                 /* the structure says too little of itself */
  }
  const uint32_t source = call->table->input(call->region, 1);
  const tenon_value_info_t* w = call->table->value(call->region, source);
  const size_t count = (size_t)w->dims_max[0];
  void* data = NULL;
  int32_t ready = 0;
  const tenon_packing_t packing = {.size = sizeof(packing),
                                   .format = "packed.weights/1",
                                   .sources = &source,
                                   .source_count = 1,
                                   .size_bytes = count * sizeof(float)};
  const tenon_status_t status = call->host->pack(call->preparation, &packing, &data, &ready);
  for (size_t k = 0; status == TENON_OK && ready == 0 && k < count; ++k) {
    ((float*)data)[k] = ((const float*)w->constant_data)[k] * PACKED;
  }
  *out_instance = data;
  return status;
}

static tenon_status_t run_scale(const tenon_enqueue_t* call) {
  if (!TENON_HAS(call, tenon_enqueue_t, output_count)) {
    return TENON_ERROR_INTERNAL;
  }
  const float* weights = call->instance;
  const float* x = call->inputs[0].tensor.data;
  float* y = call->outputs[0].tensor.data;
  for (int64_t k = 0; k < stranger_count(&call->inputs[0].tensor); ++k) {
    y[k] = x[k] * weights[k] / PACKED;
  }
  return TENON_OK;
}

static const tenon_port_t takes[] = {{.size = sizeof(tenon_port_t), .name = "x", .type = "f32"},
                                     {.size = sizeof(tenon_port_t), .name = "w", .type = "f32"}};
static const tenon_operator_t operators[] = {{.size = sizeof(tenon_operator_t),
                                              .name = "packed.scale/1",
                                              .inputs = TENON_LIST(takes),
                                              .outputs = TENON_LIST(stranger_y),
                                              .shape = "y = x"}};
static const char* const computes[] = {"packed.scale/1", NULL};
static const tenon_kernel_t kernels[] = {{.size = sizeof(tenon_kernel_t),
                                          .name = "scale",
                                          .device = "cpu",
                                          .operators = computes,
                                          .version = PACKED_VERSION,
                                          .match = match,
                                          .tactics = list,
                                          .prepare = prepare,
                                          .enqueue = run_scale}};
static const tenon_offering_t* const offerings[] = {TENON_OFFERING("operator/1", operators),
                                                    TENON_OFFERING("kernel/1", kernels)};
STRANGER_QUERY("packed")
