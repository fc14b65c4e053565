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
 */
#ifndef TENON_CORE_TENSOR_DIMENSION_H_
#define TENON_CORE_TENSOR_DIMENSION_H_

#include <stdbool.h>

#include "tenon/plugin.h"

#define TENON_DIM_INVALID ((tenon_dim_t){TENON_NONE})

typedef enum tenon__symbol_kind_t {
  TENON_SYMBOL_INPUT,      /* named by the model ("batch"), or an unnamed extent of an input */
  TENON_SYMBOL_CONTENT,    /* element `b` of the value with number `a`, read when running */
  TENON_SYMBOL_EXTENT,     /* extent of axis `b` of the value with number `a`, found when running */
  TENON_SYMBOL_COORDINATE, /* coordinate `a` of an iteration space; never in a shape */
  TENON_SYMBOL_ITERATION,  /* the trip count of a repetition and the like: number `a` */
} tenon__symbol_kind_t;

typedef struct tenon__symbol_t {
  tenon__symbol_kind_t kind;
  const char* name; /* unique; made from kind, a and b when NULL is given */
  uint32_t a;
  uint32_t b;
  int64_t min;
  int64_t max;       /* INT64_MAX: no bound known */
  tenon_dim_t bound; /* an upper bound as an expression, or INVALID */
} tenon__symbol_t;

typedef enum tenon__dim_kind_t {
  TENON_DIM_CONSTANT,
  TENON_DIM_SYMBOL,
  TENON_DIM_OPERATION, /* opcode of TENON_OPCODES: ADD MUL MIN MAX of two or more operands;
                          FLOOR_DIV MOD EQ LT of two; SELECT of three. Differences are sums with
                          factor -1 */
  TENON_DIM_ELEMENT,   /* an integer element of a node's input at coordinates; only in index maps */
} tenon__dim_kind_t;

typedef struct tenon__dim_view_t {
  tenon__dim_kind_t kind;
  uint32_t opcode;
  int64_t value;          /* CONSTANT */
  uint32_t index;         /* SYMBOL: number of the symbol; ELEMENT: the node's input */
  uint32_t operand_count; /* OPERATION, ELEMENT */
  const tenon_dim_t* operands;
} tenon__dim_view_t;

typedef struct tenon__dim_pool_t tenon__dim_pool_t;

tenon_status_t tenon__dim_pool_create(tenon_allocator_t allocator, tenon__dim_pool_t** out_pool);
void tenon__dim_pool_destroy(tenon__dim_pool_t* pool);
uint32_t tenon__dim_pool_count(const tenon__dim_pool_t* pool);
/* True once memory was out: the caller of a group of operations asks at its end. */
bool tenon__dim_pool_failed(const tenon__dim_pool_t* pool);
tenon_allocator_t tenon__dim_pool_allocator(const tenon__dim_pool_t* pool);

tenon_dim_t tenon__dim_constant(tenon__dim_pool_t* pool, int64_t value);
/* The symbol of that name, made if new; an existing one keeps its range. Names are copied. */
tenon_dim_t tenon__dim_symbol(tenon__dim_pool_t* pool, const tenon__symbol_t* symbol);
/* Coordinate `axis` of a space: at least 0, below `extent`; the constant 0 where the extent is the
 * constant 1. Two spaces share it when they share axis and extent. */
tenon_dim_t tenon__dim_coordinate(tenon__dim_pool_t* pool, uint32_t axis, tenon_dim_t extent);
/* ADD SUB MUL FLOOR_DIV MOD MIN MAX and the comparisons EQ NE LT LE GT GE, which give 0 or 1. */
tenon_dim_t tenon__dim_combine(tenon__dim_pool_t* pool, uint32_t opcode, tenon_dim_t a,
                               tenon_dim_t b);
tenon_dim_t tenon__dim_select(tenon__dim_pool_t* pool, tenon_dim_t condition, tenon_dim_t a,
                              tenon_dim_t b);
tenon_dim_t tenon__dim_element(tenon__dim_pool_t* pool, uint32_t input,
                               const tenon_dim_t* coordinates, uint32_t coordinate_count);
static inline tenon_dim_t tenon__dim_add(tenon__dim_pool_t* p, tenon_dim_t a, tenon_dim_t b) {
  return tenon__dim_combine(p, TENON_OPCODE_ADD, a, b);
}
static inline tenon_dim_t tenon__dim_multiply(tenon__dim_pool_t* p, tenon_dim_t a, tenon_dim_t b) {
  return tenon__dim_combine(p, TENON_OPCODE_MUL, a, b);
}

tenon__dim_view_t tenon__dim_get(const tenon__dim_pool_t* pool, tenon_dim_t dim);
bool tenon__dim_known(const tenon__dim_pool_t* pool, tenon_dim_t dim, int64_t* out_value);
static inline bool tenon__dim_equal(tenon_dim_t a, tenon_dim_t b) {
  return a.id == b.id;
}
/* Bounds that always hold; INT64_MIN and INT64_MAX where nothing is known. */
void tenon__dim_range(const tenon__dim_pool_t* pool, tenon_dim_t dim, int64_t* out_min,
                      int64_t* out_max);
