/* One tactic, tried: prepared, bound and run on a trial's data. What it says is heard. */
#ifndef TENON_CORE_TACTICS_TRIAL_H_
#define TENON_CORE_TACTICS_TRIAL_H_

#include "core/tactics/trial_data.h"

typedef struct tenon__trial_t {
  tenon__trial_data_t* data;
  const tenon__candidate_t* candidate;
  tenon__trial_outputs_t* outputs; /* lent; whoever keeps them takes them away */
  tenon__arena_t arena;
  tenon__packed_store_t* store;
  tenon__instance_t* instance;
  tenon__bound_t* bound;
  struct tenon_run_t run; /* its workspaces are blocks of the tuning */
  size_t zeroed_bytes;
  /* What the kernel says: passed on as information, and its first error kept. */
  tenon_sink_t sink;
  const char* prefix;
  char words[512];
} tenon__trial_t;

/* Ready to run; `words` says what went wrong if not. End it whatever it returns. */
tenon_status_t tenon__trial_begin(tenon__trial_t* trial, tenon__trial_data_t* data,
                                  const tenon__candidate_t* candidate);
void tenon__trial_end(tenon__trial_t* trial);
/* Once, with outputs that hold the pattern before. */
tenon_status_t tenon__trial_run(tenon__trial_t* trial, uint32_t pattern);
/* Again and again: the smallest of several times, and whether others kept the machine busy
 * meanwhile. It has run once before. */
tenon_status_t tenon__trial_time(tenon__trial_t* trial, double best_so_far, double* out_seconds,
                                 bool* out_disturbed);
/* Is the memory that a kernel leaves zero still zero? */
bool tenon__trial_zeroed_is_zero(const tenon__trial_t* trial);

#endif
