/*
 * Symbolic dimensions: integer expressions over symbols, hash-consed in a pool in a canonical form,
 * so that two dimensions known to be equal have the same id. A pool belongs to one network, its
 * bodies and its plan. Operands have smaller ids than their users, so one pass in order of ids
 * evaluates all.
 *
 * Canonical form: sums are flattened, like terms collected, sorted; products of sums distributed
 * where that stays small (at most 16 terms); constants folded; floor division and remainder by a
 * constant simplified where the ranges allow (x*6/6, (x*4+3)/4, x%n with 0 <= x < n); min, max and
 * select decided by ranges. Arithmetic is checked: overflow of int64 gives INVALID, which
 * propagates.
 *
 * A dimension is an id, tenon_dim_t, that is valid only with its pool. Nothing is ever removed from
 * a pool, so ids are valid for its life. Simplifications depend on ranges and are valid only within
 * them, so ranges may shrink but never grow.
 */
#ifndef TENON_CORE_DIMENSION_DIMENSION_H_
#define TENON_CORE_DIMENSION_DIMENSION_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* A dimension without a value: overflow, division by zero, an INVALID operand, or out of memory,
 * which tenon__dim_pool_failed distinguishes. */
#define TENON_DIM_INVALID ((tenon_dim_t){TENON_NONE})

/* Source of a symbol's number. CONTENT and EXTENT refer to their value by a handle of the network
 * (network.h), which stays valid when passes replace the value. */
typedef enum tenon__symbol_kind_t {
  TENON_SYMBOL_INPUT,      /* named by the model ("batch"), or an unnamed extent of an input */
  TENON_SYMBOL_CONTENT,    /* element `b` of the value with handle `a`, read in a run */
  TENON_SYMBOL_EXTENT,     /* extent of axis `b` of the value with handle `a`, found in a run */
  TENON_SYMBOL_COORDINATE, /* coordinate `a` of an iteration space; never in a shape */
  TENON_SYMBOL_ITERATION,  /* the trip count of a Loop and the like: number `a` */
} tenon__symbol_kind_t;

/* Properties of a symbol. min <= max; if they are equal, it is a known number. The pool copies the
 * name. */
typedef struct tenon__symbol_t {
  tenon__symbol_kind_t kind;
  const char* name; /* unique; generated from kind, a and b if NULL is given */
  uint32_t a;
  uint32_t b;
  int64_t min;
  int64_t max;       /* INT64_MAX: no bound known */
  tenon_dim_t bound; /* an upper bound as an expression, or INVALID */
} tenon__symbol_t;

/* Kind of a node; operands precede it in the pool. */
typedef enum tenon__dim_kind_t {
  TENON_DIM_CONSTANT,
  TENON_DIM_SYMBOL,
  TENON_DIM_OPERATION, /* opcode of TENON_OPCODES: ADD MUL MIN MAX of two or more operands;
                          FLOOR_DIV MOD EQ LT of two; SELECT of three. Differences are sums with
                          factor -1 */
  TENON_DIM_ELEMENT,   /* an integer element of a node's input at coordinates; only in index maps */
} tenon__dim_kind_t;

/* One node, read-only. `operands` is the pool's array and lives as long as the pool. Members that a
 * kind does not use are 0. */
typedef struct tenon__dim_view_t {
  tenon__dim_kind_t kind;
  uint32_t opcode;
  int64_t value;          /* CONSTANT */
  uint32_t index;         /* SYMBOL: number of the symbol; ELEMENT: the node's input */
  uint32_t operand_count; /* OPERATION, ELEMENT */
  const tenon_dim_t* operands;
} tenon__dim_view_t;

typedef struct tenon__dim_pool_t tenon__dim_pool_t;

/* Returns true if two dimensions of one pool are equal for all values of the symbols, as far as the
 * canonical form shows it. They may still be equal if it returns false. */
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
