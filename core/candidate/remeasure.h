/*
 * A second measurement of those times on which a choice hangs. Noise makes times longer, never
 * shorter, and it falls on one tactic by chance. So a choice that is close is measured again in
 * turns, and only the few that could win are.
 */
#ifndef TENON_CORE_CANDIDATE_REMEASURE_H_
#define TENON_CORE_CANDIDATE_REMEASURE_H_

#include "core/timing/tuning.h"

/* Measures once more whoever is fresh among those that could be the fastest, and keeps the smaller
 * of both times. Who finds the candidates next finds them sorted anew: what was picked of them
 * before is void. Whoever is within 1.3 of the fastest takes part, in up to six rounds, until two
 * rounds bring nothing new. The timing cache takes the new times too. */
tenon_status_t tenon__candidates_remeasure(tenon__tuning_t* tuning, struct tenon_region_t* region,
                                           const tenon__candidates_t* candidates);
/* Is there anybody to be measured once more? Measured in this build, once, and near enough to the
 * fastest. */
bool tenon__candidates_are_fresh(const tenon__candidates_t* candidates);

#endif
