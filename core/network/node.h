/* Making and re-making nodes: what adding, inferring again and reading share. */
#ifndef TENON_CORE_NETWORK_NODE_H_
#define TENON_CORE_NETWORK_NODE_H_

#include "core/base/status.h"
#include "core/network/infer.h"

/* What infers one node, its messages prefixed by operator and node. Begin; fill in the inference;
 * end. */
typedef struct tenon__node_work_t {
  tenon__inference_t inference;
  tenon__arena_t scratch;
  tenon__prefix_sink_t prefixed;
} tenon__node_work_t;

tenon_status_t tenon__node_work_begin(tenon__node_work_t* out_work, tenon__network_t* network,
                                      uint32_t graph, const tenon__operator_t* op, const char* name,
                                      const tenon_sink_t* sink);
void tenon__node_work_end(tenon__node_work_t* work);
/* The inference of a node that is there. */
void tenon__node_work_load(tenon__node_work_t* work, const tenon__node_t* node);
/* How many output items the bodies of a control node give; reports what does not fit. */
tenon_status_t tenon__control_output_count(const tenon__inference_t* inference,
                                           uint32_t* out_count);

/* Results become a new node with its values. `output_names`, `wanted`: as in the request. */
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

/* Instantiates a text for named inputs: types, shape and expression of its one output. */
tenon_status_t tenon__infer_text(tenon__inference_t* inference,
                                 const tenon__expression_source_t* source);

#endif
