/*
 * Resize: along each axis an output coordinate has a place in x, and a few taps around it with
 * weights; an element is the sum over the taps of all axes. LAST: channels lie innermost.
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

#if A_coordinate_mode_tf_crop_and_resize
#define IS_OUTSIDE(at) ((at) < 0)
#else
#define IS_OUTSIDE(at) false
#endif
struct axis_t {
  double scale;
  double inverse; /* 1 / scale, rounded */
  double begin;
  double end;
  bool stays;
};
INLINE axis_t axis_of(const parameters_t& p, int k) {
  axis_t axis;
  const bool has_scale = HAS_IN2 && k < p.in[2].count;
  const bool has_roi = HAS_IN3 && p.in[3].count == 2 * RANK;
  axis.scale = has_scale ? (double)IN2(k) : (double)p.out[0].dims[k] / (double)p.in[0].dims[k];
  axis.inverse = 1.0 / axis.scale;
  axis.begin = has_roi ? (double)IN3(k) : 0.0;
  axis.end = has_roi ? (double)IN3(k + RANK) : 1.0;
  axis.stays = p.out[0].dims[k] == p.in[0].dims[k] && fabs(axis.scale - 1.0) < 1e-9 &&
               axis.begin == 0.0 && axis.end == 1.0;
  return axis;
}
/* Scales are data, and a refit may change them. One that widens filters is no less than any that
 * makes these extents, which are rounded, up to half of one: so taps are few. */
INLINE bool scale_fits(const parameters_t& p, int k, double scale) {
  const double input = (double)p.in[0].dims[k];
  const bool widens = A_antialias && scale < ((double)p.out[0].dims[k] - 0.5) / input;
  return input >= 1.0 && scale > 0.0 && isfinite(scale) && !widens;
}
INLINE int tap_count(double scale) {
#if A_mode_nearest
  return 2;
#else
  return !A_antialias || scale >= 1.0 ? (int)(2 * RADIUS)
                                      : 2 - 2 * ((int)floor(-RADIUS / scale) + 1);
#endif
}
/* Returns place / scale, rounded as a division rounds it. The inverse gives an estimate, and its
 * exact remainder gives the correction. Estimates above FAR are divided instead. */
