/*
 * Uses and lists. Each input of each node has an entry in one array, linked with the other entries
 * of the same value; entries of a node lie side by side. What passes add to the network is taken up
 * when a patch adds it.
 */
#include "core/optimizer/bench.h"

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/network/order.h"

static uint32_t entry_of(const tenon__bench_t* bench, uint32_t graph, uint32_t node,
                         uint32_t input) {
  return bench->graphs[graph].nodes[node].first_entry + input;
}

void tenon__bench_link(tenon__bench_t* bench, uint32_t graph, uint32_t node, uint32_t input) {
  const uint32_t value = tenon__bench_node(bench, graph, node)->inputs[input];
  const uint32_t entry = entry_of(bench, graph, node, input);
  bench->uses[entry] = (tenon__use_t){node, input, TENON_NONE, TENON_NONE};
  if (value == TENON_NONE) {
    return;
  }
  tenon__value_bench_t* known = &bench->graphs[graph].values[value];
  bench->uses[entry].next = known->first_use;
  if (known->first_use != TENON_NONE) {
    bench->uses[known->first_use].previous = entry;
  }
  known->first_use = entry;
  ++known->use_count;
}

void tenon__bench_unlink(tenon__bench_t* bench, uint32_t graph, uint32_t node, uint32_t input) {
  const uint32_t value = tenon__bench_node(bench, graph, node)->inputs[input];
  if (value == TENON_NONE) {
    return;
  }
  const tenon__use_t use = bench->uses[entry_of(bench, graph, node, input)];
  tenon__value_bench_t* known = &bench->graphs[graph].values[value];
  if (use.previous != TENON_NONE) {
    bench->uses[use.previous].next = use.next;
  } else {
    known->first_use = use.next;
  }
  if (use.next != TENON_NONE) {
    bench->uses[use.next].previous = use.previous;
  }
  --known->use_count;
}

static bool take_up_values(tenon__bench_t* bench, uint32_t graph_index) {
  tenon__graph_bench_t* graph = &bench->graphs[graph_index];
  const uint32_t count = bench->network->graphs[graph_index]->value_count;
  if (!tenon__grow(bench->network->allocator, (void**)&graph->values, &graph->value_capacity,
                   count + 1u, sizeof(*graph->values))) {
    return false;
  }
  for (; graph->value_count < count; ++graph->value_count) {
    graph->values[graph->value_count] =
        (tenon__value_bench_t){.first_use = TENON_NONE, .number = TENON_NONE};
  }
  return true;
}

static bool take_up_nodes(tenon__bench_t* bench, uint32_t graph_index) {
  tenon__graph_bench_t* graph = &bench->graphs[graph_index];
  const tenon__graph_t* tables = bench->network->graphs[graph_index];
  if (!tenon__grow(bench->network->allocator, (void**)&graph->nodes, &graph->node_capacity,
                   tables->node_count + 1u, sizeof(*graph->nodes))) {
    return false;
  }
  for (; graph->node_count < tables->node_count; ++graph->node_count) {
    const tenon__node_t* node = &tables->nodes[graph->node_count];
    if (!tenon__grow(bench->network->allocator, (void**)&bench->uses, &bench->use_capacity,
                     bench->use_count + node->input_count + 1, sizeof(*bench->uses))) {
      return false;
    }
    graph->nodes[graph->node_count] =
        (tenon__node_bench_t){.first_entry = (uint32_t)bench->use_count};
    bench->use_count += node->input_count;
    const uint32_t linked_count = node->alive ? node->input_count : 0;
    for (uint32_t i = 0; i < linked_count; ++i) {
      tenon__bench_link(bench, graph_index, graph->node_count, i);
    }
  }
  return true;
}

static bool take_up_numbers(tenon__bench_t* bench) {
  const tenon__network_t* network = bench->network;
  if (!tenon__grow(network->allocator, (void**)&bench->number_next, &bench->number_capacity,
                   network->number_count + 1u, sizeof(*bench->number_next))) {
    return false;
  }
  for (; bench->number_count < network->number_count; ++bench->number_count) {
    const tenon__number_t* number = &network->numbers[bench->number_count];
    bench->number_next[bench->number_count] = TENON_NONE;
    if (number->value != TENON_NONE && number->graph < bench->graph_count &&
        number->value < bench->graphs[number->graph].value_count) {
      uint32_t* head = &bench->graphs[number->graph].values[number->value].number;
      bench->number_next[bench->number_count] = *head;
      *head = bench->number_count;
    }
  }
  return true;
}

