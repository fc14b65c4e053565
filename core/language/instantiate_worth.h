/* What one piece of an expression's text is worth for a node. */
#ifndef TENON_CORE_LANGUAGE_INSTANTIATE_WORTH_H_
#define TENON_CORE_LANGUAGE_INSTANTIATE_WORTH_H_

#include "core/language/instantiate.h"

tenon_status_t tenon__worth_fail(const tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                 tenon_status_t status, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

/* instantiate_worth.c */
tenon_status_t tenon__worth_evaluate(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                     tenon__worth_t* out_worth);
/* A number that is known: literals and attributes. */
tenon_status_t tenon__worth_integer(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                    int64_t* out_value);

#endif
