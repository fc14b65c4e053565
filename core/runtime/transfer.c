#include "core/runtime/transfer.h"

#include "core/base/status.h"
#include "core/runtime/frame.h"
#include "core/runtime/unfit.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"

tenon_status_t tenon__context_settle(tenon__context_t* context, uint32_t device) {
  tenon_status_t status = TENON_OK;
  for (uint32_t d = 1; d < context->engine->plan->device_count; ++d) {
    const tenon_status_t own = d == device ? TENON_OK : tenon__space_settle(&context->spaces[d]);
    status = status == TENON_OK ? own : status;
  }
  return status;
}

/* Room for a tensor whose extents the run found. */
static tenon_status_t make_room(tenon__frame_t* frame, uint32_t place,
                                const tenon_tensor_view_t* view) {
  tenon__place_state_t* state = &frame->places[place];
  if (frame->schedule->places[place].storage == TENON_STORAGE_GROWING) {
    TENON_TRY(tenon__dynamic_buffer_resize(state->buffer, view->dtype, view->rank, view->dims));
    state->data = state->buffer->data;
  }
  return TENON_OK;
}

/* Both ends, as they lie: their bytes follow one another. */
static tenon_status_t find_ends(tenon__frame_t* frame, const tenon__step_t* step, void** out_source,
                                void** out_target, size_t* out_bytes) {
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  tenon_argument_t source;
  tenon_argument_t target;
  uint64_t count = 0;
  TENON_TRY(tenon__frame_argument(frame, step->inputs[0], dims, strides, &source));
  TENON_TRY(make_room(frame, step->outputs[0], &source.tensor));
  TENON_TRY(tenon__frame_argument(frame, step->outputs[0], dims, strides, &target));
  *out_source = source.tensor.data;
  *out_target = target.tensor.data;
  return tenon__element_count(target.tensor.rank, dims, &count) &&
                 tenon__dtype_bytes(target.tensor.dtype, count, out_bytes)
             ? TENON_OK
             : TENON_ERROR_INVALID_DATA;
}

static int32_t direction_of(const tenon__frame_t* frame, uint32_t index) {
  const uint32_t target = frame->schedule->steps[index].outputs[0];
  return frame->steps[index].transfer == TENON_TRANSFER_WITHIN ? TENON_COPY_WITHIN
         : frame->schedule->places[target].space != 0          ? TENON_COPY_TO_DEVICE
                                                               : TENON_COPY_TO_HOST;
}

tenon_status_t tenon__frame_transfer(tenon__frame_t* frame, uint32_t index) {
  const tenon__step_t* step = &frame->schedule->steps[index];
  tenon__space_t* space = &frame->context->spaces[step->device];
  void* source = NULL;
  void* target = NULL;
  size_t bytes = 0;
  if (frame->steps[index].transfer == TENON_TRANSFER_NONE) {
    return TENON_OK;
  }
  const tenon_status_t status = find_ends(frame, step, &source, &target, &bytes);
  if (status != TENON_OK) {
    return tenon__frame_unfit(frame, step->name, step->inputs[0], status);
  }
  TENON_TRY(tenon__context_settle(frame->context, step->device));
  space->is_busy = true;
  space->run.edge = 0;
  return tenon__device_copy(space->memory.device, space->memory.stream, direction_of(frame, index),
                            target, source, bytes);
}
