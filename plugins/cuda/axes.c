/* Joining axes, and writing them as parameters. */
#include "axes.h"

#include <string.h>

/* ---- Joining ---- */

static uint64_t distance(int64_t stride) {
  return stride < 0 ? (uint64_t)0 - (uint64_t)stride : (uint64_t)stride;
}

/* Outermost first; axes along which the main walk does not vary stay where they are. */
static uint32_t order_axes(const tenon__cuda_space_t* space, uint64_t mask,
                           uint32_t out_order[TENON_CUDA_AXES]) {
  uint32_t count = 0;
  for (uint32_t place = 0; place < space->rank; place++) {
    const uint32_t axis = space->order == NULL ? place : space->order[place];
    if ((mask >> axis & 1) == 0 || space->extents[axis] == 1) {
      continue;
    }
    uint32_t at = count++;
    const uint64_t own = distance(space->strides[axis][space->main]);
    while (at > 0 && own != 0 && space->order == NULL &&
           distance(space->strides[out_order[at - 1]][space->main]) < own &&
           space->strides[out_order[at - 1]][space->main] != 0) {
      out_order[at] = out_order[at - 1];
      at--;
    }
    out_order[at] = axis;
  }
  return count;
}

/* Whether `outer` goes on where `inner` ends, for all walks. */
static bool continues(const tenon__cuda_axes_t* axes, uint32_t outer,
                      const int64_t strides[TENON_CUDA_WALKS], int64_t extent) {
  for (uint32_t w = 0; w < axes->walk_count; w++) {
    if (axes->strides[outer][w] != strides[w] * extent) {
      return false;
    }
  }
  return true;
}

void tenon__cuda_axes_join(const tenon__cuda_space_t* space, uint64_t mask,
                           tenon__cuda_axes_t* out) {
  uint32_t order[TENON_CUDA_AXES];
  const uint32_t count = order_axes(space, mask, order);
  memset(out, 0, sizeof(*out));
  out->walk_count = space->walk_count;
  for (uint32_t k = 0; k < count; k++) {
    const int64_t* strides = space->strides[order[k]];
    const int64_t extent = space->extents[order[k]];
    if (out->rank > 0 && continues(out, out->rank - 1, strides, extent)) {
      out->extents[out->rank - 1] *= extent;
    } else {
      out->extents[out->rank++] = extent;
    }
    memcpy(out->strides[out->rank - 1], strides, space->walk_count * sizeof(int64_t));
  }
  if (out->rank == 0) {
    out->rank = 1;
    out->extents[0] = 1;
  }
}

int64_t tenon__cuda_axes_count(const tenon__cuda_axes_t* axes) {
  int64_t count = 1;
  for (uint32_t k = 0; k < axes->rank; k++) {
    count *= axes->extents[k];
  }
  return count;
}

/* ---- Parameters ---- */

tenon__cuda_layout_t tenon__cuda_layout_of(const tenon__cuda_analysis_t* analysis) {
  const uint32_t rank = analysis->program->rank;
  const size_t walks = analysis->walk_count;
  const size_t indexed = analysis->indexed_count == 0 ? 1 : analysis->indexed_count;
  const size_t axes = rank == 0 ? 1 : rank;
  const size_t axes_bytes = 8 + axes * 12 + axes * walks * 4;
  tenon__cuda_layout_t layout = {.walks = (uint32_t)walks, .axes = (uint32_t)axes};
  layout.indexed = walks * 8;
  layout.dims = layout.indexed + indexed * 8;
  layout.strides = layout.dims + indexed * 64;
  layout.size = layout.strides + indexed * 64;
  layout.fault = layout.size + 64;
  layout.partials = layout.fault + 8;
  layout.limit = layout.partials + 8;
  layout.counts = layout.limit + 8;
  layout.step = layout.counts + 24;
  layout.wide = layout.step + walks * 4;
  layout.outer = layout.wide + walks * 4;
  layout.inner = layout.outer + axes_bytes;
  layout.total = (layout.inner + axes_bytes + 7) / 8 * 8;
  return layout;
}

void tenon__cuda_find_multiplier(uint32_t extent, uint32_t* out_multiplier, uint32_t* out_shift) {
  uint32_t bits = 0;
  while (((uint64_t)1 << bits) < extent) {
    bits++;
  }
  *out_shift = bits == 0 ? 0 : bits - 1;
  *out_multiplier =
      bits == 0 ? 0 : (uint32_t)((((uint64_t)1 << (31 + bits)) + extent - 1) / extent);
}

static void put(uint8_t* parameters, size_t offset, uint32_t value) {
  memcpy(parameters + offset, &value, sizeof(value));
}

bool tenon__cuda_axes_write(const tenon__cuda_axes_t* axes, const tenon__cuda_layout_t* layout,
                            size_t offset, uint8_t* parameters) {
  const size_t extents = offset + 8;
  const size_t multipliers = extents + (size_t)layout->axes * 4;
  const size_t shifts = multipliers + (size_t)layout->axes * 4;
  const size_t strides = shifts + (size_t)layout->axes * 4;
  put(parameters, offset, axes->rank);
  for (uint32_t k = 0; k < axes->rank; k++) {
    uint32_t multiplier = 0;
    uint32_t shift = 0;
    if (axes->extents[k] < 0 || axes->extents[k] > INT32_MAX) {
      return false;
    }
    tenon__cuda_find_multiplier((uint32_t)axes->extents[k], &multiplier, &shift);
    put(parameters, extents + (size_t)k * 4, (uint32_t)axes->extents[k]);
    put(parameters, multipliers + (size_t)k * 4, multiplier);
    put(parameters, shifts + (size_t)k * 4, shift);
    for (uint32_t w = 0; w < axes->walk_count; w++) {
      const int64_t stride = axes->strides[k][w];
      if (stride < INT32_MIN || stride > INT32_MAX) {
        return false;
      }
      put(parameters, strides + ((size_t)k * layout->walks + w) * 4, (uint32_t)(int32_t)stride);
    }
  }
  return true;
}
