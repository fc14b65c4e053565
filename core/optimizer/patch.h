/*
 * The workbench of the passes: a network with its uses, lists of nodes to look at, and patches.
 *
 * A patch is begun with a label, adds nodes and constants, redirects uses, removes nodes, and ends.
 * It may be cancelled while it has only added. Nodes that a patch touches, and their neighbours,
 * are put on every pass's list. What is added takes the place, and the value that replaces another
 * takes the name, of what it stands for.
 */
#ifndef TENON_CORE_OPTIMIZER_PATCH_H_
#define TENON_CORE_OPTIMIZER_PATCH_H_

#include "core/optimizer/optimizer.h"

enum { TENON_PASS_LIMIT = 32 };

/* One input of one node that reads a value; a list for each value. */
typedef struct tenon__use_t {
  uint32_t node;
  uint32_t input;
  uint32_t next; /* of the same value; TENON_NONE ends */
  uint32_t previous;
} tenon__use_t;

typedef struct tenon__value_bench_t {
  uint32_t first_use;
  uint32_t use_count;   /* inputs of nodes, outputs of the graph, updates of states */
  uint32_t leave_count; /* of these, outputs and updates */
  uint32_t number;      /* the newest number that leads to it; TENON_NONE: none */
} tenon__value_bench_t;

typedef struct tenon__node_bench_t {
  uint32_t first_entry; /* where the entries of its inputs begin */
  uint32_t queued;      /* bit p set while it is on the list of pass p */
} tenon__node_bench_t;

typedef struct tenon__graph_bench_t {
  uint32_t value_count; /* those that are taken up */
  size_t value_capacity;
  tenon__value_bench_t* values;
  uint32_t node_count;
  size_t node_capacity;
  tenon__node_bench_t* nodes;
} tenon__graph_bench_t;

/* Nodes that a pass is to look at: a queue of (graph, node). */
typedef struct tenon__pass_queue_t {
  uint64_t* items;
  size_t capacity;
  size_t first;
  size_t count;
} tenon__pass_queue_t;

typedef struct tenon__bench_t {
  tenon__network_t* network;
  const tenon__optimize_options_t* options;
  const tenon_sink_t* sink;
  tenon__optimize_report_t* report;
  tenon__arena_t arena; /* lives as long as the bench */
  uint32_t graph_count;
  size_t graph_capacity;
  tenon__graph_bench_t* graphs;
  size_t use_count;
  size_t use_capacity;
  tenon__use_t* uses;
  uint32_t number_count; /* those that are linked */
  size_t number_capacity;
  uint32_t* number_next;
  uint32_t pass_count;
  tenon__pass_queue_t queues[TENON_PASS_LIMIT];
  /* The patch under way. */
  const char* label;
  uint32_t patch_graph;
  uint32_t patch_place;
  const char* patch_node;
  uint32_t first_new_node;
  uint32_t first_new_value;
  uint32_t patch_count;
  bool is_open;
  bool is_out_of_memory;
  const tenon_sink_t* explain;        /* why what a patch adds cannot be added; NULL: nobody asks */
  void* equals;                       /* merge_equal's table */
  struct tenon__rewrites_t* rewrites; /* parsed; in the arena */
} tenon__bench_t;

tenon_status_t tenon__bench_create(tenon__network_t* network,
                                   const tenon__optimize_options_t* options,
                                   const tenon_sink_t* sink, tenon__optimize_report_t* report,
                                   tenon__bench_t** out_bench);
void tenon__bench_destroy(tenon__bench_t* bench);
/* Puts every live node of every live graph on the list of each pass, in topological order. */
tenon_status_t tenon__bench_queue_all(tenon__bench_t* bench);
/* Frees a pass's scratch memory, noting whether it ran out: questions that say yes or no do not
 * tell. */
void tenon__bench_release(tenon__bench_t* bench, tenon__arena_t* scratch);
/* Did memory run out, wherever that was noted? */
bool tenon__bench_failed(const tenon__bench_t* bench);
/* The next node of a pass that is still alive; false when there is none. */
bool tenon__bench_next(tenon__bench_t* bench, uint32_t pass, uint32_t* out_graph,
                       uint32_t* out_node);
/* Puts a node on all lists. */
void tenon__bench_touch(tenon__bench_t* bench, uint32_t graph, uint32_t node);

