/* Taps of an axis that is resized: places, filters and their weights, in double precision. */
#include "sample.h"

#include <math.h>
#include <string.h>

static const char* const coordinate_names[TENON_CPU_COORDINATES_COUNT] = {
    "half_pixel",   "half_pixel_symmetric", "pytorch_half_pixel",
    "pixel_center", "align_corners",        "asymmetric"};
static const char* const rounding_names[TENON_CPU_ROUNDING_COUNT] = {
    "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};

static uint32_t find_name(const char* const* names, uint32_t count, const char* name) {
  uint32_t k = 0;
  while (k < count && strcmp(names[k], name) != 0) {
    k++;
  }
  return k;
}

bool tenon__cpu_sampler_read(tenon__cpu_region_t region, tenon__cpu_sampler_t* out_sampler) {
  const char* mode = tenon__cpu_region_string(region, "mode");
  const uint32_t coordinates = find_name(coordinate_names, TENON_CPU_COORDINATES_COUNT,
                                         tenon__cpu_region_string(region, "coordinate_mode"));
  const uint32_t rounding = find_name(rounding_names, TENON_CPU_ROUNDING_COUNT,
                                      tenon__cpu_region_string(region, "nearest_mode"));
  *out_sampler = (tenon__cpu_sampler_t){
      .filter = strcmp(mode, "cubic") == 0    ? TENON_CPU_FILTER_CUBIC
                : strcmp(mode, "linear") == 0 ? TENON_CPU_FILTER_LINEAR
                                              : TENON_CPU_FILTER_NEAREST,
      .coordinates = (tenon__cpu_coordinates_t)coordinates,
      .rounding = (tenon__cpu_rounding_t)rounding,
      .antialias = tenon__cpu_region_int(region, "antialias", 0) != 0,
      .exclude_outside = tenon__cpu_region_int(region, "exclude_outside", 0) != 0,
      .cubic_a = tenon__cpu_region_float(region, "cubic_coeff_a", -0.75)};
  return coordinates < TENON_CPU_COORDINATES_COUNT && rounding < TENON_CPU_ROUNDING_COUNT;
}

/* The least scale that gives the extent: extents are rounded, up to half of one. */
static double least_scale(int64_t input, int64_t output) {
  return ((double)output - 0.5) / (double)input;
}

static int64_t filter_width(const tenon__cpu_sampler_t* sampler, double scale) {
  const double radius = sampler->filter == TENON_CPU_FILTER_CUBIC ? 2.0 : 1.0;
  const bool is_wider =
      sampler->antialias && scale < 1.0 && sampler->filter != TENON_CPU_FILTER_NEAREST;
  return is_wider ? 2 - 2 * ((int64_t)floor(-radius / scale) + 1) : (int64_t)(2.0 * radius);
}

int64_t tenon__cpu_taps_limit(const tenon__cpu_sampler_t* sampler, int64_t input, int64_t output) {
  return input < 1 || output < 1 ? 1 : filter_width(sampler, least_scale(input, output));
}

/* The place in the input of output coordinate `at`. */
static double source_place(const tenon__cpu_sampler_t* sampler, const tenon__cpu_taps_t* taps,
                           double scale, int64_t at) {
  const double input = (double)taps->input;
  const double output = scale * input; /* not rounded: ONNX's cases of align_corners require it */
  const double length = (double)taps->output;
  const double place = (double)at;
  const double half_pixel = (place + 0.5) / scale - 0.5;
  switch (sampler->coordinates) {
    case TENON_CPU_ALIGN_CORNERS:
      return output == 1.0 ? 0.0 : place * (input - 1.0) / (output - 1.0);
    case TENON_CPU_ASYMMETRIC:
      return place / scale;
    case TENON_CPU_PIXEL_CENTER:
      return (place + 0.5) / scale;
    case TENON_CPU_PYTORCH_HALF_PIXEL:
      return length == 1.0 ? 0.0 : half_pixel;
    case TENON_CPU_HALF_PIXEL_SYMMETRIC:
      return input / 2.0 * (1.0 - length / output) + half_pixel;
    default:
      return half_pixel;
  }
}

static double cubic_weight(double a, double distance) {
  const double d = fabs(distance);
  if (d <= 1.0) {
    return ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0;
  }
  return d < 2.0 ? ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a : 0.0;
}

/* Does nearest take the element behind the place? `ratio` is in (0, 1]. */
static bool takes_second(tenon__cpu_rounding_t rounding, double ratio) {
  return ratio == 1.0 || (rounding == TENON_CPU_ROUND_PREFER_FLOOR && ratio > 0.5) ||
         (rounding == TENON_CPU_ROUND_PREFER_CEIL && ratio >= 0.5) ||
         rounding == TENON_CPU_ROUND_CEIL;
}

/* A filter of `width` taps from element `first` on. `ratio` is the distance of the place from tap
 * width / 2 - 1. */
typedef struct window_t {
  int64_t first;
  int64_t width;
  double ratio;
} window_t;

static void fill_weights(const tenon__cpu_sampler_t* sampler, const tenon__cpu_taps_t* taps,
                         double scale, const window_t* window, double* out_weights) {
  const double stretch = sampler->antialias ? fmin(scale, 1.0) : 1.0;
  double sum = 0.0;
  for (int64_t tap = 0; tap < window->width; tap++) {
    const int64_t steps = tap - window->width / 2 + 1;
    const double distance = ((double)steps - window->ratio) * stretch;
    const int64_t place = window->first + tap;
    const bool is_outside = place < 0 || place >= taps->input;
    const double weight =
        sampler->filter == TENON_CPU_FILTER_NEAREST
            ? (double)(takes_second(sampler->rounding, window->ratio) == (tap == 1))
        : sampler->filter == TENON_CPU_FILTER_LINEAR ? fmax(0.0, 1.0 - fabs(distance))
                                                     : cubic_weight(sampler->cubic_a, distance);
    out_weights[tap] = sampler->exclude_outside && is_outside ? 0.0 : weight;
    sum += out_weights[tap];
  }
  const int64_t scaled = sampler->exclude_outside || stretch < 1.0 ? window->width : 0;
  for (int64_t tap = 0; tap < scaled; tap++) {
    out_weights[tap] /= sum;
  }
}

static int32_t clamped(int64_t index, int64_t extent) {
  return (int32_t)(index < 0 ? 0 : index >= extent ? extent - 1 : index);
}

/* The used taps of one output coordinate, in front. Returns how many. */
static size_t keep_used(tenon__cpu_taps_t* taps, int64_t at, const window_t* window,
                        const double* weights) {
  size_t used = 0;
  for (int64_t tap = 0; tap < window->width; tap++) {
    if ((float)weights[tap] != 0.0F) {
      const size_t place = used * (size_t)taps->output + (size_t)at;
      taps->index[place] = clamped(window->first + tap, taps->input);
      taps->weights[place] = (float)weights[tap];
      used++;
    }
  }
  return used;
}

/* Fills a coordinate's unused taps: each takes half of the weight of the tap in front of it. */
static void split_last(const tenon__cpu_taps_t* taps, int64_t at) {
  size_t used = 0;
  while (used < taps->count && taps->weights[used * (size_t)taps->output + (size_t)at] != 0.0F) {
    used++;
  }
  for (; used > 0 && used < taps->count; used++) {
    const size_t place = used * (size_t)taps->output + (size_t)at;
    const size_t before = place - (size_t)taps->output;
    taps->weights[before] /= 2.0F;
    taps->weights[place] = taps->weights[before];
    taps->index[place] = taps->index[before];
  }
}

bool tenon__cpu_taps_fill(const tenon__cpu_sampler_t* sampler, double scale, double* scratch,
                          tenon__cpu_taps_t* inout_taps) {
  tenon__cpu_taps_t* taps = inout_taps;
  static const double far = 0x1p50; /* an integer above all extents, with all its halves */
  if (taps->input < 1 || taps->input > INT32_MAX || !(scale > 0.0) || !isfinite(scale) ||
      (sampler->antialias && scale < least_scale(taps->input, taps->output))) {
    return false;
  }
  const int64_t width = filter_width(sampler, scale);
  memset(taps->weights, 0, (size_t)(width * taps->output) * sizeof(float));
  taps->count = 1;
  for (int64_t at = 0; at < taps->output; at++) {
    const double place = fmin(fmax(source_place(sampler, taps, scale, at), -far), far);
    const double before = ceil(place) - 1.0;
    const window_t window = {(int64_t)before - width / 2 + 1, width, place - before};
    fill_weights(sampler, taps, scale, &window, scratch);
    const size_t used = keep_used(taps, at, &window, scratch);
    taps->count = used > taps->count ? used : taps->count;
  }
  for (int64_t at = 0; at < taps->output; at++) {
    split_last(taps, at);
  }
  return true;
}
