/* tenon bench: how fast, how much memory, where time goes. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/bench.h"
#include "command/commands.h"
#include "data/file.h"
#include "session/children.h"
#include "session/session.h"
#include "session/steps.h"
#include "text/console.h"
#include "text/interrupt.h"
#include "text/memory.h"

#define FIELD(name) offsetof(bench_t, name)

static const tool_option_t options[] = {
    {"--seconds", "s", "S", TOOL_OPTION_NUMBER, FIELD(seconds), 0,
     "measure for S seconds (default: 3)"},
    {"--duration", NULL, "S", TOOL_OPTION_NUMBER, FIELD(seconds), 0, "set --seconds"},
    {"--warm-up", NULL, "S", TOOL_OPTION_NUMBER, FIELD(warm_up), 0,
     "run for S seconds, and at least 3 times, before measuring (default: a fifth of --seconds)"},
    {"--iterations", NULL, "N", TOOL_OPTION_POSITIVE, FIELD(iterations), 0,
     "measure at least N runs (default: 10)"},
    {"--contexts", NULL, "N", TOOL_OPTION_POSITIVE, FIELD(contexts), 0,
     "run N contexts of one engine at once, each in its own thread; they share --threads (default: "
     "one context)"},
    {"--transfers", NULL, NULL, TOOL_OPTION_FLAG, FIELD(transfers), 0,
     "keep inputs and outputs in host memory, although the plan's device has its own, and report "
     "the copies separately"},
    {"--percentile", NULL, "P", TOOL_OPTION_LIST, FIELD(percentiles), 0,
     "print these percentiles of the latency too, separated by commas, besides 10, 50, 90 and 99"},
    {"--export-times", NULL, "FILE", TOOL_OPTION_TEXT, FIELD(times_path), 0,
     "write the milliseconds of each run, in order, one a line"},
    {"--profile-steps", NULL, NULL, TOOL_OPTION_FLAG, FIELD(profile_steps), 0,
     "print a table of steps and their times, from separate runs"},
    {"--output", "o", "DIR", TOOL_OPTION_TEXT, FIELD(output), 0,
     "write every output to DIR/output_<index>_<name>.npy"},
};

static const tool_option_rule_t rules[] = {
    {"--seconds", NULL, "--duration"},
};

/* ---- Building, in a child: its memory must not count ---- */

/* A plan that is in no file goes through memory that both processes have. */
static tenon_status_t share_plan(const bench_t* bench, tool_plan_file_t* file) {
  const void* data = NULL;
  size_t size = 0;
  tenon_status_t status = tenon_plan_get_data(file->plan, &data, &size);
  for (size_t at = 0; at < size && status == TENON_OK;) {
    const ssize_t wrote = write(bench->shared, (const char*)data + at, size - at);
    at += wrote > 0 ? (size_t)wrote : 0;
    if (wrote <= 0 && errno != EINTR) {
      status = tool_fail(TENON_ERROR_IO, "%s: its plan cannot be passed on: %s", bench->task.model,
                         strerror(errno));
    }
  }
  file->path = tool_format("/proc/self/fd/%d", bench->shared);
  return status;
}

/* In the child: obtains the plan; the message is "USE SECONDS PATH". */
static char obtain_plan(void* user, size_t index, char* out_message, size_t size) {
  bench_t* bench = user;
  tenon_registry_t* registry = NULL;
  tool_plan_file_t file;
  (void)index;
  tenon_status_t status = tool_common_begin(&bench->task.common, &registry);
  if (status == TENON_OK) {
    status = tool_plan_file_obtain(registry, bench->task.model, &bench->task.building,
                                   &bench->task.feed, false, &file);
  }
  if (status == TENON_OK && file.use == TOOL_CACHE_HIT) {
    /* An entry that cannot be loaded is built again here. */
    tool_execution_t execution;
    tool_console_soften(true);
    status = tool_execution_open(registry, &file, 1, TENON_VERIFY_NONE, &execution);
    tool_console_soften(false);
    if (status != TENON_OK) {
      tool_warn("the cached plan cannot be loaded and is built again");
      status = tool_plan_file_obtain(registry, bench->task.model, &bench->task.building,
                                     &bench->task.feed, true, &file);
    }
  }
  if (status == TENON_OK && file.plan != NULL) {
    status = share_plan(bench, &file);
  }
  if (status != TENON_OK) {
    (void)snprintf(out_message, size, "%s", tool_console_last_error());
    return (char)(tool_exit_status(status) == TOOL_EXIT_USAGE ? 'u' : 'f');
  }
  (void)snprintf(out_message, size, "%d %.9g %s", (int)file.use, file.build_seconds, file.path);
  return 'p';
}

