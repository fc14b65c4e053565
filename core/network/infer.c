/*
 * Inference of one node. In order: the operator's checks; shapes, by the first of shape rule,
 * plugin's function, bodies, expression, contents rule that it declares; meaning, the first case or
 * move whose condition holds; contents, by rule or through the meaning.
 */
#include "core/network/infer.h"

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/language/condition.h"
#include "core/language/instantiate.h"
#include "core/language/move_rule.h"
#include "core/language/shape_rule.h"
#include "core/network/infer_callback.h"
#include "core/network/infer_control.h"

static const tenon_sink_t silence = {NULL, NULL};

static tenon_status_t evaluate_checks(const tenon__inference_t* inference) {
  const tenon_operator_t* op = &inference->op->descriptor;
  for (uint32_t i = 0; i < op->check_count; ++i) {
    TENON_TRY(tenon__check_evaluate(&inference->scope, inference->op->checks[i],
                                    op->checks[i].message, inference->sink));
  }
  return TENON_OK;
}

/* The first case whose condition holds; NULL when none does. */
static tenon_status_t choose_case(const tenon__inference_t* inference,
                                  const tenon__operator_case_t* cases, uint32_t count,
                                  const tenon__text_t** out_text) {
  *out_text = NULL;
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0; status == TENON_OK && *out_text == NULL && i < count; ++i) {
    bool holds = cases[i].when == NULL;
    if (!holds) {
      status = tenon__condition_evaluate(&inference->scope, cases[i].when, inference->sink, &holds);
    }
    *out_text = status == TENON_OK && holds ? &cases[i].text : NULL;
  }
  return status;
}

/* The expression of a case. With `shapes` given by a rule, what an expression cannot say (strings,
 * sequences) leaves the node closed. */
static tenon_status_t resolve_expression(tenon__inference_t* inference,
                                         const tenon__inferred_shape_t* shapes,
                                         tenon__inferred_shape_t* out_shapes) {
  const tenon__text_t* text = NULL;
  TENON_TRY(
      choose_case(inference, inference->op->cases, inference->op->descriptor.case_count, &text));
  if (text == NULL) {
    return shapes != NULL ? TENON_OK
                          : tenon__fail(inference->sink, TENON_ERROR_UNSUPPORTED,
                                        "none of the operator's cases fits the node");
  }
  tenon__expression_t* expression =
      tenon__arena_allocate(&inference->network->arena, 1, sizeof(*expression));
  TENON_TRY_MEMORY(expression != NULL);
  const tenon_sink_t* sink = shapes != NULL ? &silence : inference->sink;
  tenon__node_text_t node_text = {&inference->scope, text, &inference->network->arena, sink};
  tenon_status_t status = tenon__expression_instantiate(&node_text, shapes, expression, out_shapes);
  if (status == TENON_ERROR_UNSUPPORTED && shapes != NULL) {
    return TENON_OK;
  }
  if (status != TENON_OK && shapes != NULL) {
    node_text.sink = inference->sink;
    status = tenon__expression_instantiate(&node_text, shapes, expression, out_shapes);
  }
  if (status == TENON_OK) {
    inference->expression = expression;
  }
  return status;
}

static tenon_status_t resolve_moves(tenon__inference_t* inference,
                                    const tenon__inferred_shape_t* shapes) {
  const tenon__text_t* text = NULL;
  TENON_TRY(
      choose_case(inference, inference->op->moves, inference->op->descriptor.move_count, &text));
  if (text == NULL) {
    return TENON_OK;
  }
  tenon__index_map_t* maps = tenon__arena_allocate(&inference->network->arena,
                                                   inference->output_count + 1u, sizeof(*maps));
  TENON_TRY_MEMORY(maps != NULL);
  const tenon__node_text_t rule = {&inference->scope, text, &inference->network->arena,
                                   inference->sink};
  for (uint32_t i = 0; i < inference->output_count; ++i) {
    TENON_TRY(tenon__move_evaluate(&rule, i, &shapes[i], &maps[i]));
  }
  inference->maps = maps;
  return TENON_OK;
}

static tenon_status_t rule_contents(tenon__inference_t* inference,
                                    const tenon__inferred_shape_t* shapes) {
  const tenon__node_text_t rule = {&inference->scope, inference->op->contents,
                                   &inference->network->arena, inference->sink};
  bool all = true;
  for (uint32_t i = 0; i < inference->output_count; ++i) {
    tenon__type_t* type = &inference->outputs[i].type;
    if (!tenon__type_is_followed(inference->network, type)) {
      all = false;
      continue;
    }
    TENON_TRY(tenon__contents_evaluate(&rule, i, &shapes[i], type));
    all = all && type->contents != NULL;
  }
  inference->contents_only = all;
  return TENON_OK;
}

