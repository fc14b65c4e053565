/*
 * col2im: x is [N, C taps, windows]; every tap of every window is added to the pixel that it came
 * from. Any number of spatial axes.
 */
#include "kernels.h"

enum { MAX_SPATIAL = 8 };

/* How windows of `taps` lie over the image. */
typedef struct layout_t {
  uint32_t rank;
  const int64_t* image;
  int64_t taps[MAX_SPATIAL];
  int64_t windows[MAX_SPATIAL];
  tenon__integers_t strides;
  tenon__integers_t dilations;
  tenon__integers_t pads;
} layout_t;

/* The pixel of tap `tap` of window `window`; -1 in the padding. */
static int64_t pixel_of(const layout_t* layout, int64_t window, int64_t tap) {
  int64_t pixel = 0;
  int64_t step = 1;
  for (uint32_t axis = layout->rank; axis-- > 0;) {
    int64_t at = window % layout->windows[axis] * tenon__integers_at(layout->strides, axis, 1) +
                 tap % layout->taps[axis] * tenon__integers_at(layout->dilations, axis, 1) -
                 tenon__integers_at(layout->pads, axis, 0);
    window /= layout->windows[axis];
    tap /= layout->taps[axis];
    if (at < 0 || at >= layout->image[axis]) {
      return -1;
    }
    pixel += at * step;
    step *= layout->image[axis];
  }
  return pixel;
}

static tenon_status_t read_layout(const tenon__work_t* work, layout_t* out_layout) {
  const tenon__array_t* y = &work->outputs[0];
  const tenon__array_t* block = tenon__work_input(work, 2);
  *out_layout = (layout_t){.rank = y->rank - 2,
                           .image = y->dims + 2,
                           .strides = tenon__work_ints(work, "strides"),
                           .dilations = tenon__work_ints(work, "dilations"),
                           .pads = tenon__work_ints(work, "pads")};
  if (out_layout->rank > MAX_SPATIAL || block->count != out_layout->rank) {
    return tenon__work_fail(work, "a block of %lld axes, an image of %u", (long long)block->count,
                            out_layout->rank);
  }
  for (uint32_t axis = 0; axis < out_layout->rank; ++axis) {
    int64_t taps = block->at[axis].i;
    int64_t reach = (taps - 1) * tenon__integers_at(out_layout->dilations, axis, 1) + 1;
    int64_t padded = y->dims[axis + 2] + tenon__integers_at(out_layout->pads, axis, 0) +
                     tenon__integers_at(out_layout->pads, axis + out_layout->rank, 0);
    out_layout->taps[axis] = taps;
    out_layout->windows[axis] =
        (padded - reach) / tenon__integers_at(out_layout->strides, axis, 1) + 1;
  }
  return TENON_OK;
}

tenon_status_t tenon__compute_col2im(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  tenon__array_t* y = tenon__work_output(work, 0);
  layout_t layout;
  tenon_status_t status = read_layout(work, &layout);
  if (status != TENON_OK) {
    return status;
  }
  int64_t taps = tenon__dims_product(layout.taps, 0, layout.rank);
  int64_t windows = tenon__dims_product(layout.windows, 0, layout.rank);
  int64_t pixels = tenon__dims_product(layout.image, 0, layout.rank);
  if (x->dims[x->rank - 1] != windows) {
    return tenon__work_fail(work, "x has %lld windows, the image %lld",
                            (long long)x->dims[x->rank - 1], (long long)windows);
  }
  for (int64_t place = 0; place < y->count; ++place) {
    y->at[place].i = 0; /* 0.0 too */
  }
  for (int64_t place = 0; place < x->count; ++place) {
    int64_t slice = place / windows / taps;
    int64_t pixel = pixel_of(&layout, place % windows, place / windows % taps);
    if (pixel >= 0) {
      tenon__number_t* to = &y->at[slice * pixels + pixel];
      *to = tenon__number_add(y->dtype, *to, x->at[place]);
    }
  }
  return TENON_OK;
}
