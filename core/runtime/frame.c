/* Frames: where places are, and steps bound to extents. */
#include "core/runtime/frame.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/kernel/align.h"
#include "core/plan/place.h"
#include "core/plan/place_view.h"
#include "core/runtime/chains.h"
#include "core/runtime/data_dependent.h"
#include "core/runtime/repeat_state.h"
#include "core/runtime/requirements.h"
#include "core/runtime/unfit.h"
#include "core/runtime/uploads.h"

/* ---- Making and destroying ---- */

static tenon_status_t make_shape(tenon__context_t* context, uint32_t rank,
                                 tenon__place_state_t* state) {
  state->dims = tenon__arena_allocate(&context->arena, rank + 1u, sizeof *state->dims);
  state->strides = tenon__arena_allocate(&context->arena, rank + 1u, sizeof *state->strides);
  return state->dims == NULL || state->strides == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

static tenon_status_t initialize_place(tenon__frame_t* frame, uint32_t index) {
  tenon__context_t* context = frame->context;
  const tenon__place_t* place = &frame->schedule->places[index];
  tenon__place_state_t* state = &frame->places[index];
  const tenon__value_node_t* value = tenon__frame_value(frame, index);
  switch (place->storage) {
    case TENON_STORAGE_ARENA:
      state->data = frame->memory[place->space] + place->offset;
      break;
    case TENON_STORAGE_WEIGHTS:
      state->data = tenon__engine_weights(context->engine, place);
      break;
    case TENON_STORAGE_STATE:
      state->data = context->states[place->index];
      break;
    case TENON_STORAGE_GROWING:
    case TENON_STORAGE_INPUT:
    case TENON_STORAGE_OUTPUT:
      state->buffer = tenon__arena_allocate(&context->arena, 1, sizeof *state->buffer);
      TENON_TRY_MEMORY(state->buffer != NULL);
      tenon__dynamic_buffer_initialize(state->buffer, context->spaces[place->space].memory,
                                       value->type.kind, value->type.dtype);
      if (place->storage == TENON_STORAGE_INPUT) {
        state->rank = value->type.rank;
        state->dims = context->input_dims[place->index];
      }
      break;
    case TENON_STORAGE_PARAMETER:
      return make_shape(
          context, value->type.rank == TENON_NONE ? TENON_RANK_LIMIT : value->type.rank, state);
    default:
      break;
  }
  return TENON_OK;
}

static tenon_status_t initialize_arguments(tenon__frame_t* frame, uint32_t count,
                                           tenon_argument_t** out_arguments,
                                           tenon__bound_argument_t** out_bindings) {
  tenon__arena_t* arena = &frame->context->arena;
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

tenon_status_t tenon__frame_create(tenon__context_t* context, uint32_t graph, char* const* memory,
                                   tenon__frame_t* out_frame) {
  tenon__arena_t* arena = &context->arena;
  tenon__frame_t* frame = out_frame;
  *frame = (tenon__frame_t){
      .context = context, .graph = graph, .schedule = &context->engine->plan->schedules[graph]};
  memcpy(frame->memory, memory, context->engine->plan->device_count * sizeof *memory);
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
        tenon__map_is_dynamic(context->engine->plan->network->pool, step->region->map);
    state->buffers = tenon__arena_allocate(arena, step->output_count + 1u, sizeof(void*));
    TENON_TRY_MEMORY(state->buffers != NULL);
  }
  tenon__frame_list_requirements(frame);
  TENON_TRY(tenon__frame_find_chains(frame));
  return tenon__frame_list_data_dependent(frame);
}

static void destroy_steps(tenon__frame_t* frame) {
  const tenon_allocator_t allocator = frame->context->allocator;
  if (frame->steps == NULL || frame->repeats == NULL) {
    return;
  }
  for (uint32_t k = 0; k < frame->schedule->step_count; ++k) {
    tenon__step_state_t* state = &frame->steps[k];
    for (uint32_t form = 0; form < TENON_FORM_LIMIT; ++form) {
      tenon__bound_destroy(state->forms[form].bound);
      tenon__free(allocator, state->forms[form].signature,
                  state->forms[form].signature_capacity * sizeof(int64_t));
    }
    tenon__repeat_state_destroy(frame->repeats[k]);
  }
}

void tenon__frame_destroy(tenon__frame_t* frame) {
  tenon__frame_forget_recordings(frame);
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
      frame->places[p].data = tenon__engine_weights(frame->context->engine, place);
    }
  }
  tenon__frame_forget_recordings(frame);
  for (uint32_t k = 0; k < frame->schedule->step_count; ++k) {
    for (uint32_t form = 0; form < TENON_FORM_LIMIT; ++form) {
      tenon__bound_destroy(frame->steps[k].forms[form].bound);
      frame->steps[k].forms[form].bound = NULL;
    }
    frame->steps[k].bound = NULL;
  }
  frame->is_bound = false;
}

