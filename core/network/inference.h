/*
 * The state of one node's inference: its arguments, the results of binding, and the resulting
 * types, shapes, contents and meaning. Adding a node, inferring a graph again and verifying fill it
 * in (node.h), and each of the files infer*.c does one step with it.
 *
 * A node is not in the network's tables until it is committed. Its data are in the network's arena,
 * and temporary data in `scratch`. One thread, as for the network.
 */
#ifndef TENON_CORE_NETWORK_INFERENCE_H_
#define TENON_CORE_NETWORK_INFERENCE_H_

#include "core/dimension/shape.h"
#include "core/network/network.h"

/* The result for one output item. Dimensions and contents are in the network's arena already, so a
 * commit copies only the structure. */
typedef struct tenon__inferred_value_t {
  tenon__type_t type;
  /* Handle by which symbols of its extents refer to the value; TENON_NONE: none yet. */
  uint32_t handle;
} tenon__inferred_value_t;

/* Returns the symbol that verification uses for all new extents that cannot be looked up: those of
 * unused outputs, and of values of unknown rank. */
tenon_dim_t tenon__infer_verified_extent(tenon__dim_pool_t* pool);

/* A handle for an extent whose value does not exist yet. A commit sets the value. If the node
 * fails, the handle stays without a value and is not read. */
typedef struct tenon__pending_handle_t {
  uint32_t handle;
  uint32_t output; /* item; TENON_NONE: not known yet */
  tenon_dim_t dim;
} tenon__pending_handle_t;

/* It has 3 parts: arguments of the caller, results of tenon__infer_bind, and final results.
 * `inputs` are values of `graph`; TENON_NONE: absent. Lists are borrowed until the inference
 * ends. */
typedef struct tenon__inference_t {
  /* Given. */
  tenon__network_t* network;
  uint32_t graph;
  const tenon__operator_t* op; /* NULL: the forms without one */
  const char* name;
  const tenon_sink_t* sink; /* adds operator and node to each message */
  /* Infers a body again after its parameters' types have changed. The caller provides it, because
   * bodies consist of nodes. */
  tenon_status_t (*infer_graph)(tenon__network_t* network, uint32_t graph,
                                const tenon_sink_t* sink);
  tenon__arena_t* scratch;
  uint32_t input_count;
  const uint32_t* inputs;
  uint32_t attribute_count;
  const tenon__scope_attribute_t* attributes; /* all, in the operator's order */
  uint32_t body_count;
  const uint32_t* bodies;
  uint32_t output_count; /* items; a variadic port has several */
  /* The existing node, during verification: data-dependent extents are then its own. */
  const tenon__node_t* existing;
  /* Results of binding. */
  tenon__scope_t scope;
  tenon__scope_value_t* input_values;  /* one for each input */
  tenon__scope_value_t* output_values; /* one for each output item; the scope's ports point here */
  /* Results, in the network's arena except `outputs` itself. */
  tenon__inferred_value_t* outputs;
  tenon__pending_handle_t* pending;
  uint32_t pending_count;
  uint32_t pending_capacity;
  const tenon__expression_t* expression;
  const tenon__index_map_t* maps;
  bool contents_only;
  bool failed; /* out of memory in a callback */
} tenon__inference_t;

/* Records that `handle` belongs to a value of output item `output`. Returns false if out of
 * memory. */
bool tenon__infer_pend(tenon__inference_t* inference, uint32_t handle, uint32_t output,
                       tenon_dim_t dim);
/* Returns a new extent of output item `output`, at most `bound`: a tenon__fresh_t with the
 * inference as user. During verification it is the value's existing extent. Returns INVALID if out
 * of memory (`failed` is set) or the output is absent. */
tenon_dim_t tenon__infer_fresh(void* inference, uint32_t output, uint32_t axis, tenon_dim_t bound);
/* Sets an output's shape (copied to the network's arena) and its scope value. An extent that may be
 * negative adds a shape constraint for the run, if the pool collects them. Returns INVALID_DATA for
 * an extent that is certainly negative or overflows, or if the number of elements exceeds an
 * int64_t; UNSUPPORTED beyond TENON_RANK_LIMIT. */
tenon_status_t tenon__infer_set_shape(tenon__inference_t* inference, uint32_t output,
                                      const tenon__inferred_shape_t* shape);
/* Computes the contents of an expression's output from the inputs' contents; leaves *inout_type
 * unchanged if they are unknown. Thus an index that a few nodes compute (a shape, a product of
 * extents) reaches the operator that reads it. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__infer_expression_contents(tenon__inference_t* inference,
                                                const tenon__expression_t* expression,
                                                uint32_t output, tenon__type_t* inout_type);
/* Same for a move. */
tenon_status_t tenon__infer_move_contents(tenon__inference_t* inference,
                                          const tenon__index_map_t* map, tenon__type_t* inout_type);
/* Returns true if the tensor has few enough elements for its contents to be tracked. */
bool tenon__type_is_followed(const tenon__network_t* network, const tenon__type_t* type);

#endif