/* Contents of an output through the node's expression or move, if it has one. */
static tenon_status_t semantic_contents(tenon__inference_t* inference, uint32_t output) {
  tenon__type_t* type = &inference->outputs[output].type;
  if (inference->expression != NULL) {
    return tenon__infer_expression_contents(inference, inference->expression, output, type);
  }
  return inference->maps != NULL
             ? tenon__infer_move_contents(inference, &inference->maps[output], type)
             : TENON_OK;
}

static tenon_status_t infer_contents(tenon__inference_t* inference,
                                     const tenon__inferred_shape_t* shapes) {
  if (inference->op->contents != NULL) {
    return rule_contents(inference, shapes);
  }
  for (uint32_t i = 0; i < inference->output_count; ++i) {
    TENON_TRY(semantic_contents(inference, i));
  }
  return TENON_OK;
}

/* A contents rule without a subscript gives a scalar. */
static tenon_status_t contents_shapes(const tenon__inference_t* inference,
                                      tenon__inferred_shape_t* shapes) {
  const tenon__text_t* text = inference->op->contents;
  for (uint32_t i = 0; i < text->statement_count; ++i) {
    if (!text->statements[i].is_let && text->statements[i].subscript != NULL) {
      return tenon__fail(inference->sink, TENON_ERROR_INVALID_DATA,
                         "a vector's contents are declared without its shape");
    }
  }
  for (uint32_t i = 0; i < inference->output_count; ++i) {
    shapes[i] = (tenon__inferred_shape_t){0, NULL};
  }
  return TENON_OK;
}

static tenon_status_t infer_shapes(tenon__inference_t* inference, tenon__inferred_shape_t* shapes) {
  const tenon__operator_t* op = inference->op;
  for (uint32_t i = 0; i < inference->output_count; ++i) {
    shapes[i] = (tenon__inferred_shape_t){TENON_NONE, NULL};
  }
  if (op->shape != NULL) {
    const tenon__node_text_t rule = {&inference->scope, op->shape, inference->scratch,
                                     inference->sink};
    return tenon__shape_rule_evaluate(&rule, (tenon__fresh_t){tenon__infer_fresh, inference},
                                      shapes, inference->output_count);
  }
  if (op->descriptor.infer != NULL) {
    return tenon__infer_callback(inference, shapes);
  }
  if (op->descriptor.case_count > 0) {
    return resolve_expression(inference, NULL, shapes);
  }
  return op->contents != NULL ? contents_shapes(inference, shapes) : TENON_OK;
}

static tenon_status_t check_output_types(const tenon__inference_t* inference) {
  for (uint32_t i = 0; i < inference->output_count; ++i) {
    if (inference->outputs[i].type.dtype == TENON_DTYPE_UNDEFINED) {
      return tenon__fail(inference->sink, TENON_ERROR_INVALID_DATA,
                         "the element type of output %u does not follow from the inputs", i);
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__infer_node(tenon__inference_t* inference) {
  const tenon__operator_t* op = inference->op;
  TENON_TRY(evaluate_checks(inference));
  if (op->descriptor.control != NULL) {
    return tenon__infer_control(inference);
  }
  tenon__inferred_shape_t* shapes =
      tenon__arena_allocate(inference->scratch, inference->output_count + 1u, sizeof(*shapes));
  TENON_TRY_MEMORY(shapes != NULL);
  TENON_TRY(infer_shapes(inference, shapes));
  TENON_TRY_MEMORY(!inference->failed && !tenon__dim_pool_failed(inference->network->pool));
  TENON_TRY(check_output_types(inference));
  for (uint32_t i = 0; i < inference->output_count; ++i) {
    TENON_TRY(tenon__infer_set_shape(inference, i, &shapes[i]));
  }
  if (op->descriptor.case_count > 0 && inference->expression == NULL) {
    TENON_TRY(resolve_expression(inference, shapes, shapes));
  }
  if (op->descriptor.move_count > 0) {
    TENON_TRY(resolve_moves(inference, shapes));
  }
  TENON_TRY(infer_contents(inference, shapes));
  return tenon__dim_pool_failed(inference->network->pool) ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}
