/* Sums and products of dimensions, in canonical form. */
#ifndef TENON_CORE_DIMENSION_DIMENSION_ARITHMETIC_H_
#define TENON_CORE_DIMENSION_DIMENSION_ARITHMETIC_H_

#include "core/dimension/dimension.h"

/* Sums and products, which the other operations use. A result that is too large for the canonical
 * form is one node of two operands, which is still correct. INVALID if an operand is, or if
 * coefficients overflow int64. The result does not depend on the order of the operands. */
tenon_dim_t tenon__dim_add(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);
tenon_dim_t tenon__dim_subtract(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);
tenon_dim_t tenon__dim_multiply(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);

#endif
