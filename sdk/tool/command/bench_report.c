/* See bench.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/bench.h"
#include "data/file.h"
#include "text/console.h"
#include "text/json.h"
#include "text/memory.h"
#include "text/units.h"

/* ---- Percentiles ---- */

/* The next number of "90,99.9"; *inout_text moves on, to NULL after the last. False: none. */
static bool next_percentile(const char** inout_text, double* out_percentile) {
  char* end = NULL;
  *out_percentile = strtod(*inout_text, &end);
  const bool good = end != *inout_text && (*end == ',' || *end == '\0') && *out_percentile >= 0 &&
                    *out_percentile <= 100;
  *inout_text = *end == ',' ? end + 1 : NULL;
  return good;
}

tenon_status_t bench_check_percentiles(const bench_t* bench) {
  for (size_t i = 0; i < bench->percentiles.count; ++i) {
    double percentile = 0;
    for (const char* text = bench->percentiles.items[i]; text != NULL;) {
      if (!next_percentile(&text, &percentile)) {
        return tool_misuse("--percentile wants numbers from 0 to 100, not \"%s\"",
                           bench->percentiles.items[i]);
      }
    }
  }
  return TENON_OK;
}

/* One that is told. */
typedef struct percentile_t {
  double value;
  char label[16]; /* "99.9" */
} percentile_t;
typedef struct percentiles_t {
  percentile_t* items;
  size_t count;
  size_t capacity;
} percentiles_t;

static void add_percentile(percentiles_t* list, double value) {
  percentile_t item = {.value = value};
  (void)snprintf(item.label, sizeof(item.label), "%.6g", value);
  for (size_t i = 0; i < list->count; ++i) {
    if (strcmp(list->items[i].label, item.label) == 0) {
      return;
    }
  }
  list->items = tool_grow(list->items, &list->capacity, list->count + 1, sizeof(*list->items));
  list->items[list->count++] = item;
}

/* Those that are always told, then what was asked for; freed by tool_free. */
static percentiles_t list_percentiles(const bench_t* bench) {
  percentiles_t list = {0};
  add_percentile(&list, 10);
  add_percentile(&list, 90);
  add_percentile(&list, 99);
  for (size_t i = 0; i < bench->percentiles.count; ++i) {
    double percentile = 0;
    for (const char* text = bench->percentiles.items[i];
         text != NULL && next_percentile(&text, &percentile);) {
      add_percentile(&list, percentile);
    }
  }
  return list;
}

/* ---- JSON ---- */

static uint64_t scratch_bytes(const tool_execution_t* execution) {
  return tenon_engine_scratch_bytes(execution->engine, execution->thread_count);
}

static double at(const bench_t* bench, double percentile) {
  return tool_times_percentile(&bench->times, percentile / 100);
}

/* Runs a second, as the median has it: what disturbs some runs does not change it. */
static double throughput(const bench_t* bench) {
  const double median = at(bench, 50);
  return median > 0 ? 1 / median : 0;
}

static void add_percentiles(tool_json_t* json, const bench_t* bench) {
  const percentiles_t list = list_percentiles(bench);
  for (size_t i = 0; i < list.count; ++i) {
    char key[32];
    (void)snprintf(key, sizeof(key), "p%s_ms", list.items[i].label);
    tool_json_number(json, key, at(bench, list.items[i].value) * 1e3);
  }
  tool_free(list.items);
}

static void add_busy(tool_json_t* json, const tool_busy_t* busy) {
  tool_json_bool(json, "busy", busy->is_busy);
  tool_json_text(json, "busy_reason", busy->message);
  tool_json_unsigned(json, "preemptions", busy->preemptions);
  tool_json_number(json, "waited_share", busy->waited_share);
  tool_json_number(json, "others_processors", busy->others);
  tool_json_number(json, "stolen_share", busy->stolen_share);
}

