/*
 * A copy of a network. What never changes once it is made (names, dimensions, attributes, programs,
 * maps, the bytes of weights) is shared with the source, which outlives the copy; weights that are
 * not aligned, tables, and the lists of inputs, outputs and bodies that passes change, are copied.
 * The pool of dimensions is copied through its file form, which keeps ids.
 */
#include "core/network/copy.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/dimension/dimension_restore.h"
#include "core/network/dense.h"

static bool copy_array(tenon_allocator_t allocator, const void* source, size_t count,
                       size_t item_size, void** out_array, size_t* out_capacity) {
  *out_array = NULL;
  *out_capacity = 0;
  if (count == 0) {
    return true;
  }
  if (!tenon__grow(allocator, out_array, out_capacity, count, item_size)) {
    return false;
  }
  memcpy(*out_array, source, count * item_size);
  return true;
}

static bool copy_map(const tenon__string_map_t* source, tenon__string_map_t* target) {
  for (size_t i = 0; i < tenon__string_map_count(source); ++i) {
    if (!tenon__string_map_set(target, tenon__string_map_key(source, i),
                               tenon__string_map_value(source, i))) {
      return false;
    }
  }
  return true;
}

static uint32_t* copy_list(tenon__arena_t* arena, const uint32_t* list, uint32_t count,
                           bool* inout_good) {
  uint32_t* copy = tenon__arena_allocate(arena, count + 1u, sizeof(*copy));
  *inout_good = *inout_good && copy != NULL;
  if (copy != NULL && count > 0) {
    memcpy(copy, list, count * sizeof(*copy));
  }
  return copy;
}

static bool copy_nodes(tenon__network_t* network, tenon__graph_t* graph) {
  bool good = true;
  for (uint32_t i = 0; good && i < graph->node_count; ++i) {
    tenon__node_t* node = &graph->nodes[i];
    node->inputs = copy_list(&network->arena, node->inputs, node->input_count, &good);
    node->outputs = copy_list(&network->arena, node->outputs, node->output_count, &good);
    node->bodies = copy_list(&network->arena, node->bodies, node->body_count, &good);
  }
  return good;
}

static tenon_status_t copy_graph(tenon__network_t* network, const tenon__graph_t* source) {
  const tenon_allocator_t allocator = network->allocator;
  uint32_t index = 0;
  TENON_TRY(tenon__network_add_graph(network, source->name, source->parent, &index));
  tenon__graph_t* graph = network->graphs[index];
  graph->owner = source->owner;
  graph->fault = source->fault;
  graph->fault_status = source->fault_status;
  bool good = copy_array(allocator, source->values, source->value_count, sizeof(*source->values),
                         (void**)&graph->values, &graph->value_capacity) &&
              copy_array(allocator, source->nodes, source->node_count, sizeof(*source->nodes),
                         (void**)&graph->nodes, &graph->node_capacity) &&
              copy_array(allocator, source->inputs, source->input_count, sizeof(*source->inputs),
                         (void**)&graph->inputs, &graph->input_capacity) &&
              copy_array(allocator, source->outputs, source->output_count, sizeof(*source->outputs),
                         (void**)&graph->outputs, &graph->output_capacity) &&
              copy_array(allocator, source->output_names, source->output_count,
                         sizeof(*source->output_names), (void**)&graph->output_names,
                         &graph->output_name_capacity) &&
              copy_map(&source->value_names, &graph->value_names) &&
              copy_map(&source->node_names, &graph->node_names);
  if (good) {
    graph->value_count = source->value_count;
    graph->node_count = source->node_count;
    graph->input_count = source->input_count;
    graph->output_count = source->output_count;
    good = copy_nodes(network, graph);
  }
  return good ? TENON_OK : TENON_ERROR_OUT_OF_MEMORY;
}

static tenon_status_t copy_tables(const tenon__network_t* source, tenon__network_t* network) {
  const tenon_allocator_t allocator = network->allocator;
  TENON_TRY_MEMORY(
      copy_array(allocator, source->weights, source->weights_count, sizeof(*source->weights),
                 (void**)&network->weights, &network->weights_capacity) &&
      copy_array(allocator, source->states, source->state_count, sizeof(*source->states),
                 (void**)&network->states, &network->state_capacity) &&
      copy_array(allocator, source->handles, source->handle_count, sizeof(*source->handles),
                 (void**)&network->handles, &network->handle_capacity));
  network->weights_count = source->weights_count;
  network->state_count = source->state_count;
  network->handle_count = source->handle_count;
  network->next_number = source->next_number;
  for (uint32_t i = 0; i < network->weights_count; ++i) {
    network->weights[i].owned = false;
  }
  for (uint32_t i = 0; i < network->weights_count; ++i) {
    tenon__weights_t* weights = &network->weights[i];
    if (weights->data != NULL && !tenon__weights_are_aligned(weights->dtype, weights->data)) {
      TENON_TRY(tenon__weights_align(network, weights));
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__network_copy(const tenon__network_t* source, tenon__network_t** out_network) {
  tenon__network_t* network = tenon__allocate(source->allocator, 1, sizeof(*network));
  TENON_TRY_MEMORY(network != NULL);
  network->allocator = source->allocator;
  tenon__arena_initialize(&network->arena, source->allocator);
  tenon_status_t status = tenon__dim_pool_copy(network->allocator, source->pool, &network->pool);
  for (uint32_t i = 0; status == TENON_OK && i < source->graph_count; ++i) {
    status = copy_graph(network, source->graphs[i]);
  }
  if (status == TENON_OK) {
    status = copy_tables(source, network);
  }
  if (status != TENON_OK) {
    tenon__network_destroy(network);
    return status;
  }
  *out_network = network;
  return TENON_OK;
}
