/* Layouts: edges lead downwards, boxes do not overlap, bends lie between. */
#include "page/graph.h"

#include "core/base/test.h"

static void check_drawing(const tool_graph_t* graph, double gap) {
  for (size_t i = 0; i < graph->edge_count; ++i) {
    const tool_graph_edge_t* edge = &graph->edges[i];
    const tool_graph_node_t* from = &graph->nodes[edge->from];
    const tool_graph_node_t* to = &graph->nodes[edge->to];
    EXPECT(from->y < to->y);
    EXPECT_INT(edge->bend_end - edge->bend_begin, to->layer - from->layer - 1);
  }
  for (size_t i = 0; i < graph->node_count; ++i) {
    const tool_graph_node_t* a = &graph->nodes[i];
    EXPECT(a->x - a->width / 2 >= 0 && a->x + a->width / 2 <= graph->width);
    EXPECT(a->y >= 0 && a->y <= graph->height);
    for (size_t k = i + 1; k < graph->node_count; ++k) {
      const tool_graph_node_t* b = &graph->nodes[k];
      EXPECT(a->layer != b->layer || fabs(a->x - b->x) >= (a->width + b->width) / 2 + gap - 1e-6);
    }
  }
}

TENON_TEST(draws_a_chain_straight) {
  tool_graph_t graph = {0};
  for (uint32_t i = 0; i < 5; ++i) {
    (void)tool_graph_add_node(&graph, 100);
    if (i > 0) {
      tool_graph_add_edge(&graph, i - 1, i);
    }
  }
  tool_graph_lay_out(&graph, 20, 80, 40);
  check_drawing(&graph, 20);
  EXPECT_INT(graph.layer_count, 5);
  EXPECT_NEAR(graph.nodes[0].x, graph.nodes[4].x, 1e-9);
  tool_graph_free(&graph);
}

TENON_TEST(bends_long_edges) {
  tool_graph_t graph = {0};
  for (uint32_t i = 0; i < 6; ++i) {
    (void)tool_graph_add_node(&graph, 100);
  }
  for (uint32_t i = 1; i < 6; ++i) {
    tool_graph_add_edge(&graph, i - 1, i);
    tool_graph_add_edge(&graph, 0, i);
  }
  tool_graph_lay_out(&graph, 20, 80, 40);
  check_drawing(&graph, 20);
  EXPECT_INT(graph.node_count, 6 + 1 + 2 + 3 + 4);
  tool_graph_free(&graph);
}

TENON_TEST(keeps_many_nodes_apart) {
  tool_graph_t graph = {0};
  uint32_t seed = 1;
  for (uint32_t i = 0; i < 60; ++i) {
    (void)tool_graph_add_node(&graph, 50 + i % 7 * 20);
    for (uint32_t k = 0; i > 0 && k < 2; ++k) {
      seed = seed * 1103515245u + 12345u;
      tool_graph_add_edge(&graph, seed / 65536 % i, i);
    }
  }
  tool_graph_lay_out(&graph, 10, 60, 40);
  check_drawing(&graph, 10);
  tool_graph_free(&graph);
}

TENON_TEST(draws_nothing) {
  tool_graph_t graph = {0};
  tool_graph_lay_out(&graph, 10, 60, 40);
  EXPECT_INT(graph.layer_count, 0);
  tool_graph_free(&graph);
}
