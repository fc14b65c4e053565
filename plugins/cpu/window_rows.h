/*
 * The kernels over rows of pixels for one vector width. Included by window_baseline.c and its
 * siblings.
 *
 * A block of neighbouring pixels goes through all channels before the next one begins, so that the
 * input under the window stays in the first-level cache. Where the whole window lies inside,
 * several pixels share the loads of weights and of overlapping input; at the borders one pixel goes
 * alone with the taps it has.
 */
#ifndef TENON_CPU_WINDOW_ROWS_H_
#define TENON_CPU_WINDOW_ROWS_H_

#include <math.h>

#include "vector.h"
#include "window_kernels.h"

/* The taps [begin, end) of a row that lie inside for output pixel `pixel`. */
typedef struct taps_t {
  int64_t begin;
  int64_t end;
} taps_t;

INLINE int64_t first_column(const tenon__cpu_row_t* row, int64_t pixel) {
  return pixel * row->stride - row->pad;
}

INLINE taps_t taps_inside(const tenon__cpu_row_t* row, int64_t pixel) {
  const int64_t first = first_column(row, pixel);
  taps_t taps = {0, (int64_t)row->columns};
  if (first < 0) {
    taps.begin = (-first + row->dilation - 1) / row->dilation;
  }
  if (first + (taps.end - 1) * row->dilation >= row->width) {
    taps.end = row->width > first ? (row->width - first + row->dilation - 1) / row->dilation : 0;
  }
  taps.end = taps.end > taps.begin ? taps.end : taps.begin;
  return taps;
}

/* Pixels [begin, end) that have all taps inside. */
INLINE taps_t pixels_inside(const tenon__cpu_row_t* row) {
  const int64_t reach = ((int64_t)row->columns - 1) * row->dilation;
  taps_t pixels = {(row->pad + row->stride - 1) / row->stride, 0};
  const int64_t last =
      row->width - 1 - reach + row->pad; /* of the window's first column, plus pad */
  pixels.end = last < 0 ? 0 : last / row->stride + 1;
  pixels.begin = pixels.begin < row->out_width ? pixels.begin : row->out_width;
  pixels.end = pixels.end < row->out_width ? pixels.end : row->out_width;
  pixels.end = pixels.end > pixels.begin ? pixels.end : pixels.begin;
  return pixels;
}

INLINE vfloat_t load_lanes(const float* p, size_t lanes) {
  return lanes >= VECTOR_FLOATS ? vload(p) : vload_part(p, lanes);
}
INLINE void store_lanes(float* p, vfloat_t v, size_t lanes) {
  if (lanes >= VECTOR_FLOATS) {
    vstore(p, v);
  } else {
    vstore_part(p, v, lanes);
  }
}

/* One vector of channels of `pixels` neighbours whose windows lie inside. `columns` and `step` (the
 * stride, in pixels) are constants where it matters; the dilation is 1 then: they are parameters.
 * NOLINTNEXTLINE(readability-function-size) */
INLINE void depthwise_vector(const tenon__cpu_row_t* row, const float* x, float* y, size_t channel,
                             size_t lanes, int pixels, int columns, int step) {
  const vfloat_t bias = row->bias != NULL ? load_lanes(row->bias + channel, lanes) : vsplat(0.0F);
  vfloat_t sums[8];
  UNROLL for (int i = 0; i < pixels; i++) {
    sums[i] = bias;
  }
  const float* w = row->w + channel;
  const float* taps = x + channel;
  for (size_t r = 0; r < row->rows; r++) {
    vfloat_t weights[5];
    UNROLL for (int k = 0; k < columns; k++) {
      weights[k] = load_lanes(w + (size_t)k * row->w_stride, lanes);
    }
    UNROLL for (int j = 0; j < (pixels - 1) * step + columns; j++) {
      const vfloat_t value = load_lanes(taps + j * row->x_stride, lanes);
      UNROLL for (int i = 0; i < pixels; i++) {
        if (j >= i * step && j - i * step < columns) {
          sums[i] = vfma(value, weights[j - i * step], sums[i]);
        }
      }
    }
    w += row->w_row_stride;
    taps += row->x_row_stride;
  }
  const vfloat_t low = vsplat(row->low);
  const vfloat_t high = vsplat(row->high);
  UNROLL for (int i = 0; i < pixels; i++) {
    store_lanes(y + i * row->y_stride + channel, vmin(high, vmax(low, sums[i])), lanes);
  }
}

INLINE void depthwise_block(const tenon__cpu_row_t* row, int64_t pixel, int pixels, int columns,
                            int step) {
  const float* x = row->x + first_column(row, pixel) * row->x_stride;
  float* y = row->y + pixel * row->y_stride;
  size_t c = 0;
  for (; c + VECTOR_FLOATS <= row->channels; c += VECTOR_FLOATS) {
    depthwise_vector(row, x, y, c, VECTOR_FLOATS, pixels, columns, step);
  }
  if (c < row->channels) {
    depthwise_vector(row, x, y, c, row->channels - c, pixels, columns, step);
  }
}

