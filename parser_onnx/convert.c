/* Walks blocks in order: each node goes to its converter; a call of a function becomes the
 * function's nodes; a subgraph becomes a body whose captured values are parameters. */
#include "convert.h"

#include <string.h>

#include "literal.h"
#include "scope.h"
#include "types.h"

static const char* node_name(tenon__onnx_program_t* program, const tenon__onnx_scope_t* scope,
                             const Onnx__NodeProto* node) {
  const char* name = tenon__onnx_text(node->name);
  const char* prefix = scope->frame->prefix;
  if (name[0] != '\0') {
    return tenon__onnx_format(program->context, "%s%s", prefix, name);
  }
  const char* output = node->n_output > 0 ? tenon__onnx_text(node->output[0]) : "";
  return tenon__onnx_format(program->context, "%s%s_%s", prefix, tenon__onnx_text(node->op_type),
                            output);
}

/* Attributes as they stand, and those of the called function where a node refers to one. One that
 * the caller did not give is absent. */
static tenon_status_t resolve_attributes(tenon_source_t* source) {
  tenon__onnx_context_t* context = source->program->context;
  const Onnx__NodeProto* node = source->node;
  source->attribute_names = tenon__onnx_allocate(context, node->n_attribute, sizeof(char*));
  source->attributes =
      tenon__onnx_allocate(context, node->n_attribute, sizeof(Onnx__AttributeProto*));
  if (source->attribute_names == NULL || source->attributes == NULL) {
    return ONNX_FAIL_MEMORY(context);
  }
  for (size_t i = 0; i < node->n_attribute; ++i) {
    const Onnx__AttributeProto* attribute = node->attribute[i];
    const char* reference = tenon__onnx_text(attribute->ref_attr_name);
    if (reference[0] != '\0') {
      attribute = tenon__onnx_names_find(&source->scope->frame->attributes, reference);
      if (attribute != NULL && attribute->g != NULL) {
        return ONNX_FAIL(context, TENON_ERROR_UNSUPPORTED,
                         "%s: a graph as attribute '%s' of a function is not supported",
                         tenon__onnx_node_text(context, node), reference);
      }
    }
    if (attribute != NULL) {
      source->attribute_names[source->attribute_count] = tenon__onnx_text(node->attribute[i]->name);
      source->attributes[source->attribute_count++] = attribute;
    }
  }
  return TENON_OK;
}

static tenon_status_t make_source(tenon__onnx_program_t* program, tenon__onnx_scope_t* scope,
                                  const Onnx__NodeProto* node, tenon_source_t** out_source) {
  tenon_source_t* source = tenon__onnx_allocate(program->context, 1, sizeof(*source));
  const char* name = node_name(program, scope, node);
  if (source == NULL || name == NULL) {
    return ONNX_FAIL_MEMORY(program->context);
  }
  source->program = program;
  source->scope = scope;
  source->node = node;
  source->name = name;
  *out_source = source;
  return resolve_attributes(source);
}

static tenon_status_t convert_constant(tenon_source_t* source) {
  tenon__onnx_context_t* context = source->program->context;
  const Onnx__NodeProto* node = source->node;
  if (node->n_output != 1 || node->n_input != 0) {
    return ONNX_FAIL(context, TENON_ERROR_INVALID_DATA,
                     "%s: a Constant has one output and no inputs",
                     tenon__onnx_node_text(context, node));
  }
  /* A resolved reference has the function's name of the attribute; its form goes by the node's. */
  for (size_t i = 0; i < source->attribute_count; ++i) {
    if (strcmp(source->attribute_names[i], tenon__onnx_text(source->attributes[i]->name)) != 0) {
      Onnx__AttributeProto* renamed = tenon__onnx_allocate(context, 1, sizeof(*renamed));
      if (renamed == NULL) {
        return ONNX_FAIL_MEMORY(context);
      }
      *renamed = *source->attributes[i];
      renamed->name = tenon__onnx_unconst(source->attribute_names[i]);
      source->attributes[i] = renamed;
    }
  }
  tenon__onnx_literal_t literal;
  ONNX_TRY(tenon__onnx_literal_of_constant(context, node, source->attributes,
                                           source->attribute_count, &literal));
  return tenon__onnx_scope_bind_literal(source->program, source->scope,
                                        tenon__onnx_text(node->output[0]), &literal);
}

static tenon_status_t bind_outputs(tenon_source_t* source, const tenon_value_t* outputs) {
  const Onnx__NodeProto* node = source->node;
  tenon__onnx_program_t* program = source->program;
  const tenon_source_table_t* table = tenon__onnx_source_table();
  for (uint32_t i = 0; i < node->n_output; ++i) {
    const char* name = table->output_name(source, i);
    if (name[0] == '\0') {
      continue;
    }
    if (outputs[i].id == 0) {
      return ONNX_FAIL(program->context, TENON_ERROR_UNSUPPORTED,
                       "%s: its output %u ('%s') cannot be made",
                       tenon__onnx_node_text(program->context, node), i, name);
    }
    ONNX_TRY(tenon__onnx_scope_name(program, source->scope, outputs[i], name));
    ONNX_TRY(tenon__onnx_scope_bind(program, source->scope, name, outputs[i]));
  }
  return TENON_OK;
}

