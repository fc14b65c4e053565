/*
 * The builder behind tenon_builder_table_t: what parsers, converters, rewrites and tenon.h build
 * with.
 *
 * Three kinds of caller share one implementation, so that a rule is checked in one place: strangers
 * come through the table (every argument is checked), the core's own parts use the functions here.
 * A builder is a stack of graphs being built over a network that somebody else owns; it can go at
 * any time, and what it added stays. One thread at a time, as the network.
 */
#ifndef TENON_CORE_NETWORK_BUILDER_H_
#define TENON_CORE_NETWORK_BUILDER_H_

#include "core/network/builder_input.h"
#include "core/network/network.h"

/* `find` looks operators up (and may load plugins). The builder borrows the network. It gives NULL
 * for an operator that nobody offers, which makes the node UNSUPPORTED. The sink outlives the
 * builder, or is diverted before it goes; memory is the network's allocator's. OUT_OF_MEMORY only.
 */
tenon_status_t tenon__builder_create(tenon__network_t* network, tenon__find_operator_t find,
                                     void* find_user, const tenon_sink_t* sink,
                                     tenon_builder_t** out_builder);
/* A node that was begun and not ended is dropped. Bodies that were not ended stay in the network as
 * graphs without an owner, which count as dead. Handles end with the builder, the values behind
 * them do not. */
void tenon__builder_destroy(tenon_builder_t* builder);

/* Who is asked for names like one that nobody offers, with find's user. Without one such a message
 * names no others. */
void tenon__builder_set_suggest(tenon_builder_t* builder, tenon__suggest_operator_t suggest);
/* One static table for all builders: what differs comes with the handle. */
const tenon_builder_table_t* tenon__builder_table(void);
/* Handles are numbers of a table of the builder, which tells graphs apart; 0 is "absent". The graph
 * and value behind any; false when there is none. Whether the value is still alive
 * is not asked. */
bool tenon__builder_look_up(const tenon_builder_t* builder, tenon_value_t value,
                            uint32_t* out_graph, uint32_t* out_value);
/* Builds in a graph that is there instead of the main one; before anything else. Inputs, outputs
 * and states can then not be added. For rewrites and decompositions, which replace nodes of a graph
 * whose border is settled. */
void tenon__builder_set_graph(tenon_builder_t* builder, uint32_t graph);
/* What is said to the builder's sink, which stays where it is, goes to `sink` from now on; returns
 * where it went before. */
const tenon_sink_t* tenon__builder_divert(tenon_builder_t* builder, const tenon_sink_t* sink);

/* Borrowed while inputs are added. */
void tenon__builder_give_inputs(tenon_builder_t* builder, tenon__given_input_t* given,
                                uint32_t count);
/* True when nothing is left open (a node begun, a body). Else says what. INVALID_STATE. Whoever
 * lent the builder to a plugin asks it before what was built is believed. */
tenon_status_t tenon__builder_finish(tenon_builder_t* builder);

#endif
