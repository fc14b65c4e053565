/*
 * The insides of the transposed convolution kernel, shared by the files that prepare and run it.
 * One or two spatial axes, no dilation, at most 16 phases.
 *
 * Output pixels whose coordinates leave the same remainder on division by the strides, a phase, are
 * a plain convolution of the input with every stride-th tap. With stride 2, kernel 4 and no padding
 * along an axis:
 *
 *   y[2q]     = w[2] x[q - 1] + w[0] x[q]
 *   y[2q + 1] = w[3] x[q - 1] + w[1] x[q]
 *
 * So each phase is a product over lines of the input (as in band.c), every output pixel is written
 * once, and no zeros are multiplied. An instance is shared and not written; a bound one is one
 * context's.
 */
#ifndef TENON_CPU_DECONVOLUTION_H_
#define TENON_CPU_DECONVOLUTION_H_

#include "epilogue.h"
#include "window.h"

/* One axis of a phase. Output coordinate stride * q + remainder takes input coordinates q - pad
 * + j, with tap first + stride * (count - 1 - j), for j in [0, count). count 0: these outputs
 * are the bias alone. */
typedef struct tenon__cpu_phase_axis_t {
  int64_t first;
  int64_t count;
  int64_t pad;
} tenon__cpu_phase_axis_t;

/* What prepare makes. */
typedef struct tenon__cpu_deconvolution_t {
  const tenon__cpu_isa_t* isa;
  tenon__cpu_window_t window;
  /* Pads follow from the extents: auto_pad, or output_shape is given. */
  bool fits_pads;
  bool lower; /* the odd one at the beginning */
  int64_t output_padding[TENON_CPU_AXES];
  int64_t groups;
  /* Of a group; so are out_channels. */
  int64_t in_channels;
  int64_t out_channels;
  /* Floats of one group's weights: its phases share the taps among them. */
  size_t packed_group;
  /* [group][remainder][column]: packed phases, by the first tap. NULL: in each run, into the
   * shared part of scratch. */
  const float* w;
  /* Of scratch, before the threads' parts; 0 when weights were packed once. */
  size_t shared_bytes;
  /* Region inputs; TENON_NONE: no bias. */
  uint32_t weights;
  uint32_t bias;
  /* Of a thread's part of scratch, of which band_bytes are for lines; the rest is the
   * epilogue's. */
  size_t slot_bytes;
  size_t band_bytes;
  tenon__cpu_epilogue_t epilogue;
} tenon__cpu_deconvolution_t;

/* What bind makes. Fails with UNSUPPORTED where not one line of quotients fits the band. */
typedef struct tenon__cpu_bound_deconvolution_t {
  const tenon__cpu_deconvolution_t* self;
  int64_t pad[TENON_CPU_AXES];
  tenon__cpu_image_t x;
  tenon__cpu_image_t y;
  tenon__cpu_bound_epilogue_t* epilogue;
  /* What a band needs around the input coordinates q; negative where pads skip what is there. */
  int64_t before[TENON_CPU_AXES];
  int64_t after[TENON_CPU_AXES];
  /* ceil(extent of y / stride): values of q along an axis. */
  int64_t quotients[TENON_CPU_AXES];
  /* The lines that a task needs are copied into a band with zeros around them; else they are
   * read as they lie. */
  bool copies;
  /* Of a line of the band; band_line: floats from line to line. */
  int64_t band_pixels;
  size_t band_line;
  int64_t band_rows; /* of quotients, in one task, at most */
  tenon__cpu_grid_t grid;
} tenon__cpu_bound_deconvolution_t;

/* Of the outputs with this remainder, where `pad` elements are cut at the beginning. */
tenon__cpu_phase_axis_t tenon__cpu_phase_axis(const tenon__cpu_window_t* window, size_t axis,
                                              int64_t pad, int64_t remainder);
/* Where the packed weights of a phase begin in those of a group, in floats. Phases are packed by
 * the first tap (row, column), so that they do not depend on the padding. */
size_t tenon__cpu_phase_offset(const tenon__cpu_deconvolution_t* self, int64_t row, int64_t column);

/* deconvolution_weights.c: packed when preparing, or in a run; that returns where they are. */
tenon_status_t tenon__cpu_deconvolution_pack_once(tenon__cpu_deconvolution_t* inout_deconvolution,
                                                  tenon__cpu_region_t region,
                                                  tenon__cpu_preparation_t* preparation);
const float* tenon__cpu_deconvolution_pack_now(const tenon__cpu_deconvolution_t* deconvolution,
                                               const float* w, const tenon_enqueue_t* call);

tenon_status_t tenon__cpu_deconvolution_enqueue(const tenon_enqueue_t* call);

#endif
