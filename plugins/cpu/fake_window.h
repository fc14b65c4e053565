/* The window of a convolution, for the plain loops of tests. */
#ifndef TENON_CPU_FAKE_WINDOW_H_
#define TENON_CPU_FAKE_WINDOW_H_

#include "fake_host.h"

/* All arrays are indexed by spatial axis. `pads` has the begins of all axes, then
 * the ends. */
typedef struct fake_window_t {
  uint32_t rank;
  const int64_t* extent; /* of the image */
  const int64_t* kernel;
  const int64_t* stride;
  const int64_t* dilation;
  const int64_t* pads;
} fake_window_t;

/* Returns the extent of the output. */
static inline int64_t fake_window_extent(const fake_window_t* w, uint32_t axis) {
  const int64_t reach = (w->kernel[axis] - 1) * w->dilation[axis] + 1;
  const int64_t padded = w->extent[axis] + w->pads[axis] + w->pads[w->rank + axis];
  return (padded - reach) / (w->stride[axis] > 0 ? w->stride[axis] : 1) + 1;
}

typedef struct fake_tap_t {
  int64_t pixel;  /* that the tap reads, or -1 outside of the image */
  bool is_padded; /* within the image or its padding */
} fake_tap_t;

/* Returns the place of tap `tap` of the output pixel `at`. */
static inline fake_tap_t fake_window_tap(const fake_window_t* w, const int64_t* at, int64_t tap) {
  fake_tap_t result = {0, true};
  int64_t step = 1;
  bool inside = true;
  for (uint32_t k = w->rank; k-- > 0;) {
    const int64_t p = at[k] * w->stride[k] - w->pads[k] + tap % w->kernel[k] * w->dilation[k];
    tap /= w->kernel[k];
    inside = inside && p >= 0 && p < w->extent[k];
    result.is_padded = result.is_padded && p < w->extent[k] + w->pads[w->rank + k];
    result.pixel += p * step;
    step *= w->extent[k];
  }
  result.pixel = inside ? result.pixel : -1;
  return result;
}

/* Returns the index of the pixel that tap `tap` of the output pixel `at` reads, or -1 outside of the
 * image. */
static inline int64_t fake_window_pixel(const fake_window_t* w, const int64_t* at, int64_t tap) {
  return fake_window_tap(w, at, tap).pixel;
}

/* Computes the coordinates of pixel `pixel` of an image. */
static inline void fake_pixel_at(uint32_t rank, const int64_t* extent, int64_t pixel,
                                 int64_t* out_at) {
  for (uint32_t k = rank; k-- > 0;) {
    out_at[k] = pixel % extent[k]; /* positive. NOLINT(clang-analyzer-core.DivideZero) */
    pixel /= extent[k];
  }
}

#endif
