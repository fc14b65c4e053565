/*
 * One element of symbolic contents: a quotient of two dimensions, the divisor positive. Integers
 * and bools have divisor 1. INVALID numerators are unknown.
 *
 * Quotients, as models compute sizes in floats (n * 0.5, then floor) and mean whole numbers. What
 * cannot be said exactly is unknown: nothing here rounds.
 */
#ifndef TENON_CORE_PROGRAM_CONTENTS_VALUE_H_
#define TENON_CORE_PROGRAM_CONTENTS_VALUE_H_

#include "core/dimension/dimension.h"

typedef struct tenon__content_t {
  tenon_dim_t numerator;
  tenon_dim_t denominator;
  uint32_t count; /* of what a sum has added, while it is one */
} tenon__content_t;

static inline tenon__content_t tenon__content_unknown(void) {
  return (tenon__content_t){TENON_DIM_INVALID, TENON_DIM_INVALID, 0};
}
/* `dim` INVALID: unknown. */
tenon__content_t tenon__content_whole(tenon__dim_pool_t* pool, tenon_dim_t dim);
tenon__content_t tenon__content_number(tenon__dim_pool_t* pool, int64_t value);
/* Of floats only those that are few binary digits: 2, 0.5, 1.25. */
tenon__content_t tenon__content_float(tenon__dim_pool_t* pool, double value);
/* A known integer? */
bool tenon__content_known(tenon__dim_pool_t* pool, tenon__content_t value, int64_t* out_value);
/* Known to be an integer, perhaps symbolic? */
bool tenon__content_is_whole(tenon__dim_pool_t* pool, tenon__content_t value);
/* An operation of one to three operands. `from`: type of the first operand. Unknown in, unknown
 * out, but for what the other operands decide alone. Memory that runs out is noted in the pool. */
tenon__content_t tenon__content_combine(tenon__dim_pool_t* pool,
                                        const tenon_instruction_t* instruction, tenon_dtype_t from,
                                        const tenon__content_t* const operands[3]);
/* Reductions: `sum` begins as zeros. Begin with zeros, add each, end: a mean divides by the count,
 * minimum and maximum take the first as it is. */
tenon__content_t tenon__content_add_to_sum(tenon__dim_pool_t* pool,
                                           const tenon_instruction_t* instruction,
                                           tenon__content_t sum, tenon__content_t value);
tenon__content_t tenon__content_end_sum(tenon__dim_pool_t* pool,
                                        const tenon_instruction_t* instruction,
                                        tenon__content_t sum);

#endif
