/*
 * The state with which passes rewrite: a network with its uses, and lists of nodes to visit.
 *
 * A pass needs the readers of a value and the changed nodes, without a walk over the graph. The
 * network's own tables have neither. Patches update both, at a cost proportional to the change. A
 * rewriter lives as long as one run of the optimiser.
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

/* use_count is at least leave_count; the list from first_use has the other uses, by nodes. Removing
 * a value without a handle affects no shape. */
typedef struct tenon__value_uses_t {
  uint32_t first_use;
  uint32_t use_count;   /* inputs of nodes, outputs of the graph, updates of states */
  uint32_t leave_count; /* of these, outputs and updates */
  uint32_t handle;      /* its newest handle; TENON_NONE: none */
} tenon__value_uses_t;

/* Entries of one node are consecutive in rewriter->uses, input k at first_entry + k. */
typedef struct tenon__node_uses_t {
  uint32_t first_entry; /* index of the entry of its first input */
  uint32_t queued;      /* bit p: it is on the list of pass p */
} tenon__node_uses_t;

/* Indexed like the tables of the network's graph; additions that were not registered yet are
 * missing. */
typedef struct tenon__graph_uses_t {
  uint32_t value_count; /* number of registered values */
  size_t value_capacity;
  tenon__value_uses_t* values;
  uint32_t node_count;
  size_t node_capacity;
  tenon__node_uses_t* nodes;
} tenon__graph_uses_t;

/* Nodes that a pass must visit: a queue of (graph, node), as a ring buffer of `capacity` entries.
 * Nodes that have died stay in it and are skipped. */
typedef struct tenon__pass_queue_t {
  uint64_t* items;
  size_t capacity;
  size_t first; /* next entry to take */
  size_t end;
} tenon__pass_queue_t;

/* Its tables use the network's allocator. The members of the current patch are invalid while
 * is_open is false. `equals` and `rewrites` belong to one pass each, which makes them on its first
 * visit. */
typedef struct tenon__rewriter_t {
  tenon__network_t* network;
  const tenon__optimize_options_t* options;
  const tenon_sink_t* sink;
  tenon__optimize_report_t* report;
  tenon__arena_t arena;   /* lives as long as the rewriter */
  tenon__arena_t scratch; /* of the current visit */
  uint32_t graph_count;
  size_t graph_capacity;
  tenon__graph_uses_t* graphs;
  size_t use_count;
  size_t use_capacity;
  tenon__use_t* uses;
  uint32_t handle_count; /* number of linked handles */
  size_t handle_capacity;
  uint32_t* handle_next;
  uint32_t pass_count;
  tenon__pass_queue_t queues[TENON_PASS_LIMIT];
  /* The current patch. */
  const char* label;
  uint32_t patch_graph;
  uint32_t patch_order;
  const char* patch_node;
  uint32_t first_new_node;
  uint32_t first_new_value;
  uint32_t patch_count;
  bool is_open;
  bool is_out_of_memory;
  const tenon_sink_t* explain;        /* gets reasons for failed additions; may be NULL */
  struct tenon__equals_t* equals;     /* merge_equal's table; in the arena */
  struct tenon__rewrites_t* rewrites; /* parsed; in the arena */
} tenon__rewriter_t;

/* Pointers to graphs are valid for the network's life, those to nodes and values until an addition
 * to their graph. */
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
/* Returns the number of uses of a value: by nodes, as output of its graph, by states. */
static inline uint32_t tenon__rewriter_use_count(const tenon__rewriter_t* rewriter, uint32_t graph,
                                                 uint32_t value) {
  return rewriter->graphs[graph].values[value].use_count;
}
/* Returns the first use by a node; `next` leads to the others. TENON_NONE: no node reads it. A use
 * becomes invalid when its node's input changes. */
static inline uint32_t tenon__rewriter_first_use(const tenon__rewriter_t* rewriter, uint32_t graph,
                                                 uint32_t value) {
  return rewriter->graphs[graph].values[value].first_use;
}
static inline const tenon__use_t* tenon__rewriter_use(const tenon__rewriter_t* rewriter,
                                                      uint32_t use) {
  return &rewriter->uses[use];
}
/* Returns true if the value is an output of its graph or the next value of a state. */
static inline bool tenon__rewriter_leaves(const tenon__rewriter_t* rewriter, uint32_t graph,
                                          uint32_t value) {
  return rewriter->graphs[graph].values[value].leave_count > 0;
}
/* Returns true if symbols in shapes or contents may be read from it. */
static inline bool tenon__rewriter_has_handle(const tenon__rewriter_t* rewriter, uint32_t graph,
                                              uint32_t value) {
  return rewriter->graphs[graph].values[value].handle != TENON_NONE;
}

/* Creates a rewriter with a list of nodes for each of `pass_count` passes, and registers all
 * graphs, linear in nodes and their inputs. The report may be NULL. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__rewriter_create(tenon__network_t* network,
                                      const tenon__optimize_options_t* options, uint32_t pass_count,
                                      const tenon_sink_t* sink, tenon__optimize_report_t* report,
                                      tenon__rewriter_t** out_rewriter);
void tenon__rewriter_destroy(tenon__rewriter_t* rewriter);
/* Puts all live nodes of all live graphs on the list of each pass, in topological order. Branches
 * that cannot run are skipped. */
tenon_status_t tenon__rewriter_queue_all(tenon__rewriter_t* rewriter);
/* Ends a visit: frees its scratch memory and records whether it was exhausted, because functions
 * that return bool cannot report that. Returns true if memory has run out anywhere. */
bool tenon__rewriter_end_visit(tenon__rewriter_t* rewriter);
/* Returns true if memory has run out anywhere. */
bool tenon__rewriter_failed(const tenon__rewriter_t* rewriter);
/* Takes the next live node of a pass; false if there is none. Nodes are in the order of their
 * changes; a node is on a list once. */
bool tenon__rewriter_next(tenon__rewriter_t* rewriter, uint32_t pass, uint32_t* out_graph,
                          uint32_t* out_node);
/* Puts a node on all lists. Dead nodes and TENON_NONE are ignored. If memory runs out, this is
 * recorded, and the run fails after the visit. */
void tenon__rewriter_touch(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t node);
/* Returns the weights of a constant with available bytes. NULL for other values, for TENON_NONE,
 * and for weights without bytes. */
const tenon__weights_t* tenon__rewriter_constant(const tenon__rewriter_t* rewriter, uint32_t graph,
                                                 uint32_t value);

/* ---- For patches only ---- */

/* Registers values, nodes and handles that were added to the network. */
bool tenon__rewriter_take_up(tenon__rewriter_t* rewriter, uint32_t graph);
/* Also registers new graphs: bodies that code has built. */
bool tenon__rewriter_take_up_graphs(tenon__rewriter_t* rewriter);
/* link adds the node's current input `input` to the list of the value that it reads. unlink removes
 * it, before the input changes. Constant time. */
void tenon__rewriter_link(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t node,
                          uint32_t input);
void tenon__rewriter_unlink(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t node,
                            uint32_t input);
/* Makes handles of `old` in `from_graph` refer to `value` of `graph`. */
void tenon__rewriter_move_handles(tenon__rewriter_t* rewriter, uint32_t from_graph, uint32_t old,
                                  uint32_t graph, uint32_t value);
/* Puts the value's producer on the lists and, if only one node still reads the value, that node. */
void tenon__rewriter_touch_around(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t value);

#endif
