/* Nodes and bodies, for the source-node table and for the converters of control forms. */
#ifndef TENON_PARSER_ONNX_CONVERT_H_
#define TENON_PARSER_ONNX_CONVERT_H_

#include "source.h"

/* The nodes of the scope's block, in order. */
tenon_status_t tenon__onnx_convert_nodes(tenon__onnx_program_t* program,
                                         tenon__onnx_scope_t* scope);
/* From one on; constants have been bound. */
tenon_status_t tenon__onnx_convert_nodes_from(tenon__onnx_program_t* program,
                                              tenon__onnx_scope_t* scope, size_t position);

/* The rest is body.c. What all subgraphs of a node capture, in the order of the last parameters of
 * bodies. */
typedef struct tenon__onnx_captures_t {
  const char** names;
  tenon_value_t* values;
  uint32_t count;
} tenon__onnx_captures_t;

tenon_status_t tenon__onnx_find_captures(const tenon_source_t* source,
                                         tenon__onnx_captures_t* out_captures);

typedef enum tenon__onnx_body_form_t {
  TENON__ONNX_BODY_PLAIN,
  TENON__ONNX_BODY_LOOP, /* parameters 0 and 1 are iteration and condition, result 0 the condition:
                            scalars */
  TENON__ONNX_BODY_SCAN  /* likewise, but the subgraph has none of them: they are added */
} tenon__onnx_body_form_t;

/* What follows a node in its block, with which the subgraph is to go on: see branch.h. */
struct tenon__onnx_rest_t;

/* What a subgraph becomes. `parameter_types`: one for each input of the subgraph, id 0 (or NULL):
 * as the file declares. Values that a loop carries may change their extents from pass to pass:
 * input `carried_input + i` and output `carried_output + i` are made of one type, for i in [0,
 * carried_count); extents in which they differ are left open. With `fault`, a body that cannot run,
 * for these reasons and with that status. */
typedef struct tenon__onnx_body_request_t {
  const char* attribute;
  tenon__onnx_body_form_t form;
  const tenon_value_t* parameter_types;
  uint32_t parameter_type_count;
  uint32_t carried_input;
  uint32_t carried_output;
  uint32_t carried_count;
  const struct tenon__onnx_rest_t* rest; /* NULL: the subgraph alone */
  const char* fault;
  tenon_status_t fault_status;
} tenon__onnx_body_request_t;

typedef struct tenon__onnx_body_t {
  uint32_t body;
  tenon__onnx_captures_t captures;
  const tenon_value_t* results; /* to look at their types */
  uint32_t result_count;
} tenon__onnx_body_t;

tenon_status_t tenon__onnx_convert_body(const tenon_source_t* source,
                                        const tenon__onnx_body_request_t* request,
                                        tenon__onnx_body_t* out_body);

/* A subgraph's nodes in the graph that is being built, perhaps a body: `inputs` stand for its
 * inputs, `captured` (one for each of `captures`) for what it captures. */
typedef struct tenon__onnx_inlining_t {
  const char* attribute;
  const tenon_value_t* inputs;
  uint32_t input_count;
  uint32_t result_count;
  const tenon__onnx_captures_t* captures;
  const tenon_value_t* captured;
} tenon__onnx_inlining_t;

tenon_status_t tenon__onnx_inline_body(const tenon_source_t* source,
                                       const tenon__onnx_inlining_t* inlining,
                                       tenon_value_t* out_results);
/* NULL (and a message) when the attribute is no graph. */
const Onnx__GraphProto* tenon__onnx_body_graph(const tenon_source_t* source, const char* attribute);

#endif
