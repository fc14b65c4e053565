/*
 * Calculating with dimensions: what comes out is in canonical form. Any INVALID operand makes the
 * result INVALID, so that a chain of operations is asked once, at its end. Nothing is reported: the
 * pool knows no sink. 2*n + n + 1 comes out as 3*n + 1, (6*n)/6 as n, max(n, 0) as n where n is at
 * least 0.
 */
#ifndef TENON_CORE_DIMENSION_DIMENSION_ALGEBRA_H_
#define TENON_CORE_DIMENSION_DIMENSION_ALGEBRA_H_

#include "core/dimension/dimension.h"

/* ADD SUB MUL FLOOR_DIV MOD MIN MAX and the comparisons EQ NE LT LE GT GE, which give 0 or 1. Other
 * opcodes are INVALID. FLOOR_DIV and MOD round down. */
tenon_dim_t tenon__dim_combine(tenon__dim_pool_t* pool, uint32_t opcode, tenon_dim_t a,
                               tenon_dim_t b);

/* condition != 0 ? a : b. One side where the condition is decided, or where it makes both the same:
 * (s == 1 ? 1 : s) is s. */
tenon_dim_t tenon__dim_select(tenon__dim_pool_t* pool, tenon_dim_t condition, tenon_dim_t a,
                              tenon_dim_t b);

/* The element of input number `input` at these coordinates, which only a run reads. INVALID beyond
 * 64 coordinates; the array is copied. */
tenon_dim_t tenon__dim_element(tenon__dim_pool_t* pool, uint32_t input,
                               const tenon_dim_t* coordinates, uint32_t coordinate_count);

/* dim = base + sum(coefficients[j] * coordinate j) with base and coefficients free of coordinates;
 * false otherwise. `coefficients` has `axis_count` entries. 4*o0 + o2 + n is base n with
 * coefficients [4, 0, 1]. Bases and coefficients may be symbolic. What is written is void when it
 * is false. */
bool tenon__dim_affine(tenon__dim_pool_t* pool, tenon_dim_t dim, uint32_t axis_count,
                       tenon_dim_t* out_base, tenon_dim_t* out_coefficients);

/* Replaces coordinate j by replacements[j] and element(k, ...) by element(inputs[k], ...) (inputs
 * NULL: unchanged). That is how maps are composed: coordinates of the inner one become those of the
 * outer one. Coordinates from `count` on stay. Shared parts are replaced once. */
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