static tenon_status_t convert_operator(tenon_source_t* source) {
  tenon__onnx_context_t* context = source->program->context;
  const tenon_source_table_t* table = tenon__onnx_source_table();
  const Onnx__NodeProto* node = source->node;
  void* state = NULL;
  const tenon_converter_t* converter = context->host->find_converter(
      context->parse, table->domain(source), table->type(source), table->version(source), &state);
  tenon_value_t* inputs = tenon__onnx_allocate(context, node->n_input, sizeof(*inputs));
  tenon_value_t* outputs = tenon__onnx_allocate(context, node->n_output, sizeof(*outputs));
  if (inputs == NULL || outputs == NULL) {
    return ONNX_FAIL_MEMORY(context);
  }
  if (converter == NULL) {
    return ONNX_FAIL(context, TENON_ERROR_UNSUPPORTED, "%s: no converter takes it",
                     tenon__onnx_node_text(context, node));
  }
  for (size_t i = 0; i < node->n_input; ++i) {
    const char* name = tenon__onnx_text(node->input[i]);
    if (name[0] != '\0') {
      ONNX_TRY(tenon__onnx_scope_find(source->program, source->scope, name, &inputs[i]));
    }
  }
  ONNX_TRY(converter->convert(state, source, table, context->builder, context->build, inputs,
                              (uint32_t)node->n_input, outputs, (uint32_t)node->n_output));
  return bind_outputs(source, outputs);
}

static tenon_status_t make_frame(tenon_source_t* source, const Onnx__FunctionProto* function,
                                 tenon__onnx_frame_t** out_frame) {
  tenon__onnx_context_t* context = source->program->context;
  tenon__onnx_frame_t* frame = tenon__onnx_allocate(context, 1, sizeof(*frame));
  const char* prefix = tenon__onnx_format(context, "%s/", source->name);
  if (frame == NULL || prefix == NULL) {
    return ONNX_FAIL_MEMORY(context);
  }
  frame->prefix = prefix;
  frame->function = function;
  frame->depth = source->scope->frame->depth + 1;
  for (size_t i = 0; i < function->n_attribute_proto; ++i) {
    ONNX_TRY(tenon__onnx_names_set(context, &frame->attributes,
                                   tenon__onnx_text(function->attribute_proto[i]->name),
                                   function->attribute_proto[i]));
  }
  for (size_t i = 0; i < source->attribute_count; ++i) {
    ONNX_TRY(tenon__onnx_names_set(context, &frame->attributes, source->attribute_names[i],
                                   tenon__onnx_unconst(source->attributes[i])));
  }
  *out_frame = frame;
  return TENON_OK;
}

/* Inputs that the caller left out are absent inside; constants stay constants. */
static tenon_status_t bind_arguments(const tenon_source_t* source, tenon__onnx_scope_t* inner) {
  tenon__onnx_program_t* program = source->program;
  const Onnx__FunctionProto* function = inner->frame->function;
  const Onnx__NodeProto* node = source->node;
  for (size_t i = 0; i < function->n_input; ++i) {
    const char* name = i < node->n_input ? tenon__onnx_text(node->input[i]) : "";
    const char* parameter = tenon__onnx_text(function->input[i]);
    tenon_value_t value = {0};
    if (name[0] != '\0') {
      ONNX_TRY(tenon__onnx_scope_find(program, source->scope, name, &value));
      tenon__onnx_binding_t* binding = tenon__onnx_names_find(&source->scope->bindings, name);
      ONNX_TRY(tenon__onnx_names_set(program->context, &inner->bindings, parameter, binding));
    } else {
      ONNX_TRY(tenon__onnx_scope_bind(program, inner, parameter, value));
    }
  }
  return TENON_OK;
}

