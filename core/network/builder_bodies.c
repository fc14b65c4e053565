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
  return (tenon__builder_mark_t){builder->frame_count,
                                 tenon__builder_frame(builder)->node.op != NULL};
}

void tenon__builder_unwind(tenon_builder_t* builder, tenon__builder_mark_t mark) {
  while (builder->frame_count > mark.frame_count) {
    tenon__build_cancel_body(builder);
  }
  if (builder->frame_count == mark.frame_count && !mark.has_node) {
    tenon__builder_drop_node(&tenon__builder_frame(builder)->node);
  }
}

void tenon__builder_drop_node(tenon__pending_node_t* node) {
  if (node->op != NULL) {
    tenon__arena_deinitialize(&node->arena);
    memset(node, 0, sizeof(*node));
  }
}
