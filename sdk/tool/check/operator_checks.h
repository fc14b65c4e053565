/* Checks of the operators that the plugin offers. Subjects: names of operators. */
#ifndef TOOL_CHECK_OPERATOR_CHECKS_H_
#define TOOL_CHECK_OPERATOR_CHECKS_H_

#include "check/try_cases.h"

void check_operator_list(const check_t* check, check_text_t* text);
/* The expression, the reference kernel and the kernels that a build chooses compute the same. */
extern const check_plan_t check_definition;
/* Operators with the traits linear or concatenable: both, on numbers. */
void check_trait_list(const check_t* check, check_text_t* text);
extern const check_plan_t check_traits;

#endif
