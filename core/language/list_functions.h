/*
 * Functions of texts on lists: INTS and FLOATS attributes, contents of shape operands, lists as
 * written. Items that decide something must be known when building; an index outside a list is
 * INVALID_DATA.
 *
 * Each takes the call's syntax and evaluates its arguments itself, since a port's name is an
 * element for some functions and a list here.
 */
#ifndef TENON_CORE_LANGUAGE_LIST_FUNCTIONS_H_
#define TENON_CORE_LANGUAGE_LIST_FUNCTIONS_H_

#include "core/language/environment.h"

tenon__function_t tenon__call_len;      /* len(a): also where the contents are not known */
tenon__function_t tenon__call_value;    /* value(x): the only item */
tenon__function_t tenon__call_at;       /* at(a, k, default): default beyond either end */
tenon__function_t tenon__call_index_of; /* index_of(a, v), -1 for none; has(a, v) */
tenon__function_t
    tenon__call_axis_of; /* axis_of(a, d, n): place k with wrap(a[k], n) == d, or -1 */
/* sum(a, i, j), prod(a, i, j) of items i to j - 1 */
tenon_status_t tenon__sum_items(tenon__environment_t* environment, const tenon__syntax_t* call,
                                const tenon__language_value_t* list,
                                tenon__language_value_t* out_value);

#endif