/* ---- Arguments ---- */

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

tenon_status_t tenon__frame_argument(tenon__frame_t* frame, uint32_t place, int64_t* dims,
                                     int64_t* strides, tenon_argument_t* out_argument) {
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
  int64_t offset = 0;
  TENON_TRY(tenon__frame_check_memory(frame, root));
  const tenon__placement_t placement = {.network = frame->context->engine->plan->network,
                                        .graph = frame->graph,
                                        .schedule = frame->schedule,
                                        .extents = &frame->context->extents};
  TENON_TRY(tenon__place_strides(&placement, place, dims, strides, &offset));
  *out_argument = (tenon_argument_t){
      .kind = TENON_ARGUMENT_TENSOR,
      .tensor = {.data = state->data == NULL
                             ? NULL
                             : (char*)state->data + bytes_of(value->type.dtype, offset),
                 .dims = dims,
                 .strides = strides,
                 .rank = value->type.rank,
                 .dtype = value->type.dtype,
                 .layout = TENON_NONE}};
  return TENON_OK;
}

static tenon_status_t reserve(tenon__frame_t* frame, tenon__bound_argument_t* binding,
                              uint32_t rank) {
  if (rank > binding->capacity || binding->dims == NULL) {
    const uint32_t wanted = rank < 8 ? 8 : rank;
    binding->dims = tenon__arena_allocate(&frame->context->arena, wanted, sizeof(int64_t));
    binding->strides = tenon__arena_allocate(&frame->context->arena, wanted, sizeof(int64_t));
    binding->capacity = binding->dims == NULL || binding->strides == NULL ? 0 : wanted;
  }
  return binding->capacity == 0 ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

static uint32_t rank_seen(const struct tenon_region_t* region, bool aligned, uint32_t space,
                          uint32_t own) {
  uint32_t rank = own;
  if (region != NULL && aligned) {
    (void)tenon__region_space(region, space, &rank);
  }
  return rank;
}

static tenon_status_t fill_input(tenon__frame_t* frame, uint32_t index, uint32_t k) {
  const tenon__step_t* step = &frame->schedule->steps[index];
  tenon__step_state_t* state = &frame->steps[index];
  tenon__bound_argument_t* binding = &state->input_bindings[k];
  tenon_argument_t argument;
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  binding->root = NULL;
  if (step->inputs[k] == TENON_NONE) {
    state->inputs[k] = (tenon_argument_t){.kind = TENON_ARGUMENT_ABSENT};
    return TENON_OK;
  }
  TENON_TRY(tenon__frame_argument(frame, step->inputs[k], dims, strides, &argument));
  binding->root = &frame->places[tenon__place_root(frame->schedule, step->inputs[k])];
  if (argument.kind != TENON_ARGUMENT_TENSOR) {
    state->inputs[k] = argument;
    return TENON_OK;
  }
  const bool aligned = step->region != NULL && step->region->inputs[k].aligned;
  TENON_TRY(reserve(frame, binding,
                    rank_seen(step->region, aligned, aligned ? step->region->inputs[k].space : 0,
                              argument.tensor.rank)));
  tenon_tensor_view_t* seen = &state->inputs[k].tensor;
  state->inputs[k].kind = TENON_ARGUMENT_TENSOR;
  if (step->region != NULL) {
    TENON_TRY(tenon__region_align_input(step->region, k, &frame->context->extents, &argument.tensor,
                                        (tenon__axes_t){binding->dims, binding->strides}, seen));
  } else {
    *seen = argument.tensor;
    seen->dims = memcpy(binding->dims, dims, argument.tensor.rank * sizeof *dims);
    seen->strides = memcpy(binding->strides, strides, argument.tensor.rank * sizeof *strides);
  }
  binding->byte_offset =
      binding->root->data == NULL ? 0 : (char*)seen->data - (char*)binding->root->data;
  return TENON_OK;
}

/* Memory for an output whose extents are known only now. */
static tenon_status_t grow_output(tenon__frame_t* frame, uint32_t place) {
  tenon__place_state_t* state = &frame->places[place];
  const tenon__value_node_t* value = tenon__frame_value(frame, place);
  int64_t dims[TENON_RANK_LIMIT];
  if (value->type.rank == TENON_NONE ||
      !tenon__extents_shape(&frame->context->extents, value->type.rank, value->type.dims, dims)) {
    return TENON_ERROR_INVALID_STATE;
  }
  TENON_TRY(tenon__dynamic_buffer_resize(state->buffer, value->type.dtype, value->type.rank, dims));
  state->data = state->buffer->data;
  return TENON_OK;
}

static tenon_status_t fill_output(tenon__frame_t* frame, uint32_t index, uint32_t k) {
  const tenon__step_t* step = &frame->schedule->steps[index];
  tenon__step_state_t* state = &frame->steps[index];
  tenon__bound_argument_t* binding = &state->output_bindings[k];
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  tenon_argument_t argument;
  binding->root = NULL;
  state->buffers[k] = NULL;
  if (step->outputs[k] == TENON_NONE) {
    state->outputs[k] = (tenon_argument_t){.kind = TENON_ARGUMENT_ABSENT};
    return TENON_OK;
  }
  const uint32_t root = tenon__place_root(frame->schedule, step->outputs[k]);
  const tenon__value_node_t* value = tenon__frame_value(frame, step->outputs[k]);
  tenon__place_state_t* memory = &frame->places[root];
  if (frame->schedule->places[root].storage == TENON_STORAGE_GROWING) {
    tenon__dynamic_buffer_clear(memory->buffer);
    state->buffers[k] = memory->buffer;
    if (value->type.kind != TENON_ARGUMENT_TENSOR) {
      state->outputs[k] = (tenon_argument_t){.kind = value->type.kind};
      return TENON_OK;
    }
    const tenon_status_t status = grow_output(frame, root);
    if (status == TENON_ERROR_INVALID_STATE && !tenon__frame_finds(frame, step, value)) {
      return tenon__fail(frame->context->engine->options.sink, TENON_ERROR_INVALID_DATA,
                         "the extents of '%s' are not known in time", value->name);
    }
    if (status == TENON_ERROR_INVALID_STATE) {
      state->outputs[k] =
          (tenon_argument_t){.kind = TENON_ARGUMENT_ALLOCATE,
                             .tensor = {.dtype = value->type.dtype, .layout = TENON_NONE}};
      return TENON_OK;
    }
    TENON_TRY(status);
  }
  TENON_TRY(tenon__frame_argument(frame, step->outputs[k], dims, strides, &argument));
  binding->root = memory;
  const bool aligned = step->region != NULL && step->region->outputs[k].aligned;
  TENON_TRY(reserve(frame, binding,
                    rank_seen(step->region, aligned, TENON_SPACE_PROGRAM, argument.tensor.rank)));
  tenon_tensor_view_t* seen = &state->outputs[k].tensor;
  state->outputs[k].kind = TENON_ARGUMENT_TENSOR;
  if (step->region != NULL) {
    TENON_TRY(tenon__region_align_output(step->region, k, &frame->context->extents,
                                         &argument.tensor,
                                         (tenon__axes_t){binding->dims, binding->strides}, seen));
  } else {
    *seen = argument.tensor;
    seen->dims = memcpy(binding->dims, dims, argument.tensor.rank * sizeof *dims);
    seen->strides = memcpy(binding->strides, strides, argument.tensor.rank * sizeof *strides);
  }
  binding->byte_offset = memory->data == NULL ? 0 : (char*)seen->data - (char*)memory->data;
  return TENON_OK;
}

/* ---- Binding ---- */

static void sign_arguments(const tenon_argument_t* arguments, uint32_t count, int64_t* out,
                           uint32_t* inout_at, uint32_t capacity) {
  for (uint32_t k = 0; k < count; ++k) {
    const tenon_tensor_view_t* view = &arguments[k].tensor;
    const bool is_tensor = arguments[k].kind == TENON_ARGUMENT_TENSOR;
    const uint32_t rank = is_tensor ? view->rank : 0;
    if (*inout_at + 1 + 2 * rank <= capacity) {
      out[*inout_at] = (int64_t)arguments[k].kind;
      for (uint32_t d = 0; d < rank; ++d) {
        out[*inout_at + 1 + 2 * d] = view->dims[d];
        out[*inout_at + 2 + 2 * d] = view->strides[d];
      }
    }
    *inout_at += 1 + 2 * rank;
  }
}

/* Spaces are not always visible in the arguments (an empty one, LOADs): they count too. */
static void sign_spaces(const tenon__frame_t* frame, const struct tenon_region_t* region,
                        int64_t* out, uint32_t* inout_at, uint32_t capacity) {
  uint32_t rank = 0;
  const tenon_dim_t* dims = tenon__region_space(region, TENON_SPACE_PROGRAM, &rank);
  for (uint32_t k = 0; k < rank; ++k) {
    if (*inout_at < capacity) {
      out[*inout_at] = -1;
      (void)tenon__extents_get(&frame->context->extents, dims[k], &out[*inout_at]);
    }
    *inout_at += 1;
  }
}

enum { MOST_SIGNED = 1024 };

static bool is_form_of(const tenon__bound_form_t* form, const int64_t* signature, uint32_t count) {
  return form->bound != NULL && form->signature_count == count &&
         memcmp(form->signature, signature, count * sizeof *signature) == 0;
}

static tenon_status_t sign_form(tenon_allocator_t allocator, const int64_t* signature,
                                uint32_t count, tenon__bound_form_t* form) {
  form->signature_count = 0;
  if (count > form->signature_capacity) {
    tenon__free(allocator, form->signature, form->signature_capacity * sizeof(int64_t));
    form->signature = tenon__allocate(allocator, count, sizeof(int64_t));
    form->signature_capacity = form->signature == NULL ? 0 : count;
    TENON_TRY_MEMORY(form->signature != NULL);
  }
  memcpy(form->signature, signature, count * sizeof *signature);
  form->signature_count = count;
  return TENON_OK;
}

/* The form that is bound for exactly these extents; else the one that was not used for longest,
 * unbound and signed for them. */
static tenon_status_t find_form(tenon__frame_t* frame, uint32_t index,
                                tenon__bound_form_t** out_form) {
  const tenon__step_t* step = &frame->schedule->steps[index];
  tenon__step_state_t* state = &frame->steps[index];
  int64_t now[MOST_SIGNED];
  uint32_t count = 0;
  sign_arguments(state->inputs, step->input_count, now, &count, MOST_SIGNED);
  sign_arguments(state->outputs, step->output_count, now, &count, MOST_SIGNED);
  sign_spaces(frame, step->region, now, &count, MOST_SIGNED);
  /* Too many to compare, or not enough: bound anew. */
  const bool is_comparable = count <= MOST_SIGNED && !state->has_dynamic_map;
  const uint32_t form_count = is_comparable ? TENON_FORM_LIMIT : 0;
  tenon__bound_form_t* oldest = &state->forms[0];
  for (uint32_t k = 0; k < form_count; ++k) {
    tenon__bound_form_t* form = &state->forms[k];
    if (is_form_of(form, now, count)) {
      *out_form = form;
      return TENON_OK;
    }
    oldest = form->used_at < oldest->used_at ? form : oldest;
  }
  if (oldest->bound != NULL) { /* which runs before this one may be at work with still */
    TENON_TRY(tenon__space_settle(&frame->context->spaces[step->device]));
  }
  tenon__frame_forget_bound(frame, index, oldest->bound);
  tenon__bound_destroy(oldest->bound);
  oldest->bound = NULL;
  TENON_TRY(is_comparable ? sign_form(frame->context->allocator, now, count, oldest) : TENON_OK);
  *out_form = oldest;
  return TENON_OK;
}

/* However large the other extents are, which a kernel may go through all the same. */
static bool writes_nothing(const tenon__step_t* step, const tenon__step_state_t* state) {
  bool nothing = step->output_count > 0;
  for (uint32_t k = 0; k < step->output_count && nothing; ++k) {
    const tenon_argument_t* output = &state->outputs[k];
    const uint32_t rank = output->kind == TENON_ARGUMENT_TENSOR ? output->tensor.rank : 0;
    nothing = output->kind == TENON_ARGUMENT_ABSENT;
    for (uint32_t d = 0; d < rank; ++d) {
      nothing = nothing || output->tensor.dims[d] == 0;
    }
  }
  return nothing;
}

tenon_status_t tenon__frame_bind_step(tenon__frame_t* frame, uint32_t index) {
  const tenon__step_t* step = &frame->schedule->steps[index];
  tenon__step_state_t* state = &frame->steps[index];
  const tenon_sink_t* sink = frame->context->engine->options.sink;
  if (step->kind != TENON_STEP_KERNEL) {
    return TENON_OK;
  }
  for (uint32_t k = 0; k < step->input_count; ++k) {
    const tenon_status_t status = fill_input(frame, index, k);
    if (status != TENON_OK) {
      return tenon__frame_unfit(frame, step->name, step->inputs[k], status);
    }
  }
  for (uint32_t k = 0; k < step->output_count; ++k) {
    const tenon_status_t status = fill_output(frame, index, k);
    if (status != TENON_OK) {
      return tenon__frame_unfit(frame, step->name, step->outputs[k], status);
    }
  }
  state->writes_nothing = writes_nothing(step, state);
  tenon__bound_form_t* form = NULL;
  state->bound = NULL;
  TENON_TRY(find_form(frame, index, &form));
  form->used_at = ++frame->clock;
  state->bound = form->bound;
  if (form->bound != NULL) {
    return TENON_OK;
  }
  const tenon__bind_request_t request = {
      .extents = &frame->context->extents,
      .inputs = state->inputs,
      .outputs = state->outputs,
      .thread_count = tenon__thread_pool_thread_count(frame->context->pool)};
  TENON_TRY(tenon__bound_create(frame->context->allocator,
                                frame->context->engine->steps[frame->graph][index].instance,
                                &request, sink, &form->bound));
  state->bound = form->bound;
  return TENON_OK;
}

tenon_status_t tenon__frame_bind(tenon__frame_t* frame) {
  frame->version += 1;
  for (uint32_t k = 0; k < frame->schedule->step_count; ++k) {
    if (!frame->schedule->steps[k].is_dynamic) {
      TENON_TRY(tenon__frame_bind_step(frame, k));
    }
  }
  frame->is_bound = true;
  return TENON_OK;
}
