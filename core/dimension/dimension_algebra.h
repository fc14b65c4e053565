/*
 * Arithmetic on dimensions, with results in canonical form. An INVALID operand makes the result
 * INVALID, so that a sequence of operations is checked once, at its end. No messages are sent, as
 * the pool has no sink. For example, 2*n + n + 1 gives 3*n + 1, (6*n)/6 gives n, and max(n, 0)
 * gives n if n is at least 0.
 */
#ifndef TENON_CORE_DIMENSION_DIMENSION_ALGEBRA_H_
#define TENON_CORE_DIMENSION_DIMENSION_ALGEBRA_H_

#include "core/dimension/dimension.h"

/* Computes ADD SUB MUL FLOOR_DIV MOD MIN MAX or a comparison EQ NE LT LE GT GE, which gives 0 or 1.
 * Other opcodes give INVALID. FLOOR_DIV and MOD round down. */
tenon_dim_t tenon__dim_combine(tenon__dim_pool_t* pool, uint32_t opcode, tenon_dim_t a,
                               tenon_dim_t b);

/* Computes condition != 0 ? a : b. The result is one side if the condition is decided, or if it
 * makes both equal: (s == 1 ? 1 : s) is s. */
tenon_dim_t tenon__dim_select(tenon__dim_pool_t* pool, tenon_dim_t condition, tenon_dim_t a,
                              tenon_dim_t b);

/* Makes the element of input number `input` at these coordinates, which is read in a run. The array
 * is copied. INVALID for more than 64 coordinates. */
tenon_dim_t tenon__dim_element(tenon__dim_pool_t* pool, uint32_t input,
                               const tenon_dim_t* coordinates, uint32_t coordinate_count);

/* Decomposes dim = base + sum(coefficients[j] * coordinate j) with base and coefficients, possibly
 * symbolic, free of coordinates. `coefficients` has `axis_count` entries. For example, 4*o0 + o2 +
 * n has base n and coefficients [4, 0, 1]. Returns false if it is not affine; outputs are then
 * invalid. */
bool tenon__dim_affine(tenon__dim_pool_t* pool, tenon_dim_t dim, uint32_t axis_count,
                       tenon_dim_t* out_base, tenon_dim_t* out_coefficients);

/* Replaces coordinate j by replacements[j] and element(k, ...) by element(inputs[k], ...) (inputs
 * NULL: unchanged). Maps are composed this way: coordinates of the inner map become those of the
 * outer one. Coordinates from `count` on stay. Shared subexpressions are replaced once. */
tenon_dim_t tenon__dim_substitute(tenon__dim_pool_t* pool, tenon_dim_t dim,
                                  const tenon_dim_t* replacements, uint32_t count,
                                  const uint32_t* inputs);

/* Decomposes dim = factor * symbol + base with numbers. Returns false for any other form. */
bool tenon__dim_linear(const tenon__dim_pool_t* pool, tenon_dim_t dim, tenon_dim_t symbol,
                       int64_t* out_factor, int64_t* out_base);

/* Returns coordinate `axis` of a space: at least 0, below `extent`; the constant 0 if the extent is
 * the constant 1. Spaces with the same axis and extent share it. */
tenon_dim_t tenon__dim_coordinate(tenon__dim_pool_t* pool, uint32_t axis, tenon_dim_t extent);

#endif
