/* Bodies of a network being built: each is a frame on the builder's stack. */
#include "core/network/builder_bodies.h"

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/network/builder_values.h"
#include "core/network/fault.h"

tenon_status_t tenon__build_begin_body(tenon_builder_t* builder, const char* name) {
  uint32_t graph = 0;
  if (builder->frame_count > 64) {
    return tenon__fail(builder->sink, TENON_ERROR_UNSUPPORTED, "bodies are nested deeper than 64");
  }
  TENON_TRY_MEMORY(TENON_GROW(builder->network->allocator, builder->frames, builder->frame_capacity,
                              builder->frame_count + 1u));
  TENON_TRY(
      tenon__network_add_graph(builder->network, name, tenon__builder_graph(builder), &graph));
  builder->frames[builder->frame_count++] = (tenon__open_graph_t){.graph = graph};
  return TENON_OK;
}

tenon_status_t tenon__build_body_result(tenon_builder_t* builder, tenon_value_t handle) {
  if (builder->frame_count < 2) {
    return tenon__fail(builder->sink, TENON_ERROR_INVALID_STATE, "no body is being built");
  }
  uint32_t value = 0;
  TENON_TRY(tenon__builder_resolve(builder, handle, &value));
  return tenon__graph_add_output(builder->network, tenon__builder_graph(builder), value, NULL) ==
                 TENON_OK
             ? TENON_OK
             : TENON_ERROR_OUT_OF_MEMORY;
}

void tenon__build_cancel_body(tenon_builder_t* builder) {
  if (builder->frame_count > 1) {
    tenon__builder_drop_node(&tenon__builder_frame(builder)->node);
    tenon__graph_empty(builder->network, tenon__builder_graph(builder));
    --builder->frame_count;
  }
}

tenon_status_t tenon__build_end_body(tenon_builder_t* builder, uint32_t* out_body) {
  if (builder->frame_count < 2 || tenon__builder_frame(builder)->node.op != NULL) {
    return tenon__fail(builder->sink, TENON_ERROR_INVALID_STATE, "no body can be ended now");
  }
  *out_body = tenon__builder_graph(builder);
  --builder->frame_count;
  return TENON_OK;
}

tenon_status_t tenon__build_fail_body(tenon_builder_t* builder, tenon_status_t status,
                                      const char* message, uint32_t* out_body) {
  const bool is_fault = status > TENON_OK && status <= TENON_ERROR_INTERNAL;
  if (builder->frame_count < 2 || !is_fault) {
    return tenon__fail(builder->sink, TENON_ERROR_INVALID_STATE,
                       is_fault ? "no body can be ended now" : "a body fails without a fault");
  }
  const uint32_t graph = tenon__builder_graph(builder);
  tenon__build_cancel_body(builder);
  *out_body = graph;
  return tenon__graph_fail(builder->network, graph, status, message == NULL ? "" : message) ==
                 TENON_OK
             ? TENON_OK
             : TENON_ERROR_OUT_OF_MEMORY;
}

tenon__builder_mark_t tenon__builder_mark(const tenon_builder_t* builder) {
  const tenon__network_t* network = builder->network;
  const tenon__graph_t* graph = network->graphs[tenon__builder_graph(builder)];
  return (tenon__builder_mark_t){.frame_count = builder->frame_count,
                                 .has_node = tenon__builder_frame(builder)->node.op != NULL,
                                 .graph_count = network->graph_count,
                                 .state_count = network->state_count,
                                 .node_count = graph->node_count,
                                 .value_count = graph->value_count,
                                 .input_count = graph->input_count,
                                 .output_count = graph->output_count};
}

void tenon__builder_unwind(tenon_builder_t* builder, tenon__builder_mark_t mark) {
  while (builder->frame_count > mark.frame_count) {
    tenon__build_cancel_body(builder);
  }
  if (builder->frame_count == mark.frame_count && !mark.has_node) {
    tenon__builder_drop_node(&tenon__builder_frame(builder)->node);
  }
}

static bool can_undo(const tenon_builder_t* builder, const tenon__builder_mark_t* mark) {
  const tenon__network_t* network = builder->network;
  const uint32_t index = tenon__builder_graph(builder);
  const tenon__graph_t* graph = network->graphs[index];
  bool can = builder->frame_count == mark->frame_count &&
             network->graph_count == mark->graph_count &&
             network->state_count == mark->state_count && graph->input_count == mark->input_count &&
             graph->output_count == mark->output_count;
  for (uint32_t v = mark->value_count; v < graph->value_count && can; ++v) {
    can = !tenon__value_is_update(network, index, v);
  }
  return can;
}

bool tenon__builder_undo(tenon_builder_t* builder, tenon__builder_mark_t mark) {
  tenon__builder_unwind(builder, mark);
  if (!can_undo(builder, &mark)) {
    return false;
  }
  tenon__graph_t* graph = builder->network->graphs[tenon__builder_graph(builder)];
  for (uint32_t n = mark.node_count; n < graph->node_count; ++n) {
    graph->nodes[n].alive = false;
    tenon__name_release(&graph->node_names, graph->nodes[n].name);
  }
  for (uint32_t v = mark.value_count; v < graph->value_count; ++v) {
    graph->values[v].alive = false;
    tenon__name_release(&graph->value_names, graph->values[v].name);
  }
  return true;
}

void tenon__builder_drop_node(tenon__pending_node_t* node) {
  if (node->op != NULL) {
    tenon__arena_deinitialize(&node->arena);
    memset(node, 0, sizeof(*node));
  }
}
