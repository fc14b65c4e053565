/*
 * Fourier transforms by their definition, and the mel filter bank. Complex numbers are a last axis
 * of 2; real ones a last axis of 1.
 */
#include <math.h>

#include "kernels.h"

#define PI 3.14159265358979323846

typedef struct complex_t {
  double re;
  double im;
} complex_t;

/* One line of numbers: element k at start + k step, `parts` 1 or 2 numbers each. Past `count`:
 * zeros. */
typedef struct line_t {
  const tenon__number_t* start;
  int64_t step;
  int64_t count;
  int64_t parts;
} line_t;

static complex_t line_at(const line_t* line, int64_t index) {
  complex_t value = {0.0, 0.0};
  if (index < line->count) {
    value.re = line->start[index * line->step].f;
    value.im = line->parts == 2 ? line->start[index * line->step + 1].f : 0.0;
  }
  return value;
}

/* Half of a spectrum stands for the whole: the other half is conjugate. */
static complex_t spectrum_at(const line_t* line, int64_t index, int64_t length, bool is_half) {
  if (!is_half || index <= length / 2) {
    complex_t value = line_at(line, index);
    bool is_real = is_half && (index == 0 || 2 * index == length);
    return (complex_t){value.re, is_real ? 0.0 : value.im};
  }
  complex_t mirrored = line_at(line, length - index);
  return (complex_t){mirrored.re, -mirrored.im};
}

/* Frequency (or, inverse, time) `k` of a transform of `length`; times `window` if there is one. */
static complex_t transform(const line_t* line, const tenon__number_t* window, int64_t k,
                           int64_t length, bool inverse, bool is_half) {
  complex_t sum = {0.0, 0.0};
  for (int64_t n = 0; n < length; ++n) {
    complex_t value = spectrum_at(line, n, length, is_half);
    double weight = window == NULL ? 1.0 : window[n].f;
    double turns = (double)((n * k) % length) / (double)length; /* reduced for accuracy */
    double angle = (inverse ? 2.0 : -2.0) * PI * turns;
    double c = cos(angle) * weight;
    double s = sin(angle) * weight;
    sum.re += value.re * c - value.im * s;
    sum.im += value.re * s + value.im * c;
  }
  if (inverse) {
    sum.re /= (double)length;
    sum.im /= (double)length;
  }
  return sum;
}

tenon_status_t tenon__compute_dft(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  tenon__array_t* y = tenon__work_output(work, 0);
  bool inverse = tenon__work_int(work, "inverse") != 0;
  bool onesided = tenon__work_int(work, "onesided") != 0;
  int64_t axis_number = tenon__work_integer(work, 2, tenon__work_int(work, "fixed_axis"));
  uint32_t axis = tenon__axis_wrap(axis_number, x->rank);
  if (x->rank < 2 || axis + 1 >= x->rank) {
    return tenon__work_fail(work, "axis %lld is out of range for rank %u", (long long)axis_number,
                            x->rank);
  }
  tenon__axis_view_t from = tenon__axis_view(x, axis);
  tenon__axis_view_t to = tenon__axis_view(y, axis);
  int64_t parts = x->dims[x->rank - 1];
  int64_t result_parts = y->dims[y->rank - 1];
  bool is_half = inverse && onesided;
  int64_t whole = is_half ? 2 * (from.extent - 1) : from.extent;
  int64_t length = tenon__work_integer(work, 1, whole);
  int64_t lanes = from.inner / parts;
  for (int64_t place = 0; place < to.outer * to.extent * lanes; ++place) {
    int64_t outer = place / lanes / to.extent;
    int64_t k = place / lanes % to.extent;
    int64_t lane = place % lanes;
    line_t line = {x->at + outer * from.extent * from.inner + lane * parts, from.inner, from.extent,
                   parts};
    complex_t value = transform(&line, NULL, k, length, inverse, is_half);
    tenon__number_t* target = y->at + (outer * to.extent + k) * to.inner + lane * result_parts;
    target[0].f = value.re;
    if (result_parts == 2) {
      target[1].f = value.im;
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__compute_stft(tenon__work_t* work) {
  const tenon__array_t* signal = tenon__work_input(work, 0);
  const tenon__array_t* window = tenon__work_input(work, 2);
  tenon__array_t* y = tenon__work_output(work, 0);
  int64_t step = tenon__work_integer(work, 1, 1);
  int64_t parts = signal->rank > 2 ? signal->dims[2] : 1;
  int64_t length = tenon__work_integer(work, 3, window == NULL ? 0 : window->dims[0]);
  int64_t samples = signal->dims[1];
  for (int64_t place = 0; place < y->count / 2; ++place) {
    int64_t bin = place % y->dims[2];
    int64_t frame = place / y->dims[2] % y->dims[1];
    int64_t batch = place / y->dims[2] / y->dims[1];
    line_t line = {signal->at + (batch * samples + frame * step) * parts, parts,
                   samples - frame * step, parts};
    complex_t value =
        transform(&line, window == NULL ? NULL : window->at, bin, length, false, false);
    y->at[2 * place].f = value.re;
    y->at[2 * place + 1].f = value.im;
  }
  return TENON_OK;
}

static double mel_of(double hertz) {
  return 2595.0 * log10(1.0 + hertz / 700.0);
}

/* The spectrogram bin of edge `edge` of the filters, which are equally far apart on the mel scale.
 */
static int64_t mel_edge(double low, double step, int64_t edge, int64_t length, int64_t rate) {
  double hertz = 700.0 * (pow(10.0, (low + (double)edge * step) / 2595.0) - 1.0);
  return (int64_t)floor((double)(length + 1) * hertz / (double)rate);
}

tenon_status_t tenon__compute_mel_weight_matrix(tenon__work_t* work) {
  tenon__array_t* y = tenon__work_output(work, 0);
  int64_t bins = tenon__work_integer(work, 0, 0);
  int64_t length = tenon__work_integer(work, 1, 0);
  int64_t rate = tenon__work_integer(work, 2, 1);
  double low = mel_of(tenon__work_scalar(work, 3, 0.0));
  double high = mel_of(tenon__work_scalar(work, 4, 0.0));
  double step = (high - low) / (double)(bins + 2);
  for (int64_t place = 0; place < y->count; ++place) {
    int64_t row = place / bins;
    int64_t bin = place % bins;
    int64_t left = mel_edge(low, step, bin, length, rate);
    int64_t center = mel_edge(low, step, bin + 1, length, rate);
    int64_t right = mel_edge(low, step, bin + 2, length, rate);
    double weight = 0.0;
    if (row == center) {
      weight = 1.0;
    } else if (row > left && row < center) {
      weight = (double)(row - left) / (double)(center - left);
    } else if (row > center && row < right) {
      weight = (double)(right - row) / (double)(right - center);
    }
    y->at[place] = tenon__number_of(y->dtype, weight);
  }
  return TENON_OK;
}
