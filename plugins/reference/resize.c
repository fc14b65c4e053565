/*
 * Resize: along each axis every output coordinate has a place in x, and a few taps around it with
 * weights (which add up to 1); the element is the sum over the product of the taps. Nearest has one
 * tap of weight 1.
 */
#include <math.h>
#include <string.h>

#include "kernels.h"

typedef enum filter_t { FILTER_NEAREST, FILTER_LINEAR, FILTER_CUBIC } filter_t;

/* Taps of one axis: a table with `count` weights and the first index for each output coordinate. */
typedef struct axis_taps_t {
  int64_t input;
  int64_t output;
  int64_t count;
  tenon__number_t* first;   /* OUTSIDE: extrapolate */
  tenon__number_t* weights; /* output x count */
} axis_taps_t;

#define OUTSIDE INT64_MIN
#define FAR 0x1p50 /* more than an extent, and an integer with all its halves */

/* What holds for all axes. */
typedef struct sampler_t {
  filter_t filter;
  bool antialias;
  bool exclude_outside;
  double cubic_a;
  const char* coordinate_mode;
  const char* nearest_mode;
} sampler_t;

static sampler_t sampler_of(const tenon__work_t* work) {
  return (sampler_t){
      .filter = tenon__work_is(work, "mode", "cubic")    ? FILTER_CUBIC
                : tenon__work_is(work, "mode", "linear") ? FILTER_LINEAR
                                                         : FILTER_NEAREST,
      .antialias = tenon__work_int(work, "antialias") != 0,
      .exclude_outside = tenon__work_int(work, "exclude_outside") != 0,
      .cubic_a = tenon__work_float(work, "cubic_coeff_a"),
      .coordinate_mode = tenon__work_attribute(work, "coordinate_mode")->string,
      .nearest_mode = tenon__work_attribute(work, "nearest_mode")->string,
  };
}

/* How many taps; the wider the filter, the smaller the scale when antialiasing. */
static int64_t tap_count(const sampler_t* sampler, double scale) {
  double radius = sampler->filter == FILTER_CUBIC ? 2.0 : 1.0;
  if (!sampler->antialias || scale >= 1.0 || sampler->filter == FILTER_NEAREST) {
    return (int64_t)(2.0 * radius);
  }
  return 2 - 2 * ((int64_t)floor(-radius / scale) + 1);
}

/* The least scale of an axis for which there is room: extents are rounded, up to half of one. */
static double least_scale(int64_t input, int64_t output) {
  return ((double)output - 0.5) / (double)input;
}

/* Scratch: the tables of all axes, for the least scale that fits the extents. */
int64_t tenon__scratch_resize(const tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  const tenon__array_t* y = &work->outputs[0];
  sampler_t sampler = sampler_of(work);
  int64_t count = 0;
  for (uint32_t axis = 0; axis < x->rank; ++axis) {
    bool is_empty = x->dims[axis] < 1 || y->dims[axis] < 1;
    double scale = is_empty ? 1.0 : least_scale(x->dims[axis], y->dims[axis]);
    count += y->dims[axis] * (1 + tap_count(&sampler, scale));
  }
  return count;
}

/* Where output coordinate `at` lies in x. `roi` has the begin and end of the axis. */
static double source_place(const sampler_t* sampler, const axis_taps_t* taps, double scale,
                           const double* roi, int64_t at) {
  const char* mode = sampler->coordinate_mode;
  double input = (double)taps->input;
  double output = scale * input; /* not rounded: ONNX's own cases of align_corners have it so */
  double length = (double)taps->output;
  double place = (double)at;
  if (strcmp(mode, "align_corners") == 0) {
    return output == 1.0 ? 0.0 : place * (input - 1.0) / (output - 1.0);
  }
  if (strcmp(mode, "asymmetric") == 0) {
    return place / scale;
  }
  if (strcmp(mode, "tf_crop_and_resize") == 0) {
    double span = (roi[1] - roi[0]) * (input - 1.0);
    double within = length == 1.0 ? span / 2.0 : place * span / (length - 1.0);
    return within + roi[0] * (input - 1.0);
  }
  if (strcmp(mode, "pixel_center") == 0) {
    return (place + 0.5) / scale;
  }
  double half_pixel = (place + 0.5) / scale - 0.5;
  if (strcmp(mode, "pytorch_half_pixel") == 0) {
    return length == 1.0 ? 0.0 : half_pixel;
  }
  if (strcmp(mode, "half_pixel_symmetric") == 0) {
    return input / 2.0 * (1.0 - length / output) + half_pixel;
  }
  return half_pixel;
}

