/* Repeating a body, and mapping one over slices. Carried values live in two buffers that take
 * turns.
 */
#include "core/runtime/repeat.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/network/control.h"
#include "core/network/node.h"
#include "core/runtime/control.h"
#include "core/runtime/copy.h"
#include "core/runtime/execute.h"
#include "core/runtime/frame.h"
#include "core/tensor/layout.h"

enum { MAX_RANK = 64 };

typedef struct tenon__control_state_t {
  tenon__control_layout_t layout;
  const int64_t* directions; /* of what is sliced, then of what is collected; NULL: all forwards */
  tenon__growing_t* carried[2]; /* two buffers for each carried value */
  tenon__growing_t* slices;
  tenon__growing_t* collected; /* [iterations, ...], capacity doubles */
  int64_t iteration;
  uint8_t condition;
} control_state_t;

typedef struct loop_t {
  tenon__frame_t* frame;
  const tenon__step_t* step;
  tenon__frame_t* body;
  control_state_t* state;
  const tenon__control_layout_t* layout;
} loop_t;

static const tenon__graph_t* graph_of(const tenon__frame_t* frame) {
  return frame->context->engine->plan->network->graphs[frame->graph];
}

/* ---- Life ---- */

static tenon__growing_t* create_buffers(tenon_allocator_t allocator, uint32_t count) {
  tenon__growing_t* buffers = tenon__allocate(allocator, count + 1u, sizeof *buffers);
  for (uint32_t k = 0; buffers != NULL && k < count; ++k) {
    tenon__growing_initialize(&buffers[k], allocator, TENON_DTYPE_UNDEFINED);
  }
  return buffers;
}

static void destroy_buffers(tenon__growing_t* buffers, uint32_t count,
                            tenon_allocator_t allocator) {
  for (uint32_t k = 0; buffers != NULL && k < count; ++k) {
    tenon__growing_deinitialize(&buffers[k]);
  }
  tenon__free(allocator, buffers, (count + 1u) * sizeof *buffers);
}

