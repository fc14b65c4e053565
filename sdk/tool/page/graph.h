/*
 * Places for the nodes of a directed graph without cycles, from top to bottom in layers: longest
 * paths, then orders within layers that cross few edges, then positions near a node's neighbours.
 * After Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical system
 * structures", 1981.
 */
#ifndef TOOL_PAGE_GRAPH_H_
#define TOOL_PAGE_GRAPH_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place; the caller sets the width, tool_graph_lay_out the rest. Units are the caller's. */
typedef struct tool_graph_node_t {
  double width;
  /* Of the centre; `y` of the top. */
  double x;
  double y; /* top */
  /* From 0, at the top; `rank`: its place within the layer, from the left. */
  uint32_t layer;
  uint32_t rank; /* within its layer */
} tool_graph_node_t;

/* Long edges pass through nodes without a box, one a layer between: [bend_begin, bend_end) of the
 * graph's nodes. */
typedef struct tool_graph_edge_t {
  uint32_t from;
  uint32_t to;
  uint32_t bend_begin;
  uint32_t bend_end;
} tool_graph_edge_t;

/* All zeros is empty. Freed by tool_graph_free. */
typedef struct tool_graph_t {
  tool_graph_node_t* nodes; /* real ones first, then bends */
  size_t node_count;
  size_t node_capacity;
  /* Nodes that were added; behind these the bends, which tool_graph_lay_out makes. */
  size_t real_count;
  tool_graph_edge_t* edges;
  size_t edge_count;
  size_t edge_capacity;
  uint32_t layer_count;
  double width;
  double height;
} tool_graph_t;

/* Nodes are numbered in the order in which they are added; edges lead from lower numbers to higher
 * ones. */
uint32_t tool_graph_add_node(tool_graph_t* graph, double width);
void tool_graph_add_edge(tool_graph_t* graph, uint32_t from, uint32_t to);
/* Sets all positions. `gap`: between neighbours; `step`: from the top of one layer to that of the
 * next. */
void tool_graph_lay_out(tool_graph_t* graph, double gap, double step, double node_height);
void tool_graph_free(tool_graph_t* graph);

#endif
