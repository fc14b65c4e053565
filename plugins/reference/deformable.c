/*
 * Deformable convolution: every tap of every window is displaced by an offset, read between pixels,
 * and weighted by a mask. offset is [N, groups taps 2, oh, ow], mask [N, groups taps, oh, ow].
 */
#include <math.h>

#include "kernels.h"
#include "windows.h"

/* Between the four pixels around (row, column); pixels outside are 0. */
static double between(const tenon__number_t* plane, const int64_t* dims, double row,
                      double column) {
  double top = floor(row);
  double left = floor(column);
  double sum = 0.0;
  for (int corner = 0; corner < 4; ++corner) {
    double r = corner < 2 ? top : top + 1.0;
    double c = corner % 2 == 0 ? left : left + 1.0;
    if (r >= 0.0 && r < (double)dims[0] && c >= 0.0 && c < (double)dims[1]) {
      double weight = (1.0 - fabs(row - r)) * (1.0 - fabs(column - c));
      sum += weight * plane[(int64_t)r * dims[1] + (int64_t)c].f;
    }
  }
  return sum;
}

typedef struct deformable_t {
  tenon__windows_t windows;
  const tenon__array_t* x;
  const tenon__array_t* offset;
  const tenon__array_t* mask;
  int64_t offset_groups;
} deformable_t;

/* Tap `tap` of channel `c` of image `n` for the window at (row, column). */
static double displaced(const deformable_t* from, int64_t n, int64_t c, int64_t tap, int64_t row,
                        int64_t column) {
  const tenon__windows_t* windows = &from->windows;
  const int64_t* dims = from->x->dims;
  int64_t points = windows->output[1] * windows->output[2];
  int64_t taps = windows->kernel[1] * windows->kernel[2];
  int64_t group = c / (dims[1] / from->offset_groups);
  int64_t entry = ((n * from->offset_groups + group) * taps + tap);
  int64_t point = row * windows->output[2] + column;
  int64_t tap_row = tap / windows->kernel[2] * windows->dilation[1];
  int64_t tap_column = tap % windows->kernel[2] * windows->dilation[2];
  double r = (double)(row * windows->stride[1] - windows->begin[1] + tap_row) +
             from->offset->at[entry * 2 * points + point].f;
  double q = (double)(column * windows->stride[2] - windows->begin[2] + tap_column) +
             from->offset->at[(entry * 2 + 1) * points + point].f;
  double weight = from->mask == NULL ? 1.0 : from->mask->at[entry * points + point].f;
  return weight * between(from->x->at + (n * dims[1] + c) * dims[2] * dims[3], dims + 2, r, q);
}

tenon_status_t tenon__compute_deformable_convolution(tenon__work_t* work) {
  const tenon__array_t* w = tenon__work_input(work, 1);
  const tenon__array_t* bias = tenon__work_input(work, 3);
  tenon__array_t* y = tenon__work_output(work, 0);
  deformable_t from = {.x = tenon__work_input(work, 0),
                       .offset = tenon__work_input(work, 2),
                       .mask = tenon__work_input(work, 4),
                       .offset_groups = tenon__work_int(work, "offset_groups")};
  if (from.x->rank != 4 || !tenon__windows_of(work, from.x, y, w->dims + 2, &from.windows)) {
    return tenon__work_fail(work, "x has rank %u, not 4", from.x->rank);
  }
  int64_t channels = w->dims[1];
  int64_t group_outputs = y->dims[1] / tenon__work_int(work, "groups");
  int64_t taps = w->dims[2] * w->dims[3];
  int64_t points = y->dims[2] * y->dims[3];
  for (int64_t place = 0; place < y->count && !tenon__work_is_cancelled(work); ++place) {
    int64_t n = place / points / y->dims[1];
    int64_t m = place / points % y->dims[1];
    double sum = bias == NULL ? 0.0 : bias->at[m].f;
    for (int64_t item = 0; item < channels * taps; ++item) {
      int64_t c = m / group_outputs * channels + item / taps;
      sum += w->at[m * channels * taps + item].f *
             displaced(&from, n, c, item % taps, place % points / y->dims[3], place % y->dims[3]);
    }
    y->at[place].f = sum;
  }
  return TENON_OK;
}
