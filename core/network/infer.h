/*
 * Inference of one node: from its operator, inputs, attributes and bodies to the types, shapes and
 * contents of its outputs and to its resolved meaning. Shared by adding a node, inferring a graph
 * again, and verifying; tenon__infer_bind (infer_types.h) comes before.
 */
#ifndef TENON_CORE_NETWORK_INFER_H_
#define TENON_CORE_NETWORK_INFER_H_

#include "core/network/inference.h"

/* Needs an operator; the forms without one have infer_text.h. On failure the fault was told to the
 * inference's sink, and the results mean nothing. INVALID_DATA where a rule of the operator means
 * nothing for these inputs, or its check refuses them; UNSUPPORTED where a rule needs to know what
 * only the run does; OUT_OF_MEMORY. The network's tables are unchanged but for bodies of a control
 * node, whose parameters take types. */
tenon_status_t tenon__infer_node(tenon__inference_t* inference);

#endif
