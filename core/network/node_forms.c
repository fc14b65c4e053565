/*
 * Nodes without an operator: expressions, from a program or from a text, and moves.
 *
 * A text's one output takes the element type in which it computes, or, where an input of a narrower
 * type computes in that type, the type of the first such input: half precision in, half precision
 * out.
 */
#include "core/network/node_forms.h"

#include <string.h>

#include "core/language/instantiate.h"
#include "core/network/infer_types.h"
#include "core/network/meaning.h"
#include "core/network/node.h"

static const char* output_name(const tenon__text_t* text) {
  for (uint32_t i = 0; i < text->statement_count; ++i) {
    if (!text->statements[i].is_let) {
      return text->statements[i].target;
    }
  }
  return NULL;
}

static tenon_status_t text_scope(tenon__inference_t* inference,
                                 const tenon__expression_source_t* source) {
  const uint32_t count = inference->input_count;
  tenon__scope_port_t* ports =
      tenon__arena_allocate(inference->scratch, count + 2u, sizeof(*ports));
  inference->input_values =
      tenon__arena_allocate(inference->scratch, count + 1u, sizeof(*inference->input_values));
  inference->output_values =
      tenon__arena_allocate(inference->scratch, 1, sizeof(*inference->output_values));
  inference->outputs = tenon__arena_allocate(inference->scratch, 1, sizeof(*inference->outputs));
  if (ports == NULL || inference->input_values == NULL || inference->output_values == NULL ||
      inference->outputs == NULL) {
    return tenon__fail_memory(inference->sink);
  }
  for (uint32_t i = 0; i < count; ++i) {
    inference->input_values[i] =
        tenon__infer_scope_value(inference->network, inference->graph, inference->inputs[i], i);
    ports[i] = (tenon__scope_port_t){.name = source == NULL ? "x" : source->input_names[i],
                                     .type = tenon__dtype_name(inference->input_values[i].dtype),
                                     .count = 1,
                                     .values = &inference->input_values[i]};
  }
  inference->output_values[0] = (tenon__scope_value_t){.present = true, .rank = TENON_NONE};
  inference->outputs[0] = (tenon__inferred_value_t){
      .kind = TENON_ARGUMENT_TENSOR, .rank = TENON_NONE, .number = TENON_NONE};
  ports[count] = (tenon__scope_port_t){.name = source == NULL ? "y" : output_name(&source->text),
                                       .type = "",
                                       .count = 1,
                                       .values = inference->output_values};
  inference->output_count = 1;
  inference->scope = (tenon__scope_t){
      .pool = inference->network->pool,
      .input_count = count,
      .inputs = ports,
      .output_count = 1,
      .outputs = ports + count,
      .node_number = inference->network->next_number,
  };
  return TENON_OK;
}

/* The type of an instruction's value. */
static tenon_dtype_t result_type(const tenon_instruction_t* instruction) {
  const uint32_t opcode = instruction->opcode;
  const bool is_bool = (opcode >= TENON_OPCODE_EQ && opcode <= TENON_OPCODE_GE) ||
                       opcode == TENON_OPCODE_IS_NAN || opcode == TENON_OPCODE_IS_INF;
  return is_bool ? TENON_DTYPE_BOOL : instruction->dtype;
}

static tenon_dtype_t storage_type(const tenon__inference_t* inference, tenon_dtype_t arithmetic) {
  for (uint32_t i = 0; i < inference->input_count; ++i) {
    const tenon_dtype_t dtype = inference->input_values[i].dtype;
    if (tenon__dtype_arithmetic(dtype) == arithmetic) {
      return dtype;
    }
  }
  return arithmetic;
}

tenon_status_t tenon__infer_text(tenon__inference_t* inference,
                                 const tenon__expression_source_t* source) {
  TENON_TRY(text_scope(inference, source));
  tenon__expression_t* expression =
      tenon__arena_allocate(&inference->network->arena, 1, sizeof(*expression));
  if (expression == NULL) {
    return tenon__fail_memory(inference->sink);
  }
  tenon__inferred_shape_t shape = {TENON_NONE, NULL};
  /* The first time only to learn the type of the result. */
  inference->output_values[0].dtype = TENON_DTYPE_FLOAT64;
  for (uint32_t round = 0; round < 2; ++round) {
    const tenon__node_text_t text = {&inference->scope, &source->text,
                                     round == 0 ? inference->scratch : &inference->network->arena,
                                     inference->sink};
    TENON_TRY(tenon__expression_instantiate(&text, NULL, expression, &shape));
    const tenon_program_t* program = &expression->program;
    if (round == 0) {
      const tenon_instruction_t* last = &program->instructions[program->outputs[0].instruction];
      const tenon_dtype_t own = result_type(last);
      inference->output_values[0].dtype = storage_type(inference, own);
    }
  }
  inference->outputs[0].dtype = inference->output_values[0].dtype;
  TENON_TRY(tenon__infer_set_shape(inference, 0, &shape));
  inference->expression = expression;
  return tenon__infer_expression_contents(inference, expression, 0, &inference->outputs[0]);
}

