/* One tactic's run on made-up data: prepared, bound, timed. */
#ifndef TENON_CORE_TIMING_TIMER_H_
#define TENON_CORE_TIMING_TIMER_H_

#include "core/timing/trial.h"
#include "core/timing/tuning.h"

/* Ready to run: inputs and outputs lent as the tactic's rules want them, workspaces taken,
 * constants packed, and bound to the profile's optimum. What the kernel said is in `message`;
 * UNSUPPORTED without outputs: the rules cannot be met here. End it whatever it returns. */
tenon_status_t tenon__trial_begin(tenon__trial_t* trial, tenon__trial_data_t* data,
                                  const tenon__candidate_t* candidate);
/* Everything that was lent goes back to the trial data, but the outputs where somebody took them
 * away. */
void tenon__trial_end(tenon__trial_t* trial);
/* Once, with outputs that hold the pattern before. CANCELLED when somebody wants the end, whatever
 * the kernel returned. */
tenon_status_t tenon__trial_run(tenon__trial_t* trial, uint32_t pattern);
/* After a run: the memory around which the tactic wrote, as a phrase in the tuning's arena, for
 * example "writes behind its output 0". NULL if there is none. */
tenon_status_t tenon__trial_find_overrun(tenon__trial_t* trial, const char** out_text);
/* Again and again: the smallest of several times, and whether others kept the machine busy
 * meanwhile. On devices that record it is a chain of runs in one recording that is timed, and what
 * one of them takes there. It has run once before. Ends when a second time comes near the smallest
 * after 4 ms of measuring, after 20 ms in any case, or at once when it is three times slower than
 * `best_so_far`. Seconds of one run. By the host's clock the threads of the pool are kept awake
 * meanwhile; by a device's nobody on the host disturbs. */
tenon_status_t tenon__trial_time(tenon__trial_t* trial, double best_so_far, double* out_seconds,
                                 bool* out_disturbed);
/* Is the memory that a kernel leaves zero still zero? A kernel may count on zeros that it left
 * itself: a step that does not leave them breaks the next. */
bool tenon__trial_zeroed_is_zero(tenon__trial_t* trial);

#endif
