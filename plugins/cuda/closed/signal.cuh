/*
 * Fourier transforms of any length, and the mel filter bank. Complex numbers are a last axis of 2,
 * real ones a last axis of 1.
 *
 * A block transforms whole lines, in shared memory where they fit, else in scratch memory. Lengths
 * are products of factors. After factors with the product L, of n numbers in all, y[k][b] is the
 * transform of length L of every (n / L)th number from b on:
 *
 *   y'[k][b] = sum over m < r of turn(m k / (L r)) y[k mod L][b + m n / (L r)]
 *
 * is the transform of length L r. A thread computes the r numbers that have the same k mod L and
 * the same b. Their turns differ by the factor turn(m q / r) only. A block computes all turns once.
 */
#if !OP_mel_weight_matrix
/* f64 stays f64, what is narrower is computed with as f32. */
struct complex_t {
  sum_t re;
  sum_t im;
};
/*
 * PLACES    complex numbers of each of the 3 buffers in shared memory
 * SLOTS     maximum blocks that use scratch memory, as in signal.c
 * TOGETHER  complex numbers of the lines that a block transforms together, if lines are shorter
 * AT_ONCE   complex numbers that a thread loads before it stores them
 */
enum { PLACES = 16384 / (int)sizeof(complex_t), SLOTS = 264, TOGETHER = 256, AT_ONCE = 4 };
/* Lines of a tensor: numbers at start + k step, `parts` elements each; past `count` zeros. */
struct line_t {
  i64 start;
  i64 step;
  i64 count;
  i64 parts;
  i64 to;
  i64 to_step;
};
struct transform_t {
  i64 lines;
  i64 length;
  i64 wanted; /* of the results' numbers, the first ones */
  i64 result_parts;
};
#if OP_dft
#define INVERSE (A_inverse != 0)
#define FROM_HALF (A_inverse && A_onesided)
#else
#define INVERSE false
#define FROM_HALF false
#endif
#if OP_stft && HAS_IN2
#define WINDOW_AT(n) ((sum_t)IN2(n))
#else
#define WINDOW_AT(n) ((sum_t)1)
#endif

INLINE complex_t number_at(const parameters_t& p, const line_t& line, i64 index) {
  complex_t value = {0, 0};
  if (index < line.count) {
    value.re = (sum_t)IN0(line.start + index * line.step);
    value.im = line.parts == 2 ? (sum_t)IN0(line.start + index * line.step + 1) : (sum_t)0;
  }
  return value;
}
/* Half of a spectrum stands for the whole: the other half is conjugate. */
INLINE complex_t source_at(const parameters_t& p, const line_t& line, i64 index, i64 length) {
  const bool is_own = !FROM_HALF || index <= length / 2;
  complex_t value = number_at(p, line, is_own ? index : length - index);
  if (FROM_HALF) {
    value.im = is_own ? (index == 0 || 2 * index == length ? (sum_t)0 : value.im) : -value.im;
  }
  const sum_t factor = WINDOW_AT(index);
  return complex_t{value.re * factor, value.im * factor};
}
/* Sine and cosine of x half turns. */
INLINE void find_turn(float x, float& s, float& c) { sincospif(x, &s, &c); }
INLINE void find_turn(double x, double& s, double& c) { sincospi(x, &s, &c); }
/* The angle is reduced to a quarter turn, so that it is as exact as its type. */
template <class index_t>
INLINE complex_t turn_of(index_t k, index_t length) {
  const index_t quarter = 4 * k / length;
  sum_t c = 0;
  sum_t s = 0;
  find_turn((sum_t)0.5 * ((sum_t)(4 * k - quarter * length) / (sum_t)length), s, c);
  const sum_t re = quarter % 2 == 0 ? c : s;
  const sum_t im = quarter % 2 == 0 ? s : c;
  const bool is_left = quarter == 1 || quarter == 2;
  return complex_t{is_left ? -re : re, (quarter >= 2) != !INVERSE ? -im : im};
}
INLINE void add_product(complex_t& total, const complex_t& a, const complex_t& b) {
  total.re = fused(a.re, b.re, fused(-a.im, b.im, total.re));
  total.im = fused(a.re, b.im, fused(a.im, b.re, total.im));
}
INLINE void put_result(const parameters_t& p, const transform_t& t, const line_t& line, i64 k,
                       complex_t value) {
  const i64 to = line.to + k * line.to_step;
  const sum_t scale = INVERSE ? (sum_t)t.length : (sum_t)1;
  typedef several_t<OUT0_STORED, 2> both_t;
  if (t.result_parts == 2 && is_aligned(p.out[0])) {
    const both_t both = {{OUT0_STORE(value.re / scale), OUT0_STORE(value.im / scale)}};
    *(both_t*)((OUT0_STORED*)p.out[0].data + to) = both; /* complex numbers have even offsets */
    return;
  }
  OUT0(to, value.re / scale);
  if (t.result_parts == 2) {
    OUT0(to + 1, value.im / scale);
  }
}
INLINE int factor_of(int n) {
  if (n % 4 == 0 || n % 2 == 0) {
    return n % 4 == 0 ? 4 : 2;
  }
  for (i64 r = 3; r * r <= n; r += 2) {
    if (n % (int)r == 0) {
      return (int)r;
    }
  }
  return n;
}

