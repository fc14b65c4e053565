/*
 * One element of symbolic contents: a quotient of two dimensions, the divisor positive. Integers
 * and bools have divisor 1. INVALID numerators are unknown.
 *
 * Quotients are necessary because models compute integer sizes in floats (n * 0.5, then floor).
 * Nothing is rounded: inexact values are unknown.
 */
#ifndef TENON_CORE_PROGRAM_CONTENTS_VALUE_H_
#define TENON_CORE_PROGRAM_CONTENTS_VALUE_H_

#include "core/dimension/dimension.h"

typedef struct tenon__content_t {
  tenon_dim_t numerator;
  tenon_dim_t denominator;
  uint32_t count; /* of added elements, during a sum */
} tenon__content_t;

static inline tenon__content_t tenon__content_unknown(void) {
  return (tenon__content_t){TENON_DIM_INVALID, TENON_DIM_INVALID, 0};
}
/* The result is unknown if `dim` is INVALID. */
tenon__content_t tenon__content_whole(tenon__dim_pool_t* pool, tenon_dim_t dim);
tenon__content_t tenon__content_number(tenon__dim_pool_t* pool, int64_t value);
/* Only floats with few binary digits are known: 2, 0.5, 1.25. */
tenon__content_t tenon__content_float(tenon__dim_pool_t* pool, double value);
/* Returns true for a known integer. */
bool tenon__content_known(tenon__dim_pool_t* pool, tenon__content_t value, int64_t* out_value);
/* Returns true if it is certainly an integer, possibly symbolic. */
bool tenon__content_is_whole(tenon__dim_pool_t* pool, tenon__content_t value);
/* An operation of one to three operands. `from`: type of the first operand. If an operand is
 * unknown, so is the result, unless the other operands decide it alone. The pool notes a failed
 * allocation. */
tenon__content_t tenon__content_combine(tenon__dim_pool_t* pool,
                                        const tenon_instruction_t* instruction, tenon_dtype_t from,
                                        const tenon__content_t* const operands[3]);
/* Reductions: begin with a `sum` of zeros, add each element, then end. A mean divides by the count.
 * A minimum or maximum starts with the first element. */
tenon__content_t tenon__content_add_to_sum(tenon__dim_pool_t* pool,
                                           const tenon_instruction_t* instruction,
                                           tenon__content_t sum, tenon__content_t value);
tenon__content_t tenon__content_end_sum(tenon__dim_pool_t* pool,
                                        const tenon_instruction_t* instruction,
                                        tenon__content_t sum);

#endif
