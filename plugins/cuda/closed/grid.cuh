/* Grids: affine_grid makes one, grid_sample reads x at it. Coordinates run from -1 to 1 over each
 * axis and are given innermost axis first. */
#if OP_affine_grid
INLINE double grid_coordinate(i64 at, i64 extent) {
  return A_align_corners ? (extent == 1 ? -1.0 : -1.0 + 2.0 * (double)at / (double)(extent - 1))
                         : (2.0 * (double)at + 1.0) / (double)extent - 1.0;
}
KERNEL affine(const __grid_constant__ parameters_t p) {
  begin(p);
  const int spatial = OUT0_RANK - 2;
  const i64 points = product(p.out[0], 1, spatial + 1);
  EACH(i, p.out[0].count) {
    const i64 point = i / spatial;
    const i64 row = (point / points * spatial + i % spatial) * (spatial + 1);
    i64 rest = point % points;
    double total = (double)IN0(row + spatial);
    for (int k = 0; k < spatial; ++k) {
      const i64 extent = p.out[0].dims[spatial - k];
      total += (double)IN0(row + k) * grid_coordinate(rest % extent, extent);
      rest /= extent;
    }
    OUT0(i, total);
  }
}
#else
enum { SPATIAL = IN0_RANK - 2 };
#define LOW (A_align_corners ? 0.0 : -0.5)
#define HIGH(extent) (A_align_corners ? (double)(extent) - 1.0 : (double)(extent) - 0.5)
/* Reflects at both ends of [low, high] until inside. */
INLINE double reflect(double place, double low, double high) {
  const double span = high - low;
  const double past = place < low ? low - place : place - high;
  if (span <= 0.0 || past <= 0.0) {
    return span <= 0.0 ? low : place;
  }
  const double turns = floor(past / span);
  const double rest = past - turns * span;
  const bool from_low = (place < low) == (fmod(turns, 2.0) == 0.0);
  return from_low ? low + rest : high - rest;
}
/* A coordinate as a place along an axis; folded back where the padding says so. Cubic interpolation
 * folds each of its taps instead. */
INLINE double place_of(double coordinate, i64 extent) {
  const double n = (double)extent;
  double place = A_align_corners ? (coordinate + 1.0) / 2.0 * (n - 1.0) : ((coordinate + 1.0) * n - 1.0) / 2.0;
#if A_mode_nearest
  place = rint(place);
#endif
  if (place >= LOW && place <= HIGH(extent)) {
    return place;
  }
#if A_mode_cubic
  return place;
#elif A_padding_mode_border
  return fmin(fmax(place, 0.0), n - 1.0);
#elif A_padding_mode_reflection
  return reflect(place, LOW, HIGH(extent));
#else
  return place;
#endif
}
/* The pixel that stands for index `at`, or -1: zero. */
INLINE i64 pixel_of(i64 at, i64 extent) {
  if (at >= 0 && at < extent) {
    return at;
  }
#if A_padding_mode_border
  return at < 0 ? 0 : extent - 1;
#elif A_padding_mode_reflection
  return (i64)reflect((double)at, LOW, HIGH(extent));
#else
  return -1;
#endif
}
INLINE double tap_weight(double distance) {
#if A_mode_nearest
  return 1.0;
#elif A_mode_cubic
  const double a = -0.75;
  const double d = fabs(distance);
  return d <= 1.0  ? ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0
         : d < 2.0 ? ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a
                   : 0.0;
#else
  return 1.0 - fabs(distance);
#endif
}
#if A_mode_nearest
enum { BEFORE = 0, TAPS = 1 };
#elif A_mode_cubic
enum { BEFORE = 1, TAPS = 4 };
#else
enum { BEFORE = 0, TAPS = 2 };
#endif
template <int K>
INLINE sum_t sample(const parameters_t& p, const double* places, i64 offset) {
  if constexpr (K == SPATIAL) {
    return (sum_t)IN0(offset);
  } else {
    const i64 extent = p.in[0].dims[K + 2];
    const i64 first = (i64)floor(places[K]) - BEFORE;
    sum_t total = 0;
    for (int tap = 0; tap < TAPS; ++tap) {
      const sum_t weight = (sum_t)tap_weight(places[K] - (double)(first + tap));
      const i64 pixel = pixel_of(first + tap, extent);
      if (pixel >= 0 && weight != 0) {
        total += weight * sample<K + 1>(p, places, offset * extent + pixel);
      }
    }
    return total;
  }
}
KERNEL sample_grid(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 points = product(p.out[0], 2, OUT0_RANK);
  EACH(i, p.out[0].count) {
    const i64 slice = i / points;
    const i64 entry = (slice / p.in[0].dims[1] * points + i % points) * SPATIAL;
    double places[SPATIAL];
#pragma unroll
    for (int k = 0; k < SPATIAL; ++k) {
      places[k] = place_of((double)IN1(entry + SPATIAL - 1 - k), p.in[0].dims[k + 2]);
    }
    OUT0(i, sample<0>(p, places, slice));
  }
}
#endif
