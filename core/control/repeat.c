/* Repeating a body, and mapping one over slices. Carried values live in two buffers that take
 * turns.
 */
#include "core/control/repeat.h"

#include "core/base/status.h"
#include "core/control/crossing.h"
#include "core/frame/frame.h"
#include "core/step/transfer.h"
#include "core/tensor/layout.h"

static const tenon__graph_t* graph_of(const tenon__frame_t* frame) {
  return frame->run->engine->plan->network->graphs[frame->graph];
}

/* ---- Across the border ---- */

/* The outer argument at the control step's input `input`. */
static tenon_status_t outer(const tenon__repeat_t* repeat, uint32_t input, int64_t* dims,
                            int64_t* strides, tenon_argument_t* out_argument) {
  return tenon__frame_argument(repeat->frame, repeat->step->inputs[input], dims, strides,
                               out_argument);
}

static bool is_backwards(const tenon__repeat_t* repeat, uint32_t which) {
  return repeat->state->directions != NULL && repeat->state->directions[which] != 0;
}

/* In whose memory the body has a value: parameters, and results. */
static uint32_t parameter_space(const tenon__repeat_t* repeat, uint32_t number) {
  const tenon__schedule_t* body = repeat->body->schedule;
  return body->places[body->inputs[repeat->layout->first_parameter + number]].space;
}

static uint32_t result_space(const tenon__repeat_t* repeat, uint32_t number) {
  const tenon__schedule_t* body = repeat->body->schedule;
  return body->places[body->outputs[repeat->layout->first_result + number]].space;
}

static tenon_status_t assign(const tenon__repeat_t* repeat, uint32_t space,
                             tenon__dynamic_buffer_t* buffer, const tenon_argument_t* argument) {
  return tenon__run_assign(repeat->frame->run, space, buffer, argument);
}

/* Elements that share a byte are no slices of their own. */
static tenon_status_t element_size(const tenon__repeat_t* repeat, tenon_dtype_t dtype,
                                   int64_t* out_size) {
  const uint32_t bits = tenon__dtype_bits(dtype);
  *out_size = (int64_t)bits / 8;
  return bits % 8 == 0
             ? TENON_OK
             : tenon__fail(repeat->frame->run->engine->options.sink, TENON_ERROR_UNSUPPORTED,
                           "%s: tensors of %s are neither cut into slices nor collected",
                           repeat->step->name, tenon__dtype_name(dtype));
}

/* How often at most: the trip count, and the extents of what is sliced. */
static tenon_status_t trip_count(const tenon__repeat_t* repeat, int64_t* out_count) {
  const tenon__control_layout_t* layout = repeat->layout;
  int64_t count = INT64_MAX;
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  tenon_argument_t argument;
  if (layout->trip_count_input != TENON_NONE) {
    TENON_TRY(
        tenon__frame_scalar(repeat->frame, repeat->step->inputs[layout->trip_count_input], &count));
  }
  for (uint32_t k = 0; k < layout->scanned_count; ++k) {
    TENON_TRY(
        outer(repeat, layout->first_value + layout->carried_count + k, dims, strides, &argument));
    const int64_t extent = dims[tenon__control_axis(layout, k, argument.tensor.rank)];
    count = extent < count ? extent : count;
  }
  *out_count = count < 0 ? 0 : count;
  return TENON_OK;
}

static tenon_status_t first_condition(const tenon__repeat_t* repeat) {
  int64_t goes_on = 1;
  if (repeat->layout->condition_input != TENON_NONE) {
    TENON_TRY(tenon__frame_scalar(repeat->frame,
                                  repeat->step->inputs[repeat->layout->condition_input], &goes_on));
  }
  repeat->state->condition = goes_on != 0 ? 1 : 0;
  return TENON_OK;
}

