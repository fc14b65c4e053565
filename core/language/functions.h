/* The functions of texts: one table, with numbers of arguments. */
#ifndef TENON_CORE_LANGUAGE_FUNCTIONS_H_
#define TENON_CORE_LANGUAGE_FUNCTIONS_H_

#include "core/language/environment.h"

/* Returns true for names of functions, opcodes included, and for `broadcast` of shape rules. Called
 * when an operator is registered, to reject unknown names. */
bool tenon__language_has_function(const char* name);
/* Evaluates a CALL: a function of the table, else an opcode by its spelling in TENON_OPCODES.
 * Returns INVALID_DATA for an unknown name, for a wrong number of arguments (the message has the
 * valid range), and for a function on elements without a program. */
tenon_status_t tenon__language_call(tenon__environment_t* environment, const tenon__syntax_t* call,
                                    tenon__language_value_t* out_value);

#endif