static tenon_status_t convert_call(tenon_source_t* source, tenon__onnx_block_t* block) {
  tenon__onnx_program_t* program = source->program;
  const Onnx__FunctionProto* function = block->function;
  const Onnx__NodeProto* node = source->node;
  tenon__onnx_scope_t* inner = tenon__onnx_allocate(program->context, 1, sizeof(*inner));
  tenon_value_t* outputs = tenon__onnx_allocate(program->context, node->n_output, sizeof(*outputs));
  if (inner == NULL || outputs == NULL) {
    return ONNX_FAIL_MEMORY(program->context);
  }
  if (node->n_input > function->n_input || node->n_output > function->n_output) {
    return ONNX_FAIL(program->context, TENON_ERROR_INVALID_DATA,
                     "%s: function '%s' takes %zu inputs and gives %zu outputs, not %zu and "
                     "%zu",
                     tenon__onnx_node_text(program->context, node),
                     tenon__onnx_text(function->name), function->n_input, function->n_output,
                     node->n_input, node->n_output);
  }
  inner->target = source->scope->target;
  inner->block = block;
  ONNX_TRY(make_frame(source, function, &inner->frame));
  ONNX_TRY(bind_arguments(source, inner));
  ONNX_TRY(tenon__onnx_convert_nodes(program, inner));
  for (size_t i = 0; i < node->n_output; ++i) {
    const char* name = tenon__onnx_text(node->output[i]);
    if (name[0] == '\0') {
      continue;
    }
    const char* result = tenon__onnx_text(function->output[i]);
    ONNX_TRY(tenon__onnx_scope_find(program, inner, result, &outputs[i]));
    ONNX_TRY(tenon__onnx_names_set(program->context, &source->scope->bindings, name,
                                   tenon__onnx_names_find(&inner->bindings, result)));
  }
  return TENON_OK;
}

static tenon_status_t convert_node(tenon__onnx_program_t* program, tenon__onnx_scope_t* scope,
                                   const Onnx__NodeProto* node) {
  tenon_source_t* source = NULL;
  if (++program->node_count > TENON__ONNX_NODE_LIMIT) {
    return ONNX_FAIL(program->context, TENON_ERROR_UNSUPPORTED,
                     "the model has more than %d nodes, its functions expanded",
                     TENON__ONNX_NODE_LIMIT);
  }
  ONNX_TRY(make_source(program, scope, node, &source));
  tenon__onnx_block_t* function = tenon__onnx_program_function(program, node);
  if (function != NULL) {
    return convert_call(source, function);
  }
  return tenon__onnx_node_is_constant(node) ? convert_constant(source) : convert_operator(source);
}

tenon_status_t tenon__onnx_convert_nodes(tenon__onnx_program_t* program,
                                         tenon__onnx_scope_t* scope) {
  for (size_t i = 0; i < scope->block->node_count; ++i) {
    ONNX_TRY(convert_node(program, scope, scope->block->nodes[scope->block->order[i]]));
  }
  return TENON_OK;
}

static tenon_status_t make_input(tenon__onnx_program_t* program, const Onnx__GraphProto* graph,
                                 const Onnx__ValueInfoProto* input, tenon_value_t* out_value) {
  tenon__onnx_context_t* context = program->context;
  const char* name = tenon__onnx_text(input->name);
  const char* what = tenon__onnx_format(context, "input '%s'", name);
  tenon__onnx_type_t type;
  if (what == NULL) {
    return ONNX_FAIL_MEMORY(context);
  }
  ONNX_TRY(tenon__onnx_type_read(context, input->type, what, &type));
  if (type.is_map) {
    ONNX_TRY(tenon__onnx_map_columns(program, graph, name, &type.dims[1]));
  }
  return tenon__onnx_type_input(context, name, &type, out_value);
}

static tenon_status_t bind_inputs(tenon__onnx_program_t* program, tenon__onnx_scope_t* scope) {
  const Onnx__GraphProto* graph = scope->block->graph;
  for (size_t i = 0; i < graph->n_input; ++i) {
    const char* name = tenon__onnx_text(graph->input[i]->name);
    if (tenon__onnx_names_find(&scope->bindings, name) != NULL) {
      continue; /* an initialiser is its value: a constant */
    }
    tenon_value_t value = {0};
    ONNX_TRY(make_input(program, graph, graph->input[i], &value));
    ONNX_TRY(tenon__onnx_scope_mark_named(program, scope, value));
    ONNX_TRY(tenon__onnx_scope_bind(program, scope, name, value));
  }
  return TENON_OK;
}

tenon_status_t tenon__onnx_program_convert(tenon__onnx_program_t* program) {
  tenon__onnx_context_t* context = program->context;
  const Onnx__GraphProto* graph = program->model->proto->graph;
  tenon__onnx_frame_t frame = {.prefix = ""};
  tenon__onnx_target_t target = {0};
  tenon__onnx_scope_t scope = {
      .frame = &frame, .target = &target, .block = tenon__onnx_program_block(program, graph)};
  ONNX_TRY(tenon__onnx_scope_bind_initialisers(program, &scope));
  ONNX_TRY(bind_inputs(program, &scope));
  ONNX_TRY(tenon__onnx_convert_nodes(program, &scope));
  if (graph->n_output == 0) {
    return ONNX_FAIL(context, TENON_ERROR_INVALID_DATA, "graph '%s' has no outputs",
                     tenon__onnx_text(graph->name));
  }
  for (size_t i = 0; i < graph->n_output; ++i) {
    const char* name = tenon__onnx_text(graph->output[i]->name);
    tenon_value_t value = {0};
    ONNX_TRY(tenon__onnx_scope_find(program, &scope, name, &value));
    ONNX_TRY(context->build->output(context->builder, value, name));
  }
  return TENON_OK;
}