/* Division by what is a power of two, mostly. */
struct divisor_t {
  int value;
  int shift; /* -1: it is none */
};
INLINE divisor_t divisor_of(int value) {
  return divisor_t{value, (value & (value - 1)) == 0 ? __ffs(value) - 1 : -1};
}
INLINE int divide(int x, const divisor_t& d) {
  return d.shift >= 0 ? x >> d.shift : x / d.value;
}

/* Transforms R numbers in place. roots[m] is turn(m / R), and factors 2 and 4 do not use it. */
template <int R>
INLINE void transform_few(complex_t (&x)[R], const complex_t (&roots)[R]) {
  if constexpr (R == 2) {
    const complex_t a = x[0];
    x[0] = complex_t{a.re + x[1].re, a.im + x[1].im};
    x[1] = complex_t{a.re - x[1].re, a.im - x[1].im};
  } else if constexpr (R == 4) {
    const complex_t even[2] = {{x[0].re + x[2].re, x[0].im + x[2].im},
                               {x[0].re - x[2].re, x[0].im - x[2].im}};
    const complex_t odd[2] = {{x[1].re + x[3].re, x[1].im + x[3].im},
                              {x[1].re - x[3].re, x[1].im - x[3].im}};
    /* odd[1], multiplied by turn(1 / 4) */
    const complex_t turned = INVERSE ? complex_t{-odd[1].im, odd[1].re}
                                     : complex_t{odd[1].im, -odd[1].re};
    x[0] = complex_t{even[0].re + odd[0].re, even[0].im + odd[0].im};
    x[1] = complex_t{even[1].re + turned.re, even[1].im + turned.im};
    x[2] = complex_t{even[0].re - odd[0].re, even[0].im - odd[0].im};
    x[3] = complex_t{even[1].re - turned.re, even[1].im - turned.im};
  } else {
    complex_t result[R];
#pragma unroll
    for (int k = 0; k < R; ++k) {
      result[k] = x[0];
#pragma unroll
      for (int m = 1; m < R; ++m) {
        add_product(result[k], roots[m * k % R], x[m]);
      }
    }
#pragma unroll
    for (int k = 0; k < R; ++k) {
      x[k] = result[k];
    }
  }
}
/* Applies factor R to `count` numbers in lines of n. `done` is the product of the factors before. A
 * thread computes R numbers from R numbers. */
