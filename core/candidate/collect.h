/* The tactics that one kernel offers for a region. */
#ifndef TENON_CORE_CANDIDATE_COLLECT_H_
#define TENON_CORE_CANDIDATE_COLLECT_H_

#include "core/candidate/search.h"
#include "core/catalog/entry.h"

/* Adds what the kernel, which accepts the region, offers for it: tactics that the build permits and
 * that a plan can carry out. A kernel that fails, or offers none, is noted. */
tenon_status_t tenon__search_collect(search_t* search, const tenon__kernel_entry_t* entry);

#endif
