/*
 * The insides of the convolution kernel, shared by the files that prepare and run it. Channels last
 * throughout: the output is a matrix with a row a pixel and a column a channel, and the weights are
 * its right factor, packed into panels (product.h).
 *
 *   convolution.c          match, tactics, prepare
 *   convolution_weights.c  weights into panels, once or in each run
 *   convolution_run.c      bind: which path; enqueue: tasks
 *   gather.c, band.c, small_groups.c   a path each
 *
 * Elements outside of the image are zero. Sums are f32, in the order that product.h states. The path
 * of small groups starts at the bias and adds tap by tap. Contexts share an instance and do not write
 * it. A bound convolution belongs to one context, and each run sets its grid.
 */
#ifndef TENON_CPU_CONVOLUTION_H_
#define TENON_CPU_CONVOLUTION_H_

#include "epilogue.h"
#include "rows.h"
#include "window.h"

/* Numbers of its slots. */
enum { TENON_CPU_EPILOGUE = 0, TENON_CPU_PROLOGUE = 1 };

/* Which way a convolution goes: decided when extents are bound, the first that fits in this
 * order. */
typedef enum tenon__cpu_path_t {
  /* Small groups: vectors along channels instead of a matrix product. One or two axes. */
  TENON_CPU_PATH_SMALL_GROUPS,
  /* A 1 x 1 window: rows of the product are the image's pixels, read where they are, or gathered
   * through the prologue. */
  TENON_CPU_PATH_PIXELS,
  /* Rows of windows, read from the image or a copied band of it: each pixel is copied once, not
   * once a tap. */
  TENON_CPU_PATH_LINES,
  /* Anything: each window gathered into a row. */
  TENON_CPU_PATH_PATCHES,
} tenon__cpu_path_t;

/* What prepare makes. Extents of images are not known here. */
typedef struct tenon__cpu_convolution_t {
  const tenon__cpu_isa_t* isa;
  tenon__cpu_window_t window;
  bool small_groups; /* 1, 2, 4 or 8 inputs and as many outputs in each group */
  int64_t groups;
  /* Of a group; so are out_channels. */
  int64_t in_channels;
  int64_t out_channels; /* of a group */
  /* Of a group's product: taps x in_channels, tap by tap. */
  size_t depth;
  /* [groups][packed_group], lent by the host; NULL: in each run, into the shared part of
   * scratch. */
  const float* packed;
  size_t packed_group; /* floats of one group's weights */
  /* Of scratch, before the threads' parts; 0 when weights were packed once. */
  size_t shared_bytes;
  /* Region inputs: x, weights, bias; TENON_NONE: no bias. */
  uint32_t x;
  uint32_t w;
  uint32_t bias;     /* TENON_NONE: none */
  size_t slot_bytes; /* of a thread's part of scratch */
  /* Of a slot, for bands, patches or what a prologue makes; then the epilogue's, then the
   * prologue's. */
  size_t image_bytes;
  size_t epilogue_bytes;
  tenon__cpu_epilogue_t epilogue;
  tenon__cpu_program_t* prologue; /* NULL: x is read as it is; else the window is 1 x 1 */
} tenon__cpu_convolution_t;

/* What bind makes, for the extents at hand. */
typedef struct tenon__cpu_bound_convolution_t {
  const tenon__cpu_convolution_t* convolution;
  /* Fitted: its padding is that of these extents. */
  tenon__cpu_window_t window;
  tenon__cpu_image_t x;
  tenon__cpu_image_t y;
  tenon__cpu_path_t path;
  tenon__cpu_bound_epilogue_t* epilogue;
  tenon__cpu_rows_t* prologue; /* NULL: none */
  tenon__cpu_grid_t grid;
  /* PIXELS, PATCHES: runs of rows within which the images advance evenly, each a product of its
   * own. */
  size_t segments;
  size_t segment_rows;
  /* PIXELS: floats from row to row of x; y_step likewise of y, on every path. */
  size_t x_step;
  size_t y_step;
  /* LINES: into a band; else windows leave the image nowhere and its lines are read as they lie. */
  bool copies;
  /* Of a line in the band, padding included. */
  int64_t band_pixels;
  size_t band_line; /* floats from line to line of the band */
  /* Of the output, that one task computes at most. */
  int64_t band_rows;
} tenon__cpu_bound_convolution_t;

