/*
 * The pool: dimensions are made here once each, so that equal ones have equal ids, and looked at
 * here. Not thread safe while anything is made; looking alone is.
 */
#ifndef TENON_CORE_DIMENSION_DIMENSION_POOL_H_
#define TENON_CORE_DIMENSION_DIMENSION_POOL_H_

#include "core/dimension/dimension.h"

/* Empty; everything in it is freed with it. OUT_OF_MEMORY only. */
tenon_status_t tenon__dim_pool_create(tenon_allocator_t allocator, tenon__dim_pool_t** out_pool);
void tenon__dim_pool_destroy(tenon__dim_pool_t* pool);
/* Dimensions made so far: ids are below it. It grows while somebody calculates. */
uint32_t tenon__dim_pool_count(const tenon__dim_pool_t* pool);
/* True once memory was out: the caller of a group of operations asks at its end. It never becomes
 * false again. */
bool tenon__dim_pool_failed(const tenon__dim_pool_t* pool);
tenon_allocator_t tenon__dim_pool_allocator(const tenon__dim_pool_t* pool);

tenon_dim_t tenon__dim_constant(tenon__dim_pool_t* pool, int64_t value);
/* The symbol of that name, made if new; an existing one keeps its range. Names are copied. A symbol
 * without a name is found by kind, a and b (a coordinate by its extent too). */
tenon_dim_t tenon__dim_symbol(tenon__dim_pool_t* pool, const tenon__symbol_t* symbol);

/* The dimension must be valid. */
tenon__dim_view_t tenon__dim_get(const tenon__dim_pool_t* pool, tenon_dim_t dim);
/* A constant, or what its range leaves one value. False for INVALID; *out_value is untouched then.
 */
bool tenon__dim_known(const tenon__dim_pool_t* pool, tenon_dim_t dim, int64_t* out_value);
/* Known to be that number? */
static inline bool tenon__dim_is(const tenon__dim_pool_t* pool, tenon_dim_t dim, int64_t number) {
  int64_t value = 0;
  return tenon__dim_known(pool, dim, &value) && value == number;
}
/* Bounds that always hold; INT64_MIN and INT64_MAX where nothing is known. Kept with each node:
 * constant time. */
void tenon__dim_range(const tenon__dim_pool_t* pool, tenon_dim_t dim, int64_t* out_min,
                      int64_t* out_max);
/* True when the expression contains a symbol of that kind (or an element, kind == -1). */
bool tenon__dim_mentions(const tenon__dim_pool_t* pool, tenon_dim_t dim, int kind);
/* Bit j: the expression mentions coordinate j (below 64). */
uint64_t tenon__dim_coordinate_axes(const tenon__dim_pool_t* pool, tenon_dim_t dim);

uint32_t tenon__symbol_count(const tenon__dim_pool_t* pool);
const tenon__symbol_t* tenon__symbol_get(const tenon__dim_pool_t* pool, uint32_t index);
/* Narrows the range of a symbol (a profile does; of several profiles, what covers all). Ranges of
 * expressions follow. A range without a common number with the old one changes nothing. Linear in
 * the pool, so it is not for the inner loop of anything. */
void tenon__symbol_set_range(tenon__dim_pool_t* pool, uint32_t index, int64_t min, int64_t max);
/* The symbol of that kind, `a` and `b`, if anything was made of it: INVALID if not. */
tenon_dim_t tenon__symbol_find(const tenon__dim_pool_t* pool, tenon__symbol_kind_t kind, uint32_t a,
                               uint32_t b);

/* ---- A pool made again ----
 *
 * Symbols first, then nodes in order of ids, each as it was. Nothing is brought into canonical
 * form, so that a pool that was canonical stays so, and equal ids stay equal dimensions. For
 * readers of plans and for copies: a plan holds ids, and must find them again. */

struct tenon__dim_node_t;
/* Room for the symbols of an empty pool. False when memory is out. The count may come from a file:
 * it is bounded by the reader. */
bool tenon__dim_restore_begin(tenon__dim_pool_t* pool, uint32_t symbol_count);
/* The next symbol, copied, names too. False when memory is out. Made-up names are kept as they are,
 * and the symbol is found by what it is, as if it had been made here. */
bool tenon__dim_restore_symbol(tenon__dim_pool_t* pool, const tenon__symbol_t* symbol);
/* The next node; its kind, opcode, index, value and operands count, the rest is computed. Its
 * operands, and the bound of its symbol, are older nodes. INVALID_DATA when it is there already. */
tenon_status_t tenon__dim_restore_node(tenon__dim_pool_t* pool,
                                       const struct tenon__dim_node_t* node);
/* Symbols whose node never came keep no bound that could point anywhere. */
void tenon__dim_restore_end(tenon__dim_pool_t* pool);

/* All of another pool, with the same numbers of symbols and nodes. OUT_OF_MEMORY only. Requirements
 * that were lent to the source are not. */
tenon_status_t tenon__dim_pool_copy(tenon_allocator_t allocator, const tenon__dim_pool_t* source,
                                    tenon__dim_pool_t** out_pool);

/* ---- For this room alone ---- */

/* The node with exactly these fields, made if new. INVALID when memory is out. Operands are copied
 * and must be valid; no canonical form is made here. */
tenon_dim_t tenon__dim_intern(tenon__dim_pool_t* pool, const struct tenon__dim_node_t* node);
/* The node of that opcode, as it is: for operations that have their canonical form already. */
tenon_dim_t tenon__dim_operation(tenon__dim_pool_t* pool, uint32_t opcode,
                                 const tenon_dim_t* operands, uint32_t count);
/* Of two operands. */
tenon_dim_t tenon__dim_pair(tenon__dim_pool_t* pool, uint32_t opcode, tenon_dim_t a, tenon_dim_t b);
/* The node as it is in the pool, INVALID when it is not. Makes nothing: whether a form exists may
 * decide which one is better. */
tenon_dim_t tenon__dim_find(const tenon__dim_pool_t* pool, uint32_t opcode,
                            const tenon_dim_t* operands, uint32_t count);

#endif
