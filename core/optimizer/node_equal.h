/* Do two nodes, or two constants, always have the same value? */
#ifndef TENON_CORE_OPTIMIZER_NODE_EQUAL_H_
#define TENON_CORE_OPTIMIZER_NODE_EQUAL_H_

#include "core/network/network.h"

/* Same operator or form, attributes, meaning and inputs, the two of a commutative operation in any
 * order. */
bool tenon__node_equal(const tenon__node_t* a, const tenon__node_t* b);
/* Equal nodes have equal hashes. */
uint64_t tenon__node_hash(const tenon__node_t* node);
/* Same type and bytes. Large ones only when they share them. */
bool tenon__weights_equal(const tenon__weights_t* a, const tenon__weights_t* b);
uint64_t tenon__weights_hash(const tenon__weights_t* weights);

#endif