/* a <= b for all values of the symbols? False also when it cannot be told. */
bool tenon__dim_never_above(const tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);
/* dim = base + sum(coefficients[j] * coordinate j) with base and coefficients free of coordinates;
 * false otherwise. `coefficients` has `axis_count` entries. */
bool tenon__dim_affine(tenon__dim_pool_t* pool, tenon_dim_t dim, uint32_t axis_count,
                       tenon_dim_t* out_base, tenon_dim_t* out_coefficients);
/* Replaces coordinate j by replacements[j] and element(k, ...) by element(inputs[k], ...) (inputs
 * NULL: unchanged). */
tenon_dim_t tenon__dim_substitute(tenon__dim_pool_t* pool, tenon_dim_t dim,
                                  const tenon_dim_t* replacements, uint32_t count,
                                  const uint32_t* inputs);
/* True when the expression contains a symbol of that kind (or an element, kind == -1). */
bool tenon__dim_mentions(const tenon__dim_pool_t* pool, tenon_dim_t dim, int kind);

/* dim = factor * symbol + base in numbers, nothing else in it; false otherwise. */
bool tenon__dim_linear(const tenon__dim_pool_t* pool, tenon_dim_t dim, tenon_dim_t symbol,
                       int64_t* out_factor, int64_t* out_base);
/* Bit j: the expression mentions coordinate j (below 64). */
uint64_t tenon__dim_coordinate_axes(const tenon__dim_pool_t* pool, tenon_dim_t dim);

uint32_t tenon__symbol_count(const tenon__dim_pool_t* pool);
const tenon__symbol_t* tenon__symbol_get(const tenon__dim_pool_t* pool, uint32_t index);
/* Narrows the range of a symbol (a profile does; of several profiles, what covers all). Ranges of
 * expressions follow. A range without a common number with the old one changes nothing. */
void tenon__symbol_set_range(tenon__dim_pool_t* pool, uint32_t index, int64_t min, int64_t max);
/* The symbol of that kind, `a` and `b`, if anything was made of it: INVALID if not. */
tenon_dim_t tenon__symbol_find(const tenon__dim_pool_t* pool, tenon__symbol_kind_t kind, uint32_t a,
                               uint32_t b);

/* One operation of a dimension on numbers (no SELECT); false when it has no value. */
bool tenon__dim_apply(uint32_t opcode, int64_t a, int64_t b, int64_t* out_value);

/* Values of all dimensions from those of the symbols. `symbol_values[i]` counts when
 * symbol_known[i] != 0; a symbol whose range is one number is that number in any case. out_values
 * and out_known have tenon__dim_pool_count entries; what depends on an unknown symbol, divides by
 * zero or overflows is unknown. Allocates nothing. */
void tenon__dim_pool_evaluate(const tenon__dim_pool_t* pool, const int64_t* symbol_values,
                              const uint8_t* symbol_known, int64_t* out_values, uint8_t* out_known);

/* One expression at one point of an iteration space. `values` and `known` as
 * tenon__dim_pool_evaluate leaves them (known NULL: only constants count). `element` gives an
 * integer element of the node's input, NULL: elements are unknown. Allocates nothing. */
typedef struct tenon__dim_point_t {
  const int64_t* values;
  const uint8_t* known;
  const int64_t* coordinates;
  uint32_t coordinate_count;
  bool (*element)(void* user, uint32_t input, const int64_t* coordinates, uint32_t count,
                  int64_t* out_value);
  void* user;
} tenon__dim_point_t;
bool tenon__dim_value_at(const tenon__dim_pool_t* pool, tenon_dim_t dim,
                         const tenon__dim_point_t* point, int64_t* out_value);
/* tenon__dim_affine in numbers: dim = base + sum(coefficients[j] * coordinate j), j below
 * axis_count (at most 64). Allocates nothing. */
bool tenon__dim_affine_at(const tenon__dim_pool_t* pool, tenon_dim_t dim, const int64_t* values,
                          const uint8_t* known, uint32_t axis_count, int64_t* out_base,
                          int64_t* out_coefficients);

/* "batch", "4*batch + 1", "(s0 + 1)/2"; written into the arena; "?" when memory is out. */
struct tenon__arena_t;
const char* tenon__dim_text(const tenon__dim_pool_t* pool, tenon_dim_t dim,
                            struct tenon__arena_t* arena);

/* For the plan: the pool as bytes; reading checks everything (ids, kinds, operand order). */
struct tenon__byte_writer_t;
struct tenon__byte_reader_t;
void tenon__dim_pool_write(const tenon__dim_pool_t* pool, struct tenon__byte_writer_t* writer);
tenon_status_t tenon__dim_pool_read(tenon_allocator_t allocator,
                                    struct tenon__byte_reader_t* reader, const tenon_sink_t* sink,
                                    tenon__dim_pool_t** out_pool);

#endif
