/*
 * Functions of texts on tensors: ranks, extents, presence, types, coordinates. A tensor is a name
 * of an input or output, or an item of a variadic one; extents and ranks that are not known are
 * UNSUPPORTED, what an operator cannot mean is INVALID_DATA.
 *
 * They come out as known numbers where the scope knows them, as dimensions where only the run does:
 * dim(x, 0) of an input [batch, 3] is the symbol `batch`.
 */
#ifndef TENON_CORE_LANGUAGE_SHAPE_FUNCTIONS_H_
#define TENON_CORE_LANGUAGE_SHAPE_FUNCTIONS_H_

#include "core/language/function_call.h"

extern const tenon__function_t tenon__shape_functions[];

#endif
