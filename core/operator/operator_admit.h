/* Admission: an operator as a plugin declares it becomes one that the core works with. */
#ifndef TENON_CORE_OPERATOR_OPERATOR_ADMIT_H_
#define TENON_CORE_OPERATOR_OPERATOR_ADMIT_H_

#include "core/operator/operator.h"

/* Copies, parses and checks. Everything lies in the arena. Faults are reported with operator and
 * text; INVALID_DATA. All that can be known without a node is checked here, once, so that using an
 * operator need not: identity, ports, attributes, defaults, traits, syntax, names, and that shapes
 * come from somewhere. `plugin` and `state` are borrowed. */
tenon_status_t tenon__operator_admit(tenon__arena_t* arena, const tenon_operator_t* descriptor,
                                     const char* plugin, void* state, const tenon_sink_t* sink,
                                     const tenon__operator_t** out_operator);

#endif
