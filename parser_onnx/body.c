/* Subgraphs as bodies. A body takes as its last parameters what all bodies of its node capture, so
 * that the branches of one node agree. Constants are not captured: each body has its own, over the
 * same bytes. */
#include <string.h>

#include "rest.h"
#include "scope.h"
#include "types.h"

/* A body on its way. */
typedef struct body_t {
  const tenon_source_t* source;
  tenon_reader_t* reader;
  const tenon__onnx_body_request_t* request;
  const Onnx__GraphProto* graph;
  uint32_t own_count; /* of the captures, those of the node's subgraphs; the rest's follow */
  tenon__onnx_captures_t captures;
  int64_t** open_dims; /* of each carried value: NULL, or its extents, -1 where they vary */
  bool* is_wrapped;    /* likewise: its result is what the parameter, an optional, holds */
  tenon_value_t* results;
  uint32_t result_count;
} body_t;

static tenon__onnx_block_t* block_of(const tenon_source_t* source, size_t attribute) {
  const Onnx__GraphProto* graph = source->attributes[attribute]->g;
  return graph == NULL ? NULL : tenon__onnx_program_block(source->program, graph);
}

tenon_status_t tenon__onnx_find_captures(const tenon_source_t* source,
                                         tenon__onnx_captures_t* out_captures) {
  tenon__onnx_program_t* program = source->program;
  tenon__onnx_captures_t captures = {0};
  tenon_reader_names_t seen = {0};
  size_t limit = 0;
  for (size_t i = 0; i < source->attribute_count; ++i) {
    const tenon__onnx_block_t* block = block_of(source, i);
    limit += block == NULL ? 0 : block->capture_count;
  }
  captures.names = tenon_reader_allocate(program->reader, limit, sizeof(char*));
  captures.values = tenon_reader_allocate(program->reader, limit, sizeof(*captures.values));
  if (captures.names == NULL || captures.values == NULL) {
    return tenon_reader_fail_memory(program->reader);
  }
  for (size_t i = 0; i < source->attribute_count; ++i) {
    const tenon__onnx_block_t* block = block_of(source, i);
    const size_t count = block == NULL ? 0 : block->capture_count;
    for (size_t k = 0; k < count; ++k) {
      const char* name = block->captures[k].name;
      const tenon__onnx_binding_t* binding = tenon__onnx_scope_binding(source->scope, name);
      const bool is_absent = binding != NULL && binding->is_built && binding->value.id == 0;
      const bool is_constant = binding != NULL && binding->is_literal;
      if (is_absent || is_constant || tenon_reader_names_find(&seen, name) != NULL) {
        continue;
      }
      TENON_READER_TRY(tenon_reader_names_set(program->reader, &seen, name, program));
      captures.names[captures.count] = name;
      TENON_READER_TRY(
          tenon__onnx_scope_find(program, source->scope, name, &captures.values[captures.count]));
      ++captures.count;
    }
  }
  *out_captures = captures;
  return TENON_OK;
}

const Onnx__GraphProto* tenon__onnx_body_graph(const tenon_source_t* source,
                                               const char* attribute) {
  const Onnx__AttributeProto* found = tenon__onnx_source_attribute(source, attribute);
  if (found == NULL || found->g == NULL) {
    tenon_reader_t* reader = source->program->reader;
    (void)TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA, "%s lacks the graph '%s'",
                            tenon__onnx_node_text(reader, source->node), attribute);
    return NULL;
  }
  return found->g;
}

/* Binds a value that has its name in the network. */
static tenon_status_t bind_named(tenon__onnx_program_t* program, tenon__onnx_scope_t* scope,
                                 const char* name, tenon_value_t value) {
  TENON_READER_TRY(tenon__onnx_scope_mark_named(program, scope, value));
  return tenon__onnx_scope_bind(program, scope, name, value);
}

static tenon_status_t check_inlining(const tenon_source_t* source, const Onnx__GraphProto* graph,
                                     const tenon__onnx_inlining_t* inlining) {
  if (graph->n_input == inlining->input_count && graph->n_output >= inlining->result_count) {
    return TENON_OK;
  }
  return TENON_READER_FAIL(
      source->program->reader, TENON_ERROR_INVALID_DATA,
      "%s: its graph '%s' takes %zu inputs and gives %zu outputs, the node has %u and "
      "%u",
      tenon__onnx_node_text(source->program->reader, source->node), inlining->attribute,
      graph->n_input, graph->n_output, inlining->input_count, inlining->result_count);
}