static tenon_status_t add_text(tenon__node_work_t* work, const char* text,
                               const char* const* input_names, uint32_t* out_node) {
  tenon__inference_t* inference = &work->inference;
  tenon__arena_t* arena = &inference->network->arena;
  tenon__expression_source_t* source = tenon__arena_allocate(arena, 1, sizeof(*source));
  const char* copy = tenon__arena_copy_string(arena, text);
  const char** names = tenon__arena_allocate(arena, inference->input_count + 1u, sizeof(*names));
  if (source == NULL || copy == NULL || names == NULL) {
    return tenon__fail_memory(inference->sink);
  }
  for (uint32_t i = 0; i < inference->input_count; ++i) {
    names[i] = tenon__arena_copy_string(arena, input_names[i]);
    if (names[i] == NULL) {
      return tenon__fail_memory(inference->sink);
    }
  }
  source->input_names = names;
  TENON_TRY(tenon__text_parse(arena, copy, inference->sink, &source->text));
  if (output_name(&source->text) == NULL) {
    return tenon__fail(inference->sink, TENON_ERROR_INVALID_DATA, "the text defines no output");
  }
  TENON_TRY(tenon__infer_text(inference, source));
  const tenon__node_commit_t commit = {.inference = inference,
                                       .form = TENON_NODE_EXPRESSION,
                                       .name = inference->name,
                                       .source = source};
  return tenon__node_commit(&commit, out_node);
}

tenon_status_t tenon__graph_add_expression_text(tenon__network_t* network, uint32_t graph,
                                                const tenon__form_request_t* request,
                                                const char* text, const char* const* input_names,
                                                const tenon_sink_t* sink, uint32_t* out_node) {
  tenon__node_work_t work;
  TENON_TRY(tenon__node_work_begin(&work, network, graph, NULL, request->name, sink));
  work.inference.input_count = request->input_count;
  work.inference.inputs = request->inputs;
  const tenon_status_t status = add_text(&work, text, input_names, out_node);
  tenon__node_work_end(&work);
  return status;
}

static tenon_status_t add_expression(tenon__node_work_t* work,
                                     const tenon__expression_t* expression,
                                     const tenon__inferred_shape_t* shapes, uint32_t* out_node) {
  tenon__inference_t* inference = &work->inference;
  const uint32_t count = expression->program.output_count;
  tenon__expression_t* copy = tenon__arena_allocate(&inference->network->arena, 1, sizeof(*copy));
  inference->outputs =
      tenon__arena_allocate(inference->scratch, count + 1u, sizeof(*inference->outputs));
  if (copy == NULL || inference->outputs == NULL ||
      tenon__expression_copy(&inference->network->arena, expression, copy) != TENON_OK) {
    return tenon__fail_memory(inference->sink);
  }
  inference->expression = copy;
  inference->output_count = count;
  for (uint32_t i = 0; i < count; ++i) {
    inference->outputs[i] = (tenon__inferred_value_t){.kind = TENON_ARGUMENT_TENSOR,
                                                      .dtype = expression->program.outputs[i].dtype,
                                                      .number = TENON_NONE};
    TENON_TRY(tenon__infer_set_shape(inference, i, &shapes[i]));
    TENON_TRY(tenon__infer_expression_contents(inference, copy, i, &inference->outputs[i]));
  }
  const tenon__node_commit_t commit = {
      .inference = inference, .form = TENON_NODE_EXPRESSION, .name = inference->name};
  return tenon__node_commit(&commit, out_node);
}

tenon_status_t tenon__graph_add_expression(tenon__network_t* network, uint32_t graph,
                                           const tenon__form_request_t* request,
                                           const tenon__expression_t* expression,
                                           const tenon__inferred_shape_t* shapes,
                                           const tenon_sink_t* sink, uint32_t* out_node) {
  tenon__node_work_t work;
  TENON_TRY(tenon__node_work_begin(&work, network, graph, NULL, request->name, sink));
  work.inference.input_count = request->input_count;
  work.inference.inputs = request->inputs;
  const tenon_status_t status = add_expression(&work, expression, shapes, out_node);
  tenon__node_work_end(&work);
  return status;
}

static tenon_status_t add_move(tenon__node_work_t* work, const tenon__index_map_t* map,
                               tenon_dtype_t dtype, uint32_t* out_node) {
  tenon__inference_t* inference = &work->inference;
  TENON_TRY(text_scope(inference, NULL));
  tenon__index_map_t* copy = tenon__arena_allocate(&inference->network->arena, 1, sizeof(*copy));
  if (copy == NULL || tenon__index_map_copy(&inference->network->arena, map, copy) != TENON_OK) {
    return tenon__fail_memory(inference->sink);
  }
  const tenon__inferred_shape_t shape = {map->rank, map->dims};
  inference->maps = copy;
  inference->outputs[0].dtype = dtype;
  TENON_TRY(tenon__infer_set_shape(inference, 0, &shape));
  TENON_TRY(tenon__infer_move_contents(inference, copy, &inference->outputs[0]));
  const tenon__node_commit_t commit = {
      .inference = inference, .form = TENON_NODE_MOVE, .name = inference->name};
  return tenon__node_commit(&commit, out_node);
}

tenon_status_t tenon__graph_add_move(tenon__network_t* network, uint32_t graph,
                                     const tenon__form_request_t* request,
                                     const tenon__index_map_t* map, tenon_dtype_t dtype,
                                     const tenon_sink_t* sink, uint32_t* out_node) {
  tenon__node_work_t work;
  TENON_TRY(tenon__node_work_begin(&work, network, graph, NULL, request->name, sink));
  work.inference.input_count = request->input_count;
  work.inference.inputs = request->inputs;
  const tenon_status_t status = add_move(&work, map, dtype, out_node);
  tenon__node_work_end(&work);
  return status;
}
