/*
 * Resize: along each axis an output coordinate has a place in x, and a few taps around it with
 * weights; an element is the sum over the taps of all axes. A thread finds the taps of its element
 * by itself: so nothing depends on how large the result can be.
 */
enum { RANK = IN0_RANK };
#define FAR 0x1p50 /* more than an extent, and an integer with all its halves */
#if A_mode_cubic
#define RADIUS 2.0
#else
#define RADIUS 1.0
#endif
#if IN0_CLASS_f && IN0_BITS <= 32
typedef float real_t;
#else
typedef double real_t;
#endif

struct axis_t {
  double scale;
  double begin;
  double end;
  bool stays;
};
INLINE axis_t axis_of(const parameters_t& p, int k) {
  axis_t axis;
  const bool has_scale = HAS_IN2 && k < p.in[2].count;
  const bool has_roi = HAS_IN3 && p.in[3].count == 2 * RANK;
  axis.scale = has_scale ? (double)IN2(k) : (double)p.out[0].dims[k] / (double)p.in[0].dims[k];
  axis.begin = has_roi ? (double)IN3(k) : 0.0;
  axis.end = has_roi ? (double)IN3(k + RANK) : 1.0;
  axis.stays = p.out[0].dims[k] == p.in[0].dims[k] && fabs(axis.scale - 1.0) < 1e-9 &&
               axis.begin == 0.0 && axis.end == 1.0;
  return axis;
}
/* Scales are data, and a refit may change them. One that widens filters is no less than any that
 * makes these extents, which are rounded, up to half of one: so taps are few. */
INLINE bool scale_fits(const parameters_t& p, int k) {
  const double input = (double)p.in[0].dims[k];
  const double scale = axis_of(p, k).scale;
  const bool widens = A_antialias && scale < ((double)p.out[0].dims[k] - 0.5) / input;
  return input >= 1.0 && scale > 0.0 && isfinite(scale) && !widens;
}
INLINE int tap_count(double scale) {
#if A_mode_nearest
  return 2;
#else
  return !A_antialias || scale >= 1.0 ? (int)(2 * RADIUS) : 2 - 2 * ((int)floor(-RADIUS / scale) + 1);
#endif
}
/* Where output coordinate `at` lies in x. */
INLINE double source_place(const axis_t& axis, i64 at, double input, double length) {
  const double output = axis.scale * input; /* not rounded */
  const double place = (double)at;
#if A_coordinate_mode_align_corners
  return output == 1.0 ? 0.0 : place * (input - 1.0) / (output - 1.0);
#elif A_coordinate_mode_asymmetric
  return place / axis.scale;
#elif A_coordinate_mode_tf_crop_and_resize
  const double span = (axis.end - axis.begin) * (input - 1.0);
  const double within = length == 1.0 ? span / 2.0 : place * span / (length - 1.0);
  return within + axis.begin * (input - 1.0);
#elif A_coordinate_mode_pixel_center
  return (place + 0.5) / axis.scale;
#else
  const double half_pixel = (place + 0.5) / axis.scale - 0.5;
#if A_coordinate_mode_pytorch_half_pixel
  return length == 1.0 ? 0.0 : half_pixel;
#elif A_coordinate_mode_half_pixel_symmetric
  return input / 2.0 * (1.0 - length / output) + half_pixel;
#else
  return half_pixel;
#endif
#endif
}
INLINE double tap_weight(double ratio, double distance, int tap) {
#if A_mode_nearest
#if A_nearest_mode_round_prefer_floor
  const bool second = ratio == 1.0 || ratio > 0.5;
#elif A_nearest_mode_round_prefer_ceil
  const bool second = ratio == 1.0 || ratio >= 0.5;
#elif A_nearest_mode_ceil
  const bool second = true;
#else
  const bool second = ratio == 1.0;
#endif
  return second == (tap == 1) ? 1.0 : 0.0;
#elif A_mode_linear
  return fmax(0.0, 1.0 - fabs(distance));
#else
  const double a = A_cubic_coeff_a;
  const double d = fabs(distance);
  return d <= 1.0  ? ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0
         : d < 2.0 ? ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a
                   : 0.0;
#endif
}
struct taps_t {
  i64 first;
  int count;    /* -1: outside, to be extrapolated */
  bool stays;   /* one tap, of weight 1 */
  double ratio; /* how far past tap count / 2 - 1 the place is */
  double stretch;
  double total; /* what weights are divided by */
};
INLINE double weight_of(const parameters_t& p, const taps_t& taps, int k, int tap) {
  const i64 at = taps.first + tap;
  const double distance = (double)(tap - taps.count / 2 + 1) - taps.ratio;
  const bool counts = !A_exclude_outside || (at >= 0 && at < p.in[0].dims[k]);
  return taps.stays ? 1.0 : counts ? tap_weight(taps.ratio, distance * taps.stretch, tap) : 0.0;
}
INLINE taps_t taps_of(const parameters_t& p, int k, i64 at) {
  const axis_t axis = axis_of(p, k);
  const i64 input = p.in[0].dims[k];
  taps_t taps = {at, 1, true, 0.0, 1.0, 1.0};
  if (axis.stays) {
    return taps;
  }
  /* However far outside: it is the last element that is taken there. */
  const double place =
      fmin(fmax(source_place(axis, at, (double)input, (double)p.out[0].dims[k]), -FAR), FAR);
#if A_coordinate_mode_tf_crop_and_resize
  if (place < 0.0 || place > (double)(input - 1)) {
    taps.count = -1;
    return taps;
  }
#endif
  const double before = ceil(place) - 1.0; /* the tap on the left, never the place itself */
  taps.stays = false;
  taps.count = tap_count(axis.scale);
  taps.first = (i64)before - taps.count / 2 + 1;
  taps.ratio = place - before;
  taps.stretch = A_antialias ? fmin(axis.scale, 1.0) : 1.0;
  if (A_exclude_outside || taps.stretch < 1.0) {
    double total = 0.0;
    for (int tap = 0; tap < taps.count; ++tap) {
      total += weight_of(p, taps, k, tap);
    }
    taps.total = total;
  }
  return taps;
}

