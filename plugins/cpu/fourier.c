/* Fourier transforms of any length. */
#include "fourier.h"

#include <math.h>
#include <string.h>

enum { LANES = TENON_CPU_FOURIER_LANES, LARGEST_FACTOR = 31 };
#define PI 3.14159265358979323846

/* Returns the next factor of `length`: 4 if it divides `length`, else the smallest prime factor. If
 * no factor is at most LARGEST_FACTOR, returns `length`. */
static int64_t factor_of(int64_t length) {
  if (length % 4 == 0) {
    return 4;
  }
  for (int64_t factor = 2; factor <= LARGEST_FACTOR; factor++) {
    if (length % factor == 0) {
      return factor;
    }
  }
  return length;
}

static bool has_small_factors(int64_t length) {
  while (length > 1) {
    const int64_t factor = factor_of(length);
    if (factor > LARGEST_FACTOR) {
      return false;
    }
    length /= factor;
  }
  return true;
}

/* Returns the length of the transforms that use small factors. For Bluestein's algorithm, it is a
 * power of two. */
static int64_t inner_of(int64_t length) {
  int64_t inner = 1;
  if (has_small_factors(length)) {
    return length;
  }
  while (inner < 2 * length - 1) {
    inner *= 2;
  }
  return inner;
}

tenon__cpu_complex_lanes_t tenon__cpu_fourier_lanes(const tenon__cpu_fourier_t* plan,
                                                    double* work) {
  return (tenon__cpu_complex_lanes_t){work, work + plan->inner * LANES};
}

/* ---- Transforms by factors ---- */

/* One step of Stockham's algorithm. It splits interleaved transforms of `length` elements into
 * `factor` times as many transforms of length / factor elements. */
typedef struct step_t {
  const tenon__cpu_fourier_t* plan;
  int64_t length;
  int64_t factor;
  int64_t stride; /* number of interleaved transforms x lanes */
  int64_t turn;   /* the plan's roots between two roots of this step */
} step_t;

/* Computes e^(-2 pi i k / length of the step) for k in [0, length). */
static void root_of(const step_t* step, int64_t k, double* out_re, double* out_im) {
  *out_re = step->plan->cosines[k * step->turn];
  *out_im = -step->plan->sines[k * step->turn];
}

typedef tenon__cpu_complex_lanes_t lanes_t;

static lanes_t at(lanes_t lanes, int64_t offset) {
  return (lanes_t){lanes.re + offset, lanes.im + offset};
}

static void multiply(double* restrict re, double* restrict im, double root_re, double root_im,
                     int64_t count) {
  for (int64_t q = 0; q < count; q++) {
    const double a = re[q];
    re[q] = a * root_re - im[q] * root_im;
    im[q] = a * root_im + im[q] * root_re;
  }
}

static void run_twos(const step_t* step, lanes_t x, lanes_t y) {
  const int64_t rest = step->length / 2;
  const int64_t s = step->stride;
  for (int64_t k = 0; k < rest; k++) {
    double re = 0;
    double im = 0;
    root_of(step, k, &re, &im);
    const lanes_t a = at(x, s * k);
    const lanes_t b = at(x, s * (k + rest));
    const lanes_t c = at(y, s * 2 * k);
    const lanes_t d = at(y, s * (2 * k + 1));
    for (int64_t q = 0; q < s; q++) {
      const double low_re = a.re[q] - b.re[q];
      const double low_im = a.im[q] - b.im[q];
      c.re[q] = a.re[q] + b.re[q];
      c.im[q] = a.im[q] + b.im[q];
      d.re[q] = low_re * re - low_im * im;
      d.im[q] = low_re * im + low_im * re;
    }
  }
}

