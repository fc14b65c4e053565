/*
 * The network: a typed graph in static single assignment. Node forms: operators (with their
 * resolved meaning, if declared), and the two forms that need no operator, expressions and moves.
 * Control nodes own bodies: graphs of the same network, whose captured values are explicit
 * parameters.
 *
 * Everything lies in the network's arena; ids are indices; nothing is ever renumbered. Dead nodes
 * and values stay in the tables with `alive` false. One thread at a time.
 */
#ifndef TENON_CORE_NETWORK_NETWORK_H_
#define TENON_CORE_NETWORK_NETWORK_H_

#include "core/base/arena.h"
#include "core/base/digest.h"
#include "core/base/interrupt.h"
#include "core/base/string_map.h"
#include "core/dimension/dimension.h"
#include "core/language/scope.h"
#include "core/network/present.h"
#include "core/operator/operator.h"
#include "core/program/program.h"
#include "core/tensor/index_map.h"
#include "core/tensor/type.h"

/* A constant's bytes: dense row-major. Shared by values of several graphs. Never changed once
 * added: constants share them by index, and a digest is remembered. `dims` lies in the network's
 * arena; size_bytes is that of a dense tensor of these dims, rounded up for packed types. */
typedef struct tenon__weights_t {
  const char* name;
  tenon_dtype_t dtype;
  uint32_t rank;
  const int64_t* dims;
  const void* data; /* borrowed (a mapped model; large ones perhaps not aligned) or in memory of the
                       network; strings: views */
  size_t size_bytes;
  bool owned; /* `data` was allocated from network->allocator */
  bool digest_known;
  tenon__digest_t digest; /* of dtype, dims, data; made when first asked for */
  const char*
      derivation; /* how it was made from others ("fold of ..."), NULL for the model's own */
} tenon__weights_t;

enum { TENON_VALUE_IS_INPUT = 1u << 0, TENON_VALUE_IS_OUTPUT = 1u << 1 };

/* One tensor (or container) of a graph: assigned once, by a node, or from outside: an input or
 * parameter, a constant, a state. At most one of the four. Its type's kind says whether it is a
 * container. A value that is not alive keeps its name reserved. Where a pass replaces a value,
 * `handle` moves with the meaning, so that symbols of dimensions read the new one. */
typedef struct tenon__value_node_t {
  const char* name; /* unique in its graph, readable, survives every pass */
  bool alive;
  uint32_t flags;
  tenon__type_t type;
  /* node, or TENON_NONE: input, parameter, constant, state */
  uint32_t producer;
  uint32_t producer_output;
  uint32_t weights; /* index into network->weights, or TENON_NONE */
  uint32_t state;   /* index into network->states when it reads one, or TENON_NONE */
  uint32_t handle;  /* network->handles, where symbols refer to it; TENON_NONE until one does */
} tenon__value_node_t;

/* Which meaning a node has: of an operator its own (perhaps with expression or maps), of the others
 * exactly one of `expression` and `maps`. */
typedef enum tenon__node_form_t {
  TENON_NODE_OPERATOR,
  TENON_NODE_EXPRESSION,
  TENON_NODE_MOVE,
} tenon__node_form_t;

/* What an expression node that was given as text was made from, so that it can be inferred again.
 */
typedef struct tenon__expression_source_t {
  tenon__text_t text;
  const char* const* input_names; /* one for each input of the node */
} tenon__expression_source_t;

/* Its lists lie in the network's arena. */
typedef struct tenon__node_t {
  const char* name;
  bool alive;
  uint32_t order; /* where it stands in the order, other things being equal; its id at first */
  tenon__node_form_t form;
  const tenon__operator_t* op; /* NULL for the forms without one */
  uint32_t input_count;
  uint32_t* inputs; /* values, TENON_NONE where absent */
  uint32_t output_count;
  uint32_t* outputs;        /* values, TENON_NONE where unwanted */
  uint32_t attribute_count; /* all that the operator declares, defaults applied */
  const tenon__scope_attribute_t* attributes;
  uint32_t body_count;
  const uint32_t* bodies; /* graphs */
  /* Resolved meaning. For operators with cases or moves, and for the two forms. */
  const tenon__expression_t* expression; /* NULL when none */
  const tenon__index_map_t* maps;        /* one for each output, NULL when none */
  bool contents_only; /* every output is known by its contents: the core writes the numbers */
  const tenon__expression_source_t* source; /* NULL unless it came from a text */
} tenon__node_t;

/* The main graph, or a body. Tables only grow; what is dead keeps its place, so that ids hold. */
typedef struct tenon__graph_t {
  const char* name;
  uint32_t parent; /* graph that owns it, TENON_NONE for the main one */
  uint32_t owner;  /* node of `parent` whose body it is, TENON_NONE until there is one */
  /* Of a branch: why it cannot run, and the status of the run that takes it; NULL: it can. It has
   * parameters then, and neither nodes nor results. See fault.h. */
  const char* fault;
  tenon_status_t fault_status;
  uint32_t value_count;
  size_t value_capacity;
  tenon__value_node_t* values;
  uint32_t node_count;
  size_t node_capacity;
  tenon__node_t* nodes;
  uint32_t input_count;
  size_t input_capacity;
  uint32_t* inputs;
  uint32_t output_count;
  size_t output_capacity;
  uint32_t* outputs;
  size_t output_name_capacity;
  const char** output_names; /* main graph: the application's names */
  tenon__string_map_t value_names;
  tenon__string_map_t node_names;
} tenon__graph_t;

/* What one execution leaves for the next: a tensor of known extents, and not of strings, as the
 * values are by which it is read and written. */
