/*
 * Windows that move over up to three spatial axes; of fewer the tensor's stand last. An element of
 * the result is a thread's. number: extents of x (0), of y (3), of the kernel (6), strides (9),
 * dilations (12), padding before (15) and behind (18), channels of x (21) and of y (22), groups
 * (23), tiles of a deformable convolution (24).
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
#elif OP_convolution
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
    sum_t total = HAS_IN2 ? (sum_t)IN2(m) : (sum_t)0;
    i64 place = 0;
    EACH_TAP(tap) {
      point_t source;
      const bool inside = tap_of(p, at, tap, source);
      const i64 where = from + (inside ? x_place(p, source) : 0);
      for (i64 c = 0; c < channels; ++c) {
        /* Outside are zeros, to be multiplied by weights that may be infinite. */
        const sum_t value = inside ? (sum_t)IN0(where + c * plane) : (sum_t)0;
        total += value * (sum_t)IN1(weights + c * taps + place);
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
/* Every tap is displaced by an offset, read between pixels, and weighted by a mask: four places of
 * a plane of x, -1 outside, and their weights. */
struct alignas(16) corners_t {
  int place[4];
  sum_t weight[4];
};
/* What was read there: joined when it is used, so that nothing waits before. */
struct sample_t {
  sum_t x[4];
  sum_t weight[4];
};
INLINE sample_t sample_at(const parameters_t& p, i64 plane, const corners_t& corners) {
  sample_t sample;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    sample.x[k] = corners.place[k] >= 0 ? (sum_t)IN0(plane + corners.place[k]) : (sum_t)0;
    sample.weight[k] = corners.weight[k];
  }
  return sample;
}
INLINE sum_t joined(const sample_t& s) {
  return s.weight[0] * s.x[0] + s.weight[1] * s.x[1] + s.weight[2] * s.x[2] + s.weight[3] * s.x[3];
}
/*
 * A block makes WIDE channels of PIXELS pixels. Of DEEP terms of their sums at a time each thread
 * samples one and loads WEIGHTS weights, while the ones before are multiplied: each warp has some
 * of the terms for the whole tile, a lane ROWS x PIXELS / 2 elements of it. The warps' sums are
 * added in the end.
 */
enum { WIDE = 64, PIXELS = 8, DEEP = 32, WARPS = 8, ROWS = 4, WEIGHTS = WIDE * DEEP / 256 };
enum { KEPT = sizeof(sum_t) == 8 ? 192 : 512 }; /* corners of taps and pixels, found once */
struct alignas(4 * sizeof(sum_t)) four_t {
  sum_t x[4];
};
struct tile_t {
  i64 n;
  i64 first_channel; /* of x */
  i64 channel;       /* of y: the tile's first one */
  i64 rows;          /* channels that are there */
  i64 pixel;
};
INLINE tile_t tile_of(const parameters_t& p, i64 block) {
  const i64 outputs = Y_CHANNELS / GROUPS;
  const i64 pixels = (Y_PLANE + PIXELS - 1) / PIXELS;
  const i64 down = (outputs + WIDE - 1) / WIDE;
  const i64 group = block / pixels / down % GROUPS;
  const i64 first = block / pixels % down * WIDE;
  return tile_t{block / pixels / down / GROUPS, group * (X_CHANNELS / GROUPS),
                group * outputs + first, least_of(WIDE, outputs - first), block % pixels * PIXELS};
}
INLINE corners_t corners_of(const parameters_t& p, const tile_t& tile, int pixel, int group,
                            int tap) {
  const i64 points = Y_PLANE;
  const i64 entry = (tile.n * A_offset_groups + group) * TAPS + tap;
  const int down = pixel / (int)Y_DIM(2);
  const sum_t row =
      (sum_t)(down * (int)STRIDE(1) - (int)BEFORE(1) + tap / (int)TAP_DIM(2) * (int)DILATION(1)) +
      (sum_t)IN2(entry * 2 * points + pixel);
  const sum_t column = (sum_t)((pixel - down * (int)Y_DIM(2)) * (int)STRIDE(2) - (int)BEFORE(2) +
                               tap % (int)TAP_DIM(2) * (int)DILATION(2)) +
                       (sum_t)IN2((entry * 2 + 1) * points + pixel);
  const sum_t mask = HAS_IN4 ? (sum_t)IN4(entry * points + pixel) : (sum_t)1;
  const sum_t top = op_floor(row);
  const sum_t left = op_floor(column);
  corners_t corners;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const sum_t r = k < 2 ? top : top + 1;
    const sum_t c = k % 2 == 0 ? left : left + 1;
    const bool is_inside = r >= 0 && r < (sum_t)X_DIM(1) && c >= 0 && c < (sum_t)X_DIM(2);
    corners.place[k] = is_inside ? (int)r * (int)X_DIM(2) + (int)c : -1;
    corners.weight[k] =
        is_inside ? mask * (1 - op_abs(row - r)) * (1 - op_abs(column - c)) : (sum_t)0;
  }
  return corners;
}
/* Term `item` of a pixel's sums. `kept`: corners by group of offsets from the tile's first one on,
 * tap and pixel; NULL where there are too many. */
