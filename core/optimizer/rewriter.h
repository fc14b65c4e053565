/*
 * What passes rewrite through: a network with its uses, and lists of nodes to look at.
 *
 * A pass wants to know who reads a value, and which nodes something happened to, without walking
 * the graph. Both are kept up to date by patches, at the cost of what a patch changes; the
 * network's own tables know neither. One rewriter lives as long as one run of the optimiser.
 */
#ifndef TENON_CORE_OPTIMIZER_REWRITER_H_
#define TENON_CORE_OPTIMIZER_REWRITER_H_

#include "core/optimizer/optimize_options.h"

enum { TENON_PASS_LIMIT = 32 };

/* One input of one node that reads a value; a list for each value. */
typedef struct tenon__use_t {
  uint32_t node;
  uint32_t input;
  uint32_t next; /* of the same value; TENON_NONE ends */
  uint32_t previous;
} tenon__use_t;

/* use_count is at least leave_count; the list from first_use holds the other ones, those by nodes.
 * A value that no handle leads to can go without any shape noticing. */
typedef struct tenon__value_uses_t {
  uint32_t first_use;
  uint32_t use_count;   /* inputs of nodes, outputs of the graph, updates of states */
  uint32_t leave_count; /* of these, outputs and updates */
  uint32_t handle;      /* the newest handle that leads to it; TENON_NONE: none */
} tenon__value_uses_t;

/* Entries of one node lie side by side in rewriter->uses, input k at first_entry + k. */
typedef struct tenon__node_uses_t {
  uint32_t first_entry; /* where the entries of its inputs begin */
  uint32_t queued;      /* bit p set while it is on the list of pass p */
} tenon__node_uses_t;

/* Indexed as the tables of the network's graph are; what was added there and not taken up yet is
 * not in it. */
typedef struct tenon__graph_uses_t {
  uint32_t value_count; /* those that are taken up */
  size_t value_capacity;
  tenon__value_uses_t* values;
  uint32_t node_count;
  size_t node_capacity;
  tenon__node_uses_t* nodes;
} tenon__graph_uses_t;

/* Nodes that a pass is to look at: a queue of (graph, node). A ring of `capacity` places. Nodes
 * that died meanwhile stay in it and are passed over. */
typedef struct tenon__pass_queue_t {
  uint64_t* items;
  size_t capacity;
  size_t first; /* what was taken lies before it */
  size_t end;
} tenon__pass_queue_t;

/* Its tables lie in the network's allocator. From patch_graph on it is the patch under way,
 * meaningless while is_open is false; equals and rewrites belong to one pass each, which makes them
 * on its first visit. */
typedef struct tenon__rewriter_t {
  tenon__network_t* network;
  const tenon__optimize_options_t* options;
  const tenon_sink_t* sink;
  tenon__optimize_report_t* report;
  tenon__arena_t arena;   /* lives as long as the rewriter */
  tenon__arena_t scratch; /* of the visit under way */
  uint32_t graph_count;
  size_t graph_capacity;
  tenon__graph_uses_t* graphs;
  size_t use_count;
  size_t use_capacity;
  tenon__use_t* uses;
  uint32_t handle_count; /* those that are linked */
  size_t handle_capacity;
  uint32_t* handle_next;
  uint32_t pass_count;
  tenon__pass_queue_t queues[TENON_PASS_LIMIT];
  /* The patch under way. */
  const char* label;
  uint32_t patch_graph;
  uint32_t patch_order;
  const char* patch_node;
  uint32_t first_new_node;
  uint32_t first_new_value;
  uint32_t patch_count;
  bool is_open;
  bool is_out_of_memory;
  const tenon_sink_t* explain;        /* why what a patch adds cannot be added; NULL: nobody asks */
  struct tenon__equals_t* equals;     /* merge_equal's table; in the arena */
  struct tenon__rewrites_t* rewrites; /* parsed; in the arena */
} tenon__rewriter_t;