INLINE double unscaled(const axis_t& axis, double place) {
  const double near = place * axis.inverse;
  return fabs(near) <= FAR ? fma(fma(-near, axis.scale, place), axis.inverse, near)
                           : place / axis.scale;
}
/* Where output coordinate `at` lies in x. */
INLINE double source_place(const axis_t& axis, i64 at, double input, double length) {
  const double output = axis.scale * input; /* not rounded */
  const double place = (double)at;
#if A_coordinate_mode_align_corners
  return output == 1.0 ? 0.0 : place * (input - 1.0) / (output - 1.0);
#elif A_coordinate_mode_asymmetric
  return unscaled(axis, place);
#elif A_coordinate_mode_tf_crop_and_resize
  const double span = (axis.end - axis.begin) * (input - 1.0);
  const double within = length == 1.0 ? span / 2.0 : place * span / (length - 1.0);
  return within + axis.begin * (input - 1.0);
#elif A_coordinate_mode_pixel_center
  return unscaled(axis, place + 0.5);
#else
  const double half_pixel = unscaled(axis, place + 0.5) - 0.5;
#if A_coordinate_mode_pytorch_half_pixel
  return length == 1.0 ? 0.0 : half_pixel;
#elif A_coordinate_mode_half_pixel_symmetric
  return input / 2.0 * (1.0 - length / output) + half_pixel;
#else
  return half_pixel;
#endif
#endif
}
/* T is double if the weight may select a tap, else it may be real_t. */
template <class T>
INLINE T tap_weight(T ratio, T distance, int tap) {
#if A_mode_nearest
#if A_nearest_mode_round_prefer_floor
  const bool second = ratio == 1 || ratio > (T)0.5;
#elif A_nearest_mode_round_prefer_ceil
  const bool second = ratio == 1 || ratio >= (T)0.5;
#elif A_nearest_mode_ceil
  const bool second = true;
#else
  const bool second = ratio == 1;
#endif
  return second == (tap == 1) ? (T)1 : (T)0;
#elif A_mode_linear
  const T rest = (T)1 - op_abs(distance);
  return rest > 0 ? rest : (T)0;
#else
  const T a = (T)A_cubic_coeff_a;
  const T d = op_abs(distance);
  return d <= 1  ? ((a + 2) * d - (a + 3)) * d * d + 1
         : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
                 : (T)0;
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
INLINE double share_of(const parameters_t& p, const taps_t& taps, int k, int tap) {
  const double weight = weight_of(p, taps, k, tap);
  return taps.total == 1.0 ? weight : weight / taps.total;
}
INLINE taps_t taps_of(const parameters_t& p, int k, const axis_t& axis, i64 at) {
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

/* How far a step along an axis is, in x and in y: rows, or LAST, where channels lie innermost. */
INLINE i64 step_of(const tensor_t& t, int axis) {
#if LAST
  return axis == 1 ? 1 : t.dims[1] * product(t, axis == 0 ? 2 : axis + 1, RANK);
#else
  return product(t, axis + 1, RANK);
#endif
}
/* The sum over taps of axis K and those behind it. */
template <int K>
INLINE real_t sample(const parameters_t& p, const taps_t* taps, i64 place) {
  if constexpr (K == RANK) {
    return (real_t)IN0(place);
  } else {
    const i64 extent = p.in[0].dims[K];
    const i64 step = step_of(p.in[0], K);
    real_t total = 0;
    if (taps[K].stays) {
      return sample<K + 1>(p, taps, place + taps[K].first * step);
    }
    for (int tap = 0; tap < taps[K].count; ++tap) {
      const real_t weight = (real_t)share_of(p, taps[K], K, tap);
      const i64 index = most_of(0, least_of(taps[K].first + tap, extent - 1));
      if (weight != 0) {
        total += weight * sample<K + 1>(p, taps, place + index * step);
      }
    }
    return total;
  }
}
#if OUT0_CLASS_f
#define RESULT(x) (x)
#else
#define RESULT(x) rint(x)
#endif
/* Any resize: an element is a thread's, which finds its taps by itself. */
CALLED void resize_elements(const parameters_t& p) {
  EACH(i, p.out[0].count) {
    taps_t taps[RANK + 1];
    i64 rest = i;
    i64 to = 0;
    bool outside = false;
#pragma unroll
    for (int k = RANK - 1; k >= 0; --k) {
      const i64 at = rest % p.out[0].dims[k];
      taps[k] = taps_of(p, k, axis_of(p, k), at);
      to += at * step_of(p.out[0], k);
      rest /= p.out[0].dims[k];
      outside = outside || taps[k].count < 0;
    }
    const real_t value = outside ? (real_t)A_extrapolation_value : sample<0>(p, taps, 0);
    OUT0(to, RESULT(value));
  }
}

#if IN0_RANK >= 2
/*
 * If only the last two axes change, a block makes some rows of some columns and computes their taps
 * once. A thread makes the same unit of many rows. A unit is V adjacent elements, or with LAST an
 * access of adjacent channels of one column.
 */
#if A_mode_nearest
#define IS_CHOICE 1 /* a tap, not multiplied */
enum { TAPS = 1, ROWS_AT_ONCE = 4 }; /* rows whose reads are under way at once */
#elif A_mode_cubic
enum { TAPS = 4, ROWS_AT_ONCE = 1 };
#else
enum { TAPS = 2, ROWS_AT_ONCE = 1 };
#endif
/*
 * sampling.c divides the result among blocks. A tile is at most TILE units of a row, and a block
 * makes at most ROWS rows of a tile. The two limits are equal, so that neither the taps of columns
 * nor the taps of rows dominate. resize.h defines TILE, ROWS, ACCESS_BYTES, OF_TWO_TAPS and
 * OF_FOUR_TAPS.
 *
 * p.number[0]  units of a row
 * p.number[1]  units of a tile
 * p.number[2]  tiles of a row
 * p.number[3]  rows that the threads of a block make at the same time
 * p.number[4]  rows of a block
 * p.number[5]  LAST: accesses of a column
 * p.number[6]  rows of the result
 * p.number[7]  blocks of work, which may exceed the blocks of the launch
 */
#if LAST
enum { V = ACCESS_BYTES / (int)sizeof(IN0_STORED), COLUMNS = TILE };
#else
enum { FITS = ACCESS_BYTES / (int)sizeof(OUT0_STORED) };
enum { USUAL = TAPS > 2 ? OF_FOUR_TAPS : OF_TWO_TAPS };
enum { V = FITS < USUAL ? FITS : USUAL, COLUMNS = TILE * V };
#endif
struct line_taps_t {
  int at[TAPS]; /* the first of them -1: outside, to be extrapolated */
  real_t weight[TAPS];
};
struct row_t {
  int first; /* of x, of its plane */
  line_taps_t taps;
};
INLINE line_taps_t line_taps_of(const parameters_t& p, int k, const axis_t& axis, i64 at) {
  const taps_t taps = taps_of(p, k, axis, at);
  line_taps_t found;
#pragma unroll
  for (int t = 0; t < TAPS; ++t) {
#if IS_CHOICE
    const int tap = taps.stays || weight_of(p, taps, k, 0) != 0.0 ? 0 : 1;
    const real_t weight = 1;
#else
    const int tap = taps.stays ? 0 : t;
    const real_t ratio = (real_t)taps.ratio;
    const real_t weight = A_exclude_outside
                              ? (real_t)share_of(p, taps, k, tap)
                              : tap_weight(ratio, (real_t)(tap - TAPS / 2 + 1) - ratio, tap);
#endif
    found.at[t] = (int)most_of(0, least_of(taps.first + tap, p.in[0].dims[k] - 1));
    found.weight[t] = taps.stays ? (real_t)(t == 0) : weight;
  }
  found.at[0] = taps.count < 0 ? -1 : found.at[0];
  return found;
}
#if !LAST && !IS_CHOICE
/* Returns x if `keeps` is set, else 0. With a conditional expression, the compiler would load each
 * x only after its condition. With a mask, all loads start at once. */
INLINE float zero_unless(bool keeps, float x) {
  return __uint_as_float(__float_as_uint(x) & (keeps ? ~0u : 0u));
}
INLINE double zero_unless(bool keeps, double x) {
  return __longlong_as_double(__double_as_longlong(x) & (keeps ? ~0ll : 0ll));
}
/* Sums of rows of x over the taps of a thread's columns. Adjacent rows of y need the same sums, or
 * the sums of the next tap. */
struct row_sums_t {
  int row[TAPS]; /* -1: none */
  real_t sum[TAPS][V];
};
INLINE void sum_row(const IN0_STORED* x, i64 step, int row, int tap, const line_taps_t (&across)[V],
                    row_sums_t& sums) {
  if (row == sums.row[tap]) {
    return;
  }
  sums.row[tap] = row;
  const int next = tap + 1 < TAPS ? tap + 1 : tap;
  if (next != tap && sums.row[next] == row) {
#pragma unroll
    for (int k = 0; k < V; ++k) {
      sums.sum[tap][k] = sums.sum[next][k];
    }
    return;
  }
  const IN0_STORED* from = x + row * step;
#pragma unroll
  for (int k = 0; k < V; ++k) {
    real_t sum = 0;
#pragma unroll
    for (int c = 0; c < TAPS; ++c) {
      const int at = IS_OUTSIDE(across[k].at[c]) ? 0 : across[k].at[c]; /* not used */
      const real_t weight = across[k].weight[c];
      sum = fused(weight, zero_unless(weight != 0, (real_t)IN0_VALUE(from[at])), sum);
    }
    sums.sum[tap][k] = sum;
  }
}
#endif
/* Selects each member, so that the axes stay in registers. A reference to one of them would make
 * the compiler store both in memory. */
INLINE axis_t one_of(bool first, const axis_t& a, const axis_t& b) {
  return axis_t{first ? a.scale : b.scale, first ? a.inverse : b.inverse, first ? a.begin : b.begin,
                first ? a.end : b.end, first ? a.stays : b.stays};
}
INLINE void resize_lines(const parameters_t& p) {
  __shared__ line_taps_t columns[COLUMNS];
  __shared__ row_t rows[ROWS];
  const int width = (int)p.out[0].dims[RANK - 1];
  const unsigned height = (unsigned)p.out[0].dims[RANK - 2];
  const int x_height = (int)p.in[0].dims[RANK - 2];
#if LAST
  const int pieces = (int)p.number[5];
  const unsigned all = (unsigned)p.out[0].dims[0] * height;
  const i64 depth = p.in[0].dims[1]; /* elements of a column */
  const bool is_whole = true;
#else
  const unsigned all = (unsigned)p.number[6];
  const i64 depth = 1;
  const bool is_whole = width % V == 0 && is_aligned(p.out[0]);
#endif
  const int units = (int)p.number[0];
  const int tile = (int)p.number[1];
  const int tiles = (int)p.number[2];
  const int at_once = (int)p.number[3];
  const unsigned chunk = (unsigned)p.number[4];
  const axis_t down = axis_of(p, RANK - 2);
  const axis_t along = axis_of(p, RANK - 1);
  const i64 row_step = p.in[0].dims[RANK - 1] * depth;
  const IN0_STORED* __restrict__ from = (const IN0_STORED*)p.in[0].data;
  OUT0_STORED* __restrict__ to = (OUT0_STORED*)p.out[0].data;
  const unsigned blocks = (unsigned)p.number[7];
  for (unsigned block = blockIdx.x; block < blocks; block += gridDim.x) {
    const int first_unit = (int)(block % tiles) * tile;
    const unsigned first_row = block / tiles * chunk;
    const int count = (int)least_of(chunk, all - first_row);
#if LAST
    const int first_column = first_unit / pieces;
    const int last_column = (first_unit + tile - 1) / pieces;
#else
    const int first_column = first_unit * V;
    const int last_column = (first_unit + tile) * V - 1;
#endif
    /* One loop for both, so that the code is there once. */
    const int width_here = last_column - first_column + 1;
    for (int k = (int)threadIdx.x; k < width_here + count; k += 256) {
      const bool is_row = k >= width_here;
      const unsigned row = first_row + (is_row ? k - width_here : 0);
      const i64 at = is_row ? (i64)(row % height) : least_of(first_column + k, width - 1);
      const line_taps_t taps = line_taps_of(p, RANK - 1 - is_row, one_of(is_row, down, along), at);
      if (is_row) {
        rows[k - width_here] = row_t{(int)(row / height) * x_height, taps};
      } else {
        columns[k] = taps;
      }
    }
    __syncthreads();
    const int unit = first_unit + (int)threadIdx.x % tile;
    const bool works = (int)threadIdx.x < tile * at_once && unit < units;
#if LAST
    const line_taps_t across = columns[works ? unit / pieces - first_column : 0];
    const i64 own = unit % pieces * V;
#else
    line_taps_t across[V];
#pragma unroll
    for (int k = 0; k < V; ++k) {
      across[k] = columns[works ? (unit - first_unit) * V + k : 0];
    }
#endif
    const int of_a_thread = (count + at_once - 1) / at_once;
    const int first = (int)threadIdx.x / tile * of_a_thread;
#if !LAST && !IS_CHOICE
    row_sums_t sums;
#pragma unroll
    for (int k = 0; k < TAPS; ++k) {
      sums.row[k] = -1;
    }
#endif
    const int last = works ? (int)least_of(count, first + of_a_thread) : first;
#pragma unroll ROWS_AT_ONCE
    for (int r = first; r < last; ++r) {
      const row_t row = rows[r];
      several_t<OUT0_STORED, V> result;
      const i64 to_row = (i64)(first_row + r) * width * depth;
#if LAST
      const bool outside = IS_OUTSIDE(row.taps.at[0]) || IS_OUTSIDE(across.at[0]);
      typedef several_t<IN0_STORED, V> piece_t;
#if IS_CHOICE
      const piece_t piece =
          *(const piece_t*)(from + (row.first + (outside ? 0 : row.taps.at[0])) * row_step +
                            (outside ? 0 : across.at[0]) * depth + own);
#pragma unroll
      for (int k = 0; k < V; ++k) {
        result.item[k] =
            OUT0_STORE(outside ? (real_t)A_extrapolation_value : (real_t)IN0_VALUE(piece.item[k]));
      }
#else
      real_t total[V] = {};
#pragma unroll
      for (int a = 0; a < TAPS; ++a) {
        real_t sum[V] = {};
#pragma unroll
        for (int b = 0; b < TAPS; ++b) {
          if (!outside && row.taps.weight[a] != 0 && across.weight[b] != 0) {
            const piece_t piece = *(const piece_t*)(from + (row.first + row.taps.at[a]) * row_step +
                                                    across.at[b] * depth + own);
#pragma unroll
            for (int k = 0; k < V; ++k) {
              sum[k] = fused(across.weight[b], (real_t)IN0_VALUE(piece.item[k]), sum[k]);
            }
          }
        }
#pragma unroll
        for (int k = 0; k < V; ++k) {
          total[k] = row.taps.weight[a] != 0 ? fused(row.taps.weight[a], sum[k], total[k])
                                             : total[k];
        }
      }
#pragma unroll
      for (int k = 0; k < V; ++k) {
        result.item[k] = OUT0_STORE(outside ? (real_t)A_extrapolation_value : total[k]);
      }
#endif
      *(several_t<OUT0_STORED, V>*)(to + to_row + unit / pieces * depth + own) = result;
#else
      real_t total[V] = {};
      const bool is_outside = IS_OUTSIDE(row.taps.at[0]);
#pragma unroll
      for (int a = 0; a < TAPS; ++a) {
        const int source = row.first + (is_outside ? 0 : row.taps.at[a]);
#if IS_CHOICE
        const IN0_STORED* own = from + source * row_step;
#pragma unroll
        for (int k = 0; k < V; ++k) {
          total[k] = (real_t)IN0_VALUE(own[IS_OUTSIDE(across[k].at[0]) ? 0 : across[k].at[0]]);
        }
#else
        if (!is_outside && row.taps.weight[a] != 0) {
          sum_row(from, row_step, source, a, across, sums);
#pragma unroll
          for (int k = 0; k < V; ++k) {
            total[k] = fused(row.taps.weight[a], sums.sum[a][k], total[k]);
          }
        }
#endif
      }
#pragma unroll
      for (int k = 0; k < V; ++k) {
        const bool outside = is_outside || IS_OUTSIDE(across[k].at[0]);
        result.item[k] = OUT0_STORE(RESULT(outside ? (real_t)A_extrapolation_value : total[k]));
      }
      if (is_whole) {
        *(several_t<OUT0_STORED, V>*)(to + to_row + unit * V) = result;
      } else {
        for (int k = 0; k < V && unit * V + k < width; ++k) {
          to[to_row + unit * V + k] = result.item[k];
        }
      }
#endif
    }
    __syncthreads();
  }
}
#define HAS_LINES 1
#endif
/* As many taps as lines have: filters widen with antialiasing, and a tap that is left out makes
 * the choice of a nearest one none. */
#if A_mode_nearest
#define TAPS_ARE_FEW (!A_antialias && !A_exclude_outside)
#else
#define TAPS_ARE_FEW (!A_antialias)
#endif

extern "C" __global__ void __launch_bounds__(256, 3)
    resize(const __grid_constant__ parameters_t p) {
  begin(p);
  bool is_flat = true;
  int unfit = -1;
#pragma unroll /* scales are read at once */
  for (int k = RANK - 1; k >= 0; --k) {
    const axis_t axis = axis_of(p, k);
    unfit = scale_fits(p, k, axis.scale) ? unfit : k;
    is_flat = is_flat && (k + 2 >= RANK || axis.stays);
  }
  if (unfit >= 0 && p.out[0].count > 0) {
    fail(p, 1, unfit);
    return;
  }
#if HAS_LINES
  if (TAPS_ARE_FEW && is_flat && p.out[0].count > 0 && p.out[0].count < (i64)1 << 31 &&
      p.out[0].dims[RANK - 1] < (i64)1 << 24 &&
      p.in[0].count / p.in[0].dims[RANK - 1] < (i64)1 << 31) {
    resize_lines(p);
    return;
  }
#endif
  resize_elements(p);
}
