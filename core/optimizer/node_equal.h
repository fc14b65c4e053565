/* Do two nodes, or two constants, always have the same value? Equal means: by structure, without
 * computing anything. Impure nodes are for the caller to leave out. */
#ifndef TENON_CORE_OPTIMIZER_NODE_EQUAL_H_
#define TENON_CORE_OPTIMIZER_NODE_EQUAL_H_

#include "core/network/network.h"

/* Same operator or form, attributes, meaning and inputs, the two of a commutative operation in any
 * order. Both nodes of one graph, as inputs are compared by their ids. */
bool tenon__node_equal(const tenon__node_t* a, const tenon__node_t* b);
/* Those of two nodes of one operator: values, and which of them were set. */
bool tenon__node_same_attributes(const tenon__node_t* a, const tenon__node_t* b);
/* Equal nodes have equal hashes. */
uint64_t tenon__node_hash(const tenon__node_t* node);
/* Same type and bytes. Large ones only when they share them. Large: beyond 4096 bytes, where
 * comparing each pair would cost more than merging saves. */
bool tenon__weights_equal(const tenon__weights_t* a, const tenon__weights_t* b);
/* Equal weights have equal hashes. */
uint64_t tenon__weights_hash(const tenon__weights_t* weights);

#endif
