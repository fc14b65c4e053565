/*
 * The network: a typed graph in static single assignment. Node forms: operators (with their
 * resolved meaning, if declared), and the two forms that need no operator, expressions and moves.
 * Control nodes own bodies: graphs of the same network, whose captured values are explicit
 * parameters.
 *
 * Everything is in the network's arena. Ids are indices and never change. Dead nodes and values
 * stay in the tables with `alive` false. One thread at a time.
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

/* A constant's bytes, contiguous and row-major. Values of several graphs share them by index. Never
 * changed after they were added, as the digest is stored. `dims` is in the network's arena.
 * size_bytes is the size of a contiguous tensor of these dims, rounded up for packed types. */
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
  tenon__digest_t digest; /* of dtype, dims, data; computed on first use */
  const char* derivation; /* its derivation from others ("fold of ..."); NULL for the model's own */
} tenon__weights_t;

enum { TENON_VALUE_IS_INPUT = 1u << 0, TENON_VALUE_IS_OUTPUT = 1u << 1 };

/* One tensor (or container) of a graph, assigned once: by a node, or as an input or parameter, a
 * constant, or a state; at most one of the four. Its type's kind is tensor or container. A dead
 * value keeps its name reserved. If a pass replaces a value, `handle` is moved to the new value, so
 * that symbols of dimensions read it. */
typedef struct tenon__value_node_t {
  const char* name; /* unique in its graph, readable, kept by all passes */
  bool alive;
  uint32_t flags;
  tenon__type_t type;
  /* node, or TENON_NONE: input, parameter, constant, state */
  uint32_t producer;
  uint32_t producer_output;
  uint32_t weights; /* index into network->weights, or TENON_NONE */
  uint32_t state;   /* index into network->states if it reads one, or TENON_NONE */
  uint32_t handle;  /* index into network->handles if symbols refer to it, or TENON_NONE */
} tenon__value_node_t;

/* The form of a node's meaning. An operator may have an expression or maps; the others have exactly
 * one of `expression` and `maps`. */
typedef enum tenon__node_form_t {
  TENON_NODE_OPERATOR,
  TENON_NODE_EXPRESSION,
  TENON_NODE_MOVE,
} tenon__node_form_t;

/* Source of an expression node that was given as text, so that it can be inferred again. */
typedef struct tenon__expression_source_t {
  tenon__text_t text;
  const char* const* input_names; /* one for each input of the node */
} tenon__expression_source_t;

/* Its lists are in the network's arena. */
typedef struct tenon__node_t {
  const char* name;
  bool alive;
  uint32_t order; /* preferred position in the order; initially its id */
  tenon__node_form_t form;
  const tenon__operator_t* op; /* NULL for the forms without one */
  uint32_t input_count;
  uint32_t* inputs; /* values; TENON_NONE: absent */
  uint32_t output_count;
  uint32_t* outputs;        /* values; TENON_NONE: unused */
  uint32_t attribute_count; /* all that the operator declares, defaults applied */
  const tenon__scope_attribute_t* attributes;
  uint32_t body_count;
  const uint32_t* bodies; /* graphs */
  /* Resolved meaning. For operators with cases or moves, and for the two forms. */
  const tenon__expression_t* expression; /* NULL when none */
  const tenon__index_map_t* maps;        /* one for each output, NULL when none */
  bool contents_only; /* all outputs are known by their contents: the core writes the numbers */
  const tenon__expression_source_t* source; /* NULL unless it was given as text */
} tenon__node_t;

/* The main graph, or a body. Tables only grow. Dead entries keep their index, so that ids stay
 * valid. */
