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

static tenon_status_t prepare(void* state, const tenon_region_t* region,
                              const tenon_region_table_t* table, const tenon_tactic_t* tactic,
                              tenon_preparation_t* preparation, const tenon_prepare_table_t* host,
                              void** out_instance) {
  const uint32_t source = table->input(region, 1);
  const tenon_value_info_t* w = table->value(region, source);
  const size_t count = (size_t)w->dims_max[0];
  void* data = NULL;
  int32_t ready = 0;
  (void)state;
  (void)tactic;
  const tenon_status_t status = host->pack(preparation, "packed.weights/1", NULL, &source, 1,
                                           count * sizeof(float), &data, &ready);
  for (size_t k = 0; status == TENON_OK && ready == 0 && k < count; ++k) {
    ((float*)data)[k] = ((const float*)w->constant_data)[k] * PACKED;
  }
  *out_instance = data;
  return status;
}

STRANGER_ENQUEUE(run_scale) {
  const float* weights = instance;
  const float* x = inputs[0].tensor.data;
  float* y = outputs[0].tensor.data;
  STRANGER_IGNORE_ARGUMENTS();
  for (int64_t k = 0; k < stranger_count(&inputs[0].tensor); ++k) {
    y[k] = x[k] * weights[k] / PACKED;
  }
  return TENON_OK;
}

static const tenon_port_t takes[] = {{.size = sizeof(tenon_port_t), .name = "x", .type = "f32"},
                                     {.size = sizeof(tenon_port_t), .name = "w", .type = "f32"}};
static const tenon_operator_t operators[] = {{.size = sizeof(tenon_operator_t),
                                              .name = "packed.scale/1",
                                              TENON_OPERATOR_STRIDES,
                                              TENON_ITEMS(input, takes),
                                              TENON_ITEMS(output, stranger_y),
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
