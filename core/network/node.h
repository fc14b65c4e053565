/*
 * Functions that adding, inferring again, verifying and reading of nodes share. Adding is atomic:
 * all checks precede changes of a table. (After a failure the arena may have grown, and names may
 * be in use.)
 */
#ifndef TENON_CORE_NETWORK_NODE_H_
#define TENON_CORE_NETWORK_NODE_H_

#include "core/base/status.h"
#include "core/network/inference.h"

/* One inference, with messages prefixed by operator and node. Begin it, fill in the inference, and
 * end it. */
typedef struct tenon__node_work_t {
  tenon__inference_t inference;
  tenon__arena_t scratch;
  tenon__prefix_sink_t prefixed;
} tenon__node_work_t;

tenon_status_t tenon__node_work_begin(tenon__node_work_t* out_work, tenon__network_t* network,
                                      uint32_t graph, const tenon__operator_t* op, const char* name,
                                      const tenon_sink_t* sink);
void tenon__node_work_end(tenon__node_work_t* work);
/* Fills in the inference of an existing node. */
void tenon__node_work_load(tenon__node_work_t* work, const tenon__node_t* node);

/* Makes a new node with its values from the results. `output_names` and `wanted` are as in the
 * request. */
typedef struct tenon__node_commit_t {
  const tenon__inference_t* inference;
  tenon__node_form_t form;
  const char* name; /* NULL: made */
  const char* const* output_names;
  const bool* wanted;
  uint32_t wanted_count;
  const tenon__expression_source_t* source;
} tenon__node_commit_t;
tenon_status_t tenon__node_commit(const tenon__node_commit_t* commit, uint32_t* out_node);

/* Adds an operator's node. It checks arity, attributes and types, infers shapes and contents,
 * resolves the meaning, and makes the output values. `output_names` may be NULL or contain NULL;
 * both arrays have output_count entries. An optional output is made if it is among the first
 * output_count and wanted[k] (wanted NULL: all). Other outputs are always made. output_count 0: all
 * declared outputs; one for a variadic output, the bodies' results for a control form. Returns
 * INVALID_DATA with node, operator and values, and adds nothing then. */
typedef struct tenon__node_request_t {
  const tenon__operator_t* op;
  const char* name; /* NULL: made */
  uint32_t input_count;
  const uint32_t* inputs;
  uint32_t output_count;
  const char* const* output_names;
  const bool* wanted;
  uint32_t attribute_count; /* those that are set */
  const tenon__scope_attribute_t* attributes;
  uint32_t body_count;
  const uint32_t* bodies;
} tenon__node_request_t;

tenon_status_t tenon__graph_add_node(tenon__network_t* network, uint32_t graph,
                                     const tenon__node_request_t* request, const tenon_sink_t* sink,
                                     uint32_t* out_node);

/* Infers a graph and its bodies again, nodes in order, after its parameters' types have changed. */
tenon_status_t tenon__graph_infer(tenon__network_t* network, uint32_t graph,
                                  const tenon_sink_t* sink);
const tenon__scope_attribute_t* tenon__node_attribute(const tenon__node_t* node, const char* name);
/* Returns the scope of a node, to instantiate an expression later (decompositions); in the given
 * arena. */
tenon_status_t tenon__node_scope(tenon__network_t* network, uint32_t graph, uint32_t node,
                                 tenon__arena_t* arena, tenon__scope_t* out_scope);

#endif