static inline tenon__graph_t* tenon__bench_graph(const tenon__bench_t* bench, uint32_t graph) {
  return bench->network->graphs[graph];
}
static inline tenon__node_t* tenon__bench_node(const tenon__bench_t* bench, uint32_t graph,
                                               uint32_t node) {
  return &bench->network->graphs[graph]->nodes[node];
}
static inline tenon__value_node_t* tenon__bench_value(const tenon__bench_t* bench, uint32_t graph,
                                                      uint32_t value) {
  return &bench->network->graphs[graph]->values[value];
}
/* How often a value is read: by nodes, as output of its graph, by states. */
static inline uint32_t tenon__bench_use_count(const tenon__bench_t* bench, uint32_t graph,
                                              uint32_t value) {
  return bench->graphs[graph].values[value].use_count;
}
/* The first of the uses by nodes; the others follow by `next`. */
static inline uint32_t tenon__bench_first_use(const tenon__bench_t* bench, uint32_t graph,
                                              uint32_t value) {
  return bench->graphs[graph].values[value].first_use;
}
static inline const tenon__use_t* tenon__bench_use(const tenon__bench_t* bench, uint32_t use) {
  return &bench->uses[use];
}
/* True when the value is an output of its graph or what a state becomes. */
static inline bool tenon__bench_leaves(const tenon__bench_t* bench, uint32_t graph,
                                       uint32_t value) {
  return bench->graphs[graph].values[value].leave_count > 0;
}
/* True when symbols in shapes or contents may be read from it. */
static inline bool tenon__bench_has_number(const tenon__bench_t* bench, uint32_t graph,
                                           uint32_t value) {
  return bench->graphs[graph].values[value].number != TENON_NONE;
}
/* A constant with its bytes here. */
const tenon__weights_t* tenon__bench_constant(const tenon__bench_t* bench, uint32_t graph,
                                              uint32_t value);

/* Patches. `about`: the node that it is about, whose place new nodes take. False when the limit of
 * patches was reached: then nothing may be changed. */
bool tenon__patch_begin(tenon__bench_t* bench, const char* label, uint32_t graph, uint32_t about);
/* Adding, as in network.h, into the graph of the patch. Failures other than of memory are silent.
 */
tenon_status_t tenon__patch_add_node(tenon__bench_t* bench, const tenon__node_request_t* request,
                                     uint32_t* out_node);
tenon_status_t tenon__patch_add_move(tenon__bench_t* bench, const char* name,
                                     const uint32_t* inputs, uint32_t input_count,
                                     const tenon__index_map_t* map, tenon_dtype_t dtype,
                                     uint32_t* out_node);
tenon_status_t tenon__patch_add_expression(tenon__bench_t* bench, const char* name,
                                           const uint32_t* inputs, uint32_t input_count,
                                           const tenon__expression_t* expression,
                                           const tenon__inferred_shape_t* shapes,
                                           uint32_t* out_node);
tenon_status_t tenon__patch_add_text(tenon__bench_t* bench, const char* name, const char* text,
                                     const char* const* input_names, const uint32_t* inputs,
                                     uint32_t input_count, uint32_t* out_node);
/* Adopts weights->data when it is owned. */
tenon_status_t tenon__patch_add_constant(tenon__bench_t* bench, const tenon__weights_t* weights,
                                         uint32_t* out_value);
/* Another value for weights that are there. */
tenon_status_t tenon__patch_add_value_of(tenon__bench_t* bench, const char* name, uint32_t weights,
                                         uint32_t* out_value);
/* May `value` stand for `old`: the same kind, element type and rank, and no extent known to differ?
 */
bool tenon__patch_fits(const tenon__bench_t* bench, uint32_t graph, uint32_t old, uint32_t value);
/* All that read `old`, inside and out, read `value`: types must be the same. Symbols read from it
 * as well. A value that this patch made takes the old one's name. */
void tenon__patch_replace(tenon__bench_t* bench, uint32_t old, uint32_t value);
/* Nodes that read `old` read `value`; what leaves the graph stays. */
void tenon__patch_redirect(tenon__bench_t* bench, uint32_t old, uint32_t value);
/* The names of two nodes change places: what stands for another keeps its name. */
void tenon__patch_swap_names(tenon__bench_t* bench, uint32_t node, uint32_t other);
/* The node and its attributes that are set, added again with other inputs; outputs as wanted
 * before. */
tenon_status_t tenon__patch_add_like(tenon__bench_t* bench, uint32_t node, const uint32_t* inputs,
                                     uint32_t input_count, tenon__arena_t* arena,
                                     uint32_t* out_node);
/* What code added to the network itself, through a builder, is taken up. */
tenon_status_t tenon__patch_take_up(tenon__bench_t* bench);
/* The node and its outputs, which nobody reads. Its bodies die with it. */
void tenon__patch_remove(tenon__bench_t* bench, uint32_t node);
/* An optional output that nobody reads is no longer made. */
void tenon__patch_drop_output(tenon__bench_t* bench, uint32_t node, uint32_t output);
/* A captured value of a control node whose bodies do not read it is no longer passed: input `input`
 * of the node and parameter `parameter` of each body go. */
void tenon__patch_drop_captured(tenon__bench_t* bench, uint32_t node, uint32_t input,
                                uint32_t parameter);
/* Another graph's value becomes this graph's value `value`: symbols that were read there are read
 * here. */
void tenon__patch_take_numbers(tenon__bench_t* bench, uint32_t from_graph, uint32_t from,
                               uint32_t value);
/* A value that is not an input, constant, state or another output, so that it may become an output:
 * `value` itself, or a copy of it. UNSUPPORTED when its type cannot be copied. */
tenon_status_t tenon__patch_output_of(tenon__bench_t* bench, uint32_t value, uint32_t* out_value);
/* Records it; verifies the network if the options say so. CANCELLED when the caller asked to stop.
 */
tenon_status_t tenon__patch_end(tenon__bench_t* bench);
/* Takes back what was added. */
void tenon__patch_cancel(tenon__bench_t* bench);

#endif
