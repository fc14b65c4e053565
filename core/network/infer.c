/*
 * Inference of one node. In order: the operator's checks; shapes, by the first of shape rule,
 * plugin's function, bodies, expression, contents rule that it declares; meaning, the first case or
 * move whose condition holds; contents, by rule or through the meaning.
 */
#include "core/network/infer.h"

#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/language/condition.h"
#include "core/language/instantiate.h"
#include "core/language/move_rule.h"
#include "core/language/scope.h"
#include "core/language/shape_rule.h"
#include "core/operator/attribute.h"

/* ---- Which input stands at which port, and what type variables become ---- */

tenon__scope_value_t tenon__infer_scope_value(const tenon__network_t* network, uint32_t graph,
                                              uint32_t value, uint32_t argument) {
  if (value == TENON_NONE) {
    return (tenon__scope_value_t){.argument = argument};
  }
  return (tenon__scope_value_t){
      .present = true, .type = network->graphs[graph]->values[value].type, .argument = argument};
}

static uint32_t fixed_count(const tenon_port_t* ports, uint32_t count) {
  return count > 0 && (ports[count - 1].flags & TENON_PORT_VARIADIC) != 0 ? count - 1 : count;
}

/* The declared type's dtype as known so far: UNDEFINED for an unbound variable, whose index comes
 * out too. */
static tenon_dtype_t resolve_type(const tenon__inference_t* inference, const char* type,
                                  uint32_t* out_variable) {
  *out_variable = TENON_NONE;
  for (uint32_t t = 0; t < inference->scope.type_count; ++t) {
    if (strcmp(inference->scope.types[t].name, type) == 0) {
      *out_variable = t;
      return inference->scope.types[t].dtype;
    }
  }
  if (type[0] == '$') {
    const tenon__scope_attribute_t* attribute =
        tenon__attribute_find(inference->attributes, inference->attribute_count, type + 1);
    return attribute == NULL ? TENON_DTYPE_UNDEFINED : (tenon_dtype_t)attribute->integer;
  }
  return tenon__dtype_from_name(type);
}

/* What kind of value a port of these flags means. */
static uint32_t port_kind(uint32_t flags) {
  const bool is_sequence = (flags & TENON_PORT_SEQUENCE) != 0;
  return (flags & TENON_PORT_OPTIONAL_TYPE) == 0
             ? (is_sequence ? TENON_ARGUMENT_SEQUENCE : TENON_ARGUMENT_TENSOR)
             : (is_sequence ? TENON_ARGUMENT_OPTIONAL_SEQUENCE : TENON_ARGUMENT_OPTIONAL);
}

/* One input against its port; binds a type variable. */
static tenon_status_t check_input(tenon__inference_t* inference, const tenon_port_t* port,
                                  uint32_t input, tenon__scope_type_t* types) {
  const tenon__descriptor_t* op = &inference->op->descriptor;
  const tenon__value_node_t* value =
      &inference->network->graphs[inference->graph]->values[inference->inputs[input]];
  const uint32_t kind = port_kind(port->flags);
  if (value->type.kind != kind) {
    return tenon__fail(inference->sink, TENON_ERROR_INVALID_DATA,
                       "input '%s' must be of kind '%s', '%s' is of kind '%s'", port->name,
                       tenon__type_kind_name(kind), value->name,
                       tenon__type_kind_name(value->type.kind));
  }
  uint32_t variable = TENON_NONE;
  tenon_dtype_t expected = resolve_type(inference, port->type, &variable);
  if (variable != TENON_NONE) {
    const bool is_free = (port->flags & TENON_PORT_HETEROGENEOUS) != 0;
    if (tenon__dtype_allowed(op->types[variable].allowed, value->type.dtype) != 1) {
      return tenon__fail(
          inference->sink, TENON_ERROR_INVALID_DATA, "input '%s' allows %s, '%s' is %s", port->name,
          op->types[variable].allowed, value->name, tenon__dtype_name(value->type.dtype));
    }
    if (is_free) {
      return TENON_OK;
    }
    if (expected == TENON_DTYPE_UNDEFINED) {
      types[variable].dtype = value->type.dtype;
      expected = value->type.dtype;
    }
  }
  if (value->type.dtype != expected) {
    return tenon__fail(inference->sink, TENON_ERROR_INVALID_DATA,
                       "input '%s' must be %s as the node stands, '%s' is %s", port->name,
                       tenon__dtype_name(expected), value->name,
                       tenon__dtype_name(value->type.dtype));
  }
  return TENON_OK;
}

