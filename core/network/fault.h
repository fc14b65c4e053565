/*
 * Branches that cannot run. Of a choice whose condition only a run knows, one branch may be of no
 * use: it does not infer, or breaks its operators' rules with what is known by now. The other one
 * then says what the choice gives, and taking this one is an error of the run. It keeps its
 * parameters, so that both branches go on taking the same.
 */
#ifndef TENON_CORE_NETWORK_FAULT_H_
#define TENON_CORE_NETWORK_FAULT_H_

#include "core/network/network.h"

/* `words` (copied) say why the branch cannot run. What it is made of is no longer looked at, but
 * stays until it is emptied: it may be inferred again. Fails only when memory is out. Empty words
 * become those of the status. */
tenon_status_t tenon__graph_fail(tenon__network_t* network, uint32_t graph, tenon_status_t status,
                                 const char* message);
/* Nodes, results and values other than parameters go. Parameters stay, so that the node which owns
 * the body still agrees with it. */
void tenon__graph_empty(tenon__network_t* network, uint32_t graph);

/* The control node whose body it is; NULL for the main graph and for a body without one. Borrowed
 * until a node is added to the parent, which may move its table. The owner may be dead. */
const tenon__node_t* tenon__graph_owner(const tenon__network_t* network, uint32_t graph);
/* Has it two branches, of which a run takes one? NULL has not. */
bool tenon__node_is_choice(const tenon__node_t* node);
/* The innermost branch of a choice that `graph` is or lies in; TENON_NONE: each run enters it. */
uint32_t tenon__graph_branch(const tenon__network_t* network, uint32_t graph);

/* Something in `graph` cannot run. The innermost branch around it fails and is emptied; where the
 * choice has no other, so does what is around the choice. Where that is the network: `status`,
 * reported to the sink. */
tenon_status_t tenon__network_fail_in(tenon__network_t* network, uint32_t graph,
                                      tenon_status_t status, const char* message,
                                      const tenon_sink_t* sink);

#endif
