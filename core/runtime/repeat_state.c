#include "core/runtime/repeat_state.h"

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/network/node.h"

static tenon__dynamic_buffer_t* create_buffers(tenon_allocator_t allocator, uint32_t count) {
  tenon__dynamic_buffer_t* buffers = tenon__allocate(allocator, count + 1u, sizeof *buffers);
  if (buffers == NULL) {
    return NULL;
  }
  for (uint32_t k = 0; k < count; ++k) {
    tenon__dynamic_buffer_initialize(&buffers[k], tenon__memory_host(allocator),
                                     TENON_ARGUMENT_TENSOR, TENON_DTYPE_UNDEFINED);
  }
  return buffers;
}

static void destroy_buffers(tenon__dynamic_buffer_t* buffers, uint32_t count,
                            tenon_allocator_t allocator) {
  if (buffers == NULL) {
    return;
  }
  for (uint32_t k = 0; k < count; ++k) {
    tenon__dynamic_buffer_deinitialize(&buffers[k]);
  }
  tenon__free(allocator, buffers, (count + 1u) * sizeof *buffers);
}

void tenon__repeat_state_destroy(tenon__repeat_state_t* state) {
  if (state == NULL) {
    return;
  }
  const tenon_allocator_t allocator = state->allocator;
  destroy_buffers(state->carried[0], state->layout.carried_count, allocator);
  destroy_buffers(state->carried[1], state->layout.carried_count, allocator);
  destroy_buffers(state->slices, state->layout.scanned_count, allocator);
  destroy_buffers(state->collected, state->layout.collected_count, allocator);
  tenon__free(allocator, state, sizeof *state);
}

static const int64_t* directions_of(const tenon__node_t* node,
                                    const tenon__control_layout_t* layout) {
  const char* name = node->op->descriptor.control->directions_attribute;
  const tenon__scope_attribute_t* a = name == NULL ? NULL : tenon__node_attribute(node, name);
  const size_t count = (size_t)layout->scanned_count + layout->collected_count;
  return a == NULL || a->count < count ? NULL : a->integers;
}

static bool make_buffers(tenon__repeat_state_t* state) {
  const tenon__control_layout_t* layout = &state->layout;
  state->carried[0] = create_buffers(state->allocator, layout->carried_count);
  state->carried[1] = create_buffers(state->allocator, layout->carried_count);
  state->slices = create_buffers(state->allocator, layout->scanned_count);
  state->collected = create_buffers(state->allocator, layout->collected_count);
  return state->carried[0] != NULL && state->carried[1] != NULL && state->slices != NULL &&
         state->collected != NULL;
}

tenon_status_t tenon__repeat_state_create(tenon_allocator_t allocator,
                                          const tenon__network_t* network, uint32_t graph,
                                          uint32_t node, const tenon_sink_t* sink,
                                          tenon__repeat_state_t** out_state) {
  tenon__control_layout_t layout;
  TENON_TRY(tenon__control_layout_of(network, graph, node, sink, &layout));
  tenon__repeat_state_t* state = tenon__allocate(allocator, 1, sizeof *state);
  TENON_TRY_MEMORY(state != NULL);
  *state = (tenon__repeat_state_t){.allocator = allocator, .layout = layout};
  state->directions = directions_of(&network->graphs[graph]->nodes[node], &state->layout);
  if (!make_buffers(state)) {
    tenon__repeat_state_destroy(state);
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *out_state = state;
  return TENON_OK;
}
