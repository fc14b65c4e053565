/* A strided copy as pieces: axes are sorted by their stride in the source, and the innermost ones
 * that are dense in both tensors are one piece. The device copies each piece with one call. */
#include "core/frame/pieces.h"

#include "core/base/status.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"

/* One axis on both sides, in elements. */
typedef struct axis_t {
  int64_t extent;
  int64_t source;
  int64_t target;
} axis_t;

static bool comes_before(const axis_t* a, const axis_t* b) {
  const int64_t left = a->source < 0 ? -a->source : a->source;
  const int64_t right = b->source < 0 ? -b->source : b->source;
  return left > right;
}

/* Those along which there are several elements, the source's longest way first. */
static uint32_t list_axes(const tenon_tensor_view_t* source, const tenon_tensor_view_t* target,
                          axis_t* out_axes) {
  uint32_t count = 0;
  for (uint32_t d = 0; d < source->rank; ++d) {
    if (source->dims[d] == 1) {
      continue;
    }
    const axis_t axis = {source->dims[d], source->strides[d], target->strides[d]};
    uint32_t at = count++;
    for (; at > 0 && comes_before(&axis, &out_axes[at - 1]); --at) {
      out_axes[at] = out_axes[at - 1];
    }
    out_axes[at] = axis;
  }
  return count;
}

bool tenon__pieces_cut(const tenon_tensor_view_t* source, const tenon_tensor_view_t* target,
                       tenon__pieces_t* out_pieces) {
  const int64_t bits = tenon__dtype_bits(source->dtype);
  axis_t axes[TENON_RANK_LIMIT];
  uint64_t count = 1;
  uint64_t all = 0;
  uint32_t rank = list_axes(source, target, axes);
  while (rank > 0 && axes[rank - 1].source == (int64_t)count &&
         axes[rank - 1].target == (int64_t)count) {
    count *= (uint64_t)axes[--rank].extent;
  }
  *out_pieces = (tenon__pieces_t){.source = source->data, .target = target->data, .rank = rank};
  for (uint32_t d = 0; d < rank; ++d) {
    out_pieces->dims[d] = axes[d].extent;
    out_pieces->source_strides[d] = axes[d].source * bits / 8;
    out_pieces->target_strides[d] = axes[d].target * bits / 8;
  }
  return tenon__element_count(source->rank, source->dims, &all) && (rank == 0 || bits % 8 == 0) &&
         tenon__dtype_bytes(source->dtype, count, &out_pieces->bytes);
}

tenon_status_t tenon__pieces_copy(const tenon__space_t* space, int32_t direction,
                                  const tenon__pieces_t* pieces) {
  int64_t at[TENON_RANK_LIMIT] = {0};
  const char* source = pieces->source;
  char* target = pieces->target;
  for (bool goes_on = true; goes_on;) {
    TENON_TRY(tenon__device_copy(space->memory.device, space->memory.stream, direction, target,
                                 source, pieces->bytes));
    goes_on = false;
    for (uint32_t d = pieces->rank; d-- > 0 && !goes_on;) {
      goes_on = ++at[d] < pieces->dims[d];
      const int64_t steps = goes_on ? 1 : -(at[d] - 1);
      source += steps * pieces->source_strides[d];
      target += steps * pieces->target_strides[d];
      at[d] = goes_on ? at[d] : 0;
    }
  }
  return TENON_OK;
}