/* Any window, with the taps given, one pixel. */
static void depthwise_pixel(const tenon__cpu_row_t* row, int64_t pixel, taps_t taps) {
  const float* x = row->x + first_column(row, pixel) * row->x_stride;
  float* y = row->y + pixel * row->y_stride;
  for (size_t c = 0; c < row->channels; c += VECTOR_FLOATS) {
    const size_t lanes = row->channels - c;
    vfloat_t sum = row->bias != NULL ? load_lanes(row->bias + c, lanes) : vsplat(0.0F);
    for (size_t r = 0; r < row->rows; r++) {
      const float* w = row->w + r * row->w_row_stride + c;
      const float* values = x + (ptrdiff_t)r * row->x_row_stride + c;
      for (int64_t k = taps.begin; k < taps.end; k++) {
        sum = vfma(load_lanes(values + k * row->dilation * row->x_stride, lanes),
                   load_lanes(w + (size_t)k * row->w_stride, lanes), sum);
      }
    }
    store_lanes(y + c, vmin(vsplat(row->high), vmax(vsplat(row->low), sum)), lanes);
  }
}

#define DEPTHWISE_RUN(name, pixels, columns, step)                               \
  static int64_t name(const tenon__cpu_row_t* row, int64_t pixel, int64_t end) { \
    for (; pixel + (pixels) <= end; pixel += (pixels)) {                         \
      depthwise_block(row, pixel, pixels, columns, step);                        \
    }                                                                            \
    return pixel;                                                                \
  }
DEPTHWISE_RUN(depthwise_3_1, 4, 3, 1)
DEPTHWISE_RUN(depthwise_3_2, 4, 3, 2)
DEPTHWISE_RUN(depthwise_5_1, 4, 5, 1)
DEPTHWISE_RUN(depthwise_5_2, 2, 5, 2)
DEPTHWISE_RUN(depthwise_3_1_single, 1, 3, 1)
DEPTHWISE_RUN(depthwise_5_1_single, 1, 5, 1)

static void depthwise_row(const tenon__cpu_row_t* row) {
  const taps_t inside = pixels_inside(row);
  int64_t pixel = 0;
  for (; pixel < inside.begin; pixel++) {
    depthwise_pixel(row, pixel, taps_inside(row, pixel));
  }
  if (row->dilation == 1 && row->columns == 3) {
    pixel = row->stride == 1   ? depthwise_3_1(row, pixel, inside.end)
            : row->stride == 2 ? depthwise_3_2(row, pixel, inside.end)
                               : pixel;
    pixel = depthwise_3_1_single(row, pixel, inside.end);
  } else if (row->dilation == 1 && row->columns == 5) {
    pixel = row->stride == 1   ? depthwise_5_1(row, pixel, inside.end)
            : row->stride == 2 ? depthwise_5_2(row, pixel, inside.end)
                               : pixel;
    pixel = depthwise_5_1_single(row, pixel, inside.end);
  }
  for (; pixel < row->out_width; pixel++) {
    depthwise_pixel(row, pixel, taps_inside(row, pixel));
  }
}

/* Pooling: combine(sum, x) over the taps inside. */
#define POOL_ROW(name, start, combine)                                                            \
  static void name(const tenon__cpu_row_t* row) {                                                 \
    for (int64_t pixel = 0; pixel < row->out_width; pixel++) {                                    \
      const taps_t taps = taps_inside(row, pixel);                                                \
      const float* x = row->x + first_column(row, pixel) * row->x_stride;                         \
      float* y = row->y + pixel * row->y_stride;                                                  \
      for (size_t c = 0; c < row->channels; c += VECTOR_FLOATS) {                                 \
        const size_t lanes = row->channels - c;                                                   \
        vfloat_t sum = vsplat(start);                                                             \
        for (size_t r = 0; r < row->rows; r++) {                                                  \
          const float* values = x + (ptrdiff_t)r * row->x_row_stride + c;                         \
          for (int64_t k = taps.begin; k < taps.end; k++) {                                       \
            const vfloat_t value = load_lanes(values + k * row->dilation * row->x_stride, lanes); \
            sum = combine;                                                                        \
          }                                                                                       \
        }                                                                                         \
        store_lanes(y + c, sum, lanes);                                                           \
      }                                                                                           \
    }                                                                                             \
  }
/* Nesting: a loop for each axis. NOLINTNEXTLINE(readability-function-size) */
POOL_ROW(max_row, -INFINITY, vselect(value != value, value, vmax(value, sum)))
/* Likewise. NOLINTNEXTLINE(readability-function-size) */
POOL_ROW(sum_row, 0.0F, sum + value)

const tenon__cpu_windows_t ISA(tenon__cpu_windows) = {
    .depthwise = depthwise_row,
    .max = max_row,
    .sum = sum_row,
};

#endif
