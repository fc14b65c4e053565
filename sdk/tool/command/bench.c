/* tenon bench: how fast, how much memory, where time goes. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/commands.h"
#include "session/children.h"
#include "session/common.h"
#include "session/session.h"
#include "session/usage.h"
#include "text/console.h"
#include "text/json.h"
#include "text/memory.h"

typedef struct bench_t {
  tool_common_t common;
  tool_building_t building;
  tool_feeding_t feeding;
  double seconds;
  double warm_up;
  uint32_t iterations;
  bool profile_steps;
  const char* output;
  const char* model;
  tool_feed_t feed;
  /* What came of it. */
  tool_plan_file_t file;
  double load_seconds;
  double first_seconds;
  uint64_t memory_bytes;
  tool_times_t times;
  double elapsed_seconds;
} bench_t;

#define FIELD(name) offsetof(bench_t, name)

static const tool_option_t options[] = {
    {"--seconds", "s", "S", TOOL_OPTION_NUMBER, FIELD(seconds), "to measure for; default 3"},
    {"--duration", NULL, "S", TOOL_OPTION_NUMBER, FIELD(seconds), NULL},
    {"--warm-up", NULL, "S", TOOL_OPTION_NUMBER, FIELD(warm_up),
     "to run before measuring; default a fifth of that; three runs at least"},
    {"--iterations", NULL, "N", TOOL_OPTION_POSITIVE, FIELD(iterations),
     "measure at least so many runs; default 10"},
    {"--profile-steps", NULL, NULL, TOOL_OPTION_FLAG, FIELD(profile_steps),
     "a table of steps and their times, from runs of their own"},
    {"--output", "o", "DIR", TOOL_OPTION_TEXT, FIELD(output),
     "write every output to DIR/output_<index>_<name>.npy"},
};

/* ---- Building, in a child: its memory must not count ---- */

/* In the child: obtains the plan; words are "PATH\nUSE TEMPORARY SECONDS". */
static char obtain_plan(void* user, size_t index, char* out_words, size_t size) {
  bench_t* bench = user;
  tenon_registry_t* registry = NULL;
  tool_plan_file_t file;
  (void)index;
  tenon_status_t status = tool_common_begin(&bench->common, &registry);
  if (status == TENON_OK) {
    status =
        tool_plan_file_obtain(registry, bench->model, &bench->building, &bench->feed, false, &file);
  }
  if (status == TENON_OK && file.use == TOOL_CACHE_HIT) {
    /* An entry that cannot be loaded is built again here. */
    tool_execution_t execution;
    tool_console_soften(true);
    status = tool_execution_open(registry, file.path, 1, &execution);
    tool_console_soften(false);
    if (status != TENON_OK) {
      tool_warn("the cached plan cannot be loaded and is built again");
      status = tool_plan_file_obtain(registry, bench->model, &bench->building, &bench->feed, true,
                                     &file);
    }
  }
  if (status != TENON_OK) {
    (void)snprintf(out_words, size, "%s", tool_console_last_error());
    return (char)(status == TENON_ERROR_CANCELLED ? 'c' : 'f');
  }
  (void)snprintf(out_words, size, "%d %d %.9g %s", (int)file.use, file.is_temporary ? 1 : 0,
                 file.build_seconds, file.path);
  return 'p';
}

static void take_plan(void* user, size_t index, const tool_job_result_t* result) {
  bench_t* bench = user;
  int used = 0;
  int use = 0;
  int temporary = 0;
  double seconds = 0;
  (void)index;
  if (result->code == 'p' &&
      sscanf(result->words, "%d %d %lg %n", &use, &temporary, &seconds, &used) == 3) { /* NOLINT */
    bench->file = (tool_plan_file_t){.path = tool_copy_text(result->words + used),
                                     .is_temporary = temporary != 0,
                                     .use = (tool_cache_use_t)use,
                                     .build_seconds = seconds};
  } else if (result->code == '!') {
    (void)tool_fail(TENON_ERROR_INTERNAL, "%s: building it %s", bench->model, result->words);
  } else {
    /* The child said it already: it is only kept for the end. */
    tool_console_silence(true);
    (void)tool_fail(TENON_ERROR_INTERNAL, "%s", result->words);
    tool_console_silence(false);
  }
}

/* ---- Measuring ---- */

static tenon_status_t load_and_warm(bench_t* bench, tenon_registry_t* registry,
                                    tool_execution_t* out_execution) {
  const uint64_t before = tool_memory_begin();
  tenon_status_t status =
      tool_execution_open(registry, bench->file.path, bench->building.threads, out_execution);
  if (status != TENON_OK) {
    return status;
  }
  bench->load_seconds = out_execution->load_seconds;
  status = tool_execution_feed(out_execution, &bench->feed, &bench->building.fixed);
  const double begin = tool_seconds();
  double now = begin;
  for (uint32_t i = 0; status == TENON_OK && (i < 3 || now - begin < bench->warm_up); ++i) {
    status = tool_console_interrupted() ? TENON_ERROR_CANCELLED
                                        : tenon_context_run(out_execution->context);
    now = tool_seconds();
    bench->first_seconds = i == 0 ? now - begin : bench->first_seconds;
    if (i == 2) {
      bench->memory_bytes = tool_memory_added(before);
    }
  }
  if (status != TENON_OK) {
    tool_execution_close(out_execution);
  }
  return status;
}

