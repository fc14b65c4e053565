/*
 * Control, executed by the core: choose a body, repeat one, map one over slices. Values cross
 * between a graph and its bodies as arguments at places; carried values live in two buffers that
 * take turns.
 */
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/runtime/frame.h"
#include "core/tensor/layout.h"

enum { MAX_RANK = 64 };

typedef struct tenon__control_state_t {
  uint32_t carried_count;
  tenon__growing_t* carried[2]; /* two buffers for each carried value */
  uint32_t scanned_count;
  tenon__growing_t* slices;
  uint32_t collected_count;
  tenon__growing_t* collected; /* [iterations, ...], capacity doubles */
  int64_t iteration;
  uint8_t condition;
} control_state_t;

typedef struct loop_t {
  tenon__frame_t* frame;
  uint32_t index;
  const tenon__step_t* step;
  const tenon__node_t* node;
  tenon__frame_t* body;
  control_state_t* state;
  uint32_t carried;
  uint32_t scanned;
  uint32_t collected;
  uint32_t captured;
  uint32_t first; /* inputs before the carried ones: trip count and condition, or none */
  uint32_t lead;  /* parameters before the carried ones: 0 or 2 */
  const int64_t* axes;
  const int64_t* directions;
} loop_t;

static const tenon__graph_t* graph_of(const tenon__frame_t* frame) {
  return frame->context->engine->plan->network->graphs[frame->graph];
}

static const tenon__value_node_t* value_at(const tenon__frame_t* frame, uint32_t place) {
  return &graph_of(frame)->values[frame->schedule->places[place].value];
}

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
  destroy_buffers(state->carried[0], state->carried_count, allocator);
  destroy_buffers(state->carried[1], state->carried_count, allocator);
  destroy_buffers(state->slices, state->scanned_count, allocator);
  destroy_buffers(state->collected, state->collected_count, allocator);
  tenon__free(allocator, state, sizeof *state);
}

