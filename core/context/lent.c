/* Memory of the application on the device: an input or output takes the place of ours if the
 * address is aligned and the extents are known. Else one copy within the device is made. */
#include "core/context/lent.h"

#include "core/base/status.h"
#include "core/context/states.h"
#include "core/frame/frame.h"
#include "core/plan/place.h"
#include "core/step/chains.h"
#include "core/step/transfer.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"

static const tenon__graph_t* main_graph(const tenon__context_t* context) {
  return context->run.engine->plan->network->graphs[0];
}

static tenon__space_t* main_space(tenon__context_t* context) {
  return &context->run.spaces[tenon__plan_main_device(context->run.engine->plan)];
}

/* ---- Where they cross ---- */

static bool mentions(const uint32_t* places, uint32_t count, const tenon__schedule_t* schedule,
                     uint32_t root) {
  for (uint32_t k = 0; k < count; ++k) {
    if (places[k] != TENON_NONE && tenon__place_root(schedule, places[k]) == root) {
      return true;
    }
  }
  return false;
}

/* Does the host look at what the place holds, other than by the step `crossing`? */
static bool is_read(const tenon__frame_t* frame, uint32_t place, uint32_t crossing) {
  const tenon__schedule_t* schedule = frame->schedule;
  bool is_read =
      frame->numbers[place] != 0 || mentions(frame->sizing, frame->sizing_count, schedule, place);
  for (uint32_t k = 0; k < schedule->step_count && !is_read; ++k) {
    const tenon__step_t* step = &schedule->steps[k];
    is_read = k != crossing && mentions(step->inputs, step->input_count, schedule, place);
  }
  return is_read;
}

static bool crosses(const tenon__context_t* context, const tenon__step_t* step, uint32_t from,
                    uint32_t to) {
  const tenon__place_t* places = context->run.frames[0].schedule->places;
  return step->kind == TENON_STEP_COPY && places[step->inputs[0]].space == from &&
         places[step->outputs[0]].space == to;
}

static void find_input(tenon__context_t* context, uint32_t index) {
  const tenon__frame_t* frame = &context->run.frames[0];
  const tenon__schedule_t* schedule = frame->schedule;
  const uint32_t place = schedule->inputs[index];
  tenon__lent_t* lent = &context->lent_inputs[index];
  const uint32_t device = tenon__plan_main_device(context->run.engine->plan);
  for (uint32_t k = 0; k < schedule->step_count && lent->crossing == TENON_NONE; ++k) {
    const tenon__step_t* step = &schedule->steps[k];
    if (crosses(context, step, 0, device) && step->inputs[0] == place &&
        schedule->places[step->outputs[0]].storage == TENON_STORAGE_ARENA) {
      lent->crossing = k;
    }
  }
  lent->is_read_on_host = is_read(frame, place, lent->crossing) ||
                          mentions(schedule->outputs, schedule->output_count, schedule, place);
}

/* An output whose extents the run finds: the host's place grows, the device's is at the bound. */
static bool is_found(const tenon__schedule_t* schedule, const tenon__step_t* crossing) {
  return schedule->places[crossing->outputs[0]].storage == TENON_STORAGE_GROWING &&
         schedule->places[crossing->inputs[0]].at_bound;
}

