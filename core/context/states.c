/* States: what a context remembers from one execution to the next. */
#include "core/context/states.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/frame/copy.h"
#include "core/frame/frame.h"
#include "core/plan/place.h"
#include "core/step/transfer.h"
#include "core/tensor/layout.h"

static uint32_t state_count(const tenon__context_t* context) {
  return context->run.states == NULL ? 0 : context->run.engine->plan->network->state_count;
}

static const tenon__memory_t* memory_of(const tenon__context_t* context, uint32_t k) {
  return &context->run.spaces[context->run.states[k].space].memory;
}

/* ---- How they change ---- */

/* Where the host finds the value that becomes state `k` after a run; TENON_NONE: nowhere. */
static uint32_t update_place(const tenon__context_t* context, uint32_t k) {
  const tenon__plan_t* plan = context->run.engine->plan;
  return tenon__schedule_find(&plan->schedules[0], plan->network->states[k].update);
}

/* Does the place lie in the memory of a state? Then it may be overwritten before it is read. */
static bool reads_a_state(const tenon__context_t* context, uint32_t place) {
  const tenon__schedule_t* schedule = &context->run.engine->plan->schedules[0];
  const tenon__storage_t storage = schedule->places[tenon__place_root(schedule, place)].storage;
  return storage == TENON_STORAGE_STATE || storage == TENON_STORAGE_NEXT;
}

static bool is_of_states(const tenon__place_t* place) {
  return place->storage == TENON_STORAGE_STATE || place->storage == TENON_STORAGE_NEXT;
}

/* By what the schedule says of it. */
static void find_ways(tenon__context_t* context) {
  const tenon__plan_t* plan = context->run.engine->plan;
  const tenon__schedule_t* schedule = &plan->schedules[0];
  for (uint32_t p = 0; p < schedule->place_count; ++p) {
    const tenon__place_t* place = &schedule->places[p];
    if (!is_of_states(place)) {
      continue;
    }
    tenon__state_memory_t* state = &context->run.states[place->index];
    context->state_places[context->state_place_count++] = p;
    state->space = place->space;
    if (place->storage == TENON_STORAGE_NEXT) {
      state->way = TENON_STATE_TURNS;
    } else if (place->value != plan->network->states[place->index].read) {
      state->way = TENON_STATE_IN_PLACE;
    }
  }
  for (uint32_t k = 0; k < plan->network->state_count; ++k) {
    tenon__state_memory_t* state = &context->run.states[k];
    const uint32_t place = state->space == 0 ? update_place(context, k) : TENON_NONE;
    if (state->way == TENON_STATE_STAYS && place != TENON_NONE) {
      state->way = reads_a_state(context, place) ? TENON_STATE_COPIED_ASIDE : TENON_STATE_COPIED;
    }
  }
}

/* ---- Life ---- */

static tenon_status_t allocate(tenon__context_t* context, uint32_t k) {
  const tenon__state_node_t* node = &context->run.engine->plan->network->states[k];
  tenon__state_memory_t* state = &context->run.states[k];
  const tenon__memory_t* memory = memory_of(context, k);
  const bool has_next = state->way == TENON_STATE_TURNS || state->way == TENON_STATE_COPIED_ASIDE;
  uint64_t elements = 0;
  if (!tenon__element_count(node->rank, node->dims, &elements) ||
      !tenon__dtype_bytes(node->dtype, elements, &state->size_bytes)) {
    return TENON_ERROR_INVALID_DATA;
  }
  tenon_status_t status = tenon__memory_allocate(memory, state->size_bytes, &state->data);
  if (status == TENON_OK && has_next) {
    status = tenon__memory_allocate(memory, state->size_bytes, &state->next);
  }
  const bool is_host = tenon__memory_is_host(memory);
  return status != TENON_ERROR_OUT_OF_MEMORY
             ? status
             : tenon__fail(context->run.engine->options.sink, status,
                           "the plan asks for %zu bytes%s%s%s for state '%s', which are not to be "
                           "had",
                           state->size_bytes, has_next ? " twice" : "",
                           is_host ? "" : " on device ",
                           is_host ? "" : memory->device->source.descriptor->name, node->name);
}

