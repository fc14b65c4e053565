/*
 * Inference of one node. In order: the operator's checks; shapes, by the first of shape rule,
 * plugin's function, bodies, expression, contents rule that it declares; meaning, the first case or
 * move whose condition holds; contents, by rule or through the meaning.
 */
#include "core/network/infer.h"

#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_text.h"
#include "core/dimension/requirement.h"
#include "core/language/condition.h"
#include "core/language/instantiate.h"
#include "core/language/move_rule.h"
#include "core/language/shape_rule.h"
#include "core/network/infer_callback.h"
#include "core/network/infer_control.h"
#include "core/program/contents.h"

static const tenon_sink_t silence = {NULL, NULL};

bool tenon__infer_pend(tenon__inference_t* inference, uint32_t number, uint32_t output,
                       tenon_dim_t dim) {
  if (inference->pending_count == inference->pending_capacity) {
    const uint32_t capacity = inference->pending_capacity * 2 + 8;
    tenon__pending_number_t* grown =
        tenon__arena_allocate(inference->scratch, capacity, sizeof(*grown));
    if (grown == NULL) {
      return false;
    }
    for (uint32_t i = 0; i < inference->pending_count; ++i) {
      grown[i] = inference->pending[i];
    }
    inference->pending = grown;
    inference->pending_capacity = capacity;
  }
  inference->pending[inference->pending_count++] = (tenon__pending_number_t){number, output, dim};
  return true;
}

tenon_dim_t tenon__infer_fresh(void* user, uint32_t output, uint32_t axis, tenon_dim_t bound) {
  tenon__inference_t* inference = user;
  tenon__network_t* network = inference->network;
  if (output >= inference->output_count) {
    return TENON_DIM_INVALID;
  }
  if (inference->existing != NULL) {
    const uint32_t index = inference->existing->outputs[output];
    const tenon__value_node_t* value =
        index == TENON_NONE ? NULL : &network->graphs[inference->graph]->values[index];
    if (value != NULL && value->rank != TENON_NONE && axis < value->rank) {
      return value->dims[axis];
    }
    const tenon__symbol_t any = {.kind = TENON_SYMBOL_EXTENT,
                                 .name = TENON_VERIFIED_EXTENT,
                                 .max = INT64_MAX,
                                 .bound = TENON_DIM_INVALID};
    return tenon__dim_symbol(network->pool, &any);
  }
  uint32_t* number = &inference->outputs[output].number;
  if (*number == TENON_NONE) {
    if (tenon__number_reserve(network, inference->graph, TENON_NONE, TENON_NONE, number) !=
            TENON_OK ||
        !tenon__infer_pend(inference, *number, output, TENON_DIM_INVALID)) {
      inference->failed = true;
      return TENON_DIM_INVALID;
    }
  }
  tenon__symbol_t symbol = {.kind = TENON_SYMBOL_EXTENT,
                            .a = *number,
                            .b = axis,
                            .min = 0,
                            .max = INT64_MAX,
                            .bound = bound};
  if (bound.id != TENON_NONE) {
    int64_t min = 0;
    tenon__dim_range(network->pool, bound, &min, &symbol.max);
  }
  return tenon__dim_symbol(network->pool, &symbol);
}

