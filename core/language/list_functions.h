/*
 * Functions of texts on lists: INTS and FLOATS attributes, contents of shape operands, lists as
 * written. Items that decide a result must be known when building. An index outside a list gives
 * INVALID_DATA.
 *
 * A port's name, which is an element for some functions, is the list of its contents for these.
 */
#ifndef TENON_CORE_LANGUAGE_LIST_FUNCTIONS_H_
#define TENON_CORE_LANGUAGE_LIST_FUNCTIONS_H_

#include "core/language/function_call.h"

extern const tenon__function_t tenon__list_functions[];
/* Computes sum(a, i, j) or prod(a, i, j) of items i to j - 1 of the list `a`, the call's first
 * value. */
tenon_status_t tenon__sum_items(tenon__function_call_t* call, tenon__language_value_t* out_value);

#endif
