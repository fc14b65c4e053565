/* The functions of the expression language. */
#ifndef TENON_CORE_LANGUAGE_INSTANTIATE_FUNCTIONS_H_
#define TENON_CORE_LANGUAGE_INSTANTIATE_FUNCTIONS_H_

#include "core/language/instantiate.h"

/* instantiate_functions.c */
tenon_status_t tenon__worth_call(tenon__instantiation_t* in, const tenon__syntax_t* call,
                                 tenon__worth_t* out_worth);

#endif
