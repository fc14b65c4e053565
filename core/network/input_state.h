/*
 * States of models that have none of their own: what an application would take from an output and
 * give to an input for the next run.
 */
#ifndef TENON_CORE_NETWORK_INPUT_STATE_H_
#define TENON_CORE_NETWORK_INPUT_STATE_H_

#include "core/network/network.h"

/* The main graph's input becomes a state of its name that begins with zeros, and what the output is
 * becomes of it; neither is an input or output any more. Indices of those behind move up.
 * INVALID_ARGUMENT, with words, where the input is no tensor of known extents, or the output has
 * another type: then nothing has changed. */
tenon_status_t tenon__network_make_state(tenon__network_t* network, uint32_t input, uint32_t output,
                                         const tenon_sink_t* sink);

#endif