typedef struct tenon__graph_t {
  const char* name;
  uint32_t parent; /* graph that owns it, TENON_NONE for the main one */
  uint32_t owner;  /* node of `parent` that owns the body; TENON_NONE until there is one */
  /* Of a branch: the reason why it cannot run, and the status of a run that takes it; NULL: it can.
   * It then has parameters, but neither nodes nor results. See fault.h. */
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

/* A state, which one execution passes to the next: a tensor of known extents, not of strings, with
 * the type of the values that read and update it. */
typedef struct tenon__state_node_t {
  const char* name;
  tenon_dtype_t dtype;
  uint32_t rank;
  const int64_t* dims;
  uint32_t initial; /* weights, or TENON_NONE: zeros */
  uint32_t read;    /* value of the main graph */
  uint32_t update;  /* value of the main graph; TENON_NONE: it never changes */
} tenon__state_node_t;

/* Symbols of kind CONTENT and EXTENT refer to a value by its handle `a`: an index into
 * network->handles, which stays valid when a pass replaces the value. Handles are never reused;
 * some have no value. */
typedef struct tenon__value_handle_t {
  uint32_t graph;
  uint32_t value; /* TENON_NONE: of a node that failed */
  uint32_t axis;  /* EXTENT: replaces the symbol's `b` unless it is TENON_NONE */
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
  uint32_t next_number; /* for generated names */
  /* Of the build that uses it, checked by slow operations on weights; else NULL. */
  tenon__interrupt_t* interrupt;
} tenon__network_t;

/* Keeps `allocator` and uses it for all memory. Destroying frees owned weights. */
tenon_status_t tenon__network_create(tenon_allocator_t allocator, tenon__network_t** out_network);
void tenon__network_destroy(tenon__network_t* network);

/* Functions that append. They return OUT_OF_MEMORY only. */
tenon_status_t tenon__network_add_graph(tenon__network_t* network, const char* name,
                                        uint32_t parent, uint32_t* out_graph);
/* The name is made unique. */
tenon_status_t tenon__graph_add_value(tenon__network_t* network, uint32_t graph, const char* name,
                                      uint32_t* out_value);
tenon_status_t tenon__network_add_weights(tenon__network_t* network,
                                          const tenon__weights_t* weights, uint32_t* out_weights);
tenon_status_t tenon__graph_add_constant(tenon__network_t* network, uint32_t graph,
                                         const char* name, uint32_t weights, uint32_t* out_value);
/* Reads all bytes on first use and stores the digest, because weights do not change. */
const tenon__digest_t* tenon__weights_digest(tenon__network_t* network, uint32_t weights);
/* (add_weights adopts the data if `owned` is true.) Make a value an input (in a body: a parameter)
 * or an output (a result). `name` is the application's name; NULL: the value's own; unused in
 * bodies. */
tenon_status_t tenon__graph_add_input(tenon__network_t* network, uint32_t graph, uint32_t value);
/* Returns the input of that name, or NULL. */
const tenon__value_node_t* tenon__graph_input(const tenon__graph_t* graph, const char* name);
tenon_status_t tenon__graph_add_output(tenon__network_t* network, uint32_t graph, uint32_t value,
                                       const char* name);
/* Returns true if the value is the next value of a state. */
bool tenon__value_is_update(const tenon__network_t* network, uint32_t graph, uint32_t value);
/* Copies the state; `read` must be a value of the main graph. Returns INVALID_ARGUMENT if the name
 * is in use. */
tenon_status_t tenon__network_add_state(tenon__network_t* network, const tenon__state_node_t* state,
                                        const tenon_sink_t* sink, uint32_t* out_state);
/* Returns the handle of a value, created on first use. */
tenon_status_t tenon__value_handle(tenon__network_t* network, uint32_t graph, uint32_t value,
                                   uint32_t* out_handle);
/* Returns the symbol of an extent that is read from a value, with its own handle. */
tenon_status_t tenon__value_extent(tenon__network_t* network, uint32_t graph, uint32_t value,
                                   uint32_t axis, tenon_dim_t* out_dim);
/* Returns the source of a CONTENT or EXTENT symbol: element or axis `out_index` of a value. False
 * for other kinds. */
bool tenon__symbol_source(const tenon__network_t* network, const tenon__symbol_t* symbol,
                          uint32_t* out_graph, uint32_t* out_value, uint32_t* out_index);
/* Gives a value without contents CONTENT symbols for its elements if it is an integer or bool
 * tensor of rank 0 or 1 with a known number of elements up to TENON_CONTENT_LIMIT. */
tenon_status_t tenon__value_make_contents(tenon__network_t* network, uint32_t graph,
                                          uint32_t value);

/* Returns true for the main graph and for a body of a live node. */
bool tenon__graph_alive(const tenon__network_t* network, uint32_t graph);

/* ---- For this module only ---- */

/* Returns `name`, or `name` with a suffix, that was not in the map before; in the network's arena.
 * NULL if out of memory. */
const char* tenon__name_unique(tenon__network_t* network, tenon__string_map_t* names,
                               const char* name);
/* Releases the name of a removed item. */
void tenon__name_release(tenon__string_map_t* names, const char* name);
/* Reserves a handle for a value that may not exist yet (value TENON_NONE). */
tenon_status_t tenon__value_handle_reserve(tenon__network_t* network, uint32_t graph,
                                           uint32_t value, uint32_t axis, uint32_t* out_handle);

/* Returns the symbol of an extent by its handle, at most `bound`; INVALID: no bound. */
tenon_dim_t tenon__handle_extent(tenon__network_t* network, uint32_t handle, uint32_t axis,
                                 tenon_dim_t bound);

/* Returns true if it is alive and in no branch that cannot run. */
bool tenon__graph_can_run(const tenon__network_t* network, uint32_t graph);

#endif
