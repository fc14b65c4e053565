/* What the operators' rules left to the run, looked at as soon as the extents are known. */
#include "core/base/status.h"
#include "core/runtime/frame.h"

/* "[4, 3], [5, 4]": the node's inputs as they are now. */
static const char* input_shapes(const tenon__frame_t* frame, const tenon__node_t* node,
                                tenon__arena_t* arena) {
  const tenon__graph_t* graph = frame->context->engine->plan->network->graphs[frame->graph];
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
          tenon__extents_get(&frame->context->extents, value->dims[d], &extent)
              ? tenon__arena_format(arena, "%s%s%lld", text, d == 0 ? "" : ", ", (long long)extent)
              : tenon__arena_format(arena, "%s%s?", text, d == 0 ? "" : ", ");
    }
    text = text == NULL || value == NULL ? text : tenon__arena_format(arena, "%s]", text);
  }
  return text == NULL ? "?" : text;
}

static tenon_status_t refuse(const tenon__frame_t* frame, const tenon__requirement_t* broken) {
  const tenon__network_t* network = frame->context->engine->plan->network;
  const tenon__node_t* node = &network->graphs[broken->graph]->nodes[broken->node];
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, frame->context->allocator);
  const tenon_status_t status =
      tenon__fail(frame->context->engine->options.sink, TENON_ERROR_INVALID_ARGUMENT,
                  "node '%s'%s%s%s: %s; its inputs are %s", node->name,
                  node->op == NULL ? "" : " (", node->op == NULL ? "" : node->op->name,
                  node->op == NULL ? "" : ")", broken->words, input_shapes(frame, node, &arena));
  tenon__arena_deinitialize(&arena);
  return status;
}

void tenon__frame_list_requirements(tenon__frame_t* frame) {
  const tenon__plan_t* plan = frame->context->engine->plan;
  uint32_t first = 0;
  while (first < plan->requirement_count && plan->requirements[first].graph != frame->graph) {
    ++first;
  }
  uint32_t end = first;
  while (end < plan->requirement_count && plan->requirements[end].graph == frame->graph) {
    ++end;
  }
  frame->requirements = first < end ? &plan->requirements[first] : NULL;
  frame->requirement_count = end - first;
}

tenon_status_t tenon__frame_check(tenon__frame_t* frame) {
  const tenon__extents_t* extents = &frame->context->extents;
  if (frame->checked_version == extents->version) {
    return TENON_OK;
  }
  for (uint32_t k = 0; k < frame->requirement_count; ++k) {
    int64_t holds = 1;
    if (tenon__extents_get(extents, frame->requirements[k].condition, &holds) && holds == 0) {
      return refuse(frame, &frame->requirements[k]);
    }
  }
  frame->checked_version = extents->version;
  return TENON_OK;
}
