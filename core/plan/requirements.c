#include "core/plan/requirements.h"

#include "core/base/status.h"

/* "[4, 3], [5, 4]": the node's inputs. */
static const char* input_shapes(const tenon__graph_t* graph, const tenon__node_t* node,
                                const tenon__extents_t* extents, tenon__arena_t* arena) {
  const char* text = "";
  for (uint32_t k = 0; text != NULL && k < node->input_count; ++k) {
    const tenon__value_node_t* value =
        node->inputs[k] == TENON_NONE ? NULL : &graph->values[node->inputs[k]];
    const uint32_t rank = value == NULL || value->rank == TENON_NONE ? 0 : value->rank;
    const char* comma = text[0] == '\0' ? "" : ", ";
    text = tenon__arena_format(arena, value == NULL ? "%s%s-" : "%s%s[", text, comma);
    for (uint32_t d = 0; text != NULL && d < rank; ++d) {
      int64_t extent = 0;
      text =
          tenon__extents_get(extents, value->dims[d], &extent)
              ? tenon__arena_format(arena, "%s%s%lld", text, d == 0 ? "" : ", ", (long long)extent)
              : tenon__arena_format(arena, "%s%s?", text, d == 0 ? "" : ", ");
    }
    text = text == NULL || value == NULL ? text : tenon__arena_format(arena, "%s]", text);
  }
  return text == NULL ? "?" : text;
}

static tenon_status_t refuse(const tenon__requirement_t* broken, const tenon__network_t* network,
                             const tenon__extents_t* extents, const char* prefix,
                             const tenon_sink_t* sink) {
  const tenon__graph_t* graph = network->graphs[broken->graph];
  const tenon__node_t* node = &graph->nodes[broken->node];
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, network->allocator);
  const tenon_status_t status = tenon__fail(
      sink, TENON_ERROR_INVALID_ARGUMENT, "%snode '%s'%s%s%s: %s; its inputs are %s", prefix,
      node->name, node->op == NULL ? "" : " (", node->op == NULL ? "" : node->op->name,
      node->op == NULL ? "" : ")", broken->words, input_shapes(graph, node, extents, &arena));
  tenon__arena_deinitialize(&arena);
  return status;
}

tenon_status_t tenon__requirements_check(const tenon__requirement_t* items, uint32_t count,
                                         const tenon__network_t* network,
                                         const tenon__extents_t* extents, const char* prefix,
                                         const tenon_sink_t* sink) {
  for (uint32_t k = 0; k < count; ++k) {
    int64_t holds = 1;
    if (tenon__extents_get(extents, items[k].condition, &holds) && holds == 0) {
      return refuse(&items[k], network, extents, prefix, sink);
    }
  }
  return TENON_OK;
}
