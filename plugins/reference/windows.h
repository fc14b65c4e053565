/*
 * Windows that move over spatial axes: convolutions and pools. All have 3 spatial axes here; of
 * fewer the tensor's stand last, and those before have extent 1, kernel 1, stride 1 and no padding:
 * [N, C, W] is {1, 1, W}.
 */
#ifndef PLUGINS_REFERENCE_WINDOWS_H_
#define PLUGINS_REFERENCE_WINDOWS_H_

#include "work.h"

/* Geometry in elements. output = (input + begin + end - reach) / stride + 1, where reach =
 * (kernel - 1) dilation + 1. */
typedef struct tenon__windows_t {
  int64_t batch;
  /* All of x's and y's, whatever the groups. */
  int64_t input_channels;
  int64_t output_channels;
  int64_t input[3];
  int64_t output[3];
  int64_t kernel[3];
  int64_t stride[3];
  int64_t dilation[3];
  /* Padding before and behind; negative pads cut. */
  int64_t begin[3];
  int64_t end[3];
} tenon__windows_t;

/* From extents of x and y (both [N, C, spatial...]), kernel extents (one for each spatial axis
 * of x), and the attributes strides, dilations, pads, auto_pad. same_upper has the odd padding
 * behind, same_lower before. False when there are no or more than 3 spatial axes. */
bool tenon__windows_of(const tenon__work_t* work, const tenon__array_t* x, const tenon__array_t* y,
                       const int64_t* kernel, tenon__windows_t* out_windows);
/* The same for deconvolution, where the roles of x and y are swapped: `input` are x's extents,
 * and the window at x's point covers y. Where output_shape is given, or auto_pad, pads are what
 * remains. */
bool tenon__windows_transposed(const tenon__work_t* work, const tenon__array_t* x,
                               const tenon__array_t* y, const int64_t* kernel,
                               tenon__windows_t* out_windows);

/* A point of 3 axes, for loops over boxes: begin with zeros, go on by tenon__point3_next until
 * it is false. */
typedef struct tenon__point3_t {
  int64_t at[3];
} tenon__point3_t;
bool tenon__point3_next(tenon__point3_t* point, const int64_t* dims);
/* Row-major, in elements. */
int64_t tenon__point3_place(tenon__point3_t point, const int64_t* dims);
/* Where in x element `tap` of the window at `at` lies; false in the padding, and then
 * *out_source lies outside of x. */
bool tenon__windows_tap(const tenon__windows_t* windows, tenon__point3_t at, tenon__point3_t tap,
                        tenon__point3_t* out_source);

#endif
