/*
 * The inference of one node in the making: what it is given, what binding makes of that, and the
 * types, shapes, contents and meaning that come out. Whoever adds a node, infers a graph again or
 * verifies one fills it in (node.h), and the files infer*.c each do one thing with it.
 *
 * Until a node is committed nothing of it is in the network's tables. What it points at lies in the
 * network's arena; what is only of use meanwhile lies in `scratch`. One thread, as the network.
 */
#ifndef TENON_CORE_NETWORK_INFERENCE_H_
#define TENON_CORE_NETWORK_INFERENCE_H_

#include "core/dimension/shape.h"
#include "core/network/network.h"

/* What comes out for one output item. Dimensions and contents lie in the network's arena already,
 * so committing it copies the struct alone. */
typedef struct tenon__inferred_value_t {
  tenon__type_t type;
  /* By which symbols of its extents name the value; TENON_NONE: none yet. */
  uint32_t handle;
} tenon__inferred_value_t;

/* While verifying, one symbol stands for all new extents that cannot be looked up: those of outputs
 * that nobody wants, and of values whose rank is not known. */
tenon_dim_t tenon__infer_verified_extent(tenon__dim_pool_t* pool);

/* A number given to an extent before the value that it is read from is there. Committing fills in
 * the value; of a node that fails the handle stays without one, which nobody reads. */
typedef struct tenon__pending_handle_t {
  uint32_t handle;
  uint32_t output; /* item; TENON_NONE: not known yet */
  tenon_dim_t dim;
} tenon__pending_handle_t;

/* In three parts: given by whoever begins, made by tenon__infer_bind, and results. `inputs` are
 * values of `graph`, TENON_NONE where absent; lists are borrowed until the inference ends. */
typedef struct tenon__inference_t {
  /* Given. */
  tenon__network_t* network;
  uint32_t graph;
  const tenon__operator_t* op; /* NULL: the forms without one */
  const char* name;
  const tenon_sink_t* sink; /* puts operator and node before each message */
  /* Infers a body again, whose parameters' types changed: as bodies are graphs of nodes, whoever
   * infers nodes gives the way to do it. */
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
  /* The node when it is there already (verifying): extents that only the run knows are then its
   * own. */
  const tenon__node_t* existing;
  /* Made by bind. */
  tenon__scope_t scope;
  tenon__scope_value_t* input_values;  /* one for each input */
  tenon__scope_value_t* output_values; /* one for each output item; the scope's ports point here */
  /* Results, in the network's arena but for `outputs` itself. */
  tenon__inferred_value_t* outputs;
  tenon__pending_handle_t* pending;
  uint32_t pending_count;
  uint32_t pending_capacity;
  const tenon__expression_t* expression;
  const tenon__index_map_t* maps;
  bool contents_only;
  bool failed; /* memory ran out in a callback */
} tenon__inference_t;

/* Notes that `number` belongs to a value of output item `output`. False when memory is out. */
bool tenon__infer_pend(tenon__inference_t* inference, uint32_t handle, uint32_t output,
                       tenon_dim_t dim);
/* A new extent of output item `output`, at most `bound`: a tenon__fresh_t whose user is the
 * inference. INVALID when memory is out (`failed` is set) or the output is not there. While
 * verifying it is the extent that the value has already. */
tenon_dim_t tenon__infer_fresh(void* inference, uint32_t output, uint32_t axis, tenon_dim_t bound);
/* Sets an output's shape (copied to the network's arena) and its scope value. INVALID_DATA for an
 * extent that is negative for certain or overflows, or for more elements than an int64_t counts;
 * UNSUPPORTED beyond TENON_RANK_LIMIT. What may be negative becomes a requirement of the run, where
 * the pool collects them. */
tenon_status_t tenon__infer_set_shape(tenon__inference_t* inference, uint32_t output,
                                      const tenon__inferred_shape_t* shape);
/* Contents of an expression's output from the inputs' contents; leaves *inout alone where they are
 * unknown. That is how an index computed by a few nodes (a shape, a product of extents) reaches the
 * operator that reads it. OUT_OF_MEMORY only. */
tenon_status_t tenon__infer_expression_contents(tenon__inference_t* inference,
                                                const tenon__expression_t* expression,
                                                uint32_t output, tenon__type_t* inout_type);
/* Likewise through a move. */
tenon_status_t tenon__infer_move_contents(tenon__inference_t* inference,
                                          const tenon__index_map_t* map, tenon__type_t* inout_type);
/* Has the tensor so few elements that they are followed? */
bool tenon__type_is_followed(const tenon__network_t* network, const tenon__type_t* type);

#endif