void tenon__control_destroy(struct tenon__control_state_t* state, tenon_allocator_t allocator) {
  if (state == NULL) {
    return;
  }
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

static tenon_status_t make_state(tenon__frame_t* frame, uint32_t index, control_state_t* state) {
  const tenon__engine_t* engine = frame->context->engine;
  const tenon_allocator_t allocator = frame->context->allocator;
  const uint32_t node = frame->schedule->steps[index].node;
  tenon__control_layout_t* layout = &state->layout;
  TENON_TRY(tenon__control_layout_of(engine->plan->network, frame->graph, node,
                                     engine->options.sink, layout));
  state->directions = directions_of(&graph_of(frame)->nodes[node], layout);
  state->carried[0] = create_buffers(allocator, layout->carried_count);
  state->carried[1] = create_buffers(allocator, layout->carried_count);
  state->slices = create_buffers(allocator, layout->scanned_count);
  state->collected = create_buffers(allocator, layout->collected_count);
  return state->carried[0] == NULL || state->carried[1] == NULL || state->slices == NULL ||
                 state->collected == NULL
             ? TENON_ERROR_OUT_OF_MEMORY
             : TENON_OK;
}

static tenon_status_t create_state(tenon__frame_t* frame, uint32_t index) {
  const tenon_allocator_t allocator = frame->context->allocator;
  control_state_t* state = tenon__allocate(allocator, 1, sizeof *state);
  if (state == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const tenon_status_t status = make_state(frame, index, state);
  if (status != TENON_OK) {
    tenon__control_destroy(state, allocator);
    return status;
  }
  frame->controls[index] = state;
  return TENON_OK;
}

/* ---- Across the border ---- */

static tenon_argument_t as_argument(const tenon__growing_t* growing, uint32_t kind) {
  if (kind != TENON_ARGUMENT_TENSOR) {
    return (tenon_argument_t){.kind = kind, .count = growing->item_count, .items = growing->items};
  }
  return (tenon_argument_t){.kind = TENON_ARGUMENT_TENSOR,
                            .tensor = {.data = growing->data,
                                       .dims = growing->dims,
                                       .strides = growing->strides,
                                       .rank = growing->rank,
                                       .dtype = growing->dtype,
                                       .layout = TENON_NONE}};
}

/* The outer argument at the control step's input `input`. */
static tenon_status_t outer(const loop_t* loop, uint32_t input, int64_t* dims, int64_t* strides,
                            tenon_argument_t* out_argument) {
  return tenon__frame_argument(loop->frame, loop->step->inputs[input], dims, strides, out_argument);
}

static bool is_backwards(const loop_t* loop, uint32_t which) {
  return loop->state->directions != NULL && loop->state->directions[which] != 0;
}

/* Elements that share a byte are no slices of their own. */
static tenon_status_t element_size(const loop_t* loop, tenon_dtype_t dtype, int64_t* out_size) {
  const uint32_t bits = tenon__dtype_bits(dtype);
  *out_size = (int64_t)bits / 8;
  return bits % 8 == 0
             ? TENON_OK
             : tenon__fail(loop->frame->context->engine->options.sink, TENON_ERROR_UNSUPPORTED,
                           "%s: tensors of %s are neither cut into slices nor collected",
                           loop->step->name, tenon__dtype_name(dtype));
}

/* How often at most: the trip count, and the extents of what is sliced. */
static tenon_status_t trip_count(const loop_t* loop, int64_t* out_count) {
  const tenon__control_layout_t* layout = loop->layout;
  int64_t count = INT64_MAX;
  int64_t dims[MAX_RANK];
  int64_t strides[MAX_RANK];
  tenon_argument_t argument;
  if (layout->trip_count_input != TENON_NONE) {
    TENON_TRY(
        tenon__frame_scalar(loop->frame, loop->step->inputs[layout->trip_count_input], &count));
  }
  for (uint32_t k = 0; k < layout->scanned_count; ++k) {
    TENON_TRY(
        outer(loop, layout->first_value + layout->carried_count + k, dims, strides, &argument));
    const int64_t extent = dims[tenon__control_axis(layout, k, argument.tensor.rank)];
    count = extent < count ? extent : count;
  }
  *out_count = count < 0 ? 0 : count;
  return TENON_OK;
}

static tenon_status_t first_condition(const loop_t* loop) {
  int64_t goes_on = 1;
  if (loop->layout->condition_input != TENON_NONE) {
    TENON_TRY(tenon__frame_scalar(loop->frame, loop->step->inputs[loop->layout->condition_input],
                                  &goes_on));
  }
  loop->state->condition = goes_on != 0 ? 1 : 0;
  return TENON_OK;
}

static tenon_status_t begin(const loop_t* loop) {
  const tenon__control_layout_t* layout = loop->layout;
  const uint32_t skipped = layout->carried_count + layout->scanned_count;
  int64_t dims[MAX_RANK];
  int64_t strides[MAX_RANK];
  tenon_argument_t argument;
  for (uint32_t k = 0; k < layout->carried_count; ++k) {
    TENON_TRY(outer(loop, layout->first_value + k, dims, strides, &argument));
    TENON_TRY(tenon__growing_assign(&loop->state->carried[0][k], &argument));
  }
  for (uint32_t k = 0; k < layout->captured_count; ++k) {
    TENON_TRY(outer(loop, layout->first_value + skipped + k, dims, strides, &argument));
    TENON_TRY(tenon__frame_lend(loop->body, layout->first_parameter + skipped + k, &argument));
  }
  for (uint32_t k = 0; k < layout->collected_count; ++k) {
    tenon__growing_clear(&loop->state->collected[k]);
  }
  return first_condition(loop);
}

/* Slice `iteration` of sliced input k, without its axis. */
static tenon_status_t lend_slice(const loop_t* loop, uint32_t k, int64_t iteration) {
  const tenon__control_layout_t* layout = loop->layout;
  int64_t dims[MAX_RANK];
  int64_t strides[MAX_RANK];
  int64_t size = 0;
  tenon_argument_t argument;
  TENON_TRY(outer(loop, layout->first_value + layout->carried_count + k, dims, strides, &argument));
  TENON_TRY(element_size(loop, argument.tensor.dtype, &size));
  const uint32_t axis = tenon__control_axis(layout, k, argument.tensor.rank);
  const int64_t at = is_backwards(loop, k) ? dims[axis] - 1 - iteration : iteration;
  argument.tensor.data = (char*)argument.tensor.data + at * strides[axis] * size;
  for (uint32_t d = axis; d + 1 < argument.tensor.rank; ++d) {
    dims[d] = dims[d + 1];
    strides[d] = strides[d + 1];
  }
  argument.tensor.rank -= 1;
  TENON_TRY(tenon__growing_assign(&loop->state->slices[k], &argument));
  argument = as_argument(&loop->state->slices[k], TENON_ARGUMENT_TENSOR);
  return tenon__frame_lend(loop->body, layout->first_parameter + layout->carried_count + k,
                           &argument);
}

/* ---- Collecting ---- */

/* Moves what was collected into memory for these extents. */
static tenon_status_t enlarge(tenon__growing_t* collected, const tenon_tensor_view_t* item,
                              const int64_t* dims, size_t used_bytes) {
  tenon__growing_t larger;
  tenon__growing_initialize(&larger, collected->allocator, item->dtype);
  const tenon_status_t status = tenon__growing_resize(&larger, item->dtype, item->rank + 1, dims);
  if (status != TENON_OK) {
    tenon__growing_deinitialize(&larger);
    return status;
  }
  if (used_bytes > 0) {
    memcpy(larger.data, collected->data, used_bytes);
  }
  larger.strings = collected->strings; /* the texts stay where they are */
  larger.strings_ready = collected->strings_ready;
  collected->strings_ready = false;
  tenon__growing_deinitialize(collected);
  *collected = larger;
  return TENON_OK;
}

/* What later iterations add has the extents of the first. */
static bool is_like_the_first(const tenon__growing_t* collected, const tenon_tensor_view_t* view) {
  bool is_like = collected->rank == view->rank + 1 && collected->dtype == view->dtype;
  for (uint32_t d = 0; is_like && d < view->rank; ++d) {
    is_like = collected->dims[d + 1] == view->dims[d];
  }
  return is_like;
}

/* Appends a body's result to what is collected: the leading extent grows by one. */
static tenon_status_t collect(const loop_t* loop, uint32_t k, const tenon_argument_t* result,
                              int64_t iteration) {
  tenon__growing_t* collected = &loop->state->collected[k];
  const tenon_tensor_view_t* view = &result->tensor;
  int64_t dims[MAX_RANK];
  int64_t size = 0;
  uint64_t count = 0;
  size_t bytes = 0;
  TENON_TRY(element_size(loop, view->dtype, &size));
  if (view->rank + 1 > MAX_RANK || !tenon__element_count(view->rank, view->dims, &count) ||
      !tenon__dtype_bytes(view->dtype, count, &bytes)) {
    return TENON_ERROR_INVALID_DATA;
  }
  if (iteration > 0 && !is_like_the_first(collected, view)) {
    return tenon__fail(loop->frame->context->engine->options.sink, TENON_ERROR_INVALID_DATA,
                       "%s: result %u changes its extents from one iteration to the next",
                       loop->step->name, k);
  }
  for (uint32_t d = 0; d < view->rank; ++d) {
    dims[d + 1] = view->dims[d];
  }
  if (collected->capacity_bytes < (size_t)(iteration + 1) * bytes || collected->data == NULL) {
    dims[0] = 2 * (iteration + 1);
    TENON_TRY(enlarge(collected, view, dims, (size_t)iteration * bytes));
  }
  dims[0] = iteration + 1;
  TENON_TRY(tenon__growing_resize(collected, view->dtype, view->rank + 1, dims));
  const tenon_tensor_view_t target = {.data = (char*)collected->data + (size_t)iteration * bytes,
                                      .dims = collected->dims + 1,
                                      .strides = collected->strides + 1,
                                      .rank = view->rank,
                                      .dtype = view->dtype};
  TENON_TRY(tenon__copy_tensor(view, &target));
  return tenon__growing_own_texts(collected, (uint64_t)iteration * count, count);
}

/* ---- Iterations ---- */

static tenon_status_t take_results(const loop_t* loop, int64_t iteration) {
  const uint32_t* results = loop->body->schedule->outputs;
  const tenon__control_layout_t* layout = loop->layout;
  int64_t dims[MAX_RANK];
  int64_t strides[MAX_RANK];
  tenon_argument_t argument;
  uint32_t result = layout->first_result;
  int64_t goes_on = 1;
  if (layout->passes_iteration) {
    TENON_TRY(tenon__frame_scalar(loop->body, results[0], &goes_on));
  }
  for (uint32_t k = 0; k < layout->carried_count; ++k) {
    TENON_TRY(tenon__frame_argument(loop->body, results[result++], dims, strides, &argument));
    TENON_TRY(tenon__growing_assign(&loop->state->carried[1][k], &argument));
  }
  for (uint32_t k = 0; k < layout->collected_count; ++k) {
    TENON_TRY(tenon__frame_argument(loop->body, results[result++], dims, strides, &argument));
    TENON_TRY(collect(loop, k, &argument, iteration));
  }
  tenon__growing_t* swap = loop->state->carried[0];
  loop->state->carried[0] = loop->state->carried[1];
  loop->state->carried[1] = swap;
  loop->state->condition = goes_on != 0 ? 1 : 0;
  return TENON_OK;
}

/* The number of the iteration and the condition: scalars, or the vectors of one element that some
 * formats declare. */
static tenon_status_t lend_lead(const loop_t* loop) {
  static const int64_t one[1] = {1};
  const tenon__graph_t* g = graph_of(loop->body);
  tenon_argument_t lead = {.kind = TENON_ARGUMENT_TENSOR,
                           .tensor = {.data = &loop->state->iteration,
                                      .dims = one,
                                      .strides = one,
                                      .rank = g->values[g->inputs[0]].type.rank,
                                      .dtype = TENON_DTYPE_INT64}};
  TENON_TRY(tenon__frame_lend(loop->body, 0, &lead));
  lead.tensor.data = &loop->state->condition;
  lead.tensor.dtype = TENON_DTYPE_BOOL;
  lead.tensor.rank = g->values[g->inputs[1]].type.rank;
  return tenon__frame_lend(loop->body, 1, &lead);
}

static tenon_status_t run_iteration(const loop_t* loop, int64_t iteration) {
  const tenon__control_layout_t* layout = loop->layout;
  const tenon__graph_t* g = graph_of(loop->body);
  loop->state->iteration = iteration;
  TENON_TRY(layout->passes_iteration ? lend_lead(loop) : TENON_OK);
  for (uint32_t k = 0; k < layout->carried_count; ++k) {
    const uint32_t parameter = layout->first_parameter + k;
    const tenon_argument_t argument =
        as_argument(&loop->state->carried[0][k], g->values[g->inputs[parameter]].type.kind);
    TENON_TRY(tenon__frame_lend(loop->body, parameter, &argument));
  }
  for (uint32_t k = 0; k < layout->scanned_count; ++k) {
    TENON_TRY(lend_slice(loop, k, iteration));
  }
  TENON_TRY(tenon__frame_run(loop->body));
  return take_results(loop, iteration);
}

/* ---- Results ---- */

/* Without an iteration: empty along the axis, and otherwise as far as it is known. */
static tenon_status_t store_nothing(const loop_t* loop, uint32_t k, uint32_t output) {
  tenon__growing_t* collected = &loop->state->collected[k];
  const tenon__value_node_t* value = tenon__frame_value(loop->frame, output);
  int64_t dims[MAX_RANK];
  for (uint32_t d = 0; d < value->type.rank; ++d) {
    dims[d] = 0;
    (void)tenon__extents_get(&loop->frame->context->extents, value->type.dims[d], &dims[d]);
  }
  dims[tenon__control_axis(loop->layout, loop->layout->scanned_count + k, value->type.rank)] = 0;
  TENON_TRY(tenon__growing_resize(collected, value->type.dtype, value->type.rank, dims));
  const tenon_argument_t empty = as_argument(collected, TENON_ARGUMENT_TENSOR);
  return tenon__frame_store(loop->frame, output, &empty);
}

/* What was collected, with the iterations along the axis and in the direction that was asked for.
 */
static tenon_status_t store_collected(const loop_t* loop, uint32_t k, int64_t iterations) {
  tenon__growing_t* collected = &loop->state->collected[k];
  const uint32_t output = loop->step->outputs[loop->layout->carried_count + k];
  const uint32_t which = loop->layout->scanned_count + k;
  int64_t dims[MAX_RANK];
  int64_t strides[MAX_RANK];
  int64_t size = 0;
  if (output == TENON_NONE) {
    return TENON_OK;
  }
  if (iterations == 0) {
    return store_nothing(loop, k, output);
  }
  TENON_TRY(element_size(loop, collected->dtype, &size));
  const uint32_t axis = tenon__control_axis(loop->layout, which, collected->rank);
  for (uint32_t d = 0, from = 1; d < collected->rank; ++d) {
    const uint32_t source = d == axis ? 0 : from++;
    dims[d] = collected->dims[source];
    strides[d] = collected->strides[source];
  }
  tenon_argument_t argument = as_argument(collected, TENON_ARGUMENT_TENSOR);
  if (is_backwards(loop, which)) {
    argument.tensor.data = (char*)argument.tensor.data + (dims[axis] - 1) * strides[axis] * size;
    strides[axis] = -strides[axis];
  }
  argument.tensor.dims = dims;
  argument.tensor.strides = strides;
  return tenon__frame_store(loop->frame, output, &argument);
}

static tenon_status_t store_carried(const loop_t* loop, uint32_t k) {
  const uint32_t output = loop->step->outputs[k];
  if (output == TENON_NONE) {
    return TENON_OK;
  }
  const tenon__value_node_t* value = tenon__frame_value(loop->frame, output);
  const tenon_argument_t argument = as_argument(&loop->state->carried[0][k], value->type.kind);
  return tenon__frame_store(loop->frame, output, &argument);
}

tenon_status_t tenon__repeat_run(tenon__frame_t* frame, uint32_t index) {
  if (frame->controls[index] == NULL) {
    TENON_TRY(create_state(frame, index));
  }
  const tenon__step_t* step = &frame->schedule->steps[index];
  control_state_t* state = frame->controls[index];
  const loop_t loop = {
      .frame = frame,
      .step = step,
      .body = &frame->context->frames[graph_of(frame)->nodes[step->node].bodies[0]],
      .state = state,
      .layout = &state->layout};
  int64_t most = 0;
  int64_t iteration = 0;
  TENON_TRY(trip_count(&loop, &most));
  TENON_TRY(begin(&loop));
  while (iteration < most && state->condition != 0) {
    if (tenon__interrupt_is_wanted(&frame->context->interrupt)) {
      return TENON_ERROR_CANCELLED;
    }
    TENON_TRY(run_iteration(&loop, iteration));
    ++iteration;
  }
  for (uint32_t k = 0; k < loop.layout->carried_count; ++k) {
    TENON_TRY(store_carried(&loop, k));
  }
  for (uint32_t k = 0; k < loop.layout->collected_count; ++k) {
    TENON_TRY(store_collected(&loop, k, iteration));
  }
  return TENON_OK;
}