static void print_json(const bench_t* bench, const tool_execution_t* execution,
                       const tenon_engine_info_t* info) {
  tool_json_t json;
  tool_json_begin(&json, stdout);
  tool_json_text(&json, "model", bench->model);
  tool_json_number(&json, "median_ms", at(bench, 50) * 1e3);
  add_percentiles(&json, bench);
  tool_json_number(&json, "min_ms", at(bench, 0) * 1e3);
  tool_json_number(&json, "max_ms", at(bench, 100) * 1e3);
  tool_json_number(&json, "mean_ms", tool_times_mean(&bench->times) * 1e3);
  tool_json_number(&json, "variation", tool_times_variation(&bench->times));
  tool_json_number(&json, "first_ms", bench->first_seconds * 1e3);
  tool_json_unsigned(&json, "runs", bench->times.count);
  tool_json_number(&json, "seconds", bench->elapsed_seconds);
  tool_json_number(&json, "runs_per_second", throughput(bench));
  add_busy(&json, &bench->busy);
  tool_json_number(&json, "load_ms", bench->load_seconds * 1e3);
  tool_json_number(&json, "build_ms", bench->file.build_seconds * 1e3);
  tool_json_text(&json, "cache", tool_cache_use_text(bench->file.use));
  tool_json_unsigned(&json, "arena_bytes", info->arena_bytes);
  tool_json_unsigned(&json, "scratch_bytes", scratch_bytes(execution));
  tool_json_unsigned(&json, "weights_bytes", info->weights_bytes);
  tool_json_unsigned(&json, "peak_alive_bytes", info->peak_alive_bytes);
  tool_json_unsigned(&json, "plan_bytes", info->plan_bytes);
  tool_json_unsigned(&json, "peak_rss_bytes", bench->memory_bytes);
  tool_json_unsigned(&json, "threads", execution->thread_count);
  tool_json_text(&json, "device", info->device);
  tool_json_unsigned(&json, "steps", tenon_engine_step_count(execution->engine));
  tool_json_end(&json);
}

/* ---- Text ---- */

static void print_latency(const bench_t* bench) {
  const tool_unit_t unit = tool_time_unit(at(bench, 50));
  const percentiles_t list = list_percentiles(bench);
  tool_say("latency     median %s %s", tool_number(at(bench, 50) * unit.factor).text, unit.name);
  for (size_t i = 0; i < list.count; ++i) {
    tool_say(", p%s %s", list.items[i].label,
             tool_number(at(bench, list.items[i].value) * unit.factor).text);
  }
  tool_free(list.items);
  tool_say(", least %s, most %s %s\n", tool_number(at(bench, 0) * unit.factor).text,
           tool_number(at(bench, 100) * unit.factor).text, unit.name);
}

static void print_spread(const bench_t* bench) {
  const tool_busy_t* busy = &bench->busy;
  tool_say("spread      coefficient of variation %.2g; %llu preemptions",
           tool_times_variation(&bench->times), (unsigned long long)busy->preemptions);
  if (!isnan(busy->waited_share)) {
    tool_say(", waited for a processor %.1f %% of the time", busy->waited_share * 100);
  }
  if (!isnan(busy->others)) {
    tool_say(", others used %.1f of %u processors", busy->others, busy->processors);
  }
  tool_say("\n");
}

static void print_text(const bench_t* bench, const tool_execution_t* execution,
                       const tenon_engine_info_t* info) {
  const tool_unit_t first = tool_time_unit(bench->first_seconds);
  tool_say("%s: %u steps on %s, %u threads\n", bench->model,
           tenon_engine_step_count(execution->engine), info->device, execution->thread_count);
  print_latency(bench);
  tool_say("throughput  %.5g runs per second by the median (%zu runs in %.2f s)\n",
           throughput(bench), bench->times.count, bench->elapsed_seconds);
  print_spread(bench);
  tool_say("building    %.3f s (cache: %s)\n", bench->file.build_seconds,
           tool_cache_use_text(bench->file.use));
  tool_say("loading     %.2f ms, first run %.4g %s\n", bench->load_seconds * 1e3,
           bench->first_seconds * first.factor, first.name);
  tool_say(
      "memory      %.1f MiB added to the process; weights %.1f, activations %.1f (at least "
      "%.1f), workspace %.1f\n",
      tool_mib(bench->memory_bytes), tool_mib(info->weights_bytes), tool_mib(info->arena_bytes),
      tool_mib(info->peak_alive_bytes), tool_mib(scratch_bytes(execution)));
}

tenon_status_t bench_report(const bench_t* bench, const tool_execution_t* execution) {
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  const tenon_status_t status = tenon_engine_get_info(execution->engine, &info);
  if (status != TENON_OK) {
    return status;
  }
  if (tool_console_is_json()) {
    print_json(bench, execution, &info);
  } else {
    print_text(bench, execution, &info);
  }
  if (bench->busy.is_busy) {
    tool_warn("the machine was busy: %s; an idle one is faster", bench->busy.message);
  }
  return TENON_OK;
}

tenon_status_t bench_write_times(const bench_t* bench) {
  char* text = NULL;
  size_t size = 0;
  FILE* file = open_memstream(&text, &size);
  if (file == NULL) {
    return tool_fail(TENON_ERROR_OUT_OF_MEMORY, "out of memory");
  }
  (void)fprintf(file, "# milliseconds of each run, in order\n");
  for (size_t i = 0; i < bench->times.count; ++i) {
    (void)fprintf(file, "%.9g\n", bench->times.seconds[i] * 1e3);
  }
  (void)fclose(file);
  const tenon_status_t status = tool_file_write(bench->times_path, text, size);
  free(text);
  return status;
}
