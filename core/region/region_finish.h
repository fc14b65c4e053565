/* Derived members of a region: its values, described for a profile, and decomposed accesses. */
#ifndef TENON_CORE_REGION_REGION_FINISH_H_
#define TENON_CORE_REGION_REGION_FINISH_H_

#include "core/region/region.h"

/* Computes derived members for a profile, in the arena. Values are numbered in the order of inputs,
 * outputs and inner nodes, each once. Sets names, types and the extents at the profile's three
 * points; -1: data-dependent. May add to the pool. Returns OUT_OF_MEMORY, or INTERNAL for an access
 * that is not affine. */
tenon_status_t tenon__region_finish(tenon__arena_t* arena, const tenon__profile_t* profile,
                                    struct tenon_region_t* inout_region);
/* After a refit: updates the addresses of constants to the network's current weights. */
void tenon__region_renew(struct tenon_region_t* region);

#endif
