/*
 * Functions of texts on elements: they make instructions and axes of the program in the making.
 * Those that serve numbers and lists too (sum, prod, min, max) need no program for these.
 *
 * Of a reduction, any and all take bool, the others numbers; else INVALID_DATA. Along no axes it is
 * the value itself. It notes for the space that something is reduced.
 */
#ifndef TENON_CORE_LANGUAGE_PROGRAM_FUNCTIONS_H_
#define TENON_CORE_LANGUAGE_PROGRAM_FUNCTIONS_H_

#include "core/language/function_call.h"

extern const tenon__function_t tenon__program_functions[];

#endif
