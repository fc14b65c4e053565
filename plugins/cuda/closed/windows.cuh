/*
 * Windows that move over up to three spatial axes; of fewer the tensor's stand last. An element of
 * the result is a thread's. number: extents of x (0), of y (3), of the kernel (6), strides (9),
 * dilations (12), padding before (15) and behind (18), channels of x (21) and of y (22), groups (23).
 */
#define X_DIM(k) p.number[k]
#define Y_DIM(k) p.number[3 + (k)]
#define TAP_DIM(k) p.number[6 + (k)]
#define STRIDE(k) p.number[9 + (k)]
#define DILATION(k) p.number[12 + (k)]
#define BEFORE(k) p.number[15 + (k)]
#define BEHIND(k) p.number[18 + (k)]
#define X_CHANNELS p.number[21]
#define Y_CHANNELS p.number[22]
#define GROUPS p.number[23]
#define X_PLANE (X_DIM(0) * X_DIM(1) * X_DIM(2))
#define Y_PLANE (Y_DIM(0) * Y_DIM(1) * Y_DIM(2))
#define TAPS (TAP_DIM(0) * TAP_DIM(1) * TAP_DIM(2))

struct point_t {
  i64 at[3];
};
INLINE point_t point_of(i64 place, i64 b, i64 c) {
  return point_t{{place / c / b, place / c % b, place % c}};
}
#define Y_POINT(place) point_of((place) % Y_PLANE, Y_DIM(1), Y_DIM(2))
/* Where in x a tap lies; false in the padding. */
INLINE bool tap_of(const parameters_t& p, const point_t& at, const point_t& tap, point_t& out) {
  bool inside = true;
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    out.at[k] = at.at[k] * STRIDE(k) + tap.at[k] * DILATION(k) - BEFORE(k);
    inside = inside && out.at[k] >= 0 && out.at[k] < X_DIM(k);
  }
  return inside;
}
INLINE i64 x_place(const parameters_t& p, const point_t& at) {
  return (at.at[0] * X_DIM(1) + at.at[1]) * X_DIM(2) + at.at[2];
}
#define EACH_TAP(tap)                                                \
  for (point_t tap = {{0, 0, 0}}; tap.at[0] < TAP_DIM(0); ++tap.at[0]) \
    for (tap.at[1] = 0; tap.at[1] < TAP_DIM(1); ++tap.at[1])         \
      for (tap.at[2] = 0; tap.at[2] < TAP_DIM(2); ++tap.at[2])

