/*
 * Inside the dimension pool: nodes, and the sums of products in which the canonical form is
 * computed.
 *
 * An *atom* is a node that is neither a constant nor a sum nor a product of the canonical form. A
 * *term* is a coefficient times atoms; a *sum* is a list of terms, no two alike. Nodes are read
 * into sums, sums are calculated with, and written back as nodes. What does not fit these small
 * fixed structures stays one atom: still right, less simplified.
 */
#ifndef TENON_CORE_TENSOR_DIMENSION_POOL_H_
#define TENON_CORE_TENSOR_DIMENSION_POOL_H_

#include "core/base/arena.h"
#include "core/base/string_map.h"
#include "core/tensor/dimension.h"

enum {
  TENON__DIM_MENTIONS_ELEMENT = 1u << 7, /* bit k: a symbol of kind k */
  TENON__SUM_TERMS = 24,
  TENON__TERM_FACTORS = 12,
  TENON__DIM_OPERANDS = 64, /* most operands of a node */
};

typedef struct tenon__dim_node_t {
  tenon__dim_kind_t kind;
  uint32_t opcode;
  uint32_t index;
  uint32_t operand_count;
  const tenon_dim_t* operands; /* in the arena */
  int64_t value;
  int64_t min;
  int64_t max;
  uint32_t mentions;
  uint64_t coordinate_axes;
} tenon__dim_node_t;

struct tenon__dim_pool_t {
  tenon_allocator_t allocator;
  tenon__arena_t arena;
  tenon__dim_node_t* nodes;
  size_t node_count;
  size_t node_capacity;
  uint32_t* slots; /* hash table of node numbers + 1 */
  size_t slot_count;
  tenon__symbol_t** symbols;
  tenon_dim_t* symbol_dims;
  size_t symbol_count;
  size_t symbol_capacity;
  size_t symbol_dim_capacity;
  tenon__string_map_t names;
  tenon_dim_t* memo; /* of substitution: results by node */
  size_t memo_capacity;
  uint32_t depth; /* of simplifications that call one another */
  bool failed;
  struct tenon__requirements_t* requirements; /* lent, or NULL */
};

typedef struct tenon__term_t {
  int64_t coefficient;
  uint32_t factor_count;
  uint32_t factors[TENON__TERM_FACTORS]; /* ids of atoms, sorted */
} tenon__term_t;

typedef struct tenon__sum_t {
  bool failed;     /* too large for this structure */
  bool overflowed; /* beyond int64 */
  uint32_t term_count;
  tenon__term_t terms[TENON__SUM_TERMS];
} tenon__sum_t;

static inline const tenon__dim_node_t* tenon__dim_node(const tenon__dim_pool_t* pool, uint32_t id) {
  return &pool->nodes[id];
}
static inline bool tenon__dim_valid(const tenon__dim_pool_t* pool, tenon_dim_t dim) {
  return dim.id < pool->node_count;
}

/* dimension_pool.c: the node with exactly these fields, made if new. INVALID when memory is out. */
tenon_dim_t tenon__dim_intern(tenon__dim_pool_t* pool, const tenon__dim_node_t* node);
tenon_dim_t tenon__dim_operation(tenon__dim_pool_t* pool, uint32_t opcode,
                                 const tenon_dim_t* operands, uint32_t count);
/* The node as it is in the pool, INVALID when it is not. */
tenon_dim_t tenon__dim_find(const tenon__dim_pool_t* pool, uint32_t opcode,
                            const tenon_dim_t* operands, uint32_t count);
/* dimension_range.c */
void tenon__dim_compute_range(const tenon__dim_pool_t* pool, const tenon__dim_node_t* node,
                              int64_t* out_min, int64_t* out_max);
int64_t tenon__floor_div_int64(int64_t a, int64_t b); /* b > 0 */
/* Bounds of a sum, term by term. A partial sum beyond int64 leaves that side open for good. */
typedef struct tenon__bounds_t {
  int64_t low;
  int64_t high;
  bool low_open;
  bool high_open;
} tenon__bounds_t;
void tenon__bounds_add(tenon__bounds_t* bounds, int64_t low, int64_t high);
/* [low, high] times [other_low, other_high], cut to int64; true when it had to be cut. */
bool tenon__bounds_multiply(int64_t* inout_low, int64_t* inout_high, int64_t other_low,
                            int64_t other_high);

/* dimension_sum.c */
void tenon__sum_clear(tenon__sum_t* out_sum);
void tenon__sum_read(const tenon__dim_pool_t* pool, tenon_dim_t dim, tenon__sum_t* out_sum);
void tenon__sum_add_term(tenon__sum_t* sum, const tenon__term_t* term);
void tenon__sum_add_constant(tenon__sum_t* sum, int64_t value);
/* sum += factor * other */
void tenon__sum_add_scaled(tenon__sum_t* sum, const tenon__sum_t* other, int64_t factor);
void tenon__sum_multiply(const tenon__sum_t* a, const tenon__sum_t* b, tenon__sum_t* out_product);
/* x%n + n*(x/n) becomes x. */
void tenon__sum_join_remainders(const tenon__dim_pool_t* pool, tenon__sum_t* sum);
/* INVALID when the sum overflowed; the sum must not have failed. */
tenon_dim_t tenon__sum_write(tenon__dim_pool_t* pool, tenon__sum_t* sum);
int64_t tenon__sum_constant(const tenon__sum_t* sum); /* the term without factors */
bool tenon__sum_is_constant(const tenon__sum_t* sum);
/* Bounds by interval arithmetic, saturated. */
void tenon__sum_range(const tenon__dim_pool_t* pool, const tenon__sum_t* sum, int64_t* out_min,
                      int64_t* out_max);
/* Divides a term by another exactly, factors and coefficient: false when it does not go. */
bool tenon__term_divide(const tenon__term_t* a, const tenon__term_t* b,
                        tenon__term_t* out_quotient);
/* Terms in their order: degree, then ids; the constant last. */
void tenon__sum_sort(tenon__sum_t* sum);
uint64_t tenon__greatest_divisor(uint64_t a, uint64_t b);

/* dimension_prove.c: true only when it always holds. */
bool tenon__sum_never_negative(const tenon__dim_pool_t* pool, const tenon__sum_t* sum);
/* (tenon__dim_never_above is there too) */

/* dimension_divide.c, dimension_compare.c: canonical forms of one operation each. */
tenon_dim_t tenon__dim_floor_div(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);
tenon_dim_t tenon__dim_mod(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);
tenon_dim_t tenon__dim_extremum(tenon__dim_pool_t* pool, uint32_t opcode, tenon_dim_t a,
                                tenon_dim_t b);
tenon_dim_t tenon__dim_equals(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);
tenon_dim_t tenon__dim_less(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);

/* What a symbol is found by: its name, or, without one, what it is. In `buffer`, or in the arena
 * when the name is long; NULL when memory is out. */
enum { TENON_SYMBOL_KEY_SIZE = 128 };
const char* tenon__symbol_key(tenon__arena_t* arena, const tenon__symbol_t* symbol,
                              char buffer[TENON_SYMBOL_KEY_SIZE]);

#endif
