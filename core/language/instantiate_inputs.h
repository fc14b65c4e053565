/* Inputs as operands of the program that is being made, and axes of its space. */
#ifndef TENON_CORE_LANGUAGE_INSTANTIATE_INPUTS_H_
#define TENON_CORE_LANGUAGE_INSTANTIATE_INPUTS_H_

#include "core/language/instantiate.h"

/* instantiate_inputs.c: an element of item `item` of a port: aligned with the space, or (axis not
 * TENON_NONE) varying along that axis alone. */
tenon_status_t tenon__worth_input(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                  const tenon__scope_port_t* port, uint32_t item, uint32_t axis,
                                  tenon__worth_t* out_worth);
const tenon__scope_port_t* tenon__find_input(const tenon__scope_t* scope, const char* name);
/* The type that a name in cast(x, name) or highest(name) means, as stored; UNDEFINED: none. */
tenon_dtype_t tenon__named_type(const tenon__scope_t* scope, const char* name);
/* A known axis of the space, negative from the end; 0 in the dry round. */
tenon_status_t tenon__worth_axis(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                 uint32_t* out_axis);
/* The axes that the second argument of a reduction means, as a mask. `is_empty`: the list was
 * empty. */
tenon_status_t tenon__worth_axes(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                 uint64_t* out_mask, bool* out_is_empty);

#endif
