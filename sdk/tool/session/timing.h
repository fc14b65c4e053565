/* How long a plan's steps take here: medians and spread over some runs, and whether the machine was
 * busy with something else meanwhile. */
#ifndef TOOL_SESSION_TIMING_H_
#define TOOL_SESSION_TIMING_H_

#include "session/busy.h"
#include "session/execution.h"
#include "session/usage.h"

/* Filled by tool_timing_measure, freed by tool_timing_free. All times are seconds. */
typedef struct tool_timing_t {
  uint32_t step_count;
  uint32_t run_count;
  /* [step_count]; of steps of bodies the sum over a run's iterations. */
  tool_spread_t* steps;
  /* Runs without the profiler: what a user waits for. */
  tool_spread_t whole;
  /* What a run with the profiler takes beyond the steps of the main graph. */
  tool_spread_t outside;
  tool_busy_t busy; /* of the whole measurement */
} tool_timing_t;

/* Runs for about a second after a first run that does not count: each time once alone and once with
 * the profiler. The inputs are set. CANCELLED after an interrupt. */
tenon_status_t tool_timing_measure(const tool_execution_t* execution, tool_timing_t* out_timing);
void tool_timing_free(tool_timing_t* timing);

#endif
