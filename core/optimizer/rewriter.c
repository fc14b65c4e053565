/*
 * Uses and lists. Each input of each node has an entry in one array, linked with the other entries
 * of the same value; entries of a node lie side by side. What passes add to the network is taken up
 * when a patch adds it.
 */
#include "core/optimizer/rewriter.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/network/order.h"

static uint32_t entry_of(const tenon__rewriter_t* rewriter, uint32_t graph, uint32_t node,
                         uint32_t input) {
  return rewriter->graphs[graph].nodes[node].first_entry + input;
}

void tenon__rewriter_link(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t node,
                          uint32_t input) {
  const uint32_t value = tenon__rewriter_node(rewriter, graph, node)->inputs[input];
  const uint32_t entry = entry_of(rewriter, graph, node, input);
  rewriter->uses[entry] = (tenon__use_t){node, input, TENON_NONE, TENON_NONE};
  if (value == TENON_NONE) {
    return;
  }
  tenon__value_uses_t* known = &rewriter->graphs[graph].values[value];
  rewriter->uses[entry].next = known->first_use;
  if (known->first_use != TENON_NONE) {
    rewriter->uses[known->first_use].previous = entry;
  }
  known->first_use = entry;
  ++known->use_count;
}

void tenon__rewriter_unlink(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t node,
                            uint32_t input) {
  const uint32_t value = tenon__rewriter_node(rewriter, graph, node)->inputs[input];
  if (value == TENON_NONE) {
    return;
  }
  const tenon__use_t use = rewriter->uses[entry_of(rewriter, graph, node, input)];
  tenon__value_uses_t* known = &rewriter->graphs[graph].values[value];
  if (use.previous != TENON_NONE) {
    rewriter->uses[use.previous].next = use.next;
  } else {
    known->first_use = use.next;
  }
  if (use.next != TENON_NONE) {
    rewriter->uses[use.next].previous = use.previous;
  }
  --known->use_count;
}

static bool take_up_values(tenon__rewriter_t* rewriter, uint32_t graph_index) {
  tenon__graph_uses_t* graph = &rewriter->graphs[graph_index];
  const uint32_t count = rewriter->network->graphs[graph_index]->value_count;
  if (!TENON_GROW(rewriter->network->allocator, graph->values, graph->value_capacity, count + 1u)) {
    return false;
  }
  for (; graph->value_count < count; ++graph->value_count) {
    graph->values[graph->value_count] =
        (tenon__value_uses_t){.first_use = TENON_NONE, .handle = TENON_NONE};
  }
  return true;
}

static bool take_up_nodes(tenon__rewriter_t* rewriter, uint32_t graph_index) {
  tenon__graph_uses_t* graph = &rewriter->graphs[graph_index];
  const tenon__graph_t* tables = rewriter->network->graphs[graph_index];
  if (!TENON_GROW(rewriter->network->allocator, graph->nodes, graph->node_capacity,
                  tables->node_count + 1u)) {
    return false;
  }
  for (; graph->node_count < tables->node_count; ++graph->node_count) {
    const tenon__node_t* node = &tables->nodes[graph->node_count];
    if (!TENON_GROW(rewriter->network->allocator, rewriter->uses, rewriter->use_capacity,
                    rewriter->use_count + node->input_count + 1)) {
      return false;
    }
    graph->nodes[graph->node_count] =
        (tenon__node_uses_t){.first_entry = (uint32_t)rewriter->use_count};
    rewriter->use_count += node->input_count;
    const uint32_t linked_count = node->alive ? node->input_count : 0;
    for (uint32_t i = 0; i < linked_count; ++i) {
      tenon__rewriter_link(rewriter, graph_index, graph->node_count, i);
    }
  }
  return true;
}

static bool take_up_handles(tenon__rewriter_t* rewriter) {
  const tenon__network_t* network = rewriter->network;
  if (!TENON_GROW(network->allocator, rewriter->handle_next, rewriter->handle_capacity,
                  network->handle_count + 1u)) {
    return false;
  }
  for (; rewriter->handle_count < network->handle_count; ++rewriter->handle_count) {
    const tenon__value_handle_t* handle = &network->handles[rewriter->handle_count];
    rewriter->handle_next[rewriter->handle_count] = TENON_NONE;
    if (handle->value != TENON_NONE && handle->graph < rewriter->graph_count &&
        handle->value < rewriter->graphs[handle->graph].value_count) {
      uint32_t* head = &rewriter->graphs[handle->graph].values[handle->value].handle;
      rewriter->handle_next[rewriter->handle_count] = *head;
      *head = rewriter->handle_count;
    }
  }
  return true;
}

