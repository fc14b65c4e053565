/*
 * Users of values, and the order of nodes: Kahn's algorithm with a heap, so that among the nodes
 * that are ready the one with the smallest place (then id) comes first.
 */
#include "core/network/order.h"

#include "core/base/heap.h"
#include "core/base/status.h"

/* The input, if the node is alive and has it; TENON_NONE. */
static uint32_t live_input(const tenon__graph_t* graph, uint32_t node, uint32_t input) {
  return graph->nodes[node].alive ? graph->nodes[node].inputs[input] : TENON_NONE;
}

tenon_status_t tenon__graph_uses(const tenon__network_t* network, uint32_t graph_index,
                                 tenon__arena_t* arena, tenon__lists_t* out_uses) {
  const tenon__graph_t* graph = network->graphs[graph_index];
  TENON_TRY_MEMORY(tenon__lists_begin(out_uses, graph->value_count, arena));
  for (uint32_t n = 0; n < graph->node_count; ++n) {
    for (uint32_t i = 0; i < graph->nodes[n].input_count; ++i) {
      if (live_input(graph, n, i) != TENON_NONE) {
        tenon__lists_announce(out_uses, live_input(graph, n, i));
      }
    }
  }
  TENON_TRY_MEMORY(tenon__lists_lay_out(out_uses, arena));
  for (uint32_t n = 0; n < graph->node_count; ++n) {
    for (uint32_t i = 0; i < graph->nodes[n].input_count; ++i) {
      if (live_input(graph, n, i) != TENON_NONE) {
        tenon__lists_add(out_uses, live_input(graph, n, i), n);
      }
    }
  }
  return TENON_OK;
}

/* How many inputs of a node are made by live nodes (each occurrence counts). */
static uint32_t waits_for(const tenon__graph_t* graph, const tenon__node_t* node) {
  uint32_t count = 0;
  TENON_EACH_INPUT(i, node) {
    const uint32_t producer = graph->values[node->inputs[i]].producer;
    count += producer != TENON_NONE && graph->nodes[producer].alive;
  }
  return count;
}

typedef struct ordering_t {
  const tenon__graph_t* graph;
  tenon__lists_t uses;
  uint32_t* waiting;   /* per node: inputs that are still to be made */
  tenon__heap_t ready; /* by place */
} ordering_t;

static void make_ready(ordering_t* ordering, uint32_t node) {
  tenon__heap_push(&ordering->ready, ordering->graph->nodes[node].order, node);
}

static void release_users(ordering_t* ordering, uint32_t n) {
  const tenon__graph_t* graph = ordering->graph;
  const tenon__node_t* node = &graph->nodes[n];
  for (uint32_t o = 0; o < node->output_count; ++o) {
    const uint32_t value = node->outputs[o];
    if (value == TENON_NONE || graph->values[value].producer != n) {
      continue;
    }
    const uint32_t* users = tenon__lists_get(&ordering->uses, value);
    for (uint32_t u = 0; u < tenon__lists_count(&ordering->uses, value); ++u) {
      if (--ordering->waiting[users[u]] == 0) {
        make_ready(ordering, users[u]);
      }
    }
  }
}

static bool begin(ordering_t* ordering, const tenon__network_t* network, uint32_t graph,
                  tenon__arena_t* arena) {
  const uint32_t count = network->graphs[graph]->node_count;
  *ordering = (ordering_t){.graph = network->graphs[graph]};
  ordering->waiting = tenon__arena_allocate(arena, count, sizeof *ordering->waiting);
  return ordering->waiting != NULL && tenon__heap_begin(&ordering->ready, count, arena) &&
         tenon__graph_uses(network, graph, arena, &ordering->uses) == TENON_OK;
}

/* Names a node that never became ready. */
static tenon_status_t fail_cycle(const ordering_t* ordering, const tenon_sink_t* sink) {
  const tenon__graph_t* graph = ordering->graph;
  uint32_t n = 0;
  while (!graph->nodes[n].alive || ordering->waiting[n] == 0) {
    ++n;
  }
  return tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                     "graph '%s': node '%s' waits for its own result", graph->name,
                     graph->nodes[n].name);
}

tenon_status_t tenon__graph_order(const tenon__network_t* network, uint32_t graph_index,
                                  tenon__arena_t* arena, const tenon_sink_t* sink,
                                  const uint32_t** out_nodes, uint32_t* out_count) {
  const tenon__graph_t* graph = network->graphs[graph_index];
  ordering_t ordering;
  uint32_t* order = tenon__arena_allocate(arena, graph->node_count, sizeof(*order));
  TENON_TRY_MEMORY(order != NULL && begin(&ordering, network, graph_index, arena));
  uint32_t alive_count = 0;
  for (uint32_t n = 0; n < graph->node_count; ++n) {
    if (!graph->nodes[n].alive) {
      continue;
    }
    ++alive_count;
    ordering.waiting[n] = waits_for(graph, &graph->nodes[n]);
    if (ordering.waiting[n] == 0) {
      make_ready(&ordering, n);
    }
  }
  uint32_t count = 0;
  while (ordering.ready.count > 0) {
    const uint32_t n = tenon__heap_pop(&ordering.ready);
    order[count++] = n;
    release_users(&ordering, n);
  }
  if (count < alive_count) {
    return fail_cycle(&ordering, sink);
  }
  *out_nodes = order;
  *out_count = count;
  return TENON_OK;
}
