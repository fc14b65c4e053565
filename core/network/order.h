/* Who uses a value, and the order in which nodes run. */
#ifndef TENON_CORE_NETWORK_ORDER_H_
#define TENON_CORE_NETWORK_ORDER_H_

#include "core/base/lists.h"
#include "core/network/network.h"

/* Users of values: for each value the nodes alive that read it, as often as they do. In the arena.
 */
tenon_status_t tenon__graph_uses(const tenon__network_t* network, uint32_t graph,
                                 tenon__arena_t* arena, tenon__lists_t* out_uses);
/* Nodes alive in a topological order, stable: by `place`, as far as possible. In the arena. A
 * cycle: INVALID_DATA, naming a node on it. */
tenon_status_t tenon__graph_order(const tenon__network_t* network, uint32_t graph,
                                  tenon__arena_t* arena, const tenon_sink_t* sink,
                                  const uint32_t** out_nodes, uint32_t* out_count);

#endif
