/* Depthwise convolution and pooling over rows of pixels whose channels lie together. */
#ifndef TENON_CPU_WINDOW_KERNELS_H_
#define TENON_CPU_WINDOW_KERNELS_H_

#include <stddef.h>
#include <stdint.h>

/* One row of output pixels, for a range of channels. A window is rows x columns of taps; the taps
 * that lie outside the input are left out: rows by the caller, columns here. Strides in floats. */
typedef struct tenon__cpu_row_t {
  const float* x;    /* first channel; pixel 0 of the input's first row in the window */
  float* y;          /* first channel; first pixel of the output row */
  const float* w;    /* taps [row][column][channel]; depthwise alone */
  const float* bias; /* depthwise: NULL or one for each channel */
  size_t channels;
  size_t w_stride;        /* from tap to tap */
  size_t w_row_stride;    /* from row of taps to row of taps */
  size_t rows;            /* rows of taps that lie inside */
  size_t columns;         /* taps in a row */
  ptrdiff_t x_stride;     /* from pixel to pixel */
  ptrdiff_t x_row_stride; /* from row of taps to row of taps: dilation included */
  ptrdiff_t y_stride;
  int64_t width; /* of the input */
  int64_t out_width;
  int64_t stride;
  int64_t dilation;
  int64_t pad;
  float low; /* depthwise: clamp */
  float high;
} tenon__cpu_row_t;

typedef void (*tenon__cpu_row_function_t)(const tenon__cpu_row_t* row);

typedef struct tenon__cpu_windows_t {
  tenon__cpu_row_function_t depthwise;
  tenon__cpu_row_function_t max; /* NaN where any element is */
  tenon__cpu_row_function_t sum; /* of the taps inside */
} tenon__cpu_windows_t;

extern const tenon__cpu_windows_t tenon__cpu_windows_baseline;
extern const tenon__cpu_windows_t tenon__cpu_windows_avx2;
extern const tenon__cpu_windows_t tenon__cpu_windows_avx512;

#endif
