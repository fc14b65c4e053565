/* Copies of networks: what a build works on while the caller's network stays as it is, and what a
 * plan keeps of the network it was made from. */
#ifndef TENON_CORE_NETWORK_COPY_H_
#define TENON_CORE_NETWORK_COPY_H_

#include "core/network/network.h"

/* A deep copy (weights' bytes are shared, aligned where they were not; the source must outlive it).
 * Ids are kept. Names, dimensions' lists, attributes, programs and maps are shared too, as nobody
 * changes them once they are made; only tables and the lists that passes edit are copied. So a copy
 * costs memory in proportion to nodes, not to weights. The copy uses the source's allocator and has
 * no interrupt. OUT_OF_MEMORY only, and nothing is left over then. */
tenon_status_t tenon__network_copy(const tenon__network_t* network, tenon__network_t** out_network);

/* Of expressions and index maps, for nodes whose meaning was made elsewhere: it must live as long
 * as the network, and what a pass made in scratch memory does not. */

/* Nothing of the copy points at the source: instructions, operands, outputs and accesses are the
 * arena's. OUT_OF_MEMORY only; the arena may have grown then. */
tenon_status_t tenon__expression_copy(tenon__arena_t* arena, const tenon__expression_t* expression,
                                      tenon__expression_t* out_expression);
/* Dimensions keep their ids, so source and copy must be over the same pool. */
tenon_status_t tenon__index_map_copy(tenon__arena_t* arena, const tenon__index_map_t* map,
                                     tenon__index_map_t* out_map);

#endif