static tenon_status_t create_state(loop_t* loop) {
  const tenon_allocator_t allocator = loop->frame->context->allocator;
  control_state_t* state = tenon__allocate(allocator, 1, sizeof *state);
  if (state == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  state->carried_count = loop->carried;
  state->scanned_count = loop->scanned;
  state->collected_count = loop->collected;
  state->carried[0] = create_buffers(allocator, loop->carried);
  state->carried[1] = create_buffers(allocator, loop->carried);
  state->slices = create_buffers(allocator, loop->scanned);
  state->collected = create_buffers(allocator, loop->collected);
  if (state->carried[0] == NULL || state->carried[1] == NULL || state->slices == NULL ||
      state->collected == NULL) {
    tenon__control_destroy(state, allocator);
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  loop->frame->controls[loop->index] = state;
  loop->state = state;
  return TENON_OK;
}

/* ---- Across the border ---- */

/* A body's parameter takes the argument; its memory is lent until the body has run. */
static tenon_status_t lend(tenon__frame_t* body, uint32_t parameter,
                           const tenon_argument_t* argument) {
  const uint32_t place = body->schedule->inputs[parameter];
  tenon__place_state_t* state = &body->places[place];
  bool changed = false;
  if (body->schedule->places[place].storage != TENON_STORAGE_PARAMETER) {
    return TENON_OK; /* a parameter that is a constant inside */
  }
  state->argument = *argument;
  if (argument->kind != TENON_ARGUMENT_TENSOR || value_at(body, place)->rank == TENON_NONE) {
    return TENON_OK;
  }
  state->data = argument->tensor.data;
  TENON_TRY(tenon__context_learn_shape(body->context, body->graph,
                                       body->schedule->places[place].value, argument->tensor.rank,
                                       argument->tensor.dims, &changed));
  if (changed) {
    tenon__extents_update(&body->context->extents);
  }
  return TENON_OK;
}

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

tenon_status_t tenon__frame_store(tenon__frame_t* frame, uint32_t place,
                                  const tenon_argument_t* argument) {
  const tenon__place_t* p = &frame->schedule->places[place];
  tenon__place_state_t* state = &frame->places[place];
  int64_t dims[MAX_RANK];
  int64_t strides[MAX_RANK];
  tenon_argument_t target;
  if (p->storage == TENON_STORAGE_GROWING) {
    TENON_TRY(tenon__growing_assign(state->growing, argument));
    state->data = state->growing->data;
    return TENON_OK;
  }
  bool changed = false;
  TENON_TRY(tenon__context_learn_shape(frame->context, frame->graph, p->value,
                                       argument->tensor.rank, argument->tensor.dims, &changed));
  if (changed) {
    tenon__extents_update(&frame->context->extents);
  }
  TENON_TRY(tenon__frame_argument(frame, place, dims, strides, &target));
  for (uint32_t k = 0; k < target.tensor.rank; ++k) {
    if (dims[k] != argument->tensor.dims[k]) {
      return tenon__fail(frame->context->engine->options.sink, TENON_ERROR_INVALID_DATA,
                         "a body's result has extent %lld on axis %u, the plan expects %lld",
                         (long long)argument->tensor.dims[k], k, (long long)dims[k]);
    }
  }
  return tenon__copy_tensor(&argument->tensor, &target.tensor);
}

/* ---- Choose ---- */

static tenon_status_t run_choose(tenon__frame_t* frame, uint32_t index) {
  const tenon__step_t* step = &frame->schedule->steps[index];
  const tenon__node_t* node = &graph_of(frame)->nodes[step->node];
  int64_t dims[MAX_RANK];
  int64_t strides[MAX_RANK];
  tenon_argument_t argument;
  TENON_TRY(tenon__frame_argument(frame, step->inputs[0], dims, strides, &argument));
  const bool taken = *(const uint8_t*)argument.tensor.data != 0;
  tenon__frame_t* body = &frame->context->frames[node->bodies[taken ? 0 : 1]];
  for (uint32_t k = 1; k < step->input_count; ++k) {
    TENON_TRY(tenon__frame_argument(frame, step->inputs[k], dims, strides, &argument));
    TENON_TRY(lend(body, k - 1, &argument));
  }
  TENON_TRY(tenon__frame_run(body));
  for (uint32_t k = 0; k < step->output_count; ++k) {
    if (step->outputs[k] == TENON_NONE) {
      continue;
    }
    TENON_TRY(tenon__frame_argument(body, body->schedule->outputs[k], dims, strides, &argument));
    TENON_TRY(tenon__frame_store(frame, step->outputs[k], &argument));
  }
  return TENON_OK;
}

/* ---- Repeat, map ---- */

static int64_t attribute_int(const tenon__node_t* node, const char* name) {
  const tenon__scope_attribute_t* a = name == NULL ? NULL : tenon__node_attribute(node, name);
  return a == NULL ? 0 : a->integer;
}

static const int64_t* attribute_list(const tenon__node_t* node, const char* name, uint32_t count) {
  const tenon__scope_attribute_t* a = name == NULL ? NULL : tenon__node_attribute(node, name);
  return a == NULL || a->count < count ? NULL : a->integers;
}

static void describe(loop_t* loop) {
  const tenon_control_t* control = loop->node->op->descriptor.control;
  loop->carried = (uint32_t)attribute_int(loop->node, control->carried_attribute);
  loop->scanned = (uint32_t)attribute_int(loop->node, control->scanned_attribute);
  loop->lead = control->passes_iteration != 0 ? 2 : 0;
  loop->collected = loop->node->output_count - loop->carried;
  loop->first = control->form == TENON_CONTROL_MAP ? 0 : 2;
  loop->captured = loop->step->input_count - loop->first - loop->carried - loop->scanned;
  const uint32_t count = loop->scanned + loop->collected;
  loop->axes = attribute_list(loop->node, control->axes_attribute, count);
  loop->directions = attribute_list(loop->node, control->directions_attribute, count);
}

static int64_t axis_of(const loop_t* loop, uint32_t which, uint32_t rank) {
  const int64_t axis = loop->axes == NULL ? 0 : loop->axes[which];
  return axis < 0 ? axis + (int64_t)rank : axis;
}

static bool is_backwards(const loop_t* loop, uint32_t which) {
  return loop->directions != NULL && loop->directions[which] != 0;
}

/* How often at most: the trip count, and the extents of what is sliced. */
static tenon_status_t trip_count(loop_t* loop, int64_t* out_count) {
  int64_t count = INT64_MAX;
  int64_t dims[MAX_RANK];
  int64_t strides[MAX_RANK];
  tenon_argument_t argument;
  if (loop->first > 0 && loop->step->inputs[0] != TENON_NONE) {
    TENON_TRY(outer(loop, 0, dims, strides, &argument));
    count = tenon__element_load(argument.tensor.data, argument.tensor.dtype, 0).i;
  }
  for (uint32_t k = 0; k < loop->scanned; ++k) {
    TENON_TRY(outer(loop, loop->first + loop->carried + k, dims, strides, &argument));
    const int64_t axis = axis_of(loop, k, argument.tensor.rank);
    if (axis < 0 || axis >= (int64_t)argument.tensor.rank) {
      return tenon__fail(loop->frame->context->engine->options.sink, TENON_ERROR_INVALID_DATA,
                         "%s: sliced input %u has rank %u, no axis %lld", loop->step->name, k,
                         argument.tensor.rank, (long long)axis);
    }
    count = dims[axis] < count ? dims[axis] : count;
  }
  *out_count = count < 0 ? 0 : count;
  return TENON_OK;
}

static tenon_status_t first_condition(loop_t* loop) {
  int64_t dims[MAX_RANK];
  int64_t strides[MAX_RANK];
  tenon_argument_t argument;
  loop->state->condition = 1;
  if (loop->first > 0 && loop->step->inputs[1] != TENON_NONE) {
    TENON_TRY(outer(loop, 1, dims, strides, &argument));
    loop->state->condition = *(const uint8_t*)argument.tensor.data;
  }
  return TENON_OK;
}

static tenon_status_t begin(loop_t* loop) {
  int64_t dims[MAX_RANK];
  int64_t strides[MAX_RANK];
  tenon_argument_t argument;
  for (uint32_t k = 0; k < loop->carried; ++k) {
    TENON_TRY(outer(loop, loop->first + k, dims, strides, &argument));
    TENON_TRY(tenon__growing_assign(&loop->state->carried[0][k], &argument));
  }
  for (uint32_t k = 0; k < loop->captured; ++k) {
    if (loop->step->inputs[loop->first + loop->carried + loop->scanned + k] == TENON_NONE) {
      continue;
    }
    TENON_TRY(
        outer(loop, loop->first + loop->carried + loop->scanned + k, dims, strides, &argument));
    TENON_TRY(lend(loop->body, loop->lead + loop->carried + loop->scanned + k, &argument));
  }
  for (uint32_t k = 0; k < loop->collected; ++k) {
    tenon__growing_clear(&loop->state->collected[k]);
  }
  return first_condition(loop);
}

/* Slice `iteration` of sliced input k, without its axis. */
static tenon_status_t lend_slice(loop_t* loop, uint32_t k, int64_t iteration) {
  int64_t dims[MAX_RANK];
  int64_t strides[MAX_RANK];
  tenon_argument_t argument;
  TENON_TRY(outer(loop, loop->first + loop->carried + k, dims, strides, &argument));
  const uint32_t axis = (uint32_t)axis_of(loop, k, argument.tensor.rank);
  const int64_t at = is_backwards(loop, k) ? dims[axis] - 1 - iteration : iteration;
  const int64_t size = (int64_t)tenon__dtype_bits(argument.tensor.dtype) / 8;
  argument.tensor.data = (char*)argument.tensor.data + at * strides[axis] * size;
  for (uint32_t d = axis; d + 1 < argument.tensor.rank; ++d) {
    dims[d] = dims[d + 1];
    strides[d] = strides[d + 1];
  }
  argument.tensor.rank -= 1;
  TENON_TRY(tenon__growing_assign(&loop->state->slices[k], &argument));
  argument = as_argument(&loop->state->slices[k], TENON_ARGUMENT_TENSOR);
  return lend(loop->body, loop->lead + loop->carried + k, &argument);
}

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
  tenon__growing_deinitialize(collected);
  *collected = larger;
  return TENON_OK;
}

/* Appends a body's result to what is collected: the leading extent grows by one. */
static tenon_status_t collect(loop_t* loop, uint32_t k, const tenon_argument_t* result,
                              int64_t iteration) {
  tenon__growing_t* collected = &loop->state->collected[k];
  const tenon_tensor_view_t* view = &result->tensor;
  int64_t dims[MAX_RANK];
  uint64_t count = 0;
  size_t bytes = 0;
  if (view->rank + 1 > MAX_RANK || !tenon__element_count(view->rank, view->dims, &count) ||
      !tenon__dtype_bytes(view->dtype, count, &bytes)) {
    return TENON_ERROR_INVALID_DATA;
  }
  for (uint32_t d = 0; d < view->rank; ++d) {
    if (iteration > 0 && collected->dims[d + 1] != view->dims[d]) {
      return tenon__fail(loop->frame->context->engine->options.sink, TENON_ERROR_INVALID_DATA,
                         "%s: result %u changes its extents from one iteration to the next",
                         loop->step->name, k);
    }
    dims[d + 1] = view->dims[d];
  }
  if (collected->capacity_bytes < (size_t)(iteration + 1) * bytes || collected->data == NULL) {
    dims[0] = 2 * (iteration + 1);
    TENON_TRY(enlarge(collected, view, dims, (size_t)iteration * bytes));
  }
  dims[0] = iteration + 1;
  TENON_TRY(tenon__growing_resize(collected, view->dtype, view->rank + 1, dims));
  tenon_tensor_view_t target = {.data = (char*)collected->data + (size_t)iteration * bytes,
                                .dims = collected->dims + 1,
                                .strides = collected->strides + 1,
                                .rank = view->rank,
                                .dtype = view->dtype};
  return tenon__copy_tensor(view, &target);
}

static tenon_status_t take_results(loop_t* loop, int64_t iteration) {
  int64_t dims[MAX_RANK];
  int64_t strides[MAX_RANK];
  tenon_argument_t argument;
  uint32_t result = 0;
  uint8_t condition = 1;
  if (loop->lead > 0) {
    TENON_TRY(tenon__frame_argument(loop->body, loop->body->schedule->outputs[result++], dims,
                                    strides, &argument));
    condition = *(const uint8_t*)argument.tensor.data;
  }
  for (uint32_t k = 0; k < loop->carried; ++k) {
    TENON_TRY(tenon__frame_argument(loop->body, loop->body->schedule->outputs[result++], dims,
                                    strides, &argument));
    TENON_TRY(tenon__growing_assign(&loop->state->carried[1][k], &argument));
  }
  for (uint32_t k = 0; k < loop->collected; ++k) {
    TENON_TRY(tenon__frame_argument(loop->body, loop->body->schedule->outputs[result++], dims,
                                    strides, &argument));
    TENON_TRY(collect(loop, k, &argument, iteration));
  }
  tenon__growing_t* swap = loop->state->carried[0];
  loop->state->carried[0] = loop->state->carried[1];
  loop->state->carried[1] = swap;
  loop->state->condition = condition;
  return TENON_OK;
}

static tenon_status_t run_iteration(loop_t* loop, int64_t iteration) {
  static const int64_t scalar[1] = {1};
  const tenon__graph_t* g = graph_of(loop->body);
  loop->state->iteration = iteration;
  if (loop->lead > 0) {
    tenon_argument_t lead = {.kind = TENON_ARGUMENT_TENSOR,
                             .tensor = {.data = &loop->state->iteration,
                                        .dims = scalar,
                                        .strides = scalar,
                                        .dtype = TENON_DTYPE_INT64}};
    /* A scalar, or the vector of one element that some formats declare. */
    lead.tensor.rank = g->values[g->inputs[0]].rank;
    TENON_TRY(lend(loop->body, 0, &lead));
    lead.tensor.data = &loop->state->condition;
    lead.tensor.dtype = TENON_DTYPE_BOOL;
    lead.tensor.rank = g->values[g->inputs[1]].rank;
    TENON_TRY(lend(loop->body, 1, &lead));
  }
  for (uint32_t k = 0; k < loop->carried; ++k) {
    const tenon_argument_t argument =
        as_argument(&loop->state->carried[0][k], g->values[g->inputs[loop->lead + k]].kind);
    TENON_TRY(lend(loop->body, loop->lead + k, &argument));
  }
  for (uint32_t k = 0; k < loop->scanned; ++k) {
    TENON_TRY(lend_slice(loop, k, iteration));
  }
  TENON_TRY(tenon__frame_run(loop->body));
  return take_results(loop, iteration);
}

/* What was collected, with the iterations along the axis and in the direction that was asked for.
 */
static tenon_status_t store_collected(loop_t* loop, uint32_t k, int64_t iterations) {
  tenon__growing_t* collected = &loop->state->collected[k];
  const uint32_t output = loop->step->outputs[loop->carried + k];
  const uint32_t which = loop->scanned + k;
  int64_t dims[MAX_RANK];
  int64_t strides[MAX_RANK];
  if (output == TENON_NONE) {
    return TENON_OK;
  }
  if (iterations == 0) {
    const tenon__value_node_t* value = value_at(loop->frame, output);
    for (uint32_t d = 0; d < value->rank; ++d) {
      dims[d] = 0;
      (void)tenon__extents_get(&loop->frame->context->extents, value->dims[d], &dims[d]);
    }
    dims[axis_of(loop, which, value->rank)] = 0;
    TENON_TRY(tenon__growing_resize(collected, value->dtype, value->rank, dims));
    const tenon_argument_t empty = as_argument(collected, TENON_ARGUMENT_TENSOR);
    return tenon__frame_store(loop->frame, output, &empty);
  }
  const uint32_t axis = (uint32_t)axis_of(loop, which, collected->rank);
  for (uint32_t d = 0, from = 1; d < collected->rank; ++d) {
    const uint32_t source = d == axis ? 0 : from++;
    dims[d] = collected->dims[source];
    strides[d] = collected->strides[source];
  }
  tenon_argument_t argument = as_argument(collected, TENON_ARGUMENT_TENSOR);
  if (is_backwards(loop, which)) {
    const int64_t size = (int64_t)tenon__dtype_bits(collected->dtype) / 8;
    argument.tensor.data = (char*)argument.tensor.data + (dims[axis] - 1) * strides[axis] * size;
    strides[axis] = -strides[axis];
  }
  argument.tensor.dims = dims;
  argument.tensor.strides = strides;
  return tenon__frame_store(loop->frame, output, &argument);
}

static tenon_status_t store_carried(loop_t* loop, uint32_t k) {
  const uint32_t output = loop->step->outputs[k];
  if (output == TENON_NONE) {
    return TENON_OK;
  }
  const tenon__value_node_t* value = value_at(loop->frame, output);
  const tenon_argument_t argument = as_argument(&loop->state->carried[0][k], value->kind);
  return tenon__frame_store(loop->frame, output, &argument);
}

static tenon_status_t run_repeat(tenon__frame_t* frame, uint32_t index) {
  loop_t loop = {.frame = frame, .index = index, .step = &frame->schedule->steps[index]};
  int64_t most = 0;
  int64_t iteration = 0;
  loop.node = &graph_of(frame)->nodes[loop.step->node];
  loop.body = &frame->context->frames[loop.node->bodies[0]];
  loop.state = frame->controls[index];
  describe(&loop);
  if (loop.state == NULL) {
    TENON_TRY(create_state(&loop));
  }
  TENON_TRY(trip_count(&loop, &most));
  TENON_TRY(begin(&loop));
  while (iteration < most && loop.state->condition != 0) {
    if (tenon__interrupt_is_wanted(&frame->context->interrupt)) {
      return TENON_ERROR_CANCELLED;
    }
    TENON_TRY(run_iteration(&loop, iteration));
    ++iteration;
  }
  for (uint32_t k = 0; k < loop.carried; ++k) {
    TENON_TRY(store_carried(&loop, k));
  }
  for (uint32_t k = 0; k < loop.collected; ++k) {
    TENON_TRY(store_collected(&loop, k, iteration));
  }
  return TENON_OK;
}

tenon_status_t tenon__control_run(tenon__frame_t* frame, uint32_t index) {
  return frame->schedule->steps[index].kind == TENON_STEP_CHOOSE ? run_choose(frame, index)
                                                                 : run_repeat(frame, index);
}