static void take_plan(void* user, size_t index, const tool_job_result_t* result) {
  bench_t* bench = user;
  int used = 0;
  int use = 0;
  double seconds = 0;
  (void)index;
  /* By our own process. NOLINTNEXTLINE(cert-err34-c) */
  const int found = sscanf(result->message, "%d %lg %n", &use, &seconds, &used);
  if (result->code == 'p' && found == 2) {
    bench->file = (tool_plan_file_t){.path = tool_copy_text(result->message + used),
                                     .use = (tool_cache_use_t)use,
                                     .build_seconds = seconds};
  } else if (result->code == '!') {
    bench->status =
        tool_fail(TENON_ERROR_INTERNAL, "%s: building it %s", bench->task.model, result->message);
  } else {
    /* The child said it already: it is only kept for the end. */
    tool_console_silence(true);
    bench->status = result->code == 'u'
                        ? tool_misuse("%s", result->message)
                        : tool_fail(TENON_ERROR_INVALID_DATA, "%s", result->message);
    tool_console_silence(false);
  }
}

/* ---- Measuring ---- */

/* Each context's share of the threads. */
static tenon_status_t open_execution(bench_t* bench, tool_execution_t* out_execution) {
  tenon_status_t status = TENON_OK;
  TOOL_TRY(tool_execution_open(bench->task.registry, &bench->file, bench->task.building.threads,
                               TENON_VERIFY_NONE, out_execution));
  const uint32_t share = bench_share(bench, out_execution->thread_count);
  bench->device.name = tool_execution_device(out_execution);
  if (bench->transfers && bench->device.name == NULL) {
    status = tool_misuse("--transfers: the plan runs on the host alone, where nothing is copied");
  } else if (share != out_execution->thread_count) {
    status = tool_execution_renew(out_execution, share);
  }
  if (status != TENON_OK) {
    tool_execution_close(out_execution);
  }
  return status;
}

static tenon_status_t warm(bench_t* bench, tenon_context_t* context, uint64_t memory_before) {
  const double begin = tool_seconds();
  double now = begin;
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0; status == TENON_OK && (i < 3 || now - begin < bench->warm_up); ++i) {
    status = tool_interrupted() ? TENON_ERROR_CANCELLED : tenon_context_run(context);
    now = tool_seconds();
    bench_show_progress("warming up", now - begin, bench->warm_up);
    bench->first_seconds = i == 0 ? now - begin : bench->first_seconds;
    if (i == 2) {
      bench->memory_bytes = tool_memory_added(memory_before);
    }
  }
  return status;
}

static void read_device(const tool_execution_t* execution, tenon_device_reading_t* out_reading) {
  *out_reading = TENON_OPTIONS(tenon_device_reading_t);
  if (tenon_engine_read_device(execution->engine, out_reading) != TENON_OK) {
    *out_reading = TENON_OPTIONS(tenon_device_reading_t); /* it has said why */
  }
}

static tenon_status_t load_and_warm(bench_t* bench, tool_execution_t* out_execution) {
  const uint64_t before = tool_memory_begin();
  TOOL_TRY(open_execution(bench, out_execution));
  bench->load_seconds = out_execution->load_seconds;
  tenon_status_t status =
      tool_execution_feed(out_execution, &bench->task.feed, &bench->task.building.fixed);
  if (status == TENON_OK && bench->device.name != NULL && !bench->transfers) {
    status = tool_lending_begin(out_execution, out_execution->context, &bench->device.lending);
  }
  if (status == TENON_OK) {
    status = warm(bench, out_execution->context, before);
  }
  if (status != TENON_OK) {
    tool_lending_end(&bench->device.lending);
    tool_execution_close(out_execution);
  }
  return status;
}

static tenon_status_t measure(bench_t* bench, tool_execution_t* execution) {
  read_device(execution, &bench->device.before);
  const tenon_status_t status = bench->contexts > 0 ? bench_measure_contexts(bench, execution)
                                                    : bench_measure(bench, execution);
  read_device(execution, &bench->device.after);
  return status;
}

/* ---- Results ---- */

/* What was measured may lie on the device: those of one more run are the host's. */
static tenon_status_t write_outputs(const bench_t* bench, tool_execution_t* execution) {
  TOOL_TRY(bench->device.name != NULL ? tenon_context_run(execution->context) : TENON_OK);
  return tool_execution_write(execution, bench->output);
}