bool tenon__rewriter_take_up(tenon__rewriter_t* rewriter, uint32_t graph) {
  return take_up_values(rewriter, graph) && take_up_nodes(rewriter, graph) &&
         take_up_handles(rewriter);
}

void tenon__rewriter_move_handles(tenon__rewriter_t* rewriter, uint32_t from_graph, uint32_t old,
                                  uint32_t graph, uint32_t value) {
  uint32_t* from = &rewriter->graphs[from_graph].values[old].handle;
  uint32_t* to = &rewriter->graphs[graph].values[value].handle;
  while (*from != TENON_NONE) {
    const uint32_t handle = *from;
    *from = rewriter->handle_next[handle];
    rewriter->handle_next[handle] = *to;
    *to = handle;
    rewriter->network->handles[handle].graph = graph;
    rewriter->network->handles[handle].value = value;
  }
}

static void count_leaving(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t value) {
  ++rewriter->graphs[graph].values[value].use_count;
  ++rewriter->graphs[graph].values[value].leave_count;
}

bool tenon__rewriter_take_up_graphs(tenon__rewriter_t* rewriter) {
  const tenon__network_t* network = rewriter->network;
  const uint32_t known = rewriter->graph_count;
  if (!TENON_GROW(network->allocator, rewriter->graphs, rewriter->graph_capacity,
                  network->graph_count)) {
    return false;
  }
  for (; rewriter->graph_count < network->graph_count; ++rewriter->graph_count) {
    rewriter->graphs[rewriter->graph_count] = (tenon__graph_uses_t){0};
  }
  for (uint32_t g = known; g < rewriter->graph_count; ++g) {
    if (!take_up_values(rewriter, g)) {
      return false;
    }
  }
  for (uint32_t g = known; g < rewriter->graph_count; ++g) {
    if (!tenon__rewriter_take_up(rewriter, g)) {
      return false;
    }
    for (uint32_t i = 0; i < network->graphs[g]->output_count; ++i) {
      count_leaving(rewriter, g, network->graphs[g]->outputs[i]);
    }
  }
  return true;
}

static bool take_up_all(tenon__rewriter_t* rewriter) {
  const tenon__network_t* network = rewriter->network;
  if (!tenon__rewriter_take_up_graphs(rewriter)) {
    return false;
  }
  for (uint32_t i = 0; i < network->state_count; ++i) {
    if (network->states[i].update != TENON_NONE) {
      count_leaving(rewriter, 0, network->states[i].update);
    }
  }
  return true;
}