/* The sum over taps of axis K and those behind it. */
template <int K>
INLINE real_t sample(const parameters_t& p, const taps_t* taps, i64 place) {
  if constexpr (K == RANK) {
    return (real_t)IN0(place);
  } else {
    const i64 extent = p.in[0].dims[K];
    real_t total = 0;
    if (taps[K].stays) {
      return sample<K + 1>(p, taps, place * extent + taps[K].first);
    }
    for (int tap = 0; tap < taps[K].count; ++tap) {
      const real_t weight = (real_t)(weight_of(p, taps[K], K, tap) / taps[K].total);
      const i64 index = most_of(0, least_of(taps[K].first + tap, extent - 1));
      if (weight != 0) {
        total += weight * sample<K + 1>(p, taps, place * extent + index);
      }
    }
    return total;
  }
}
KERNEL resize(const __grid_constant__ parameters_t p) {
  begin(p);
#pragma unroll
  for (int k = 0; k < RANK; ++k) {
    if (p.out[0].count > 0 && !scale_fits(p, k)) {
      fail(p, 1, k);
      return;
    }
  }
  EACH(i, p.out[0].count) {
    taps_t taps[RANK + 1];
    i64 rest = i;
    bool outside = false;
#pragma unroll
    for (int k = RANK - 1; k >= 0; --k) {
      taps[k] = taps_of(p, k, rest % p.out[0].dims[k]);
      rest /= p.out[0].dims[k];
      outside = outside || taps[k].count < 0;
    }
    const real_t value = outside ? (real_t)A_extrapolation_value : sample<0>(p, taps, 0);
#if OUT0_CLASS_f
    OUT0(i, value);
#else
    OUT0(i, rint(value));
#endif
  }
}