/* What was measured until an interrupt is told as well. */
static tenon_status_t measure_and_tell(bench_t* bench, tool_execution_t* execution) {
  tenon_status_t status = measure(bench, execution);
  const bool cancelled = status == TENON_ERROR_CANCELLED;
  if (status != TENON_OK && !(cancelled && bench->times.count > 0)) {
    return status;
  }
  status = bench_report(bench, execution);
  if (status == TENON_OK && bench->times_path != NULL) {
    status = bench_write_times(bench);
  }
  if (cancelled) {
    return TENON_ERROR_CANCELLED;
  }
  tool_lending_end(&bench->device.lending);
  if (status == TENON_OK && bench->output != NULL) {
    status = write_outputs(bench, execution);
  }
  return status == TENON_OK && bench->profile_steps ? tool_steps_tell(execution) : status;
}

/* What can be refused before a plan is built. */
static tenon_status_t prepare(bench_t* bench) {
  tool_task_t* task = &bench->task;
  const char* data_set = NULL;
  bool is_plan = false;
  TOOL_TRY(tool_operand_check(task->arguments, task->model, &is_plan));
  TOOL_TRY(bench_check_percentiles(bench));
  if (bench->output != NULL) {
    TOOL_TRY(tool_folder_check("--output", bench->output));
  }
  TOOL_TRY(tool_building_prepare(&task->building));
  TOOL_TRY(tool_feeding_data_set(&task->feeding, &data_set));
  TOOL_TRY(tool_feed_load(&task->feeding, data_set, &task->building.constants, &task->feed));
  return bench->times_path == NULL ? TENON_OK
                                   : tool_output_check("--export-times", bench->times_path,
                                                       task->model, &task->building, &task->feed);
}

static tenon_status_t run_bench(void* user) {
  bench_t* bench = user;
  tool_execution_t execution;
  bench->warm_up = bench->warm_up < 0 ? bench->seconds / 5 : bench->warm_up;
  tool_console_configure(bench->task.common.json, bench->task.common.verbose);
  TOOL_TRY(prepare(bench));
  /* memfd_create, which the C library has since 2.27. */
  bench->shared = (int)syscall(SYS_memfd_create, "plan", 0);
  const tool_jobs_t job = {.count = 1, .run = obtain_plan, .done = take_plan, .user = bench};
  if (!tool_children_run(&job)) {
    return tool_interrupted() ? TENON_ERROR_CANCELLED
                              : tool_fail(TENON_ERROR_IO, "a child process cannot be made");
  }
  if (bench->file.path == NULL) {
    return bench->status;
  }
  TOOL_TRY(tool_common_begin(&bench->task.common, &bench->task.registry));
  TOOL_TRY(load_and_warm(bench, &execution));
  const tenon_status_t status = measure_and_tell(bench, &execution);
  tool_lending_end(&bench->device.lending);
  tool_execution_close(&execution);
  return status;
}

static int bench_command(int argc, char** argv) {
  bench_t bench = {.shared = -1, .seconds = 3, .warm_up = -1, .iterations = 10};
  const tool_option_group_t groups[] = {
      TOOL_OPTION_GROUP_RULED("measuring", options, rules, &bench),
      TOOL_FEEDING_GROUP(&bench.task.feeding), TOOL_BUILDING_GROUP(&bench.task.building, false),
      TOOL_COMMON_GROUP(&bench.task.common)};
  const tool_subcommand_t subcommand = {&tool_command_bench, groups,    4,
                                        &bench.task,         run_bench, &bench};
  tool_times_t* const times[] = {&bench.times,
                                 &bench.device.seconds,
                                 &bench.device.enqueue,
                                 &bench.device.transfer_in,
                                 &bench.device.transfer_out,
                                 &bench.device.row,
                                 &bench.device.row_enqueue};
  const int exit_status = tool_task_run(&subcommand, argc, argv);
  for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); ++i) {
    tool_times_free(times[i]);
  }
  tool_plan_file_free(&bench.file);
  if (bench.shared >= 0) {
    (void)close(bench.shared);
  }
  tool_list_free(&bench.percentiles);
  return exit_status;
}

const tool_command_t tool_command_bench = {
    .name = "bench",
    .operands = "MODEL|PLAN",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "measures latency, throughput and memory, and the time of each step",
    .description =
        "A child process builds the plan, so that `memory` is the memory for loading and "
        "running it. Times\nare wall-clock times of whole runs. If the device has its own "
        "memory and clock, inputs and outputs\nstay there, and its events also time single "
        "runs, and several runs enqueued before one wait.",
    .examples =
        "  tenon bench model.onnx --threads 1 --seconds 5\n"
        "  tenon bench model.plan --profile-steps\n"
        "  tenon bench model.onnx --threads 4 --contexts 2\n"
        "  tenon bench model.onnx --data-set test_data_set_0 --json\n",
    .run = bench_command,
};
