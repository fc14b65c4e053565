/*
 * What `tenon bench` was asked for and what came of it: measured in bench_measure.c and
 * bench_contexts.c, told in bench_text.c and bench_json.c. The plan is obtained in a child process
 * (session/children.h), so that the memory of a build does not count among that of running.
 */
#ifndef TOOL_COMMAND_BENCH_H_
#define TOOL_COMMAND_BENCH_H_

#include "session/lending.h"
#include "session/task.h"
#include "session/timing.h"

/* What else there is to tell of a plan whose device has memory and a clock of its own. Times of
 * runs alone, sorted; those of copies where inputs and outputs are the host's. */
typedef struct bench_device_t {
  const char* name; /* "cuda:1"; NULL: the plan runs on the host alone. The engine's */
  tool_lending_t lending;
  tool_times_t seconds; /* by the device's events */
  tool_times_t enqueue; /* of the host, to ask for a run, without events */
  tool_times_t transfer_in;
  tool_times_t transfer_out;
  /* Several runs enqueued before one wait, by the device's events: of one run. */
  tool_times_t row;
  tool_times_t row_enqueue; /* of the host, to ask for one of them, without events */
  uint32_t row_runs;        /* 0: the host waits in each run, so they are one after the other */
  tenon_run_times_t times;  /* of the last run alone */
  tenon_device_reading_t before;
  tenon_device_reading_t after;
} bench_device_t;

/* Options first, filled by tool_options_parse; then what is borrowed from the command line; then
 * results. On the subcommand's stack. */
typedef struct bench_t {
  tool_task_t task;
  /* To measure for: runs go on until this time and `iterations` are both reached. */
  double seconds;
  /* Seconds of runs before, three runs at least; negative until it is known: a fifth of
   * `seconds`. */
  double warm_up;
  uint32_t iterations;
  uint32_t contexts; /* at once, each in a thread of its own; 0: one, in this one */
  bool transfers;    /* inputs and outputs in the host's memory, though the device has its own */
  /* Texts, as given: several options, several numbers in one. */
  tool_list_t percentiles;
  /* Steps are timed in runs of their own, after the others: a profiler costs time. */
  bool profile_steps;
  const char* output;
  const char* times_path; /* --export-times */
  const char* model;      /* the operand: a model or a plan */
  const tool_arguments_t* arguments;
  /* What the inputs are given; freed with the options. */
  tool_feed_t feed;
  /* The plan that the child obtained: in the cache, or in the folder that parent and children
   * share. */
  tool_plan_file_t file;
  int shared; /* memory of both processes, for a plan that is in no file; -1: none */
  /* Of that child. Its words were written by it; here they are only kept for the end. */
  tenon_status_t status;
  /* Engine and context, from the plan file. */
  double load_seconds;
  /* The first run, which touches all memory for the first time. */
  double first_seconds;
  /* Resident, above what there was before loading, at the peak of loading and three runs. */
  uint64_t memory_bytes;
  tool_times_t times; /* of each measured run, sorted too */
  bench_device_t device;
  /* From the first to the last, what happens between runs included. */
  double elapsed_seconds;
  /* What the machine did besides, from before the first to behind the last. */
  tool_busy_t busy;
} bench_t;

/* The texts of --percentile are numbers from 0 to 100, with commas or one each. A misuse
 * otherwise, said before anything is built. */
tenon_status_t bench_check_percentiles(const bench_t* bench);
/* Each number of them once: those that are always told, then what was asked for. */
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

/* Runs for `seconds`, and `iterations` of them at least: the host's clock alone, then the device's
 * where it has one. CANCELLED after an interrupt, with what there is by then. */
tenon_status_t bench_measure(bench_t* bench, tool_execution_t* execution);
/* The same with `contexts` of the engine at once, which share the plan's threads: times of all of
 * them, context after context. */
tenon_status_t bench_measure_contexts(bench_t* bench, const tool_execution_t* execution);
/* Threads of each of them. */
uint32_t bench_share(const bench_t* bench, uint32_t thread_count);
void bench_show_progress(const char* message, double done, double total);

/* One table, or with --json one object; a warning where the machine was busy, or a clock changed.
 * Needs one measured run. */
tenon_status_t bench_report(const bench_t* bench, const tool_execution_t* execution);
/* By bench_report. */
void bench_print_text(const bench_t* bench, const tool_execution_t* execution,
                      const tenon_engine_info_t* info);
void bench_print_json(const bench_t* bench, const tool_execution_t* execution,
                      const tenon_engine_info_t* info);
/* Runs a second: by the median of one context, which what disturbs some runs does not change; of
 * several, all runs by all the time. */
double bench_throughput(const bench_t* bench);
uint64_t bench_scratch_bytes(const tool_execution_t* execution);
/* By how much the device's clock changed, as a share of what it was; 0 where it does not tell. */
double bench_clock_change(const bench_device_t* device);
/* Milliseconds of each run, in the order in which they ran, one a line. */
tenon_status_t bench_write_times(const bench_t* bench);

#endif
