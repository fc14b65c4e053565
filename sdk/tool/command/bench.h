/*
 * Options and results of `tenon bench`. bench.c runs the command, bench_measure.c and
 * bench_contexts.c measure, bench_figures.c computes percentiles and rates, bench_text.c and
 * bench_json.c print. A child process (session/children.h) obtains the plan, so that the memory of
 * a build does not count as memory of the runs.
 */
#ifndef TOOL_COMMAND_BENCH_H_
#define TOOL_COMMAND_BENCH_H_

#include "session/lending.h"
#include "session/task.h"
#include "session/timing.h"

/* Results for a plan whose device has its own memory and clock. Times are those of single runs,
 * sorted, and of copies if inputs and outputs are in host memory. */
typedef struct bench_device_t {
  const char* name; /* "cuda:1", owned by the engine; NULL: the plan runs on the CPU only */
  tool_lending_t lending;
  tool_times_t seconds; /* by the device's events */
  tool_times_t enqueue; /* host time of starting a run, without events */
  tool_times_t transfer_in;
  tool_times_t transfer_out;
  /* Several runs are enqueued before one wait. The time of one of them, by the device's events. */
  tool_times_t row;
  tool_times_t row_enqueue; /* host time of starting one of them, without events */
  uint32_t row_runs;        /* 0: not measured, because the host waits during each run */
  tenon_run_times_t times;  /* of the last single run */
  tenon_device_reading_t before;
  tenon_device_reading_t after;
} bench_device_t;

/* Options, filled by tool_options_parse, then results. On the subcommand's stack. */
typedef struct bench_t {
  tool_task_t task;
  /* Runs are measured until this time and `iterations` are both reached. */
  double seconds;
  /* Seconds of runs before the measurement, at least 3 runs. Negative: a fifth of `seconds`. */
  double warm_up;
  uint32_t iterations;
  uint32_t contexts; /* that run in parallel, each in its own thread; 0: one, in this thread */
  bool transfers;    /* inputs and outputs are in host memory although the device has its own */
  /* The texts of the options. Each has one or more numbers. */
  tool_list_t percentiles;
  /* Steps are timed in separate runs after the others, because the profiler takes time. */
  bool profile_steps;
  const char* output;
  const char* times_path; /* --export-times */
  /* The plan that the child obtained, in a file or in `shared`. */
  tool_plan_file_t file;
  int shared; /* file descriptor of memory that both processes have; -1: none */
  /* The status of the child, which has printed its message. */
  tenon_status_t status;
  /* Engine and context, from the plan file. */
  double load_seconds;
  /* The first run, which touches all memory for the first time. */
  double first_seconds;
  /* Increase of the resident memory at the peak of loading and the first 3 runs. */
  uint64_t memory_bytes;
  tool_times_t times; /* of each measured run, sorted as well */
  bench_device_t device;
  /* From the start of the first run to the end of the last. */
  double elapsed_seconds;
  /* The load of other programs during this time. */
  tool_busy_t busy;
} bench_t;

/* INVALID_ARGUMENT, with a message, unless the texts of --percentile are numbers from 0 to 100,
 * separated by commas. */
tenon_status_t bench_check_percentiles(const bench_t* bench);
/* Percentiles to print, each once: the usual ones, then those of --percentile. */
typedef struct bench_percentile_t {
  double value;
  char label[16]; /* "99.9" */
} bench_percentile_t;
typedef struct bench_percentiles_t {
  bench_percentile_t* items; /* freed by tool_free */
  size_t count;
  size_t capacity;
} bench_percentiles_t;
bench_percentiles_t bench_list_percentiles(const bench_t* bench);

/* Runs for `seconds` and at least `iterations` times, by the host's clock, then by the device's
 * clock if it has one. CANCELLED after an interrupt, with the results so far. */
tenon_status_t bench_measure(bench_t* bench, tool_execution_t* execution);
/* The same with `contexts` contexts of the engine in parallel, which share the plan's threads. The
 * times are listed context by context. */
tenon_status_t bench_measure_contexts(bench_t* bench, const tool_execution_t* execution);
/* Threads of each context. */
uint32_t bench_share(const bench_t* bench, uint32_t thread_count);
void bench_show_progress(const char* message, double done, double total);

/* Prints a table, or with --json an object. Warns if the machine was busy or a clock changed. Needs
 * one measured run. */
tenon_status_t bench_report(const bench_t* bench, const tool_execution_t* execution);
/* Called by bench_report. */
void bench_print_text(const bench_t* bench, const tool_execution_t* execution,
                      const tenon_engine_info_t* info);
void bench_print_json(const bench_t* bench, const tool_execution_t* execution,
                      const tenon_engine_info_t* info);
/* Runs per second. With one context, the inverse of the median, which a few disturbed runs do not
 * change. With several, the number of runs divided by the elapsed time. */
double bench_throughput(const bench_t* bench);
uint64_t bench_scratch_bytes(const tool_execution_t* execution);
/* The relative change of the device's clock. 0 if the device reports no clock. */
double bench_clock_change(const bench_device_t* device);
/* Writes the milliseconds of each run in the order of the runs, one per line. */
tenon_status_t bench_write_times(const bench_t* bench);

#endif
