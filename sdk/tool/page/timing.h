/* How long a plan's steps take here: medians and spread over some runs. */
#ifndef TOOL_PAGE_TIMING_H_
#define TOOL_PAGE_TIMING_H_

#include "session/execution.h"

/* Of one thing that was timed several times. */
typedef struct tool_spread_t {
  double low; /* 10th percentile; seconds */
  double median;
  double high; /* 90th percentile */
} tool_spread_t;

typedef struct tool_timing_t {
  uint32_t step_count;
  uint32_t run_count;
  tool_spread_t* steps;  /* steps of bodies: the sum over a run's iterations */
  tool_spread_t whole;   /* runs without the profiler */
  tool_spread_t outside; /* what a run with it takes beyond the steps of the main graph */
} tool_timing_t;

/* Sorts the samples. There is at least one. */
tool_spread_t tool_spread_of(double* samples, size_t count);

/* Runs for about a second after a first run that does not count: each time once alone and once with
 * the profiler. The inputs are set. CANCELLED after an interrupt. */
tenon_status_t tool_timing_measure(const tool_execution_t* execution, tool_timing_t* out_timing);
void tool_timing_free(tool_timing_t* timing);

#endif
