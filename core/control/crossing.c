/* Arguments between a graph and its bodies: lent if they are dense rows that the body does not
 * overwrite, else copied by the host or the device that has them. */
#include "core/control/crossing.h"

#include <string.h>

#include "core/base/status.h"
#include "core/frame/copy.h"
#include "core/frame/data_dependent.h"
#include "core/frame/frame.h"
#include "core/frame/pieces.h"
#include "core/step/transfer.h"
#include "core/tensor/layout.h"

static const tenon_sink_t* sink_of(const tenon__frame_t* frame) {
  return frame->run->engine->options.sink;
}

/* What is lent outlives neither the caller's arrays nor the next argument in them. */
static void keep_shape(tenon__place_state_t* state) {
  tenon_tensor_view_t* view = &state->argument.tensor;
  if (view->rank > 0) {
    memcpy(state->dims, view->dims, view->rank * sizeof *state->dims);
    memcpy(state->strides, view->strides, view->rank * sizeof *state->strides);
  }
  state->rank = view->rank;
  view->dims = state->dims;
  view->strides = state->strides;
}

tenon_status_t tenon__frame_set_parameter(tenon__frame_t* body, uint32_t parameter,
                                          const tenon_argument_t* argument) {
  const uint32_t place = body->schedule->inputs[parameter];
  tenon__place_state_t* state = &body->places[place];
  const tenon_tensor_view_t* view = &argument->tensor;
  state->argument = *argument;
  if (argument->kind != TENON_ARGUMENT_TENSOR) {
    return TENON_OK;
  }
  TENON_TRY(tenon__run_find_shape(body->run, body->graph, body->schedule->places[place].value,
                                  view->rank, view->dims));
  if (view->rank > TENON_RANK_LIMIT ||
      !tenon__strides_are_row_major(view->rank, view->dims, view->strides)) {
    return tenon__fail(sink_of(body), TENON_ERROR_INVALID_DATA,
                       "'%s' of a body is to be a tensor of rank %u that does not lie in rows",
                       tenon__frame_value(body, place)->name, view->rank);
  }
  body->version += state->data != view->data ? 1 : 0;
  state->data = view->data;
  keep_shape(state);
  return TENON_OK;
}

tenon_status_t tenon__run_copy(tenon__run_state_t* run, uint32_t space,
                               const tenon_tensor_view_t* source,
                               const tenon_tensor_view_t* target) {
  tenon__pieces_t pieces;
  uint64_t count = 0;
  if (space == 0) {
    TENON_TRY(tenon__run_settle(run, 0));
    return tenon__copy_tensor(source, target);
  }
  if (!tenon__element_count(source->rank, source->dims, &count)) {
    return TENON_ERROR_INVALID_DATA;
  }
  if (count == 0) {
    return TENON_OK;
  }
  if (!tenon__pieces_cut(source, target, &pieces)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  run->spaces[space].is_busy = true;
  run->spaces[space].run.edge = 0;
  return tenon__pieces_copy(&run->spaces[space], TENON_COPY_WITHIN, &pieces);
}

tenon_status_t tenon__run_assign(tenon__run_state_t* run, uint32_t space,
                                 tenon__dynamic_buffer_t* buffer,
                                 const tenon_argument_t* argument) {
  const tenon_tensor_view_t* view = &argument->tensor;
  if (space == 0) {
    TENON_TRY(tenon__run_settle(run, 0));
    return tenon__dynamic_buffer_assign(buffer, argument);
  }
  TENON_TRY(tenon__dynamic_buffer_resize(buffer, view->dtype, view->rank, view->dims));
  const tenon_argument_t target = tenon__dynamic_buffer_argument(buffer);
  return tenon__run_copy(run, space, view, &target.tensor);
}

tenon_status_t tenon__frame_store(tenon__frame_t* frame, uint32_t place,
                                  const tenon_argument_t* argument) {
  const tenon__place_t* p = &frame->schedule->places[place];
  tenon__place_state_t* state = &frame->places[place];
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  tenon_argument_t target;
  if (p->storage == TENON_STORAGE_GROWING) {
    TENON_TRY(tenon__run_assign(frame->run, p->space, state->buffer, argument));
    state->data = state->buffer->data;
    return TENON_OK;
  }
  TENON_TRY(tenon__run_find_shape(frame->run, frame->graph, p->value, argument->tensor.rank,
                                  argument->tensor.dims));
  TENON_TRY(tenon__frame_argument(frame, place, dims, strides, &target));
  return tenon__run_copy(frame->run, p->space, &argument->tensor, &target.tensor);
}

tenon_status_t tenon__frame_scalar(tenon__frame_t* frame, uint32_t place, int64_t* out_number) {
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  tenon_argument_t argument;
  uint64_t count = 0;
  TENON_TRY(tenon__run_settle_for_host(frame->run));
  TENON_TRY(tenon__frame_argument(frame, place, dims, strides, &argument));
  const tenon_tensor_view_t* view = &argument.tensor;
  if (argument.kind != TENON_ARGUMENT_TENSOR || view->data == NULL ||
      !tenon__element_count(view->rank, dims, &count) || count != 1) {
    return tenon__fail(sink_of(frame), TENON_ERROR_INVALID_DATA,
                       "'%s' is to be one number, it has %llu elements",
                       tenon__frame_value(frame, place)->name, (unsigned long long)count);
  }
  const tenon__scalar_t element = tenon__element_load(view->data, view->dtype, 0);
  *out_number =
      tenon__scalar_cast(element, tenon__dtype_arithmetic(view->dtype), TENON_DTYPE_INT64).i;
  return TENON_OK;
}
