/* The geometry that convolutions and pools share: a window that slides over up to three spatial
 * axes. */
#ifndef TENON_CPU_WINDOW_H_
#define TENON_CPU_WINDOW_H_

#include "cpu.h"

/* Spatial axes. */
enum { TENON_CPU_AXES = 3 };

/* Attribute auto_pad: EXPLICIT has attribute pads, VALID none; SAME as much as ceil(extent /
 * stride) outputs need. */
typedef enum tenon__cpu_padding_t {
  TENON_CPU_PADDING_EXPLICIT,
  TENON_CPU_PADDING_SAME_UPPER,
  TENON_CPU_PADDING_SAME_LOWER,
  TENON_CPU_PADDING_VALID,
} tenon__cpu_padding_t;

/* Always three axes: missing ones stand first, with extent 1. An image of rank 3 has its width
 * in axis 2. */
typedef struct tenon__cpu_window_t {
  uint32_t rank; /* spatial axes that are there */
  tenon__cpu_padding_t padding;
  int64_t kernel[TENON_CPU_AXES];
  int64_t stride[TENON_CPU_AXES];
  int64_t dilation[TENON_CPU_AXES];
  /* Elements before the image; of SAME known when extents are. What is behind follows from the
   * output. */
  int64_t pad_begin[TENON_CPU_AXES];
} tenon__cpu_window_t;

/* Images in memory: [batch, channels, three axes], strides in elements; 0 for axes that are
 * missing. */
typedef struct tenon__cpu_image_t {
  int64_t batch;
  int64_t channels;
  int64_t extent[TENON_CPU_AXES];
  int64_t batch_stride;
  int64_t channel_stride;
  int64_t stride[TENON_CPU_AXES];
} tenon__cpu_image_t;

/* Reads strides, dilations, pads and auto_pad of node 0; `kernel`: `rank` extents of the window. */
void tenon__cpu_window_read(tenon__cpu_region_t region, uint32_t rank, const int64_t* kernel,
                            tenon__cpu_window_t* out_window);
/* Sets pad_begin where the padding follows from the extents `in` and `out`, three each: the odd
 * one behind, or before for SAME_LOWER. */
void tenon__cpu_window_fit(tenon__cpu_window_t* window, const int64_t* in, const int64_t* out);
/* Of a tensor [N, C, spatial...] of rank 3 to 5, whatever its strides. */
void tenon__cpu_image_read(const tenon_tensor_view_t* view, tenon__cpu_image_t* out_image);
/* What a convolution asks of the region's input number `input`: images and full operands of the
 * slot with channels last, weights and bias as they are, small operands in any strides. */
void tenon__cpu_image_rule(tenon__cpu_region_t region, uint32_t input,
                           tenon_argument_rule_t* out_rule);
/* Channels last, whatever the strides. */
void tenon__cpu_output_rule(uint32_t rank, tenon_argument_rule_t* out_rule);
/* Bands: lines of an image, copied with zeros around them, in a thread's scratch. Half of a
 * small second-level cache; where one output row needs more, up to the second. */
enum {
  TENON_CPU_BAND_BYTES = 256 * 1024, /* half of a small second-level cache */
  TENON_CPU_LARGEST_BAND = 2 * 1024 * 1024
};
/* From line to line of a band: a multiple of 64 bytes, but not of a page, which would put their
 * elements into few cache sets. */
size_t tenon__cpu_line_floats(int64_t pixels, int64_t channels);
/* Which of `count` taps, at first + k * step, lie in [low, high): k from *out_begin to the
 * result, which is *out_begin when none does. */
int64_t tenon__cpu_taps_between(int64_t first, int64_t step, int64_t count, int64_t low,
                                int64_t high, int64_t* out_begin);
/* Taps of the window. */
int64_t tenon__cpu_window_taps(const tenon__cpu_window_t* window);
/* Pixels of an image, of one of the batch. */
int64_t tenon__cpu_image_pixels(const tenon__cpu_image_t* image);
/* The distance between neighbouring pixels when all pixels of all images follow one another
 * evenly in memory, else 0; of a single pixel the number of channels. */
int64_t tenon__cpu_image_even_stride(const tenon__cpu_image_t* image);

#endif
