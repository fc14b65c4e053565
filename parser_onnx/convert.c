/* Walks blocks in order: each node goes to its converter; a call of a function becomes the
 * function's nodes; a subgraph becomes a body whose captured values are parameters. */
#include "convert.h"

#include <string.h>

#include "attributes.h"
#include "literal.h"
#include "scope.h"
#include "types.h"

static const char* node_name(tenon__onnx_program_t* program, const tenon__onnx_scope_t* scope,
                             const Onnx__NodeProto* node) {
  const char* name = tenon__onnx_text(node->name);
  const char* prefix = scope->frame->prefix;
  if (name[0] != '\0') {
    return tenon_reader_format(program->reader, "%s%s", prefix, name);
  }
  const char* output = node->n_output > 0 ? tenon__onnx_text(node->output[0]) : "";
  return tenon_reader_format(program->reader, "%s%s_%s", prefix, tenon__onnx_text(node->op_type),
                             output);
}

/* Attributes as they stand, and those of the called function where a node refers to one. One that
 * the caller did not give is absent. */
static tenon_status_t resolve_attributes(tenon_source_t* source) {
  tenon_reader_t* reader = source->program->reader;
  const Onnx__NodeProto* node = source->node;
  source->attribute_names = tenon_reader_allocate(reader, node->n_attribute, sizeof(char*));
  source->attributes =
      tenon_reader_allocate(reader, node->n_attribute, sizeof(Onnx__AttributeProto*));
  source->is_read = tenon_reader_allocate(reader, node->n_attribute, sizeof(bool));
  if (source->attribute_names == NULL || source->attributes == NULL || source->is_read == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  for (size_t i = 0; i < node->n_attribute; ++i) {
    const Onnx__AttributeProto* attribute = node->attribute[i];
    const char* reference = tenon__onnx_text(attribute->ref_attr_name);
    if (reference[0] != '\0') {
      attribute = tenon_reader_names_find(&source->scope->frame->attributes, reference);
      if (attribute != NULL && attribute->g != NULL) {
        return TENON_READER_FAIL(reader, TENON_ERROR_UNSUPPORTED,
                                 "%s: a graph as attribute '%s' of a function is not supported",
                                 tenon__onnx_node_text(reader, node), reference);
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
  tenon_source_t* source = tenon_reader_allocate(program->reader, 1, sizeof(*source));
  const char* name = node_name(program, scope, node);
  if (source == NULL || name == NULL) {
    return tenon_reader_fail_memory(program->reader);
  }
  source->program = program;
  source->scope = scope;
  source->node = node;
  source->name = name;
  *out_source = source;
  return resolve_attributes(source);
}

static tenon_status_t convert_constant(tenon_source_t* source) {
  tenon_reader_t* reader = source->program->reader;
  const Onnx__NodeProto* node = source->node;
  if (node->n_output != 1 || node->n_input != 0) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "%s: a Constant has one output and no inputs",
                             tenon__onnx_node_text(reader, node));
  }
  /* A resolved reference has the function's name of the attribute; its form goes by the node's. */
  for (size_t i = 0; i < source->attribute_count; ++i) {
    if (strcmp(source->attribute_names[i], tenon__onnx_text(source->attributes[i]->name)) != 0) {
      Onnx__AttributeProto* renamed = tenon_reader_allocate(reader, 1, sizeof(*renamed));
      if (renamed == NULL) {
        return tenon_reader_fail_memory(reader);
      }
      *renamed = *source->attributes[i];
      renamed->name = tenon_reader_unconst(source->attribute_names[i]);
      source->attributes[i] = renamed;
    }
  }
  tenon__onnx_literal_t literal;
  TENON_READER_TRY(tenon__onnx_literal_of_constant(reader, node, source->attributes,
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
      return TENON_READER_FAIL(program->reader, TENON_ERROR_UNSUPPORTED,
                               "%s: its output %u ('%s') cannot be made",
                               tenon__onnx_node_text(program->reader, node), i, name);
    }
    TENON_READER_TRY(tenon__onnx_scope_name(program, source->scope, outputs[i], name));
    TENON_READER_TRY(tenon__onnx_scope_bind(program, source->scope, name, outputs[i]));
  }
  return TENON_OK;
}

/* Where it is tried whether a branch can do without, the branch cannot run; else the host tells. */
static tenon_status_t fail_missing(const tenon_source_t* source) {
  tenon_reader_t* reader = source->program->reader;
  const tenon_source_table_t* table = tenon__onnx_source_table();
  const char* domain = table->domain(source);
  const char* type = table->type(source);
  if (source->program->attempt_depth > 0) {
    return TENON_READER_FAIL(reader, TENON_ERROR_UNSUPPORTED, "%s '%s': no converter takes %s%s%s",
                             type, source->name, domain, domain[0] == '\0' ? "" : "::", type);
  }
  reader->host->report_missing(reader->parse, domain, type, table->version(source), source->name);
  return TENON_ERROR_UNSUPPORTED;
}

static tenon_status_t convert_operator(tenon_source_t* source) {
  tenon_reader_t* reader = source->program->reader;
  const tenon_source_table_t* table = tenon__onnx_source_table();
  const Onnx__NodeProto* node = source->node;
  void* state = NULL;
  const tenon_converter_t* converter = reader->host->find_converter(
      reader->parse, table->domain(source), table->type(source), table->version(source), &state);
  tenon_value_t* inputs = tenon_reader_allocate(reader, node->n_input, sizeof(*inputs));
  tenon_value_t* outputs = tenon_reader_allocate(reader, node->n_output, sizeof(*outputs));
  if (inputs == NULL || outputs == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  if (converter == NULL) {
    return fail_missing(source);
  }
  for (size_t i = 0; i < node->n_input; ++i) {
    const char* name = tenon__onnx_text(node->input[i]);
    if (name[0] != '\0') {
      TENON_READER_TRY(tenon__onnx_scope_find(source->program, source->scope, name, &inputs[i]));
    }
  }
  const tenon_conversion_t conversion = {.size = sizeof(conversion),
                                         .state = state,
                                         .source = source,
                                         .table = table,
                                         .builder = reader->builder,
                                         .build = reader->build,
                                         .inputs = inputs,
                                         .outputs = outputs,
                                         .input_count = (uint32_t)node->n_input,
                                         .output_count = (uint32_t)node->n_output};
  TENON_READER_TRY(converter->convert(&conversion));
  TENON_READER_TRY(tenon__onnx_attributes_check(source));
  return source->scope->is_done ? TENON_OK : bind_outputs(source, outputs);
}

static tenon_status_t make_frame(tenon_source_t* source, const Onnx__FunctionProto* function,
                                 tenon__onnx_frame_t** out_frame) {
  tenon_reader_t* reader = source->program->reader;
  tenon__onnx_frame_t* frame = tenon_reader_allocate(reader, 1, sizeof(*frame));
  const char* prefix = tenon_reader_format(reader, "%s/", source->name);
  if (frame == NULL || prefix == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  frame->prefix = prefix;
  frame->function = function;
  frame->depth = source->scope->frame->depth + 1;
  for (size_t i = 0; i < function->n_attribute_proto; ++i) {
    TENON_READER_TRY(tenon_reader_names_set(reader, &frame->attributes,
                                            tenon__onnx_text(function->attribute_proto[i]->name),
                                            function->attribute_proto[i]));
  }
  for (size_t i = 0; i < source->attribute_count; ++i) {
    TENON_READER_TRY(tenon_reader_names_set(reader, &frame->attributes, source->attribute_names[i],
                                            tenon_reader_unconst(source->attributes[i])));
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
      TENON_READER_TRY(tenon__onnx_scope_find(program, source->scope, name, &value));
      tenon__onnx_binding_t* binding = tenon_reader_names_find(&source->scope->bindings, name);
      TENON_READER_TRY(
          tenon_reader_names_set(program->reader, &inner->bindings, parameter, binding));
    } else {
      TENON_READER_TRY(tenon__onnx_scope_bind(program, inner, parameter, value));
    }
  }
  return TENON_OK;
}

static tenon_status_t convert_call(tenon_source_t* source, tenon__onnx_block_t* block) {
  tenon__onnx_program_t* program = source->program;
  const Onnx__FunctionProto* function = block->function;
  const Onnx__NodeProto* node = source->node;
  tenon__onnx_scope_t* inner = tenon_reader_allocate(program->reader, 1, sizeof(*inner));
  tenon_value_t* outputs = tenon_reader_allocate(program->reader, node->n_output, sizeof(*outputs));
  if (inner == NULL || outputs == NULL) {
    return tenon_reader_fail_memory(program->reader);
  }
  if (node->n_input > function->n_input || node->n_output > function->n_output) {
    return TENON_READER_FAIL(
        program->reader, TENON_ERROR_INVALID_DATA,
        "%s: function '%s' takes %zu inputs and gives %zu outputs, not %zu and "
        "%zu",
        tenon__onnx_node_text(program->reader, node), tenon__onnx_text(function->name),
        function->n_input, function->n_output, node->n_input, node->n_output);
  }
  inner->target = source->scope->target;
  inner->block = block;
  TENON_READER_TRY(make_frame(source, function, &inner->frame));
  TENON_READER_TRY(bind_arguments(source, inner));
  TENON_READER_TRY(tenon__onnx_convert_nodes(program, inner));
  for (size_t i = 0; i < node->n_output; ++i) {
    const char* name = tenon__onnx_text(node->output[i]);
    if (name[0] == '\0') {
      continue;
    }
    const char* result = tenon__onnx_text(function->output[i]);
    TENON_READER_TRY(tenon__onnx_scope_find(program, inner, result, &outputs[i]));
    TENON_READER_TRY(tenon_reader_names_set(program->reader, &source->scope->bindings, name,
                                            tenon_reader_names_find(&inner->bindings, result)));
  }
  return TENON_OK;
}

static bool is_constant(const tenon__onnx_program_t* program, const Onnx__NodeProto* node) {
  return tenon__onnx_node_is_constant(node) && tenon__onnx_program_function(program, node) == NULL;
}

static tenon_status_t count_node(tenon__onnx_program_t* program) {
  return tenon__onnx_program_limit(program, ++program->node_count);
}

static tenon_status_t convert_node(tenon__onnx_program_t* program, tenon__onnx_scope_t* scope,
                                   const Onnx__NodeProto* node) {
  tenon_source_t* source = NULL;
  TENON_READER_TRY(count_node(program));
  TENON_READER_TRY(make_source(program, scope, node, &source));
  tenon__onnx_block_t* function = tenon__onnx_program_function(program, node);
  if (function != NULL) {
    return convert_call(source, function);
  }
  return convert_operator(source);
}

/* Before all others: they read nothing, and whoever looks ahead finds them bound. */
static tenon_status_t bind_constants(tenon__onnx_program_t* program, tenon__onnx_scope_t* scope) {
  for (size_t i = 0; i < scope->block->node_count; ++i) {
    const Onnx__NodeProto* node = scope->block->nodes[scope->block->order[i]];
    tenon_source_t* source = NULL;
    if (is_constant(program, node)) {
      TENON_READER_TRY(count_node(program));
      TENON_READER_TRY(make_source(program, scope, node, &source));
      TENON_READER_TRY(convert_constant(source));
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__onnx_convert_nodes_from(tenon__onnx_program_t* program,
                                              tenon__onnx_scope_t* scope, size_t position) {
  for (size_t i = position; i < scope->block->node_count; ++i) {
    if (scope->is_done) {
      return TENON_OK; /* a node was the last that can be */
    }
    const Onnx__NodeProto* node = scope->block->nodes[scope->block->order[i]];
    scope->position = i;
    if (!is_constant(program, node)) {
      TENON_READER_TRY(convert_node(program, scope, node));
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__onnx_convert_nodes(tenon__onnx_program_t* program,
                                         tenon__onnx_scope_t* scope) {
  TENON_READER_TRY(bind_constants(program, scope));
  return tenon__onnx_convert_nodes_from(program, scope, 0);
}

static tenon_status_t make_input(tenon__onnx_program_t* program, const Onnx__GraphProto* graph,
                                 const Onnx__ValueInfoProto* input, tenon_value_t* out_value) {
  tenon_reader_t* reader = program->reader;
  const char* name = tenon__onnx_text(input->name);
  const char* what = tenon_reader_format(reader, "input '%s'", name);
  tenon__onnx_type_t type;
  if (what == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  TENON_READER_TRY(tenon__onnx_type_read(reader, input->type, what, &type));
  if (type.is_map) {
    TENON_READER_TRY(tenon__onnx_map_columns(program, graph, name, &type.dims[1]));
  }
  return tenon__onnx_type_input(reader, name, &type, out_value);
}

/* An initialiser of an input's name is its default value since IR version 4. The input stays one if
 * the caller names it by a shape or a value, and is that constant otherwise. */
static bool is_default(const tenon__onnx_program_t* program, const tenon__onnx_scope_t* scope,
                       const char* name) {
  uint32_t rank = 0;
  const int64_t* dims = NULL;
  const tenon_reader_t* reader = program->reader;
  return tenon_reader_names_find(&scope->bindings, name) != NULL &&
         (program->model->proto->ir_version < 4 ||
          reader->host->input_shape(reader->parse, name, &rank, &dims) != TENON_OK);
}

static tenon_status_t bind_inputs(tenon__onnx_program_t* program, tenon__onnx_scope_t* scope) {
  const Onnx__GraphProto* graph = scope->block->graph;
  for (size_t i = 0; i < graph->n_input; ++i) {
    const char* name = tenon__onnx_text(graph->input[i]->name);
    if (is_default(program, scope, name)) {
      continue;
    }
    tenon_value_t value = {0};
    TENON_READER_TRY(make_input(program, graph, graph->input[i], &value));
    TENON_READER_TRY(tenon__onnx_scope_mark_named(program, scope, value));
    TENON_READER_TRY(tenon__onnx_scope_bind(program, scope, name, value));
  }
  return TENON_OK;
}

tenon_status_t tenon__onnx_program_convert(tenon__onnx_program_t* program) {
  tenon_reader_t* reader = program->reader;
  const Onnx__GraphProto* graph = program->model->proto->graph;
  tenon__onnx_frame_t frame = {.prefix = ""};
  tenon__onnx_target_t target = {0};
  tenon__onnx_scope_t scope = {
      .frame = &frame, .target = &target, .block = tenon__onnx_program_block(program, graph)};
  TENON_READER_TRY(tenon__onnx_scope_bind_initialisers(program, &scope));
  TENON_READER_TRY(bind_inputs(program, &scope));
  TENON_READER_TRY(tenon__onnx_convert_nodes(program, &scope));
  if (graph->n_output == 0) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA, "graph '%s' has no outputs",
                             tenon__onnx_text(graph->name));
  }
  for (size_t i = 0; i < graph->n_output; ++i) {
    const char* name = tenon__onnx_text(graph->output[i]->name);
    tenon_value_t value = {0};
    TENON_READER_TRY(tenon__onnx_scope_find(program, &scope, name, &value));
    TENON_READER_TRY(reader->build->output(reader->builder, value, name));
  }
  return TENON_OK;
}
