/* One covering of a graph from beginning to end: what each node is, then epilogues, runs and order.
 */
#ifndef TENON_CORE_FUSION_REGIONS_H_
#define TENON_CORE_FUSION_REGIONS_H_

#include "core/fusion/grouping.h"
#include "core/timing/tuning.h"

/* What does not depend on who is grouped with whom: needs, and groups of one node. End it whatever
 * it returns. */
tenon_status_t tenon__grouping_begin(tenon__tuning_t* tuning, uint32_t graph,
                                     grouping_t* out_grouping);
void tenon__grouping_end(grouping_t* grouping);
/* Units of the whole graph, in the arena, as the alternatives stand. INTERNAL if groups wait for
 * each other, which no grouping may bring about. */
tenon_status_t tenon__grouping_cover(grouping_t* grouping, tenon__arena_t* arena,
                                     tenon__units_t* out_units);

#endif
