/*
 * Time of a tactic with one argument in a box of a larger tensor, and a check of its results. Used
 * for writers and readers of the parts of an in-place concatenation.
 */
#ifndef TENON_CORE_TIMING_BOX_TIME_H_
#define TENON_CORE_TIMING_BOX_TIME_H_

#include "core/timing/trial_data.h"

/* Result for one candidate and one box. `time` was measured in turns with the candidate's own time,
 * so that disturbances affect both. NONE if the build may not measure, the candidate's own time was
 * not measured, or trials are not in the host's memory. */
typedef struct tenon__box_time_t {
  tenon__time_t time;
  bool is_wrong; /* it failed, or its bytes differ from those with memory of its own */
} tenon__box_time_t;

/* Looks the time up in the timing cache, or measures and stores it, once for each candidate and
 * box. `candidate` is one of the region's. Returns OUT_OF_MEMORY or CANCELLED, which end the
 * build. */
tenon_status_t tenon__candidate_time_in_box(tenon__tuning_t* tuning,
                                            const struct tenon_region_t* region,
                                            const tenon__candidate_t* candidate,
                                            const tenon__box_t* box, tenon__box_time_t* out_time);

#endif
