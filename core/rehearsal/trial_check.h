/* A candidate's run with checks: it must write all elements, must not write to its inputs, and must
 * find the same extents from the same inputs. For the rehearsal only. */
#ifndef TENON_CORE_REHEARSAL_TRIAL_CHECK_H_
#define TENON_CORE_REHEARSAL_TRIAL_CHECK_H_

#include "core/rehearsal/answer.h"
#include "core/timing/timer.h"

/* Marks the candidate as wrong. `detail` must live as long as the rehearsal. */
void tenon__outcome_is_wrong(tenon__outcome_t* outcome, const char* detail);
/* Records that the host itself is out of memory, which ends the build. */
tenon_status_t tenon__rehearsal_lacks_memory(tenon__rehearsal_t* rehearsal);
/* Returns "element [0, 3] of output 'y'", in the tuning's arena. */
const char* tenon__element_name(const tenon__rehearsal_t* rehearsal, uint32_t output,
                                const int64_t* index, uint32_t rank);
/* Runs it, and again if elements are unchanged. Violations are in the outcome. */
tenon_status_t tenon__trial_check(tenon__rehearsal_t* rehearsal, tenon__trial_t* trial,
                                  tenon__outcome_t* outcome);

#endif