/* Graphs hold for the network's life, nodes and values until one is added to their graph. */
static inline tenon__graph_t* tenon__rewriter_graph(const tenon__rewriter_t* rewriter,
                                                    uint32_t graph) {
  return rewriter->network->graphs[graph];
}
static inline tenon__node_t* tenon__rewriter_node(const tenon__rewriter_t* rewriter, uint32_t graph,
                                                  uint32_t node) {
  return &rewriter->network->graphs[graph]->nodes[node];
}
static inline tenon__value_node_t* tenon__rewriter_value(const tenon__rewriter_t* rewriter,
                                                         uint32_t graph, uint32_t value) {
  return &rewriter->network->graphs[graph]->values[value];
}
/* How often a value is read: by nodes, as output of its graph, by states. */
static inline uint32_t tenon__rewriter_use_count(const tenon__rewriter_t* rewriter, uint32_t graph,
                                                 uint32_t value) {
  return rewriter->graphs[graph].values[value].use_count;
}
/* The first of the uses by nodes; the others follow by `next`. TENON_NONE: no node reads it. A use
 * is void once its node's input changes. */
static inline uint32_t tenon__rewriter_first_use(const tenon__rewriter_t* rewriter, uint32_t graph,
                                                 uint32_t value) {
  return rewriter->graphs[graph].values[value].first_use;
}
static inline const tenon__use_t* tenon__rewriter_use(const tenon__rewriter_t* rewriter,
                                                      uint32_t use) {
  return &rewriter->uses[use];
}
/* True when the value is an output of its graph or what a state becomes. */
static inline bool tenon__rewriter_leaves(const tenon__rewriter_t* rewriter, uint32_t graph,
                                          uint32_t value) {
  return rewriter->graphs[graph].values[value].leave_count > 0;
}
/* True when symbols in shapes or contents may be read from it. */
static inline bool tenon__rewriter_has_handle(const tenon__rewriter_t* rewriter, uint32_t graph,
                                              uint32_t value) {
  return rewriter->graphs[graph].values[value].handle != TENON_NONE;
}

/* With a list of nodes for each of so many passes. Takes up all graphs, linear in nodes and their
 * inputs. OUT_OF_MEMORY only; the report may be NULL. */
tenon_status_t tenon__rewriter_create(tenon__network_t* network,
                                      const tenon__optimize_options_t* options, uint32_t pass_count,
                                      const tenon_sink_t* sink, tenon__optimize_report_t* report,
                                      tenon__rewriter_t** out_rewriter);
void tenon__rewriter_destroy(tenon__rewriter_t* rewriter);
/* Puts every live node of every live graph on the list of each pass, in topological order. Branches
 * that cannot run are left out. */
tenon_status_t tenon__rewriter_queue_all(tenon__rewriter_t* rewriter);
/* Ends a visit: frees its scratch memory, noting whether that ran out, as questions that say yes or
 * no do not tell. Did memory run out by now, wherever that was noted? */
bool tenon__rewriter_end_visit(tenon__rewriter_t* rewriter);
/* Did memory run out, wherever that was noted? */
bool tenon__rewriter_failed(const tenon__rewriter_t* rewriter);
/* The next node of a pass that is still alive; false when there is none. In the order in which
 * nodes were touched; a node is on a list once. */
bool tenon__rewriter_next(tenon__rewriter_t* rewriter, uint32_t pass, uint32_t* out_graph,
                          uint32_t* out_node);
/* Puts a node on all lists. Dead nodes and TENON_NONE are left alone. Where memory runs out that is
 * noted, and the run fails after the visit. */
void tenon__rewriter_touch(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t node);
/* A constant with its bytes here. NULL for any other value, for TENON_NONE, and for weights whose
 * bytes are not here. */
const tenon__weights_t* tenon__rewriter_constant(const tenon__rewriter_t* rewriter, uint32_t graph,
                                                 uint32_t value);

/* ---- For patches alone ---- */

/* Takes up values, nodes and handles that the network has and the rewriter does not know. */
bool tenon__rewriter_take_up(tenon__rewriter_t* rewriter, uint32_t graph);
/* And graphs, whole: bodies that code built. */
bool tenon__rewriter_take_up_graphs(tenon__rewriter_t* rewriter);
/* Input `input` of the node, as it is now, enters the list of the value that it reads; unlink takes
 * it out, before the input changes. Constant time. */
void tenon__rewriter_link(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t node,
                          uint32_t input);
void tenon__rewriter_unlink(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t node,
                            uint32_t input);
/* Handles that lead to `old` of `from_graph` lead to `value` of `graph`. */
void tenon__rewriter_move_handles(tenon__rewriter_t* rewriter, uint32_t from_graph, uint32_t old,
                                  uint32_t graph, uint32_t value);
/* The value's producer, and, when one node alone is left that reads it, that node. */
void tenon__rewriter_touch_around(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t value);

#endif
