/* Sums and products of dimensions, in canonical form. */
#ifndef TENON_CORE_DIMENSION_DIMENSION_ARITHMETIC_H_
#define TENON_CORE_DIMENSION_DIMENSION_ARITHMETIC_H_

#include "core/dimension/dimension.h"

/* Sums and products, on which the other operations build. What is too large for the canonical form is one
 * node of two operands, still right. INVALID where an operand is, or where coefficients leave
 * int64. The same dimension whatever order the operands are in. */
tenon_dim_t tenon__dim_add(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);
tenon_dim_t tenon__dim_subtract(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);
tenon_dim_t tenon__dim_multiply(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);

#endif
