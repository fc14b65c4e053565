/* One operation of a dimension on numbers. Operations are defined only here, so that folding,
 * ranges and the runtime agree. */
#ifndef TENON_CORE_DIMENSION_DIMENSION_APPLY_H_
#define TENON_CORE_DIMENSION_DIMENSION_APPLY_H_

#include <stdbool.h>
#include <stdint.h>

/* Computes TENON_OPCODE_ADD, MUL, MIN, MAX, EQ, LT, FLOOR_DIV or MOD; the last two round down.
 * Returns false for overflow of int64 and division by 0. */
bool tenon__dim_apply(uint32_t opcode, int64_t a, int64_t b, int64_t* out_value);
int64_t tenon__floor_div_int64(int64_t a, int64_t b); /* b > 0 */

#endif
