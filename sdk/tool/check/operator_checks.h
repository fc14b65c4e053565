/* Checks of the operators that the plugin offers, as check_kind_t. Subjects: names of operators. */
#ifndef TOOL_CHECK_OPERATOR_CHECKS_H_
#define TOOL_CHECK_OPERATOR_CHECKS_H_

#include "check/check.h"

void check_operator_list(const check_t* check, check_text_t* text);
/* The expression, the reference kernel and the kernels that a build chooses compute the same. */
char check_definition(check_t* check, const char* subject, check_text_t* text);
/* Operators with the traits linear or concatenable: both, on numbers. */
void check_trait_list(const check_t* check, check_text_t* text);
char check_traits(check_t* check, const char* subject, check_text_t* text);

#endif
