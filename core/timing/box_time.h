/*
 * How long a tactic takes when one of its arguments lies in a box of a larger tensor, and whether
 * it computes the same: what a concatenation in place asks of those who write and read its parts.
 */
#ifndef TENON_CORE_TIMING_BOX_TIME_H_
#define TENON_CORE_TIMING_BOX_TIME_H_

#include "core/timing/trial_data.h"

/* What is known of one candidate and one box. `time` is beside the candidate's own: both were taken
 * in turns, so that what disturbs the machine disturbs both. NONE where nothing may be measured,
 * the candidate's own time was not measured, or trials do not lie in the host's memory. */
typedef struct tenon__box_time_t {
  tenon__time_t time;
  bool is_wrong; /* it failed, or made other bytes than with memory of its own */
} tenon__box_time_t;

/* Looked up in the timing cache, or measured and kept there: once for each candidate and box.
 * `candidate` is one of the region's. Fails where the build cannot go on: OUT_OF_MEMORY, CANCELLED.
 */
tenon_status_t tenon__candidate_time_in_box(tenon__tuning_t* tuning,
                                            const struct tenon_region_t* region,
                                            const tenon__candidate_t* candidate,
                                            const tenon__box_t* box, tenon__box_time_t* out_time);

#endif
