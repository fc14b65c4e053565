/*
 * Branches that cannot run. One branch of an If with a data-dependent condition may be invalid: its
 * inference fails, or it breaks its operators' rules with the extents known so far. The other
 * branch then determines the outputs, and a run that takes the invalid branch fails. The invalid
 * branch keeps its parameters, so that both branches have the same.
 */
#ifndef TENON_CORE_NETWORK_FAULT_H_
#define TENON_CORE_NETWORK_FAULT_H_

#include "core/network/network.h"

/* Marks a branch as one that cannot run. `message` (copied) gives the reason; if empty, the text of
 * the status is used. Its nodes are ignored but stay until it is emptied, because it may be
 * inferred again. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__graph_fail(tenon__network_t* network, uint32_t graph, tenon_status_t status,
                                 const char* message);
/* Removes nodes, results and values other than parameters. Parameters stay, so that the owner still
 * agrees with the body. */
void tenon__graph_empty(tenon__network_t* network, uint32_t graph);

/* Returns the control node that owns the body; NULL for the main graph and for a body without
 * owner. Borrowed until a node is added to the parent, which may move its table. The owner may be
 * dead. */
const tenon__node_t* tenon__graph_owner(const tenon__network_t* network, uint32_t graph);
/* Returns true for an If; false for NULL. */
bool tenon__node_is_choice(const tenon__node_t* node);
/* Returns the innermost branch of an If that is or contains `graph`; TENON_NONE: each run enters
 * it. */
uint32_t tenon__graph_branch(const tenon__network_t* network, uint32_t graph);

/* Handles an error in `graph`. The innermost branch around it is marked and emptied. If the other
 * branch of the If cannot run either, the enclosing branch is marked too. If there is no enclosing
 * branch, the error is reported to the sink and `status` is returned. */
tenon_status_t tenon__network_fail_in(tenon__network_t* network, uint32_t graph,
                                      tenon_status_t status, const char* message,
                                      const tenon_sink_t* sink);

#endif