template <int R>
INLINE void take_factor(const complex_t* from, complex_t* to, const complex_t* turns, int n,
                        int done, int count) {
  const int rest = n / (done * R);
  const divisor_t line = divisor_of(n / R);
  const divisor_t behind = divisor_of(rest);
  complex_t roots[R] = {{1, 0}};
  if (R != 2 && R != 4) {
#pragma unroll
    for (int m = 1; m < R; ++m) {
      roots[m] = turns[m * (n / R)];
    }
  }
  for (int i = (int)threadIdx.x; i < count / R; i += (int)blockDim.x) {
    const int number = divide(i, line);
    const int at = i - number * line.value;
    const int k = divide(at, behind);
    const int first = number * n + at - k * rest;
    complex_t x[R];
#pragma unroll
    for (int m = 0; m < R; ++m) {
      x[m] = from[first + (k * R + m) * rest];
    }
    if (done > 1) {
#pragma unroll
      for (int m = 1; m < R; ++m) {
        complex_t turned = {0, 0};
        add_product(turned, turns[m * k * rest], x[m]);
        x[m] = turned;
      }
    }
    transform_few<R>(x, roots);
#pragma unroll
    for (int q = 0; q < R; ++q) {
      to[first + (k + q * done) * rest] = x[q];
    }
  }
}
/* Applies a factor of any size. A thread computes a number as a sum of `factor` terms, in f64. */
INLINE void take_large_factor(const complex_t* from, complex_t* to, const complex_t* turns, int n,
                              int done, int factor, int count) {
  const int whole = done * factor;
  const int behind = n / whole;
  for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x) {
    const int at = i % n;
    const int k = at / behind;
    const int b = at - k * behind;
    const complex_t* x = from + (i - at) + k % done * (n / done) + b;
    double re = (double)x[0].re;
    double im = (double)x[0].im;
    int turn = 0;
    for (int m = 1; m < factor; ++m) {
      turn += k;
      turn -= turn >= whole ? whole : 0;
      const complex_t a = turns[(i64)turn * behind];
      const complex_t c = x[(i64)m * behind];
      re += (double)a.re * (double)c.re - (double)a.im * (double)c.im;
      im += (double)a.re * (double)c.im + (double)a.im * (double)c.re;
    }
    to[i] = complex_t{(sum_t)re, (sum_t)im};
  }
}
/* Applies all factors. Returns the buffer that has the results: `from` or `to`. */
INLINE const complex_t* take_factors(complex_t* from, complex_t* to, const complex_t* turns, int n,
                                     int count) {
  for (int done = 1; done < n;) {
    const int factor = factor_of(n / done);
    switch (factor) {
      case 2:
        take_factor<2>(from, to, turns, n, done, count);
        break;
      case 3:
        take_factor<3>(from, to, turns, n, done, count);
        break;
      case 4:
        take_factor<4>(from, to, turns, n, done, count);
        break;
      case 5:
        take_factor<5>(from, to, turns, n, done, count);
        break;
      default:
        take_large_factor(from, to, turns, n, done, factor, count);
        break;
    }
    __syncthreads();
    complex_t* swapped = from;
    from = to;
    to = swapped;
    done *= factor;
  }
  return from;
}

/* By the definition: what is longer than shared memory has room for, and has no scratch memory. */
template <class L>
INLINE void transform_slowly(const parameters_t& p, const transform_t& t, L line_of) {
  EACH(i, t.lines * t.wanted) {
    const line_t line = line_of(i / t.wanted);
    const i64 k = i % t.wanted;
    complex_t total = {0, 0};
    for (i64 n = 0; n < t.length; ++n) {
      add_product(total, source_at(p, line, n, t.length), turn_of<i64>(n * k % t.length, t.length));
    }
    put_result(p, t, line, k, total);
  }
}
/* Transforms all lines of a block. `own` and `spare` have room for the lines that are transformed
 * together, `turns` has room for n numbers. */
template <class L>
INLINE void transform_in(const parameters_t& p, const transform_t& t, const L& line_of,
                         complex_t* own, complex_t* spare, complex_t* turns, i64 blocks) {
  const int n = (int)t.length;
  const int group = n < TOGETHER ? TOGETHER / n : 1;
  const bool is_short = n < 1 << 29;
  for (int k = (int)threadIdx.x; k < n; k += (int)blockDim.x) {
    turns[k] = is_short ? turn_of<int>(k, n) : turn_of<i64>(k, n);
  }
  for (i64 first = (i64)blockIdx.x * group; first < t.lines; first += blocks * group) {
    const int count = (int)least_of(group, t.lines - first) * n;
    const line_t only = line_of(first); /* used if a group is one line */
    for (int i = (int)threadIdx.x; i < count; i += AT_ONCE * (int)blockDim.x) {
      complex_t read[AT_ONCE];
#pragma unroll
      for (int b = 0; b < AT_ONCE; ++b) {
        const int at = i + b * (int)blockDim.x;
        if (at < count) {
          read[b] = group == 1 ? source_at(p, only, at, n)
                               : source_at(p, line_of(first + at / n), at % n, n);
        }
      }
#pragma unroll
      for (int b = 0; b < AT_ONCE; ++b) {
        const int at = i + b * (int)blockDim.x;
        if (at < count) {
          own[at] = read[b];
        }
      }
    }
    __syncthreads();
    const complex_t* found = take_factors(own, spare, turns, n, count);
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x) {
      if (group == 1 && i < t.wanted) {
        put_result(p, t, only, i, found[i]);
      } else if (group > 1 && i % n < t.wanted) {
        put_result(p, t, line_of(first + i / n), i % n, found[i]);
      }
    }
    __syncthreads();
  }
}
template <class L>
INLINE void transform_lines(const parameters_t& p, const transform_t& t, L line_of) {
  __shared__ complex_t kept[3 * PLACES];
  const bool fits = t.length <= PLACES;
  if (t.length < 1 || (!fits && (p.scratch == 0 || t.length >= (i64)1 << 31))) {
    transform_slowly(p, t, line_of);
    return;
  }
  const i64 n = t.length;
  const i64 group = n < TOGETHER ? TOGETHER / n : 1;
  const i64 blocks = fits ? gridDim.x : least_of(gridDim.x, SLOTS);
  if (blockIdx.x >= least_of(blocks, (t.lines + group - 1) / group)) {
    return;
  }
  /* The code exists twice, because loads take fewer instructions if the compiler knows that they
   * read shared memory. */
  if (fits) {
    transform_in(p, t, line_of, kept, kept + PLACES, kept + 2 * PLACES, blocks);
  } else {
    complex_t* own = (complex_t*)p.scratch + (i64)blockIdx.x * 3 * n;
    transform_in(p, t, line_of, own, own + n, own + 2 * n, blocks);
  }
}
#endif