static tenon_status_t check_arity(const tenon__inference_t* inference) {
  const tenon__descriptor_t* op = &inference->op->descriptor;
  const uint32_t fixed = fixed_count(op->inputs, op->input_count);
  if (inference->input_count > op->input_count && fixed == op->input_count) {
    return tenon__fail(inference->sink, TENON_ERROR_INVALID_DATA, "takes at most %u inputs, has %u",
                       op->input_count, inference->input_count);
  }
  for (uint32_t i = 0; i < fixed; ++i) {
    const bool present = i < inference->input_count && inference->inputs[i] != TENON_NONE;
    if (!present && (op->inputs[i].flags & TENON_PORT_OPTIONAL) == 0) {
      return tenon__fail(inference->sink, TENON_ERROR_INVALID_DATA, "input '%s' is missing",
                         op->inputs[i].name);
    }
  }
  for (uint32_t i = fixed; i < inference->input_count; ++i) {
    if (inference->inputs[i] == TENON_NONE) {
      return tenon__fail(inference->sink, TENON_ERROR_INVALID_DATA, "item %u of '%s' is missing",
                         i - fixed, op->inputs[fixed].name);
    }
  }
  const bool may_be_empty = fixed == op->input_count || op->control != NULL ||
                            (op->inputs[fixed].flags & TENON_PORT_OPTIONAL) != 0;
  if (inference->input_count <= fixed && !may_be_empty) {
    return tenon__fail(inference->sink, TENON_ERROR_INVALID_DATA, "input '%s' has no items",
                       op->inputs[fixed].name);
  }
  return TENON_OK;
}

static tenon_status_t bind_inputs(tenon__inference_t* inference, tenon__scope_type_t* types) {
  const tenon__descriptor_t* op = &inference->op->descriptor;
  const size_t capacity = (size_t)inference->input_count + op->input_count + 1;
  inference->input_values =
      tenon__arena_allocate(inference->scratch, capacity, sizeof(*inference->input_values));
  TENON_TRY_MEMORY(inference->input_values != NULL);
  for (uint32_t i = 0; i < capacity; ++i) {
    const uint32_t value = i < inference->input_count ? inference->inputs[i] : TENON_NONE;
    const uint32_t port = i < op->input_count ? i : op->input_count - 1;
    const bool is_read = value != TENON_NONE && inference->existing == NULL &&
                         op->input_count > 0 &&
                         (op->inputs[port].flags & TENON_PORT_SHAPE_OPERAND) != 0;
    if (is_read) {
      TENON_TRY(tenon__value_make_contents(inference->network, inference->graph, value));
    }
    inference->input_values[i] =
        tenon__infer_scope_value(inference->network, inference->graph, value, i);
  }
  inference->scope.input_count = op->input_count;
  inference->scope.inputs = tenon__scope_ports(inference->scratch, op->inputs, op->input_count,
                                               inference->input_values, inference->input_count);
  TENON_TRY_MEMORY(inference->scope.inputs != NULL);
  const uint32_t fixed = fixed_count(op->inputs, op->input_count);
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0; status == TENON_OK && i < inference->input_count; ++i) {
    /* Bodies say what the items of a control form are. */
    const bool is_free = op->control != NULL && i >= fixed;
    if (inference->inputs[i] != TENON_NONE && !is_free) {
      status = check_input(inference, &op->inputs[i < fixed ? i : fixed], i, types);
    }
  }
  return status;
}

static const tenon_port_t* input_port(const tenon__inference_t* inference, uint32_t input) {
  const tenon__descriptor_t* op = &inference->op->descriptor;
  return &op->inputs[input < op->input_count ? input : op->input_count - 1];
}

/* An empty container gets the rank and the extents of another input of its type, so that shape
 * functions see those of its later items. */
static void fill_vacant(tenon__inference_t* inference) {
  for (uint32_t i = 0; i < inference->input_count; ++i) {
    tenon__scope_value_t* vacant = &inference->input_values[i];
    for (uint32_t k = 0; k < inference->input_count && vacant->type.is_vacant; ++k) {
      const tenon__scope_value_t* other = &inference->input_values[k];
      if (other->present && other->type.rank != TENON_NONE &&
          strcmp(input_port(inference, i)->type, input_port(inference, k)->type) == 0) {
        vacant->type.rank = other->type.rank;
        vacant->type.dims = other->type.dims;
        vacant->type.is_vacant = false;
      }
    }
  }
}

/* A container that is made without inputs, or from empty containers alone, is empty. */
static void mark_vacant(tenon__inference_t* inference) {
  bool is_vacant = true;
  TENON_EACH_INPUT(i, inference) {
    is_vacant = is_vacant && inference->input_values[i].type.is_vacant;
  }
  for (uint32_t i = 0; i < inference->output_count; ++i) {
    tenon__type_t* type = &inference->outputs[i].type;
    type->is_vacant = is_vacant && type->kind != TENON_ARGUMENT_TENSOR && type->rank == TENON_NONE;
  }
}

