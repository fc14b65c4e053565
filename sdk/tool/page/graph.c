/* See graph.h. */
#include "page/graph.h"

#include <stdlib.h>
#include <string.h>

#include "text/memory.h"

enum { SWEEPS = 12, BENDS_MAX = 50000 };
static const double bend_width = 6;

uint32_t tool_graph_add_node(tool_graph_t* graph, double width) {
  graph->nodes =
      tool_grow(graph->nodes, &graph->node_capacity, graph->node_count + 1, sizeof(*graph->nodes));
  graph->nodes[graph->node_count] = (tool_graph_node_t){.width = width};
  return (uint32_t)graph->node_count++;
}

void tool_graph_add_edge(tool_graph_t* graph, uint32_t from, uint32_t to) {
  if (from >= to) {
    return;
  }
  graph->edges =
      tool_grow(graph->edges, &graph->edge_capacity, graph->edge_count + 1, sizeof(*graph->edges));
  graph->edges[graph->edge_count++] = (tool_graph_edge_t){.from = from, .to = to};
}

void tool_graph_free(tool_graph_t* graph) {
  tool_free(graph->nodes);
  tool_free(graph->edges);
  *graph = (tool_graph_t){0};
}

/* ---- Layers ---- */

static int compare_targets(const void* a, const void* b) {
  const tool_graph_edge_t* x = a;
  const tool_graph_edge_t* y = b;
  return x->to != y->to ? (x->to < y->to ? -1 : 1) : (x->from > y->from) - (x->from < y->from);
}

/* Nodes without sources move down to just above their first user. */
static void lower_sources(tool_graph_t* graph) {
  bool* has_source = tool_allocate(graph->node_count, sizeof(bool));
  uint32_t* first_use = tool_allocate(graph->node_count, sizeof(uint32_t));
  memset(first_use, 0xFF, graph->node_count * sizeof(uint32_t));
  for (size_t i = 0; i < graph->edge_count; ++i) {
    const tool_graph_edge_t* edge = &graph->edges[i];
    has_source[edge->to] = true;
    const uint32_t layer = graph->nodes[edge->to].layer;
    if (layer < first_use[edge->from]) {
      first_use[edge->from] = layer;
    }
  }
  for (size_t i = 0; i < graph->node_count; ++i) {
    if (!has_source[i] && first_use[i] != UINT32_MAX) {
      graph->nodes[i].layer = first_use[i] - 1;
    }
  }
  tool_free(first_use);
  tool_free(has_source);
}

static void find_layers(tool_graph_t* graph) {
  if (graph->edge_count > 0) {
    qsort(graph->edges, graph->edge_count, sizeof(*graph->edges), compare_targets);
  }
  /* Edges in order of their targets: a source's layer is known before it is used. */
  for (size_t i = 0; i < graph->edge_count; ++i) {
    const uint32_t below = graph->nodes[graph->edges[i].from].layer + 1;
    tool_graph_node_t* target = &graph->nodes[graph->edges[i].to];
    target->layer = below > target->layer ? below : target->layer;
  }
  lower_sources(graph);
  for (size_t i = 0; i < graph->node_count; ++i) {
    const uint32_t count = graph->nodes[i].layer + 1;
    graph->layer_count = count > graph->layer_count ? count : graph->layer_count;
  }
}

static void add_bends(tool_graph_t* graph) {
  size_t wanted = 0;
  for (size_t i = 0; i < graph->edge_count; ++i) {
    wanted += graph->nodes[graph->edges[i].to].layer - graph->nodes[graph->edges[i].from].layer - 1;
  }
  for (size_t i = 0; i < graph->edge_count; ++i) {
    tool_graph_edge_t* edge = &graph->edges[i];
    const uint32_t first = graph->nodes[edge->from].layer + 1;
    const uint32_t end = graph->nodes[edge->to].layer;
    edge->bend_begin = (uint32_t)graph->node_count;
    if (wanted <= BENDS_MAX) {
      for (uint32_t layer = first; layer < end; ++layer) {
        const uint32_t bend = tool_graph_add_node(graph, bend_width);
        graph->nodes[bend].layer = layer;
      }
    }
    edge->bend_end = (uint32_t)graph->node_count;
  }
}

