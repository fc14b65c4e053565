/*
 * A pool made again: symbols first, then nodes in order of ids, each as it was. Nothing is brought
 * into canonical form, so that a pool that was canonical stays so, and equal ids stay equal
 * dimensions.
 *
 * For readers of plans and for copies: a plan holds ids, and must find them again.
 */
#ifndef TENON_CORE_DIMENSION_DIMENSION_RESTORE_H_
#define TENON_CORE_DIMENSION_DIMENSION_RESTORE_H_

#include "core/dimension/dimension_node.h"

/* Room for the symbols of an empty pool. False when memory is out. The count may come from a file:
 * it is bounded by the reader. */
bool tenon__dim_restore_begin(tenon__dim_pool_t* pool, uint32_t symbol_count);
/* The next symbol, copied, names too. False when memory is out. Made-up names are kept as they are,
 * and the symbol is found by what it is, as if it had been made here. */
bool tenon__dim_restore_symbol(tenon__dim_pool_t* pool, const tenon__symbol_t* symbol);
/* The next node; its kind, opcode, index, value and operands count, the rest is computed. Its
 * operands, and the bound of its symbol, are older nodes. INVALID_DATA when it is there already. */
tenon_status_t tenon__dim_restore_node(tenon__dim_pool_t* pool, const tenon__dim_node_t* node);
/* Symbols whose node never came keep no bound that could point anywhere. */
void tenon__dim_restore_end(tenon__dim_pool_t* pool);

/* All of another pool, with the same numbers of symbols and nodes. OUT_OF_MEMORY only. Requirements
 * that were lent to the source are not. */
tenon_status_t tenon__dim_pool_copy(tenon_allocator_t allocator, const tenon__dim_pool_t* source,
                                    tenon__dim_pool_t** out_pool);

#endif
