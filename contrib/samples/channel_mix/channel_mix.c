/* channel_mix: a closed operator, as a vendor ships it. Nothing but its types and its shape is
 * declared. Its weights become 8 bits at the build: the plan contains the packed form, and may drop
 * the original.
 *
 *   y[n, o, h, w] = sum over c of q(weights)[o, c] * x[n, c, h, w]
 *
 * q rounds each row of the weights to multiples of its largest absolute value / 127. */
#include <math.h>
#include <string.h>

#include "tenon/plugin.h"

TENON_PLUGIN_MANIFEST("channel_mix", "1.0.0",
                      "vendor: a closed shop\n"
                      "licence: proprietary\n"
                      "offers: operator channel_mix.channel_mix/1\n"
                      "offers: kernel packed8 channel_mix.channel_mix/1 cpu\n");

/* ---- Operator ---- */

static const tenon_port_t inputs[] = {
    {.size = sizeof(inputs[0]), .name = "x", .type = "f32"},
    {.size = sizeof(inputs[0]), .name = "weights", .type = "f32"}};
static const tenon_port_t outputs[] = {{.size = sizeof(outputs[0]), .name = "y", .type = "f32"}};
static const tenon_check_t checks[] = {
    {.size = sizeof(checks[0]),
     .condition = "rank(x) == 4 && rank(weights) == 2 && dim(x, 1) == dim(weights, 1)",
     .message = "x is not batch x {dim(weights, 1)} channels x height x width"}};
static const tenon_operator_t operators[] = {
    {.size = sizeof(operators[0]),
     .name = "channel_mix.channel_mix/1",
     .inputs = TENON_LIST(inputs),
     .outputs = TENON_LIST(outputs),
     .checks = TENON_LIST(checks),
     .shape = "y = [dim(x, 0), dim(weights, 0), dim(x, 2), dim(x, 3)]",
     .operations = "2 * elements(y) * dim(weights, 1)"}};

/* ---- Kernel ---- */

/* Packed weights: a scale for each row, then the rows. */
typedef struct instance_t {
  const float* scales;
  const int8_t* rows;
  int64_t output_channels;
  int64_t input_channels;
} instance_t;

static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon_value_info_t* weights = table->value(region, table->node_input(region, 0, 1));
  (void)state;
  if ((weights->flags & TENON_VALUE_CONSTANT) == 0) {
    *out_refusal =
        (tenon_refusal_t){.reason = TENON_REFUSAL_CONSTANT_REQUIRED, .detail = "the weights"};
    return 0;
  }
  return 1;
}

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

static void pack_rows(const float* weights, int64_t row_count, int64_t width, float* scales,
                      int8_t* rows) {
  for (int64_t row = 0; row < row_count; ++row) {
    const float* from = weights + row * width;
    float largest = 0;
    for (int64_t k = 0; k < width; ++k) {
      largest = fmaxf(largest, fabsf(from[k]));
    }
    scales[row] = largest > 0 ? largest / 127 : 1;
    for (int64_t k = 0; k < width; ++k) {
      rows[row * width + k] = (int8_t)lrintf(from[k] / scales[row]);
    }
  }
}

/* When a plan is loaded the packed bytes are there already, and the weights perhaps not. */
static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon_region_table_t* table = call->table;
  const uint32_t source = table->node_input(call->region, 0, 1);
  const tenon_value_info_t* weights = table->value(call->region, source);
  const int64_t row_count = weights->dims_max[0];
  const int64_t width = weights->dims_max[1];
  const tenon_packing_t packing = {
      .size = sizeof(packing),
      .format = "channel_mix.packed8/1",
      .sources = &source,
      .source_count = 1,
      .size_bytes = (size_t)row_count * (sizeof(float) + (size_t)width)};
  instance_t* instance = call->host->allocate(call->preparation, sizeof(*instance));
  void* packed = NULL;
  int32_t is_ready = 0;
  if (instance == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const tenon_status_t status = call->host->pack(call->preparation, &packing, &packed, &is_ready);
  if (status != TENON_OK) {
    return status;
  }
  float* scales = packed;
  int8_t* rows = (int8_t*)packed + (size_t)row_count * sizeof(float);
  if (!is_ready) {
    pack_rows(weights->constant_data, row_count, width, scales, rows);
  }
  *instance = (instance_t){scales, rows, row_count, width};
  *out_instance = instance;
  return TENON_OK;
}

/* One call: an image of the batch and an output channel are one part. */
typedef struct images_t {
  const instance_t* instance;
  const float* x;
  float* y;
  int64_t pixels;
} images_t;

static void compute_channel(void* user, uint32_t index, uint32_t thread) {
  const images_t* images = user;
  const instance_t* instance = images->instance;
  const int64_t image = index / instance->output_channels;
  const int64_t channel = index % instance->output_channels;
  const float* x = images->x + image * instance->input_channels * images->pixels;
  float* y = images->y + (int64_t)index * images->pixels;
  (void)thread;
  memset(y, 0, (size_t)images->pixels * sizeof(float));
  for (int64_t c = 0; c < instance->input_channels; ++c) {
    const float weight =
        instance->scales[channel] * (float)instance->rows[channel * instance->input_channels + c];
    for (int64_t k = 0; k < images->pixels; ++k) {
      y[k] += weight * x[c * images->pixels + k];
    }
  }
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const instance_t* instance = call->instance;
  const tenon_tensor_view_t* x = &call->inputs[0].tensor;
  images_t images = {instance, x->data, call->outputs[0].tensor.data, x->dims[2] * x->dims[3]};
  const int64_t count = x->dims[0] * instance->output_channels;
  if (count > UINT32_MAX) {
    return call->host->fail(call->run, TENON_ERROR_UNSUPPORTED, "more than 2^32 output channels");
  }
  call->host->parallel(call->run, (uint32_t)count, compute_channel, &images);
  return TENON_OK;
}

static const char* const computed[] = {"channel_mix.channel_mix/1", NULL};
static const tenon_kernel_t kernels[] = {{.size = sizeof(kernels[0]),
                                          .name = "packed8",
                                          .device = "cpu",
                                          .operators = computed,
                                          .version = 1,
                                          .match = match,
                                          .tactics = tactics,
                                          .prepare = prepare,
                                          .enqueue = enqueue}};

/* ---- Plugin ---- */

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("operator/1", operators),
                                                    TENON_OFFERING("kernel/1", kernels)};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "channel_mix",
                                      .version = "1.0.0", .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return &plugin;
}
