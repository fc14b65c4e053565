/*
 * Nodes without an operator: expressions, from a program or from a text, and moves.
 */
#include "core/network/node_forms.h"

#include "core/base/status.h"
#include "core/network/copy.h"
#include "core/network/infer.h"
#include "core/network/node.h"

static tenon_status_t infer_text(tenon__inference_t* inference,
                                 const tenon__form_request_t* request,
                                 const tenon__expression_source_t** out_source) {
  tenon__arena_t* arena = &inference->network->arena;
  tenon__expression_source_t* source = tenon__arena_allocate(arena, 1, sizeof(*source));
  const char* copy = tenon__arena_copy_string(arena, request->text);
  const char** names = tenon__arena_allocate(arena, inference->input_count + 1u, sizeof(*names));
  TENON_TRY_MEMORY(source != NULL && copy != NULL && names != NULL);
  for (uint32_t i = 0; i < inference->input_count; ++i) {
    names[i] = tenon__arena_copy_string(arena, request->input_names[i]);
    TENON_TRY_MEMORY(names[i] != NULL);
  }
  source->input_names = names;
  TENON_TRY(tenon__text_parse(arena, copy, inference->sink, &source->text));
  if (tenon__text_output(&source->text) == NULL) {
    return tenon__fail(inference->sink, TENON_ERROR_INVALID_DATA, "the text defines no output");
  }
  *out_source = source;
  return tenon__infer_text(inference, source);
}

static tenon_status_t infer_expression(tenon__inference_t* inference,
                                       const tenon__form_request_t* request) {
  const tenon__expression_t* expression = request->expression;
  const uint32_t count = expression->program.output_count;
  tenon__expression_t* copy = tenon__arena_allocate(&inference->network->arena, 1, sizeof(*copy));
  inference->outputs =
      tenon__arena_allocate(inference->scratch, count + 1u, sizeof(*inference->outputs));
  TENON_TRY_MEMORY(copy != NULL && inference->outputs != NULL &&
                   tenon__expression_copy(&inference->network->arena, expression, copy) ==
                       TENON_OK);
  inference->expression = copy;
  inference->output_count = count;
  for (uint32_t i = 0; i < count; ++i) {
    inference->outputs[i] = (tenon__inferred_value_t){
        .type = tenon__type_tensor(expression->program.outputs[i].dtype, 0, NULL),
        .handle = TENON_NONE};
    TENON_TRY(tenon__infer_set_shape(inference, i, &request->shapes[i]));
    TENON_TRY(tenon__infer_expression_contents(inference, copy, i, &inference->outputs[i].type));
  }
  return TENON_OK;
}

static tenon_status_t infer_move(tenon__inference_t* inference,
                                 const tenon__form_request_t* request) {
  const tenon__index_map_t* map = request->map;
  TENON_TRY(tenon__infer_text_scope(inference, NULL));
  tenon__index_map_t* copy = tenon__arena_allocate(&inference->network->arena, 1, sizeof(*copy));
  TENON_TRY_MEMORY(copy != NULL &&
                   tenon__index_map_copy(&inference->network->arena, map, copy) == TENON_OK);
  const tenon__inferred_shape_t shape = {map->rank, map->dims};
  inference->maps = copy;
  inference->outputs[0].type.dtype = request->dtype;
  TENON_TRY(tenon__infer_set_shape(inference, 0, &shape));
  return tenon__infer_move_contents(inference, copy, &inference->outputs[0].type);
}

tenon_status_t tenon__graph_add_form(tenon__network_t* network, uint32_t graph,
                                     const tenon__form_request_t* request, const tenon_sink_t* sink,
                                     uint32_t* out_node) {
  tenon__node_work_t work;
  TENON_TRY(tenon__node_work_begin(&work, network, graph, NULL, request->name, sink));
  work.inference.input_count = request->input_count;
  work.inference.inputs = request->inputs;
  tenon__node_commit_t commit = {
      .inference = &work.inference,
      .form = request->map != NULL ? TENON_NODE_MOVE : TENON_NODE_EXPRESSION,
      .name = request->name};
  tenon_status_t status = request->text != NULL
                              ? infer_text(&work.inference, request, &commit.source)
                          : request->map != NULL ? infer_move(&work.inference, request)
                                                 : infer_expression(&work.inference, request);
  if (status == TENON_OK) {
    status = tenon__node_commit(&commit, out_node);
  }
  tenon__node_work_end(&work);
  return status;
}
