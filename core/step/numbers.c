/* Numbers in a value's memory, compared with the symbols and constants that the plan expects, and
 * the reverse: symbols written as numbers. */
#include "core/step/numbers.h"

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/frame/data_dependent.h"
#include "core/frame/frame.h"
#include "core/plan/place.h"
#include "core/step/transfer.h"
#include "core/tensor/layout.h"

/* ---- Learning ---- */

/* Where element `number`, counted row-major, lies; the tensor has one. False where that is within a
 * byte that no address names. */
static bool find_element(const tenon_tensor_view_t* view, uint32_t number, void** out_data,
                         uint64_t* out_index) {
  const int64_t bits = tenon__dtype_bits(view->dtype);
  int64_t rest = number;
  int64_t at = 0;
  *out_data = view->data;
  *out_index = number;
  if (bits < 8) {
    return tenon__strides_are_row_major(view->rank, view->dims, view->strides);
  }
  for (uint32_t d = view->rank; d-- > 0;) {
    at += rest % view->dims[d] * view->strides[d];
    rest /= view->dims[d];
  }
  *out_data = (char*)view->data + at * (bits / 8);
  *out_index = 0;
  return true;
}

static int64_t number_at(const tenon_tensor_view_t* view, void* data, uint64_t index) {
  const tenon__scalar_t element = tenon__element_load(data, view->dtype, index);
  return tenon__scalar_cast(element, tenon__dtype_arithmetic(view->dtype), TENON_DTYPE_INT64).i;
}

/* Numbers that shapes depend on. */
static void learn_numbers(const tenon__frame_t* frame, uint32_t place,
                          const tenon_tensor_view_t* view, bool* out_changed) {
  const tenon__value_node_t* value = tenon__frame_value(frame, place);
  const tenon__network_t* network = frame->run->engine->plan->network;
  tenon__extents_t* extents = &frame->run->extents;
  void* data = NULL;
  uint64_t index = 0;
  for (uint32_t c = 0; c < value->type.content_count; ++c) {
    const tenon__dim_view_t dim = tenon__dim_get(network->pool, value->type.contents[c]);
    const bool is_learnt = dim.kind == TENON_DIM_SYMBOL &&
                           (extents->symbol_known[dim.index] == 0 ||
                            tenon__symbol_get(network->pool, dim.index)->a == value->handle);
    if (!is_learnt || !find_element(view, c, &data, &index)) {
      continue;
    }
    const int64_t number = number_at(view, data, index);
    if (!extents->symbol_known[dim.index] || extents->symbol_values[dim.index] != number) {
      tenon__extents_set(extents, dim.index, number);
      *out_changed = true;
    }
  }
}

/* What the plan knows of the numbers was believed when shapes were made of them. */
static tenon_status_t compare_numbers(const tenon__frame_t* frame, uint32_t place,
                                      const tenon_tensor_view_t* view) {
  const tenon__value_node_t* value = tenon__frame_value(frame, place);
  void* data = NULL;
  uint64_t index = 0;
  for (uint32_t c = 0; c < value->type.content_count; ++c) {
    int64_t expected = 0;
    if (!tenon__extents_get(&frame->run->extents, value->type.contents[c], &expected) ||
        !find_element(view, c, &data, &index)) {
      continue;
    }
    const int64_t number = number_at(view, data, index);
    if (number != expected) {
      return tenon__fail(frame->run->engine->options.sink, TENON_ERROR_INVALID_DATA,
                         "element %u of '%s' is %lld, the plan expects %lld", c, value->name,
                         (long long)number, (long long)expected);
    }
  }
  return TENON_OK;
}

static tenon_status_t learn_contents(tenon__frame_t* frame, uint32_t place) {
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  tenon_argument_t argument;
  bool changed = false;
  if (frame->numbers[place] == 0) {
    return TENON_OK;
  }
  TENON_TRY(tenon__run_settle(frame->run, 0));
  TENON_TRY(tenon__frame_argument(frame, place, dims, strides, &argument));
  if (argument.tensor.data == NULL) {
    return TENON_OK;
  }
  if ((frame->numbers[place] & TENON_NUMBERS_LEARNT) != 0) {
    learn_numbers(frame, place, &argument.tensor, &changed);
  }
  if (changed) {
    tenon__extents_update(&frame->run->extents);
  }
  return (frame->numbers[place] & TENON_NUMBERS_COMPARED) != 0
             ? compare_numbers(frame, place, &argument.tensor)
             : TENON_OK;
}

tenon_status_t tenon__frame_learn(tenon__frame_t* frame, uint32_t place) {
  const uint32_t root = tenon__place_root(frame->schedule, place);
  tenon__place_state_t* state = &frame->places[root];
  const tenon__value_node_t* value = tenon__frame_value(frame, place);
  if (value->type.kind != TENON_ARGUMENT_TENSOR) {
    return TENON_OK;
  }
  if (frame->schedule->places[root].storage == TENON_STORAGE_GROWING && root == place &&
      state->buffer->was_set) {
    state->data = tenon__dynamic_buffer_data(state->buffer);
    TENON_TRY(tenon__run_find_shape(frame->run, frame->graph, frame->schedule->places[place].value,
                                    state->buffer->rank, state->buffer->dims));
  }
  tenon__frame_follow(frame);
  return learn_contents(frame, place);
}

/* ---- Writing ---- */

tenon_status_t tenon__frame_write_numbers(tenon__frame_t* frame, uint32_t place) {
  const tenon__value_node_t* value = tenon__frame_value(frame, place);
  tenon__place_state_t* state = &frame->places[place];
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  tenon_argument_t argument;
  if (frame->schedule->places[place].storage == TENON_STORAGE_GROWING) {
    if (!tenon__extents_shape(&frame->run->extents, value->type.rank, value->type.dims, dims)) {
      return tenon__fail(frame->run->engine->options.sink, TENON_ERROR_INTERNAL,
                         "the extents of '%s' are not known in time", value->name);
    }
    TENON_TRY(
        tenon__dynamic_buffer_resize(state->buffer, value->type.dtype, value->type.rank, dims));
    state->data = state->buffer->data;
  }
  TENON_TRY(tenon__frame_argument(frame, place, dims, strides, &argument));
  for (uint32_t c = 0; c < value->type.content_count; ++c) {
    int64_t number = 0;
    void* data = NULL;
    uint64_t index = 0;
    if (!tenon__extents_get(&frame->run->extents, value->type.contents[c], &number) ||
        !find_element(&argument.tensor, c, &data, &index)) {
      return tenon__fail(frame->run->engine->options.sink, TENON_ERROR_INTERNAL,
                         "the contents of '%s' are not known in time", value->name);
    }
    tenon__element_store(data, value->type.dtype, index, (tenon__scalar_t){.i = number},
                         TENON_DTYPE_INT64);
  }
  return TENON_OK;
}
