#include "core/optimizer/siblings.h"

#include "core/network/node.h"

bool tenon__node_is_concatenable(const tenon__node_t* node) {
  if (node->op == NULL || !node->op->traits.concatenable || node->body_count > 0 ||
      node->input_count < 2 || node->inputs[0] == TENON_NONE) {
    return false;
  }
  const char* single = node->op->traits.concatenable_single;
  const tenon__scope_attribute_t* attribute =
      single == NULL ? NULL : tenon__node_attribute(node, single);
  return single == NULL || (attribute != NULL && attribute->integer == 1);
}

static bool has_sibling(const tenon__graph_t* graph, uint32_t index) {
  const tenon__node_t* node = &graph->nodes[index];
  for (uint32_t n = index + 1; n < graph->node_count; ++n) {
    const tenon__node_t* other = &graph->nodes[n];
    if (other->alive && other->op == node->op && tenon__node_is_concatenable(other) &&
        other->inputs[0] == node->inputs[0]) {
      return true;
    }
  }
  return false;
}

bool tenon__network_has_siblings(const tenon__network_t* network) {
  for (uint32_t g = 0; g < network->graph_count; ++g) {
    const tenon__graph_t* graph = network->graphs[g];
    for (uint32_t n = 0; n < graph->node_count; ++n) {
      if (graph->nodes[n].alive && tenon__node_is_concatenable(&graph->nodes[n]) &&
          has_sibling(graph, n)) {
        return true;
      }
    }
  }
  return false;
}
