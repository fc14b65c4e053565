/* Quotients and remainders of dimensions, in canonical form. */
#ifndef TENON_CORE_DIMENSION_DIMENSION_DIVIDE_H_
#define TENON_CORE_DIMENSION_DIMENSION_DIVIDE_H_

#include "core/dimension/dimension.h"

/* Floor division and remainder, of valid operands. Both round down; by the constant 0 they are
 * INVALID. What the ranges allow is divided out: (4*n + 3)/4 is n, (4*n + 3)%4 is 3. Division by a
 * dimension that may be 0 stays as it is, and has no value in a run where it is. */
tenon_dim_t tenon__dim_floor_div(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);
tenon_dim_t tenon__dim_mod(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);

#endif
