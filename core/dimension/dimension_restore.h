/*
 * A pool made again: symbols first, then nodes in order of ids, each as it was. Nothing is brought
 * into canonical form, so that a pool that was canonical stays so, and equal ids stay equal
 * dimensions.
 */
#ifndef TENON_CORE_DIMENSION_DIMENSION_RESTORE_H_
#define TENON_CORE_DIMENSION_DIMENSION_RESTORE_H_

#include "core/dimension/dimension_node.h"

/* Room for the symbols of an empty pool. False when memory is out. */
bool tenon__dim_restore_begin(tenon__dim_pool_t* pool, uint32_t symbol_count);
/* The next symbol, copied, names too. False when memory is out. */
bool tenon__dim_restore_symbol(tenon__dim_pool_t* pool, const tenon__symbol_t* symbol);
/* The next node; its kind, opcode, index, value and operands count, the rest is computed. Its
 * operands, and the bound of its symbol, are older nodes. INVALID_DATA when it is there already. */
tenon_status_t tenon__dim_restore_node(tenon__dim_pool_t* pool, const tenon__dim_node_t* node);
/* Symbols whose node never came keep no bound that could point anywhere. */
void tenon__dim_restore_end(tenon__dim_pool_t* pool);

/* All of another pool, with the same numbers of symbols and nodes. */
tenon_status_t tenon__dim_pool_copy(tenon_allocator_t allocator, const tenon__dim_pool_t* source,
                                    tenon__dim_pool_t** out_pool);

#endif
