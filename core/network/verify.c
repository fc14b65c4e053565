/*
 * The structure of a network: what tables say about one another. Reads nothing out of bounds
 * whatever they hold, so that it can judge what came from a file.
 */
#include "core/network/verify_rules.h"

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/network/control.h"
#include "core/program/program_check.h"

typedef struct verifier_t {
  const tenon__network_t* network;
  tenon_status_t status; /* of a fault */
  const tenon_sink_t* sink;
} verifier_t;

static tenon_status_t broken(const verifier_t* verifier, const char* graph, const char* thing,
                             const char* message) {
  return tenon__fail(verifier->sink, verifier->status, "network, graph '%s': %s: %s", graph, thing,
                     message);
}

/* Are there so many dimensions, at most `limit`? */
static bool dims_good(const verifier_t* verifier, uint32_t count, uint32_t limit,
                      const tenon_dim_t* dims) {
  if (count > limit || (count > 0 && dims == NULL)) {
    return false;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (dims[i].id >= tenon__dim_pool_count(verifier->network->pool)) {
      return false;
    }
  }
  return true;
}

static const char* value_fault(const verifier_t* verifier, const tenon__graph_t* graph,
                               const tenon__value_node_t* value, uint32_t index) {
  const tenon__network_t* network = verifier->network;
  if (value->name == NULL) {
    return "has no name";
  }
  const tenon__type_t* type = &value->type;
  if (tenon__dtype_bits(type->dtype) == 0 || tenon__type_kind_name(type->kind) == NULL) {
    return "has no type";
  }
  if ((type->rank != TENON_NONE &&
       !dims_good(verifier, type->rank, TENON_RANK_LIMIT, type->dims)) ||
      (type->contents != NULL &&
       !dims_good(verifier, type->content_count, TENON_CONTENT_LIMIT, type->contents))) {
    return "has extents or contents that are not there";
  }
  if ((value->weights != TENON_NONE && value->weights >= network->weights_count) ||
      (value->state != TENON_NONE && value->state >= network->state_count) ||
      (value->handle != TENON_NONE && value->handle >= network->handle_count)) {
    return "refers to weights, a state or a number that is not there";
  }
  const uint32_t sources = (value->producer != TENON_NONE ? 1u : 0u) +
                           ((value->flags & TENON_VALUE_IS_INPUT) != 0 ? 1u : 0u) +
                           (value->weights != TENON_NONE ? 1u : 0u) +
                           (value->state != TENON_NONE ? 1u : 0u);
  if (sources > 1) {
    return "is made twice";
  }
  const tenon__weights_t* weights =
      value->weights == TENON_NONE ? NULL : &network->weights[value->weights];
  /* Kernels read a constant's bytes by the extents of its value. */
  if (weights != NULL && !tenon__type_is_tensor_of(network->pool, &value->type, weights->dtype,
                                                   weights->rank, weights->dims)) {
    return "is of another type than its weights";
  }
  if (value->producer == TENON_NONE) {
    return NULL;
  }
  if (value->producer >= graph->node_count || !graph->nodes[value->producer].alive) {
    return "is made by a node that is not there";
  }
  const tenon__node_t* producer = &graph->nodes[value->producer];
  return value->producer_output >= producer->output_count ||
                 producer->outputs[value->producer_output] != index
             ? "is not what its producer makes"
             : NULL;
}

static bool is_live_value(const tenon__graph_t* graph, uint32_t value) {
  return value < graph->value_count && graph->values[value].alive;
}

static const char* node_fault(const verifier_t* verifier, const tenon__graph_t* graph,
                              const tenon__node_t* node, uint32_t index) {
  for (uint32_t i = 0; i < node->input_count; ++i) {
    const uint32_t value = node->inputs[i];
    if (value != TENON_NONE && !is_live_value(graph, value)) {
      return "reads a value that is not there";
    }
    const bool from_nothing = value != TENON_NONE && graph->values[value].producer == TENON_NONE &&
                              (graph->values[value].flags & TENON_VALUE_IS_INPUT) == 0 &&
                              graph->values[value].weights == TENON_NONE &&
                              graph->values[value].state == TENON_NONE;
    if (from_nothing) {
      return "reads a value that nothing makes";
    }
  }
  for (uint32_t i = 0; i < node->output_count; ++i) {
    const uint32_t value = node->outputs[i];
    if (value != TENON_NONE &&
        (!is_live_value(graph, value) || graph->values[value].producer != index ||
         graph->values[value].producer_output != i)) {
      return "does not make its output";
    }
  }
  if ((node->form == TENON_NODE_OPERATOR) != (node->op != NULL) ||
      (node->form == TENON_NODE_EXPRESSION && node->expression == NULL) ||
      (node->form == TENON_NODE_MOVE && node->maps == NULL)) {
    return "has neither operator, expression nor move";
  }
  for (uint32_t i = 0; i < node->body_count; ++i) {
    if (node->bodies[i] >= verifier->network->graph_count ||
        verifier->network->graphs[node->bodies[i]]->owner != index ||
        verifier->network->graphs[node->bodies[i]]->parent == TENON_NONE ||
        verifier->network->graphs[verifier->network->graphs[node->bodies[i]]->parent] != graph) {
      return "does not own its body";
    }
  }
  return NULL;
}