tenon_status_t tenon__rewriter_create(tenon__network_t* network,
                                      const tenon__optimize_options_t* options, uint32_t pass_count,
                                      const tenon_sink_t* sink, tenon__optimize_report_t* report,
                                      tenon__rewriter_t** out_rewriter) {
  tenon__rewriter_t* rewriter = tenon__allocate(network->allocator, 1, sizeof(*rewriter));
  TENON_TRY_MEMORY(rewriter != NULL);
  rewriter->network = network;
  rewriter->options = options;
  rewriter->sink = sink;
  rewriter->report = report;
  tenon__arena_initialize(&rewriter->arena, network->allocator);
  tenon__arena_initialize(&rewriter->scratch, network->allocator);
  rewriter->pass_count = pass_count;
  if (!take_up_all(rewriter)) {
    tenon__rewriter_destroy(rewriter);
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *out_rewriter = rewriter;
  return TENON_OK;
}

void tenon__rewriter_destroy(tenon__rewriter_t* rewriter) {
  if (rewriter == NULL) {
    return;
  }
  const tenon_allocator_t allocator = rewriter->network->allocator;
  for (uint32_t g = 0; g < rewriter->graph_count; ++g) {
    tenon__graph_uses_t* graph = &rewriter->graphs[g];
    tenon__free(allocator, graph->values, graph->value_capacity * sizeof(*graph->values));
    tenon__free(allocator, graph->nodes, graph->node_capacity * sizeof(*graph->nodes));
  }
  for (uint32_t p = 0; p < rewriter->pass_count; ++p) {
    tenon__free(allocator, rewriter->queues[p].items,
                rewriter->queues[p].capacity * sizeof(*rewriter->queues[p].items));
  }
  tenon__free(allocator, rewriter->graphs, rewriter->graph_capacity * sizeof(*rewriter->graphs));
  tenon__free(allocator, rewriter->uses, rewriter->use_capacity * sizeof(*rewriter->uses));
  tenon__free(allocator, rewriter->handle_next,
              rewriter->handle_capacity * sizeof(*rewriter->handle_next));
  tenon__arena_deinitialize(&rewriter->scratch);
  tenon__arena_deinitialize(&rewriter->arena);
  tenon__free(allocator, rewriter, sizeof(*rewriter));
}

bool tenon__rewriter_failed(const tenon__rewriter_t* rewriter) {
  return rewriter->is_out_of_memory || rewriter->arena.failed || rewriter->network->arena.failed ||
         tenon__dim_pool_failed(rewriter->network->pool);
}

bool tenon__rewriter_end_visit(tenon__rewriter_t* rewriter) {
  rewriter->is_out_of_memory = rewriter->is_out_of_memory || rewriter->scratch.failed;
  tenon__arena_deinitialize(&rewriter->scratch);
  return tenon__rewriter_failed(rewriter);
}

static bool push(tenon__rewriter_t* rewriter, tenon__pass_queue_t* queue, uint64_t item) {
  if (queue->end == queue->capacity && queue->first > queue->end / 2) {
    queue->end -= queue->first;
    memmove(queue->items, queue->items + queue->first, queue->end * sizeof(*queue->items));
    queue->first = 0;
  }
  if (!TENON_GROW(rewriter->network->allocator, queue->items, queue->capacity, queue->end + 1)) {
    rewriter->is_out_of_memory = true;
    return false;
  }
  queue->items[queue->end++] = item;
  return true;
}

void tenon__rewriter_touch(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t node) {
  if (node == TENON_NONE || !tenon__rewriter_node(rewriter, graph, node)->alive) {
    return;
  }
  for (uint32_t p = 0; p < rewriter->pass_count; ++p) {
    uint32_t* queued = &rewriter->graphs[graph].nodes[node].queued;
    if ((*queued & (1u << p)) == 0 &&
        push(rewriter, &rewriter->queues[p], ((uint64_t)graph << 32) | node)) {
      *queued |= 1u << p;
    }
  }
}

void tenon__rewriter_touch_around(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t value) {
  tenon__rewriter_touch(rewriter, graph, tenon__rewriter_value(rewriter, graph, value)->producer);
  const uint32_t first = tenon__rewriter_first_use(rewriter, graph, value);
  if (tenon__rewriter_use_count(rewriter, graph, value) == 1 && first != TENON_NONE) {
    tenon__rewriter_touch(rewriter, graph, rewriter->uses[first].node);
  }
  /* A parameter that nobody reads any more need not be passed. */
  const tenon__graph_t* tables = tenon__rewriter_graph(rewriter, graph);
  if (graph != 0 && tables->owner != TENON_NONE &&
      tenon__rewriter_use_count(rewriter, graph, value) == 0 &&
      (tables->values[value].flags & TENON_VALUE_IS_INPUT) != 0) {
    tenon__rewriter_touch(rewriter, tables->parent, tables->owner);
  }
}

tenon_status_t tenon__rewriter_queue_all(tenon__rewriter_t* rewriter) {
  for (uint32_t g = 0; g < rewriter->network->graph_count; ++g) {
    const uint32_t* order = NULL;
    uint32_t count = 0;
    if (!tenon__graph_can_run(rewriter->network, g)) {
      continue;
    }
    TENON_TRY(
        tenon__graph_order(rewriter->network, g, &rewriter->arena, rewriter->sink, &order, &count));
    for (uint32_t i = 0; i < count; ++i) {
      tenon__rewriter_touch(rewriter, g, order[i]);
    }
  }
  return rewriter->is_out_of_memory ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

bool tenon__rewriter_next(tenon__rewriter_t* rewriter, uint32_t pass, uint32_t* out_graph,
                          uint32_t* out_node) {
  tenon__pass_queue_t* queue = &rewriter->queues[pass];
  while (queue->first < queue->end) {
    const uint64_t item = queue->items[queue->first++];
    *out_graph = (uint32_t)(item >> 32);
    *out_node = (uint32_t)item;
    rewriter->graphs[*out_graph].nodes[*out_node].queued &= ~(1u << pass);
    if (tenon__rewriter_node(rewriter, *out_graph, *out_node)->alive &&
        tenon__graph_can_run(rewriter->network, *out_graph)) {
      return true;
    }
  }
  return false;
}

const tenon__weights_t* tenon__rewriter_constant(const tenon__rewriter_t* rewriter, uint32_t graph,
                                                 uint32_t value) {
  if (value == TENON_NONE) {
    return NULL;
  }
  const uint32_t index = tenon__rewriter_value(rewriter, graph, value)->weights;
  if (index == TENON_NONE || rewriter->network->weights[index].data == NULL) {
    return NULL;
  }
  return &rewriter->network->weights[index];
}
