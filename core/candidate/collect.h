/*
 * The tactics that one kernel offers for a region. A plugin's function calls back for each tactic;
 * what it hands over is copied, and what its rules ask for is checked against what steps and places
 * can express.
 */
#ifndef TENON_CORE_CANDIDATE_COLLECT_H_
#define TENON_CORE_CANDIDATE_COLLECT_H_

#include "core/candidate/search.h"
#include "core/catalog/entry.h"

/* Adds what the kernel, which accepts the region, offers for it: tactics that the build permits and
 * that a plan can carry out. A kernel that fails, or offers none, is noted. At most 64 of one
 * kernel are kept, those of lowest estimate; of more than 1024 offered the rest is refused. Tactics
 * that are left out are noted too. Fails when memory is out alone. */
tenon_status_t tenon__search_collect(search_t* search, const tenon__kernel_entry_t* entry);

#endif
