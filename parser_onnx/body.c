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
  tenon__onnx_context_t* context;
  const tenon__onnx_body_request_t* request;
  const Onnx__GraphProto* graph;
  uint32_t own_count; /* of the captures, those of the node's subgraphs; the rest's follow */
  tenon__onnx_captures_t captures;
  int64_t** open_dims; /* of each carried value: NULL, or its extents, -1 where they vary */
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
  tenon__onnx_names_t seen = {0};
  size_t limit = 0;
  for (size_t i = 0; i < source->attribute_count; ++i) {
    const tenon__onnx_block_t* block = block_of(source, i);
    limit += block == NULL ? 0 : block->capture_count;
  }
  captures.names = tenon__onnx_allocate(program->context, limit, sizeof(char*));
  captures.values = tenon__onnx_allocate(program->context, limit, sizeof(*captures.values));
  if (captures.names == NULL || captures.values == NULL) {
    return ONNX_FAIL_MEMORY(program->context);
  }
  for (size_t i = 0; i < source->attribute_count; ++i) {
    const tenon__onnx_block_t* block = block_of(source, i);
    for (size_t k = 0; block != NULL && k < block->capture_count; ++k) {
      const char* name = block->captures[k].name;
      const tenon__onnx_binding_t* binding = tenon__onnx_scope_binding(source->scope, name);
      const bool is_absent = binding != NULL && binding->is_built && binding->value.id == 0;
      const bool is_constant = binding != NULL && binding->is_literal;
      if (is_absent || is_constant || tenon__onnx_names_find(&seen, name) != NULL) {
        continue;
      }
      ONNX_TRY(tenon__onnx_names_set(program->context, &seen, name, program));
      captures.names[captures.count] = name;
      ONNX_TRY(
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
    tenon__onnx_context_t* context = source->program->context;
    (void)ONNX_FAIL(context, TENON_ERROR_INVALID_DATA, "%s lacks the graph '%s'",
                    tenon__onnx_node_text(context, source->node), attribute);
    return NULL;
  }
  return found->g;
}

/* Binds a value that has its name in the network. */
static tenon_status_t bind_named(tenon__onnx_program_t* program, tenon__onnx_scope_t* scope,
                                 const char* name, tenon_value_t value) {
  ONNX_TRY(tenon__onnx_scope_mark_named(program, scope, value));
  return tenon__onnx_scope_bind(program, scope, name, value);
}

static tenon_status_t check_inlining(const tenon_source_t* source, const Onnx__GraphProto* graph,
                                     const tenon__onnx_inlining_t* inlining) {
  if (graph->n_input == inlining->input_count && graph->n_output >= inlining->result_count) {
    return TENON_OK;
  }
  return ONNX_FAIL(source->program->context, TENON_ERROR_INVALID_DATA,
                   "%s: its graph '%s' takes %zu inputs and gives %zu outputs, the node has %u and "
                   "%u",
                   tenon__onnx_node_text(source->program->context, source->node),
                   inlining->attribute, graph->n_input, graph->n_output, inlining->input_count,
                   inlining->result_count);
}

tenon_status_t tenon__onnx_inline_body(const tenon_source_t* source,
                                       const tenon__onnx_inlining_t* inlining,
                                       tenon_value_t* out_results) {
  tenon__onnx_program_t* program = source->program;
  const Onnx__GraphProto* graph = tenon__onnx_body_graph(source, inlining->attribute);
  tenon__onnx_scope_t* scope = tenon__onnx_allocate(program->context, 1, sizeof(*scope));
  tenon__onnx_target_t* target = tenon__onnx_allocate(program->context, 1, sizeof(*target));
  if (scope == NULL || target == NULL) {
    return ONNX_FAIL_MEMORY(program->context);
  }
  if (graph == NULL) {
    return TENON_ERROR_INVALID_DATA;
  }
  ONNX_TRY(check_inlining(source, graph, inlining));
  scope->outer = source->scope;
  scope->frame = source->scope->frame;
  scope->target = target;
  scope->block = tenon__onnx_program_block(program, graph);
  const tenon__onnx_captures_t* captures = inlining->captures;
  for (uint32_t i = 0; i < captures->count; ++i) {
    ONNX_TRY(bind_named(program, scope, captures->names[i], inlining->captured[i]));
  }
  ONNX_TRY(tenon__onnx_scope_bind_initialisers(program, scope));
  for (uint32_t i = 0; i < inlining->input_count; ++i) { /* these hide captured values */
    ONNX_TRY(
        bind_named(program, scope, tenon__onnx_text(graph->input[i]->name), inlining->inputs[i]));
  }
  ONNX_TRY(tenon__onnx_convert_nodes(program, scope));
  for (uint32_t i = 0; i < inlining->result_count; ++i) {
    ONNX_TRY(tenon__onnx_scope_find(program, scope, tenon__onnx_text(graph->output[i]->name),
                                    &out_results[i]));
  }
  return TENON_OK;
}

/* A parameter as the file declares it. */
static tenon_status_t add_declared(const body_t* body, const Onnx__ValueInfoProto* info,
                                   tenon_value_t* out_value) {
  tenon__onnx_context_t* context = body->context;
  tenon__onnx_type_t type;
  const char* name = tenon__onnx_text(info->name);
  const char* what = tenon__onnx_format(context, "input '%s' of the graph in %s", name,
                                        tenon__onnx_node_text(context, body->source->node));
  if (what == NULL) {
    return ONNX_FAIL_MEMORY(context);
  }
  ONNX_TRY(tenon__onnx_type_read(context, info->type, what, &type));
  if (type.kind == TENON_ARGUMENT_TENSOR && type.rank == TENON_NONE) {
    return ONNX_FAIL(context, TENON_ERROR_UNSUPPORTED, "%s has no declared rank", what);
  }
  return context->build->body_parameter(context->builder, name, type.kind, type.dtype, type.rank,
                                        type.dims, out_value);
}

/* The carried value that input `index` begins, TENON_NONE if it is none. */
static uint32_t carried_of(const body_t* body, uint32_t index) {
  const tenon__onnx_body_request_t* request = body->request;
  const uint32_t carried = index - request->carried_input;
  return index >= request->carried_input && carried < request->carried_count ? carried : TENON_NONE;
}

static tenon_status_t add_parameter(const body_t* body, uint32_t index, tenon_value_t* out_value) {
  tenon__onnx_context_t* context = body->context;
  const tenon__onnx_body_request_t* request = body->request;
  const Onnx__ValueInfoProto* info = body->graph->input[index];
  if (request->parameter_types == NULL || request->parameter_types[index].id == 0) {
    return add_declared(body, info, out_value);
  }
  const char* name = tenon__onnx_text(info->name);
  const tenon_value_t like = request->parameter_types[index];
  const uint32_t carried = carried_of(body, index);
  tenon_value_type_t type;
  ONNX_TRY(context->build->type(context->builder, like, &type));
  /* What a loop carries begins as its initial value and does not stay so: no contents. */
  const bool as_type =
      carried != TENON_NONE &&
      (body->open_dims[carried] != NULL || type.has_contents != 0 || type.constant_data != NULL);
  if (!as_type) {
    return context->build->body_parameter_like(context->builder, name, like, out_value);
  }
  const int64_t* dims = body->open_dims[carried] != NULL ? body->open_dims[carried] : type.dims;
  return context->build->body_parameter(context->builder, name, type.kind, type.dtype, type.rank,
                                        dims, out_value);
}

/* A scalar as the rank that a subgraph declares for it, or back: rank 0 or 1. */
static tenon_status_t as_rank(const body_t* body, tenon_value_t value, uint32_t rank,
                              tenon_value_t* out_value) {
  tenon__onnx_context_t* context = body->context;
  tenon_builder_t* builder = context->builder;
  const tenon_builder_table_t* build = context->build;
  tenon_value_type_t type;
  ONNX_TRY(build->type(builder, value, &type));
  *out_value = value;
  if (type.kind != TENON_ARGUMENT_TENSOR || type.rank == rank) {
    return TENON_OK;
  }
  const int64_t one = 1;
  const int64_t dims[1] = {rank};
  const int64_t strides[1] = {1};
  const tenon_tensor_view_t view = {.data = tenon__onnx_unconst(&one),
                                    .dims = dims,
                                    .strides = strides,
                                    .rank = 1,
                                    .dtype = TENON_DTYPE_INT64,
                                    .layout = TENON_NONE};
  tenon_value_t shape = {0};
  ONNX_TRY(build->constant(builder, body->source->name, &view, 0, &shape));
  ONNX_TRY(build->begin(builder, "standard.reshape/1", body->source->name));
  ONNX_TRY(build->add_input(builder, value));
  ONNX_TRY(build->add_input(builder, shape));
  return build->end(builder, out_value, 1);
}

/* The iteration and the condition: scalars, as the contract passes them. */
static tenon_status_t add_loop_parameters(const body_t* body, tenon_value_t* out_parameters) {
  tenon__onnx_context_t* context = body->context;
  static const char* const names[2] = {"iteration", "condition"};
  static const tenon_dtype_t dtypes[2] = {TENON_DTYPE_INT64, TENON_DTYPE_BOOL};
  for (uint32_t i = 0; i < 2; ++i) {
    ONNX_TRY(context->build->body_parameter(context->builder, names[i], TENON_ARGUMENT_TENSOR,
                                            dtypes[i], 0, NULL, &out_parameters[i]));
  }
  return TENON_OK;
}

/* Parameters in the order of the contract: [iteration, condition], the subgraph's, captured.
 * `out_inputs` are those of the subgraph. */
static tenon_status_t add_parameters(const body_t* body, tenon_value_t* out_loop,
                                     tenon_value_t* out_inputs, tenon_value_t* out_captured) {
  tenon__onnx_context_t* context = body->context;
  const bool is_loop = body->request->form == TENON__ONNX_BODY_LOOP;
  if (body->request->form != TENON__ONNX_BODY_PLAIN) {
    ONNX_TRY(add_loop_parameters(body, out_loop));
  }
  for (uint32_t i = is_loop ? 2 : 0; i < body->graph->n_input; ++i) {
    ONNX_TRY(add_parameter(body, i, &out_inputs[i]));
  }
  for (uint32_t i = 0; i < body->captures.count; ++i) {
    ONNX_TRY(context->build->body_parameter_like(context->builder, body->captures.names[i],
                                                 body->captures.values[i], &out_captured[i]));
  }
  for (uint32_t i = 0; is_loop && i < 2; ++i) {
    const Onnx__TypeProto* type = body->graph->input[i]->type;
    const Onnx__TensorShapeProto* shape =
        type != NULL && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE
            ? type->tensor_type->shape
            : NULL;
    const bool as_vector = shape != NULL && shape->n_dim == 1;
    ONNX_TRY(as_rank(body, out_loop[i], as_vector ? 1 : 0, &out_inputs[i]));
  }
  return TENON_OK;
}

/* Leaves open the extents in which a carried value's parameter and result differ. */
static tenon_status_t compare_carried(body_t* body, uint32_t carried, tenon_value_t parameter,
                                      tenon_value_t result, bool* inout_changed) {
  tenon__onnx_context_t* context = body->context;
  tenon_value_type_t before;
  tenon_value_type_t after;
  ONNX_TRY(context->build->type(context->builder, parameter, &before));
  const uint32_t rank = before.rank;
  int64_t* dims = tenon__onnx_allocate(context, rank == TENON_NONE ? 0 : rank, sizeof(int64_t));
  if (dims == NULL) {
    return ONNX_FAIL_MEMORY(context);
  }
  if (before.kind == TENON_ARGUMENT_TENSOR && rank > 0 && rank != TENON_NONE) {
    memcpy(dims, before.dims, rank * sizeof(*dims));
  }
  const uint32_t kind = before.kind;
  ONNX_TRY(context->build->type(context->builder, result, &after));
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
  tenon_value_t* results = tenon__onnx_allocate(body->context, count, sizeof(*results));
  const tenon__onnx_inlining_t inlining = {.attribute = request->attribute,
                                           .inputs = inputs,
                                           .input_count = (uint32_t)body->graph->n_input,
                                           .result_count = count,
                                           .captures = &own,
                                           .captured = captured};
  if (results == NULL) {
    return ONNX_FAIL_MEMORY(body->context);
  }
  ONNX_TRY(tenon__onnx_inline_body(body->source, &inlining, results));
  body->results = results;
  body->result_count = count;
  if (request->rest == NULL) {
    return TENON_OK;
  }
  body->result_count = request->rest->result_count;
  body->results = tenon__onnx_allocate(body->context, body->result_count, sizeof(*results));
  return body->results == NULL
             ? ONNX_FAIL_MEMORY(body->context)
             : tenon__onnx_convert_rest(body->source, request->rest, captured + body->own_count,
                                        results, count, body->results);
}

static tenon_status_t add_results(const body_t* body, tenon_value_t condition) {
  tenon__onnx_context_t* context = body->context;
  if (body->request->form == TENON__ONNX_BODY_LOOP) {
    ONNX_TRY(as_rank(body, body->results[0], 0, &body->results[0]));
  } else if (body->request->form == TENON__ONNX_BODY_SCAN) {
    ONNX_TRY(context->build->body_result(context->builder, condition));
  }
  for (uint32_t i = 0; i < body->result_count; ++i) {
    ONNX_TRY(context->build->body_result(context->builder, body->results[i]));
  }
  return TENON_OK;
}

/* Builds the body once; *out_again when carried values turned out to vary, and it must be built
 * again. */
static tenon_status_t build(body_t* body, bool* out_again) {
  tenon__onnx_context_t* context = body->context;
  const tenon__onnx_body_request_t* request = body->request;
  tenon_value_t loop[2] = {{0}, {0}};
  tenon_value_t* inputs = tenon__onnx_allocate(context, body->graph->n_input, sizeof(*inputs));
  tenon_value_t* captured = tenon__onnx_allocate(context, body->captures.count, sizeof(*captured));
  if (inputs == NULL || captured == NULL) {
    return ONNX_FAIL_MEMORY(context);
  }
  *out_again = false;
  ONNX_TRY(add_parameters(body, loop, inputs, captured));
  if (request->fault != NULL) {
    return TENON_OK;
  }
  ONNX_TRY(inline_nodes(body, inputs, captured));
  for (uint32_t i = 0; i < request->carried_count; ++i) {
    ONNX_TRY(compare_carried(body, i, inputs[request->carried_input + i],
                             body->results[request->carried_output + i], out_again));
  }
  return *out_again ? TENON_OK : add_results(body, loop[1]);
}

static tenon_status_t end(const body_t* body, uint32_t* out_body) {
  const tenon__onnx_context_t* context = body->context;
  const tenon__onnx_body_request_t* request = body->request;
  return request->fault == NULL ? context->build->end_body(context->builder, out_body)
                                : context->build->fail_body(context->builder, request->fault_status,
                                                            request->fault, out_body);
}

/* What the node's subgraphs capture, then what the rest does and they do not. */
static tenon_status_t find_all_captures(body_t* body) {
  tenon__onnx_context_t* context = body->context;
  const tenon__onnx_captures_t* more =
      body->request->rest == NULL ? NULL : &body->request->rest->captures;
  tenon__onnx_captures_t own;
  ONNX_TRY(tenon__onnx_find_captures(body->source, &own));
  body->captures = own;
  body->own_count = own.count;
  if (more == NULL) {
    return TENON_OK;
  }
  const size_t limit = (size_t)own.count + more->count;
  body->captures.names = tenon__onnx_allocate(context, limit, sizeof(char*));
  body->captures.values = tenon__onnx_allocate(context, limit, sizeof(tenon_value_t));
  if (body->captures.names == NULL || body->captures.values == NULL) {
    return ONNX_FAIL_MEMORY(context);
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
  tenon__onnx_context_t* context = body->context;
  const tenon__onnx_body_request_t* request = body->request;
  const size_t inputs = body->graph->n_input;
  const size_t results = body->graph->n_output;
  const size_t least = request->form == TENON__ONNX_BODY_LOOP ? 2 : 0;
  const bool fits = (request->parameter_types == NULL || request->parameter_type_count == inputs) &&
                    inputs >= least && results >= least / 2 &&
                    (size_t)request->carried_input + request->carried_count <= inputs &&
                    (size_t)request->carried_output + request->carried_count <= results;
  if (!fits) {
    return ONNX_FAIL(context, TENON_ERROR_INVALID_DATA,
                     "%s: its graph '%s' has %zu inputs and %zu outputs, which does not fit "
                     "the node",
                     tenon__onnx_node_text(context, body->source->node), request->attribute, inputs,
                     results);
  }
  body->open_dims = tenon__onnx_allocate(context, request->carried_count, sizeof(int64_t*));
  if (body->open_dims == NULL) {
    return ONNX_FAIL_MEMORY(context);
  }
  return find_all_captures(body);
}

tenon_status_t tenon__onnx_convert_body(const tenon_source_t* source,
                                        const tenon__onnx_body_request_t* request,
                                        tenon__onnx_body_t* out_body) {
  tenon__onnx_context_t* context = source->program->context;
  body_t body = {.source = source,
                 .context = context,
                 .request = request,
                 .graph = tenon__onnx_body_graph(source, request->attribute)};
  if (body.graph == NULL) {
    return TENON_ERROR_INVALID_DATA;
  }
  ONNX_TRY(prepare(&body));
  const char* name = tenon__onnx_format(context, "%s/%s", source->name, request->attribute);
  if (name == NULL) {
    return ONNX_FAIL_MEMORY(context);
  }
  bool again = true;
  while (again) {
    ONNX_TRY(context->build->begin_body(context->builder, name));
    const tenon_status_t status = build(&body, &again);
    if (status != TENON_OK || again) {
      context->build->cancel_body(context->builder);
    }
    ONNX_TRY(status);
  }
  ONNX_TRY(end(&body, &out_body->body));
  out_body->captures = body.captures;
  out_body->results = body.results;
  out_body->result_count = body.result_count;
  return TENON_OK;
}