tenon_status_t tenon__context_create_states(tenon__context_t* context) {
  const tenon__plan_t* plan = context->run.engine->plan;
  const uint32_t count = plan->network->state_count;
  tenon__state_memory_t* states =
      tenon__arena_allocate(&context->run.arena, count + 1u, sizeof *states);
  context->state_places = tenon__arena_allocate(
      &context->run.arena, plan->schedules[0].place_count + 1u, sizeof(uint32_t));
  TENON_TRY_MEMORY(states != NULL && context->state_places != NULL);
  context->run.states = states;
  find_ways(context);
  for (uint32_t k = 0; k < count; ++k) {
    TENON_TRY(allocate(context, k));
  }
  return tenon__context_reset_states(context);
}

void tenon__context_free_states(tenon__context_t* context) {
  for (uint32_t k = 0; k < state_count(context); ++k) {
    const tenon__state_memory_t* state = &context->run.states[k];
    tenon__memory_free(memory_of(context, k), state->data, state->size_bytes);
    tenon__memory_free(memory_of(context, k), state->next, state->size_bytes);
  }
}

/* ---- After a run ---- */

static tenon_status_t store_update(tenon__context_t* context, uint32_t k) {
  const tenon__state_memory_t* state = &context->run.states[k];
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  int64_t dense[TENON_RANK_LIMIT];
  tenon_argument_t argument;
  TENON_TRY(tenon__frame_argument(&context->run.frames[0], update_place(context, k), dims, strides,
                                  &argument));
  (void)tenon__strides_row_major(argument.tensor.rank, dims, dense);
  const tenon_tensor_view_t target = {.data = state->next != NULL ? state->next : state->data,
                                      .dims = dims,
                                      .strides = dense,
                                      .rank = argument.tensor.rank,
                                      .dtype = argument.tensor.dtype};
  return argument.tensor.data == target.data ? TENON_OK
                                             : tenon__copy_tensor(&argument.tensor, &target);
}

static tenon_status_t store_updates(tenon__context_t* context, tenon__state_way_t way) {
  for (uint32_t k = 0; k < state_count(context); ++k) {
    TENON_TRY(context->run.states[k].way == way ? store_update(context, k) : TENON_OK);
  }
  return TENON_OK;
}

/* What was recorded with other addresses is not replayed with these. */
static void turn(tenon__context_t* context) {
  tenon__frame_t* frame = &context->run.frames[0];
  bool any = false;
  for (uint32_t k = 0; k < state_count(context); ++k) {
    tenon__state_memory_t* state = &context->run.states[k];
    if (state->next != NULL) {
      void* old = state->data;
      state->data = state->next;
      state->next = old;
      any = true;
    }
  }
  const uint32_t place_count = any ? context->state_place_count : 0;
  for (uint32_t k = 0; k < place_count; ++k) {
    const uint32_t place = context->state_places[k];
    frame->places[place].data = tenon__state_data(&context->run, &frame->schedule->places[place]);
  }
  frame->version += any ? 1 : 0;
}

/* What was read from states goes aside first, so that states may exchange their values. */
tenon_status_t tenon__context_update_states(tenon__context_t* context) {
  TENON_TRY(store_updates(context, TENON_STATE_COPIED_ASIDE));
  TENON_TRY(store_updates(context, TENON_STATE_COPIED));
  turn(context);
  return TENON_OK;
}

void tenon__context_tell_of_states(const tenon__context_t* context) {
  const char* first = NULL;
  uint32_t count = 0;
  for (uint32_t k = 0; k < state_count(context); ++k) {
    if (context->run.states[k].way == TENON_STATE_IN_PLACE) {
      first = first == NULL ? context->run.engine->plan->network->states[k].name : first;
      count += 1;
    }
  }
  if (count > 0 && context->has_begun) {
    tenon__report(context->run.engine->options.sink, TENON_SEVERITY_WARNING,
                  "the run failed, and states that it updates in place ('%s' and %u more) may have "
                  "new values in part: run again with the same inputs, or write, clone or reset "
                  "them",
                  first, count - 1);
  }
}

