/* The builder behind tenon_builder_table_t: what parsers, converters, rewrites and tenon.h build
 * with. */
#ifndef TENON_CORE_NETWORK_BUILDER_H_
#define TENON_CORE_NETWORK_BUILDER_H_

#include "core/base/nearest.h"
#include "core/network/builder_input.h"
#include "core/network/network.h"

/* `find` looks operators up (and may load plugins). The builder borrows the network. */
tenon_status_t tenon__builder_create(tenon__network_t* network, tenon__find_operator_t find,
                                     void* find_user, const tenon_sink_t* sink,
                                     tenon_builder_t** out_builder);
void tenon__builder_destroy(tenon_builder_t* builder);

void tenon__builder_set_suggest(tenon_builder_t* builder, tenon__suggest_operator_t suggest);
const tenon_builder_table_t* tenon__builder_table(void);
/* Handles are numbers of a table of the builder, which tells graphs apart; 0 is "absent". The value
 * of the main graph behind one; TENON_NONE for others. */
uint32_t tenon__builder_value(const tenon_builder_t* builder, tenon_value_t value);

/* The graph and value behind any handle; false when there is none. */
bool tenon__builder_look_up(const tenon_builder_t* builder, tenon_value_t value,
                            uint32_t* out_graph, uint32_t* out_value);
/* Builds in a graph that is there instead of the main one; before anything else. Inputs, outputs
 * and states can then not be added. */
void tenon__builder_set_graph(tenon_builder_t* builder, uint32_t graph);
/* What is said to the builder's sink, which stays where it is, goes to `sink` from now on; returns
 * where it went before. */
const tenon_sink_t* tenon__builder_divert(tenon_builder_t* builder, const tenon_sink_t* sink);

/* Borrowed while inputs are added. */
void tenon__builder_give_inputs(tenon_builder_t* builder, tenon__given_input_t* given,
                                uint32_t count);
/* True when nothing is left open (a node begun, a body). Else says what. */
tenon_status_t tenon__builder_finish(tenon_builder_t* builder);

#endif
