/*
 * Inference of one node: from its operator, inputs, attributes and bodies to the types, shapes and
 * contents of its outputs and to its resolved meaning. Shared by adding a node, inferring a graph
 * again, and verifying; tenon__infer_bind comes before.
 */
#ifndef TENON_CORE_NETWORK_INFER_H_
#define TENON_CORE_NETWORK_INFER_H_

#include "core/network/inference.h"

/* Needs an operator; the forms without one have tenon__infer_text. On failure the fault was told to
 * the inference's sink, and the results mean nothing. INVALID_DATA where a rule of the operator
 * means nothing for these inputs, or its check refuses them; UNSUPPORTED where a rule needs to know
 * what only the run does; OUT_OF_MEMORY. The network's tables are unchanged but for bodies of a
 * control node, whose parameters take types. */
tenon_status_t tenon__infer_node(tenon__inference_t* inference);

/* ---- Its parts, each in a source of its name ---- */

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

/* `shapes`: one for each output, of unknown rank where it sets none. A node that the function
 * refuses is INVALID_DATA, with its words; what it should not have done is told with its plugin's
 * name, as nothing is wrong with the node. The function sees handles of dimensions and no node, and
 * whatever it builds is checked like a text's result. Ranks, extents and contents go where a text's
 * would. Called while a network is built, on its thread. */
tenon_status_t tenon__infer_callback(tenon__inference_t* inference,
                                     tenon__inferred_shape_t* shapes);

/* The name that the text gives its first output; NULL when it defines none. */
const char* tenon__text_output(const tenon__text_t* text);
/* The scope of a node with one output and no operator, whose type is not known yet: ports called as
 * the text's inputs, or, without a text, a move's. */
tenon_status_t tenon__infer_text_scope(tenon__inference_t* inference,
                                       const tenon__expression_source_t* source);
/* Type, shape, contents and expression of the text's one output. */
tenon_status_t tenon__infer_text(tenon__inference_t* inference,
                                 const tenon__expression_source_t* source);

/* The bodies' parameters change with it, and the bodies are inferred again where they do. So this
 * is the only inference that changes values which are there already. What both branches of a choice
 * give must agree in kind, element type and rank; extents that differ become new ones of the run. A
 * branch that cannot run has no say. */
tenon_status_t tenon__infer_control(tenon__inference_t* inference);
/* How many output items the bodies of a control node give; reports what does not fit. Asked before
 * binding, since a control form's outputs are its bodies' results and no port declares how many
 * there are. */
tenon_status_t tenon__control_output_count(const tenon__inference_t* inference,
                                           uint32_t* out_count);

#endif
