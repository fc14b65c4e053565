/* See peak.h. */
#include "page/peak.h"

#include "session/common.h"
#include "text/console.h"
#include "text/interrupt.h"
#include "text/memory.h"

/* The product's operands stay in the cache while its tiles are used, as those of a well-fed network
 * do; the stream is several times as large as any cache of one core's share. */
enum { PRODUCT_EXTENT = 1024, STREAM_ELEMENTS = 16 << 20, MOST_RUNS = 20 };
static const double enough_seconds = 0.15;

typedef struct trial_t {
  tenon_network_t* network;
  tenon_plan_t* plan;
  tenon_engine_t* engine;
  tenon_context_t* context;
} trial_t;

static void end_trial(trial_t* trial) {
  tenon_context_destroy(trial->context);
  tenon_engine_release(trial->engine);
  tenon_plan_destroy(trial->plan);
  tenon_network_destroy(trial->network);
}

/* y = a b of two square matrices, the second a weight. */
static tenon_status_t make_product(tenon_network_t* network, const float* numbers) {
  static const int64_t dims[] = {PRODUCT_EXTENT, PRODUCT_EXTENT};
  tenon_value_t operands[2];
  tenon_value_t y;
  TOOL_TRY(tenon_network_add_input(network, "a", TENON_DTYPE_FLOAT32, 2, dims, &operands[0]));
  TOOL_TRY(tenon_network_add_constant(network, "b", TENON_DTYPE_FLOAT32, 2, dims, numbers,
                                      &operands[1]));
  TOOL_TRY(tenon_network_add(network, "standard.mat_mul/1", "product", operands, 2, NULL, &y, 1));
  return tenon_network_add_output(network, y, "y");
}

/* y = a + 1: each byte once in and once out. */
static tenon_status_t make_stream(tenon_network_t* network) {
  static const int64_t dims[] = {STREAM_ELEMENTS};
  static const char* const names[] = {"a"};
  tenon_value_t a;
  tenon_value_t y;
  TOOL_TRY(tenon_network_add_input(network, "a", TENON_DTYPE_FLOAT32, 1, dims, &a));
  TOOL_TRY(tenon_builder_get_table()->expression(tenon_network_get_builder(network), "y = a + 1",
                                                 names, &a, 1, "stream", &y));
  return tenon_network_add_output(network, y, "y");
}

static tenon_status_t load(tenon_registry_t* registry, const char* device, uint32_t thread_count,
                           trial_t* trial) {
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.device = device;
  options.thread_count = thread_count;
  TOOL_TRY(tenon_build(trial->network, &options, &trial->plan));
  TOOL_TRY(tenon_engine_create_from_plan(registry, trial->plan, NULL, &trial->engine));
  return tenon_context_create(trial->engine, NULL, &trial->context);
}

/* The seconds of the fastest of some runs. */
static tenon_status_t fastest_run(tenon_context_t* context, float* numbers, uint32_t rank,
                                  const int64_t* dims, double* out_seconds) {
  const tenon_tensor_view_t view = {.data = numbers,
                                    .dims = dims,
                                    .rank = rank,
                                    .dtype = TENON_DTYPE_FLOAT32,
                                    .layout = TENON_NONE};
  tenon_status_t status = tenon_context_set_input(context, 0, &view);
  double total = 0;
  *out_seconds = 0;
  for (uint32_t k = 0; k < MOST_RUNS && status == TENON_OK; ++k) {
    const double begin = tool_seconds();
    status = tool_interrupted() ? TENON_ERROR_CANCELLED : tenon_context_run(context);
    const double seconds = tool_seconds() - begin;
    *out_seconds = k == 0 || seconds < *out_seconds ? seconds : *out_seconds;
    total += seconds;
    if (k >= 2 && total > enough_seconds) {
      break;
    }
  }
  return status;
}

tool_peak_t tool_peak_measure(tenon_registry_t* registry, const char* device,
                              uint32_t thread_count) {
  static const int64_t product_dims[] = {PRODUCT_EXTENT, PRODUCT_EXTENT};
  static const int64_t stream_dims[] = {STREAM_ELEMENTS};
  tool_peak_t peak = {0};
  float* numbers = tool_allocate(STREAM_ELEMENTS, sizeof(*numbers));
  for (uint32_t k = 0; k < STREAM_ELEMENTS; ++k) {
    numbers[k] = (float)(k * 2654435761u >> 8) * 0x1p-24f - 0.5f;
  }
  for (int is_stream = 0; is_stream < 2; ++is_stream) {
    trial_t trial = {0};
    double seconds = 0;
    tenon_status_t status = tenon_network_create(registry, &trial.network);
    if (status == TENON_OK) {
      status = is_stream ? make_stream(trial.network) : make_product(trial.network, numbers);
    }
    if (status == TENON_OK) {
      status = load(registry, device, thread_count, &trial);
    }
    if (status == TENON_OK) {
      status = fastest_run(trial.context, numbers, is_stream ? 1 : 2,
                           is_stream ? stream_dims : product_dims, &seconds);
    }
    if (status == TENON_OK && seconds > 0 && is_stream) {
      peak.bytes_per_second = 2.0 * STREAM_ELEMENTS * sizeof(float) / seconds;
    } else if (status == TENON_OK && seconds > 0) {
      peak.operations_per_second = 2.0 * PRODUCT_EXTENT * PRODUCT_EXTENT * PRODUCT_EXTENT / seconds;
    }
    end_trial(&trial);
  }
  tool_free(numbers);
  return peak;
}