/* ---- Links between neighbouring layers ---- */

typedef struct links_t {
  uint32_t* begin; /* node_count + 1 */
  uint32_t* ends;
} links_t;

/* Calls for every piece of an edge between two nodes of neighbouring layers. */
static void count_or_put(const tool_graph_t* graph, bool upwards, links_t* links, uint32_t* fill) {
  for (size_t i = 0; i < graph->edge_count; ++i) {
    const tool_graph_edge_t* edge = &graph->edges[i];
    uint32_t upper = edge->from;
    for (uint32_t k = edge->bend_begin; k <= edge->bend_end; ++k) {
      const uint32_t lower = k < edge->bend_end ? k : edge->to;
      const uint32_t at = upwards ? lower : upper;
      if (fill == NULL) {
        ++links->begin[at + 1];
      } else {
        links->ends[fill[at]++] = upwards ? upper : lower;
      }
      upper = lower;
    }
  }
}

static links_t make_links(const tool_graph_t* graph, bool upwards) {
  links_t links = {.begin = tool_allocate(graph->node_count + 1, sizeof(uint32_t))};
  count_or_put(graph, upwards, &links, NULL);
  for (size_t i = 0; i < graph->node_count; ++i) {
    links.begin[i + 1] += links.begin[i];
  }
  links.ends = tool_allocate(links.begin[graph->node_count] + (size_t)1, sizeof(uint32_t));
  uint32_t* fill = tool_allocate(graph->node_count + 1, sizeof(uint32_t));
  memcpy(fill, links.begin, graph->node_count * sizeof(uint32_t));
  count_or_put(graph, upwards, &links, fill);
  tool_free(fill);
  return links;
}

static void free_links(links_t* links) {
  tool_free(links->begin);
  tool_free(links->ends);
}

/* ---- Orders ---- */

typedef struct layer_t {
  uint32_t* nodes;
  size_t count;
} layer_t;

typedef struct entry_t {
  double key;
  uint32_t node;
  uint32_t rank; /* before: equals keep their order */
} entry_t;

static int compare_entries(const void* a, const void* b) {
  const entry_t* x = a;
  const entry_t* y = b;
  return x->key != y->key ? (x->key < y->key ? -1 : 1) : (x->rank > y->rank) - (x->rank < y->rank);
}

static layer_t* make_layers(tool_graph_t* graph) {
  layer_t* layers = tool_allocate(graph->layer_count, sizeof(*layers));
  for (size_t i = 0; i < graph->node_count; ++i) {
    ++layers[graph->nodes[i].layer].count;
  }
  for (uint32_t l = 0; l < graph->layer_count; ++l) {
    layers[l].nodes = tool_allocate(layers[l].count, sizeof(uint32_t));
    layers[l].count = 0;
  }
  for (size_t i = 0; i < graph->node_count; ++i) {
    layer_t* layer = &layers[graph->nodes[i].layer];
    graph->nodes[i].rank = (uint32_t)layer->count;
    layer->nodes[layer->count++] = (uint32_t)i;
  }
  return layers;
}

/* Sorts a layer by the mean rank of its neighbours in the layer that was sorted before. */
static void sort_layer(tool_graph_t* graph, layer_t* layer, const links_t* links) {
  entry_t* entries = tool_allocate(layer->count, sizeof(*entries));
  for (size_t i = 0; i < layer->count; ++i) {
    const uint32_t node = layer->nodes[i];
    const uint32_t count = links->begin[node + 1] - links->begin[node];
    double sum = 0;
    for (uint32_t k = links->begin[node]; k < links->begin[node + 1]; ++k) {
      sum += graph->nodes[links->ends[k]].rank;
    }
    entries[i] = (entry_t){count > 0 ? sum / count : (double)i, node, (uint32_t)i};
  }
  if (layer->count > 0) {
    qsort(entries, layer->count, sizeof(*entries), compare_entries);
  }
  for (size_t i = 0; i < layer->count; ++i) {
    layer->nodes[i] = entries[i].node;
    graph->nodes[entries[i].node].rank = (uint32_t)i;
  }
  tool_free(entries);
}

/* ---- Positions ---- */

/* Each node as near to its neighbours' mean as order and gaps permit: the mean of packing to the
 * left and to the right. */
