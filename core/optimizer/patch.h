/*
 * Patches: the only way in which passes change a network.
 *
 * A patch is begun with a label, adds nodes and constants, redirects uses, removes nodes, and ends.
 * It may be cancelled as long as it has only added. Nodes that a patch changes, and their
 * neighbours, are put on the lists of all passes. Added nodes take the position in the order of the
 * replaced ones, and a value that replaces another takes its name.
 *
 * A patch makes one change, so that its label explains the network, and a faulty patch can be found
 * by its number. Ids of nodes and values do not change; an addition invalidates pointers to
 * them.
 */
#ifndef TENON_CORE_OPTIMIZER_PATCH_H_
#define TENON_CORE_OPTIMIZER_PATCH_H_

#include "core/network/node.h"
#include "core/network/node_forms.h"
#include "core/optimizer/rewriter.h"

/* Begins a patch. `about` is the changed node, whose position in the order new nodes get;
 * TENON_NONE: at the end. The label is borrowed. Returns false if the limit of patches is reached:
 * then nothing may be changed, and there is no patch to end. Patches do not nest. */
bool tenon__patch_begin(tenon__rewriter_t* rewriter, const char* label, uint32_t graph,
                        uint32_t about);
/* Add to the graph of the patch, as in network.h. Failures except OUT_OF_MEMORY send messages only
 * to rewriter->explain, if set. *out_node is set only on success. */
tenon_status_t tenon__patch_add_node(tenon__rewriter_t* rewriter,
                                     const tenon__node_request_t* request, uint32_t* out_node);
tenon_status_t tenon__patch_add_form(tenon__rewriter_t* rewriter,
                                     const tenon__form_request_t* request, uint32_t* out_node);
/* Adds a constant. Adopts weights->data if it is owned. */
tenon_status_t tenon__patch_add_constant(tenon__rewriter_t* rewriter,
                                         const tenon__weights_t* weights, uint32_t* out_value);
/* Adds another value for existing weights. */
tenon_status_t tenon__patch_add_value_of(tenon__rewriter_t* rewriter, const char* name,
                                         uint32_t weights, uint32_t* out_value);
/* Returns true if `value` can replace `old`: same kind, element type and rank, and no extent that
 * certainly differs. An unknown extent fits any, because the operators' rules ensure that they
 * agree. */
bool tenon__patch_fits(const tenon__rewriter_t* rewriter, uint32_t graph, uint32_t old,
                       uint32_t value);
/* Makes all readers of `old`, in the graph and outside, read `value`. Types must be equal. Symbols
 * of `old` are read from `value` too. A value of this patch takes the old one's name. The old value
 * stays until its node is removed. A data-dependent extent or element of the old value becomes
 * known if it is known for the new one. */
void tenon__patch_replace(tenon__rewriter_t* rewriter, uint32_t old, uint32_t value);
/* Makes nodes that read `old` read `value`. Outputs of the graph do not change, so they keep their
 * value and name. */
void tenon__patch_redirect(tenon__rewriter_t* rewriter, uint32_t old, uint32_t value);
/* Exchanges the names of two nodes, so that a replacement has the name of the replaced node. */
void tenon__patch_swap_names(tenon__rewriter_t* rewriter, uint32_t node, uint32_t other);
/* Adds a copy of a node of `graph`, with its set attributes, other inputs and the same requested
 * outputs. A node of another graph than the patch's keeps its name, and its bodies are moved here.
 * Returns UNSUPPORTED for nodes of this graph without an operator and without a text. */
tenon_status_t tenon__patch_add_again(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t node,
                                      const uint32_t* inputs, uint32_t input_count,
                                      uint32_t* out_node);
/* Registers nodes, values and graphs (bodies) that code has added to the network directly, through
 * a builder. */
tenon_status_t tenon__patch_take_up(tenon__rewriter_t* rewriter);
/* Removes a node, its bodies and its outputs, which have no reader. The producers of its inputs are
 * visited again, because they may be unused now. */
void tenon__patch_remove(tenon__rewriter_t* rewriter, uint32_t node);
/* Drops an optional output without readers. */
void tenon__patch_drop_output(tenon__rewriter_t* rewriter, uint32_t node, uint32_t output);
/* Drops a captured value of a control node that its bodies do not read: input `input` of the node
 * and parameter `parameter` of each body. */
void tenon__patch_drop_captured(tenon__rewriter_t* rewriter, uint32_t node, uint32_t input,
                                uint32_t parameter);
/* Makes symbols that were read from a value of another graph read this graph's value `value`. */
void tenon__patch_take_handles(tenon__rewriter_t* rewriter, uint32_t from_graph, uint32_t from,
                               uint32_t value);
/* Returns a value that may become an output, which is not an input, constant, state or another
 * output: `value` itself, or a copy. Returns UNSUPPORTED if its type cannot be copied. */
tenon_status_t tenon__patch_output_of(tenon__rewriter_t* rewriter, uint32_t value,
                                      uint32_t* out_value);
/* Puts new nodes and their neighbours on all lists, writes the record, and verifies the network if
 * the options request it; errors contain the patch. Also returns OUT_OF_MEMORY for an earlier call
 * that could not report it. */
tenon_status_t tenon__patch_end(tenon__rewriter_t* rewriter);
/* Ends the patch if `status` is OK, else cancels it: a patch that cannot be made is skipped.
 * Returns no failure of the patch except OUT_OF_MEMORY. */
tenon_status_t tenon__patch_settle(tenon__rewriter_t* rewriter, tenon_status_t status);
/* Removes the additions. Call it only if the patch has only added, because redirections and
 * removals are not undone. Added nodes and values stay in their tables, dead. */
void tenon__patch_cancel(tenon__rewriter_t* rewriter);

#endif