static tenon_status_t take_outer(const tenon__repeat_t* repeat) {
  const tenon__control_layout_t* layout = repeat->layout;
  const uint32_t skipped = layout->carried_count + layout->scanned_count;
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  tenon_argument_t argument;
  for (uint32_t k = 0; k < layout->carried_count; ++k) {
    TENON_TRY(outer(repeat, layout->first_value + k, dims, strides, &argument));
    TENON_TRY(assign(repeat, parameter_space(repeat, k), &repeat->state->carried[0][k], &argument));
  }
  for (uint32_t k = 0; k < layout->captured_count; ++k) {
    TENON_TRY(outer(repeat, layout->first_value + skipped + k, dims, strides, &argument));
    TENON_TRY(
        tenon__frame_set_parameter(repeat->body, layout->first_parameter + skipped + k, &argument));
  }
  for (uint32_t k = 0; k < layout->collected_count; ++k) {
    tenon__dynamic_buffer_clear(&repeat->state->collected[k]);
  }
  return first_condition(repeat);
}

/* This iteration's slice of sliced input k, without its axis. */
static tenon_status_t set_slice(const tenon__repeat_t* repeat, uint32_t k) {
  const int64_t iteration = repeat->iteration;
  const tenon__control_layout_t* layout = repeat->layout;
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  int64_t size = 0;
  tenon_argument_t argument;
  TENON_TRY(
      outer(repeat, layout->first_value + layout->carried_count + k, dims, strides, &argument));
  TENON_TRY(element_size(repeat, argument.tensor.dtype, &size));
  const uint32_t axis = tenon__control_axis(layout, k, argument.tensor.rank);
  const int64_t at = is_backwards(repeat, k) ? dims[axis] - 1 - iteration : iteration;
  argument.tensor.data = (char*)argument.tensor.data + at * strides[axis] * size;
  for (uint32_t d = axis; d + 1 < argument.tensor.rank; ++d) {
    dims[d] = dims[d + 1];
    strides[d] = strides[d + 1];
  }
  argument.tensor.rank -= 1;
  TENON_TRY(assign(repeat, parameter_space(repeat, layout->carried_count + k),
                   &repeat->state->slices[k], &argument));
  argument = tenon__dynamic_buffer_argument(&repeat->state->slices[k]);
  return tenon__frame_set_parameter(repeat->body,
                                    layout->first_parameter + layout->carried_count + k, &argument);
}

/* ---- Collecting ---- */

static tenon_status_t copy_bytes(const tenon__repeat_t* repeat, uint32_t space, void* target,
                                 const void* source, size_t size_bytes) {
  const int64_t dims[1] = {(int64_t)size_bytes};
  const int64_t strides[1] = {1};
  const tenon_tensor_view_t from = {.data = tenon__drop_const(source),
                                    .dims = dims,
                                    .strides = strides,
                                    .rank = 1,
                                    .dtype = TENON_DTYPE_UINT8};
  tenon_tensor_view_t to = from;
  to.data = target;
  return tenon__run_copy(repeat->frame->run, space, &from, &to);
}

/* Moves what was collected into memory for these extents. */
static tenon_status_t enlarge(const tenon__repeat_t* repeat, uint32_t space,
                              tenon__dynamic_buffer_t* collected, const tenon_tensor_view_t* item,
                              const int64_t* dims, size_t used_bytes) {
  tenon__dynamic_buffer_t larger;
  tenon__dynamic_buffer_initialize(&larger, collected->memory, TENON_ARGUMENT_TENSOR, item->dtype);
  tenon_status_t status = tenon__dynamic_buffer_resize(&larger, item->dtype, item->rank + 1, dims);
  if (status == TENON_OK && used_bytes > 0 && collected->data != NULL) {
    status = copy_bytes(repeat, space, larger.data, collected->data, used_bytes);
  }
  if (status != TENON_OK) {
    tenon__dynamic_buffer_deinitialize(&larger);
    return status;
  }
  larger.strings = collected->strings; /* the texts stay where they are */
  larger.strings_ready = collected->strings_ready;
  collected->strings_ready = false;
  tenon__dynamic_buffer_deinitialize(collected);
  *collected = larger;
  return TENON_OK;
}

