/* Checks of external programs. All other code in this module assumes programs that a builder has
 * made. */
#ifndef TENON_CORE_PROGRAM_PROGRAM_CHECK_H_
#define TENON_CORE_PROGRAM_PROGRAM_CHECK_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"
#include "core/program/program.h"

/* Checks an external program (of a plan): operand order, types, ranges. Afterwards all operands and
 * coordinates are in range, and each has a smaller number than its reader. The caller checks
 * accesses. Linear. Returns INVALID_DATA with the location. */
tenon_status_t tenon__program_check(const tenon_program_t* program, const tenon_sink_t* sink);
/* Checks that each output has the axes of its program's result. The value must not vary along a
 * reduced axis, and each other axis of the space must be an axis of the output, unless it has
 * extent 1. The program must have been checked. Returns OUT_OF_MEMORY, or INVALID_DATA with the
 * output. */
tenon_status_t tenon__expression_check_outputs(const tenon__dim_pool_t* pool,
                                               const tenon__expression_t* expression,
                                               tenon__arena_t* arena, const tenon_sink_t* sink);
/* Returns true if each LOAD of that operand has one coordinate for each dimension of its tensor. */
bool tenon__program_loads_fit(const tenon_program_t* program, uint32_t operand, uint32_t rank);

#endif
