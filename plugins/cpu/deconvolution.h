/* The insides of the transposed convolution kernel, shared by the files that prepare and run it. */
#ifndef TENON_CPU_DECONVOLUTION_H_
#define TENON_CPU_DECONVOLUTION_H_

#include "epilogue.h"
#include "window.h"

/* One axis of a phase. Output coordinate stride * q + remainder takes input coordinates q - pad +
 * j, with tap first + stride * (count - 1 - j). */
typedef struct tenon__cpu_phase_axis_t {
  int64_t first;
  int64_t count;
  int64_t pad;
} tenon__cpu_phase_axis_t;

typedef struct tenon__cpu_deconvolution_t {
  const tenon__cpu_isa_t* isa;
  tenon__cpu_window_t window;
  bool fits_pads; /* pads follow from the extents */
  bool lower;     /* the odd one at the beginning */
  int64_t output_padding[TENON_CPU_AXES];
  int64_t groups;
  int64_t in_channels;
  int64_t out_channels;
  size_t packed_group; /* floats of one group's weights */
  /* [group][remainder][column]: packed phases, by remainders of o + pad. NULL: in each run, into
   * the shared part of scratch. */
  const float* w;
  size_t shared_bytes; /* of scratch, before the threads' parts */
  uint32_t weights;    /* region inputs */
  uint32_t bias;
  size_t slot_bytes;
  size_t band_bytes;
  tenon__cpu_epilogue_t epilogue;
} tenon__cpu_deconvolution_t;

typedef struct tenon__cpu_bound_deconvolution_t {
  const tenon__cpu_deconvolution_t* self;
  int64_t pad[TENON_CPU_AXES];
  tenon__cpu_image_t x;
  tenon__cpu_image_t y;
  tenon__cpu_bound_epilogue_t* epilogue;
  /* What a band needs around the input coordinates q; negative where pads skip what is there. */
  int64_t before[TENON_CPU_AXES];
  int64_t after[TENON_CPU_AXES];
  int64_t quotients[TENON_CPU_AXES];
  bool copies;
  int64_t band_pixels;
  size_t band_line;
  int64_t band_rows; /* of quotients, in one task */
  tenon__cpu_grid_t grid;
} tenon__cpu_bound_deconvolution_t;

tenon__cpu_phase_axis_t tenon__cpu_phase_axis(const tenon__cpu_window_t* window, size_t axis,
                                              int64_t pad, int64_t remainder);
/* Where the packed weights of a phase begin in those of a group. Phases are packed by the first
 * tap, so that they do not depend on the padding. */
size_t tenon__cpu_phase_offset(const tenon__cpu_deconvolution_t* self, int64_t row, int64_t column);

/* deconvolution_weights.c: packed when preparing, or in a run; that returns where they are. */
tenon_status_t tenon__cpu_deconvolution_pack_once(tenon__cpu_deconvolution_t* inout_deconvolution,
                                                  tenon__cpu_region_t region,
                                                  tenon__cpu_preparation_t* preparation);
const float* tenon__cpu_deconvolution_pack_now(const tenon__cpu_deconvolution_t* deconvolution,
                                               const float* w, const tenon_enqueue_t* call);

tenon_status_t tenon__cpu_deconvolution_enqueue(const tenon_enqueue_t* call);

#endif
