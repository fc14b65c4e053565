/* Subgraphs as bodies. A body takes as its last parameters what all bodies of its node capture, so
 * that the branches of one node agree. Constants are not captured: each body has its own, over the
 * same bytes. */
#include <string.h>

#include "convert.h"
#include "scope.h"
#include "types.h"

/* What a body captures, and how its parameters are typed. */
typedef struct body_t {
  const tenon_source_t* source;
  const tenon__onnx_body_request_t* request;
  const Onnx__GraphProto* graph;
  const char** captured_names;
  tenon_value_t* captured;
  uint32_t captured_count;
  int64_t** open_dims; /* of each carried value: NULL, or its extents, -1 where they vary */
} body_t;

static tenon_status_t fail_memory(const body_t* body) {
  return tenon__onnx_fail_memory(body->source->program->context);
}

/* The values of enclosing graphs that any body of the node uses. */
static tenon_status_t find_captures(body_t* body) {
  const tenon_source_t* source = body->source;
  tenon__onnx_program_t* program = source->program;
  tenon__onnx_names_t seen = {0};
  size_t limit = 0;
  for (size_t i = 0; i < source->attribute_count; ++i) {
    const Onnx__GraphProto* graph = source->attributes[i]->g;
    limit += graph == NULL ? 0 : tenon__onnx_program_block(program, graph)->capture_count;
  }
  body->captured_names = tenon__onnx_allocate(program->context, limit, sizeof(char*));
  body->captured = tenon__onnx_allocate(program->context, limit, sizeof(*body->captured));
  if (body->captured_names == NULL || body->captured == NULL) {
    return fail_memory(body);
  }
  for (size_t i = 0; i < source->attribute_count; ++i) {
    const Onnx__GraphProto* graph = source->attributes[i]->g;
    const tenon__onnx_block_t* block =
        graph == NULL ? NULL : tenon__onnx_program_block(program, graph);
    for (size_t k = 0; block != NULL && k < block->capture_count; ++k) {
      const char* name = block->captures[k].name;
      const tenon__onnx_binding_t* binding = tenon__onnx_scope_binding(source->scope, name);
      const bool needs_none =
          binding != NULL && (binding->is_literal || (binding->is_built && binding->value.id == 0));
      if (needs_none || tenon__onnx_names_find(&seen, name) != NULL) {
        continue;
      }
      ONNX_TRY(tenon__onnx_names_set(program->context, &seen, name, body));
      body->captured_names[body->captured_count] = name;
      ONNX_TRY(tenon__onnx_scope_find(program, source->scope, name,
                                      &body->captured[body->captured_count]));
      ++body->captured_count;
    }
  }
  return TENON_OK;
}

/* A parameter as the file declares it. */
static tenon_status_t add_declared(const body_t* body, const Onnx__ValueInfoProto* info,
                                   tenon_value_t* out_value) {
  tenon__onnx_context_t* context = body->source->program->context;
  tenon__onnx_type_t type;
  const char* name = tenon__onnx_text(info->name);
  const char* what = tenon__onnx_format(context, "input '%s' of the graph in %s", name,
                                        tenon__onnx_node_text(context, body->source->node));
  if (what == NULL) {
    return fail_memory(body);
  }
  ONNX_TRY(tenon__onnx_type_read(context, info->type, what, &type));
  if (type.kind == TENON_ARGUMENT_TENSOR && type.rank == TENON_NONE) {
    return tenon__onnx_fail(context, TENON_ERROR_UNSUPPORTED, "%s has no declared rank", what);
  }
  return context->build->body_parameter(context->builder, name, type.kind, type.dtype, type.rank,
                                        type.dims, out_value);
}

/* The carried value that parameter `index` begins, TENON_NONE if it is none. */
static uint32_t carried_of(const body_t* body, uint32_t index) {
  const tenon__onnx_body_request_t* request = body->request;
  const uint32_t carried = index - request->carried_parameter;
  return index >= request->carried_parameter && carried < request->carried_count ? carried
                                                                                 : TENON_NONE;
}