tenon_status_t tenon__onnx_inline_body(const tenon_source_t* source,
                                       const tenon__onnx_inlining_t* inlining,
                                       tenon_value_t* out_results) {
  tenon__onnx_program_t* program = source->program;
  const Onnx__GraphProto* graph = tenon__onnx_body_graph(source, inlining->attribute);
  tenon__onnx_scope_t* scope = tenon_reader_allocate(program->reader, 1, sizeof(*scope));
  tenon__onnx_target_t* target = tenon_reader_allocate(program->reader, 1, sizeof(*target));
  if (scope == NULL || target == NULL) {
    return tenon_reader_fail_memory(program->reader);
  }
  if (graph == NULL) {
    return TENON_ERROR_INVALID_DATA;
  }
  TENON_READER_TRY(check_inlining(source, graph, inlining));
  scope->outer = source->scope;
  scope->frame = source->scope->frame;
  scope->target = target;
  scope->block = tenon__onnx_program_block(program, graph);
  const tenon__onnx_captures_t* captures = inlining->captures;
  for (uint32_t i = 0; i < captures->count; ++i) {
    TENON_READER_TRY(bind_named(program, scope, captures->names[i], inlining->captured[i]));
  }
  TENON_READER_TRY(tenon__onnx_scope_bind_initialisers(program, scope));
  for (uint32_t i = 0; i < inlining->input_count; ++i) { /* these hide captured values */
    TENON_READER_TRY(
        bind_named(program, scope, tenon__onnx_text(graph->input[i]->name), inlining->inputs[i]));
  }
  TENON_READER_TRY(tenon__onnx_convert_nodes(program, scope));
  for (uint32_t i = 0; i < inlining->result_count; ++i) {
    TENON_READER_TRY(tenon__onnx_scope_find(
        program, scope, tenon__onnx_text(graph->output[i]->name), &out_results[i]));
  }
  return TENON_OK;
}

