/*
 * Where the elements of a resized axis come from. Each output coordinate is a sum of a few input
 * elements, the taps, with weights. Tables are made once, when a step is bound; kernels read them.
 */
#ifndef TENON_CPU_SAMPLE_H_
#define TENON_CPU_SAMPLE_H_

#include "cpu.h"

typedef enum tenon__cpu_filter_t {
  TENON_CPU_FILTER_NEAREST,
  TENON_CPU_FILTER_LINEAR,
  TENON_CPU_FILTER_CUBIC
} tenon__cpu_filter_t;

typedef enum tenon__cpu_coordinates_t {
  TENON_CPU_HALF_PIXEL,
  TENON_CPU_HALF_PIXEL_SYMMETRIC,
  TENON_CPU_PYTORCH_HALF_PIXEL,
  TENON_CPU_PIXEL_CENTER,
  TENON_CPU_ALIGN_CORNERS,
  TENON_CPU_ASYMMETRIC,
  TENON_CPU_COORDINATES_COUNT
} tenon__cpu_coordinates_t;

typedef enum tenon__cpu_rounding_t {
  TENON_CPU_ROUND_PREFER_FLOOR,
  TENON_CPU_ROUND_PREFER_CEIL,
  TENON_CPU_ROUND_FLOOR,
  TENON_CPU_ROUND_CEIL,
  TENON_CPU_ROUNDING_COUNT
} tenon__cpu_rounding_t;

/* The attributes of standard.resize/1. */
typedef struct tenon__cpu_sampler_t {
  tenon__cpu_filter_t filter;
  tenon__cpu_coordinates_t coordinates;
  tenon__cpu_rounding_t rounding;
  bool antialias;
  bool exclude_outside;
  double cubic_a;
} tenon__cpu_sampler_t;

/* False for a coordinate mode without tables: tf_crop_and_resize. */
bool tenon__cpu_sampler_read(tenon__cpu_region_t region, tenon__cpu_sampler_t* out_sampler);

/* One axis: output coordinate o is the sum over t of weights[t * output + o] times the input's
 * element index[t * output + o]. Indices are inside the input. A weight is never 0, so that an
 * infinite element outside of the filter changes nothing: unused taps repeat a used one, with a
 * part of its weight. Nearest has one tap. */
typedef struct tenon__cpu_taps_t {
  int64_t input;
  int64_t output;
  size_t count;
  int32_t* index;
  float* weights;
} tenon__cpu_taps_t;

/* Taps of the widest filter for the extents, an upper bound of `count`. */
int64_t tenon__cpu_taps_limit(const tenon__cpu_sampler_t* sampler, int64_t input, int64_t output);
/* False where the scale does not fit the extents. `index` and `weights` of out_taps have room for
 * tenon__cpu_taps_limit x output elements, and `scratch` for tenon__cpu_taps_limit. An extent of
 * more than INT32_MAX elements is refused too. */
bool tenon__cpu_taps_fill(const tenon__cpu_sampler_t* sampler, double scale, double* scratch,
                          tenon__cpu_taps_t* inout_taps);

#endif
