/*
 * Convolutions: y[n, m, p] = b[m] + sum over channels c of m's group and taps q of
 * x[n, c, p stride + q dilation - pad] w[m, c, q]. The transpose goes the other way: each x is
 * added, times w, to all the places that it would have been read for.
 */
#include <math.h>

#include "kernels.h"
#include "windows.h"

/* The sum over one window: channel 0 of the group at x, its taps at w. */
static double window_sum(const tenon__windows_t* windows, const tenon__number_t* x,
                         const tenon__number_t* w, int64_t channels, tenon__point3_t at) {
  int64_t plane = tenon__dims_product(windows->input, 0, 3);
  int64_t taps = tenon__dims_product(windows->kernel, 0, 3);
  double sum = 0.0;
  tenon__point3_t tap = {{0, 0, 0}};
  int64_t place = 0;
  do {
    tenon__point3_t source;
    bool inside = tenon__windows_tap(windows, at, tap, &source);
    int64_t from = inside ? tenon__point3_place(source, windows->input) : 0;
    for (int64_t channel = 0; channel < channels; ++channel) {
      /* Outside are zeros, to be multiplied by weights that may be infinite. */
      double value = inside ? x[channel * plane + from].f : 0.0;
      sum += value * w[channel * taps + place].f;
    }
    ++place;
  } while (tenon__point3_next(&tap, windows->kernel));
  return sum;
}

static void convolve(const tenon__work_t* work, const tenon__windows_t* windows,
                     const tenon__number_t* x, const tenon__number_t* w, const tenon__array_t* bias,
                     tenon__number_t* y) {
  int64_t groups = tenon__work_int(work, "groups");
  int64_t plane = tenon__dims_product(windows->input, 0, 3);
  int64_t taps = tenon__dims_product(windows->kernel, 0, 3);
  int64_t points = tenon__dims_product(windows->output, 0, 3);
  int64_t channels = windows->input_channels / groups;
  int64_t slices = points > 0 ? windows->batch * windows->output_channels : 0;
  for (int64_t slice = 0; slice < slices && !tenon__work_is_cancelled(work); ++slice) {
    int64_t n = slice / windows->output_channels;
    int64_t m = slice % windows->output_channels;
    int64_t group = m / (windows->output_channels / groups);
    const tenon__number_t* from = x + (n * windows->input_channels + group * channels) * plane;
    const tenon__number_t* weights = w + m * channels * taps;
    tenon__point3_t at = {{0, 0, 0}};
    int64_t place = 0;
    do {
      double start = bias == NULL ? 0.0 : bias->at[m].f;
      y[slice * points + place].f = start + window_sum(windows, from, weights, channels, at);
      ++place;
    } while (tenon__point3_next(&at, windows->output));
  }
}

static tenon_status_t refuse_rank(const tenon__work_t* work) {
  return tenon__work_fail(work, "%u axes are not 1 to 3 spatial ones", work->inputs[0].rank);
}

tenon_status_t tenon__compute_convolution(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  const tenon__array_t* w = tenon__work_input(work, 1);
  tenon__array_t* y = tenon__work_output(work, 0);
  tenon__windows_t windows;
  if (!tenon__windows_of(work, x, y, w->dims + 2, &windows)) {
    return refuse_rank(work);
  }
  convolve(work, &windows, x->at, w->at, tenon__work_input(work, 2), y->at);
  return TENON_OK;
}

/* Integers as doubles, less their zero point: one, or one for each slice of the first axis. */
static void center(tenon__array_t* inout_array, const tenon__array_t* zero_point) {
  int64_t slices = inout_array->dims[0];
  for (int64_t place = 0; place < inout_array->count; ++place) {
    int64_t slice = place * slices / inout_array->count;
    int64_t zero = zero_point == NULL      ? 0
                   : zero_point->count > 1 ? zero_point->at[slice].i
                                           : zero_point->at[0].i;
    inout_array->at[place].f = (double)(inout_array->at[place].i - zero);
  }
}

tenon_status_t tenon__compute_convolution_integer(tenon__work_t* work) {
  const tenon__array_t* w = tenon__work_input(work, 1);
  tenon__array_t* y = tenon__work_output(work, 0);
  tenon__windows_t windows;
  if (!tenon__windows_of(work, &work->inputs[0], y, w->dims + 2, &windows)) {
    return refuse_rank(work);
  }
  center(&work->inputs[0], tenon__work_input(work, 2));
  center(&work->inputs[1], tenon__work_input(work, 3));
  convolve(work, &windows, work->inputs[0].at, w->at, NULL, y->at);
  for (int64_t place = 0; place < y->count; ++place) {
    y->at[place].i = (int64_t)y->at[place].f; /* sums of 16-bit products are exact */
  }
  return TENON_OK;
}

