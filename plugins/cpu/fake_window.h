/* A window that slides over an image, tap by tap, for tests that compare with plain loops. */
#ifndef TENON_CPU_FAKE_WINDOW_H_
#define TENON_CPU_FAKE_WINDOW_H_

#include <stdbool.h>
#include <stdint.h>

/* Each array has one entry for each of the `rank` spatial axes. `pads` has those at the ends behind
 * those at the beginnings. */
typedef struct fake_window_t {
  uint32_t rank;
  const int64_t* extent;
  const int64_t* kernel;
  const int64_t* stride;
  const int64_t* dilation;
  const int64_t* pads;
} fake_window_t;

typedef struct fake_tap_t {
  int64_t pixel; /* that the tap reads, if `is_inside` */
  bool is_inside;
  bool is_padded; /* within the image or its padding */
} fake_tap_t;

/* Returns the place of tap number `tap` of the window whose output pixel is `at`. */
static inline fake_tap_t fake_tap(const fake_window_t* window, const int64_t* at, int64_t tap) {
  fake_tap_t result = {0, true, true};
  int64_t step = 1;
  for (uint32_t k = window->rank; k-- > 0;) {
    const int64_t extent = window->extent[k];
    const int64_t p =
        at[k] * window->stride[k] - window->pads[k] + tap % window->kernel[k] * window->dilation[k];
    tap /= window->kernel[k];
    result.is_inside = result.is_inside && p >= 0 && p < extent;
    result.is_padded = result.is_padded && p < extent + window->pads[window->rank + k];
    result.pixel += p * step;
    step *= extent;
  }
  return result;
}

#endif
