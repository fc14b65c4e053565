/* Sums and products of dimensions, on which the other operations stand. The canonical form: what is
 * too large for it is one node of two operands, still right. */
#ifndef TENON_CORE_DIMENSION_DIMENSION_RING_H_
#define TENON_CORE_DIMENSION_DIMENSION_RING_H_

#include "core/dimension/dimension.h"

/* INVALID where an operand is, or where coefficients leave int64. The same dimension whatever order
 * the operands are in. */
tenon_dim_t tenon__dim_add(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);
tenon_dim_t tenon__dim_subtract(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);
tenon_dim_t tenon__dim_multiply(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);

#endif