/* A call, for the bodies that run in parallel; on the stack of enqueue. */
typedef struct tenon__cpu_convolution_call_t {
  const tenon__cpu_bound_convolution_t* bound;
  const tenon_argument_t* inputs;
  const float* x;
  float* y;
  const float* packed;
  char* scratch; /* of the threads: slot_bytes each */
  tenon__cpu_epilogue_call_t epilogue;
  /* SMALL_GROUPS: channels of a task, a multiple of 16 where there are several. */
  int64_t channel_step;
} tenon__cpu_convolution_call_t;

/* Returns the number of floats of the packed weights of all groups. Small groups have one more: 1 if
 * all weights are finite, else 0. If a weight is not finite, padding counts, because 0 times
 * infinity is NaN. */
size_t tenon__cpu_convolution_floats(bool small_groups, int64_t groups, size_t packed_group);
/* convolution_weights.c: asks the host for packed memory, by a format and parameters that name
 * the layout, and fills it unless a plan brought it. INVALID_STATE when it must be filled and
 * the weights are gone. pack_now is its twin for weights that are no constants: in parallel,
 * before the run begins; returns where they are. */
tenon_status_t tenon__cpu_convolution_pack_once(tenon__cpu_convolution_t* inout_convolution,
                                                tenon__cpu_region_t region,
                                                tenon__cpu_preparation_t* preparation);
const float* tenon__cpu_convolution_pack_now(const tenon__cpu_convolution_t* convolution,
                                             const float* w, const tenon_enqueue_t* call);

/* convolution_run.c */
tenon_status_t tenon__cpu_convolution_bind(void* instance, tenon_binding_t* handle,
                                           const tenon_bind_table_t* host, void** out_bound);
tenon_status_t tenon__cpu_convolution_enqueue(const tenon_enqueue_t* call);

/* Fills in what every product of the convolution has: weights, output, epilogue. `first_row`:
 * the number of its first row among all output pixels. *out_shifted must live as long as the
 * product. */
void tenon__cpu_convolution_product(const tenon__cpu_convolution_call_t* call, size_t group,
                                    size_t first_row, const tenon__cpu_epilogue_task_t* finish,
                                    tenon__cpu_shifted_finish_t* out_shifted,
                                    tenon__cpu_product_t* inout_product);

/* Pixel coordinates of an image from the number of a row: batch, then the axes, outermost first. */
typedef struct tenon__cpu_pixel_t {
  int64_t batch;
  int64_t at[TENON_CPU_AXES];
} tenon__cpu_pixel_t;
tenon__cpu_pixel_t tenon__cpu_pixel_of(const tenon__cpu_image_t* image, size_t row);
/* In elements from the image's first. */
int64_t tenon__cpu_pixel_offset(const tenon__cpu_image_t* image, tenon__cpu_pixel_t pixel);
void tenon__cpu_pixel_next(const tenon__cpu_image_t* image, tenon__cpu_pixel_t* inout_pixel);

/* gather.c: patches of a group, or pixels as the prologue makes them; the `gather` of a product,
 * whose user is one of these. */
typedef struct tenon__cpu_patches_t {
  const tenon__cpu_bound_convolution_t* bound;
  const float* x; /* the group's first channel */
  size_t first_row;
  const tenon_argument_t* inputs; /* of the prologue */
  char* buffers;
} tenon__cpu_patches_t;
void tenon__cpu_gather_patches(const void* user, size_t row, size_t rows, size_t depth_begin,
                               size_t depth, float* out, size_t out_stride);

/* band.c: takes the path LINES where it can: one image plane deep, no dilation along lines,
 * output rows even in memory, and a band that fits its part of scratch. Else the bound
 * convolution stays as it was. */
void tenon__cpu_band_plan(tenon__cpu_bound_convolution_t* inout_bound);
/* For sizing scratch before extents are bound: a band of at least one row of output, of
 * TENON_CPU_BAND_BYTES where that holds more. 0: it would be above TENON_CPU_LARGEST_BAND, or
 * the window is none for bands. */
size_t tenon__cpu_band_bytes(const tenon__cpu_window_t* window, int64_t channels, int64_t height,
                             int64_t width);
/* How many tasks; sets the grid: bands of rows, and parts of the panels where there are fewer
 * bands than threads. */
uint32_t tenon__cpu_band_tasks(tenon__cpu_bound_convolution_t* inout_bound, uint32_t threads);
void tenon__cpu_band_task(void* user, uint32_t index, uint32_t thread);

/* small_groups.c: a task is a row of output pixels, or a part of its channels where there are few
 * rows. */
uint32_t tenon__cpu_small_groups_tasks(tenon__cpu_convolution_call_t* inout_call, uint32_t threads);
void tenon__cpu_small_groups_task(void* user, uint32_t index, uint32_t thread);

#endif
