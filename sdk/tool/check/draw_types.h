/* Types of a case: words of `allowed` in tenon_type_variable_t, and type variables of ports. */
#ifndef TOOL_CHECK_DRAW_TYPES_H_
#define TOOL_CHECK_DRAW_TYPES_H_

#include "check/drawing.h"

/* One of the allowed types, floats more often; UNDEFINED: there is none. */
tenon_dtype_t check_draw_type(check_random_t* random, const char* allowed);
/* The same for all ports of one variable. */
tenon_dtype_t check_draw_port_type(check_drawing_t* d, const tenon_port_t* port);

#endif