static void find_output(tenon__context_t* context, uint32_t index) {
  const tenon__frame_t* frame = &context->run.frames[0];
  const tenon__schedule_t* schedule = frame->schedule;
  const uint32_t place = schedule->outputs[index];
  tenon__lent_t* lent = &context->lent_outputs[index];
  const uint32_t device = tenon__plan_main_device(context->run.engine->plan);
  bool is_first = true;
  for (uint32_t k = 0; k < schedule->step_count; ++k) {
    const tenon__step_t* step = &schedule->steps[k];
    if (crosses(context, step, device, 0) && step->outputs[0] == place &&
        (schedule->places[place].storage == TENON_STORAGE_OUTPUT || is_found(schedule, step))) {
      lent->crossing = k;
    }
  }
  if (lent->crossing == TENON_NONE || is_read(frame, place, lent->crossing)) {
    lent->crossing = TENON_NONE;
    return;
  }
  const uint32_t source = schedule->steps[lent->crossing].inputs[0];
  for (uint32_t k = 0; k < index; ++k) { /* the source is lent for one alone */
    const uint32_t other = context->lent_outputs[k].crossing;
    is_first = is_first && (other == TENON_NONE || schedule->steps[other].inputs[0] != source);
  }
  lent->is_found = is_found(schedule, &schedule->steps[lent->crossing]);
  lent->is_replaceable =
      is_first && !lent->is_found && tenon__place_can_move(schedule, lent->crossing, source);
}

tenon_status_t tenon__context_create_lent(tenon__context_t* context) {
  const tenon__graph_t* g = main_graph(context);
  const bool has_device = tenon__plan_main_device(context->run.engine->plan) != 0;
  context->lent_inputs =
      tenon__arena_allocate(&context->run.arena, g->input_count + 1u, sizeof *context->lent_inputs);
  context->lent_outputs = tenon__arena_allocate(&context->run.arena, g->output_count + 1u,
                                                sizeof *context->lent_outputs);
  TENON_TRY_MEMORY(context->lent_inputs != NULL && context->lent_outputs != NULL);
  for (uint32_t k = 0; k < g->input_count; ++k) {
    context->lent_inputs[k].crossing = TENON_NONE;
    if (has_device) {
      find_input(context, k);
    }
  }
  for (uint32_t k = 0; k < g->output_count; ++k) {
    context->lent_outputs[k].crossing = TENON_NONE;
    if (has_device) {
      find_output(context, k);
    }
  }
  return TENON_OK;
}

/* ---- Lending ---- */

static tenon_status_t need_device(const tenon__context_t* context) {
  return tenon__plan_main_device(context->run.engine->plan) != 0
             ? TENON_OK
             : tenon__fail(context->run.engine->options.sink, TENON_ERROR_INVALID_STATE,
                           "the plan runs on the host alone: there is no other memory to lend");
}

static bool is_aligned(const void* data) {
  return (uintptr_t)data % TENON_RULE_MOST_ALIGNMENT == 0;
}

tenon_status_t tenon__context_lend_input(tenon__context_t* context, uint32_t index, void* data) {
  TENON_TRY(need_device(context));
  if (data == NULL) { /* of no elements */
    tenon__context_return_input(context, index);
  }
  context->lent_inputs[index].data = data;
  return TENON_OK;
}

tenon_status_t tenon__context_lend_output(tenon__context_t* context, uint32_t index, void* data) {
  TENON_TRY(need_device(context));
  if (data == NULL) {
    tenon__context_return_output(context, index);
  }
  context->lent_outputs[index].data = data;
  return TENON_OK;
}

void tenon__context_return_input(tenon__context_t* context, uint32_t index) {
  tenon__frame_t* frame = &context->run.frames[0];
  tenon__lent_t* lent = &context->lent_inputs[index];
  if (lent->data != NULL && lent->crossing != TENON_NONE) {
    const uint32_t target = frame->schedule->steps[lent->crossing].outputs[0];
    frame->steps[lent->crossing].transfer = TENON_TRANSFER_CROSSES;
    tenon__frame_move_place(frame, target, tenon__frame_planned(frame, target));
  }
  lent->data = NULL;
}

void tenon__context_return_output(tenon__context_t* context, uint32_t index) {
  tenon__frame_t* frame = &context->run.frames[0];
  tenon__lent_t* lent = &context->lent_outputs[index];
  if (lent->data != NULL && lent->crossing != TENON_NONE) {
    const uint32_t source = frame->schedule->steps[lent->crossing].inputs[0];
    frame->steps[lent->crossing].transfer = TENON_TRANSFER_CROSSES;
    if (lent->is_replaceable) {
      tenon__frame_move_place(frame, source, tenon__frame_planned(frame, source));
    }
  }
  lent->data = NULL;
}