typedef struct tenon__state_node_t {
  const char* name;
  tenon_dtype_t dtype;
  uint32_t rank;
  const int64_t* dims;
  uint32_t initial; /* weights, or TENON_NONE: zeros */
  uint32_t read;    /* value of the main graph */
  uint32_t update;  /* value of the main graph; TENON_NONE: it stays as it is */
} tenon__state_node_t;

/* Symbols of kind CONTENT and EXTENT name a value by its handle `a`: an index into
 * network->handles, which stays true when a pass replaces the value. Handles are never given back:
 * some stand for no value. */
typedef struct tenon__value_handle_t {
  uint32_t graph;
  uint32_t value; /* TENON_NONE: of a node that failed */
  uint32_t axis;  /* EXTENT: counts instead of the symbol's `b` unless it is TENON_NONE */
} tenon__value_handle_t;

typedef struct tenon__network_t {
  tenon_allocator_t allocator;
  tenon__arena_t arena;
  tenon__dim_pool_t* pool;
  uint32_t graph_count;
  size_t graph_capacity;
  tenon__graph_t** graphs; /* [0] is the main one */
  uint32_t weights_count;
  size_t weights_capacity;
  tenon__weights_t* weights;
  uint32_t state_count;
  size_t state_capacity;
  tenon__state_node_t* states;
  uint32_t handle_count;
  size_t handle_capacity;
  tenon__value_handle_t* handles;
  uint32_t next_number; /* for names that are made */
  /* Of the build that works on it, asked by what takes long with weights; NULL otherwise. */
  tenon__interrupt_t* interrupt;
} tenon__network_t;

/* `allocator` is kept and gives all of its memory. Destroying frees weights that are owned. */
tenon_status_t tenon__network_create(tenon_allocator_t allocator, tenon__network_t** out_network);
void tenon__network_destroy(tenon__network_t* network);

/* Appending. All fail only when memory is out. */
tenon_status_t tenon__network_add_graph(tenon__network_t* network, const char* name,
                                        uint32_t parent, uint32_t* out_graph);
/* The name is made unique. */
tenon_status_t tenon__graph_add_value(tenon__network_t* network, uint32_t graph, const char* name,
                                      uint32_t* out_value);
tenon_status_t tenon__network_add_weights(tenon__network_t* network,
                                          const tenon__weights_t* weights, uint32_t* out_weights);
tenon_status_t tenon__graph_add_constant(tenon__network_t* network, uint32_t graph,
                                         const char* name, uint32_t weights, uint32_t* out_value);
/* Reads all bytes when first asked; kept, as weights do not change. */
const tenon__digest_t* tenon__weights_digest(tenon__network_t* network, uint32_t weights);
/* (add_weights adopts the data where `owned` is true.) A value becomes an input (a parameter, in a
 * body) or an output (a result). `name`: the application's, NULL: the value's own; not used in
 * bodies. */
tenon_status_t tenon__graph_add_input(tenon__network_t* network, uint32_t graph, uint32_t value);
/* The input of that name, or NULL. */
const tenon__value_node_t* tenon__graph_input(const tenon__graph_t* graph, const char* name);
tenon_status_t tenon__graph_add_output(tenon__network_t* network, uint32_t graph, uint32_t value,
                                       const char* name);
/* Is the value what a state becomes? */
bool tenon__value_is_update(const tenon__network_t* network, uint32_t graph, uint32_t value);
/* Copies the state; `read` must be a value of the main graph. INVALID_ARGUMENT when the name is
 * taken. */
tenon_status_t tenon__network_add_state(tenon__network_t* network, const tenon__state_node_t* state,
                                        const tenon_sink_t* sink, uint32_t* out_state);
/* The number of a value, given when first asked for. */
tenon_status_t tenon__value_handle(tenon__network_t* network, uint32_t graph, uint32_t value,
                                   uint32_t* out_handle);
/* The symbol of an extent that is read from a value, of its own handle. */
tenon_status_t tenon__value_extent(tenon__network_t* network, uint32_t graph, uint32_t value,
                                   uint32_t axis, tenon_dim_t* out_dim);
/* Where a CONTENT or EXTENT symbol is read: element or axis `out_index` of a value. False for other
 * kinds. */
bool tenon__symbol_source(const tenon__network_t* network, const tenon__symbol_t* symbol,
                          uint32_t* out_graph, uint32_t* out_value, uint32_t* out_index);
/* Gives a value without contents CONTENT symbols for its elements, where it is an integer or bool
 * tensor of rank 0 or 1 with a known number of elements up to TENON_CONTENT_LIMIT; else leaves it.
 */
tenon_status_t tenon__value_make_contents(tenon__network_t* network, uint32_t graph,
                                          uint32_t value);

/* The main graph, or a body of a live node. */
bool tenon__graph_alive(const tenon__network_t* network, uint32_t graph);

/* ---- For this room alone ---- */

/* `name`, or `name` with a suffix, which was not in the map before; in the network's arena. NULL
 * when memory is out. */
const char* tenon__name_unique(tenon__network_t* network, tenon__string_map_t* names,
                               const char* name);
/* The name of an item that was taken back. */
void tenon__name_release(tenon__string_map_t* names, const char* name);
/* A number for a value that may not be there yet (value TENON_NONE). */
tenon_status_t tenon__value_handle_reserve(tenon__network_t* network, uint32_t graph,
                                           uint32_t value, uint32_t axis, uint32_t* out_handle);

/* The symbol of an extent by its handle, at most `bound`; INVALID: nothing bounds it. */
tenon_dim_t tenon__handle_extent(tenon__network_t* network, uint32_t handle, uint32_t axis,
                                 tenon_dim_t bound);

/* Alive, and in no branch that cannot run. */
bool tenon__graph_can_run(const tenon__network_t* network, uint32_t graph);

#endif
