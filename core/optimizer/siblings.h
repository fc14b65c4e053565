/* Siblings: nodes of one operator that read one value and could become one (merge_siblings). */
#ifndef TENON_CORE_OPTIMIZER_SIBLINGS_H_
#define TENON_CORE_OPTIMIZER_SIBLINGS_H_

#include "core/network/network.h"

/* Returns true if its operator declares that such nodes can be merged. If the declaration requires
 * an attribute to be 1, it must be 1. */
bool tenon__node_is_concatenable(const tenon__node_t* node);
/* Sets *out_has to true if two such nodes of one operator read one value. This is a quick check:
 * the pass may find that they differ. Linear in nodes, except those that read one value. */
tenon_status_t tenon__network_has_siblings(const tenon__network_t* network, bool* out_has);

#endif
