/*
 * A second measurement of the times that decide a choice. Noise makes times longer, never shorter,
 * and affects single tactics by chance. Therefore a close choice is measured again, and the few
 * tactics that could win take turns.
 */
#ifndef TENON_CORE_CANDIDATE_REMEASURE_H_
#define TENON_CORE_CANDIDATE_REMEASURE_H_

#include "core/timing/tuning.h"

/* Measures again the candidates that were measured once and could be the fastest, and keeps the
 * smaller of both times. Candidates within 1.3 of the fastest take part, in up to 6 rounds, until 2
 * rounds bring no change. The timing cache is updated too. The next search finds the candidates
 * sorted again, and earlier indices of them are invalid. */
tenon_status_t tenon__candidates_remeasure(tenon__tuning_t* tuning, struct tenon_region_t* region,
                                           const tenon__candidates_t* candidates);
/* Returns true if a candidate should be measured again: it was measured in this build, once, and is
 * near enough to the fastest. */
bool tenon__candidates_are_fresh(const tenon__candidates_t* candidates);

#endif
