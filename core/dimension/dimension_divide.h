/* Quotients and remainders of dimensions, in canonical form. */
#ifndef TENON_CORE_DIMENSION_DIMENSION_DIVIDE_H_
#define TENON_CORE_DIMENSION_DIMENSION_DIVIDE_H_

#include "core/dimension/dimension.h"

/* Floor division and remainder of valid operands. Both round down; division by the constant 0 is
 * INVALID. They are simplified as far as ranges allow: (4*n + 3)/4 is n, (4*n + 3)%4 is 3. Division
 * by a dimension that may be 0 is not simplified, and has no value in a run in which it is 0. */
tenon_dim_t tenon__dim_floor_div(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);
tenon_dim_t tenon__dim_mod(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);

#endif