/* ---- Inputs ---- */

static tenon_status_t count_bytes(const tenon__context_t* context, const tenon_tensor_view_t* view,
                                  size_t* out_bytes) {
  uint64_t count = 0;
  return tenon__element_count(view->rank, view->dims, &count) &&
                 tenon__dtype_bytes(view->dtype, count, out_bytes)
             ? TENON_OK
             : tenon__fail(context->run.engine->options.sink, TENON_ERROR_INVALID_ARGUMENT,
                           "a lent tensor has more elements than can be counted");
}

/* For what reads it on the host: there at once. */
static tenon_status_t fetch(tenon__context_t* context, uint32_t index, size_t bytes) {
  tenon__space_t* space = main_space(context);
  tenon__frame_t* frame = &context->run.frames[0];
  const tenon_tensor_view_t* view = &context->inputs[index].tensor;
  tenon__place_state_t* place = &frame->places[frame->schedule->inputs[index]];
  TENON_TRY(tenon__dynamic_buffer_resize(place->buffer, view->dtype, view->rank, view->dims));
  place->data = place->buffer->data;
  space->is_busy = true;
  TENON_TRY(tenon__memory_read(&space->memory, place->data, view->data, bytes));
  return tenon__space_settle(space);
}

tenon_status_t tenon__context_take_lent(tenon__context_t* context, uint32_t index) {
  tenon__frame_t* frame = &context->run.frames[0];
  tenon__space_t* space = main_space(context);
  const tenon__lent_t* lent = &context->lent_inputs[index];
  size_t bytes = 0;
  TENON_TRY(count_bytes(context, &context->inputs[index].tensor, &bytes));
  if (lent->crossing != TENON_NONE) {
    const uint32_t target = frame->schedule->steps[lent->crossing].outputs[0];
    const bool is_direct = is_aligned(lent->data);
    frame->steps[lent->crossing].transfer = TENON_TRANSFER_NONE;
    tenon__frame_move_place(frame, target,
                            is_direct ? lent->data : tenon__frame_planned(frame, target));
    if (!is_direct && bytes > 0) {
      space->is_busy = true;
      TENON_TRY(tenon__device_copy(space->memory.device, space->memory.stream, TENON_COPY_WITHIN,
                                   tenon__frame_planned(frame, target), lent->data, bytes));
    }
  }
  return lent->is_read_on_host ? fetch(context, index, bytes) : TENON_OK;
}

/* ---- Outputs ---- */

/* Not where the run finds the extents. */
static bool are_extents_known(const tenon__context_t* context, uint32_t index) {
  const tenon__graph_t* g = main_graph(context);
  const tenon__value_node_t* value = &g->values[g->outputs[index]];
  int64_t dims[TENON_RANK_LIMIT];
  return tenon__extents_shape(&context->run.extents, value->type.rank, value->type.dims, dims);
}

/* Can the application's memory hold the output at its bound? */
static bool holds_bound(const tenon__context_t* context, uint32_t index) {
  const tenon__graph_t* g = main_graph(context);
  const tenon__value_node_t* value = &g->values[g->outputs[index]];
  const tenon_tensor_view_t* own = &context->outputs[index];
  int64_t most[TENON_RANK_LIMIT];
  bool holds = context->run.has_bounds && own->rank == value->type.rank &&
               tenon__extents_shape(&context->run.bounds, value->type.rank, value->type.dims, most);
  for (uint32_t k = 0; k < own->rank && holds; ++k) {
    holds = most[k] <= own->dims[k];
  }
  return holds;
}

