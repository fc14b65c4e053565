/* The steps of a plan with their times, as a table or as JSON. */
#ifndef TOOL_SESSION_STEPS_H_
#define TOOL_SESSION_STEPS_H_

#include <stdio.h>

#include "session/timing.h"

/* Freed by tool_steps_free. */
typedef struct tool_steps_t {
  const tool_execution_t* execution;
  const tool_timing_t* timing; /* NULL: times are those of the build */
  uint32_t count;
  tenon_step_info_t* infos; /* [count], those of bodies too */
  double* seconds;          /* [count]; NAN: not measured */
  double total_seconds;     /* of the main graph */
} tool_steps_t;

tenon_status_t tool_steps_collect(const tool_execution_t* execution, const tool_timing_t* timing,
                                  tool_steps_t* out_steps);
void tool_steps_free(tool_steps_t* steps);

/* A table, and the source of the times. `refusals`: after each step the reasons why other kernels
 * were not chosen. */
void tool_steps_print(const tool_steps_t* steps, bool refusals);
/* One object with the source of the times and times of whole runs, then one for each step. */
tenon_status_t tool_steps_write_json(FILE* file, const tool_steps_t* steps);
/* Measures the steps, and prints one or the other. */
tenon_status_t tool_steps_tell(const tool_execution_t* execution);

#endif
