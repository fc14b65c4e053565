/*
 * The builder's internal state, shared by builder.c (nodes), builder_bodies.c (bodies) and
 * builder_values.c (values).
 *
 * All parts are added to the network immediately, except a node that is begun: it is kept in its
 * own arena until it is ended. So a failure leaves the network as before the node, and nodes and
 * bodies that were begun can be dropped (builder_bodies.h). One thread at a time.
 */
#ifndef TENON_CORE_NETWORK_BUILDER_PARTS_H_
#define TENON_CORE_NETWORK_BUILDER_PARTS_H_

#include "core/base/arena.h"
#include "core/language/scope.h"
#include "core/network/builder_input.h"
#include "core/network/network.h"

/* A handle's value. Handle h is entry h - 1. Entries are never changed or reused: a handle refers
 * to the same value for the builder's life, although the value may die. */
typedef struct tenon__handle_t {
  uint32_t graph;
  uint32_t value;
} tenon__handle_t;

/* A node that was begun and not ended. Lists are in `arena` and copied to the network when the node
 * is made. The arena is freed at the end, also after a failure. Inputs are resolved ids of the
 * current graph. */
typedef struct tenon__pending_node_t {
  const tenon__operator_t* op; /* NULL: none is begun, and the other members are invalid */
  tenon__arena_t arena;
  const char* name;
  uint32_t attribute_count;
  uint32_t attribute_capacity;
  tenon__scope_attribute_t* attributes;
  uint32_t input_count;
  uint32_t input_capacity;
  uint32_t* inputs;
  uint32_t body_count;
  uint32_t body_capacity;
  uint32_t* bodies;
  /* 0: unspecified (variadic port, control form) */
  uint32_t output_count;
} tenon__pending_node_t;

/* A graph under construction: the main one, or a body inside the previous one. */
typedef struct tenon__open_graph_t {
  uint32_t graph;
  tenon__pending_node_t node;
} tenon__open_graph_t;

/* frames[0] is the main graph, or the one of tenon__builder_set_graph. Nodes are added to the last
 * frame. frame_count is never 0. Tables use the network's allocator. The network, the sinks and
 * `given` are borrowed. */
struct tenon_builder_t {
  tenon__network_t* network;
  tenon__find_operator_t find;
  void* find_user;
  tenon__suggest_operator_t suggest;
  const tenon_sink_t* sink; /* own_sink, which passes messages to next_sink */
  const tenon_sink_t* next_sink;
  tenon_sink_t own_sink;
  bool is_fixed; /* works in a network with fixed inputs, outputs and states */
  uint32_t given_count;
  tenon__given_input_t* given; /* borrowed */
  tenon__arena_t arena;        /* data that callers borrow */
  size_t handle_count;
  size_t handle_capacity;
  tenon__handle_t* handles;
  uint32_t frame_count;
  size_t frame_capacity;
  tenon__open_graph_t* frames;
};

/* Returns the innermost graph under construction; there is always one. */
static inline tenon__open_graph_t* tenon__builder_frame(const tenon_builder_t* builder) {
  return &builder->frames[builder->frame_count - 1];
}

static inline uint32_t tenon__builder_graph(const tenon_builder_t* builder) {
  return builder->frames[builder->frame_count - 1].graph;
}

#endif