/* A parameter as the file declares it. */
static tenon_status_t add_declared(const body_t* body, const Onnx__ValueInfoProto* info,
                                   tenon_value_t* out_value) {
  tenon_reader_t* reader = body->reader;
  tenon__onnx_type_t type;
  const char* name = tenon__onnx_text(info->name);
  const char* what = tenon_reader_format(reader, "input '%s' of the graph in %s", name,
                                         tenon__onnx_node_text(reader, body->source->node));
  if (what == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  TENON_READER_TRY(tenon__onnx_type_read(reader, info->type, what, &type));
  if (type.kind == TENON_ARGUMENT_TENSOR && type.rank == TENON_NONE) {
    return TENON_READER_FAIL(reader, TENON_ERROR_UNSUPPORTED, "%s has no declared rank", what);
  }
  return reader->build->body_parameter(reader->builder, name, type.kind, type.dtype, type.rank,
                                       type.dims, out_value);
}

/* The carried value that input `index` begins, TENON_NONE if it is none. */
static uint32_t carried_of(const body_t* body, uint32_t index) {
  const tenon__onnx_body_request_t* request = body->request;
  const uint32_t carried = index - request->carried_input;
  return index >= request->carried_input && carried < request->carried_count ? carried : TENON_NONE;
}

static tenon_status_t add_parameter(const body_t* body, uint32_t index, tenon_value_t* out_value) {
  tenon_reader_t* reader = body->reader;
  const tenon__onnx_body_request_t* request = body->request;
  const Onnx__ValueInfoProto* info = body->graph->input[index];
  if (request->parameter_types == NULL || request->parameter_types[index].id == 0) {
    return add_declared(body, info, out_value);
  }
  const char* name = tenon__onnx_text(info->name);
  const tenon_value_t like = request->parameter_types[index];
  const uint32_t carried = carried_of(body, index);
  tenon_value_type_t type = {.size = sizeof(type)};
  TENON_READER_TRY(reader->build->type(reader->builder, like, &type));
  /* What a loop carries begins as its initial value and does not stay so: no contents. */
  const bool as_type =
      carried != TENON_NONE &&
      (body->open_dims[carried] != NULL || type.has_contents != 0 || type.constant_data != NULL);
  if (!as_type) {
    return reader->build->body_parameter_like(reader->builder, name, like, out_value);
  }
  const int64_t* dims = body->open_dims[carried] != NULL ? body->open_dims[carried] : type.dims;
  return reader->build->body_parameter(reader->builder, name, type.kind, type.dtype, type.rank,
                                       dims, out_value);
}

/* A scalar as the rank that a subgraph declares for it, or back: rank 0 or 1. */
static tenon_status_t as_rank(const body_t* body, tenon_value_t value, uint32_t rank,
                              tenon_value_t* out_value) {
  tenon_reader_t* reader = body->reader;
  tenon_builder_t* builder = reader->builder;
  const tenon_builder_table_t* build = reader->build;
  tenon_value_type_t type = {.size = sizeof(type)};
  TENON_READER_TRY(build->type(builder, value, &type));
  *out_value = value;
  if (type.kind != TENON_ARGUMENT_TENSOR || type.rank == rank) {
    return TENON_OK;
  }
  const int64_t one = 1;
  const int64_t dims[1] = {rank};
  const int64_t strides[1] = {1};
  const tenon_tensor_view_t view = {.data = tenon_reader_unconst(&one),
                                    .dims = dims,
                                    .strides = strides,
                                    .rank = 1,
                                    .dtype = TENON_DTYPE_INT64,
                                    .layout = TENON_NONE};
  tenon_value_t shape = {0};
  TENON_READER_TRY(build->constant(builder, body->source->name, &view, 0, &shape));
  TENON_READER_TRY(build->begin(builder, "standard.reshape/1", body->source->name));
  TENON_READER_TRY(build->add_input(builder, value));
  TENON_READER_TRY(build->add_input(builder, shape));
  return build->end(builder, out_value, 1);
}

/* The iteration and the condition: scalars, as the contract passes them. */
static tenon_status_t add_loop_parameters(const body_t* body, tenon_value_t* out_parameters) {
  tenon_reader_t* reader = body->reader;
  static const char* const names[2] = {"iteration", "condition"};
  static const tenon_dtype_t dtypes[2] = {TENON_DTYPE_INT64, TENON_DTYPE_BOOL};
  for (uint32_t i = 0; i < 2; ++i) {
    TENON_READER_TRY(reader->build->body_parameter(reader->builder, names[i], TENON_ARGUMENT_TENSOR,
                                                   dtypes[i], 0, NULL, &out_parameters[i]));
  }
  return TENON_OK;
}

/* Parameters in the order of the contract: [iteration, condition], the subgraph's, captured.
 * `out_inputs` are those of the subgraph. */
static tenon_status_t add_parameters(const body_t* body, tenon_value_t* out_loop,
                                     tenon_value_t* out_inputs, tenon_value_t* out_captured) {
  tenon_reader_t* reader = body->reader;
  const bool is_loop = body->request->form == TENON__ONNX_BODY_LOOP;
  if (body->request->form != TENON__ONNX_BODY_PLAIN) {
    TENON_READER_TRY(add_loop_parameters(body, out_loop));
  }
  for (uint32_t i = is_loop ? 2 : 0; i < body->graph->n_input; ++i) {
    TENON_READER_TRY(add_parameter(body, i, &out_inputs[i]));
  }
  for (uint32_t i = 0; i < body->captures.count; ++i) {
    TENON_READER_TRY(reader->build->body_parameter_like(
        reader->builder, body->captures.names[i], body->captures.values[i], &out_captured[i]));
  }
  if (is_loop) {
    for (uint32_t i = 0; i < 2; ++i) {
      const Onnx__TypeProto* type = body->graph->input[i]->type;
      const Onnx__TensorShapeProto* shape =
          type != NULL && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE
              ? type->tensor_type->shape
              : NULL;
      const bool as_vector = shape != NULL && shape->n_dim == 1;
      TENON_READER_TRY(as_rank(body, out_loop[i], as_vector ? 1 : 0, &out_inputs[i]));
    }
  }
  return TENON_OK;
}

/* What a loop carries may begin as an optional and go on as what that holds: it is an optional all
 * the way. */
static tenon_status_t wrap_carried(const body_t* body, uint32_t carried, tenon_value_t parameter,
                                   tenon_value_t* inout_result) {
  tenon_reader_t* reader = body->reader;
  tenon_builder_t* builder = reader->builder;
  const tenon_builder_table_t* build = reader->build;
  tenon_value_type_t type = {.size = sizeof(type)};
  TENON_READER_TRY(build->type(builder, parameter, &type));
  const uint32_t kind = type.kind;
  TENON_READER_TRY(build->type(builder, *inout_result, &type));
  const bool of_tensor = kind == TENON_ARGUMENT_OPTIONAL && type.kind == TENON_ARGUMENT_TENSOR;
  body->is_wrapped[carried] = of_tensor || (kind == TENON_ARGUMENT_OPTIONAL_SEQUENCE &&
                                            type.kind == TENON_ARGUMENT_SEQUENCE);
  if (!body->is_wrapped[carried]) {
    return TENON_OK;
  }
  const char* op = of_tensor ? "standard.optional_make/1" : "standard.optional_make_sequence/1";
  TENON_READER_TRY(build->begin(builder, op, body->source->name));
  TENON_READER_TRY(build->attribute_dtype(builder, "to", type.dtype));
  TENON_READER_TRY(build->add_input(builder, *inout_result));
  return build->end(builder, inout_result, 1);
}

/* Leaves open the extents in which a carried value's parameter and result differ. */
static tenon_status_t compare_carried(body_t* body, uint32_t carried, tenon_value_t parameter,
                                      tenon_value_t result, bool* inout_changed) {
  tenon_reader_t* reader = body->reader;
  tenon_value_type_t before = {.size = sizeof(before)};
  tenon_value_type_t after = {.size = sizeof(after)};
  TENON_READER_TRY(reader->build->type(reader->builder, parameter, &before));
  const uint32_t rank = before.rank;
  int64_t* dims = tenon_reader_allocate(reader, rank == TENON_NONE ? 0 : rank, sizeof(int64_t));
  if (dims == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  if (before.kind == TENON_ARGUMENT_TENSOR && rank > 0 && rank != TENON_NONE) {
    memcpy(dims, before.dims, rank * sizeof(*dims));
  }
  const uint32_t kind = before.kind;
  TENON_READER_TRY(reader->build->type(reader->builder, result, &after));
  if (kind != TENON_ARGUMENT_TENSOR || after.kind != kind || after.rank != rank) {
    return TENON_OK; /* equal by nature, or refused when the loop is made */
  }
  bool differs = false;
  for (uint32_t i = 0; i < rank; ++i) {
    if (dims[i] != after.dims[i] && dims[i] != -1) {
      dims[i] = -1;
      differs = true;
    }
  }
  if (differs) {
    body->open_dims[carried] = dims;
    *inout_changed = true;
  }
  return TENON_OK;
}

/* The subgraph's nodes, and what follows the node where that is asked for. */
static tenon_status_t inline_nodes(body_t* body, const tenon_value_t* inputs,
                                   const tenon_value_t* captured) {
  const tenon__onnx_body_request_t* request = body->request;
  const tenon__onnx_captures_t own = {body->captures.names, body->captures.values, body->own_count};
  const uint32_t count = (uint32_t)body->graph->n_output;
  tenon_value_t* results = tenon_reader_allocate(body->reader, count, sizeof(*results));
  const tenon__onnx_inlining_t inlining = {.attribute = request->attribute,
                                           .inputs = inputs,
                                           .input_count = (uint32_t)body->graph->n_input,
                                           .result_count = count,
                                           .captures = &own,
                                           .captured = captured};
  if (results == NULL) {
    return tenon_reader_fail_memory(body->reader);
  }
  TENON_READER_TRY(tenon__onnx_inline_body(body->source, &inlining, results));
  body->results = results;
  body->result_count = count;
  if (request->rest == NULL) {
    return TENON_OK;
  }
  body->result_count = request->rest->result_count;
  body->results = tenon_reader_allocate(body->reader, body->result_count, sizeof(*results));
  return body->results == NULL
             ? tenon_reader_fail_memory(body->reader)
             : tenon__onnx_convert_rest(body->source, request->rest, captured + body->own_count,
                                        results, count, body->results);
}

static tenon_status_t add_results(const body_t* body, tenon_value_t condition) {
  tenon_reader_t* reader = body->reader;
  if (body->request->form == TENON__ONNX_BODY_LOOP) {
    TENON_READER_TRY(as_rank(body, body->results[0], 0, &body->results[0]));
  } else if (body->request->form == TENON__ONNX_BODY_SCAN) {
    TENON_READER_TRY(reader->build->body_result(reader->builder, condition));
  }
  for (uint32_t i = 0; i < body->result_count; ++i) {
    TENON_READER_TRY(reader->build->body_result(reader->builder, body->results[i]));
  }
  return TENON_OK;
}

/* Builds the body once; *out_again when carried values turned out to vary, and it must be built
 * again. */
static tenon_status_t build(body_t* body, bool* out_again) {
  tenon_reader_t* reader = body->reader;
  const tenon__onnx_body_request_t* request = body->request;
  tenon_value_t loop[2] = {{0}, {0}};
  tenon_value_t* inputs = tenon_reader_allocate(reader, body->graph->n_input, sizeof(*inputs));
  tenon_value_t* captured = tenon_reader_allocate(reader, body->captures.count, sizeof(*captured));
  if (inputs == NULL || captured == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  *out_again = false;
  TENON_READER_TRY(add_parameters(body, loop, inputs, captured));
  if (request->fault != NULL) {
    return TENON_OK;
  }
  TENON_READER_TRY(inline_nodes(body, inputs, captured));
  for (uint32_t i = 0; i < request->carried_count; ++i) {
    const tenon_value_t parameter = inputs[request->carried_input + i];
    tenon_value_t* result = &body->results[request->carried_output + i];
    TENON_READER_TRY(wrap_carried(body, i, parameter, result));
    TENON_READER_TRY(compare_carried(body, i, parameter, *result, out_again));
  }
  return *out_again ? TENON_OK : add_results(body, loop[1]);
}

static tenon_status_t end(const body_t* body, uint32_t* out_body) {
  const tenon_reader_t* reader = body->reader;
  const tenon__onnx_body_request_t* request = body->request;
  return request->fault == NULL ? reader->build->end_body(reader->builder, out_body)
                                : reader->build->fail_body(reader->builder, request->fault_status,
                                                           request->fault, out_body);
}

/* What the node's subgraphs capture, then what the rest does and they do not. */
static tenon_status_t find_all_captures(body_t* body) {
  tenon_reader_t* reader = body->reader;
  const tenon__onnx_captures_t* more =
      body->request->rest == NULL ? NULL : &body->request->rest->captures;
  tenon__onnx_captures_t own;
  TENON_READER_TRY(tenon__onnx_find_captures(body->source, &own));
  body->captures = own;
  body->own_count = own.count;
  if (more == NULL) {
    return TENON_OK;
  }
  const size_t limit = (size_t)own.count + more->count;
  body->captures.names = tenon_reader_allocate(reader, limit, sizeof(char*));
  body->captures.values = tenon_reader_allocate(reader, limit, sizeof(tenon_value_t));
  if (body->captures.names == NULL || body->captures.values == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  for (uint32_t i = 0; i < limit; ++i) {
    const tenon__onnx_captures_t* from = i < own.count ? &own : more;
    const uint32_t at = i < own.count ? i : i - own.count;
    body->captures.names[i] = from->names[at];
    body->captures.values[i] = from->values[at];
  }
  body->captures.count = (uint32_t)limit;
  return TENON_OK;
}

static tenon_status_t prepare(body_t* body) {
  tenon_reader_t* reader = body->reader;
  const tenon__onnx_body_request_t* request = body->request;
  const size_t inputs = body->graph->n_input;
  const size_t results = body->graph->n_output;
  const size_t least = request->form == TENON__ONNX_BODY_LOOP ? 2 : 0;
  const bool fits = (request->parameter_types == NULL || request->parameter_type_count == inputs) &&
                    inputs >= least && results >= least / 2 &&
                    (size_t)request->carried_input + request->carried_count <= inputs &&
                    (size_t)request->carried_output + request->carried_count <= results;
  if (!fits) {
    return TENON_READER_FAIL(
        reader, TENON_ERROR_INVALID_DATA,
        "%s: its graph '%s' has %zu inputs and %zu outputs, which does not fit "
        "the node",
        tenon__onnx_node_text(reader, body->source->node), request->attribute, inputs, results);
  }
  body->open_dims = tenon_reader_allocate(reader, request->carried_count, sizeof(int64_t*));
  body->is_wrapped = tenon_reader_allocate(reader, request->carried_count, sizeof(bool));
  if (body->open_dims == NULL || body->is_wrapped == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  return find_all_captures(body);
}

tenon_status_t tenon__onnx_convert_body(const tenon_source_t* source,
                                        const tenon__onnx_body_request_t* request,
                                        tenon__onnx_body_t* out_body) {
  tenon_reader_t* reader = source->program->reader;
  body_t body = {.source = source,
                 .reader = reader,
                 .request = request,
                 .graph = tenon__onnx_body_graph(source, request->attribute)};
  if (body.graph == NULL) {
    return TENON_ERROR_INVALID_DATA;
  }
  TENON_READER_TRY(prepare(&body));
  const char* name = tenon_reader_format(reader, "%s/%s", source->name, request->attribute);
  if (name == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  bool again = true;
  while (again) {
    TENON_READER_TRY(reader->build->begin_body(reader->builder, name));
    const tenon_status_t status = build(&body, &again);
    if (status != TENON_OK || again) {
      reader->build->cancel_body(reader->builder);
    }
    TENON_READER_TRY(status);
  }
  TENON_READER_TRY(end(&body, &out_body->body));
  out_body->captures = body.captures;
  out_body->results = body.results;
  out_body->result_count = body.result_count;
  out_body->is_wrapped = body.is_wrapped;
  return TENON_OK;
}
