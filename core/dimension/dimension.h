/*
 * Symbolic dimensions: integer expressions over symbols, hash-consed in a pool, in a canonical
 * form, so that two dimensions known to be equal have the same id. A pool belongs to one network,
 * its bodies and its plan. Children have smaller ids than parents: one pass in order of ids
 * evaluates everything.
 *
 * Canonical form: sums are flattened, like terms collected, sorted; products of sums distributed
 * where that stays small (at most 16 terms); constants folded; floor division and remainder by a
 * constant simplified where the ranges allow (x*6/6, (x*4+3)/4, x%n with 0 <= x < n); min, max and
 * select decided by ranges. Arithmetic is checked: what overflows int64 becomes INVALID, which is
 * contagious.
 *
 * A dimension is a number, tenon_dim_t, and means something with its pool alone. Nothing is ever
 * taken out of a pool, so ids hold for its life. Ranges narrow the forms: what was simplified under
 * a range holds only within it, and that is why ranges may shrink and never grow.
 */
#ifndef TENON_CORE_DIMENSION_DIMENSION_H_
#define TENON_CORE_DIMENSION_DIMENSION_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* What has no value (overflow, division by zero), was made of such, or could not be made for want
 * of memory: tenon__dim_pool_failed tells the last apart. */
#define TENON_DIM_INVALID ((tenon_dim_t){TENON_NONE})

/* Where a symbol's number comes from. CONTENT and EXTENT name their value by a handle of the
 * network (network.h), which outlives what passes do to the value. */
typedef enum tenon__symbol_kind_t {
  TENON_SYMBOL_INPUT,      /* named by the model ("batch"), or an unnamed extent of an input */
  TENON_SYMBOL_CONTENT,    /* element `b` of the value with number `a`, read when running */
  TENON_SYMBOL_EXTENT,     /* extent of axis `b` of the value with number `a`, found when running */
  TENON_SYMBOL_COORDINATE, /* coordinate `a` of an iteration space; never in a shape */
  TENON_SYMBOL_ITERATION,  /* the trip count of a repetition and the like: number `a` */
} tenon__symbol_kind_t;

/* What is known of a symbol. min <= max, and equal ones make it a known number. Its name is the
 * pool's once it is in there. */
typedef struct tenon__symbol_t {
  tenon__symbol_kind_t kind;
  const char* name; /* unique; made from kind, a and b when NULL is given */
  uint32_t a;
  uint32_t b;
  int64_t min;
  int64_t max;       /* INT64_MAX: no bound known */
  tenon_dim_t bound; /* an upper bound as an expression, or INVALID */
} tenon__symbol_t;

/* What a node is; operands come first in a pool. */
typedef enum tenon__dim_kind_t {
  TENON_DIM_CONSTANT,
  TENON_DIM_SYMBOL,
  TENON_DIM_OPERATION, /* opcode of TENON_OPCODES: ADD MUL MIN MAX of two or more operands;
                          FLOOR_DIV MOD EQ LT of two; SELECT of three. Differences are sums with
                          factor -1 */
  TENON_DIM_ELEMENT,   /* an integer element of a node's input at coordinates; only in index maps */
} tenon__dim_kind_t;

/* One node, to be looked at: `operands` is the pool's array and lives as long as the pool. What a
 * kind has no use for is 0. */
typedef struct tenon__dim_view_t {
  tenon__dim_kind_t kind;
  uint32_t opcode;
  int64_t value;          /* CONSTANT */
  uint32_t index;         /* SYMBOL: number of the symbol; ELEMENT: the node's input */
  uint32_t operand_count; /* OPERATION, ELEMENT */
  const tenon_dim_t* operands;
} tenon__dim_view_t;

typedef struct tenon__dim_pool_t tenon__dim_pool_t;

/* Of one pool: the same for all values of the symbols, as far as the canonical form shows it. False
 * does not mean different. */
static inline bool tenon__dim_equal(tenon_dim_t a, tenon_dim_t b) {
  return a.id == b.id;
}
static inline bool tenon__dims_equal(const tenon_dim_t* a, const tenon_dim_t* b, uint32_t count) {
  bool are_same = true;
  for (uint32_t i = 0; i < count && are_same; ++i) {
    are_same = tenon__dim_equal(a[i], b[i]);
  }
  return are_same;
}

#endif