INLINE sample_t term_of(const parameters_t& p, const tile_t& tile, const corners_t* kept, int pixel,
                        int item, int terms) {
  if (item >= terms || tile.pixel + pixel >= Y_PLANE) {
    return sample_t{};
  }
  const int taps = (int)TAPS;
  const int own = item / taps;
  const int tap = item - own * taps;
  const int c = (int)tile.first_channel + own;
  const int shared = (int)X_CHANNELS / (int)A_offset_groups;
  const i64 plane = (tile.n * X_CHANNELS + c) * X_PLANE;
  if (kept == 0) {
    return sample_at(p, plane, corners_of(p, tile, (int)tile.pixel + pixel, c / shared, tap));
  }
  return sample_at(
      p, plane,
      kept[((c / shared - (int)tile.first_channel / shared) * taps + tap) * PIXELS + pixel]);
}
INLINE void load_weights(const parameters_t& p, const tile_t& tile, i64 first, i64 terms,
                         sum_t* out) {
  const i64 item = first + threadIdx.x % DEEP;
#pragma unroll
  for (int k = 0; k < WEIGHTS; ++k) {
    const i64 row = threadIdx.x / DEEP + k * WARPS;
    out[k] = item < terms && row < tile.rows ? (sum_t)IN1((tile.channel + row) * terms + item)
                                             : (sum_t)0;
  }
}
KERNEL convolve(const __grid_constant__ parameters_t p) {
  __shared__ sum_t weights[2][DEEP][WIDE + 1];
  __shared__ four_t values[2][DEEP][PIXELS / 4];
  __shared__ corners_t corners[KEPT];
  begin(p);
  const int channels = (int)(X_CHANNELS / GROUPS);
  const int terms = channels * (int)TAPS;
  const int shared = (int)X_CHANNELS / (int)A_offset_groups; /* channels with the same offsets */
  const int warp = (int)threadIdx.x / 32;
  const int lane = (int)threadIdx.x % 32;
  const int half = lane / 16;
  EACH_BLOCK(block, p.number[24]) {
    const tile_t tile = tile_of(p, block);
    const int own_pixel = (int)threadIdx.x % PIXELS;
    const int own_item = (int)threadIdx.x / PIXELS;
    const int first_group = (int)tile.first_channel / shared;
    const int groups = ((int)tile.first_channel + channels - 1) / shared - first_group + 1;
    const int found = groups * (int)TAPS * PIXELS;
    const corners_t* kept = found <= KEPT ? corners : 0;
    for (int k = (int)threadIdx.x; kept != 0 && k < found; k += (int)blockDim.x) {
      const int pixel = (int)tile.pixel + k % PIXELS;
      if (pixel < Y_PLANE) {
        corners[k] = corners_of(p, tile, pixel, first_group + k / PIXELS / (int)TAPS,
                                k / PIXELS % (int)TAPS);
      }
    }
    __syncthreads();
    sum_t loaded[WEIGHTS];
    sum_t total[ROWS][4] = {};
    load_weights(p, tile, 0, terms, loaded);
    sample_t sampled = term_of(p, tile, kept, own_pixel, own_item, terms);
    int now = 0;
    for (int first = 0; first < terms; first += DEEP) {
#pragma unroll
      for (int k = 0; k < WEIGHTS; ++k) {
        weights[now][threadIdx.x % DEEP][threadIdx.x / DEEP + k * WARPS] = loaded[k];
      }
      values[now][own_item][threadIdx.x % PIXELS / 4].x[threadIdx.x % 4] = joined(sampled);
      __syncthreads();
      if (first + DEEP < terms) {
        load_weights(p, tile, first + DEEP, terms, loaded);
        sampled = term_of(p, tile, kept, own_pixel, first + DEEP + own_item, terms);
      }
#pragma unroll
      for (int k = 0; k < DEEP / WARPS; ++k) {
        const int item = warp * (DEEP / WARPS) + k;
        const four_t x = values[now][item][half];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
          const sum_t w = weights[now][item][lane % 16 + 16 * r];
#pragma unroll
          for (int c = 0; c < 4; ++c) {
            total[r][c] = fused(w, x.x[c], total[r][c]);
          }
        }
      }
      now = 1 - now;
    }
    __syncthreads();
    sum_t* sums = &weights[0][0][0]; /* of warps, channels, pixels */
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        sums[(warp * WIDE + lane % 16 + 16 * r) * PIXELS + half * 4 + c] = total[r][c];
      }
    }
    __syncthreads();
    EACH_THREAD(i, WIDE * PIXELS) {
      const i64 m = tile.channel + i / PIXELS;
      const i64 pixel = tile.pixel + i % PIXELS;
      if (i / PIXELS < tile.rows && pixel < Y_PLANE) {
        sum_t sum = HAS_IN3 ? (sum_t)IN3(m) : (sum_t)0;
        for (int w = 0; w < WARPS; ++w) {
          sum += sums[w * WIDE * PIXELS + i];
        }
        OUT0((tile.n * Y_CHANNELS + m) * Y_PLANE + pixel, sum);
      }
    }
    __syncthreads();
  }
}
#endif
