/*
 * Functions of texts on tensors: ranks, extents, presence, types, coordinates. A tensor is a name
 * of an input or output, or an item of a variadic one. Unknown extents and ranks give UNSUPPORTED,
 * invalid uses INVALID_DATA.
 *
 * Results are known numbers if the scope has them, else dimensions: dim(x, 0) of an input [batch,
 * 3] is the symbol `batch`.
 */
#ifndef TENON_CORE_LANGUAGE_SHAPE_FUNCTIONS_H_
#define TENON_CORE_LANGUAGE_SHAPE_FUNCTIONS_H_

#include "core/language/function_call.h"

extern const tenon__function_t tenon__shape_functions[];

#endif
