/*
 * How long a context's runs take by the clock of the plan's device: events on its stream around all
 * that was enqueued since the host waited last, and around each copy that crosses between memories.
 * There is none of it until somebody asks.
 */
#ifndef TENON_CORE_STEP_TIMING_H_
#define TENON_CORE_STEP_TIMING_H_

#include "core/frame/frame_state.h"

typedef struct tenon__timing_t tenon__timing_t;

/* All runs since the last wait, as one; members as those of tenon_run_times_t. */
typedef struct tenon__run_times_t {
  uint32_t run_count;
  uint32_t wait_count;
  double seconds;
  double transfer_in_seconds;
  double transfer_out_seconds;
  uint32_t inputs_on_host;
  uint32_t outputs_on_host;
} tenon__run_times_t;

/* From the next run on, or no more. No run is under way. INVALID_STATE where the plan has no
 * device but the host. */
tenon_status_t tenon__timing_set(tenon__run_state_t* run, bool is_wanted);
void tenon__timing_free(tenon__run_state_t* run);
/* INVALID_STATE where there is nothing to tell: no run, one that failed, or one under way. The
 * application's inputs and outputs are not counted here. */
tenon_status_t tenon__timing_get(tenon__run_state_t* run, tenon__run_times_t* out_times);

/* Around what a run enqueues, and around the copy that a step is. Nothing where nobody asked. */
tenon_status_t tenon__timing_begin_run(tenon__run_state_t* run);
tenon_status_t tenon__timing_end_run(tenon__run_state_t* run);
void tenon__timing_forget(tenon__run_state_t* run); /* the run failed */
tenon_status_t tenon__timing_begin_copy(tenon__frame_t* frame, uint32_t step);
tenon_status_t tenon__timing_end_copy(tenon__frame_t* frame, uint32_t step);

#endif
