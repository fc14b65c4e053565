/* A candidate's run, and what it must not do: leave elements unwritten, write to its inputs, find
 * other extents from the same inputs. For the rehearsal alone. */
#ifndef TENON_CORE_REHEARSAL_TRIAL_CHECK_H_
#define TENON_CORE_REHEARSAL_TRIAL_CHECK_H_

#include "core/rehearsal/answer.h"
#include "core/timing/timer.h"

/* The candidate computes something else: why, in words that live as long as the rehearsal. */
void tenon__outcome_is_wrong(tenon__outcome_t* outcome, const char* detail);
/* Of the host's own part: the build cannot go on. */
tenon_status_t tenon__rehearsal_lacks_memory(tenon__rehearsal_t* rehearsal);
/* "element [0, 3] of output 'y'", in the tuning's arena. */
const char* tenon__element_name(const tenon__rehearsal_t* rehearsal, uint32_t output,
                                const int64_t* index, uint32_t rank);
/* Runs it, twice where it leaves something as it was; what it does wrongly is in the outcome. */
tenon_status_t tenon__trial_check(tenon__rehearsal_t* rehearsal, tenon__trial_t* trial,
                                  tenon__outcome_t* outcome);

#endif
