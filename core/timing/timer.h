/* Preparation, binding and timing of one tactic on made-up data. */
#ifndef TENON_CORE_TIMING_TIMER_H_
#define TENON_CORE_TIMING_TIMER_H_

#include "core/timing/trial.h"
#include "core/timing/tuning.h"

/* Prepares a trial to run: lends inputs and outputs in the layouts of the tactic's rules, allocates
 * workspaces, packs constants, and binds to the profile's optimum. `message` has the kernel's first
 * error. UNSUPPORTED without outputs: the rules cannot be satisfied here. Call tenon__trial_end in
 * any case. */
tenon_status_t tenon__trial_begin(tenon__trial_t* trial, tenon__trial_data_t* data,
                                  const tenon__candidate_t* candidate);
/* Returns everything to the trial data, except outputs that the caller has moved out. */
void tenon__trial_end(tenon__trial_t* trial);
/* Runs once, with outputs that contain the pattern before. Returns CANCELLED if the build was
 * cancelled, else the kernel's status. */
tenon_status_t tenon__trial_run(tenon__trial_t* trial, uint32_t pattern);
/* After a run: finds memory whose red zones the tactic has overwritten, as a phrase in the tuning's
 * arena, for example "writes behind its output 0". NULL if there is none. */
tenon_status_t tenon__trial_find_overrun(tenon__trial_t* trial, const char** out_text);
/* Runs repeatedly and returns the minimum time of one run in seconds, and whether other load
 * disturbed the machine. It must have run once before. On devices that record, a recording of
 * several runs is timed and divided by their number. Measuring ends when a second time is near the
 * minimum after 4 ms, after 20 ms in any case, or at once if it is 3 times slower than
 * `best_so_far`. With the host's clock, the pool's threads are kept awake. With a device's clock,
 * the host does not disturb. */
tenon_status_t tenon__trial_time(tenon__trial_t* trial, double best_so_far, double* out_seconds,
                                 bool* out_disturbed);
/* Returns true if the kernel's zeroed memory is still zero. A kernel relies on zeros that its last
 * run has left, so a step that does not leave them breaks the next. */
bool tenon__trial_zeroed_is_zero(tenon__trial_t* trial);

#endif