static void run_fours(const step_t* step, lanes_t x, lanes_t y) {
  const int64_t rest = step->length / 4;
  const int64_t s = step->stride;
  for (int64_t k = 0; k < rest; k++) {
    const double* x_re[4];
    const double* x_im[4];
    double* y_re[4];
    double* y_im[4];
    double re[4];
    double im[4];
    for (int64_t j = 0; j < 4; j++) {
      x_re[j] = x.re + s * (k + j * rest);
      x_im[j] = x.im + s * (k + j * rest);
      y_re[j] = y.re + s * (4 * k + j);
      y_im[j] = y.im + s * (4 * k + j);
      root_of(step, j * k, &re[j], &im[j]);
    }
    for (int64_t q = 0; q < s; q++) {
      const double a_re = x_re[0][q] + x_re[2][q];
      const double a_im = x_im[0][q] + x_im[2][q];
      const double b_re = x_re[0][q] - x_re[2][q];
      const double b_im = x_im[0][q] - x_im[2][q];
      const double c_re = x_re[1][q] + x_re[3][q];
      const double c_im = x_im[1][q] + x_im[3][q];
      const double d_re = x_im[1][q] - x_im[3][q]; /* times -i */
      const double d_im = x_re[3][q] - x_re[1][q];
      const double e_re = b_re + d_re;
      const double e_im = b_im + d_im;
      const double f_re = a_re - c_re;
      const double f_im = a_im - c_im;
      const double g_re = b_re - d_re;
      const double g_im = b_im - d_im;
      y_re[0][q] = a_re + c_re;
      y_im[0][q] = a_im + c_im;
      y_re[1][q] = e_re * re[1] - e_im * im[1];
      y_im[1][q] = e_re * im[1] + e_im * re[1];
      y_re[2][q] = f_re * re[2] - f_im * im[2];
      y_im[2][q] = f_re * im[2] + f_im * re[2];
      y_re[3][q] = g_re * re[3] - g_im * im[3];
      y_im[3][q] = g_re * im[3] + g_im * re[3];
    }
  }
}

static void add_product(lanes_t sum, lanes_t a, double re, double im, int64_t count) {
  for (int64_t q = 0; q < count; q++) {
    sum.re[q] += a.re[q] * re - a.im[q] * im;
    sum.im[q] += a.re[q] * im + a.im[q] * re;
  }
}

/* Handles any factor by the definition of the transform. */
static void run_any(const step_t* step, lanes_t x, lanes_t y) {
  const int64_t p = step->factor;
  const int64_t rest = step->length / p;
  const int64_t s = step->stride;
  for (int64_t k = 0; k < rest; k++) {
    for (int64_t r = 0; r < p; r++) {
      const lanes_t sum = at(y, s * (p * k + r));
      double re = 0;
      double im = 0;
      memcpy(sum.re, x.re + s * k, (size_t)s * sizeof(double));
      memcpy(sum.im, x.im + s * k, (size_t)s * sizeof(double));
      for (int64_t j = 1; j < p; j++) {
        const lanes_t a = at(x, s * (k + j * rest));
        root_of(step, j * r % p * rest, &re, &im);
        add_product(sum, a, re, im, s);
      }
      root_of(step, k * r, &re, &im);
      multiply(sum.re, sum.im, re, im, s);
    }
  }
}

/* Transforms `x`. The steps alternate between both buffers. Returns the buffer with the result. */
static lanes_t run_factors(const tenon__cpu_fourier_t* plan, lanes_t x, lanes_t other) {
  step_t step = {.plan = plan, .length = plan->inner, .stride = LANES, .turn = 1};
  while (step.length > 1) {
    step.factor = factor_of(step.length);
    (step.factor == 4 ? run_fours : step.factor == 2 ? run_twos : run_any)(&step, x, other);
    step.length /= step.factor;
    step.stride *= step.factor;
    step.turn *= step.factor;
    const lanes_t kept = x;
    x = other;
    other = kept;
  }
  return x;
}

/* ---- Complete transforms ---- */

