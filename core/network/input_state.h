/*
 * States for models without states: values that an application would otherwise copy from an output
 * to an input for the next run.
 */
#ifndef TENON_CORE_NETWORK_INPUT_STATE_H_
#define TENON_CORE_NETWORK_INPUT_STATE_H_

#include "core/network/network.h"

/* Replaces the main graph's input by a state of the same name that begins with zeros, and the
 * output by the state's next value. Indices of later inputs and outputs decrease. Returns
 * INVALID_ARGUMENT with a message, and changes nothing, if the input is no tensor of known extents,
 * or the output has another type. */
tenon_status_t tenon__network_make_state(tenon__network_t* network, uint32_t input, uint32_t output,
                                         const tenon_sink_t* sink);

#endif
