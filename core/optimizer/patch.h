/*
 * Patches: the only way in which passes change a network.
 *
 * A patch is begun with a label, adds nodes and constants, redirects uses, removes nodes, and ends.
 * It may be cancelled while it has only added. Nodes that a patch touches, and their neighbours,
 * are put on every pass's list. What is added takes the place, and the value that replaces another
 * takes the name, of what it stands for.
 *
 * Between begin and end one thing is done, so that the label says why the network looks as it does,
 * and a faulty patch can be found by its number. Ids of nodes and values stay what they are;
 * pointers to them do not outlive an addition.
 */
#ifndef TENON_CORE_OPTIMIZER_PATCH_H_
#define TENON_CORE_OPTIMIZER_PATCH_H_

#include "core/network/node.h"
#include "core/network/node_forms.h"
#include "core/optimizer/rewriter.h"

/* `about`: the node that it is about, whose place in the order new nodes take; TENON_NONE: at the
 * end. The label is borrowed. False when the limit of patches was reached: then nothing may be
 * changed, and there is no patch to end. Patches do not nest. */
bool tenon__patch_begin(tenon__rewriter_t* rewriter, const char* label, uint32_t graph,
                        uint32_t about);
/* Adding, as in network.h, into the graph of the patch. Failures other than of memory are silent.
 * They go to rewriter->explain, if anybody listens. *out_node is set on success alone. */
tenon_status_t tenon__patch_add_node(tenon__rewriter_t* rewriter,
                                     const tenon__node_request_t* request, uint32_t* out_node);
tenon_status_t tenon__patch_add_form(tenon__rewriter_t* rewriter,
                                     const tenon__form_request_t* request, uint32_t* out_node);
/* Adopts weights->data when it is owned. */
tenon_status_t tenon__patch_add_constant(tenon__rewriter_t* rewriter,
                                         const tenon__weights_t* weights, uint32_t* out_value);
/* Another value for weights that are there. */
tenon_status_t tenon__patch_add_value_of(tenon__rewriter_t* rewriter, const char* name,
                                         uint32_t weights, uint32_t* out_value);
/* May `value` stand for `old`: the same kind, element type and rank, and no extent known to differ?
 * An open extent fits any: the rules of the operators are what says that they agree. */
bool tenon__patch_fits(const tenon__rewriter_t* rewriter, uint32_t graph, uint32_t old,
                       uint32_t value);
/* All that read `old`, inside and out, read `value`: types must be the same. Symbols read from it
 * as well. A value that this patch made takes the old one's name. The old value stays until its
 * node is removed. An extent or element of the old one that only the run knew becomes known where
 * it is known of the new one. */
void tenon__patch_replace(tenon__rewriter_t* rewriter, uint32_t old, uint32_t value);
/* Nodes that read `old` read `value`; what leaves the graph stays. So an output of the graph keeps
 * its value, and with it its name. */
void tenon__patch_redirect(tenon__rewriter_t* rewriter, uint32_t old, uint32_t value);
/* The names of two nodes change places: what stands for another keeps its name. */
void tenon__patch_swap_names(tenon__rewriter_t* rewriter, uint32_t node, uint32_t other);
/* A node of `graph` and its attributes that are set, added again with other inputs; outputs as
 * wanted before. Of another graph than the patch's it brings its name and its bodies, which move
 * here. UNSUPPORTED for nodes of this graph without an operator and without a text. */
tenon_status_t tenon__patch_add_again(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t node,
                                      const uint32_t* inputs, uint32_t input_count,
                                      uint32_t* out_node);
/* What code added to the network itself, through a builder, is taken up. Graphs too: bodies that
 * the code built. */
tenon_status_t tenon__patch_take_up(tenon__rewriter_t* rewriter);
/* The node and its outputs, which nobody reads. Its bodies die with it. What made its inputs is
 * looked at again, as it may be the next to go. */
void tenon__patch_remove(tenon__rewriter_t* rewriter, uint32_t node);
/* An optional output that nobody reads is no longer made. */
void tenon__patch_drop_output(tenon__rewriter_t* rewriter, uint32_t node, uint32_t output);
/* A captured value of a control node whose bodies do not read it is no longer passed: input `input`
 * of the node and parameter `parameter` of each body go. */
void tenon__patch_drop_captured(tenon__rewriter_t* rewriter, uint32_t node, uint32_t input,
                                uint32_t parameter);
/* Another graph's value becomes this graph's value `value`: symbols that were read there are read
 * here. */
void tenon__patch_take_handles(tenon__rewriter_t* rewriter, uint32_t from_graph, uint32_t from,
                               uint32_t value);
/* A value that is not an input, constant, state or another output, so that it may become an output:
 * `value` itself, or a copy of it. UNSUPPORTED when its type cannot be copied. */
tenon_status_t tenon__patch_output_of(tenon__rewriter_t* rewriter, uint32_t value,
                                      uint32_t* out_value);
/* Puts what is new, and what stands around it, on all lists; writes the record; verifies the
 * network if the options say so, and names the patch in what it finds. OUT_OF_MEMORY also where an
 * earlier call ran out and could not say so. */
tenon_status_t tenon__patch_end(tenon__rewriter_t* rewriter);
/* Ends the patch where all went well; else takes it back: what cannot be done is left, and no
 * failure but OUT_OF_MEMORY. */
tenon_status_t tenon__patch_settle(tenon__rewriter_t* rewriter, tenon_status_t status);
/* Takes back what was added. Only while it has but added: what was redirected or removed is not
 * brought back. Added nodes and values stay in their tables, dead. */
void tenon__patch_cancel(tenon__rewriter_t* rewriter);

#endif