/* Multiplies element k by e^(-pi i k^2 / n) and appends zeros up to the inner length. */
static void modulate(const tenon__cpu_fourier_t* plan, lanes_t x) {
  for (int64_t k = 0; k < plan->length; k++) {
    multiply(x.re + k * LANES, x.im + k * LANES, plan->chirp_re[k], -plan->chirp_im[k], LANES);
  }
  const size_t behind = (size_t)((plan->inner - plan->length) * LANES) * sizeof(double);
  memset(x.re + plan->length * LANES, 0, behind);
  memset(x.im + plan->length * LANES, 0, behind);
}

lanes_t tenon__cpu_fourier_run(const tenon__cpu_fourier_t* plan, double* work) {
  const lanes_t x = tenon__cpu_fourier_lanes(plan, work);
  const lanes_t other = at(x, 2 * plan->inner * LANES);
  if (plan->chirp_re == NULL) {
    return run_factors(plan, x, other);
  }
  modulate(plan, x);
  lanes_t y = run_factors(plan, x, other);
  for (int64_t k = 0; k < plan->inner; k++) { /* conjugate for the inverse */
    multiply(y.re + k * LANES, y.im + k * LANES, plan->filter_re[k], plan->filter_im[k], LANES);
    for (int64_t lane = 0; lane < LANES; lane++) {
      y.im[k * LANES + lane] = -y.im[k * LANES + lane];
    }
  }
  y = run_factors(plan, y, y.re == x.re ? other : x);
  for (int64_t k = 0; k < plan->length; k++) {
    for (int64_t lane = 0; lane < LANES; lane++) {
      const double re = y.re[k * LANES + lane];
      const double im = -y.im[k * LANES + lane];
      y.re[k * LANES + lane] = re * plan->chirp_re[k] + im * plan->chirp_im[k];
      y.im[k * LANES + lane] = im * plan->chirp_re[k] - re * plan->chirp_im[k];
    }
  }
  return y;
}

/* Computes the transform of e^(pi i k^2 / n), for positive and negative k, over the inner
 * length. */
static void make_filter(tenon__cpu_fourier_t* plan, double* work) {
  const lanes_t x = tenon__cpu_fourier_lanes(plan, work);
  memset(x.re, 0, (size_t)(2 * plan->inner * LANES) * sizeof(double));
  for (int64_t k = 0; k < plan->length; k++) {
    const int64_t mirrored = k == 0 ? 0 : plan->inner - k;
    x.re[k * LANES] = x.re[mirrored * LANES] = plan->chirp_re[k];
    x.im[k * LANES] = x.im[mirrored * LANES] = plan->chirp_im[k];
  }
  const lanes_t y = run_factors(plan, x, at(x, 2 * plan->inner * LANES));
  for (int64_t k = 0; k < plan->inner; k++) {
    plan->filter_re[k] = y.re[k * LANES] / (double)plan->inner;
    plan->filter_im[k] = y.im[k * LANES] / (double)plan->inner;
  }
}

void tenon__cpu_fourier_plan(int64_t length, double* memory, double* work,
                             tenon__cpu_fourier_t* out_plan) {
  const int64_t inner = inner_of(length);
  tenon__cpu_fourier_t* plan = out_plan;
  *plan = (tenon__cpu_fourier_t){
      .length = length, .inner = inner, .cosines = memory, .sines = memory + inner};
  for (int64_t k = 0; k < inner; k++) {
    plan->cosines[k] = cos(2.0 * PI * (double)k / (double)inner);
    plan->sines[k] = sin(2.0 * PI * (double)k / (double)inner);
  }
  if (inner == length) {
    return;
  }
  plan->chirp_re = memory + 2 * inner;
  plan->chirp_im = plan->chirp_re + length;
  plan->filter_re = plan->chirp_im + length;
  plan->filter_im = plan->filter_re + inner;
  for (int64_t k = 0; k < length; k++) {
    const int64_t turns = (int64_t)((uint64_t)k * (uint64_t)k % (uint64_t)(2 * length));
    plan->chirp_re[k] = cos(PI * (double)turns / (double)length);
    plan->chirp_im[k] = sin(PI * (double)turns / (double)length);
  }
  make_filter(plan, work);
}
