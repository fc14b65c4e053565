/* Walks the nodes in order: each goes to its converter, and its outputs get names. */
#include <inttypes.h>
#include <string.h>

#include "dtype.h"
#include "source.h"

/* ---- Who converts ---- */

/* A converter for "_Op" itself counts more than TensorFlow's Op. */
static const tenon_converter_t* find_converter(tenon__uff_program_t* program,
                                               tenon__uff_node_t* node, void** out_state) {
  const tenon_reader_t* reader = program->reader;
  const tenon_converter_t* converter = NULL;
  if (node->operation[0] == '_' && !program->graph.is_tensorflow) {
    converter = reader->host->find_converter(reader->parse, "", node->operation, 1, out_state);
    if (converter != NULL) {
      node->domain = "";
      node->type = node->operation;
      return converter;
    }
  }
  return reader->host->find_converter(reader->parse, node->domain, node->type, 1, out_state);
}

static bool is_input(const tenon__uff_program_t* program, const tenon__uff_node_t* node) {
  return strcmp(node->operation, program->graph.is_tensorflow ? "Placeholder" : "Input") == 0;
}

/* ---- What the file says of itself ---- */

/* What the file says; rank TENON_NONE: nothing. */
static tenon_status_t read_shape(tenon__uff_program_t* program, const tenon__uff_node_t* node,
                                 uint32_t* out_rank, const int64_t** out_dims) {
  tenon__uff_attribute_t* shape = tenon__uff_attribute(node, "shape");
  *out_rank = TENON_NONE;
  *out_dims = NULL;
  if (shape == NULL || shape->kind != TENON_FIELD_INTS) {
    return TENON_OK;
  }
  shape->is_read = true;
  if (shape->count > TENON__UFF_RANK_LIMIT) {
    return TENON_READER_FAIL(program->reader, TENON_ERROR_UNSUPPORTED, "%s: it has %zu axes",
                             tenon__uff_node_text(program->reader, node), shape->count);
  }
  if (!program->graph.has_vague_shapes || shape->count > 0) {
    *out_rank = (uint32_t)shape->count;
    *out_dims = shape->ints;
  }
  return TENON_OK;
}

static tenon_dtype_t input_dtype(const tenon__uff_node_t* node) {
  const tenon__uff_attribute_t* type = tenon__uff_attribute(node, "dtype");
  return type == NULL || !type->is_type ? TENON_DTYPE_FLOAT32 : (tenon_dtype_t)type->integer;
}

/* In the order in which the graph was made: UFF's nodes stand in reverse. */
static tenon__uff_node_t* node_at(const tenon__uff_graph_t* graph, size_t index) {
  return &graph->nodes[graph->is_tensorflow ? index : graph->node_count - 1 - index];
}

/* Of outputs only the names are known. */
static tenon_status_t declare_values(tenon__uff_program_t* program) {
  const tenon_reader_t* reader = program->reader;
  const tenon__uff_graph_t* graph = &program->graph;
  for (size_t i = 0; i < graph->node_count; ++i) {
    const tenon__uff_node_t* node = node_at(graph, i);
    if (node->is_taken && is_input(program, node)) {
      tenon_value_type_t type = {
          .size = sizeof(type), .kind = TENON_ARGUMENT_TENSOR, .dtype = input_dtype(node)};
      TENON_READER_TRY(read_shape(program, node, &type.rank, &type.dims));
      reader->host->declare_value(reader->parse, 0, node->name, &type, NULL);
    }
  }
  for (uint32_t i = 0; i < graph->output_count; ++i) {
    const tenon_value_type_t type = {
        .size = sizeof(type), .kind = TENON_ARGUMENT_TENSOR, .rank = TENON_NONE};
    reader->host->declare_value(reader->parse, 1, graph->outputs[i].name, &type, NULL);
  }
  return TENON_OK;
}

static void report_missing(tenon__uff_program_t* program, tenon__uff_node_t* node) {
  const tenon_reader_t* reader = program->reader;
  reader->host->report_missing(reader->parse, node->domain, node->type, 1, node->name);
  program->is_lacking = true;
}

