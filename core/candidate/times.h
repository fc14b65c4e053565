/*
 * Gives a region's candidates their times: known, measured, or estimated. A time in the cache is
 * believed together with what is known of the numbers: what was found wrong is dropped without a
 * run, what was never compared is compared again when there is somebody to compare it with.
 */
#ifndef TENON_CORE_CANDIDATE_TIMES_H_
#define TENON_CORE_CANDIDATE_TIMES_H_

#include "core/candidate/search.h"

/* Gives all that were found their times; drops those that failed; the fastest first. `signature` is
 * what times of this region are known by; kernel, plugin's file, tactic, machine and threads are
 * added to it for the keys. After the deadline, or where nothing may be measured, what the cache
 * lacks keeps its estimate. */
tenon_status_t tenon__search_time(search_t* search, const tenon__digest_t* signature);

/* Begins what takes the kernels long for all that were found and that the cache does not know: a
 * region that is asked of later finds it done. */
tenon_status_t tenon__search_expect(search_t* search, const tenon__digest_t* signature);

#endif
