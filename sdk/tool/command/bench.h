/* What `tenon bench` was asked for and what came of it: measured in bench.c, told in
 * bench_report.c. */
#ifndef TOOL_COMMAND_BENCH_H_
#define TOOL_COMMAND_BENCH_H_

#include "session/common.h"
#include "session/timing.h"

typedef struct bench_t {
  tool_common_t common;
  tool_building_t building;
  tool_feeding_t feeding;
  double seconds;
  double warm_up;
  uint32_t iterations;
  tool_list_t percentiles; /* texts */
  bool profile_steps;
  const char* output;
  const char* times_path;
  const char* model;
  const tool_arguments_t* arguments;
  tool_feed_t feed;
  /* What came of it. */
  tool_plan_file_t file;
  tenon_status_t status; /* of the child that built */
  double load_seconds;
  double first_seconds;
  uint64_t memory_bytes;
  tool_times_t times;
  double elapsed_seconds;
  tool_busy_t busy;
} bench_t;

/* The texts of --percentile: numbers from 0 to 100, with commas or one each. A misuse. */
tenon_status_t bench_check_percentiles(const bench_t* bench);
/* One table or one object; a warning where the machine was busy. */
tenon_status_t bench_report(const bench_t* bench, const tool_execution_t* execution);
/* Milliseconds of each run, in order, one a line. */
tenon_status_t bench_write_times(const bench_t* bench);

#endif
