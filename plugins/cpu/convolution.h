/* The insides of the convolution kernel, shared by the files that prepare and run it. */
#ifndef TENON_CPU_CONVOLUTION_H_
#define TENON_CPU_CONVOLUTION_H_

#include "epilogue.h"
#include "window.h"

/* Which way a convolution goes. */
typedef enum tenon__cpu_path_t {
  TENON_CPU_PATH_DEPTHWISE, /* each channel alone */
  TENON_CPU_PATH_PIXELS,    /* a 1 x 1 window: rows of the product are the image's pixels */
  TENON_CPU_PATH_LINES,     /* rows of windows, read from the image or a copied band of it */
  TENON_CPU_PATH_PATCHES,   /* anything: each window gathered into a row */
} tenon__cpu_path_t;

typedef struct tenon__cpu_convolution_t {
  const tenon__cpu_isa_t* isa;
  tenon__cpu_window_t window;
  bool depthwise;
  int64_t groups;
  int64_t in_channels;  /* of a group */
  int64_t out_channels; /* of a group */
  size_t depth;         /* of a group's product */
  const float* packed;  /* NULL: in each run, into the shared part of scratch */
  size_t packed_group;  /* floats of one group's weights */
  size_t shared_bytes;  /* of scratch, before the threads' parts */
  uint32_t x;           /* region inputs */
  uint32_t w;
  uint32_t bias; /* TENON_NONE: none */
  size_t slot_bytes;
  size_t image_bytes; /* of a slot's scratch, for bands or patches; the rest is the epilogue's */
  tenon__cpu_epilogue_t epilogue;
} tenon__cpu_convolution_t;

typedef struct tenon__cpu_bound_convolution_t {
  const tenon__cpu_convolution_t* convolution;
  tenon__cpu_window_t window; /* fitted */
  tenon__cpu_image_t x;
  tenon__cpu_image_t y;
  tenon__cpu_path_t path;
  tenon__cpu_bound_epilogue_t* epilogue;
  tenon__cpu_grid_t grid;
  size_t segments; /* PIXELS, PATCHES: runs of rows within which the images advance evenly */
  size_t segment_rows;
  size_t x_step; /* PIXELS: from row to row */
  size_t y_step;
  bool copies;         /* LINES: into a band */
  int64_t band_pixels; /* of a line in the band */
  size_t band_line;    /* floats from line to line */
  int64_t band_rows;   /* of the output, at most */
} tenon__cpu_bound_convolution_t;

/* A call, for the bodies that run in parallel. */
typedef struct tenon__cpu_convolution_call_t {
  const tenon__cpu_bound_convolution_t* bound;
  const float* x;
  float* y;
  const float* packed;
  char* scratch; /* of the threads */
  tenon__cpu_epilogue_call_t epilogue;
  /* Depthwise: channels of a task. */
  int64_t channel_step;
} tenon__cpu_convolution_call_t;

/* convolution_weights.c: packed when preparing, or in a run; that returns where they are. Floats of
 * all groups' packed weights, and of what a depthwise convolution notes behind them. */
size_t tenon__cpu_convolution_floats(bool depthwise, int64_t groups, size_t packed_group);
tenon_status_t tenon__cpu_convolution_pack_once(tenon__cpu_convolution_t* inout_convolution,
                                                tenon__cpu_region_t region,
                                                tenon__cpu_preparation_t* preparation);
const float* tenon__cpu_convolution_pack_now(const tenon__cpu_convolution_t* convolution,
                                             const float* w, const tenon_enqueue_t* call);

/* convolution_run.c */
tenon_status_t tenon__cpu_convolution_bind(void* instance, tenon_binding_t* handle,
                                           const tenon_bind_table_t* host, void** out_bound);
tenon_status_t tenon__cpu_convolution_enqueue(const tenon_enqueue_t* call);

/* Fills in what every product of the convolution has: weights, output, epilogue. `first_row`: the
 * number of its first row among all output pixels. */
void tenon__cpu_convolution_product(const tenon__cpu_convolution_call_t* call, size_t group,
                                    size_t first_row, const tenon__cpu_epilogue_task_t* finish,
                                    tenon__cpu_shifted_finish_t* out_shifted,
                                    tenon__cpu_product_t* inout_product);

/* Pixel coordinates of an image from the number of a row. */
typedef struct tenon__cpu_pixel_t {
  int64_t batch;
  int64_t at[TENON_CPU_AXES];
} tenon__cpu_pixel_t;
tenon__cpu_pixel_t tenon__cpu_pixel_of(const tenon__cpu_image_t* image, size_t row);
int64_t tenon__cpu_pixel_offset(const tenon__cpu_image_t* image, tenon__cpu_pixel_t pixel);
void tenon__cpu_pixel_next(const tenon__cpu_image_t* image, tenon__cpu_pixel_t* inout_pixel);

/* gather.c: patches of group `group`; `user` is one of these. */
typedef struct tenon__cpu_patches_t {
  const tenon__cpu_bound_convolution_t* bound;
  const float* x; /* the group's first channel */
  size_t first_row;
} tenon__cpu_patches_t;
void tenon__cpu_gather_patches(const void* user, size_t row, size_t rows, size_t depth_begin,
                               size_t depth, float* out, size_t out_stride);

/* band.c: LINES. How many rows of output one task takes; whether the image must be copied. */
void tenon__cpu_band_plan(tenon__cpu_bound_convolution_t* inout_bound);
/* Can a band of at least one row of output be held? For sizing scratch before extents are bound. */
size_t tenon__cpu_band_bytes(const tenon__cpu_window_t* window, int64_t channels, int64_t height,
                             int64_t width);
uint32_t tenon__cpu_band_tasks(tenon__cpu_bound_convolution_t* inout_bound, uint32_t threads);
void tenon__cpu_band_task(void* user, uint32_t index, uint32_t thread);

/* depthwise.c: a task is a row of output pixels, or a part of its channels. */
uint32_t tenon__cpu_depthwise_tasks(tenon__cpu_convolution_call_t* inout_call, uint32_t threads);
void tenon__cpu_depthwise_task(void* user, uint32_t index, uint32_t thread);

#endif