bool tenon__bench_take_up(tenon__bench_t* bench, uint32_t graph) {
  if (!take_up_values(bench, graph) || !take_up_nodes(bench, graph) || !take_up_numbers(bench)) {
    bench->is_out_of_memory = true;
    return false;
  }
  return true;
}

void tenon__bench_move_numbers(tenon__bench_t* bench, uint32_t graph, uint32_t old,
                               uint32_t value) {
  uint32_t* from = &bench->graphs[graph].values[old].number;
  uint32_t* to = &bench->graphs[graph].values[value].number;
  while (*from != TENON_NONE) {
    const uint32_t number = *from;
    *from = bench->number_next[number];
    bench->number_next[number] = *to;
    *to = number;
    bench->network->numbers[number].value = value;
  }
}

static void count_leaving(tenon__bench_t* bench, uint32_t graph, uint32_t value) {
  ++bench->graphs[graph].values[value].use_count;
  ++bench->graphs[graph].values[value].leave_count;
}

bool tenon__bench_take_up_graphs(tenon__bench_t* bench) {
  const tenon__network_t* network = bench->network;
  const uint32_t known = bench->graph_count;
  if (!tenon__grow(network->allocator, (void**)&bench->graphs, &bench->graph_capacity,
                   network->graph_count, sizeof(*bench->graphs))) {
    bench->is_out_of_memory = true;
    return false;
  }
  for (; bench->graph_count < network->graph_count; ++bench->graph_count) {
    bench->graphs[bench->graph_count] = (tenon__graph_bench_t){0};
  }
  for (uint32_t g = known; g < bench->graph_count; ++g) {
    if (!take_up_values(bench, g)) {
      bench->is_out_of_memory = true;
      return false;
    }
  }
  for (uint32_t g = known; g < bench->graph_count; ++g) {
    if (!tenon__bench_take_up(bench, g)) {
      return false;
    }
    for (uint32_t i = 0; i < network->graphs[g]->output_count; ++i) {
      count_leaving(bench, g, network->graphs[g]->outputs[i]);
    }
  }
  return true;
}

static bool take_up_all(tenon__bench_t* bench) {
  const tenon__network_t* network = bench->network;
  if (!tenon__bench_take_up_graphs(bench)) {
    return false;
  }
  for (uint32_t i = 0; i < network->state_count; ++i) {
    if (network->states[i].update != TENON_NONE) {
      count_leaving(bench, 0, network->states[i].update);
    }
  }
  return true;
}

tenon_status_t tenon__bench_create(tenon__network_t* network,
                                   const tenon__optimize_options_t* options, uint32_t pass_count,
                                   const tenon_sink_t* sink, tenon__optimize_report_t* report,
                                   tenon__bench_t** out_bench) {
  tenon__bench_t* bench = tenon__allocate(network->allocator, 1, sizeof(*bench));
  if (bench == NULL) {
    return tenon__fail_memory(sink);
  }
  bench->network = network;
  bench->options = options;
  bench->sink = sink;
  bench->report = report;
  tenon__arena_initialize(&bench->arena, network->allocator);
  bench->pass_count = pass_count;
  if (!take_up_all(bench)) {
    tenon__bench_destroy(bench);
    return tenon__fail_memory(sink);
  }
  *out_bench = bench;
  return TENON_OK;
}

void tenon__bench_destroy(tenon__bench_t* bench) {
  if (bench == NULL) {
    return;
  }
  const tenon_allocator_t allocator = bench->network->allocator;
  for (uint32_t g = 0; g < bench->graph_count; ++g) {
    tenon__graph_bench_t* graph = &bench->graphs[g];
    tenon__free(allocator, graph->values, graph->value_capacity * sizeof(*graph->values));
    tenon__free(allocator, graph->nodes, graph->node_capacity * sizeof(*graph->nodes));
  }
  for (uint32_t p = 0; p < bench->pass_count; ++p) {
    tenon__free(allocator, bench->queues[p].items,
                bench->queues[p].capacity * sizeof(*bench->queues[p].items));
  }
  tenon__free(allocator, bench->graphs, bench->graph_capacity * sizeof(*bench->graphs));
  tenon__free(allocator, bench->uses, bench->use_capacity * sizeof(*bench->uses));
  tenon__free(allocator, bench->number_next, bench->number_capacity * sizeof(*bench->number_next));
  tenon__arena_deinitialize(&bench->arena);
  tenon__free(allocator, bench, sizeof(*bench));
}