static double cubic_weight(double a, double distance) {
  double d = fabs(distance);
  if (d <= 1.0) {
    return ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0;
  }
  return d < 2.0 ? ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a : 0.0;
}

/* Weight of nearest's tap 0 or 1 for a ratio in (0, 1] between them. */
static double nearest_weight(const char* mode, double ratio, int64_t tap) {
  bool second = ratio == 1.0                              ? true
                : strcmp(mode, "round_prefer_floor") == 0 ? ratio > 0.5
                : strcmp(mode, "round_prefer_ceil") == 0  ? ratio >= 0.5
                                                          : strcmp(mode, "ceil") == 0;
  return second == (tap == 1) ? 1.0 : 0.0;
}

/* Fills the weights of one output coordinate: `ratio` is how far past tap count/2 - 1 it lies. */
static void fill_weights(const sampler_t* sampler, const axis_taps_t* taps, double scale,
                         double ratio, int64_t at) {
  tenon__number_t* weights = taps->weights + at * taps->count;
  int64_t first = taps->first[at].i;
  double stretch = sampler->antialias ? fmin(scale, 1.0) : 1.0;
  double sum = 0.0;
  for (int64_t tap = 0; tap < taps->count; ++tap) {
    int64_t steps = tap - taps->count / 2 + 1;
    double distance = (double)steps - ratio;
    bool outside = first + tap < 0 || first + tap >= taps->input;
    double weight =
        sampler->filter == FILTER_NEAREST  ? nearest_weight(sampler->nearest_mode, ratio, tap)
        : sampler->filter == FILTER_LINEAR ? fmax(0.0, 1.0 - fabs(distance * stretch))
                                           : cubic_weight(sampler->cubic_a, distance * stretch);
    weights[tap].f = sampler->exclude_outside && outside ? 0.0 : weight;
    sum += weights[tap].f;
  }
  bool normalizes = sampler->exclude_outside || stretch < 1.0;
  if (normalizes) {
    for (int64_t tap = 0; tap < taps->count; ++tap) {
      weights[tap].f /= sum;
    }
  }
}

static void fill_axis(const sampler_t* sampler, const axis_taps_t* taps, double scale,
                      const double* roi) {
  bool crops = strcmp(sampler->coordinate_mode, "tf_crop_and_resize") == 0;
  for (int64_t at = 0; at < taps->output; ++at) {
    /* However far outside: it is the last element that is taken there. */
    double place = fmin(fmax(source_place(sampler, taps, scale, roi, at), -FAR), FAR);
    if (crops && (place < 0.0 || place > (double)(taps->input - 1))) {
      taps->first[at].i = OUTSIDE;
      continue;
    }
    double before = ceil(place) - 1.0; /* the tap on the left, never the place itself */
    taps->first[at].i = (int64_t)before - taps->count / 2 + 1;
    fill_weights(sampler, taps, scale, place - before, at);
  }
}

/* An axis that stays as it is has one tap. */
static void fill_identity(const axis_taps_t* taps) {
  for (int64_t at = 0; at < taps->output; ++at) {
    taps->first[at].i = at;
    taps->weights[at].f = 1.0;
  }
}

enum { MAX_RANK = 16 };

