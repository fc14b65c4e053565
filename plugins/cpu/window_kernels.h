/*
 * Convolution of small groups, depthwise convolution among them, and pooling. The channels of a pixel
 * are adjacent. Vectors run along channels, and neighbouring pixels share the loads of
 * weights. window_rows.inc has the code.
 */
#ifndef TENON_CPU_WINDOW_KERNELS_H_
#define TENON_CPU_WINDOW_KERNELS_H_

#include <stddef.h>
#include <stdint.h>

/* One row of output pixels, for a range of channels. A window is rows x columns of taps; the
 * taps that lie outside the input are left out: rows by the caller, columns here. Strides in
 * floats. Nothing beyond `channels` is touched. */
typedef struct tenon__cpu_row_t {
  /* First channel; pixel 0 of the input's first row in the window. */
  const float* x;
  /* First channel; first pixel of the output row. */
  float* y;
  /* Grouped: taps [row][column][input of a group][channel]. */
  const float* w;
  /* Grouped: NULL or one for each channel. */
  const float* bias;
  size_t channels;
  /* Grouped: inputs and outputs of a group, 1 (depthwise), 2, 4 or 8; `channels` is a multiple. */
  size_t group;
  size_t w_input_stride; /* from input to input of a group */
  size_t w_stride;       /* from tap to tap */
  size_t w_row_stride;   /* from row of taps to row of taps */
  /* Rows of taps that lie inside; 0 gives the bias, or what a pool starts from. */
  size_t rows;
  size_t columns; /* taps in a row */
  /* From pixel to pixel; x_row_stride from row of taps to row of taps, dilation included. */
  ptrdiff_t x_stride;
  ptrdiff_t x_row_stride; /* from row of taps to row of taps: dilation included */
  ptrdiff_t y_stride;
  /* Of the input, in pixels; stride, dilation and pad are along it, pad before it. */
  int64_t width;
  int64_t out_width;
  int64_t stride;
  int64_t dilation;
  int64_t pad;
  /* Grouped: clamp; -inf and inf for none. NaN passes. */
  float low;
  float high;
} tenon__cpu_row_t;

typedef void (*tenon__cpu_row_function_t)(const tenon__cpu_row_t* row);

/* The functions of one instruction set. Constant. */
typedef struct tenon__cpu_windows_t {
  /* Convolution of small groups, of at most as many channels as a vector has lanes. f32 sums start at
   * the bias and add tap by tap, with fused multiply-add if the processor has it. Padding is skipped,
   * so the caller handles 0 times infinity. */
  tenon__cpu_row_function_t grouped;
  /* NaN where any element is; -inf where the window has none. */
  tenon__cpu_row_function_t max;
  /* Of the taps inside: who averages divides. */
  tenon__cpu_row_function_t sum;
} tenon__cpu_windows_t;

extern const tenon__cpu_windows_t tenon__cpu_windows_baseline;
extern const tenon__cpu_windows_t tenon__cpu_windows_avx2;
extern const tenon__cpu_windows_t tenon__cpu_windows_avx512;

#endif
