/*
 * Nodes and bodies, for the source-node table and for the converters of control forms. A subgraph
 * of a node (attribute of kind GRAPH) either becomes a body, a graph of its own that a control form
 * calls, or is inlined into the graph that is being built. convert.c walks nodes, body.c makes the
 * rest of what is declared here.
 */
#ifndef TENON_PARSER_ONNX_CONVERT_H_
#define TENON_PARSER_ONNX_CONVERT_H_

#include "source.h"

/* Converts all nodes of the scope's block, in the block's order, into the graph that is being
 * built. Inputs and captured values must have been bound. Constant nodes are bound first,
 * wherever they stand: they read nothing, and a converter that looks ahead finds them. Calls of
 * functions are expanded in place, their nodes named by the call's prefix. Fails as the first
 * node does, which has said why; more than TENON__ONNX_NODE_LIMIT nodes are UNSUPPORTED. */
tenon_status_t tenon__onnx_convert_nodes(tenon__onnx_program_t* program,
                                         tenon__onnx_scope_t* scope);
/* Likewise from `position` (an index into the block's order) on, without binding constants
 * again. Both stop early, with TENON_OK, when a node took in what follows it (scope->is_done). */
tenon_status_t tenon__onnx_convert_nodes_from(tenon__onnx_program_t* program,
                                              tenon__onnx_scope_t* scope, size_t position);

/* What all subgraphs of one node read of the graphs around them: the union, each name once, in
 * the order of the last parameters of every body of the node, so that branches agree. Literals
 * are not in it (each body has a constant of its own over the same bytes, which a kernel inside
 * can pack), nor what a function's caller left out. `names` and `values` have `count` entries
 * and live until the parse ends; values are those of the graph around. */
typedef struct tenon__onnx_captures_t {
  const char** names;
  tenon_value_t* values;
  uint32_t count;
} tenon__onnx_captures_t;

/* The names must have values by now: the block's order sees to that. */
tenon_status_t tenon__onnx_find_captures(const tenon_source_t* source,
                                         tenon__onnx_captures_t* out_captures);

/* How the parameters of a body that the contract calls relate to the inputs that its subgraph
 * has. */
typedef enum tenon__onnx_body_form_t {
  /* The subgraph's inputs, then the captured values: an If's branch, and whatever a strange
   * converter asks for. */
  TENON__ONNX_BODY_PLAIN,
  /* Loop: inputs 0 and 1 are the iteration (i64) and the condition (bool), output 0 the
   * condition. The contract has scalars there; a subgraph that declares vectors of one element
   * gets a reshape. */
  TENON__ONNX_BODY_LOOP,
  /* Scan: the subgraph has neither, the contract wants them: two parameters are put in front,
   * and the condition that comes in is result 0. */
  TENON__ONNX_BODY_SCAN
} tenon__onnx_body_form_t;

/* What follows a node in its block, with which the subgraph is to go on: see branch.h and
 * rest.h. */
struct tenon__onnx_rest_t;

/*
 * What a subgraph becomes. INVALID_DATA is what follows when the numbers below do not fit the
 * subgraph's inputs and outputs.
 *
 * Values that a loop carries may change their extents from pass to pass: input `carried_input +
 * i` and output `carried_output + i` are made of one type, for i in [0, carried_count). The body
 * is built with the initial value's extents; those in which parameter and result then differ are
 * left open (-1) and the body is built again, until they agree. An extent is opened once at
 * most, so it ends.
 */
typedef struct tenon__onnx_body_request_t {
  /* The name of the node's attribute that holds the subgraph. */
  const char* attribute;
  tenon__onnx_body_form_t form;
  /* One for each input of the subgraph (of a LOOP, entries 0 and 1 are not read). The parameter
   * gets the type of that value, known contents included unless a loop carries it. NULL, or id 0
   * in an entry: as the file declares the input, which then needs a rank. */
  const tenon_value_t* parameter_types;
  uint32_t parameter_type_count;
  uint32_t carried_input;
  uint32_t carried_output;
  uint32_t carried_count;
  /* NULL: the subgraph alone. Otherwise its results are the rest's. */
  const struct tenon__onnx_rest_t* rest;
  /* With it, nothing of the subgraph is built but its parameters: the body is one that cannot
   * run, for this reason, and with fault_status, which must be a failure. NULL otherwise. */
  const char* fault;
  tenon_status_t fault_status;
} tenon__onnx_body_request_t;

/* A body that has been ended. `results` are its values, to look at their types, without a scan's
 * condition; with a `fault` NULL and 0. `captures` include those of the rest, behind the
 * subgraph's own. */
typedef struct tenon__onnx_body_t {
  uint32_t body;
  tenon__onnx_captures_t captures;
  const tenon_value_t* results; /* to look at their types */
  uint32_t result_count;
  const bool*
      is_wrapped; /* of each carried value: begins as an optional, goes on as what it holds */
} tenon__onnx_body_t;

/* On failure, which has been told, *out_body is not to be read. A body that failed while it was
 * built has been cancelled, so the graph around it goes on as before. */
tenon_status_t tenon__onnx_convert_body(const tenon_source_t* source,
                                        const tenon__onnx_body_request_t* request,
                                        tenon__onnx_body_t* out_body);

/* A subgraph's nodes in the graph that is being built, perhaps a body: `inputs` stand for its
 * inputs (their number must be the subgraph's), `captured`, one for each of `captures`, for what
 * it reads from around. An input hides a captured value of the same name. Of its outputs the
 * first `result_count` are wanted. */
typedef struct tenon__onnx_inlining_t {
  const char* attribute;
  const tenon_value_t* inputs;
  uint32_t input_count;
  uint32_t result_count;
  const tenon__onnx_captures_t* captures;
  const tenon_value_t* captured;
} tenon__onnx_inlining_t;

/* Writes result_count values to out_results; on failure perhaps some of them. Their names are
 * the subgraph's, where the values have none yet. INVALID_DATA, told with both numbers, when
 * inputs or outputs do not fit. */
tenon_status_t tenon__onnx_inline_body(const tenon_source_t* source,
                                       const tenon__onnx_inlining_t* inlining,
                                       tenon_value_t* out_results);
/* NULL, and a message that names node and attribute, when it is absent or no graph. */
const Onnx__GraphProto* tenon__onnx_body_graph(const tenon_source_t* source, const char* attribute);

#endif