bool tenon__context_states_stay(const tenon__context_t* context) {
  bool stay = true;
  for (uint32_t k = 0; k < state_count(context) && stay; ++k) {
    const tenon__state_way_t way = context->run.states[k].way;
    stay = way == TENON_STATE_STAYS || way == TENON_STATE_IN_PLACE;
  }
  return stay;
}

/* ---- From outside ---- */

static tenon_status_t find(const tenon__context_t* context, const char* name, size_t size_bytes,
                           uint32_t* out_state) {
  const tenon__network_t* network = context->run.engine->plan->network;
  const tenon_sink_t* sink = context->run.engine->options.sink;
  uint32_t k = 0;
  while (k < network->state_count && strcmp(network->states[k].name, name) != 0) {
    ++k;
  }
  if (k == network->state_count) {
    return tenon__fail(sink, TENON_ERROR_NOT_FOUND, "there is no state called '%s'", name);
  }
  *out_state = k;
  return context->run.states[k].size_bytes == size_bytes
             ? TENON_OK
             : tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT, "state '%s' has %zu bytes, not %zu",
                           name, context->run.states[k].size_bytes, size_bytes);
}

/* Until what was asked of the states' devices is done: what the host gave may go. */
static tenon_status_t settle(tenon__context_t* context) {
  for (uint32_t k = 0; k < state_count(context); ++k) {
    tenon__space_t* space = &context->run.spaces[context->run.states[k].space];
    space->is_busy = space->is_busy || context->run.states[k].space != 0;
  }
  return tenon__run_settle(&context->run, 0);
}

tenon_status_t tenon__context_read_state(tenon__context_t* context, const char* name,
                                         void* out_data, size_t size_bytes) {
  uint32_t k = 0;
  TENON_TRY(find(context, name, size_bytes, &k));
  TENON_TRY(
      tenon__memory_read(memory_of(context, k), out_data, context->run.states[k].data, size_bytes));
  return settle(context);
}

tenon_status_t tenon__context_write_state(tenon__context_t* context, const char* name,
                                          const void* data, size_t size_bytes) {
  uint32_t k = 0;
  TENON_TRY(find(context, name, size_bytes, &k));
  TENON_TRY(
      tenon__memory_write(memory_of(context, k), context->run.states[k].data, data, size_bytes));
  return settle(context);
}

static tenon_status_t reset(const tenon__context_t* context, uint32_t k) {
  const tenon__network_t* network = context->run.engine->plan->network;
  const tenon__state_memory_t* state = &context->run.states[k];
  const uint32_t initial = network->states[k].initial;
  return initial == TENON_NONE
             ? tenon__memory_clear(memory_of(context, k), state->data, state->size_bytes)
             : tenon__memory_write(memory_of(context, k), state->data,
                                   network->weights[initial].data, state->size_bytes);
}

tenon_status_t tenon__context_reset_states(tenon__context_t* context) {
  for (uint32_t k = 0; k < state_count(context); ++k) {
    TENON_TRY(reset(context, k));
  }
  return settle(context);
}

tenon_status_t tenon__context_clone_states(tenon__context_t* context,
                                           const tenon__context_t* source) {
  if (context->run.engine != source->run.engine) {
    return tenon__fail(context->run.engine->options.sink, TENON_ERROR_INVALID_ARGUMENT,
                       "the contexts belong to different engines");
  }
  for (uint32_t k = 0; k < state_count(context); ++k) {
    const tenon__state_memory_t* state = &context->run.states[k];
    const tenon__memory_t* memory = memory_of(context, k);
    TENON_TRY(tenon__device_copy(memory->device, memory->stream, TENON_COPY_WITHIN, state->data,
                                 source->run.states[k].data, state->size_bytes));
  }
  return settle(context);
}