void tenon__context_place_lent(tenon__context_t* context, uint32_t index, bool* out_is_placed) {
  tenon__frame_t* frame = &context->run.frames[0];
  const tenon__lent_t* lent = &context->lent_outputs[index];
  *out_is_placed =
      lent->crossing != TENON_NONE &&
      (lent->is_found ? holds_bound(context, index) : are_extents_known(context, index));
  if (lent->crossing == TENON_NONE) {
    return;
  }
  const tenon__step_t* step = &frame->schedule->steps[lent->crossing];
  const bool is_direct = *out_is_placed && lent->is_replaceable && is_aligned(lent->data);
  frame->steps[lent->crossing].transfer = is_direct        ? TENON_TRANSFER_NONE
                                          : *out_is_placed ? TENON_TRANSFER_WITHIN
                                                           : TENON_TRANSFER_CROSSES;
  if (lent->is_replaceable) {
    tenon__frame_move_place(frame, step->inputs[0],
                            is_direct ? lent->data : tenon__frame_planned(frame, step->inputs[0]));
  }
  if (*out_is_placed) {
    frame->places[step->outputs[0]].data = lent->data;
  }
}

tenon_status_t tenon__context_send_lent(tenon__context_t* context, uint32_t index,
                                        const tenon_tensor_view_t* result) {
  tenon__space_t* space = main_space(context);
  size_t bytes = 0;
  TENON_TRY(count_bytes(context, result, &bytes));
  space->is_busy = true;
  TENON_TRY(
      tenon__memory_write(&space->memory, context->lent_outputs[index].data, result->data, bytes));
  return tenon__space_settle(space);
}

/* ---- Runs that leave the host nothing ---- */

bool tenon__context_is_all_lent(const tenon__context_t* context) {
  const tenon__graph_t* g = main_graph(context);
  const tenon__frame_t* frame = &context->run.frames[0];
  bool is_lent = frame->chain_count == 1 && tenon__context_states_stay(context);
  uint32_t crossings = 0;
  for (uint32_t k = 0; k < g->input_count && is_lent; ++k) {
    const tenon__lent_t* lent = &context->lent_inputs[k];
    is_lent = lent->data != NULL && !lent->is_read_on_host;
    crossings += lent->crossing != TENON_NONE ? 1 : 0;
  }
  for (uint32_t k = 0; k < g->output_count && is_lent; ++k) {
    const tenon__lent_t* lent = &context->lent_outputs[k];
    is_lent = lent->data != NULL && lent->crossing != TENON_NONE && !lent->is_found;
    crossings += lent->crossing != TENON_NONE ? 1 : 0;
  }
  return is_lent && frame->chains[0].count + crossings == frame->schedule->step_count;
}

/* All of it where the kernels look for it: no copy within the device either. */
static bool lies_in_place(const tenon__context_t* context) {
  const tenon__graph_t* g = main_graph(context);
  const tenon__step_state_t* steps = context->run.frames[0].steps;
  bool lies = true;
  for (uint32_t k = 0; k < g->input_count && lies; ++k) {
    const tenon__lent_t* lent = &context->lent_inputs[k];
    lies = lent->crossing == TENON_NONE || is_aligned(lent->data);
  }
  for (uint32_t k = 0; k < g->output_count && lies; ++k) {
    lies = steps[context->lent_outputs[k].crossing].transfer == TENON_TRANSFER_NONE;
  }
  return lies;
}

void tenon__context_find_steady(tenon__context_t* context) {
  const tenon__frame_t* frame = &context->run.frames[0];
  context->is_steady = context->run.observer.profiler == NULL &&
                       context->run.observer.watcher == NULL && !frame->learns &&
                       !context->run.awaits_words && tenon__context_is_all_lent(context) &&
                       lies_in_place(context) && tenon__frame_can_replay(frame, frame->chains);
}

bool tenon__context_is_steady(const tenon__context_t* context) {
  const tenon__frame_t* frame = &context->run.frames[0];
  return context->is_steady && context->generation == context->run.engine->generation &&
         tenon__frame_can_replay(frame, frame->chains);
}