static tenon_status_t add_parameter(const body_t* body, uint32_t index, tenon_value_t* out_value) {
  tenon__onnx_context_t* context = body->source->program->context;
  const tenon__onnx_body_request_t* request = body->request;
  const Onnx__ValueInfoProto* info = body->graph->input[index];
  const bool is_given = request->parameter_types != NULL && request->parameter_types[index].id != 0;
  if (!is_given) {
    return add_declared(body, info, out_value);
  }
  const tenon_value_t like = request->parameter_types[index];
  const uint32_t carried = carried_of(body, index);
  if (carried == TENON_NONE || body->open_dims[carried] == NULL) {
    return context->build->body_parameter_like(context->builder, tenon__onnx_text(info->name), like,
                                               out_value);
  }
  tenon_value_type_t type;
  ONNX_TRY(context->build->type(context->builder, like, &type));
  return context->build->body_parameter(context->builder, tenon__onnx_text(info->name), type.kind,
                                        type.dtype, type.rank, body->open_dims[carried], out_value);
}

static tenon_status_t bind_parameters(const body_t* body, tenon__onnx_scope_t* scope,
                                      tenon_value_t* out_parameters) {
  tenon__onnx_program_t* program = body->source->program;
  for (uint32_t i = 0; i < body->graph->n_input; ++i) {
    ONNX_TRY(add_parameter(body, i, &out_parameters[i]));
    ONNX_TRY(tenon__onnx_addresses_set(program->context, &scope->target->named,
                                       (const void*)(uintptr_t)out_parameters[i].id, scope));
    ONNX_TRY(tenon__onnx_scope_bind(program, scope, tenon__onnx_text(body->graph->input[i]->name),
                                    out_parameters[i]));
  }
  for (uint32_t i = 0; i < body->captured_count; ++i) {
    tenon_value_t value = {0};
    ONNX_TRY(program->context->build->body_parameter_like(
        program->context->builder, body->captured_names[i], body->captured[i], &value));
    ONNX_TRY(tenon__onnx_addresses_set(program->context, &scope->target->named,
                                       (const void*)(uintptr_t)value.id, scope));
    /* A parameter of that name hides the captured value. */
    if (tenon__onnx_names_find(&scope->bindings, body->captured_names[i]) == NULL) {
      ONNX_TRY(tenon__onnx_scope_bind(program, scope, body->captured_names[i], value));
    }
  }
  return TENON_OK;
}

/* Leaves open the extents in which a carried value's parameter and result differ. */
static tenon_status_t compare_carried(body_t* body, uint32_t carried, tenon_value_t parameter,
                                      tenon_value_t result, bool* inout_changed) {
  tenon__onnx_context_t* context = body->source->program->context;
  tenon_value_type_t before;
  tenon_value_type_t after;
  ONNX_TRY(context->build->type(context->builder, parameter, &before));
  ONNX_TRY(context->build->type(context->builder, result, &after));
  if (before.kind != TENON_ARGUMENT_TENSOR || after.kind != before.kind ||
      before.rank != after.rank) {
    return TENON_OK; /* equal by nature, or refused when the loop is made */
  }
  int64_t* dims = tenon__onnx_allocate(context, before.rank, sizeof(int64_t));
  if (dims == NULL) {
    return fail_memory(body);
  }
  bool differs = false;
  for (uint32_t i = 0; i < before.rank; ++i) {
    dims[i] = before.dims[i] == after.dims[i] ? before.dims[i] : -1;
    differs = differs || dims[i] != before.dims[i];
  }
  if (differs) {
    body->open_dims[carried] = dims;
    *inout_changed = true;
  }
  return TENON_OK;
}

/* Builds the body once; *out_again when carried values turned out to vary, and it must be built
 * again. */
