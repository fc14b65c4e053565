/*
 * The pool makes each dimension once, so that equal ones have equal ids, and returns its
 * properties. Reading is thread-safe as long as no thread makes dimensions.
 */
#ifndef TENON_CORE_DIMENSION_DIMENSION_POOL_H_
#define TENON_CORE_DIMENSION_DIMENSION_POOL_H_

#include "core/dimension/dimension.h"

/* Creates an empty pool, which owns all its contents. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__dim_pool_create(tenon_allocator_t allocator, tenon__dim_pool_t** out_pool);
void tenon__dim_pool_destroy(tenon__dim_pool_t* pool);
/* Returns the number of dimensions; ids are below it. It grows with new dimensions. */
uint32_t tenon__dim_pool_count(const tenon__dim_pool_t* pool);
/* Returns true if the pool has ever run out of memory. Check it at the end of a group of
 * operations. */
bool tenon__dim_pool_failed(const tenon__dim_pool_t* pool);
tenon_allocator_t tenon__dim_pool_allocator(const tenon__dim_pool_t* pool);

tenon_dim_t tenon__dim_constant(tenon__dim_pool_t* pool, int64_t value);
/* Returns the symbol of that name, made if new; an existing one keeps its range. Names are copied.
 * A symbol without a name is identified by kind, a and b (a coordinate also by its extent). */
tenon_dim_t tenon__dim_symbol(tenon__dim_pool_t* pool, const tenon__symbol_t* symbol);

/* The dimension must be valid. */
tenon__dim_view_t tenon__dim_get(const tenon__dim_pool_t* pool, tenon_dim_t dim);
/* Returns the value of a constant, or of a dimension whose range is one number. Returns false
 * otherwise, also for INVALID; *out_value is then unchanged. */
bool tenon__dim_known(const tenon__dim_pool_t* pool, tenon_dim_t dim, int64_t* out_value);
/* Returns true if it is known to be that number. */
static inline bool tenon__dim_is(const tenon__dim_pool_t* pool, tenon_dim_t dim, int64_t number) {
  int64_t value = 0;
  return tenon__dim_known(pool, dim, &value) && value == number;
}
/* Returns bounds that are always valid; INT64_MIN and INT64_MAX if unknown. Stored with each node,
 * so constant time. */
void tenon__dim_range(const tenon__dim_pool_t* pool, tenon_dim_t dim, int64_t* out_min,
                      int64_t* out_max);
/* Returns true if the expression contains a symbol of that kind (or an element, kind == -1). */
bool tenon__dim_mentions(const tenon__dim_pool_t* pool, tenon_dim_t dim, int kind);
/* Returns a mask; bit j: the expression contains coordinate j (below 64). */
uint64_t tenon__dim_coordinate_axes(const tenon__dim_pool_t* pool, tenon_dim_t dim);

uint32_t tenon__symbol_count(const tenon__dim_pool_t* pool);
const tenon__symbol_t* tenon__symbol_get(const tenon__dim_pool_t* pool, uint32_t index);
/* Narrows the range of a symbol to a profile (of several profiles, to a range that contains all).
 * Ranges of expressions are updated. A range that is disjoint from the old one changes nothing.
 * Linear in the pool, so do not call it in inner loops. */
void tenon__symbol_set_range(tenon__dim_pool_t* pool, uint32_t index, int64_t min, int64_t max);
/* Returns the symbol of that kind, `a` and `b` if it was used, else INVALID. */
tenon_dim_t tenon__symbol_find(const tenon__dim_pool_t* pool, tenon__symbol_kind_t kind, uint32_t a,
                               uint32_t b);

/* ---- Restoring a pool ----
 *
 * Restore symbols first, then nodes in order of ids, unchanged. They are not simplified again, so a
 * canonical pool stays canonical, and ids keep their meaning. For readers of plans and for copies,
 * because plans contain ids. */

struct tenon__dim_node_t;
/* Reserves memory for the symbols of an empty pool. The reader of a file limits the count. Returns
 * false if out of memory. */
bool tenon__dim_restore_begin(tenon__dim_pool_t* pool, uint32_t symbol_count);
/* Adds the next symbol, copied with its name. Generated names are kept, and the symbol can be found
 * by its kind, a and b as if it had been made here. Returns false if out of memory. */
bool tenon__dim_restore_symbol(tenon__dim_pool_t* pool, const tenon__symbol_t* symbol);
/* Adds the next node. Its kind, opcode, index, value and operands are used; the rest is computed.
 * Its operands, and the bound of its symbol, are earlier nodes. Returns INVALID_DATA if the node
 * exists already. */
tenon_status_t tenon__dim_restore_node(tenon__dim_pool_t* pool,
                                       const struct tenon__dim_node_t* node);
/* Ends restoring: clears the bounds of symbols without a node. */
void tenon__dim_restore_end(tenon__dim_pool_t* pool);

/* Copies a pool with the same numbers of symbols and nodes. The source's borrowed list of
 * requirements is not copied. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__dim_pool_copy(tenon_allocator_t allocator, const tenon__dim_pool_t* source,
                                    tenon__dim_pool_t** out_pool);

/* ---- For this module only ---- */

/* Returns the node with exactly these members, made if new, without simplification. Operands are
 * copied and must be valid. INVALID if out of memory. */
tenon_dim_t tenon__dim_intern(tenon__dim_pool_t* pool, const struct tenon__dim_node_t* node);
/* Returns the node of that opcode without simplification, for operations that are canonical
 * already. */
tenon_dim_t tenon__dim_operation(tenon__dim_pool_t* pool, uint32_t opcode,
                                 const tenon_dim_t* operands, uint32_t count);
/* Same for two operands. */
tenon_dim_t tenon__dim_pair(tenon__dim_pool_t* pool, uint32_t opcode, tenon_dim_t a, tenon_dim_t b);
/* Returns the existing node, or INVALID. Makes nothing; the existence of a form may decide which of
 * several is better. */
tenon_dim_t tenon__dim_find(const tenon__dim_pool_t* pool, uint32_t opcode,
                            const tenon_dim_t* operands, uint32_t count);

#endif
