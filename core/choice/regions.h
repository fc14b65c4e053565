/* One covering of a graph from beginning to end: what each node is, then epilogues, runs and order.
 */
#ifndef TENON_CORE_CHOICE_REGIONS_H_
#define TENON_CORE_CHOICE_REGIONS_H_

#include "core/candidate/tuning.h"
#include "core/choice/grouping.h"

/* Can the numbers of all wanted outputs of a node be written from dimensions alone? Such a node
 * needs no kernel: the core writes its few numbers. */
bool tenon__node_is_contents(const tenon__network_t* network, const tenon__graph_t* g,
                             const tenon__node_t* node);

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
