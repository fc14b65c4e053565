/* One tactic's run on made-up data: prepared, bound, timed. */
#ifndef TENON_CORE_CANDIDATE_TIMER_H_
#define TENON_CORE_CANDIDATE_TIMER_H_

#include "core/candidate/trial.h"
#include "core/candidate/tuning.h"

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
