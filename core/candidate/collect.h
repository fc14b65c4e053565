/*
 * The tactics that one kernel offers for a region. A plugin's function calls back for each tactic.
 * The tactic is copied, and the requirements of its rules are checked against the abilities of
 * steps and places.
 */
#ifndef TENON_CORE_CANDIDATE_COLLECT_H_
#define TENON_CORE_CANDIDATE_COLLECT_H_

#include "core/candidate/search.h"
#include "core/catalog/entry.h"

/* Adds the tactics that the kernel offers for the region, which it accepts, if the build permits
 * them and a plan can carry them out. Kernels that fail or offer no tactic are noted. At most 64
 * tactics of one kernel are kept, those of the lowest estimates. If more than 1024 are offered, the
 * rest is refused. Rejected tactics are noted too. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__search_collect(search_t* search, const tenon__kernel_entry_t* entry);

#endif
