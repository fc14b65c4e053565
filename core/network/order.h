/* Uses of values, and the order of nodes. */
#ifndef TENON_CORE_NETWORK_ORDER_H_
#define TENON_CORE_NETWORK_ORDER_H_

#include "core/base/lists.h"
#include "core/network/network.h"

/* Lists for each value the live nodes that read it, once for each use. In the arena. */
tenon_status_t tenon__graph_uses(const tenon__network_t* network, uint32_t graph,
                                 tenon__arena_t* arena, tenon__lists_t* out_uses);
/* Lists live nodes in a stable topological order, by `order` as far as possible. In the arena.
 * Returns INVALID_DATA with the name of a node on a cycle. */
tenon_status_t tenon__graph_order(const tenon__network_t* network, uint32_t graph,
                                  tenon__arena_t* arena, const tenon_sink_t* sink,
                                  const uint32_t** out_nodes, uint32_t* out_count);

#endif
