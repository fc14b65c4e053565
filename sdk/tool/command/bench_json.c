/* The measurement as one object of JSON. See bench.h. */
#include <math.h>
#include <stdio.h>

#include "command/bench.h"
#include "text/json.h"
#include "text/memory.h"

/* "p90_ms", or "device_p90_ms" with "device_" for `prefix`; the median and what else there is. */
static void add_times(tool_json_t* json, const bench_t* bench, const char* prefix,
                      const tool_times_t* times) {
  const struct {
    const char* name;
    double seconds;
  } others[] = {{"min", tool_times_percentile(times, 0)},
                {"max", tool_times_percentile(times, 1)},
                {"mean", tool_times_mean(times)}};
  const bench_percentiles_t list = bench_list_percentiles(bench);
  char key[64];
  (void)snprintf(key, sizeof(key), "%smedian_ms", prefix);
  tool_json_number(json, key, tool_times_percentile(times, 0.5) * 1e3);
  for (size_t i = 0; i < list.count; ++i) {
    (void)snprintf(key, sizeof(key), "%sp%s_ms", prefix, list.items[i].label);
    tool_json_number(json, key, tool_times_percentile(times, list.items[i].value / 100) * 1e3);
  }
  tool_free(list.items);
  for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); ++i) {
    (void)snprintf(key, sizeof(key), "%s%s_ms", prefix, others[i].name);
    tool_json_number(json, key, others[i].seconds * 1e3);
  }
  (void)snprintf(key, sizeof(key), "%svariation", prefix);
  tool_json_number(json, key, tool_times_variation(times));
}

static void add_busy(tool_json_t* json, const tool_busy_t* busy) {
  tool_json_bool(json, "busy", busy->is_busy);
  tool_json_text(json, "busy_reason", busy->message);
  tool_json_unsigned(json, "preemptions", busy->preemptions);
  tool_json_number(json, "waited_share", busy->waited_share);
  tool_json_number(json, "others_processors", busy->others);
  tool_json_number(json, "stolen_share", busy->stolen_share);
}

/* Of one context. */
static void add_device_times(tool_json_t* json, const bench_t* bench) {
  const bench_device_t* device = &bench->device;
  add_times(json, bench, "device_", &device->seconds);
  tool_json_unsigned(json, "device_runs", device->seconds.count);
  add_times(json, bench, "enqueue_", &device->enqueue);
  if (device->row_runs > 0) {
    tool_json_unsigned(json, "row_runs", device->row_runs);
    tool_json_number(json, "row_median_ms", tool_times_percentile(&device->row, 0.5) * 1e3);
    add_times(json, bench, "row_enqueue_", &device->row_enqueue);
  }
  if (bench->transfers) {
    add_times(json, bench, "transfer_in_", &device->transfer_in);
    add_times(json, bench, "transfer_out_", &device->transfer_out);
  }
  tool_json_unsigned(json, "waits", device->times.wait_count);
  tool_json_unsigned(json, "inputs_read_on_host", device->times.inputs_on_host);
  tool_json_unsigned(json, "outputs_from_host", device->times.outputs_on_host);
}

/* What the device does not tell is null. */
static void add_device(tool_json_t* json, const bench_t* bench, const tenon_engine_info_t* info) {
  const bench_device_t* device = &bench->device;
  const tenon_device_reading_t* after = &device->after;
  const bool tells_clock = device->before.clock_hertz > 0 && after->clock_hertz > 0;
  tool_json_bool(json, "transfers", bench->transfers);
  tool_json_unsigned(json, "inputs_left_on_host", device->lending.inputs_left);
  tool_json_unsigned(json, "outputs_left_on_host", device->lending.outputs_left);
  tool_json_number(json, "clock_before_mhz", tells_clock ? device->before.clock_hertz / 1e6 : NAN);
  tool_json_number(json, "clock_after_mhz", tells_clock ? after->clock_hertz / 1e6 : NAN);
  tool_json_number(json, "memory_clock_mhz",
                   after->memory_clock_hertz > 0 ? after->memory_clock_hertz / 1e6 : NAN);
  tool_json_unsigned(json, "device_weights_bytes", info->uploaded_bytes);
  tool_json_unsigned(json, "device_used_bytes", after->used_bytes);
  tool_json_unsigned(json, "device_peak_bytes", after->peak_bytes);
  tool_json_unsigned(json, "device_free_bytes", after->free_bytes);
  tool_json_unsigned(json, "device_total_bytes", after->total_bytes);
}

void bench_print_json(const bench_t* bench, const tool_execution_t* execution,
                      const tenon_engine_info_t* info) {
  tool_json_t json;
  tool_json_begin(&json, stdout);
  tool_json_text(&json, "model", bench->task.model);
  add_times(&json, bench, "", &bench->times);
  tool_json_number(&json, "first_ms", bench->first_seconds * 1e3);
  tool_json_unsigned(&json, "runs", bench->times.count);
  tool_json_number(&json, "seconds", bench->elapsed_seconds);
  tool_json_number(&json, "runs_per_second", bench_throughput(bench));
  tool_json_unsigned(&json, "contexts", bench->contexts == 0 ? 1 : bench->contexts);
  add_busy(&json, &bench->busy);
  tool_json_number(&json, "load_ms", bench->load_seconds * 1e3);
  tool_json_number(&json, "build_ms", bench->file.build_seconds * 1e3);
  tool_json_text(&json, "cache", tool_cache_use_text(bench->file.use));
  tool_json_unsigned(&json, "arena_bytes", info->arena_bytes);
  tool_json_unsigned(&json, "scratch_bytes", bench_scratch_bytes(execution));
  tool_json_unsigned(&json, "state_bytes", info->state_bytes);
  tool_json_unsigned(&json, "weights_bytes", info->weights_bytes);
  tool_json_unsigned(&json, "peak_alive_bytes", info->peak_alive_bytes);
  tool_json_unsigned(&json, "plan_bytes", info->plan_bytes);
  tool_json_unsigned(&json, "peak_rss_bytes", bench->memory_bytes);
  tool_json_unsigned(&json, "threads", execution->thread_count);
  tool_json_text(&json, "device", info->device);
  tool_json_unsigned(&json, "steps", tenon_engine_step_count(execution->engine));
  if (bench->device.name != NULL && bench->contexts == 0) {
    add_device_times(&json, bench);
  }
  if (bench->device.name != NULL) {
    add_device(&json, bench, info);
  }
  tool_json_end(&json);
}
