/* Siblings: nodes of one operator that read one value and could become one (merge_siblings). */
#ifndef TENON_CORE_OPTIMIZER_SIBLINGS_H_
#define TENON_CORE_OPTIMIZER_SIBLINGS_H_

#include "core/network/network.h"

/* Does its operator declare that nodes like it can be merged? A node whose attribute that has to be
 * 1 for that is another number cannot. */
bool tenon__node_is_concatenable(const tenon__node_t* node);
/* Are there two such nodes of one operator that read one value? A quick look: the pass may find
 * that they differ. Linear in nodes but for those that read one value. */
tenon_status_t tenon__network_has_siblings(const tenon__network_t* network, bool* out_has);

#endif
