/* Figures of a measurement: percentiles, throughput, clocks. See bench.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/bench.h"
#include "text/console.h"
#include "text/memory.h"

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

static void add_percentile(bench_percentiles_t* list, double value) {
  bench_percentile_t item = {.value = value};
  (void)snprintf(item.label, sizeof(item.label), "%.6g", value);
  for (size_t i = 0; i < list->count; ++i) {
    if (strcmp(list->items[i].label, item.label) == 0) {
      return;
    }
  }
  list->items = tool_grow(list->items, &list->capacity, list->count + 1, sizeof(*list->items));
  list->items[list->count++] = item;
}

bench_percentiles_t bench_list_percentiles(const bench_t* bench) {
  bench_percentiles_t list = {0};
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

/* ---- Figures ---- */

double bench_throughput(const bench_t* bench) {
  const double median = tool_times_percentile(&bench->times, 0.5);
  const double seconds =
      bench->contexts == 0 ? median : bench->elapsed_seconds / (double)bench->times.count;
  return seconds > 0 ? 1 / seconds : 0;
}

uint64_t bench_scratch_bytes(const tool_execution_t* execution) {
  return tenon_engine_scratch_bytes(execution->engine, execution->thread_count);
}

double bench_clock_change(const bench_device_t* device) {
  const double before = device->before.clock_hertz;
  const double after = device->after.clock_hertz;
  return before > 0 && after > 0 ? after / before - 1 : 0;
}
