/*
 * Users of values, and the order of nodes: Kahn's algorithm with a heap, so that among the nodes
 * that are ready the one with the smallest place (then id) comes first.
 */
#include "core/network/order.h"

#include <string.h>

#include "core/base/status.h"
#include "core/network/network.h"

/* The input, if the node is alive and has it; TENON_NONE. */
static uint32_t live_input(const tenon__graph_t* graph, uint32_t node, uint32_t input) {
  return graph->nodes[node].alive ? graph->nodes[node].inputs[input] : TENON_NONE;
}

/* Where the users of each value begin, in `begin` one place further on; their number. */
static size_t count_uses(const tenon__graph_t* graph, uint32_t* begin) {
  size_t total = 0;
  for (uint32_t n = 0; n < graph->node_count; ++n) {
    for (uint32_t i = 0; i < graph->nodes[n].input_count; ++i) {
      const uint32_t value = live_input(graph, n, i);
      if (value != TENON_NONE) {
        ++total;
        ++begin[value + 2u];
      }
    }
  }
  for (uint32_t v = 2; v <= graph->value_count; ++v) {
    begin[v] += begin[v - 1];
  }
  return total;
}

tenon_status_t tenon__graph_uses(const tenon__network_t* network, uint32_t graph_index,
                                 tenon__arena_t* arena, tenon__uses_t* out_uses) {
  const tenon__graph_t* graph = network->graphs[graph_index];
  uint32_t* begin = tenon__arena_allocate(arena, graph->value_count + 2u, sizeof(*begin));
  if (begin == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const size_t total = count_uses(graph, begin);
  uint32_t* uses = tenon__arena_allocate(arena, total + 1, sizeof(*uses));
  if (uses == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  /* Filling moves each beginning to the next value's, which is where it belongs. */
  for (uint32_t n = 0; n < graph->node_count; ++n) {
    for (uint32_t i = 0; i < graph->nodes[n].input_count; ++i) {
      const uint32_t value = live_input(graph, n, i);
      if (value != TENON_NONE) {
        uses[begin[value + 1u]++] = n;
      }
    }
  }
  *out_uses = (tenon__uses_t){begin, uses};
  return TENON_OK;
}

/* A heap of nodes, least first. */
typedef struct heap_t {
  const tenon__graph_t* graph;
  uint32_t* items;
  uint32_t count;
} heap_t;

static bool is_before(const heap_t* heap, uint32_t a, uint32_t b) {
  const uint32_t place_a = heap->graph->nodes[a].place;
  const uint32_t place_b = heap->graph->nodes[b].place;
  return place_a != place_b ? place_a < place_b : a < b;
}

static void heap_push(heap_t* heap, uint32_t item) {
  uint32_t at = heap->count++;
  while (at > 0 && is_before(heap, item, heap->items[(at - 1) / 2])) {
    heap->items[at] = heap->items[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  heap->items[at] = item;
}

static uint32_t heap_pop(heap_t* heap) {
  const uint32_t least = heap->items[0];
  const uint32_t item = heap->items[--heap->count];
  uint32_t at = 0;
  for (;;) {
    uint32_t child = 2 * at + 1;
    if (child >= heap->count) {
      break;
    }
    if (child + 1 < heap->count && is_before(heap, heap->items[child + 1], heap->items[child])) {
      ++child;
    }
    if (!is_before(heap, heap->items[child], item)) {
      break;
    }
    heap->items[at] = heap->items[child];
    at = child;
  }
  heap->items[at] = item;
  return least;
}

/* How many inputs of a node are made by live nodes (each occurrence counts). */
static uint32_t waits_for(const tenon__graph_t* graph, const tenon__node_t* node) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < node->input_count; ++i) {
    if (node->inputs[i] != TENON_NONE) {
      const uint32_t producer = graph->values[node->inputs[i]].producer;
      count += producer != TENON_NONE && graph->nodes[producer].alive;
    }
  }
  return count;
}

static void release_users(const tenon__graph_t* graph, const tenon__uses_t* uses, uint32_t n,
                          uint32_t* waiting, heap_t* heap) {
  const tenon__node_t* node = &graph->nodes[n];
  for (uint32_t o = 0; o < node->output_count; ++o) {
    const uint32_t value = node->outputs[o];
    if (value == TENON_NONE || graph->values[value].producer != n) {
      continue;
    }
    for (uint32_t u = uses->use_begin[value]; u < uses->use_begin[value + 1]; ++u) {
      if (--waiting[uses->uses[u]] == 0) {
        heap_push(heap, uses->uses[u]);
      }
    }
  }
}

tenon_status_t tenon__graph_order(const tenon__network_t* network, uint32_t graph_index,
                                  tenon__arena_t* arena, const tenon_sink_t* sink,
                                  const uint32_t** out_nodes, uint32_t* out_count) {
  const tenon__graph_t* graph = network->graphs[graph_index];
  tenon__uses_t uses;
  uint32_t* waiting = tenon__arena_allocate(arena, graph->node_count + 1u, sizeof(*waiting));
  uint32_t* order = tenon__arena_allocate(arena, graph->node_count + 1u, sizeof(*order));
  heap_t heap = {graph, tenon__arena_allocate(arena, graph->node_count + 1u, sizeof(uint32_t)), 0};
  if (waiting == NULL || order == NULL || heap.items == NULL ||
      tenon__graph_uses(network, graph_index, arena, &uses) != TENON_OK) {
    return tenon__fail_memory(sink);
  }
  uint32_t alive_count = 0;
  for (uint32_t n = 0; n < graph->node_count; ++n) {
    if (!graph->nodes[n].alive) {
      continue;
    }
    ++alive_count;
    waiting[n] = waits_for(graph, &graph->nodes[n]);
    if (waiting[n] == 0) {
      heap_push(&heap, n);
    }
  }
  uint32_t count = 0;
  while (heap.count > 0) {
    const uint32_t n = heap_pop(&heap);
    order[count++] = n;
    release_users(graph, &uses, n, waiting, &heap);
  }
  for (uint32_t n = 0; count < alive_count && n < graph->node_count; ++n) {
    if (graph->nodes[n].alive && waiting[n] > 0) {
      return tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                         "graph '%s': node '%s' waits for its own result", graph->name,
                         graph->nodes[n].name);
    }
  }
  *out_nodes = order;
  *out_count = count;
  return TENON_OK;
}
