/* Copies of networks. A build works on a copy, so that the caller's network is unchanged, and a
 * plan keeps a copy of its original network. */
#ifndef TENON_CORE_NETWORK_COPY_H_
#define TENON_CORE_NETWORK_COPY_H_

#include "core/network/network.h"

/* Copies a network deeply, with the same ids. Weights' bytes are shared (unaligned ones are
 * copied), so the source must outlive the copy. Names, dimensions' lists, attributes, programs and
 * maps are immutable and shared too. Only tables and the lists that passes edit are copied, so the
 * memory is proportional to nodes, not to weights. The copy uses the source's allocator and has no
 * interrupt. Returns OUT_OF_MEMORY only, and frees everything then. */
tenon_status_t tenon__network_copy(const tenon__network_t* network, tenon__network_t** out_network);

/* Copies of expressions and index maps for nodes. A meaning that a pass has made in scratch memory
 * must be copied to live as long as the network. */

/* The copy does not refer to the source: instructions, operands, outputs and accesses are in the
 * arena. Returns OUT_OF_MEMORY only; the arena may have grown then. */
tenon_status_t tenon__expression_copy(tenon__arena_t* arena, const tenon__expression_t* expression,
                                      tenon__expression_t* out_expression);
/* Dimensions keep their ids, so source and copy must use the same pool. */
tenon_status_t tenon__index_map_copy(tenon__arena_t* arena, const tenon__index_map_t* map,
                                     tenon__index_map_t* out_map);

#endif