static tenon_status_t build(body_t* body, bool* out_again) {
  const tenon_source_t* source = body->source;
  tenon__onnx_program_t* program = source->program;
  tenon__onnx_context_t* context = program->context;
  const tenon__onnx_body_request_t* request = body->request;
  tenon__onnx_scope_t* scope = tenon__onnx_allocate(context, 1, sizeof(*scope));
  tenon__onnx_target_t* target = tenon__onnx_allocate(context, 1, sizeof(*target));
  tenon_value_t* parameters =
      tenon__onnx_allocate(context, body->graph->n_input, sizeof(*parameters));
  tenon_value_t* results = tenon__onnx_allocate(context, body->graph->n_output, sizeof(*results));
  if (scope == NULL || target == NULL || parameters == NULL || results == NULL) {
    return fail_memory(body);
  }
  scope->outer = source->scope;
  scope->frame = source->scope->frame;
  scope->target = target;
  scope->block = tenon__onnx_program_block(program, body->graph);
  ONNX_TRY(tenon__onnx_scope_bind_initialisers(program, scope));
  ONNX_TRY(bind_parameters(body, scope, parameters));
  ONNX_TRY(tenon__onnx_convert_nodes(program, scope));
  for (uint32_t i = 0; i < body->graph->n_output; ++i) {
    ONNX_TRY(tenon__onnx_scope_find(program, scope, tenon__onnx_text(body->graph->output[i]->name),
                                    &results[i]));
  }
  *out_again = false;
  for (uint32_t i = 0; i < request->carried_count; ++i) {
    const uint32_t parameter = request->carried_parameter + i;
    const uint32_t result = request->carried_result + i;
    if (parameter < body->graph->n_input && result < body->graph->n_output) {
      ONNX_TRY(compare_carried(body, i, parameters[parameter], results[result], out_again));
    }
  }
  for (uint32_t i = 0; !*out_again && i < body->graph->n_output; ++i) {
    ONNX_TRY(context->build->body_result(context->builder, results[i]));
  }
  return TENON_OK;
}

static tenon_status_t prepare(body_t* body) {
  const tenon_source_t* source = body->source;
  tenon__onnx_context_t* context = source->program->context;
  const tenon__onnx_body_request_t* request = body->request;
  if (request->parameter_types != NULL && request->parameter_type_count != body->graph->n_input) {
    return tenon__onnx_fail(context, TENON_ERROR_INVALID_DATA,
                            "%s: its graph '%s' takes %zu inputs, the node gives %u",
                            tenon__onnx_node_text(context, source->node), request->attribute,
                            body->graph->n_input, request->parameter_type_count);
  }
  body->open_dims = tenon__onnx_allocate(context, request->carried_count, sizeof(int64_t*));
  return body->open_dims == NULL ? fail_memory(body) : find_captures(body);
}

tenon_status_t tenon__onnx_convert_body(const tenon_source_t* source,
                                        const tenon__onnx_body_request_t* request,
                                        uint32_t* out_body, const tenon_value_t** out_captured,
                                        uint32_t* out_captured_count) {
  tenon__onnx_context_t* context = source->program->context;
  const Onnx__AttributeProto* attribute = tenon__onnx_source_attribute(source, request->attribute);
  body_t body = {
      .source = source, .request = request, .graph = attribute == NULL ? NULL : attribute->g};
  if (body.graph == NULL) {
    return tenon__onnx_fail(context, TENON_ERROR_INVALID_DATA, "%s lacks the graph '%s'",
                            tenon__onnx_node_text(context, source->node), request->attribute);
  }
  ONNX_TRY(prepare(&body));
  const char* name = tenon__onnx_format(context, "%s/%s", source->name, request->attribute);
  if (name == NULL) {
    return fail_memory(&body);
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
  ONNX_TRY(context->build->end_body(context->builder, out_body));
  *out_captured = body.captured;
  *out_captured_count = body.captured_count;
  return TENON_OK;
}
