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
                       size_t item_size, void* out_array, size_t* out_capacity) {
  void* copy = NULL;
  *out_capacity = 0;
  if (count > 0 && !tenon__grow(allocator, &copy, out_capacity, count, item_size)) {
    return false;
  }
  memcpy(out_array, &copy, sizeof(copy));
  if (count > 0) {
    memcpy(copy, source, count * item_size);
  }
  return true;
}
/* The array of that name, of a source into what is made of it, with its capacity. */
#define COPY_ARRAY(source, target, array, count, capacity)                          \
  copy_array(allocator, (source)->array, (source)->count, sizeof(*(source)->array), \
             &(target)->array, &(target)->capacity)

static bool copy_map(const tenon__string_map_t* source, tenon__string_map_t* target) {
  for (size_t i = 0; i < tenon__string_map_count(source); ++i) {
    if (!tenon__string_map_set(target, tenon__string_map_key(source, i),
                               tenon__string_map_value(source, i))) {
      return false;
    }
  }
  return true;
}

static bool copy_nodes(tenon__network_t* network, tenon__graph_t* graph) {
  tenon__arena_t* arena = &network->arena;
  bool good = true;
  for (uint32_t i = 0; good && i < graph->node_count; ++i) {
    tenon__node_t* node = &graph->nodes[i];
    node->inputs = tenon__arena_copy(arena, node->inputs, node->input_count * sizeof(uint32_t));
    node->outputs = tenon__arena_copy(arena, node->outputs, node->output_count * sizeof(uint32_t));
    node->bodies = tenon__arena_copy(arena, node->bodies, node->body_count * sizeof(uint32_t));
    good = node->inputs != NULL && node->outputs != NULL && node->bodies != NULL;
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
  bool good = COPY_ARRAY(source, graph, values, value_count, value_capacity) &&
              COPY_ARRAY(source, graph, nodes, node_count, node_capacity) &&
              COPY_ARRAY(source, graph, inputs, input_count, input_capacity) &&
              COPY_ARRAY(source, graph, outputs, output_count, output_capacity) &&
              COPY_ARRAY(source, graph, output_names, output_count, output_name_capacity) &&
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
  TENON_TRY_MEMORY(COPY_ARRAY(source, network, weights, weights_count, weights_capacity) &&
                   COPY_ARRAY(source, network, states, state_count, state_capacity) &&
                   COPY_ARRAY(source, network, handles, handle_count, handle_capacity));
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
