/* Comparisons of dimensions, in canonical form. */
#ifndef TENON_CORE_DIMENSION_DIMENSION_COMPARE_H_
#define TENON_CORE_DIMENSION_DIMENSION_COMPARE_H_

#include "core/dimension/dimension.h"

/* Minimum, maximum, equality and order of valid operands. Comparisons are 0 or 1 if ranges or a
 * proof decide, else a node with ordered operands, so that a == b and b == a are one dimension. LE,
 * GT and others use these. */
tenon_dim_t tenon__dim_extremum(tenon__dim_pool_t* pool, uint32_t opcode, tenon_dim_t a,
                                tenon_dim_t b);
tenon_dim_t tenon__dim_equals(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);
tenon_dim_t tenon__dim_less(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);

#endif
