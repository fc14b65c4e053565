/* Buffers of a repeated body, made when its step runs for the first time: two for each carried
 * value, one for each sliced and collected one. */
#include "core/control/repeat_state.h"

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/network/node.h"
#include "core/plan/place.h"

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

static void destroy(tenon__repeat_state_t* state) {
  if (state == NULL) {
    return;
  }
  const tenon_allocator_t allocator = state->allocator;
  destroy_buffers(state->carried[0], state->layout.carried_count, allocator);
  destroy_buffers(state->carried[1], state->layout.carried_count, allocator);
  destroy_buffers(state->slices, state->layout.scanned_count, allocator);
  destroy_buffers(state->collected, state->layout.collected_count, allocator);
  tenon__free(allocator, state->is_direct, (state->layout.carried_count + 1u) * sizeof(bool));
  tenon__free(allocator, state, sizeof *state);
}

static const int64_t* directions_of(const tenon__node_t* node,
                                    const tenon__control_layout_t* layout) {
  const char* name = node->op->descriptor.control->directions_attribute;
  const tenon__scope_attribute_t* a = name == NULL ? NULL : tenon__node_attribute(node, name);
  const size_t count = (size_t)layout->scanned_count + layout->collected_count;
  return a == NULL || a->count < count ? NULL : a->integers;
}

static void set_memory(const tenon__run_state_t* run, const tenon__schedule_t* body,
                       const uint32_t* places, uint32_t count, tenon__dynamic_buffer_t* buffers) {
  for (uint32_t k = 0; k < count; ++k) {
    buffers[k].memory = run->spaces[body->places[places[k]].space].memory;
  }
}

static bool make_buffers(const tenon__run_state_t* run, const tenon__schedule_t* body,
                         tenon__repeat_state_t* state) {
  const tenon__control_layout_t* layout = &state->layout;
  const uint32_t* carried = body->inputs + layout->first_parameter;
  const uint32_t* results = body->outputs + layout->first_result;
  state->carried[0] = create_buffers(state->allocator, layout->carried_count);
  state->carried[1] = create_buffers(state->allocator, layout->carried_count);
  state->slices = create_buffers(state->allocator, layout->scanned_count);
  state->collected = create_buffers(state->allocator, layout->collected_count);
  if (state->carried[0] == NULL || state->carried[1] == NULL || state->slices == NULL ||
      state->collected == NULL) {
    return false;
  }
  set_memory(run, body, carried, layout->carried_count, state->carried[0]);
  set_memory(run, body, carried, layout->carried_count, state->carried[1]);
  set_memory(run, body, carried + layout->carried_count, layout->scanned_count, state->slices);
  set_memory(run, body, results + layout->carried_count, layout->collected_count, state->collected);
  return true;
}

/* A device's carried values whose makers can write them anywhere: of two results that are one the
 * first alone. */
static bool find_direct(const tenon__schedule_t* body, tenon__repeat_state_t* state) {
  const uint32_t count = state->layout.carried_count;
  const uint32_t* results = body->outputs + state->layout.first_result;
  state->is_direct = tenon__allocate(state->allocator, count + 1u, sizeof *state->is_direct);
  if (state->is_direct == NULL) {
    return false;
  }
  for (uint32_t k = 0; k < count; ++k) {
    state->is_direct[k] = body->places[results[k]].space != 0 &&
                          tenon__place_can_move(body, body->step_count, results[k]);
    for (uint32_t other = 0; other < k; ++other) {
      state->is_direct[k] = state->is_direct[k] && results[other] != results[k];
    }
  }
  return true;
}

/* Does a step of the body copy the number of the iteration, or the condition? */
static bool is_lead_copied(const tenon__schedule_t* body, const tenon__control_layout_t* layout) {
  const uint32_t count = layout->passes_iteration ? body->step_count : 0;
  bool is_copied = false;
  for (uint32_t s = 0; s < count && !is_copied; ++s) {
    const tenon__step_t* step = &body->steps[s];
    is_copied = step->kind == TENON_STEP_COPY &&
                (step->inputs[0] == body->inputs[0] || step->inputs[0] == body->inputs[1]);
  }
  return is_copied;
}

tenon_status_t tenon__repeat_state_create(tenon__run_state_t* run, uint32_t graph, uint32_t node,
                                          tenon__repeat_state_t** out_state) {
  const tenon__plan_t* plan = run->engine->plan;
  const tenon__node_t* n = &plan->network->graphs[graph]->nodes[node];
  const tenon__schedule_t* body = &plan->schedules[n->bodies[0]];
  tenon__control_layout_t layout;
  TENON_TRY(
      tenon__control_layout_of(plan->network, graph, node, run->engine->options.sink, &layout));
  tenon__repeat_state_t* state = tenon__allocate(run->allocator, 1, sizeof *state);
  TENON_TRY_MEMORY(state != NULL);
  *state = (tenon__repeat_state_t){.allocator = run->allocator, .layout = layout, .holds = 1};
  state->directions = directions_of(n, &state->layout);
  state->lead_is_copied = is_lead_copied(body, &layout);
  if (!make_buffers(run, body, state) || !find_direct(body, state)) {
    destroy(state);
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *out_state = state;
  return TENON_OK;
}

void tenon__frame_destroy_repeats(const tenon__frame_t* frame) {
  const uint32_t count = frame->repeats == NULL ? 0 : frame->schedule->step_count;
  for (uint32_t k = 0; k < count; ++k) {
    destroy(frame->repeats[k]);
  }
}
