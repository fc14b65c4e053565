/* The making of one covering of a graph: kinds of nodes, then epilogues, expression fusion (runs)
 * and order. */
#ifndef TENON_CORE_FUSION_REGIONS_H_
#define TENON_CORE_FUSION_REGIONS_H_

#include "core/fusion/grouping.h"
#include "core/timing/tuning.h"

/* Computes everything that does not depend on the grouping: needed values, and groups of one node.
 * Call tenon__grouping_end in any case. */
tenon_status_t tenon__grouping_begin(tenon__tuning_t* tuning, uint32_t graph,
                                     grouping_t* out_grouping);
void tenon__grouping_end(grouping_t* grouping);
/* Makes the units of the whole graph for the current alternatives, in the arena. Returns INTERNAL
 * if groups depend on each other, which no grouping may cause. */
tenon_status_t tenon__grouping_cover(grouping_t* grouping, tenon__arena_t* arena,
                                     tenon__units_t* out_units);

#endif
