/* The trial of one tactic: prepared, bound and run on a trial's data. Its messages are kept. */
#ifndef TENON_CORE_TIMING_TRIAL_H_
#define TENON_CORE_TIMING_TRIAL_H_

#include "core/kernel/bind.h"
#include "core/timing/trial_data.h"
#include "core/timing/trial_mirror.h"

/* On the stack, from tenon__trial_begin to tenon__trial_end (timer.h). `candidate` and `data`
 * outlive it. */
typedef struct tenon__trial_t {
  tenon__trial_data_t* data;
  const tenon__candidate_t* candidate;
  tenon__trial_outputs_t* outputs; /* borrowed; the caller may move them out */
  tenon__arena_t arena;
  tenon__instance_t* instance;
  tenon__bound_t* bound;
  struct tenon_run_t run; /* its workspaces are blocks of the tuning, or the device's */
  tenon__trial_mirror_t mirror;
  uint64_t scratch_bytes;
  size_t zeroed_bytes;
  /* The kernel's messages are passed on as information, and its first error is kept. */
  tenon_sink_t sink;
  const char* prefix;
  char message[512];
} tenon__trial_t;

#endif