static void place_layer(tool_graph_t* graph, const layer_t* layer, const links_t* links,
                        double gap) {
  double* wanted = tool_allocate(layer->count, sizeof(double));
  double* left = tool_allocate(layer->count, sizeof(double));
  for (size_t i = 0; i < layer->count; ++i) {
    const uint32_t node = layer->nodes[i];
    const uint32_t count = links->begin[node + 1] - links->begin[node];
    double sum = 0;
    for (uint32_t k = links->begin[node]; k < links->begin[node + 1]; ++k) {
      sum += graph->nodes[links->ends[k]].x;
    }
    wanted[i] = count > 0 ? sum / count : graph->nodes[node].x;
  }
  for (size_t i = 0; i < layer->count; ++i) {
    const double room =
        i == 0
            ? 0
            : (graph->nodes[layer->nodes[i]].width + graph->nodes[layer->nodes[i - 1]].width) / 2 +
                  gap;
    left[i] = i == 0 || left[i - 1] + room < wanted[i] ? wanted[i] : left[i - 1] + room;
  }
  double right = 0;
  for (size_t i = layer->count; i-- > 0;) {
    const bool last = i + 1 == layer->count;
    const double room =
        last ? 0
             : (graph->nodes[layer->nodes[i]].width + graph->nodes[layer->nodes[i + 1]].width) / 2 +
                   gap;
    right = last || right - room > wanted[i] ? wanted[i] : right - room;
    graph->nodes[layer->nodes[i]].x = (left[i] + right) / 2;
  }
  tool_free(wanted);
  tool_free(left);
}

static void start_positions(tool_graph_t* graph, const layer_t* layers, double gap) {
  for (uint32_t l = 0; l < graph->layer_count; ++l) {
    double at = 0;
    for (size_t i = 0; i < layers[l].count; ++i) {
      tool_graph_node_t* node = &graph->nodes[layers[l].nodes[i]];
      node->x = at + node->width / 2;
      at += node->width + gap;
    }
  }
}

static void finish_positions(tool_graph_t* graph, double gap, double step, double node_height) {
  double least = 0;
  double most = 0;
  for (size_t i = 0; i < graph->node_count; ++i) {
    const tool_graph_node_t* node = &graph->nodes[i];
    least = i == 0 || node->x - node->width / 2 < least ? node->x - node->width / 2 : least;
    most = i == 0 || node->x + node->width / 2 > most ? node->x + node->width / 2 : most;
  }
  for (size_t i = 0; i < graph->node_count; ++i) {
    graph->nodes[i].x += gap - least;
    graph->nodes[i].y = gap + graph->nodes[i].layer * step;
  }
  graph->width = most - least + 2 * gap;
  graph->height =
      2 * gap + (graph->layer_count > 0 ? (graph->layer_count - 1) * step : 0) + node_height;
}

void tool_graph_lay_out(tool_graph_t* graph, double gap, double step, double node_height) {
  graph->real_count = graph->node_count;
  find_layers(graph);
  add_bends(graph);
  links_t up = make_links(graph, true);
  links_t down = make_links(graph, false);
  layer_t* layers = make_layers(graph);
  for (int sweep = 0; sweep < SWEEPS; ++sweep) {
    for (uint32_t l = 1; l < graph->layer_count; ++l) {
      sort_layer(graph, &layers[l], &up);
    }
    if (sweep + 1 == SWEEPS) {
      break; /* downwards comes last */
    }
    for (uint32_t l = graph->layer_count; l-- > 1;) {
      sort_layer(graph, &layers[l - 1], &down);
    }
  }
  start_positions(graph, layers, gap);
  for (int sweep = 0; sweep < SWEEPS; ++sweep) {
    for (uint32_t l = 0; l < graph->layer_count; ++l) {
      const bool downwards = sweep % 2 == 0;
      const uint32_t layer = downwards ? l : graph->layer_count - 1 - l;
      place_layer(graph, &layers[layer], downwards ? &up : &down, gap);
    }
  }
  finish_positions(graph, gap, step, node_height);
  for (uint32_t l = 0; l < graph->layer_count; ++l) {
    tool_free(layers[l].nodes);
  }
  tool_free(layers);
  free_links(&up);
  free_links(&down);
}
