/*
 * Inference of one node: from its operator, inputs, attributes and bodies to the types, shapes and
 * contents of its outputs and to its resolved meaning. Shared by adding a node, inferring a graph
 * again, and verifying; tenon__infer_bind comes before.
 */
#ifndef TENON_CORE_NETWORK_INFER_H_
#define TENON_CORE_NETWORK_INFER_H_

#include "core/network/inference.h"

/* Infers a node with an operator; tenon__infer_text is for forms without one. The network's tables
 * do not change, except that parameters of a control node's bodies get types. Errors are reported
 * to the inference's sink, and the results are then invalid. Returns INVALID_DATA if a rule of the
 * operator is undefined for these inputs or a check fails, UNSUPPORTED if a rule needs
 * data-dependent values, or OUT_OF_MEMORY. */
tenon_status_t tenon__infer_node(tenon__inference_t* inference);

/* ---- Parts, each in a source of its name ---- */

/* Fills the scope and the outputs' kinds and element types; shapes are not known yet. The first
 * input that contains a type variable binds it. Shape operands without tracked contents get symbols
 * for them, unless the node is only verified. Inputs of a control form after its fixed ports are
 * not checked, because its bodies determine them. Returns INVALID_DATA for a type conflict (with
 * port and value), a missing input, too many inputs, or a wrong kind. */
tenon_status_t tenon__infer_bind(tenon__inference_t* inference);

/* Returns the scope value of a network value; for TENON_NONE an absent one. `argument` is its index
 * among the node's inputs. It borrows from the value's type and allocates nothing. */
tenon__scope_value_t tenon__infer_scope_value(const tenon__network_t* network, uint32_t graph,
                                              uint32_t value, uint32_t argument);

/* Calls the operator's inference function. `shapes` has one entry for each output; its rank is
 * unknown unless the function sets it. The function gets handles of dimensions and no node, and its
 * results are checked and stored like those of a rule. Called while a network is built, on its
 * thread. Returns INVALID_DATA with the function's message if it rejects the node. Misuse by the
 * function is reported with its plugin's name, because the node is valid. */
tenon_status_t tenon__infer_callback(tenon__inference_t* inference,
                                     tenon__inferred_shape_t* shapes);

/* Returns the name of the expression's first output; NULL if it defines none. */
const char* tenon__text_output(const tenon__text_t* text);
/* Makes the scope of a node with one output and no operator, whose type is not known yet. Its ports
 * have the names of the expression's inputs, or, without an expression, of a move's. */
tenon_status_t tenon__infer_text_scope(tenon__inference_t* inference,
                                       const tenon__expression_source_t* source);
/* Infers type, shape, contents and program of the expression's output. */
tenon_status_t tenon__infer_text(tenon__inference_t* inference,
                                 const tenon__expression_source_t* source);

/* Infers a control node. The bodies' parameters get the types of their arguments, and bodies with
 * changed parameters are inferred again. Only this inference changes existing values. The results
 * of both branches of an If must agree in kind, element type and rank; different extents become
 * data-dependent. Branches that cannot run are ignored. */
tenon_status_t tenon__infer_control(tenon__inference_t* inference);
/* Counts the output items of a control node from its bodies, and reports mismatches. Called before
 * binding, because a control form's outputs are its bodies' results, and no port declares their
 * number. */
tenon_status_t tenon__control_output_count(const tenon__inference_t* inference,
                                           uint32_t* out_count);

#endif
