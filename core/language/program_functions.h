/*
 * Functions of texts on elements: they make instructions and axes of the program in the making. All
 * need environment->program but tenon__call_sum and tenon__names_axes.
 */
#ifndef TENON_CORE_LANGUAGE_PROGRAM_FUNCTIONS_H_
#define TENON_CORE_LANGUAGE_PROGRAM_FUNCTIONS_H_

#include "core/language/environment.h"

/* Is the syntax a list of axes by its form or its name? A number alone is a number. Tells sum(x,
 * axes) from sum(list, i, j) without evaluating: a name may mean different things. */
bool tenon__names_axes(const tenon__environment_t* environment, const tenon__syntax_t* syntax);
/* The reduction that the call names, of a value along the axes of the second argument. any and all
 * take bool, the others numbers; else INVALID_DATA. Along no axes it is the value itself. Notes for
 * the space that something is reduced. */
tenon_status_t tenon__reduce(tenon__environment_t* environment, const tenon__syntax_t* call,
                             const tenon__language_value_t* operand,
                             tenon__language_value_t* out_value);

tenon__function_t tenon__call_sum; /* sum, prod: of elements along axes, or of a list's items */
tenon__function_t tenon__call_reduction; /* mean, any, all */
tenon__function_t tenon__call_fold;      /* fold(add, xs): over a variadic input */
tenon__function_t tenon__call_along;     /* along(x, axis): varies along that axis alone */
tenon__function_t tenon__call_cast;      /* cast(x, T) */
tenon__function_t tenon__call_limit;     /* lowest(T), highest(T) */
tenon__function_t tenon__call_index;     /* index(axis): coordinate, i64 */
tenon__function_t tenon__call_size;      /* size(axes): product of extents, i64 */
tenon__function_t tenon__call_random;    /* random(key, counter): f32 */

#endif