/* What later iterations add has the extents of the first. */
static bool is_like_the_first(const tenon__dynamic_buffer_t* collected,
                              const tenon_tensor_view_t* view) {
  bool is_like = collected->rank == view->rank + 1 && collected->dtype == view->dtype;
  for (uint32_t d = 0; is_like && d < view->rank; ++d) {
    is_like = collected->dims[d + 1] == view->dims[d];
  }
  return is_like;
}

/* Appends a body's result to what is collected: the leading extent grows by one. */
static tenon_status_t collect(const tenon__repeat_t* repeat, uint32_t k,
                              const tenon_argument_t* result) {
  const int64_t iteration = repeat->iteration;
  const uint32_t space = result_space(repeat, repeat->layout->carried_count + k);
  tenon__dynamic_buffer_t* collected = &repeat->state->collected[k];
  const tenon_tensor_view_t* view = &result->tensor;
  int64_t dims[TENON_RANK_LIMIT];
  int64_t size = 0;
  uint64_t count = 0;
  size_t bytes = 0;
  TENON_TRY(element_size(repeat, view->dtype, &size));
  if (view->rank + 1 > TENON_RANK_LIMIT || !tenon__element_count(view->rank, view->dims, &count) ||
      !tenon__dtype_bytes(view->dtype, count, &bytes)) {
    return TENON_ERROR_INVALID_DATA;
  }
  if (iteration > 0 && !is_like_the_first(collected, view)) {
    return tenon__fail(repeat->frame->run->engine->options.sink, TENON_ERROR_INVALID_DATA,
                       "%s: result %u changes its extents from one iteration to the next",
                       repeat->step->name, k);
  }
  for (uint32_t d = 0; d < view->rank; ++d) {
    dims[d + 1] = view->dims[d];
  }
  if (collected->capacity_bytes < (size_t)(iteration + 1) * bytes || collected->data == NULL) {
    dims[0] = 2 * (iteration + 1);
    TENON_TRY(enlarge(repeat, space, collected, view, dims, (size_t)iteration * bytes));
  }
  dims[0] = iteration + 1;
  TENON_TRY(tenon__dynamic_buffer_resize(collected, view->dtype, view->rank + 1, dims));
  const tenon_tensor_view_t target = {.data = (char*)collected->data + (size_t)iteration * bytes,
                                      .dims = collected->dims + 1,
                                      .strides = collected->strides + 1,
                                      .rank = view->rank,
                                      .dtype = view->dtype};
  TENON_TRY(tenon__run_copy(repeat->frame->run, space, view, &target));
  return tenon__dynamic_buffer_own_texts(collected, (uint64_t)iteration * count, count);
}

/* ---- Iterations ---- */

/* The number of the iteration and the condition: scalars, or the vectors of one element that some
 * formats declare. */
static tenon_status_t set_lead(const tenon__repeat_t* repeat) {
  static const int64_t one[1] = {1};
  const tenon__graph_t* g = graph_of(repeat->body);
  tenon_argument_t lead = {.kind = TENON_ARGUMENT_TENSOR,
                           .tensor = {.data = &repeat->state->iteration,
                                      .dims = one,
                                      .strides = one,
                                      .rank = g->values[g->inputs[0]].type.rank,
                                      .dtype = TENON_DTYPE_INT64}};
  TENON_TRY(tenon__frame_set_parameter(repeat->body, 0, &lead));
  lead.tensor.data = &repeat->state->holds;
  lead.tensor.dtype = TENON_DTYPE_BOOL;
  lead.tensor.rank = g->values[g->inputs[1]].type.rank;
  return tenon__frame_set_parameter(repeat->body, 1, &lead);
}

