#include "core/runtime/transfer.h"

#include "core/base/status.h"
#include "core/runtime/frame.h"
#include "core/runtime/timing.h"
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

/* Pieces whose bytes follow one another, in the source at `strides`: one, but of values that lie at
 * a bound that is not their extent. */
typedef struct pieces_t {
  const char* source;
  char* target;
  size_t bytes;  /* of each */
  uint32_t rank; /* axes along which there are several */
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT]; /* in bytes */
} pieces_t;

/* Axes from behind are one piece as long as the elements follow one another. */
static bool cut(const tenon_tensor_view_t* source, pieces_t* inout_pieces) {
  const int64_t bits = tenon__dtype_bits(source->dtype);
  uint32_t rank = source->rank;
  uint64_t count = 1;
  while (rank > 0 && (source->dims[rank - 1] == 1 || source->strides[rank - 1] == (int64_t)count)) {
    count *= (uint64_t)source->dims[--rank];
  }
  inout_pieces->rank = rank;
  for (uint32_t d = 0; d < rank; ++d) {
    inout_pieces->dims[d] = source->dims[d];
    inout_pieces->strides[d] = source->strides[d] * bits / 8;
  }
  return (rank == 0 || bits % 8 == 0) &&
         tenon__dtype_bytes(source->dtype, count, &inout_pieces->bytes);
}

static bool is_empty(const tenon_tensor_view_t* view) {
  bool is_empty = false;
  for (uint32_t d = 0; d < view->rank; ++d) {
    is_empty = is_empty || view->dims[d] == 0;
  }
  return is_empty;
}

/* Both ends. */
static tenon_status_t find_ends(tenon__frame_t* frame, const tenon__step_t* step,
                                pieces_t* out_pieces) {
  const uint32_t from = step->inputs[0];
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  tenon_argument_t source;
  tenon_argument_t target;
  uint64_t count = 0;
  *out_pieces = (pieces_t){0};
  TENON_TRY(tenon__frame_argument(frame, from, dims, strides, &source));
  TENON_TRY(make_room(frame, step->outputs[0], &source.tensor));
  const bool is_cut = frame->schedule->places[from].at_bound && !is_empty(&source.tensor);
  if (is_cut && !cut(&source.tensor, out_pieces)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  out_pieces->source = source.tensor.data;
  TENON_TRY(tenon__frame_argument(frame, step->outputs[0], dims, strides, &target));
  out_pieces->target = target.tensor.data;
  return is_cut || (tenon__element_count(target.tensor.rank, dims, &count) &&
                    tenon__dtype_bytes(target.tensor.dtype, count, &out_pieces->bytes))
             ? TENON_OK
             : TENON_ERROR_INVALID_DATA;
}

static int32_t direction_of(const tenon__frame_t* frame, uint32_t index) {
  const uint32_t target = frame->schedule->steps[index].outputs[0];
  return frame->schedule->places[target].space != 0 ? TENON_COPY_TO_DEVICE : TENON_COPY_TO_HOST;
}

static tenon_status_t copy_pieces(const tenon__space_t* space, int32_t direction,
                                  const pieces_t* pieces) {
  int64_t at[TENON_RANK_LIMIT] = {0};
  const char* source = pieces->source;
  char* target = pieces->target;
  for (bool goes_on = true; goes_on;) {
    TENON_TRY(tenon__device_copy(space->memory.device, space->memory.stream, direction, target,
                                 source, pieces->bytes));
    target = target == NULL ? NULL : target + pieces->bytes;
    goes_on = false;
    for (uint32_t d = pieces->rank; d-- > 0 && !goes_on;) {
      goes_on = ++at[d] < pieces->dims[d];
      source += goes_on ? pieces->strides[d] : -(at[d] - 1) * pieces->strides[d];
      at[d] = goes_on ? at[d] : 0;
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__frame_transfer(tenon__frame_t* frame, uint32_t index) {
  const tenon__step_t* step = &frame->schedule->steps[index];
  tenon__space_t* space = &frame->context->spaces[step->device];
  pieces_t pieces;
  if (frame->steps[index].transfer == TENON_TRANSFER_NONE) {
    return TENON_OK;
  }
  const tenon_status_t status = find_ends(frame, step, &pieces);
  if (status != TENON_OK) {
    return tenon__frame_unfit(frame, step->name, step->inputs[0], status);
  }
  TENON_TRY(tenon__context_settle(frame->context, step->device));
  space->is_busy = true;
  space->run.edge = 0;
  if (frame->steps[index].transfer == TENON_TRANSFER_WITHIN) {
    return copy_pieces(space, TENON_COPY_WITHIN, &pieces);
  }
  TENON_TRY(tenon__timing_begin_copy(frame, index));
  TENON_TRY(copy_pieces(space, direction_of(frame, index), &pieces));
  return tenon__timing_end_copy(frame, index);
}