/* Operands, sources and outputs of a node's expression or moves against its values. */
static const char* semantics_fault(const tenon__graph_t* graph, const tenon__node_t* node) {
  const tenon__expression_t* expression = node->expression;
  for (uint32_t k = 0; expression != NULL && k < expression->program.operand_count; ++k) {
    const uint32_t input = expression->program.operands[k].index;
    if (input >= node->input_count || node->inputs[input] == TENON_NONE) {
      return "has an operand that is no input";
    }
    const tenon__value_node_t* value = &graph->values[node->inputs[input]];
    const uint32_t rank = expression->accesses[k].rank;
    if (value->type.dtype != expression->program.operands[k].dtype ||
        (rank != TENON_NONE && rank != value->type.rank)) {
      return "has an operand of another type than its input";
    }
    if (expression->program.operands[k].indexed != 0 &&
        !tenon__program_loads_fit(&expression->program, k, value->type.rank)) {
      return "loads from its input with too few or too many coordinates";
    }
  }
  if (expression != NULL && expression->program.output_count != node->output_count) {
    return "computes another number of outputs than it has";
  }
  for (uint32_t i = 0; node->maps != NULL && i < node->output_count; ++i) {
    const tenon__index_map_t* map = &node->maps[i];
    if (node->outputs[i] != TENON_NONE && graph->values[node->outputs[i]].type.rank != map->rank) {
      return "moves to another rank than its output has";
    }
    for (uint32_t k = 0; k < map->source_count; ++k) {
      const uint32_t input = map->sources[k].input;
      if (input >= node->input_count || node->inputs[input] == TENON_NONE ||
          graph->values[node->inputs[input]].type.rank != map->sources[k].rank) {
        return "has a move from a value that is not its input";
      }
    }
    if (map->fill == TENON_FILL_INPUT &&
        (map->fill_input >= node->input_count || node->inputs[map->fill_input] == TENON_NONE)) {
      return "has a fill from a value that is not its input";
    }
  }
  return NULL;
}

/* One of a body's parameters or results may leave its rank to the run. */
static bool rank_fits(const tenon__type_t* inner, uint32_t rank) {
  return inner->rank == rank || inner->rank == TENON_NONE;
}

static bool is_tensor_of(const tenon__type_t* type, tenon_dtype_t dtype) {
  return type->kind == TENON_ARGUMENT_TENSOR && type->dtype == dtype;
}

static bool is_scalar_of(const tenon__type_t* type, tenon_dtype_t dtype) {
  return is_tensor_of(type, dtype) && type->rank <= 1;
}

typedef struct control_fit_t {
  const tenon__graph_t* graph;
  const tenon__node_t* node;
  const tenon__control_layout_t* layout;
  const tenon__graph_t* body;
} control_fit_t;

/* The condition, or trip count and condition. */
static const char* fixed_fault(const control_fit_t* c) {
  const uint32_t trips = c->layout->trip_count_input;
  const uint32_t condition = c->layout->condition_input;
  if (trips != TENON_NONE) {
    const tenon__type_t* type = &c->graph->values[c->node->inputs[trips]].type;
    const char class = tenon__dtype_class(type->dtype);
    if (type->kind != TENON_ARGUMENT_TENSOR || (class != 'i' && class != 'u')) {
      return "has a trip count that is no integer";
    }
  }
  if (condition != TENON_NONE) {
    if (!is_tensor_of(&c->graph->values[c->node->inputs[condition]].type, TENON_DTYPE_BOOL)) {
      return "has a condition that is not bool";
    }
  }
  return NULL;
}

