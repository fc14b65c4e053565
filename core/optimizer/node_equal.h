/* Equality of nodes and of constants, by structure and without computation. The caller excludes
 * impure nodes. */
#ifndef TENON_CORE_OPTIMIZER_NODE_EQUAL_H_
#define TENON_CORE_OPTIMIZER_NODE_EQUAL_H_

#include "core/network/network.h"

/* Returns true for the same operator or form, attributes, meaning and inputs; the inputs of a
 * commutative operation in any order. Both nodes are of one graph, as inputs are compared by id. */
bool tenon__node_equal(const tenon__node_t* a, const tenon__node_t* b);
/* Compares the attributes of two nodes of one operator: values, and whether they were set. */
bool tenon__node_same_attributes(const tenon__node_t* a, const tenon__node_t* b);
/* Equal nodes have equal hashes. */
uint64_t tenon__node_hash(const tenon__node_t* node);
/* Returns true for the same type and bytes. Weights above 4096 bytes are equal only if they share
 * the bytes, because comparing each pair would cost more than merging saves. */
bool tenon__weights_equal(const tenon__weights_t* a, const tenon__weights_t* b);
/* Equal weights have equal hashes. */
uint64_t tenon__weights_hash(const tenon__weights_t* weights);

#endif