#if OP_dft
KERNEL transform_all(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 given = HAS_IN2 && p.in[2].count > 0 ? (i64)IN2(0) : (i64)A_fixed_axis;
  const int axis = (int)wrapped(given, IN0_RANK);
  if (axis < 0 || axis + 1 >= IN0_RANK) {
    fail(p, 1, given);
    return;
  }
  const i64 extent = p.in[0].dims[axis];
  const i64 inner = product(p.in[0], axis + 1, IN0_RANK);
  const i64 parts = p.in[0].dims[IN0_RANK - 1];
  const i64 to_extent = p.out[0].dims[axis];
  const i64 to_inner = product(p.out[0], axis + 1, OUT0_RANK);
  const i64 result_parts = p.out[0].dims[OUT0_RANK - 1];
  const i64 whole = FROM_HALF ? 2 * (extent - 1) : extent;
  const i64 length = HAS_IN1 && p.in[1].count > 0 ? (i64)IN1(0) : whole;
  const i64 lanes = inner / parts;
  const transform_t t = {p.out[0].count / result_parts / to_extent, length, to_extent,
                         result_parts};
  transform_lines(p, t, [&](i64 line) {
    const i64 outer = line / lanes;
    const i64 lane = line % lanes;
    return line_t{outer * extent * inner + lane * parts,
                  inner,
                  extent,
                  parts,
                  outer * to_extent * to_inner + lane * result_parts,
                  to_inner};
  });
}
#elif OP_stft
KERNEL transform_all(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 step = HAS_IN1 && p.in[1].count > 0 ? (i64)IN1(0) : 1;
  const i64 parts = IN0_RANK > 2 ? p.in[0].dims[2] : 1;
  const i64 length = HAS_IN3 && p.in[3].count > 0 ? (i64)IN3(0) : HAS_IN2 ? p.in[2].dims[0] : 0;
  const i64 samples = p.in[0].dims[1];
  const i64 frames = p.out[0].dims[1];
  const i64 bins = p.out[0].dims[2];
  const transform_t t = {p.out[0].dims[0] * frames, length, bins, 2};
  transform_lines(p, t, [&](i64 line) {
    const i64 first = line % frames * step;
    return line_t{(line / frames * samples + first) * parts,
                  parts,
                  samples - first,
                  parts,
                  line * bins * 2,
                  2};
  });
}
#else
INLINE double mel_of(double hertz) {
  return 2595.0 * log10(1.0 + hertz / 700.0);
}
/* The spectrogram bin of an edge of the filters, which are equally far apart on the mel scale. */
INLINE i64 mel_edge(double low, double step, i64 edge, i64 length, i64 rate) {
  const double hertz = 700.0 * (pow(10.0, (low + (double)edge * step) / 2595.0) - 1.0);
  return (i64)floor((double)(length + 1) * hertz / (double)rate);
}
KERNEL weigh(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 bins = (i64)IN0(0);
  const i64 length = (i64)IN1(0);
  const i64 rate = (i64)IN2(0);
  const double low = mel_of((double)IN3(0));
  const double step = (mel_of((double)IN4(0)) - low) / (double)(bins + 2);
  EACH(i, p.out[0].count) {
    const i64 row = i / bins;
    const i64 left = mel_edge(low, step, i % bins, length, rate);
    const i64 center = mel_edge(low, step, i % bins + 1, length, rate);
    const i64 right = mel_edge(low, step, i % bins + 2, length, rate);
    double weight = row == center ? 1.0 : 0.0;
    if (row > left && row < center) {
      weight = (double)(row - left) / (double)(center - left);
    } else if (row > center && row < right) {
      weight = (double)(right - row) / (double)(right - center);
    }
    OUT0(i, weight);
  }
}
#endif
