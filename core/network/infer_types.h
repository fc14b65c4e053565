/* Which input stands at which port of a node, and what its type variables become. */
#ifndef TENON_CORE_NETWORK_INFER_TYPES_H_
#define TENON_CORE_NETWORK_INFER_TYPES_H_

#include "core/network/inference.h"

/* Fills the scope and the outputs' kinds and element types; shapes are not known yet. A variable is
 * bound by the first input that mentions it; INVALID_DATA names the port and value that disagree.
 * Shape operands whose contents are not followed yet get symbols for them, unless the node is only
 * verified. Inputs of a control form past its fixed ports are not checked: its bodies say what they
 * are. INVALID_DATA also for a missing input, too many of them, and a wrong kind. */
tenon_status_t tenon__infer_bind(tenon__inference_t* inference);

/* The scope value of a network value. `argument`: its number among the node's inputs. TENON_NONE
 * gives a value that is not present. It borrows from the value's type, and allocates nothing. */
tenon__scope_value_t tenon__infer_scope_value(const tenon__network_t* network, uint32_t graph,
                                              uint32_t value, uint32_t argument);

#endif
