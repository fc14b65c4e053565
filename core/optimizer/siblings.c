/* Siblings in a network: nodes of one concatenable operator that read one value. */
#include "core/optimizer/siblings.h"

#include "core/network/node.h"
#include "core/network/order.h"

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

static bool are_siblings(const tenon__node_t* a, const tenon__node_t* b, uint32_t value) {
  return a != b && a->op == b->op && a->inputs[0] == value && b->inputs[0] == value &&
         tenon__node_is_concatenable(a) && tenon__node_is_concatenable(b);
}

static bool is_read_by_siblings(const tenon__graph_t* graph, const tenon__lists_t* uses,
                                uint32_t value) {
  const uint32_t* users = tenon__lists_get(uses, value);
  const uint32_t count = tenon__lists_count(uses, value);
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t k = i + 1; k < count; ++k) {
      if (are_siblings(&graph->nodes[users[i]], &graph->nodes[users[k]], value)) {
        return true;
      }
    }
  }
  return false;
}

static tenon_status_t look_through(const tenon__network_t* network, uint32_t index,
                                   tenon__arena_t* arena, bool* inout_has) {
  const tenon__graph_t* graph = network->graphs[index];
  tenon__lists_t uses;
  TENON_TRY(tenon__graph_uses(network, index, arena, &uses));
  for (uint32_t v = 0; v < graph->value_count && !*inout_has; ++v) {
    *inout_has = is_read_by_siblings(graph, &uses, v);
  }
  return TENON_OK;
}

tenon_status_t tenon__network_has_siblings(const tenon__network_t* network, bool* out_has) {
  tenon__arena_t arena;
  tenon_status_t status = TENON_OK;
  bool has = false;
  tenon__arena_initialize(&arena, network->allocator);
  for (uint32_t g = 0; g < network->graph_count && status == TENON_OK && !has; ++g) {
    status = look_through(network, g, &arena, &has);
  }
  tenon__arena_deinitialize(&arena);
  *out_has = has;
  return status;
}
