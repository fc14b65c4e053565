/* Frames: made, destroyed, and where places are. */
#include "core/frame/frame.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/engine/uploads.h"
#include "core/frame/data_dependent.h"
#include "core/frame/requirements.h"
#include "core/plan/place.h"
#include "core/plan/place_view.h"

/* ---- Making and destroying ---- */

static tenon_status_t make_shape(tenon__run_state_t* run, uint32_t rank,
                                 tenon__place_state_t* state) {
  state->dims = tenon__arena_allocate(&run->arena, rank + 1u, sizeof *state->dims);
  state->strides = tenon__arena_allocate(&run->arena, rank + 1u, sizeof *state->strides);
  return state->dims == NULL || state->strides == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

void* tenon__frame_planned(const tenon__frame_t* frame, uint32_t place) {
  const tenon__place_t* p = &frame->schedule->places[place];
  char* memory = frame->memory[p->space];
  return memory == NULL ? NULL : memory + p->offset;
}

static tenon_status_t initialize_place(tenon__frame_t* frame, uint32_t index) {
  tenon__run_state_t* run = frame->run;
  const tenon__place_t* place = &frame->schedule->places[index];
  tenon__place_state_t* state = &frame->places[index];
  const tenon__value_node_t* value = tenon__frame_value(frame, index);
  switch (place->storage) {
    case TENON_STORAGE_ARENA:
      state->data = tenon__frame_planned(frame, index);
      break;
    case TENON_STORAGE_WEIGHTS:
      state->data = tenon__engine_weights(run->engine, place);
      break;
    case TENON_STORAGE_STATE:
    case TENON_STORAGE_NEXT:
      state->data = tenon__state_data(run, place);
      break;
    case TENON_STORAGE_GROWING:
    case TENON_STORAGE_INPUT:
    case TENON_STORAGE_OUTPUT:
      state->buffer = tenon__arena_allocate(&run->arena, 1, sizeof *state->buffer);
      TENON_TRY_MEMORY(state->buffer != NULL);
      tenon__dynamic_buffer_initialize(
          state->buffer, run->spaces[place->space].memory, value->type.kind,
          tenon__place_dtype(run->engine->plan->network->graphs[frame->graph], place));
      if (place->storage == TENON_STORAGE_INPUT) {
        state->rank = value->type.rank;
        state->dims = run->input_dims[place->index];
      }
      break;
    case TENON_STORAGE_PARAMETER:
      return make_shape(run, value->type.rank == TENON_NONE ? TENON_RANK_LIMIT : value->type.rank,
                        state);
    default:
      break;
  }
  return TENON_OK;
}

static tenon_status_t initialize_arguments(tenon__frame_t* frame, uint32_t count,
                                           tenon_argument_t** out_arguments,
                                           tenon__bound_argument_t** out_bindings) {
  tenon__arena_t* arena = &frame->run->arena;
  *out_arguments = tenon__arena_allocate(arena, count + 1u, sizeof **out_arguments);
  *out_bindings = tenon__arena_allocate(arena, count + 1u, sizeof **out_bindings);
  return *out_arguments == NULL || *out_bindings == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

static bool reads_space(const tenon__schedule_t* schedule, const tenon__step_t* step,
                        uint32_t space) {
  for (uint32_t k = 0; k < step->input_count; ++k) {
    if (step->inputs[k] != TENON_NONE && schedule->places[step->inputs[k]].space == space) {
      return true;
    }
  }
  return false;
}

tenon_status_t tenon__frame_create(tenon__run_state_t* run, uint32_t graph, char* const* memory,
                                   tenon__frame_t* out_frame) {
  tenon__arena_t* arena = &run->arena;
  tenon__frame_t* frame = out_frame;
  *frame = (tenon__frame_t){
      .run = run, .graph = graph, .schedule = &run->engine->plan->schedules[graph]};
  memcpy(frame->memory, memory, run->engine->plan->device_count * sizeof *memory);
  const uint32_t step_count = frame->schedule->step_count;
  frame->places =
      tenon__arena_allocate(arena, frame->schedule->place_count + 1u, sizeof *frame->places);
  frame->steps = tenon__arena_allocate(arena, step_count + 1u, sizeof *frame->steps);
  frame->repeats = tenon__arena_allocate(arena, step_count + 1u, sizeof(void*));
  TENON_TRY_MEMORY(frame->places != NULL && frame->steps != NULL && frame->repeats != NULL);
  for (uint32_t p = 0; p < frame->schedule->place_count; ++p) {
    TENON_TRY(initialize_place(frame, p));
  }
  for (uint32_t k = 0; k < step_count; ++k) {
    const tenon__step_t* step = &frame->schedule->steps[k];
    tenon__step_state_t* state = &frame->steps[k];
    TENON_TRY(
        initialize_arguments(frame, step->input_count, &state->inputs, &state->input_bindings));
    TENON_TRY(
        initialize_arguments(frame, step->output_count, &state->outputs, &state->output_bindings));
    state->reads_host = step->device != 0 && step->kind == TENON_STEP_KERNEL &&
                        reads_space(frame->schedule, step, 0);
    state->has_dynamic_map =
        step->region != NULL && step->region->map != NULL &&
        tenon__map_is_dynamic(run->engine->plan->network->pool, step->region->map);
    state->buffers = tenon__arena_allocate(arena, step->output_count + 1u, sizeof(void*));
    TENON_TRY_MEMORY(state->buffers != NULL);
  }
  tenon__frame_list_requirements(frame);
  return TENON_OK;
}

static void destroy_steps(tenon__frame_t* frame) {
  const tenon_allocator_t allocator = frame->run->allocator;
  if (frame->steps == NULL) {
    return;
  }
  for (uint32_t k = 0; k < frame->schedule->step_count; ++k) {
    tenon__step_state_t* state = &frame->steps[k];
    for (uint32_t form = 0; form < TENON_FORM_LIMIT; ++form) {
      tenon__bound_destroy(state->forms[form].bound);
      tenon__free(allocator, state->forms[form].signature,
                  state->forms[form].signature_capacity * sizeof(int64_t));
    }
  }
}

void tenon__frame_destroy(tenon__frame_t* frame) {
  destroy_steps(frame);
  if (frame->places == NULL) {
    return;
  }
  for (uint32_t p = 0; p < frame->schedule->place_count; ++p) {
    if (frame->places[p].buffer != NULL) {
      tenon__dynamic_buffer_deinitialize(frame->places[p].buffer);
    }
  }
}

void tenon__frame_renew(tenon__frame_t* frame) {
  for (uint32_t p = 0; p < frame->schedule->place_count; ++p) {
    const tenon__place_t* place = &frame->schedule->places[p];
    if (place->storage == TENON_STORAGE_WEIGHTS) {
      frame->places[p].data = tenon__engine_weights(frame->run->engine, place);
    }
  }
  for (uint32_t k = 0; k < frame->schedule->step_count; ++k) {
    for (uint32_t form = 0; form < TENON_FORM_LIMIT; ++form) {
      tenon__bound_destroy(frame->steps[k].forms[form].bound);
      frame->steps[k].forms[form].bound = NULL;
    }
    frame->steps[k].bound = NULL;
  }
  frame->is_bound = false;
}

/* ---- Places elsewhere ---- */

void tenon__frame_move_place(tenon__frame_t* frame, uint32_t place, void* data) {
  frame->version += frame->places[place].data != data ? 1 : 0;
  frame->places[place].data = data;
}

/* ---- Places as arguments ---- */

static int64_t bytes_of(tenon_dtype_t dtype, int64_t elements) {
  return elements * (int64_t)tenon__dtype_bits(dtype) / 8;
}

/* A tensor whose rank only the run knows (an item of a sequence): as it is in memory. */
static tenon_status_t argument_of_any_rank(const tenon__place_state_t* state, int64_t* dims,
                                           int64_t* strides, tenon_argument_t* out_argument) {
  const tenon_tensor_view_t* view = &state->argument.tensor;
  if (state->argument.kind != TENON_ARGUMENT_TENSOR || view->rank > TENON_RANK_LIMIT) {
    return TENON_ERROR_INVALID_STATE;
  }
  for (uint32_t k = 0; k < view->rank; ++k) {
    dims[k] = view->dims[k];
    strides[k] = view->strides[k];
  }
  *out_argument = state->argument;
  return TENON_OK;
}

static tenon_status_t argument_at(tenon__frame_t* frame, uint32_t place,
                                  const tenon__extents_t* extents, int64_t* dims, int64_t* strides,
                                  tenon_argument_t* out_argument) {
  const tenon__value_node_t* value = tenon__frame_value(frame, place);
  const uint32_t root = tenon__place_root(frame->schedule, place);
  tenon__place_state_t* state = &frame->places[root];
  const bool is_tensor = value->type.kind == TENON_ARGUMENT_TENSOR;
  if (frame->schedule->places[root].storage == TENON_STORAGE_GROWING &&
      (!is_tensor || value->type.rank == TENON_NONE)) {
    state->argument = tenon__dynamic_buffer_argument(state->buffer);
  }
  if (!is_tensor) {
    *out_argument = state->argument;
    return TENON_OK;
  }
  if (value->type.rank == TENON_NONE) {
    return argument_of_any_rank(state, dims, strides, out_argument);
  }
  const tenon_dtype_t dtype = tenon__place_dtype(
      frame->run->engine->plan->network->graphs[frame->graph], &frame->schedule->places[place]);
  int64_t offset = 0;
  TENON_TRY(tenon__frame_check_memory(frame, root));
  const tenon__placement_t placement = {
      .network = frame->run->engine->plan->network,
      .graph = frame->graph,
      .schedule = frame->schedule,
      .extents = extents,
      .root_strides = state->at_bound == NULL ? NULL : state->at_bound->strides};
  const tenon_status_t status = tenon__place_strides(&placement, place, dims, strides, &offset);
  if (status == TENON_ERROR_INVALID_DATA) {
    return tenon__fail(frame->run->engine->options.sink, status,
                       "'%s' has more than 2^48 elements, or fewer than none", value->name);
  }
  TENON_TRY(status);
  *out_argument = (tenon_argument_t){
      .kind = TENON_ARGUMENT_TENSOR,
      .tensor = {.data = state->data == NULL ? NULL : (char*)state->data + bytes_of(dtype, offset),
                 .dims = dims,
                 .strides = strides,
                 .rank = value->type.rank,
                 .dtype = dtype,
                 .layout = TENON_NONE}};
  return TENON_OK;
}

tenon_status_t tenon__frame_argument(tenon__frame_t* frame, uint32_t place, int64_t* dims,
                                     int64_t* strides, tenon_argument_t* out_argument) {
  return argument_at(frame, place, &frame->run->extents, dims, strides, out_argument);
}

tenon_status_t tenon__frame_argument_at_bound(tenon__frame_t* frame, uint32_t place, int64_t* dims,
                                              int64_t* strides, tenon_argument_t* out_argument) {
  const tenon__at_bound_t* at_bound = frame->places[place].at_bound;
  TENON_TRY(argument_at(frame, place, &frame->run->bounds, dims, strides, out_argument));
  if (at_bound != NULL) {
    char* words = frame->run->spaces[frame->schedule->places[place].space].words;
    out_argument->tensor.device_extents = (int64_t*)(void*)(words + at_bound->offset);
  }
  return TENON_OK;
}
