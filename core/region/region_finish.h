/* What is derived from a region: its values, described for a profile, and its accesses taken apart.
 */
#ifndef TENON_CORE_REGION_REGION_FINISH_H_
#define TENON_CORE_REGION_REGION_FINISH_H_

#include "core/region/region.h"

/* Fills in what is derived, for a profile, in the arena. Values are numbered in the order in which
 * inputs, outputs and the nodes between name them, each once. Names, types and the extents at the
 * profile's three points are laid down, -1 where only a run knows. OUT_OF_MEMORY; INTERNAL for an
 * access that is not affine. May add to the pool. */
tenon_status_t tenon__region_finish(tenon__arena_t* arena, const tenon__profile_t* profile,
                                    struct tenon_region_t* inout_region);
/* After a refit: the bytes of constants are where the network's weights are now. */
void tenon__region_renew(struct tenon_region_t* region);

#endif
