/* Calculating with dimensions: what comes out is in canonical form. */
#ifndef TENON_CORE_DIMENSION_DIMENSION_ALGEBRA_H_
#define TENON_CORE_DIMENSION_DIMENSION_ALGEBRA_H_

#include "core/dimension/dimension.h"
#include "core/dimension/dimension_ring.h"

/* ADD SUB MUL FLOOR_DIV MOD MIN MAX and the comparisons EQ NE LT LE GT GE, which give 0 or 1. */
tenon_dim_t tenon__dim_combine(tenon__dim_pool_t* pool, uint32_t opcode, tenon_dim_t a,
                               tenon_dim_t b);

tenon_dim_t tenon__dim_select(tenon__dim_pool_t* pool, tenon_dim_t condition, tenon_dim_t a,
                              tenon_dim_t b);

tenon_dim_t tenon__dim_element(tenon__dim_pool_t* pool, uint32_t input,
                               const tenon_dim_t* coordinates, uint32_t coordinate_count);

/* dim = base + sum(coefficients[j] * coordinate j) with base and coefficients free of coordinates;
 * false otherwise. `coefficients` has `axis_count` entries. */
bool tenon__dim_affine(tenon__dim_pool_t* pool, tenon_dim_t dim, uint32_t axis_count,
                       tenon_dim_t* out_base, tenon_dim_t* out_coefficients);

/* Replaces coordinate j by replacements[j] and element(k, ...) by element(inputs[k], ...) (inputs
 * NULL: unchanged). */
tenon_dim_t tenon__dim_substitute(tenon__dim_pool_t* pool, tenon_dim_t dim,
                                  const tenon_dim_t* replacements, uint32_t count,
                                  const uint32_t* inputs);

/* dim = factor * symbol + base in numbers, nothing else in it; false otherwise. */
bool tenon__dim_linear(const tenon__dim_pool_t* pool, tenon_dim_t dim, tenon_dim_t symbol,
                       int64_t* out_factor, int64_t* out_base);

/* Coordinate `axis` of a space: at least 0, below `extent`; the constant 0 where the extent is the
 * constant 1. Two spaces share it when they share axis and extent. */
tenon_dim_t tenon__dim_coordinate(tenon__dim_pool_t* pool, uint32_t axis, tenon_dim_t extent);

#endif
