/*
 * The builder behind tenon_builder_table_t, which parsers, converters, rewrites and tenon.h use.
 *
 * All callers share one implementation, so that a rule is checked in one place. Third parties call
 * through the table, which checks each argument; the core uses the functions here. A builder is a
 * stack of graphs under construction in a network that it does not own. It can be destroyed at any
 * time, and its additions stay. One thread at a time, as for the network.
 */
#ifndef TENON_CORE_NETWORK_BUILDER_H_
#define TENON_CORE_NETWORK_BUILDER_H_

#include "core/network/builder_input.h"
#include "core/network/network.h"

/* The builder borrows the network and uses its allocator. `find` looks operators up (and may load
 * plugins). It returns NULL for an unknown operator, and the node is then UNSUPPORTED. The sink
 * outlives the builder, or is diverted before it is destroyed. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__builder_create(tenon__network_t* network, tenon__find_operator_t find,
                                     void* find_user, const tenon_sink_t* sink,
                                     tenon_builder_t** out_builder);
/* Drops a node that was begun and not ended. Bodies that were not ended stay in the network as
 * graphs without an owner, which are dead. Handles become invalid, but their values stay. */
void tenon__builder_destroy(tenon_builder_t* builder);

/* Sets the function that suggests similar names for an unknown operator; it gets find's `user`.
 * Without it, such messages contain no suggestions. */
void tenon__builder_set_suggest(tenon_builder_t* builder, tenon__suggest_operator_t suggest);
/* Returns one static table for all builders; the handle has all state. */
const tenon_builder_table_t* tenon__builder_table(void);
/* Handles are indices of a table of the builder, for all graphs; 0 is "absent". Returns the graph
 * and value of a handle; false if it is invalid. The value may be dead. */
bool tenon__builder_look_up(const tenon_builder_t* builder, tenon_value_t value,
                            uint32_t* out_graph, uint32_t* out_value);
/* Builds in an existing graph instead of the main one; call it first. Inputs, outputs and states
 * cannot be added then. For rewrites and decompositions, which replace nodes of a graph with fixed
 * inputs and outputs. */
void tenon__builder_set_graph(tenon_builder_t* builder, uint32_t graph);
/* Redirects the builder's messages to `sink` and returns the previous sink. The builder's own sink
 * keeps its address. */
const tenon_sink_t* tenon__builder_divert(tenon_builder_t* builder, const tenon_sink_t* sink);

/* Sets given values for inputs, borrowed while inputs are added. */
void tenon__builder_give_inputs(tenon_builder_t* builder, tenon__given_input_t* given,
                                uint32_t count);
/* Checks that no node or body is left open. Returns INVALID_STATE with a message. Call it after a
 * plugin has used the builder, before the network is used. */
tenon_status_t tenon__builder_finish(tenon_builder_t* builder);

#endif
