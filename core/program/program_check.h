/* Programs from outside: believed only after they were checked. Everything else in this room takes
 * programs to be as a builder makes them. */
#ifndef TENON_CORE_PROGRAM_PROGRAM_CHECK_H_
#define TENON_CORE_PROGRAM_PROGRAM_CHECK_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* Checks a program from outside (a plan): operand order, types, ranges. INVALID_DATA with the
 * place. Linear. Afterwards no operand or coordinate leads outside, and each is older than who
 * reads it; accesses are the caller's to check. */
tenon_status_t tenon__program_check(const tenon_program_t* program, const tenon_sink_t* sink);
/* Does each LOAD of that operand have as many coordinates as its tensor has dimensions? */
bool tenon__program_loads_fit(const tenon_program_t* program, uint32_t operand, uint32_t rank);

#endif
