/*
 * Functions of texts on elements: they make instructions and axes of the program under
 * construction. Functions that also accept numbers and lists (sum, prod, min, max) need no program
 * for these.
 *
 * The reductions any and all accept bool, the others numbers; else INVALID_DATA. A reduction along
 * no axes is the value itself. Each reduction is recorded for the space.
 */
#ifndef TENON_CORE_LANGUAGE_PROGRAM_FUNCTIONS_H_
#define TENON_CORE_LANGUAGE_PROGRAM_FUNCTIONS_H_

#include "core/language/function_call.h"

extern const tenon__function_t tenon__program_functions[];

#endif
