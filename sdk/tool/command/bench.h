/*
 * What `tenon bench` was asked for and what came of it: measured in bench.c, told in
 * bench_report.c. The plan is obtained in a child process (session/children.h), so that the memory
 * of a build does not count among that of running.
 */
#ifndef TOOL_COMMAND_BENCH_H_
#define TOOL_COMMAND_BENCH_H_

#include "session/common.h"
#include "session/timing.h"

/* Options first, filled by tool_options_parse; then what is borrowed from the command line; then
 * results. On the subcommand's stack. */
typedef struct bench_t {
  tool_common_t common;
  tool_building_t building;
  tool_feeding_t feeding;
  /* To measure for: runs go on until this time and `iterations` are both reached. */
  double seconds;
  /* Seconds of runs before, three runs at least; negative until it is known: a fifth of
   * `seconds`. */
  double warm_up;
  uint32_t iterations;
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
  /* Of that child. Its words were written by it; here they are only kept for the end. */
  tenon_status_t status;
  /* Engine and context, from the plan file. */
  double load_seconds;
  /* The first run, which touches all memory for the first time. */
  double first_seconds;
  /* Resident, above what there was before loading, at the peak of loading and three runs. */
  uint64_t memory_bytes;
  tool_times_t times; /* of each measured run, sorted too */
  /* From the first to the last, what happens between runs included. */
  double elapsed_seconds;
  /* What the machine did besides, from before the first to behind the last. */
  tool_busy_t busy;
} bench_t;

/* The texts of --percentile are numbers from 0 to 100, with commas or one each. A misuse
 * otherwise, said before anything is built. */
tenon_status_t bench_check_percentiles(const bench_t* bench);
/* One table, or with --json one object; a warning where the machine was busy. Needs one measured
 * run. */
tenon_status_t bench_report(const bench_t* bench, const tool_execution_t* execution);
/* Milliseconds of each run, in the order in which they ran, one a line. */
tenon_status_t bench_write_times(const bench_t* bench);

#endif