static tenon_status_t measure(bench_t* bench, tool_execution_t* execution) {
  const double begin = tool_seconds();
  double now = begin;
  while (now - begin < bench->seconds || bench->times.count < bench->iterations) {
    const double start = tool_seconds();
    const tenon_status_t status = tenon_context_run(execution->context);
    now = tool_seconds();
    if (status != TENON_OK) {
      return status;
    }
    if (tool_console_interrupted()) {
      return TENON_ERROR_CANCELLED;
    }
    tool_times_add(&bench->times, now - start);
  }
  bench->elapsed_seconds = now - begin;
  tool_times_sort(&bench->times);
  return TENON_OK;
}

/* ---- Results ---- */

static uint32_t thread_count(const bench_t* bench, const tenon_engine_info_t* info) {
  return bench->building.threads > 0 ? bench->building.threads : info->thread_count;
}

static uint64_t scratch_bytes(const bench_t* bench, const tool_execution_t* execution,
                              const tenon_engine_info_t* info) {
  return tenon_engine_scratch_bytes(execution->engine, thread_count(bench, info));
}

static void print_json(const bench_t* bench, const tool_execution_t* execution,
                       const tenon_engine_info_t* info) {
  const tool_times_t* times = &bench->times;
  tool_json_t json;
  tool_json_begin(&json, stdout);
  tool_json_text(&json, "model", bench->model);
  tool_json_number(&json, "median_ms", tool_times_percentile(times, 0.5) * 1e3);
  tool_json_number(&json, "p10_ms", tool_times_percentile(times, 0.1) * 1e3);
  tool_json_number(&json, "p90_ms", tool_times_percentile(times, 0.9) * 1e3);
  tool_json_number(&json, "p99_ms", tool_times_percentile(times, 0.99) * 1e3);
  tool_json_number(&json, "min_ms", tool_times_percentile(times, 0) * 1e3);
  tool_json_number(&json, "max_ms", tool_times_percentile(times, 1) * 1e3);
  tool_json_number(&json, "mean_ms", tool_times_mean(times) * 1e3);
  tool_json_number(&json, "first_ms", bench->first_seconds * 1e3);
  tool_json_unsigned(&json, "runs", times->count);
  tool_json_number(&json, "runs_per_second", (double)times->count / bench->elapsed_seconds);
  tool_json_number(&json, "load_ms", bench->load_seconds * 1e3);
  tool_json_number(&json, "build_ms", bench->file.build_seconds * 1e3);
  tool_json_text(&json, "cache", tool_cache_use_text(bench->file.use));
  tool_json_unsigned(&json, "arena_bytes", info->arena_bytes);
  tool_json_unsigned(&json, "scratch_bytes", scratch_bytes(bench, execution, info));
  tool_json_unsigned(&json, "weights_bytes", info->weights_bytes);
  tool_json_unsigned(&json, "peak_alive_bytes", info->peak_alive_bytes);
  tool_json_unsigned(&json, "plan_bytes", info->plan_bytes);
  tool_json_unsigned(&json, "peak_rss_bytes", bench->memory_bytes);
  tool_json_unsigned(&json, "threads", thread_count(bench, info));
  tool_json_text(&json, "device", info->device);
  tool_json_unsigned(&json, "steps", tenon_engine_step_count(execution->engine));
  tool_json_end(&json);
}

static void print_text(const bench_t* bench, const tool_execution_t* execution,
                       const tenon_engine_info_t* info) {
  const tool_times_t* times = &bench->times;
  const double mib = 1048576;
  tool_say("%s: %u steps on %s, %u threads\n", bench->model,
           tenon_engine_step_count(execution->engine), info->device, thread_count(bench, info));
  tool_say("latency     median %.4g ms, 10%% %.4g, 90%% %.4g, 99%% %.4g, least %.4g, most %.4g\n",
           tool_times_percentile(times, 0.5) * 1e3, tool_times_percentile(times, 0.1) * 1e3,
           tool_times_percentile(times, 0.9) * 1e3, tool_times_percentile(times, 0.99) * 1e3,
           tool_times_percentile(times, 0) * 1e3, tool_times_percentile(times, 1) * 1e3);
  tool_say("throughput  %.5g runs a second (%zu runs in %.2f s)\n",
           (double)times->count / bench->elapsed_seconds, times->count, bench->elapsed_seconds);
  tool_say("building    %.3f s (cache: %s)\n", bench->file.build_seconds,
           tool_cache_use_text(bench->file.use));
  tool_say("loading     %.2f ms, first run %.4g ms\n", bench->load_seconds * 1e3,
           bench->first_seconds * 1e3);
  tool_say(
      "memory      %.1f MiB added to the process; weights %.1f, activations %.1f (at least "
      "%.1f), workspace %.1f\n",
      (double)bench->memory_bytes / mib, (double)info->weights_bytes / mib,
      (double)info->arena_bytes / mib, (double)info->peak_alive_bytes / mib,
      (double)scratch_bytes(bench, execution, info) / mib);
}

