/*
 * Deep copies of expressions and index maps into an arena, for nodes whose meaning was made
 * elsewhere. A node's meaning must live as long as the network; what a pass made in scratch memory
 * does not.
 */
#ifndef TENON_CORE_NETWORK_DEEP_COPY_H_
#define TENON_CORE_NETWORK_DEEP_COPY_H_

#include "core/program/program.h"
#include "core/tensor/index_map.h"

/* Nothing of the copy points at the source: instructions, operands, outputs and accesses are the
 * arena's. OUT_OF_MEMORY only; the arena may have grown then. */
tenon_status_t tenon__expression_copy(tenon__arena_t* arena, const tenon__expression_t* expression,
                                      tenon__expression_t* out_expression);
/* Dimensions keep their ids, so source and copy must be over the same pool. */
tenon_status_t tenon__index_map_copy(tenon__arena_t* arena, const tenon__index_map_t* map,
                                     tenon__index_map_t* out_map);

#endif
