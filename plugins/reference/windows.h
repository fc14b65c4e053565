/* Windows that move over spatial axes: convolutions and pools. Fewer than 3 spatial axes get
 * extents of 1. */
#ifndef PLUGINS_REFERENCE_WINDOWS_H_
#define PLUGINS_REFERENCE_WINDOWS_H_

#include "work.h"

typedef struct tenon__windows_t {
  int64_t batch;
  int64_t input_channels;
  int64_t output_channels;
  int64_t input[3];
  int64_t output[3];
  int64_t kernel[3];
  int64_t stride[3];
  int64_t dilation[3];
  int64_t begin[3]; /* padding */
  int64_t end[3];
} tenon__windows_t;

/* From extents of x and y (both [N, C, spatial...]), kernel extents (one for each spatial axis of
 * x), and the attributes strides, dilations, pads, auto_pad. False when there are more than 3
 * spatial axes. */
bool tenon__windows_of(const tenon__work_t* work, const tenon__array_t* x, const tenon__array_t* y,
                       const int64_t* kernel, tenon__windows_t* out_windows);
/* The same for deconvolution, where the roles of x and y are swapped and output_shape decides on
 * pads. */
bool tenon__windows_transposed(const tenon__work_t* work, const tenon__array_t* x,
                               const tenon__array_t* y, const int64_t* kernel,
                               tenon__windows_t* out_windows);

/* A point of 3 axes, for loops over boxes; starts at zeros. */
typedef struct tenon__point3_t {
  int64_t at[3];
} tenon__point3_t;
bool tenon__point3_next(tenon__point3_t* point, const int64_t* dims);
int64_t tenon__point3_place(tenon__point3_t point, const int64_t* dims);
/* Where in x element `tap` of the window at `at` lies; false in the padding. */
bool tenon__windows_tap(const tenon__windows_t* windows, tenon__point3_t at, tenon__point3_t tap,
                        tenon__point3_t* out_source);

#endif
