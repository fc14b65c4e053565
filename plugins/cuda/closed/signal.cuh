/* Fourier transforms by their definition: a number of the result is a thread's; and the mel filter
 * bank. Complex numbers are a last axis of 2, real ones a last axis of 1. */
#define PI 3.14159265358979323846
#if !OP_mel_weight_matrix
struct complex_t {
  double re;
  double im;
};
/* Elements at start + k step, `parts` numbers each; past `count` zeros. */
struct line_t {
  i64 start;
  i64 step;
  i64 count;
  i64 parts;
};
INLINE complex_t line_at(const parameters_t& p, const line_t& line, i64 index) {
  complex_t value = {0.0, 0.0};
  if (index < line.count) {
    value.re = (double)IN0(line.start + index * line.step);
    value.im = line.parts == 2 ? (double)IN0(line.start + index * line.step + 1) : 0.0;
  }
  return value;
}
/* Half of a spectrum stands for the whole: the other half is conjugate. */
INLINE complex_t spectrum_at(const parameters_t& p, const line_t& line, i64 index, i64 length, bool is_half) {
  if (!is_half) {
    return line_at(p, line, index);
  }
  const bool is_own = index <= length / 2;
  complex_t value = line_at(p, line, is_own ? index : length - index);
  value.im = is_own ? (index == 0 || 2 * index == length ? 0.0 : value.im) : -value.im;
  return value;
}
#if OP_stft && HAS_IN2
#define WINDOW_AT(n) ((double)IN2(n))
#else
#define WINDOW_AT(n) 1.0
#endif
INLINE complex_t transform(const parameters_t& p, const line_t& line, i64 k, i64 length, bool inverse, bool is_half) {
  complex_t total = {0.0, 0.0};
  for (i64 n = 0; n < length; ++n) {
    const complex_t value = spectrum_at(p, line, n, length, is_half);
    const double turns = (double)((n * k) % length) / (double)length; /* reduced for accuracy */
    const double angle = (inverse ? 2.0 : -2.0) * PI * turns;
    const double c = cos(angle) * WINDOW_AT(n);
    const double s = sin(angle) * WINDOW_AT(n);
    total.re += value.re * c - value.im * s;
    total.im += value.re * s + value.im * c;
  }
  const double scale = inverse ? (double)length : 1.0;
  return complex_t{total.re / scale, total.im / scale};
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
  const i64 result_parts = p.out[0].dims[OUT0_RANK - 1];
  const i64 to_extent = p.out[0].dims[axis];
  const i64 to_inner = product(p.out[0], axis + 1, OUT0_RANK);
  const bool is_half = A_inverse && A_onesided;
  const i64 whole = is_half ? 2 * (extent - 1) : extent;
  const i64 length = HAS_IN1 && p.in[1].count > 0 ? (i64)IN1(0) : whole;
  const i64 lanes = inner / parts;
  EACH(i, p.out[0].count / result_parts) {
    const i64 outer = i / lanes / to_extent;
    const i64 k = i / lanes % to_extent;
    const i64 lane = i % lanes;
    const line_t line = {outer * extent * inner + lane * parts, inner, extent, parts};
    const complex_t value = transform(p, line, k, length, A_inverse != 0, is_half);
    const i64 to = (outer * to_extent + k) * to_inner + lane * result_parts;
    OUT0(to, value.re);
    if (result_parts == 2) {
      OUT0(to + 1, value.im);
    }
  }
}
#elif OP_stft
KERNEL transform_all(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 step = HAS_IN1 && p.in[1].count > 0 ? (i64)IN1(0) : 1;
  const i64 parts = IN0_RANK > 2 ? p.in[0].dims[2] : 1;
  const i64 length = HAS_IN3 && p.in[3].count > 0 ? (i64)IN3(0) : HAS_IN2 ? p.in[2].dims[0] : 0;
  const i64 samples = p.in[0].dims[1];
  EACH(i, p.out[0].count / 2) {
    const i64 bin = i % p.out[0].dims[2];
    const i64 frame = i / p.out[0].dims[2] % p.out[0].dims[1];
    const i64 batch = i / p.out[0].dims[2] / p.out[0].dims[1];
    const line_t line = {(batch * samples + frame * step) * parts, parts, samples - frame * step, parts};
    const complex_t value = transform(p, line, bin, length, false, false);
    OUT0(2 * i, value.re);
    OUT0(2 * i + 1, value.im);
  }
}
#else
INLINE double mel_of(double hertz) { return 2595.0 * log10(1.0 + hertz / 700.0); }
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