static tenon_status_t report(bench_t* bench, tool_execution_t* execution) {
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  tenon_status_t status = tenon_engine_get_info(execution->engine, &info);
  if (status != TENON_OK) {
    return status;
  }
  if (tool_console_is_json()) {
    print_json(bench, execution, &info);
  } else {
    print_text(bench, execution, &info);
  }
  if (bench->output != NULL) {
    status = tool_execution_write(execution, bench->output);
  }
  if (status == TENON_OK && bench->profile_steps) {
    tool_step_times_t times;
    const double median = tool_times_percentile(&bench->times, 0.5);
    const double runs = median > 0 ? bench->seconds / 2 / median : 10;
    const uint32_t count = runs < 5 ? 5 : runs > 1000 ? 1000 : (uint32_t)runs;
    status = tool_step_times_measure(execution, count, &times);
    if (status == TENON_OK) {
      status = tool_step_times_print(execution, &times);
      tool_step_times_free(&times);
    }
  }
  return status;
}

static tenon_status_t run_bench(bench_t* bench, tenon_registry_t** out_registry) {
  tool_execution_t execution;
  const char* data_set = NULL;
  tool_console_configure(bench->common.json, bench->common.verbose);
  tenon_status_t status = tool_building_prepare(&bench->building);
  if (status == TENON_OK) {
    status = tool_feeding_data_set(&bench->feeding, &data_set);
  }
  if (status == TENON_OK) {
    status = tool_feed_load(&bench->feeding, data_set, &bench->building.constants, &bench->feed);
  }
  if (status != TENON_OK) {
    return status;
  }
  if (!tool_children_run(1, 1, 0, obtain_plan, take_plan, bench)) {
    return tool_console_interrupted() ? TENON_ERROR_CANCELLED
                                      : tool_fail(TENON_ERROR_IO, "a child process cannot be made");
  }
  if (bench->file.path == NULL) {
    return TENON_ERROR_INVALID_DATA;
  }
  status = tool_common_begin(&bench->common, out_registry);
  if (status == TENON_OK) {
    status = load_and_warm(bench, *out_registry, &execution);
  }
  if (status == TENON_OK) {
    status = measure(bench, &execution);
    if (status == TENON_OK) {
      status = report(bench, &execution);
    }
    tool_execution_close(&execution);
  }
  return status;
}

static int bench_command(int argc, char** argv) {
  bench_t bench = {.seconds = 3, .warm_up = -1, .iterations = 10};
  tool_list_t operands = {0};
  tenon_registry_t* registry = NULL;
  int exit_status = TOOL_EXIT_OK;
  const tool_option_group_t groups[] = {
      TOOL_OPTION_GROUP("measuring", options, &bench), TOOL_FEEDING_GROUP(&bench.feeding),
      TOOL_BUILDING_GROUP(&bench.building), TOOL_COMMON_GROUP(&bench.common)};
  if (tool_options_parse(&tool_command_bench, groups, 4, argc, argv, &operands, &exit_status)) {
    bench.model = operands.items[0];
    bench.warm_up = bench.warm_up < 0 ? bench.seconds / 5 : bench.warm_up;
    exit_status = tool_exit_status(run_bench(&bench, &registry));
  }
  tenon_registry_release(registry);
  tool_plan_file_free(&bench.file);
  tool_feed_free(&bench.feed);
  tool_times_free(&bench.times);
  tool_building_free(&bench.building);
  tool_feeding_free(&bench.feeding);
  tool_list_free(&bench.common.plugins);
  tool_list_free(&operands);
  return exit_status;
}

const tool_command_t tool_command_bench = {
    .name = "bench",
    .operands = "MODEL|PLAN",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "measures latency, throughput and memory, and the time of each step",
    .description =
        "The plan is built in a child process, so that `memory` is what loading and running it "
        "added. "
        "Times are\nwall-clock times of whole runs, inputs and outputs in the host's memory.",
    .examples =
        "  tenon bench model.onnx --threads 1 --seconds 5\n"
        "  tenon bench model.plan --profile-steps\n"
        "  tenon bench model.onnx --data-set test_data_set_0 --json\n",
    .run = bench_command,
};
