/*
 * Everything that must hold. First the structure, which reads no table out of bounds; then order;
 * then each operator's own rules: its inference is repeated in scratch memory, and known extents,
 * ranks and element types must come out the same. Extents that are found when running keep the
 * symbols that they have.
 */
#include <string.h>

#include "core/network/control.h"
#include "core/network/node.h"

typedef struct verifier_t {
  const tenon__network_t* network;
  const tenon_sink_t* sink;
} verifier_t;

static tenon_status_t broken(const verifier_t* verifier, const char* graph, const char* thing,
                             const char* words) {
  return tenon__fail(verifier->sink, TENON_ERROR_INTERNAL, "network, graph '%s': %s: %s", graph,
                     thing, words);
}

static bool dims_good(const verifier_t* verifier, uint32_t rank, const tenon_dim_t* dims) {
  if (rank == TENON_NONE) {
    return true;
  }
  if (rank > TENON_RANK_LIMIT || (rank > 0 && dims == NULL)) {
    return false;
  }
  for (uint32_t i = 0; i < rank; ++i) {
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
  if (tenon__dtype_bits(value->dtype) == 0 || value->kind < TENON_ARGUMENT_TENSOR ||
      value->kind > TENON_ARGUMENT_OPTIONAL) {
    return "has no type";
  }
  if (!dims_good(verifier, value->rank, value->dims) ||
      !dims_good(verifier, value->contents == NULL ? 0 : 1, value->contents)) {
    return "has extents that are not there";
  }
  if ((value->weights != TENON_NONE && value->weights >= network->weights_count) ||
      (value->state != TENON_NONE && value->state >= network->state_count) ||
      (value->number != TENON_NONE && value->number >= network->number_count)) {
    return "refers to weights, a state or a number that is not there";
  }
  if (value->producer == TENON_NONE) {
    return NULL;
  }
  if (value->producer >= graph->node_count || !graph->nodes[value->producer].alive) {
    return "is made by a node that is not there";
  }
  const tenon__node_t* producer = &graph->nodes[value->producer];
  if (value->producer_output >= producer->output_count ||
      producer->outputs[value->producer_output] != index) {
    return "is not what its producer makes";
  }
  return (value->flags & TENON_VALUE_IS_INPUT) != 0 || value->weights != TENON_NONE ||
                 value->state != TENON_NONE
             ? "is made twice"
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
    return "lacks its meaning";
  }
  for (uint32_t i = 0; i < node->body_count; ++i) {
    if (node->bodies[i] >= verifier->network->graph_count ||
        verifier->network->graphs[node->bodies[i]]->owner != index ||
        verifier->network->graphs[verifier->network->graphs[node->bodies[i]]->parent] != graph) {
      return "does not own its body";
    }
  }
  return NULL;
}

static tenon_status_t verify_structure(const verifier_t* verifier, const tenon__graph_t* graph) {
  for (uint32_t i = 0; i < graph->value_count; ++i) {
    const tenon__value_node_t* value = &graph->values[i];
    const char* fault = value->alive ? value_fault(verifier, graph, value, i) : NULL;
    if (fault != NULL) {
      return broken(verifier, graph->name, value->name == NULL ? "a value" : value->name, fault);
    }
  }
  for (uint32_t i = 0; i < graph->node_count; ++i) {
    const tenon__node_t* node = &graph->nodes[i];
    const char* fault = node->alive ? node_fault(verifier, graph, node, i) : NULL;
    if (fault != NULL) {
      return broken(verifier, graph->name, node->name, fault);
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

/* Known extents must be the same ones; symbols may have been replaced by better ones. */
static bool same_shape(const verifier_t* verifier, const tenon__inferred_value_t* inferred,
                       const tenon__value_node_t* value) {
  if (inferred->kind != value->kind || inferred->dtype != value->dtype) {
    return false;
  }
  if (inferred->rank == TENON_NONE || value->rank == TENON_NONE) {
    return true;
  }
  if (inferred->rank != value->rank) {
    return false;
  }
  for (uint32_t i = 0; i < value->rank; ++i) {
    int64_t a = 0;
    int64_t b = 0;
    if (tenon__dim_known(verifier->network->pool, inferred->dims[i], &a) &&
        tenon__dim_known(verifier->network->pool, value->dims[i], &b) && a != b) {
      return false;
    }
  }
  return true;
}

static tenon_status_t verify_meaning(const verifier_t* verifier, tenon__node_work_t* work,
                                     uint32_t graph_index, uint32_t node_index) {
  const tenon__graph_t* graph = verifier->network->graphs[graph_index];
  const tenon__node_t* node = &graph->nodes[node_index];
  tenon__inference_t* inference = &work->inference;
  tenon__node_work_load(work, node);
  inference->existing = node;
  if (node->op->descriptor.control != NULL) {
    tenon__control_layout_t layout;
    return tenon__control_layout_of(verifier->network, graph_index, node_index, inference->sink,
                                    &layout);
  }
  TENON_TRY(tenon__infer_bind(inference));
  TENON_TRY(tenon__infer_node(inference));
  for (uint32_t i = 0; i < node->output_count; ++i) {
    if (node->outputs[i] != TENON_NONE &&
        !same_shape(verifier, &inference->outputs[i], &graph->values[node->outputs[i]])) {
      return tenon__fail(inference->sink, TENON_ERROR_INTERNAL,
                         "its output '%s' is not of the type that the operator's rules give",
                         graph->values[node->outputs[i]].name);
    }
  }
  return TENON_OK;
}

static tenon_status_t verify_node(const verifier_t* verifier, uint32_t graph, uint32_t index) {
  const tenon__node_t* node = &verifier->network->graphs[graph]->nodes[index];
  /* An operator that a reader did not find says nothing that could be checked. */
  if (node->op == NULL || node->op->descriptor.output_count == 0 || node->op->is_missing) {
    return TENON_OK;
  }
  /* Inference adds dimensions to the pool, which is no change that anyone can see. Results that
   * would go into the network's arena go into a copy of its header, whose blocks are freed here. */
  tenon__network_t shadow = *verifier->network;
  tenon__arena_initialize(&shadow.arena, verifier->network->allocator);
  tenon__node_work_t work;
  tenon_status_t status =
      tenon__node_work_begin(&work, &shadow, graph, node->op, node->name, verifier->sink);
  if (status == TENON_OK) {
    status = verify_meaning(verifier, &work, graph, index);
    tenon__node_work_end(&work);
  }
  tenon__arena_deinitialize(&shadow.arena);
  return status;
}

tenon_status_t tenon__network_verify(const tenon__network_t* network, const tenon_sink_t* sink) {
  const verifier_t verifier = {network, sink};
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, network->allocator);
  tenon_status_t status = TENON_OK;
  for (uint32_t g = 0; status == TENON_OK && g < network->graph_count; ++g) {
    if (!tenon__graph_alive(network, g)) {
      continue;
    }
    const uint32_t* order = NULL;
    uint32_t count = 0;
    status = verify_structure(&verifier, network->graphs[g]);
    if (status == TENON_OK) {
      status = tenon__graph_order(network, g, &arena, sink, &order, &count);
    }
    for (uint32_t i = 0; status == TENON_OK && i < count; ++i) {
      status = verify_node(&verifier, g, order[i]);
    }
  }
  tenon__arena_deinitialize(&arena);
  return status;
}