tenon_status_t tenon__uff_program_check(tenon__uff_program_t* program) {
  const tenon_reader_t* reader = program->reader;
  const bool tells = tenon_reader_can_declare(reader);
  if (tells) {
    TENON_READER_TRY(declare_values(program));
  }
  for (size_t i = 0; i < program->graph.order_count; ++i) {
    tenon__uff_node_t* node = program->graph.order[i];
    void* state = NULL;
    tenon__uff_control_count(program, node);
    if (is_input(program, node) || tenon__uff_control_is(program, node)) {
      continue;
    }
    const bool is_missing = find_converter(program, node, &state) == NULL;
    if (tells && (!is_missing || node->switches == 0)) {
      reader->host->declare_node(reader->parse, node->domain, node->type, 1, node->name);
    }
    if (is_missing && node->switches == 0) {
      report_missing(program, node);
    }
  }
  return program->is_lacking ? TENON_ERROR_UNSUPPORTED : TENON_OK;
}

/* ---- Inputs ---- */

/* Extents that the caller gave replace the file's. */
static tenon_status_t find_extents(tenon__uff_program_t* program, const tenon__uff_node_t* node,
                                   uint32_t* out_rank, const int64_t** out_dims) {
  tenon_reader_t* reader = program->reader;
  uint32_t rank = 0;
  const int64_t* dims = NULL;
  TENON_READER_TRY(read_shape(program, node, out_rank, out_dims));
  const tenon_status_t status = reader->host->input_shape(reader->parse, node->name, &rank, &dims);
  if (status == TENON_OK) {
    if (*out_rank != TENON_NONE && rank != *out_rank) {
      return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_ARGUMENT,
                               "input '%s' has rank %u in the file, the shape given has %u",
                               node->name, *out_rank, rank);
    }
    *out_rank = rank;
    *out_dims = dims;
    return TENON_OK;
  }
  if (status != TENON_ERROR_NOT_FOUND) {
    return status;
  }
  return *out_rank != TENON_NONE
             ? TENON_OK
             : TENON_READER_FAIL(
                   reader, TENON_ERROR_INVALID_ARGUMENT,
                   "input '%s' has no rank in the file: give its extents, for example "
                   "%s:1x224x224x3, with -1 for what varies, or %s:scalar",
                   node->name, node->name, node->name);
}