/* Rules and shape functions of tensors look at each axis, so a rank that is unknown is refused here
 * once. Operators on containers pass such a tensor on. */
static tenon_status_t check_ranks(const tenon__inference_t* inference) {
  const uint32_t containers = TENON_PORT_SEQUENCE | TENON_PORT_OPTIONAL_TYPE;
  const tenon__descriptor_t* op = &inference->op->descriptor;
  uint32_t flags = 0;
  for (uint32_t i = 0; i < op->input_count; ++i) {
    flags |= op->inputs[i].flags;
  }
  for (uint32_t i = 0; i < op->output_count; ++i) {
    flags |= op->outputs[i].flags;
  }
  if ((flags & containers) != 0) {
    return TENON_OK;
  }
  TENON_EACH_INPUT(i, inference) {
    const tenon__scope_value_t* value = &inference->input_values[i];
    if (value->type.kind == TENON_ARGUMENT_TENSOR && value->type.rank == TENON_NONE) {
      return tenon__fail(
          inference->sink, TENON_ERROR_UNSUPPORTED,
          "the rank of input '%s', value '%s', is not known before a run: it comes from a sequence "
          "or an optional whose items may differ in rank; give items of one rank",
          input_port(inference, i)->name,
          inference->network->graphs[inference->graph]->values[inference->inputs[i]].name);
    }
  }
  return TENON_OK;
}

static tenon_status_t bind_outputs(tenon__inference_t* inference) {
  const tenon__descriptor_t* op = &inference->op->descriptor;
  const uint32_t fixed = fixed_count(op->outputs, op->output_count);
  const size_t capacity = (size_t)inference->output_count + op->output_count + 1;
  inference->outputs =
      tenon__arena_allocate(inference->scratch, capacity, sizeof(*inference->outputs));
  inference->output_values =
      tenon__arena_allocate(inference->scratch, capacity, sizeof(*inference->output_values));
  TENON_TRY_MEMORY(inference->outputs != NULL && inference->output_values != NULL);
  for (uint32_t i = 0; i < inference->output_count; ++i) {
    const tenon_port_t* port = &op->outputs[i < fixed ? i : fixed];
    uint32_t variable = TENON_NONE;
    tenon_dtype_t dtype = resolve_type(inference, port->type, &variable);
    if (dtype == TENON_DTYPE_UNDEFINED && variable != TENON_NONE) {
      dtype = tenon__dtype_from_name(op->types[variable].allowed);
    }
    inference->outputs[i] = (tenon__inferred_value_t){
        .type = {.kind = port_kind(port->flags), .dtype = dtype, .rank = TENON_NONE},
        .handle = TENON_NONE};
    inference->output_values[i] = (tenon__scope_value_t){
        .present = true, .type = tenon__type_tensor(dtype, TENON_NONE, NULL), .argument = i};
  }
  inference->scope.output_count = op->output_count;
  inference->scope.outputs = tenon__scope_ports(inference->scratch, op->outputs, op->output_count,
                                                inference->output_values, inference->output_count);
  return inference->scope.outputs == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

tenon_status_t tenon__infer_bind(tenon__inference_t* inference) {
  const tenon__descriptor_t* op = &inference->op->descriptor;
  TENON_TRY(check_arity(inference));
  tenon__scope_type_t* types =
      tenon__arena_allocate(inference->scratch, op->type_count + 1u, sizeof(*types));
  TENON_TRY_MEMORY(types != NULL);
  for (uint32_t t = 0; t < op->type_count; ++t) {
    types[t].name = op->types[t].name;
  }
  inference->scope = (tenon__scope_t){
      .pool = inference->network->pool,
      .attribute_count = inference->attribute_count,
      .attributes = inference->attributes,
      .type_count = op->type_count,
      .types = types,
  };
  TENON_TRY(bind_inputs(inference, types));
  return bind_outputs(inference);
}

static const tenon_sink_t silence = {NULL, NULL};

static tenon_status_t evaluate_checks(const tenon__inference_t* inference) {
  const tenon__descriptor_t* op = &inference->op->descriptor;
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
  if (op->descriptor.control == NULL) {
    TENON_TRY(check_ranks(inference));
    fill_vacant(inference);
  }
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
  mark_vacant(inference);
  if (op->descriptor.case_count > 0 && inference->expression == NULL) {
    TENON_TRY(resolve_expression(inference, shapes, shapes));
  }
  if (op->descriptor.move_count > 0) {
    TENON_TRY(resolve_moves(inference, shapes));
  }
  TENON_TRY(infer_contents(inference, shapes));
  return tenon__dim_pool_failed(inference->network->pool) ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}