#if OP_max_pool
KERNEL pool(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 plane = X_PLANE;
#if HAS_OUT0
  const i64 count = p.out[0].count;
#else
  const i64 count = p.out[1].count;
#endif
  EACH(i, count) {
    const point_t at = Y_POINT(i);
    const i64 slice = i / Y_PLANE;
    point_t found = {{0, 0, 0}};
    bool any = false;
    auto largest = IN0(slice * plane);
    EACH_TAP(tap) {
      point_t source;
      if (tap_of(p, at, tap, source)) {
        const auto value = IN0(slice * plane + x_place(p, source));
        if (!any || compare(value, largest) > 0) {
          largest = value;
          found = source;
        }
        any = true;
      }
    }
    if (!any) {
#if IN0_CLASS_f
      largest = -(decltype(largest))__uint_as_float(0x7F800000u);
#elif IN0_CLASS_i
      largest = (decltype(largest))(-((i64)1 << (IN0_BITS - 1)));
#else
      largest = 0;
#endif
    }
#if HAS_OUT0
    OUT0(i, largest);
#endif
#if HAS_OUT1
    OUT1(i, slice * plane + (A_storage_order ? (found.at[2] * X_DIM(1) + found.at[1]) * X_DIM(0) + found.at[0]
                                             : x_place(p, found)));
#endif
  }
}
#elif OP_average_pool || OP_lp_pool
KERNEL pool(const __grid_constant__ parameters_t p) {
  begin(p);
  EACH(i, p.out[0].count) {
    const point_t at = Y_POINT(i);
    const i64 slice = i / Y_PLANE * X_PLANE;
    sum_t total = 0;
    i64 inside = 0;
    i64 covered = 0;
    EACH_TAP(tap) {
      point_t source;
      const bool is_inside = tap_of(p, at, tap, source);
      /* With ceil_mode a window may end behind the padding too. */
      covered += source.at[0] < X_DIM(0) + BEHIND(0) && source.at[1] < X_DIM(1) + BEHIND(1) &&
                         source.at[2] < X_DIM(2) + BEHIND(2)
                     ? 1
                     : 0;
      if (is_inside) {
        const sum_t value = (sum_t)IN0(slice + x_place(p, source));
#if OP_lp_pool
        total += op_pow(op_abs(value), (sum_t)A_p);
#else
        total += value;
#endif
        ++inside;
      }
    }
#if OP_lp_pool
    OUT0(i, op_pow(total, (sum_t)(1.0 / (double)A_p)));
#else
    const i64 count = A_count_include_pad ? covered : inside;
    OUT0(i, count == 0 ? (sum_t)0 : total / (sum_t)count);
#endif
  }
}
#elif OP_convolution || OP_convolution_integer
#if OP_convolution
#define X_ZERO(n) ((sum_t)0)
#define W_ZERO(m) ((sum_t)0)
#define BIAS(m) (HAS_IN2 ? (sum_t)IN2(m) : (sum_t)0)
#else
/* Zero points: one, or one for each slice of the first axis. */
#define X_ZERO(n) (HAS_IN2 ? (sum_t)IN2(p.in[2].count > 1 ? (n) : 0) : (sum_t)0)
#define W_ZERO(m) (HAS_IN3 ? (sum_t)IN3(p.in[3].count > 1 ? (m) : 0) : (sum_t)0)
#define BIAS(m) ((sum_t)0)
#endif
KERNEL convolve(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 channels = X_CHANNELS / GROUPS;
  const i64 plane = X_PLANE;
  const i64 taps = TAPS;
  EACH(i, p.out[0].count) {
    const i64 m = i / Y_PLANE % Y_CHANNELS;
    const i64 n = i / Y_PLANE / Y_CHANNELS;
    const i64 from = (n * X_CHANNELS + m / (Y_CHANNELS / GROUPS) * channels) * plane;
    const i64 weights = m * channels * taps;
    const point_t at = Y_POINT(i);
    const sum_t x_zero = X_ZERO(n);
    const sum_t w_zero = W_ZERO(m);
    sum_t total = BIAS(m);
    i64 place = 0;
    EACH_TAP(tap) {
      point_t source;
      const bool inside = tap_of(p, at, tap, source);
      const i64 where = from + (inside ? x_place(p, source) : 0);
      for (i64 c = 0; c < channels; ++c) {
        /* Outside are zeros, to be multiplied by weights that may be infinite. */
        const sum_t value = inside ? (sum_t)IN0(where + c * plane) - x_zero : (sum_t)0;
        total += value * ((sum_t)IN1(weights + c * taps + place) - w_zero);
      }
      ++place;
    }
    OUT0(i, total);
  }
}
#elif OP_deconvolution
KERNEL convolve(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 channels = X_CHANNELS / GROUPS;
  const i64 outputs = Y_CHANNELS / GROUPS;
  const i64 plane = X_PLANE;
  const i64 taps = TAPS;
  EACH(i, p.out[0].count) {
    const i64 m = i / Y_PLANE % Y_CHANNELS;
    const i64 n = i / Y_PLANE / Y_CHANNELS;
    const i64 first = m / outputs * channels;
    const point_t at = Y_POINT(i);
    sum_t total = HAS_IN2 ? (sum_t)IN2(m) : (sum_t)0;
    i64 place = -1;
    EACH_TAP(tap) {
      point_t source;
      bool inside = true;
      ++place;
#pragma unroll
      for (int k = 0; k < 3; ++k) {
        const i64 there = at.at[k] + BEFORE(k) - tap.at[k] * DILATION(k);
        source.at[k] = there / STRIDE(k);
        inside = inside && there >= 0 && there % STRIDE(k) == 0 && source.at[k] < X_DIM(k);
      }
      for (i64 c = first; inside && c < first + channels; ++c) {
        total += (sum_t)IN0((n * X_CHANNELS + c) * plane + x_place(p, source)) *
                 (sum_t)IN1((c * outputs + m % outputs) * taps + place);
      }
    }
    OUT0(i, total);
  }
}
#elif OP_deformable_convolution
/* Every tap is displaced by an offset, read between pixels, and weighted by a mask. */
INLINE sum_t between(const parameters_t& p, i64 plane, sum_t row, sum_t column) {
  const sum_t top = op_floor(row);
  const sum_t left = op_floor(column);
  sum_t total = 0;
#pragma unroll
  for (int corner = 0; corner < 4; ++corner) {
    const sum_t r = corner < 2 ? top : top + 1;
    const sum_t c = corner % 2 == 0 ? left : left + 1;
    if (r >= 0 && r < (sum_t)X_DIM(1) && c >= 0 && c < (sum_t)X_DIM(2)) {
      const sum_t weight = (1 - op_abs(row - r)) * (1 - op_abs(column - c));
      total += weight * (sum_t)IN0(plane + (i64)r * X_DIM(2) + (i64)c);
    }
  }
  return total;
}
KERNEL convolve(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 channels = X_CHANNELS / GROUPS;
  const i64 taps = TAPS;
  const i64 points = Y_PLANE;
  EACH(i, p.out[0].count) {
    const i64 m = i / points % Y_CHANNELS;
    const i64 n = i / points / Y_CHANNELS;
    const point_t at = Y_POINT(i);
    sum_t total = HAS_IN3 ? (sum_t)IN3(m) : (sum_t)0;
    for (i64 item = 0; item < channels * taps; ++item) {
      const i64 c = m / (Y_CHANNELS / GROUPS) * channels + item / taps;
      const i64 tap = item % taps;
      const i64 entry = (n * A_offset_groups + c / (X_CHANNELS / A_offset_groups)) * taps + tap;
      const sum_t row = (sum_t)(at.at[1] * STRIDE(1) - BEFORE(1) + tap / TAP_DIM(2) * DILATION(1)) +
                        (sum_t)IN2(entry * 2 * points + i % points);
      const sum_t column = (sum_t)(at.at[2] * STRIDE(2) - BEFORE(2) + tap % TAP_DIM(2) * DILATION(2)) +
                           (sum_t)IN2((entry * 2 + 1) * points + i % points);
      const sum_t weight = HAS_IN4 ? (sum_t)IN4(entry * points + i % points) : (sum_t)1;
      total += (sum_t)IN1(m * channels * taps + item) * weight *
               between(p, (n * X_CHANNELS + c) * X_PLANE, row, column);
    }
    OUT0(i, total);
  }
}
#endif
