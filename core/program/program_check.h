/* Programs from outside: believed only after they were checked. Everything else in this room takes
 * programs to be as a builder makes them. */
#ifndef TENON_CORE_PROGRAM_PROGRAM_CHECK_H_
#define TENON_CORE_PROGRAM_PROGRAM_CHECK_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"
#include "core/program/program.h"

/* Checks a program from outside (a plan): operand order, types, ranges. INVALID_DATA with the
 * place. Linear. Afterwards no operand or coordinate leads outside, and each is older than who
 * reads it; accesses are the caller's to check. */
tenon_status_t tenon__program_check(const tenon_program_t* program, const tenon_sink_t* sink);
/* Does each output have the axes that its program leaves? The value must not vary along an axis
 * that was reduced, and each other axis of the space is one of the output, unless it has extent 1.
 * For an expression whose program was checked. OUT_OF_MEMORY, or INVALID_DATA with the output. */
tenon_status_t tenon__expression_check_outputs(const tenon__dim_pool_t* pool,
                                               const tenon__expression_t* expression,
                                               tenon__arena_t* arena, const tenon_sink_t* sink);
/* Does each LOAD of that operand have as many coordinates as its tensor has dimensions? */
bool tenon__program_loads_fit(const tenon_program_t* program, uint32_t operand, uint32_t rank);

#endif
