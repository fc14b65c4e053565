/*
 * Gives a region's candidates their times: known, measured, or estimated. A cached time is used
 * together with the results of earlier checks: a tactic that was found wrong is dropped without a
 * run, and a tactic that was never compared is compared as soon as another candidate exists.
 */
#ifndef TENON_CORE_CANDIDATE_TIMES_H_
#define TENON_CORE_CANDIDATE_TIMES_H_

#include "core/candidate/search.h"

/* Gives all candidates their times, drops those that failed, and sorts the fastest first.
 * `signature` identifies the times of this region; kernel, plugin file, tactic, machine and threads
 * are added to it for the keys. After the deadline, or if the build may not measure, candidates
 * without a cached time keep their estimates. */
tenon_status_t tenon__search_time(search_t* search, const tenon__digest_t* signature);

/* Begins the slow preparations of all candidates that the cache does not know, so that a later
 * search for the region need not wait for them. */
tenon_status_t tenon__search_expect(search_t* search, const tenon__digest_t* signature);

#endif
