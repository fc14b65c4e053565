/*
 * Times of a context's runs by the clock of the plan's device. Events are recorded on its stream
 * around all work since the host's last wait, and around each copy between memories. Nothing is
 * recorded unless requested.
 */
#ifndef TENON_CORE_STEP_TIMING_H_
#define TENON_CORE_STEP_TIMING_H_

#include "core/frame/frame_state.h"

typedef struct tenon__timing_t tenon__timing_t;

/* The sum of all runs since the last wait, with the members of tenon_run_times_t. */
typedef struct tenon__run_times_t {
  uint32_t run_count;
  uint32_t wait_count;
  double seconds;
  double transfer_in_seconds;
  double transfer_out_seconds;
  uint32_t inputs_on_host;
  uint32_t outputs_on_host;
} tenon__run_times_t;

/* Where the end of runs is recorded. */
typedef enum tenon__timing_mode_t {
  TENON_TIMING_OFF,
  TENON_TIMING_EACH_RUN,
  TENON_TIMING_AT_WAIT /* nothing is recorded between runs that are enqueued in sequence */
} tenon__timing_mode_t;

/* Starts or stops timing from the next run on. No run may be in progress. Returns INVALID_STATE if
 * the host is the plan's only device. */
tenon_status_t tenon__timing_set(tenon__run_state_t* run, tenon__timing_mode_t mode);
void tenon__timing_free(tenon__run_state_t* run);
/* Returns INVALID_STATE if there are no times: no run, a failed run, or one in progress. Inputs and
 * outputs of the application are not counted here. */
tenon_status_t tenon__timing_get(tenon__run_state_t* run, tenon__run_times_t* out_times);

/* Called around the work of a run, and around the copy of a step. Do nothing unless timing is
 * requested. */
tenon_status_t tenon__timing_begin_run(tenon__run_state_t* run);
tenon_status_t tenon__timing_end_run(tenon__run_state_t* run);
tenon_status_t tenon__timing_begin_wait(tenon__run_state_t* run); /* the host waits for all runs */
void tenon__timing_forget(tenon__run_state_t* run);               /* the run failed */
tenon_status_t tenon__timing_begin_copy(tenon__frame_t* frame, uint32_t step);
tenon_status_t tenon__timing_end_copy(tenon__frame_t* frame, uint32_t step);

#endif