/* Where the body writes what it carries on, if it can write it there at once. */
static tenon_status_t lend_result(const tenon__repeat_t* repeat, uint32_t k) {
  const tenon__extents_t* extents = &repeat->frame->run->extents;
  const uint32_t place = repeat->body->schedule->outputs[repeat->layout->first_result + k];
  const tenon__type_t* type = &tenon__frame_value(repeat->body, place)->type;
  tenon__dynamic_buffer_t* next = &repeat->state->carried[1][k];
  int64_t dims[TENON_RANK_LIMIT];
  if (!tenon__extents_shape(extents, type->rank, type->dims, dims)) {
    return tenon__fail(repeat->frame->run->engine->options.sink, TENON_ERROR_INVALID_DATA,
                       "%s: the extents of result %u are not known in time", repeat->step->name, k);
  }
  TENON_TRY(tenon__dynamic_buffer_resize(next, type->dtype, type->rank, dims));
  tenon__frame_move_place(repeat->body, place, next->data);
  return TENON_OK;
}

tenon_status_t tenon__repeat_set_parameters(const tenon__repeat_t* repeat) {
  const tenon__control_layout_t* layout = repeat->layout;
  if (repeat->state->lead_is_copied) {
    TENON_TRY(tenon__run_settle(repeat->frame->run, 0));
  }
  repeat->state->iteration = repeat->iteration;
  TENON_TRY(layout->passes_iteration ? set_lead(repeat) : TENON_OK);
  for (uint32_t k = 0; k < layout->carried_count; ++k) {
    const uint32_t parameter = layout->first_parameter + k;
    const tenon_argument_t argument = tenon__dynamic_buffer_argument(&repeat->state->carried[0][k]);
    TENON_TRY(tenon__frame_set_parameter(repeat->body, parameter, &argument));
    TENON_TRY(repeat->state->is_direct[k] ? lend_result(repeat, k) : TENON_OK);
  }
  for (uint32_t k = 0; k < layout->scanned_count; ++k) {
    TENON_TRY(set_slice(repeat, k));
  }
  return TENON_OK;
}

/* Does the body give back what it takes? Then it is there already. */
static bool passes_through(const tenon__repeat_t* repeat, uint32_t k) {
  const tenon__schedule_t* body = repeat->body->schedule;
  return body->outputs[repeat->layout->first_result + k] ==
         body->inputs[repeat->layout->first_parameter + k];
}

static void swap(tenon__repeat_state_t* state, uint32_t k) {
  const tenon__dynamic_buffer_t read = state->carried[0][k];
  state->carried[0][k] = state->carried[1][k];
  state->carried[1][k] = read;
}

tenon_status_t tenon__repeat_take(tenon__repeat_t* repeat) {
  const uint32_t* results = repeat->body->schedule->outputs;
  const tenon__control_layout_t* layout = repeat->layout;
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  tenon_argument_t argument;
  uint32_t result = layout->first_result;
  int64_t goes_on = 1;
  if (layout->passes_iteration) {
    TENON_TRY(tenon__frame_scalar(repeat->body, results[0], &goes_on));
  }
  for (uint32_t k = 0; k < layout->carried_count; ++k, ++result) {
    if (!passes_through(repeat, k) && !repeat->state->is_direct[k]) {
      TENON_TRY(tenon__frame_argument(repeat->body, results[result], dims, strides, &argument));
      TENON_TRY(assign(repeat, result_space(repeat, k), &repeat->state->carried[1][k], &argument));
    }
  }
  for (uint32_t k = 0; k < layout->collected_count; ++k) {
    TENON_TRY(tenon__frame_argument(repeat->body, results[result++], dims, strides, &argument));
    TENON_TRY(collect(repeat, k, &argument));
  }
  for (uint32_t k = 0; k < layout->carried_count; ++k) {
    if (!passes_through(repeat, k)) {
      swap(repeat->state, k);
    }
  }
  repeat->state->condition = goes_on != 0 ? 1 : 0;
  repeat->iteration += 1;
  return TENON_OK;
}

/* ---- Results ---- */