/* Adds x[n, c] times its weights to the channels of its group in image n of y. */
static void spread_channel(const tenon__windows_t* windows, int64_t outputs,
                           const tenon__number_t* x, const tenon__number_t* w,
                           tenon__number_t* inout_y) {
  /* Windows lie over y here: swap what is read and what is written. */
  tenon__windows_t over = *windows;
  for (uint32_t axis = 0; axis < 3; ++axis) {
    over.input[axis] = windows->output[axis];
    over.output[axis] = windows->input[axis];
  }
  int64_t plane = tenon__dims_product(over.input, 0, 3);
  int64_t taps = tenon__dims_product(over.kernel, 0, 3);
  tenon__point3_t at = {{0, 0, 0}};
  do {
    double value = x[tenon__point3_place(at, over.output)].f;
    tenon__point3_t tap = {{0, 0, 0}};
    int64_t place = 0;
    do {
      tenon__point3_t target;
      int64_t count = tenon__windows_tap(&over, at, tap, &target) ? outputs : 0;
      for (int64_t m = 0; m < count; ++m) {
        inout_y[m * plane + tenon__point3_place(target, over.input)].f +=
            value * w[m * taps + place].f;
      }
      ++place;
    } while (tenon__point3_next(&tap, over.kernel));
  } while (tenon__point3_next(&at, over.output));
}

tenon_status_t tenon__compute_deconvolution(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  const tenon__array_t* w = tenon__work_input(work, 1);
  const tenon__array_t* bias = tenon__work_input(work, 2);
  tenon__array_t* y = tenon__work_output(work, 0);
  tenon__windows_t windows;
  if (!tenon__windows_transposed(work, x, y, w->dims + 2, &windows)) {
    return refuse_rank(work);
  }
  int64_t groups = tenon__work_int(work, "groups");
  int64_t x_plane = tenon__dims_product(windows.input, 0, 3);
  int64_t y_plane = tenon__dims_product(windows.output, 0, 3);
  int64_t taps = tenon__dims_product(windows.kernel, 0, 3);
  int64_t outputs = windows.output_channels / groups;
  for (int64_t place = 0; place < y->count; ++place) {
    y->at[place].f = bias == NULL ? 0.0 : bias->at[place / y_plane % windows.output_channels].f;
  }
  int64_t slices = x_plane > 0 ? windows.batch * windows.input_channels : 0;
  for (int64_t slice = 0; slice < slices && !tenon__work_is_cancelled(work); ++slice) {
    int64_t n = slice / windows.input_channels;
    int64_t c = slice % windows.input_channels;
    int64_t group = c / (windows.input_channels / groups);
    spread_channel(&windows, outputs, x->at + slice * x_plane, w->at + c * outputs * taps,
                   y->at + (n * windows.output_channels + group * outputs) * y_plane);
  }
  return TENON_OK;
}

static double silu(double value) {
  return value / (1.0 + exp(-value));
}

/* Of a row of x; places below 0 are in the past, whose rows have taps - 1 of them. */
static double signal_at(const tenon__array_t* x, const tenon__array_t* past, int64_t row,
                        int64_t place, int64_t taps) {
  if (place >= 0) {
    return x->at[row * x->dims[2] + place].f;
  }
  return past != NULL ? past->at[row * (taps - 1) + place + taps - 1].f : 0.0;
}

tenon_status_t tenon__compute_causal_convolution(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  const tenon__array_t* w = tenon__work_input(work, 1);
  const tenon__array_t* bias = tenon__work_input(work, 2);
  const tenon__array_t* past = tenon__work_input(work, 3);
  tenon__array_t* y = tenon__work_output(work, 0);
  tenon__array_t* carried = tenon__work_output(work, 1);
  int64_t channels = x->dims[1];
  int64_t length = x->dims[2];
  int64_t taps = w->dims[2];
  int64_t outputs = y == NULL ? 0 : length;
  int64_t kept = carried == NULL ? 0 : taps - 1;
  bool activates = !tenon__work_is(work, "activation", "none");
  for (int64_t row = 0; row < x->dims[0] * channels; ++row) {
    int64_t channel = row % channels;
    for (int64_t at = 0; at < outputs; ++at) {
      double sum = bias == NULL ? 0.0 : bias->at[channel].f;
      for (int64_t tap = 0; tap < taps; ++tap) {
        sum += signal_at(x, past, row, at + tap - (taps - 1), taps) * w->at[channel * taps + tap].f;
      }
      y->at[row * length + at].f = activates ? silu(sum) : sum;
    }
    for (int64_t at = 0; at < kept; ++at) {
      carried->at[row * kept + at].f = signal_at(x, past, row, length + at - kept, taps);
    }
  }
  return TENON_OK;
}