/* Extents are neither negative nor beyond what a number can count. */
static tenon_status_t check_shape(const tenon__inference_t* inference, uint32_t output) {
  const tenon__inferred_value_t* value = &inference->outputs[output];
  tenon__dim_pool_t* pool = inference->network->pool;
  int64_t elements = 1;
  for (uint32_t i = 0; i < value->rank; ++i) {
    int64_t min = 0;
    int64_t max = 0;
    if (value->dims[i].id == TENON_NONE) {
      return tenon__fail(inference->sink, TENON_ERROR_INVALID_DATA,
                         "extent %u of output %u overflows or divides by zero", i, output);
    }
    tenon__dim_range(pool, value->dims[i], &min, &max);
    if (max < 0) {
      return tenon__fail(inference->sink, TENON_ERROR_INVALID_DATA,
                         "extent %u of output %u would be negative: %s", i, output,
                         tenon__dim_text(pool, value->dims[i], inference->scratch));
    }
    if (min < 0 && tenon__dim_pool_collects(pool)) {
      const char* words =
          tenon__arena_format(inference->scratch, "extent %u of output %u would be negative: %s", i,
                              output, tenon__dim_text(pool, value->dims[i], inference->scratch));
      const tenon_dim_t zero = tenon__dim_constant(pool, 0);
      tenon__dim_require(pool, tenon__dim_combine(pool, TENON_OPCODE_GE, value->dims[i], zero),
                         words == NULL ? "an extent would be negative" : words);
    }
    int64_t extent = 1;
    if (tenon__dim_known(pool, value->dims[i], &extent) && extent > 0 &&
        __builtin_mul_overflow(elements, extent, &elements)) {
      return tenon__fail(inference->sink, TENON_ERROR_INVALID_DATA,
                         "output %u has more elements than can be counted", output);
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__infer_set_shape(tenon__inference_t* inference, uint32_t output,
                                      const tenon__inferred_shape_t* shape) {
  tenon__inferred_value_t* value = &inference->outputs[output];
  value->rank = shape->rank;
  value->dims = NULL;
  if (shape->rank != TENON_NONE && shape->rank > TENON_RANK_LIMIT) {
    return tenon__fail(inference->sink, TENON_ERROR_UNSUPPORTED,
                       "output %u has %u dimensions, more than %d", output, shape->rank,
                       TENON_RANK_LIMIT);
  }
  if (shape->rank != TENON_NONE) {
    tenon_dim_t* dims =
        tenon__arena_allocate(&inference->network->arena, shape->rank + 1u, sizeof(*dims));
    if (dims == NULL) {
      return tenon__fail_memory(inference->sink);
    }
    for (uint32_t i = 0; i < shape->rank; ++i) {
      dims[i] = shape->dims[i];
    }
    value->dims = dims;
    TENON_TRY(check_shape(inference, output));
  }
  if (inference->output_values != NULL) {
    inference->output_values[output].dtype = value->dtype;
    inference->output_values[output].rank = value->rank;
    inference->output_values[output].dims = value->dims;
  }
  return TENON_OK;
}

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
  if (expression == NULL) {
    return tenon__fail_memory(inference->sink);
  }
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
  if (maps == NULL) {
    return tenon__fail_memory(inference->sink);
  }
  const tenon__node_text_t rule = {&inference->scope, text, &inference->network->arena,
                                   inference->sink};
  for (uint32_t i = 0; i < inference->output_count; ++i) {
    TENON_TRY(tenon__move_evaluate(&rule, i, &shapes[i], &maps[i]));
  }
  inference->maps = maps;
  return TENON_OK;
}

/* Known number of elements up to the limit; else TENON_NONE. */
static uint32_t content_count(const tenon__network_t* network,
                              const tenon__inferred_value_t* value) {
  int64_t count = 1;
  if (value->kind != TENON_ARGUMENT_TENSOR || value->rank == TENON_NONE) {
    return TENON_NONE;
  }
  for (uint32_t i = 0; i < value->rank; ++i) {
    int64_t extent = 0;
    if (!tenon__dim_known(network->pool, value->dims[i], &extent) || extent < 0 ||
        extent > TENON_CONTENT_LIMIT || count * extent > TENON_CONTENT_LIMIT) {
      return TENON_NONE;
    }
    count *= extent;
  }
  return (uint32_t)count;
}

static bool dtype_has_contents(tenon_dtype_t dtype) {
  const char type_class = tenon__dtype_class(dtype);
  return type_class == 'b' || type_class == 'i' || type_class == 'u' || type_class == 'f';
}

tenon_status_t tenon__infer_expression_contents(tenon__inference_t* inference,
                                                const tenon__expression_t* expression,
                                                uint32_t output,
                                                tenon__inferred_value_t* inout_value) {
  const tenon_program_t* program = &expression->program;
  const size_t count = program->operand_count;
  if (!dtype_has_contents(inout_value->dtype) ||
      content_count(inference->network, inout_value) == TENON_NONE) {
    return TENON_OK;
  }
  const tenon_dim_t** contents =
      tenon__arena_allocate(inference->scratch, count + 1, sizeof(void*));
  const tenon_dim_t** dims = tenon__arena_allocate(inference->scratch, count + 1, sizeof(void*));
  uint32_t* counts = tenon__arena_allocate(inference->scratch, count + 1, sizeof(*counts));
  if (contents == NULL || dims == NULL || counts == NULL) {
    return tenon__fail_memory(inference->sink);
  }
  bool any = count == 0;
  for (size_t k = 0; k < count; ++k) {
    const uint32_t value = inference->inputs[program->operands[k].index];
    const tenon__value_node_t* node = &inference->network->graphs[inference->graph]->values[value];
    contents[k] = node->contents;
    counts[k] = node->content_count;
    dims[k] = node->dims;
    any = any || node->contents != NULL;
  }
  const tenon_dim_t* result = NULL;
  uint32_t result_count = 0;
  if (any) {
    TENON_TRY(tenon__program_contents(inference->network->pool, expression, output, contents,
                                      counts, dims, &inference->network->arena, &result,
                                      &result_count));
  }
  if (result != NULL) {
    inout_value->contents = result;
    inout_value->content_count = result_count;
  }
  return TENON_OK;
}

tenon_status_t tenon__infer_move_contents(tenon__inference_t* inference,
                                          const tenon__index_map_t* map,
                                          tenon__inferred_value_t* inout_value) {
  bool any = false;
  for (uint32_t i = 0; i < map->source_count; ++i) {
    const uint32_t value = inference->inputs[map->sources[i].input];
    any = any || inference->network->graphs[inference->graph]->values[value].contents != NULL;
  }
  if (!any || !dtype_has_contents(inout_value->dtype) ||
      content_count(inference->network, inout_value) == TENON_NONE) {
    return TENON_OK;
  }
  const tenon_dim_t* result = NULL;
  uint32_t result_count = 0;
  TENON_TRY(tenon__move_contents(&inference->scope, map, &inference->network->arena, &result,
                                 &result_count));
  if (result != NULL) {
    inout_value->contents = result;
    inout_value->content_count = result_count;
  }
  return TENON_OK;
}

static tenon_status_t rule_contents(tenon__inference_t* inference,
                                    const tenon__inferred_shape_t* shapes) {
  const tenon__node_text_t rule = {&inference->scope, inference->op->contents,
                                   &inference->network->arena, inference->sink};
  bool all = true;
  for (uint32_t i = 0; i < inference->output_count; ++i) {
    tenon__inferred_value_t* value = &inference->outputs[i];
    if (content_count(inference->network, value) == TENON_NONE) {
      all = false;
      continue;
    }
    TENON_TRY(
        tenon__contents_evaluate(&rule, i, &shapes[i], &value->contents, &value->content_count));
    all = all && value->contents != NULL;
  }
  inference->contents_only = all;
  return TENON_OK;
}

/* Contents of an output through the node's meaning, if it has one. */
static tenon_status_t meaning_contents(tenon__inference_t* inference, uint32_t output) {
  tenon__inferred_value_t* value = &inference->outputs[output];
  if (inference->expression != NULL) {
    return tenon__infer_expression_contents(inference, inference->expression, output, value);
  }
  return inference->maps != NULL
             ? tenon__infer_move_contents(inference, &inference->maps[output], value)
             : TENON_OK;
}

static tenon_status_t infer_contents(tenon__inference_t* inference,
                                     const tenon__inferred_shape_t* shapes) {
  if (inference->op->contents != NULL) {
    return rule_contents(inference, shapes);
  }
  for (uint32_t i = 0; i < inference->output_count; ++i) {
    TENON_TRY(meaning_contents(inference, i));
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
    const tenon__inferred_value_t* value = &inference->outputs[i];
    if (value->dtype == TENON_DTYPE_UNDEFINED) {
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
  if (shapes == NULL) {
    return tenon__fail_memory(inference->sink);
  }
  TENON_TRY(infer_shapes(inference, shapes));
  if (inference->failed || tenon__dim_pool_failed(inference->network->pool)) {
    return tenon__fail_memory(inference->sink);
  }
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
  return tenon__dim_pool_failed(inference->network->pool) ? tenon__fail_memory(inference->sink)
                                                          : TENON_OK;
}

const char* tenon__infer_type_text(const tenon__network_t* network, uint32_t kind,
                                   tenon_dtype_t dtype, uint32_t rank, const tenon_dim_t* dims,
                                   tenon__arena_t* arena) {
  const char* text = tenon__arena_format(arena, "%s%s[",
                                         kind == TENON_ARGUMENT_SEQUENCE   ? "sequence "
                                         : kind == TENON_ARGUMENT_OPTIONAL ? "optional "
                                                                           : "",
                                         tenon__dtype_name(dtype));
  if (rank == TENON_NONE) {
    text = text == NULL ? NULL : tenon__arena_format(arena, "%s...", text);
  }
  for (uint32_t i = 0; text != NULL && rank != TENON_NONE && i < rank; ++i) {
    text = tenon__arena_format(arena, "%s%s%s", text, i == 0 ? "" : ", ",
                               tenon__dim_text(network->pool, dims[i], arena));
  }
  text = text == NULL ? NULL : tenon__arena_format(arena, "%s]", text);
  return text == NULL ? "?" : text;
}
