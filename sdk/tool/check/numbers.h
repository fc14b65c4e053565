/* Numbers of inputs, from the domains of their ports (plugin.h, tenon_port_t). */
#ifndef TOOL_CHECK_NUMBERS_H_
#define TOOL_CHECK_NUMBERS_H_

#include "check/case.h"

/* Fills the tensor. False: the domain refers to an input or axis that this case does not have. */
bool check_numbers_draw(const check_case_t* c, check_input_t* input, check_random_t* random);

#endif