static tenon_status_t build_input(tenon__uff_program_t* program, tenon__uff_node_t* node) {
  tenon_reader_t* reader = program->reader;
  tenon__uff_attribute_t* type = tenon__uff_attribute(node, "dtype");
  const tenon_dtype_t dtype = input_dtype(node);
  uint32_t rank = 0;
  const int64_t* dims = NULL;
  TENON_READER_TRY(find_extents(program, node, &rank, &dims));
  if (dtype == TENON_DTYPE_UNDEFINED) {
    return TENON_READER_FAIL(reader, TENON_ERROR_UNSUPPORTED,
                             "%s: its dtype is none that Tenon has",
                             tenon__uff_node_text(reader, node));
  }
  const char** symbols = tenon_reader_allocate(reader, rank, sizeof(*symbols));
  if (symbols == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  if (type != NULL) {
    type->is_read = true;
  }
  return reader->build->input(reader->builder, node->name, dtype, rank, dims, symbols,
                              &node->outputs[0]);
}

static tenon_status_t build_inputs(tenon__uff_program_t* program) {
  tenon__uff_graph_t* graph = &program->graph;
  for (size_t i = 0; i < graph->node_count; ++i) {
    tenon__uff_node_t* node = node_at(graph, i);
    if (node->is_taken && is_input(program, node)) {
      node->outputs =
          tenon_reader_allocate(program->reader, node->output_count, sizeof(*node->outputs));
      if (node->outputs == NULL) {
        return tenon_reader_fail_memory(program->reader);
      }
      TENON_READER_TRY(build_input(program, node));
    }
  }
  return TENON_OK;
}

/* ---- Nodes ---- */

static bool is_among(const tenon_value_t* values, uint32_t count, tenon_value_t value) {
  for (uint32_t i = 0; i < count; ++i) {
    if (values[i].id == value.id) {
      return true;
    }
  }
  return false;
}

/* What is an input has a name. */
static tenon_status_t name_outputs(tenon__uff_program_t* program, const tenon__uff_node_t* node,
                                   const tenon_value_t* inputs) {
  tenon_reader_t* reader = program->reader;
  for (uint32_t i = 0; i < node->output_count; ++i) {
    const tenon_value_t value = node->outputs[i];
    if (value.id == 0 || is_among(inputs, node->input_count, value) ||
        is_among(node->outputs, i, value)) {
      continue;
    }
    const char* name = i == 0 ? node->name : tenon_reader_format(reader, "%s:%u", node->name, i);
    if (name == NULL) {
      return tenon_reader_fail_memory(reader);
    }
    TENON_READER_TRY(reader->build->set_name(reader->builder, value, name));
  }
  return TENON_OK;
}

static tenon_status_t find_inputs(tenon__uff_program_t* program, const tenon__uff_node_t* node,
                                  tenon_value_t* out_values) {
  tenon_reader_t* reader = program->reader;
  for (uint32_t i = 0; i < node->input_count; ++i) {
    const tenon__uff_input_t* input = &node->inputs[i];
    out_values[i] = input->node->outputs[input->index];
    if (out_values[i].id == 0) {
      return TENON_READER_FAIL(reader, TENON_ERROR_UNSUPPORTED,
                               "%s: its input %u ('%s') is an output that %s '%s' does not give",
                               tenon__uff_node_text(reader, node), i, input->name,
                               input->node->operation, input->node->name);
    }
  }
  return TENON_OK;
}

static tenon_status_t convert_node(tenon__uff_program_t* program, tenon__uff_node_t* node) {
  tenon_reader_t* reader = program->reader;
  tenon_source_t* source = tenon_reader_allocate(reader, 1, sizeof(*source));
  tenon_value_t* inputs = tenon_reader_allocate(reader, node->input_count, sizeof(*inputs));
  void* state = NULL;
  const tenon_converter_t* converter = find_converter(program, node, &state);
  if (source == NULL || inputs == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  if (converter == NULL) {
    report_missing(program, node);
    node->is_lacking = true;
  }
  if (node->is_lacking) {
    return TENON_OK;
  }
  *source = (tenon_source_t){program, node};
  if (!program->graph.is_tensorflow && strcmp(node->operation, "Const") == 0) {
    TENON_READER_TRY(tenon__uff_graph_shape_const(reader, node));
  }
  TENON_READER_TRY(find_inputs(program, node, inputs));
  const tenon_conversion_t conversion = {.size = sizeof(conversion),
                                         .state = state,
                                         .source = source,
                                         .table = tenon__uff_source_table(),
                                         .builder = reader->builder,
                                         .build = reader->build,
                                         .inputs = inputs,
                                         .outputs = node->outputs,
                                         .input_count = node->input_count,
                                         .output_count = node->output_count};
  TENON_READER_TRY(converter->convert(&conversion));
  TENON_READER_TRY(name_outputs(program, node, inputs));
  return tenon__uff_source_tell_unread(source);
}

/* What lacks something is walked to find what else is missing. */
static tenon_status_t walk_node(tenon__uff_program_t* program, tenon__uff_node_t* node) {
  if (is_input(program, node)) {
    return TENON_OK;
  }
  TENON_READER_TRY(tenon_reader_spend(program->reader, node->output_count, sizeof(*node->outputs)));
  node->outputs =
      tenon_reader_allocate(program->reader, node->output_count, sizeof(*node->outputs));
  if (node->outputs == NULL) {
    return tenon_reader_fail_memory(program->reader);
  }
  tenon__uff_control_enter(program, node);
  if (node->is_dead) {
    return TENON_OK;
  }
  if (!tenon__uff_control_is(program, node)) {
    return convert_node(program, node);
  }
  return node->is_lacking ? TENON_OK : tenon__uff_control_convert(program, node);
}

/* Of a node that nobody reads only what it gives. */
static tenon_status_t add_outputs(tenon__uff_program_t* program) {
  tenon_reader_t* reader = program->reader;
  const tenon__uff_graph_t* graph = &program->graph;
  for (uint32_t i = 0; i < graph->output_count; ++i) {
    const tenon__uff_input_t* output = &graph->outputs[i];
    const tenon_value_t value = output->node->outputs[output->index];
    if (value.id == 0) {
      return TENON_READER_FAIL(
          reader, TENON_ERROR_UNSUPPORTED,
          "output '%s' is not made: %s gives none, or lies behind a Switch that is not "
          "taken",
          output->name, tenon__uff_node_text(reader, output->node));
    }
    TENON_READER_TRY(reader->build->output(reader->builder, value, output->name));
  }
  return TENON_OK;
}

tenon_status_t tenon__uff_program_convert(tenon__uff_program_t* program) {
  TENON_READER_TRY(build_inputs(program));
  for (size_t i = 0; i < program->graph.order_count; ++i) {
    TENON_READER_TRY(walk_node(program, program->graph.order[i]));
  }
  return program->is_lacking ? TENON_ERROR_UNSUPPORTED : add_outputs(program);
}