/* Without an iteration: empty along the axis, and otherwise as far as it is known. */
static tenon_status_t store_nothing(const tenon__repeat_t* repeat, uint32_t k, uint32_t output) {
  tenon__dynamic_buffer_t* collected = &repeat->state->collected[k];
  const tenon__value_node_t* value = tenon__frame_value(repeat->frame, output);
  int64_t dims[TENON_RANK_LIMIT];
  for (uint32_t d = 0; d < value->type.rank; ++d) {
    dims[d] = 0;
    (void)tenon__extents_get(&repeat->frame->run->extents, value->type.dims[d], &dims[d]);
  }
  dims[tenon__control_axis(repeat->layout, repeat->layout->scanned_count + k, value->type.rank)] =
      0;
  TENON_TRY(tenon__dynamic_buffer_resize(collected, value->type.dtype, value->type.rank, dims));
  const tenon_argument_t empty = tenon__dynamic_buffer_argument(collected);
  return tenon__frame_store(repeat->frame, output, &empty);
}

/* What was collected, with the iterations along the axis and in the direction that was asked for.
 */
static tenon_status_t store_collected(const tenon__repeat_t* repeat, uint32_t k) {
  tenon__dynamic_buffer_t* collected = &repeat->state->collected[k];
  const uint32_t output = repeat->step->outputs[repeat->layout->carried_count + k];
  const uint32_t which = repeat->layout->scanned_count + k;
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  int64_t size = 0;
  if (output == TENON_NONE) {
    return TENON_OK;
  }
  if (repeat->iteration == 0) {
    return store_nothing(repeat, k, output);
  }
  TENON_TRY(element_size(repeat, collected->dtype, &size));
  const uint32_t axis = tenon__control_axis(repeat->layout, which, collected->rank);
  for (uint32_t d = 0, from = 1; d < collected->rank; ++d) {
    const uint32_t source = d == axis ? 0 : from++;
    dims[d] = collected->dims[source];
    strides[d] = collected->strides[source];
  }
  tenon_argument_t argument = tenon__dynamic_buffer_argument(collected);
  if (is_backwards(repeat, which)) {
    argument.tensor.data = (char*)argument.tensor.data + (dims[axis] - 1) * strides[axis] * size;
    strides[axis] = -strides[axis];
  }
  argument.tensor.dims = dims;
  argument.tensor.strides = strides;
  return tenon__frame_store(repeat->frame, output, &argument);
}

static tenon_status_t store_carried(const tenon__repeat_t* repeat, uint32_t k) {
  const uint32_t output = repeat->step->outputs[k];
  if (output == TENON_NONE) {
    return TENON_OK;
  }
  const tenon_argument_t argument = tenon__dynamic_buffer_argument(&repeat->state->carried[0][k]);
  return tenon__frame_store(repeat->frame, output, &argument);
}

/* ---- The whole ---- */

tenon_status_t tenon__repeat_begin(tenon__frame_t* frame, uint32_t index,
                                   tenon__repeat_t* out_repeat) {
  const tenon__step_t* step = &frame->schedule->steps[index];
  if (frame->repeats[index] == NULL) {
    TENON_TRY(
        tenon__repeat_state_create(frame->run, frame->graph, step->node, &frame->repeats[index]));
  }
  *out_repeat =
      (tenon__repeat_t){.frame = frame,
                        .step = step,
                        .body = &frame->run->frames[graph_of(frame)->nodes[step->node].bodies[0]],
                        .state = frame->repeats[index],
                        .layout = &frame->repeats[index]->layout};
  TENON_TRY(trip_count(out_repeat, &out_repeat->most));
  return take_outer(out_repeat);
}

bool tenon__repeat_goes_on(const tenon__repeat_t* repeat) {
  return repeat->iteration < repeat->most && repeat->state->condition != 0;
}

tenon_status_t tenon__repeat_end(const tenon__repeat_t* repeat) {
  for (uint32_t k = 0; k < repeat->layout->carried_count; ++k) {
    TENON_TRY(store_carried(repeat, k));
  }
  for (uint32_t k = 0; k < repeat->layout->collected_count; ++k) {
    TENON_TRY(store_collected(repeat, k));
  }
  return TENON_OK;
}