/* One element: sums over all combinations of taps from `axis` on. */
static double sample(const tenon__array_t* x, const axis_taps_t* taps, const int64_t* point,
                     uint32_t axis, int64_t place) {
  if (axis == x->rank) {
    return tenon__number_value(x->dtype, x->at[place]);
  }
  const axis_taps_t* own = &taps[axis];
  double sum = 0.0;
  if (own->weights != NULL) {
    for (int64_t tap = 0; tap < own->count; ++tap) {
      double weight = own->weights[point[axis] * own->count + tap].f;
      int64_t index = own->first[point[axis]].i + tap;
      index = index < 0 ? 0 : index >= own->input ? own->input - 1 : index;
      if (weight != 0.0) {
        sum += weight * sample(x, taps, point, axis + 1, place * own->input + index);
      }
    }
  }
  return sum;
}

static tenon_status_t set_taps(const tenon__work_t* work, const sampler_t* sampler,
                               axis_taps_t* taps) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  const tenon__array_t* y = &work->outputs[0];
  const tenon__array_t* scales = tenon__work_input(work, 2);
  const tenon__array_t* roi = tenon__work_input(work, 3);
  tenon__number_t* free_numbers = work->scratch;
  for (uint32_t axis = 0; axis < x->rank; ++axis) {
    bool has_scale = scales != NULL && axis < scales->count;
    bool has_roi = roi != NULL && roi->count == 2 * (int64_t)x->rank;
    double scale = has_scale ? scales->at[axis].f : (double)y->dims[axis] / (double)x->dims[axis];
    if (x->dims[axis] < 1 || !(scale > 0.0) || !isfinite(scale) ||
        (sampler->antialias && scale < least_scale(x->dims[axis], y->dims[axis]))) {
      return tenon__work_fail(work, "the scale of axis %u is %g, from extent %lld to %lld", axis,
                              scale, (long long)x->dims[axis], (long long)y->dims[axis]);
    }
    double bounds[2] = {has_roi ? roi->at[axis].f : 0.0, has_roi ? roi->at[axis + x->rank].f : 1.0};
    bool stays = y->dims[axis] == x->dims[axis] && fabs(scale - 1.0) < 1e-9 && bounds[0] == 0.0 &&
                 bounds[1] == 1.0;
    taps[axis] = (axis_taps_t){.input = x->dims[axis],
                               .output = y->dims[axis],
                               .count = stays ? 1 : tap_count(sampler, scale),
                               .first = free_numbers,
                               .weights = free_numbers + y->dims[axis]};
    free_numbers += y->dims[axis] * (1 + taps[axis].count);
    if (stays) {
      fill_identity(&taps[axis]);
    } else {
      fill_axis(sampler, &taps[axis], scale, bounds);
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__compute_resize(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  tenon__array_t* y = tenon__work_output(work, 0);
  axis_taps_t taps[MAX_RANK] = {{.input = 0}};
  int64_t point[MAX_RANK] = {0};
  if (x->rank > MAX_RANK) {
    return tenon__work_fail(work, "rank %u is too large", x->rank);
  }
  sampler_t sampler = sampler_of(work);
  const tenon_status_t status = y->count > 0 ? set_taps(work, &sampler, taps) : TENON_OK;
  if (status != TENON_OK) {
    return status;
  }
  for (int64_t place = 0; place < y->count; ++place) {
    bool outside = false;
    for (uint32_t axis = 0; axis < x->rank; ++axis) {
      outside = outside || (taps[axis].first != NULL && taps[axis].first[point[axis]].i == OUTSIDE);
    }
    double value =
        outside ? tenon__work_float(work, "extrapolation_value") : sample(x, taps, point, 0, 0);
    bool integral = !tenon__number_is_float(y->dtype);
    y->at[place] = tenon__number_of(y->dtype, integral ? nearbyint(value) : value);
    (void)tenon__point_next(point, y->dims, y->rank);
  }
  return TENON_OK;
}
