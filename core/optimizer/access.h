/*
 * How an expression reads an operand, as far as passes ask. Passes ask these instead of looking
 * into programs, so that what counts as a plain element-wise read is said once. All are silent and
 * fail to false: a question that cannot be decided leaves a node as it is.
 */
#ifndef TENON_CORE_OPTIMIZER_ACCESS_H_
#define TENON_CORE_OPTIMIZER_ACCESS_H_

#include "core/dimension/dimension.h"
#include "core/program/program.h"

/* Element for element: the operand's value has the extents of the space, in its order. An axis of
 * extent 1 may be read at any coordinate. */
bool tenon__access_is_identity(tenon__dim_pool_t* pool, const tenon__expression_t* expression,
                               uint32_t operand);
/* Aligned at the last axis, as NumPy broadcasts: each coordinate is the space's or 0. Its rank may
 * be lower: of a space [n, c, w] an operand [c, 1] is aligned, read at (i1, 0). */
bool tenon__access_is_aligned(tenon__dim_pool_t* pool, const tenon__expression_t* expression,
                              uint32_t operand);
/* Output 0 has exactly the axes of the space. */
bool tenon__output_is_space(const tenon__expression_t* expression);
/* No reduction, no coordinate, no element out of turn: each output element needs that element of
 * each operand, and the order of axes does not matter. */
bool tenon__program_is_pointwise(const tenon_program_t* program);
/* One instruction that is the operand, unchanged in type. Such a node can go: whoever reads it may
 * read its input. */
bool tenon__expression_is_identity(tenon__dim_pool_t* pool, const tenon__expression_t* expression);

#endif
