/* Steps' arguments in numbers, and kernels bound for them. */
#include "core/step/bind.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/frame/data_dependent.h"
#include "core/frame/frame.h"
#include "core/frame/unfit.h"
#include "core/kernel/align.h"
#include "core/plan/place.h"
#include "core/step/chains.h"
#include "core/step/device_words.h"

/* ---- Arguments ---- */

static tenon_status_t reserve(tenon__frame_t* frame, tenon__bound_argument_t* binding,
                              uint32_t rank) {
  if (rank > binding->capacity || binding->dims == NULL) {
    const uint32_t wanted = rank < 8 ? 8 : rank;
    binding->dims = tenon__arena_allocate(&frame->run->arena, wanted, sizeof(int64_t));
    binding->strides = tenon__arena_allocate(&frame->run->arena, wanted, sizeof(int64_t));
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

/* What a step's extents are: found ones at their bound, where it takes them so. */
static const tenon__extents_t* extents_of(const tenon__frame_t* frame, const tenon__step_t* step) {
  return step->at_bound ? &frame->run->bounds : &frame->run->extents;
}

static tenon_status_t get_argument(tenon__frame_t* frame, const tenon__step_t* step, uint32_t place,
                                   int64_t* dims, int64_t* strides,
                                   tenon_argument_t* out_argument) {
  return step->at_bound ? tenon__frame_argument_at_bound(frame, place, dims, strides, out_argument)
                        : tenon__frame_argument(frame, place, dims, strides, out_argument);
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
  TENON_TRY(get_argument(frame, step, step->inputs[k], dims, strides, &argument));
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
    TENON_TRY(tenon__region_align_input(step->region, k, extents_of(frame, step), &argument.tensor,
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
      !tenon__extents_shape(&frame->run->extents, value->type.rank, value->type.dims, dims)) {
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
      return tenon__fail(frame->run->engine->options.sink, TENON_ERROR_INVALID_DATA,
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
  TENON_TRY(get_argument(frame, step, step->outputs[k], dims, strides, &argument));
  binding->root = memory;
  const bool aligned = step->region != NULL && step->region->outputs[k].aligned;
  TENON_TRY(reserve(frame, binding,
                    rank_seen(step->region, aligned, TENON_SPACE_PROGRAM, argument.tensor.rank)));
  tenon_tensor_view_t* seen = &state->outputs[k].tensor;
  state->outputs[k].kind = TENON_ARGUMENT_TENSOR;
  if (step->region != NULL) {
    TENON_TRY(tenon__region_align_output(step->region, k, extents_of(frame, step), &argument.tensor,
                                         (tenon__axes_t){binding->dims, binding->strides}, seen));
  } else {
    *seen = argument.tensor;
    seen->dims = memcpy(binding->dims, dims, argument.tensor.rank * sizeof *dims);
    seen->strides = memcpy(binding->strides, strides, argument.tensor.rank * sizeof *strides);
  }
  binding->byte_offset = memory->data == NULL ? 0 : (char*)seen->data - (char*)memory->data;
  return TENON_OK;
}

/* ---- What a step is bound for ---- */

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
static void sign_spaces(const tenon__extents_t* extents, const struct tenon_region_t* region,
                        int64_t* out, uint32_t* inout_at, uint32_t capacity) {
  uint32_t rank = 0;
  const tenon_dim_t* dims = tenon__region_space(region, TENON_SPACE_PROGRAM, &rank);
  for (uint32_t k = 0; k < rank; ++k) {
    if (*inout_at < capacity) {
      out[*inout_at] = -1;
      (void)tenon__extents_get(extents, dims[k], &out[*inout_at]);
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
  sign_spaces(extents_of(frame, step), step->region, now, &count, MOST_SIGNED);
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
    TENON_TRY(tenon__space_settle(&frame->run->spaces[step->device]));
  }
  tenon__frame_forget_bound(frame, index, oldest->bound);
  tenon__bound_destroy(oldest->bound);
  oldest->bound = NULL;
  TENON_TRY(is_comparable ? sign_form(frame->run->allocator, now, count, oldest) : TENON_OK);
  *out_form = oldest;
  return TENON_OK;
}

tenon_status_t tenon__frame_bind_step(tenon__frame_t* frame, uint32_t index) {
  const tenon__step_t* step = &frame->schedule->steps[index];
  tenon__step_state_t* state = &frame->steps[index];
  const tenon_sink_t* sink = frame->run->engine->options.sink;
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
  tenon__bound_form_t* form = NULL;
  state->bound = NULL;
  TENON_TRY(find_form(frame, index, &form));
  form->used_at = ++frame->clock;
  state->bound = form->bound;
  if (form->bound != NULL) {
    return TENON_OK;
  }
  const tenon__bind_request_t request = {
      .extents = extents_of(frame, step),
      .inputs = state->inputs,
      .outputs = state->outputs,
      .thread_count = tenon__thread_pool_thread_count(frame->run->pool)};
  TENON_TRY(tenon__bound_create(frame->run->allocator,
                                frame->run->engine->steps[frame->graph][index].instance, &request,
                                sink, &form->bound));
  state->bound = form->bound;
  return TENON_OK;
}

tenon_status_t tenon__frame_bind(tenon__frame_t* frame) {
  frame->version += 1;
  TENON_TRY(tenon__frame_find_bounds(frame));
  for (uint32_t k = 0; k < frame->schedule->step_count; ++k) {
    if (!frame->schedule->steps[k].is_dynamic) {
      TENON_TRY(tenon__frame_bind_step(frame, k));
    }
  }
  frame->is_bound = true;
  return TENON_OK;
}