/* What each iteration gets and leaves besides values: its number, and whether to go on. */
static const char* iteration_fault(const control_fit_t* c) {
  const tenon__graph_t* body = c->body;
  if (!c->layout->passes_iteration) {
    return NULL;
  }
  for (uint32_t k = 0; k < 2; ++k) {
    const uint32_t parameter = body->inputs[k];
    if (!is_live_value(body, parameter) ||
        !is_scalar_of(&body->values[parameter].type,
                      k == 0 ? TENON_DTYPE_INT64 : TENON_DTYPE_BOOL)) {
      return "passes its body a number or a condition that it does not take";
    }
  }
  const uint32_t goes_on = body->outputs[0];
  return is_live_value(body, goes_on) && is_tensor_of(&body->values[goes_on].type, TENON_DTYPE_BOOL)
             ? NULL
             : "does not learn from its body whether to go on";
}

/* A container of unknown rank may hold nothing, which fits any rank. Items are looked at in a run.
 */
static bool type_fits(const tenon__type_t* type, const tenon__type_t* given) {
  return rank_fits(type, given->rank) ||
         (given->kind != TENON_ARGUMENT_TENSOR && given->rank == TENON_NONE);
}

static const char* parameter_fault(const control_fit_t* c) {
  const tenon__control_layout_t* layout = c->layout;
  for (uint32_t i = layout->first_value; i < c->node->input_count; ++i) {
    const uint32_t index = i - layout->first_value;
    const uint32_t parameter = c->body->inputs[layout->first_parameter + index];
    if (c->node->inputs[i] == TENON_NONE || !is_live_value(c->body, parameter)) {
      return "passes its body what it does not take";
    }
    const tenon__type_t* outer = &c->graph->values[c->node->inputs[i]].type;
    const tenon__type_t* inner = &c->body->values[parameter].type;
    const bool is_slice =
        index >= layout->carried_count && index < layout->carried_count + layout->scanned_count;
    if (is_slice &&
        (outer->kind != TENON_ARGUMENT_TENSOR || outer->rank == TENON_NONE ||
         tenon__control_axis(layout, index - layout->carried_count, outer->rank) == TENON_NONE)) {
      return "cuts a value along an axis that it does not have";
    }
    if (!tenon__type_same_elements(outer, inner) ||
        !(is_slice ? rank_fits(inner, outer->rank - 1) : type_fits(inner, outer))) {
      return "passes its body what it does not take";
    }
  }
  return NULL;
}

static const char* result_fault(const control_fit_t* c) {
  const tenon__control_layout_t* layout = c->layout;
  for (uint32_t i = 0; i < c->node->output_count; ++i) {
    const uint32_t result = c->body->outputs[layout->first_result + i];
    if (!is_live_value(c->body, result)) {
      return "gives what its body does not";
    }
    const tenon__type_t* inner = &c->body->values[result].type;
    const uint32_t collected = i - layout->carried_count;
    const bool is_collected = layout->collected_count > 0 && i >= layout->carried_count;
    if (is_collected && (inner->kind != TENON_ARGUMENT_TENSOR || inner->rank >= TENON_RANK_LIMIT ||
                         tenon__control_axis(layout, layout->scanned_count + collected,
                                             inner->rank + 1) == TENON_NONE)) {
      return "collects a result along an axis that it does not have";
    }
    const uint32_t output = c->node->outputs[i];
    const tenon__type_t* outer = output == TENON_NONE ? NULL : &c->graph->values[output].type;
    if (outer != NULL &&
        (!tenon__type_same_elements(outer, inner) ||
         !(is_collected ? outer->rank == inner->rank + 1 : type_fits(outer, inner)))) {
      return "gives what its body does not";
    }
  }
  return NULL;
}

/* Parameters and results of a control node's bodies against its inputs and outputs. */
static const char* control_fault(const verifier_t* verifier, uint32_t graph_index,
                                 uint32_t node_index) {
  const tenon__graph_t* graph = verifier->network->graphs[graph_index];
  const tenon__node_t* node = &graph->nodes[node_index];
  tenon__control_layout_t layout;
  if (tenon__control_layout_of(verifier->network, graph_index, node_index, verifier->sink,
                               &layout) != TENON_OK ||
      layout.output_count != node->output_count) {
    return "its bodies do not fit it";
  }
  control_fit_t fit = {graph, node, &layout, NULL};
  const char* fault = fixed_fault(&fit);
  const uint32_t taken =
      tenon__control_taken(verifier->network, graph_index, &layout, node->inputs);
  for (uint32_t b = 0; b < node->body_count && fault == NULL; ++b) {
    if (taken != TENON_NONE && b != taken) {
      continue; /* its types do not matter */
    }
    fit.body = verifier->network->graphs[node->bodies[b]];
    fault = iteration_fault(&fit);
    fault = fault == NULL ? parameter_fault(&fit) : fault;
    fault = fault == NULL && fit.body->fault == NULL ? result_fault(&fit) : fault;
  }
  return fault;
}

