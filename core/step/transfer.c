/* Copies of whole tensors between the host and devices, and waits of the host for devices. */
#include "core/step/transfer.h"

#include "core/base/status.h"
#include "core/frame/frame.h"
#include "core/frame/pieces.h"
#include "core/frame/unfit.h"
#include "core/step/timing.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"

tenon_status_t tenon__run_settle(tenon__run_state_t* run, uint32_t device) {
  tenon_status_t status = TENON_OK;
  for (uint32_t d = 1; d < run->engine->plan->device_count; ++d) {
    const tenon_status_t own = d == device ? TENON_OK : tenon__space_settle(&run->spaces[d]);
    status = status == TENON_OK ? own : status;
  }
  return status;
}

tenon_status_t tenon__run_settle_for_host(tenon__run_state_t* run) {
  tenon_status_t status = TENON_OK;
  for (uint32_t d = 1; d < run->engine->plan->device_count; ++d) {
    tenon__space_t* space = &run->spaces[d];
    const tenon_status_t own = space->writes_host ? tenon__space_settle(space) : TENON_OK;
    status = status == TENON_OK ? own : status;
  }
  return status;
}

/* Room for a tensor whose extents the run found. An output that stays on the device has it in the
 * application's memory. */
static tenon_status_t make_room(tenon__frame_t* frame, uint32_t place, bool stays,
                                const tenon_tensor_view_t* view) {
  tenon__place_state_t* state = &frame->places[place];
  if (frame->schedule->places[place].storage != TENON_STORAGE_GROWING) {
    return TENON_OK;
  }
  if (stays) {
    return tenon__dynamic_buffer_borrow(state->buffer, view->dtype, view->rank, view->dims,
                                        state->data);
  }
  TENON_TRY(tenon__dynamic_buffer_resize(state->buffer, view->dtype, view->rank, view->dims));
  state->data = state->buffer->data;
  return TENON_OK;
}

static bool is_empty(const tenon_tensor_view_t* view) {
  bool is_empty = false;
  for (uint32_t d = 0; d < view->rank; ++d) {
    is_empty = is_empty || view->dims[d] == 0;
  }
  return is_empty;
}

/* Both ends: one piece, but of values that lie at a bound that is not their extent. */
static tenon_status_t find_ends(tenon__frame_t* frame, uint32_t index,
                                tenon__pieces_t* out_pieces) {
  const tenon__step_t* step = &frame->schedule->steps[index];
  const bool stays = frame->steps[index].transfer == TENON_TRANSFER_WITHIN;
  const uint32_t from = step->inputs[0];
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  int64_t target_dims[TENON_RANK_LIMIT];
  int64_t target_strides[TENON_RANK_LIMIT];
  tenon_argument_t source;
  tenon_argument_t target;
  uint64_t count = 0;
  TENON_TRY(tenon__frame_argument(frame, from, dims, strides, &source));
  TENON_TRY(make_room(frame, step->outputs[0], stays, &source.tensor));
  TENON_TRY(tenon__frame_argument(frame, step->outputs[0], target_dims, target_strides, &target));
  if (frame->schedule->places[from].at_bound && !is_empty(&source.tensor)) {
    return tenon__pieces_cut(&source.tensor, &target.tensor, out_pieces) ? TENON_OK
                                                                         : TENON_ERROR_UNSUPPORTED;
  }
  *out_pieces = (tenon__pieces_t){.source = source.tensor.data, .target = target.tensor.data};
  return tenon__element_count(target.tensor.rank, target_dims, &count) &&
                 tenon__dtype_bytes(target.tensor.dtype, count, &out_pieces->bytes)
             ? TENON_OK
             : TENON_ERROR_INVALID_DATA;
}

static int32_t direction_of(const tenon__frame_t* frame, uint32_t index) {
  const uint32_t target = frame->schedule->steps[index].outputs[0];
  return frame->schedule->places[target].space != 0 ? TENON_COPY_TO_DEVICE : TENON_COPY_TO_HOST;
}

tenon_status_t tenon__frame_transfer(tenon__frame_t* frame, uint32_t index) {
  const tenon__step_t* step = &frame->schedule->steps[index];
  tenon__space_t* space = &frame->run->spaces[step->device];
  tenon__pieces_t pieces;
  if (frame->steps[index].transfer == TENON_TRANSFER_NONE) {
    return TENON_OK;
  }
  const tenon_status_t status = find_ends(frame, index, &pieces);
  if (status != TENON_OK) {
    return tenon__frame_unfit(frame, step->name, step->inputs[0], status);
  }
  TENON_TRY(tenon__run_settle(frame->run, step->device));
  space->is_busy = true;
  space->run.edge = 0;
  if (frame->steps[index].transfer == TENON_TRANSFER_WITHIN) {
    return tenon__pieces_copy(space, TENON_COPY_WITHIN, &pieces);
  }
  space->writes_host = space->writes_host || direction_of(frame, index) == TENON_COPY_TO_HOST;
  TENON_TRY(tenon__timing_begin_copy(frame, index));
  TENON_TRY(tenon__pieces_copy(space, direction_of(frame, index), &pieces));
  return tenon__timing_end_copy(frame, index);
}
