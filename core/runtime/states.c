/* States: what a context remembers from one execution to the next. */
#include "core/runtime/states.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/plan/place.h"
#include "core/runtime/copy.h"
#include "core/runtime/frame.h"
#include "core/tensor/layout.h"

/* The place of the value that becomes state `k` after a run; TENON_NONE when it is never written.
 */
static uint32_t update_place(const tenon__context_t* context, uint32_t k) {
  const tenon__plan_t* plan = context->engine->plan;
  return tenon__schedule_find(&plan->schedules[0], plan->network->states[k].update);
}

/* Is the update a state, or a view of one? Then it may be overwritten before it is read. */
static bool reads_a_state(const tenon__context_t* context, uint32_t k) {
  const tenon__place_t* places = context->engine->plan->schedules[0].places;
  uint32_t place = update_place(context, k);
  while (place != TENON_NONE && (places[place].storage == TENON_STORAGE_VIEW ||
                                 places[place].storage == TENON_STORAGE_PART)) {
    place = places[place].base;
  }
  return place != TENON_NONE && places[place].storage == TENON_STORAGE_STATE;
}

tenon_status_t tenon__context_create_states(tenon__context_t* context) {
  const tenon__network_t* network = context->engine->plan->network;
  const size_t count = network->state_count + 1u;
  context->states = tenon__arena_allocate(&context->arena, count, sizeof(void*));
  context->next_states = tenon__arena_allocate(&context->arena, count, sizeof(void*));
  context->state_sizes = tenon__arena_allocate(&context->arena, count, sizeof(size_t));
  TENON_TRY_MEMORY(context->states != NULL && context->next_states != NULL &&
                   context->state_sizes != NULL);
  for (uint32_t k = 0; k < network->state_count; ++k) {
    const tenon__state_node_t* state = &network->states[k];
    uint64_t elements = 0;
    if (!tenon__element_count(state->rank, state->dims, &elements) ||
        !tenon__dtype_bytes(state->dtype, elements, &context->state_sizes[k])) {
      return TENON_ERROR_INVALID_DATA;
    }
    const bool is_double = reads_a_state(context, k);
    context->states[k] = tenon__allocate(context->allocator, context->state_sizes[k], 1);
    if (is_double) {
      context->next_states[k] = tenon__allocate(context->allocator, context->state_sizes[k], 1);
    }
    if (context->states[k] == NULL || (is_double && context->next_states[k] == NULL)) {
      return tenon__fail(context->engine->options.sink, TENON_ERROR_OUT_OF_MEMORY,
                         "the plan asks for %zu bytes for state '%s', which are not to be had",
                         context->state_sizes[k], state->name);
    }
  }
  tenon__context_reset_states(context);
  return TENON_OK;
}

void tenon__context_free_states(tenon__context_t* context) {
  const bool made =
      context->states != NULL && context->next_states != NULL && context->state_sizes != NULL;
  const uint32_t count = made ? context->engine->plan->network->state_count : 0;
  for (uint32_t k = 0; k < count; ++k) {
    tenon__free(context->allocator, context->states[k], context->state_sizes[k]);
    tenon__free(context->allocator, context->next_states[k], context->state_sizes[k]);
  }
}

static tenon_status_t store_update(tenon__context_t* context, uint32_t k) {
  const uint32_t place = update_place(context, k);
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  int64_t dense[TENON_RANK_LIMIT];
  tenon_argument_t argument;
  if (place == TENON_NONE) {
    return TENON_OK;
  }
  TENON_TRY(tenon__frame_argument(&context->frames[0], place, dims, strides, &argument));
  (void)tenon__strides_row_major(argument.tensor.rank, dims, dense);
  const tenon_tensor_view_t target = {
      .data = context->next_states[k] != NULL ? context->next_states[k] : context->states[k],
      .dims = dims,
      .strides = dense,
      .rank = argument.tensor.rank,
      .dtype = argument.tensor.dtype};
  return argument.tensor.data == target.data ? TENON_OK
                                             : tenon__copy_tensor(&argument.tensor, &target);
}

static tenon_status_t store_updates(tenon__context_t* context, bool aside) {
  const uint32_t count = context->engine->plan->network->state_count;
  for (uint32_t k = 0; k < count; ++k) {
    const bool wanted = (context->next_states[k] != NULL) == aside;
    TENON_TRY(wanted ? store_update(context, k) : TENON_OK);
  }
  return TENON_OK;
}

/* What was read from states goes aside first, so that states may exchange their values. */
tenon_status_t tenon__context_update_states(tenon__context_t* context) {
  TENON_TRY(store_updates(context, true));
  TENON_TRY(store_updates(context, false));
  for (uint32_t k = 0; k < context->engine->plan->network->state_count; ++k) {
    if (context->next_states[k] != NULL) {
      memcpy(context->states[k], context->next_states[k], context->state_sizes[k]);
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__context_state(tenon__context_t* context, const char* name, void** out_data,
                                    size_t* out_size) {
  const tenon__network_t* network = context->engine->plan->network;
  for (uint32_t k = 0; k < network->state_count; ++k) {
    if (strcmp(network->states[k].name, name) == 0) {
      *out_data = context->states[k];
      *out_size = context->state_sizes[k];
      return TENON_OK;
    }
  }
  return tenon__fail(context->engine->options.sink, TENON_ERROR_NOT_FOUND,
                     "there is no state called '%s'", name);
}

void tenon__context_reset_states(tenon__context_t* context) {
  const tenon__network_t* network = context->engine->plan->network;
  for (uint32_t k = 0; k < network->state_count; ++k) {
    const uint32_t initial = network->states[k].initial;
    if (initial == TENON_NONE) {
      memset(context->states[k], 0, context->state_sizes[k]);
    } else {
      memcpy(context->states[k], network->weights[initial].data, context->state_sizes[k]);
    }
  }
}

tenon_status_t tenon__context_clone_states(tenon__context_t* context,
                                           const tenon__context_t* source) {
  if (context->engine != source->engine) {
    return tenon__fail(context->engine->options.sink, TENON_ERROR_INVALID_ARGUMENT,
                       "the contexts belong to different engines");
  }
  for (uint32_t k = 0; k < context->engine->plan->network->state_count; ++k) {
    memcpy(context->states[k], source->states[k], context->state_sizes[k]);
  }
  return TENON_OK;
}