static tenon_status_t verify_values(const verifier_t* verifier, const tenon__graph_t* graph) {
  for (uint32_t i = 0; i < graph->value_count; ++i) {
    const tenon__value_node_t* value = &graph->values[i];
    const char* fault = value->alive ? value_fault(verifier, graph, value, i) : NULL;
    if (fault != NULL) {
      return broken(verifier, graph->name, value->name == NULL ? "a value" : value->name, fault);
    }
  }
  for (uint32_t i = 0; i < graph->input_count; ++i) {
    if (!is_live_value(graph, graph->inputs[i])) {
      return broken(verifier, graph->name, "an input", "is not there");
    }
  }
  for (uint32_t i = 0; i < graph->output_count; ++i) {
    if (!is_live_value(graph, graph->outputs[i])) {
      return broken(verifier, graph->name, "an output", "is not there");
    }
  }
  return TENON_OK;
}

static tenon_status_t verify_nodes(const verifier_t* verifier, uint32_t index) {
  const tenon__graph_t* graph = verifier->network->graphs[index];
  for (uint32_t i = 0; i < graph->node_count; ++i) {
    const tenon__node_t* node = &graph->nodes[i];
    const char* fault = node->alive ? node_fault(verifier, graph, node, i) : NULL;
    if (fault == NULL && node->alive) {
      fault = semantics_fault(graph, node);
    }
    if (fault == NULL && node->alive && node->op != NULL && node->op->descriptor.control != NULL) {
      fault = control_fault(verifier, index, i);
    }
    if (fault != NULL) {
      return broken(verifier, graph->name, node->name, fault);
    }
  }
  return TENON_OK;
}

/* Symbols lead to values, and to axes and elements that these have. */
static tenon_status_t verify_handles(const verifier_t* verifier) {
  const tenon__network_t* network = verifier->network;
  for (uint32_t i = 0; i < network->handle_count; ++i) {
    const tenon__value_handle_t* handle = &network->handles[i];
    if (handle->value != TENON_NONE &&
        (handle->graph >= network->graph_count ||
         handle->value >= network->graphs[handle->graph]->value_count)) {
      return broken(verifier, "main", "a handle", "leads to no value");
    }
  }
  for (uint32_t i = 0; i < tenon__symbol_count(network->pool); ++i) {
    const tenon__symbol_t* symbol = tenon__symbol_get(network->pool, i);
    uint32_t graph = 0;
    uint32_t index = 0;
    uint32_t element = 0;
    if (!tenon__symbol_source(network, symbol, &graph, &index, &element)) {
      continue;
    }
    const tenon__value_node_t* value = &network->graphs[graph]->values[index];
    const bool is_extent = symbol->kind == TENON_SYMBOL_EXTENT;
    const bool good = is_extent ? value->type.rank == TENON_NONE || element < value->type.rank
                                : element < TENON_CONTENT_LIMIT;
    if (value->alive && !good) {
      return broken(verifier, network->graphs[graph]->name, value->name,
                    "has not the axis or element that a symbol reads");
    }
  }
  return TENON_OK;
}

/* Parents come before their bodies. */
static tenon_status_t verify_places(const verifier_t* verifier) {
  const tenon__network_t* network = verifier->network;
  for (uint32_t g = 0; g < network->graph_count; ++g) {
    const uint32_t parent = network->graphs[g]->parent;
    const uint32_t owner = network->graphs[g]->owner;
    const bool good =
        g == 0 ? parent == TENON_NONE
               : parent < g && (owner == TENON_NONE || owner < network->graphs[parent]->node_count);
    if (!good) {
      return broken(verifier, network->graphs[g]->name, "the graph", "has no proper place");
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__network_verify_structure(const tenon__network_t* network,
                                               tenon_status_t fault, const tenon_sink_t* sink) {
  const verifier_t verifier = {network, fault, sink};
  TENON_TRY(verify_places(&verifier));
  TENON_TRY(verify_handles(&verifier));
  tenon_status_t status = TENON_OK;
  for (uint32_t g = 0; status == TENON_OK && g < network->graph_count; ++g) {
    if (tenon__graph_alive(network, g)) {
      status = verify_values(&verifier, network->graphs[g]);
    }
  }
  for (uint32_t g = 0; status == TENON_OK && g < network->graph_count; ++g) {
    if (tenon__graph_can_run(network, g)) {
      status = verify_nodes(&verifier, g);
    }
  }
  return status;
}