void tenon__bench_release(tenon__bench_t* bench, tenon__arena_t* scratch) {
  bench->is_out_of_memory = bench->is_out_of_memory || scratch->failed;
  tenon__arena_deinitialize(scratch);
}

bool tenon__bench_failed(const tenon__bench_t* bench) {
  return bench->is_out_of_memory || bench->arena.failed || bench->network->arena.failed ||
         tenon__dim_pool_failed(bench->network->pool);
}

static bool push(tenon__bench_t* bench, tenon__pass_queue_t* queue, uint64_t item) {
  if (queue->count == queue->capacity) {
    const size_t capacity = queue->capacity * 2 + 64;
    uint64_t* items = tenon__allocate(bench->network->allocator, capacity, sizeof(*items));
    if (items == NULL) {
      bench->is_out_of_memory = true;
      return false;
    }
    for (size_t i = 0; i < queue->count; ++i) {
      items[i] = queue->items[(queue->first + i) % queue->capacity];
    }
    tenon__free(bench->network->allocator, queue->items, queue->capacity * sizeof(*queue->items));
    queue->items = items;
    queue->capacity = capacity;
    queue->first = 0;
  }
  queue->items[(queue->first + queue->count++) % queue->capacity] = item;
  return true;
}

void tenon__bench_touch(tenon__bench_t* bench, uint32_t graph, uint32_t node) {
  if (node == TENON_NONE || !tenon__bench_node(bench, graph, node)->alive) {
    return;
  }
  for (uint32_t p = 0; p < bench->pass_count; ++p) {
    uint32_t* queued = &bench->graphs[graph].nodes[node].queued;
    if ((*queued & (1u << p)) == 0 &&
        push(bench, &bench->queues[p], ((uint64_t)graph << 32) | node)) {
      *queued |= 1u << p;
    }
  }
}

void tenon__bench_touch_around(tenon__bench_t* bench, uint32_t graph, uint32_t value) {
  tenon__bench_touch(bench, graph, tenon__bench_value(bench, graph, value)->producer);
  const uint32_t first = tenon__bench_first_use(bench, graph, value);
  if (tenon__bench_use_count(bench, graph, value) == 1 && first != TENON_NONE) {
    tenon__bench_touch(bench, graph, bench->uses[first].node);
  }
  /* A parameter that nobody reads any more need not be passed. */
  const tenon__graph_t* tables = tenon__bench_graph(bench, graph);
  if (graph != 0 && tables->owner != TENON_NONE &&
      tenon__bench_use_count(bench, graph, value) == 0 &&
      (tables->values[value].flags & TENON_VALUE_IS_INPUT) != 0) {
    tenon__bench_touch(bench, tables->parent, tables->owner);
  }
}

tenon_status_t tenon__bench_queue_all(tenon__bench_t* bench) {
  for (uint32_t g = 0; g < bench->network->graph_count; ++g) {
    const uint32_t* order = NULL;
    uint32_t count = 0;
    if (!tenon__graph_can_run(bench->network, g)) {
      continue;
    }
    TENON_TRY(tenon__graph_order(bench->network, g, &bench->arena, bench->sink, &order, &count));
    for (uint32_t i = 0; i < count; ++i) {
      tenon__bench_touch(bench, g, order[i]);
    }
  }
  return bench->is_out_of_memory ? tenon__fail_memory(bench->sink) : TENON_OK;
}

bool tenon__bench_next(tenon__bench_t* bench, uint32_t pass, uint32_t* out_graph,
                       uint32_t* out_node) {
  tenon__pass_queue_t* queue = &bench->queues[pass];
  while (queue->count > 0) {
    const uint64_t item = queue->items[queue->first];
    queue->first = (queue->first + 1) % queue->capacity;
    --queue->count;
    *out_graph = (uint32_t)(item >> 32);
    *out_node = (uint32_t)item;
    bench->graphs[*out_graph].nodes[*out_node].queued &= ~(1u << pass);
    if (tenon__bench_node(bench, *out_graph, *out_node)->alive &&
        tenon__graph_can_run(bench->network, *out_graph)) {
      return true;
    }
  }
  return false;
}

const tenon__weights_t* tenon__bench_constant(const tenon__bench_t* bench, uint32_t graph,
                                              uint32_t value) {
  if (value == TENON_NONE) {
    return NULL;
  }
  const uint32_t index = tenon__bench_value(bench, graph, value)->weights;
  if (index == TENON_NONE || bench->network->weights[index].data == NULL) {
    return NULL;
  }
  return &bench->network->weights[index];
}
