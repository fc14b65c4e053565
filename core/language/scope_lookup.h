/*
 * Names of a node's ports, attributes and types. Everything that is found is borrowed from the
 * scope. Names of ports and attributes are unique within an operator, so the order of looking does
 * not matter.
 */
#ifndef TENON_CORE_LANGUAGE_SCOPE_LOOKUP_H_
#define TENON_CORE_LANGUAGE_SCOPE_LOOKUP_H_

#include "core/language/scope.h"

/* Ports as an operator declares them over the values of a node; values past the end of
 * `value_count` are absent, and there is one for each port at least. In the arena; NULL when memory
 * is out. */
const tenon__scope_port_t* tenon__scope_ports(tenon__arena_t* arena, const tenon_port_t* ports,
                                              uint32_t count, const tenon__scope_value_t* values,
                                              uint32_t value_count);
/* The input or output port of that name; NULL when there is none. */
const tenon__scope_port_t* tenon__scope_port(const tenon__scope_t* scope, const char* name,
                                             bool* out_is_output);
/* The input port of that name; NULL when there is none. */
const tenon__scope_port_t* tenon__scope_input(const tenon__scope_t* scope, const char* name);
/* Defined or at its default; NULL only for a name that the operator does not declare. */
const tenon__scope_attribute_t* tenon__scope_attribute(const tenon__scope_t* scope,
                                                       const char* name);
/* The INT attribute of that name; `otherwise` when the operator has none. */
int64_t tenon__scope_integer(const tenon__scope_t* scope, const char* name, int64_t otherwise);
/* The type that a name means, as stored: a type variable, a DTYPE attribute, a type's mnemonic;
 * UNDEFINED when it is none of them. In that order, so that an operator may call a variable as it
 * likes. */
tenon_dtype_t tenon__scope_dtype(const tenon__scope_t* scope, const char* name);
/* Output items are numbered through all ports: the port of item `output` and the item's number
 * there (NULL beyond the last), and the way back. Of ports y (1 item), zs (3 items) output 2 is
 * item 1 of zs. */
const tenon__scope_port_t* tenon__scope_output(const tenon__scope_t* scope, uint32_t output,
                                               uint32_t* out_item);
uint32_t tenon__scope_output_number(const tenon__scope_t* scope, const tenon__scope_port_t* port,
                                    uint32_t item);

#endif
