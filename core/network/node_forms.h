/* Adding nodes that need no operator: expressions and moves. */
#ifndef TENON_CORE_NETWORK_NODE_FORMS_H_
#define TENON_CORE_NETWORK_NODE_FORMS_H_

#include "core/network/infer.h"
#include "core/network/network.h"

/* Nodes without an operator. Operand and source indices refer to `inputs`. */
typedef struct tenon__form_request_t {
  const char* name; /* NULL: made */
  const uint32_t* inputs;
  uint32_t input_count;
} tenon__form_request_t;

tenon_status_t tenon__graph_add_expression(tenon__network_t* network, uint32_t graph,
                                           const tenon__form_request_t* request,
                                           const tenon__expression_t* expression,
                                           const tenon__inferred_shape_t* shapes,
                                           const tenon_sink_t* sink, uint32_t* out_node);
/* From a text, "y = max(a, 0) * b", with names for the inputs; one output. */
tenon_status_t tenon__graph_add_expression_text(tenon__network_t* network, uint32_t graph,
                                                const tenon__form_request_t* request,
                                                const char* text, const char* const* input_names,
                                                const tenon_sink_t* sink, uint32_t* out_node);
tenon_status_t tenon__graph_add_move(tenon__network_t* network, uint32_t graph,
                                     const tenon__form_request_t* request,
                                     const tenon__index_map_t* map, tenon_dtype_t dtype,
                                     const tenon_sink_t* sink, uint32_t* out_node);

/* Instantiates a text for named inputs: types, shape and expression of its one output. */
tenon_status_t tenon__infer_text(tenon__inference_t* inference,
                                 const tenon__expression_source_t* source);

#endif
