/* Gives a region's candidates their times: known, measured, or estimated. */
#ifndef TENON_CORE_CANDIDATE_TIMES_H_
#define TENON_CORE_CANDIDATE_TIMES_H_

#include "core/candidate/search.h"

/* Gives all that were found their times; drops those that failed; the fastest first. */
tenon_status_t tenon__search_time(search_t* search, const tenon__digest_t* signature);

#endif
