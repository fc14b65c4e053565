/*
 * Binding: which input stands at which port, what the type variables are, and so what element types
 * the outputs have. A variable is bound by the first input that mentions it; later ones must agree.
 */
#include "core/network/infer_types.h"

#include <string.h>

#include "core/base/status.h"
#include "core/language/scope.h"
#include "core/network/inference.h"

tenon__scope_value_t tenon__infer_scope_value(const tenon__network_t* network, uint32_t graph,
                                              uint32_t value, uint32_t argument) {
  if (value == TENON_NONE) {
    return (tenon__scope_value_t){.argument = argument};
  }
  return (tenon__scope_value_t){true, network->graphs[graph]->values[value].type, argument};
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
    for (uint32_t a = 0; a < inference->attribute_count; ++a) {
      if (strcmp(inference->attributes[a].name, type + 1) == 0) {
        return (tenon_dtype_t)inference->attributes[a].integer;
      }
    }
    return TENON_DTYPE_UNDEFINED;
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
  const tenon_operator_t* op = &inference->op->descriptor;
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
  const tenon_operator_t* op = &inference->op->descriptor;
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
  const tenon_operator_t* op = &inference->op->descriptor;
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

static tenon_status_t bind_outputs(tenon__inference_t* inference) {
  const tenon_operator_t* op = &inference->op->descriptor;
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
    inference->output_values[i] =
        (tenon__scope_value_t){true, tenon__type_tensor(dtype, TENON_NONE, NULL), i};
  }
  inference->scope.output_count = op->output_count;
  inference->scope.outputs = tenon__scope_ports(inference->scratch, op->outputs, op->output_count,
                                                inference->output_values, inference->output_count);
  return inference->scope.outputs == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

tenon_status_t tenon__infer_bind(tenon__inference_t* inference) {
  const tenon_operator_t* op = &inference->op->descriptor;
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
