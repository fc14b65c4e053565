/*
 * Properties of an expression's operand accesses, for passes. Passes use these functions instead of
 * reading programs, so that an element-wise access is defined once. They send no messages and
 * return false if undecided, which leaves a node unchanged.
 */
#ifndef TENON_CORE_OPTIMIZER_ACCESS_H_
#define TENON_CORE_OPTIMIZER_ACCESS_H_

#include "core/dimension/dimension.h"
#include "core/program/program.h"

/* Returns true for an element-wise access: the operand's value has the extents of the space, in its
 * order. An axis of extent 1 may be read at any coordinate. */
bool tenon__access_is_identity(tenon__dim_pool_t* pool, const tenon__expression_t* expression,
                               uint32_t operand);
/* Returns true for an access that is aligned at the last axis, as in NumPy's broadcasting: each
 * coordinate is the space's or 0. The rank may be lower. For example, in a space [n, c, w] an
 * operand [c, 1] is aligned, read at (i1, 0). */
bool tenon__access_is_aligned(tenon__dim_pool_t* pool, const tenon__expression_t* expression,
                              uint32_t operand);
/* Returns true if output 0 has exactly the axes of the space. */
bool tenon__output_is_space(const tenon__expression_t* expression);
/* Returns true if the program has no reduction, no coordinate and no LOAD: each output element
 * needs only the same element of each operand, and the order of axes does not matter. */
bool tenon__program_is_pointwise(const tenon_program_t* program);
/* Returns true if the program is its operand, with the same type. Such a node can be removed: its
 * readers can read its input. */
bool tenon__expression_is_identity(tenon__dim_pool_t* pool, const tenon__expression_t* expression);

#endif
