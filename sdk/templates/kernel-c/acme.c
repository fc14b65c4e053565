/* acme.rms_norm: each row divided by the root of its mean square. The expression defines the
 * operator on all devices. The kernel computes it faster on the CPU; builds measure both. */
#include <math.h>
#include <stddef.h>

#include "tenon/plugin.h"

TENON_PLUGIN_MANIFEST("acme", "1.0.0",
                      "licence: your licence\n"
                      "offers: operator acme.rms_norm/1\n"
                      "offers: kernel rms_norm acme.rms_norm/1 cpu\n");

/* ---- Operator ---- */

static const tenon_attribute_descriptor_t attributes[] = {{.size = sizeof(attributes[0]),
                                                           .name = "epsilon",
                                                           .kind = TENON_ATTRIBUTE_FLOAT,
                                                           .default_text = "1e-5"}};
static const tenon_type_variable_t types[] = {
    {.size = sizeof(types[0]), .name = "T", .allowed = "float"}};
static const tenon_port_t inputs[] = {{.size = sizeof(inputs[0]), .name = "x", .type = "T"}};
static const tenon_port_t outputs[] = {{.size = sizeof(outputs[0]), .name = "y", .type = "T"}};
static const tenon_case_t cases[] = {
    {.size = sizeof(cases[0]), .text = "y = x / sqrt(mean(x * x, [-1]) + epsilon)"}};
static const tenon_check_t checks[] = {
    {.size = sizeof(checks[0]), .condition = "rank(x) > 0", .message = "x has no rows"}};
static const tenon_operator_t operators[] = {{.size = sizeof(operators[0]),
                                              .name = "acme.rms_norm/1",
                                              .summary = "x / sqrt(mean(x * x, -1) + epsilon)",
                                              .attributes = TENON_LIST(attributes),
                                              .types = TENON_LIST(types),
                                              .inputs = TENON_LIST(inputs),
                                              .outputs = TENON_LIST(outputs),
                                              .checks = TENON_LIST(checks),
                                              .cases = TENON_LIST(cases)}};

/* ---- Kernel ---- */

typedef struct instance_t {
  float epsilon;
} instance_t;

/* The rows of one call. */
typedef struct rows_t {
  const float* x;
  float* y;
  int64_t count;
  int64_t width;
  int64_t rows_per_part;
  float epsilon;
} rows_t;

/* The host asks before it measures. It has checked operator, attributes and layout already. */
static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon_value_info_t* x = table->value(region, table->input(region, 0));
  (void)state;
  if (x->dtype != TENON_DTYPE_FLOAT32) {
    *out_refusal = (tenon_refusal_t){.reason = TENON_REFUSAL_DTYPE};
    return 0;
  }
  return 1;
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  double epsilon = 0;
  const tenon_status_t status = call->table->attribute_float(call->region, 0, "epsilon", &epsilon);
  if (status != TENON_OK) {
    return status;
  }
  instance_t* instance = call->host->allocate(call->preparation, sizeof(*instance));
  if (instance == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  instance->epsilon = (float)epsilon;
  *out_instance = instance;
  return TENON_OK;
}

static void compute_row(const float* x, float* y, int64_t width, float epsilon) {
  float sums[8] = {0}; /* independent sums, so that the compiler uses vectors */
  int64_t k = 0;
  for (; k + 8 <= width; k += 8) {
    for (int64_t lane = 0; lane < 8; ++lane) {
      sums[lane] += x[k + lane] * x[k + lane];
    }
  }
  for (; k < width; ++k) {
    sums[0] += x[k] * x[k];
  }
  const float sum =
      (sums[0] + sums[1]) + (sums[2] + sums[3]) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  const float factor = 1 / sqrtf(sum / (float)width + epsilon);
  for (k = 0; k < width; ++k) {
    y[k] = x[k] * factor;
  }
}

static void compute_part(void* user, uint32_t index, uint32_t thread) {
  const rows_t* rows = user;
  const int64_t begin = index * rows->rows_per_part;
  const int64_t end = begin + rows->rows_per_part;
  (void)thread;
  for (int64_t row = begin; row < end && row < rows->count; ++row) {
    compute_row(rows->x + row * rows->width, rows->y + row * rows->width, rows->width,
                rows->epsilon);
  }
}

/* A run: no allocation, no lock, no message. */
static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const instance_t* instance = call->instance;
  const tenon_tensor_view_t* x = &call->inputs[0].tensor;
  rows_t rows = {.x = x->data,
                 .y = call->outputs[0].tensor.data,
                 .count = 1,
                 .width = x->dims[x->rank - 1],
                 .epsilon = instance->epsilon};
  for (uint32_t d = 0; d + 1 < x->rank; ++d) {
    rows.count *= x->dims[d];
  }
  /* Parts of at least 16 Ki elements: a smaller one takes less time than waking a thread. */
  rows.rows_per_part =
      16384 / (rows.width + 1) + 1 + rows.count / call->host->thread_count(call->run);
  const int64_t parts = (rows.count + rows.rows_per_part - 1) / rows.rows_per_part;
  call->host->parallel(call->run, (uint32_t)parts, compute_part, &rows);
  return TENON_OK;
}

/* Tolerances follow from the numerics: sums in another order than the operator's. */
static tenon_status_t tactics(void* state, const tenon_region_t* region,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const tenon_numerics_t numerics = {.size = sizeof(numerics), .reassociates = 1};
  const tenon_tactic_t tactic = {.size = sizeof(tactic), .name = "rows", .numerics = &numerics};
  (void)state;
  (void)region;
  (void)table;
  return add(emit, &tactic);
}

static const char* const computed[] = {"acme.rms_norm/1", NULL};
static const char* const understood[] = {"epsilon", NULL};
static const tenon_kernel_t kernels[] = {{.size = sizeof(kernels[0]),
                                          .name = "rms_norm",
                                          .device = "cpu",
                                          .operators = computed,
                                          .attributes = understood,
                                          .version = 1, /* raise it with each change of the code */
                                          .match = match,
                                          .tactics = tactics,
                                          .prepare = prepare,
                                          .enqueue = enqueue}};

/* ---- Plugin ---- */

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("operator/1", operators),
                                                    TENON_OFFERING("kernel/1", kernels)};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "acme", .version = "1.0.0",
                                      .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return &plugin;
}
