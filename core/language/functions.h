/* The functions of texts: one table, with how many arguments each takes. */
#ifndef TENON_CORE_LANGUAGE_FUNCTIONS_H_
#define TENON_CORE_LANGUAGE_FUNCTIONS_H_

#include "core/language/environment.h"

/* True for what a call may name: those, and `broadcast` of shape rules. Opcodes by their spellings
 * are among them. Asked when an operator is registered, to refuse names that no call means. */
bool tenon__language_has_function(const char* name);
/* A CALL: a function of the table, else an opcode by its spelling in TENON_OPCODES. INVALID_DATA
 * for an unknown name, for a wrong number of arguments (the range that the function takes is said),
 * and for a function on elements where no program is made. */
tenon_status_t tenon__language_call(tenon__environment_t* environment, const tenon__syntax_t* call,
                                    tenon__language_value_t* out_value);

#endif
