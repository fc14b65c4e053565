/* Convolution of small groups, depthwise convolution among them: one row of output pixels after the
 * other. */
#include <math.h>

#include "convolution.h"

enum { LEAST_CHANNELS = 64 };

uint32_t tenon__cpu_small_groups_tasks(tenon__cpu_convolution_call_t* inout_call,
                                       uint32_t threads) {
  const tenon__cpu_image_t* y = &inout_call->bound->y;
  const int64_t lines = y->batch * y->extent[0] * y->extent[1];
  int64_t parts = 1;
  if (threads > 1 && lines < 2 * (int64_t)threads) {
    parts = y->channels / LEAST_CHANNELS;
    parts = parts < 1 ? 1 : parts > (int64_t)threads ? (int64_t)threads : parts;
  }
  const int64_t step = (y->channels + parts - 1) / parts;
  inout_call->channel_step = parts > 1 ? (step + 15) / 16 * 16 : y->channels;
  parts = (y->channels + inout_call->channel_step - 1) / inout_call->channel_step;
  return (uint32_t)(lines * parts);
}

/* The rows read what lies inside. Outside are zeros, which are nothing but to infinite weights and
 * to those that are no numbers. `weights`: of the row's first channel; rows of taps [low, high) lie
 * inside. */
static void multiply_outside(const tenon__cpu_row_t* row, const float* weights, int64_t taps,
                             int64_t low, int64_t high) {
  const int64_t columns = (int64_t)row->columns;
  for (int64_t at = 0; at < row->out_width * taps; at++) {
    const int64_t tap = at % taps;
    const int64_t line = tap / columns;
    const int64_t column = at / taps * row->stride - row->pad + tap % columns * row->dilation;
    if (line >= low && line < high && column >= 0 && column < row->width) {
      continue;
    }
    for (size_t k = 0; k < row->group * row->channels; k++) {
      const size_t c = k % row->channels;
      const size_t input = k / row->channels;
      if (!isfinite(weights[(size_t)tap * row->w_stride + input * row->w_input_stride + c])) {
        row->y[at / taps * row->y_stride + (int64_t)c] = NAN;
      }
    }
  }
}

void tenon__cpu_small_groups_task(void* user, uint32_t index, uint32_t thread) {
  const tenon__cpu_convolution_call_t* call = user;
  const tenon__cpu_bound_convolution_t* bound = call->bound;
  const tenon__cpu_convolution_t* convolution = bound->convolution;
  const tenon__cpu_window_t* window = &bound->window;
  const int64_t parts = (bound->y.channels + call->channel_step - 1) / call->channel_step;
  const int64_t line = index / parts;
  const int64_t channel = index % parts * call->channel_step;
  const int64_t left = bound->y.channels - channel;
  const size_t first_pixel = (size_t)(line * bound->y.extent[2]);
  const tenon__cpu_pixel_t pixel = tenon__cpu_pixel_of(&bound->y, first_pixel);
  /* Rows of taps [low, high) lie inside. */
  const int64_t first = pixel.at[1] * window->stride[1] - window->pad_begin[1];
  const int64_t step = window->dilation[1];
  int64_t low = 0;
  const int64_t high =
      tenon__cpu_taps_between(first, step, window->kernel[1], 0, bound->x.extent[1], &low);
  const tenon__cpu_pixel_t corner = {pixel.batch, {0, first + low * step, 0}};
  const size_t channels = (size_t)(left < call->channel_step ? left : call->channel_step);
  const size_t group = (size_t)convolution->in_channels;
  const size_t tap = group * (size_t)bound->y.channels;
  const tenon__cpu_row_t row = {
      .x = call->x + (high > low ? tenon__cpu_pixel_offset(&bound->x, corner) : 0) + channel,
      .y = call->y + tenon__cpu_pixel_offset(&bound->y, pixel) + channel,
      .w = call->packed + (size_t)(low * window->kernel[2]) * tap + channel,
      .bias = call->epilogue.bias != NULL ? call->epilogue.bias + channel : NULL,
      .channels = channels,
      .group = group,
      .w_input_stride = (size_t)bound->y.channels,
      .w_stride = tap,
      .w_row_stride = (size_t)window->kernel[2] * tap,
      .rows = (size_t)(high - low),
      .columns = (size_t)window->kernel[2],
      .x_stride = bound->x.stride[2],
      .x_row_stride = bound->x.stride[1] * step,
      .y_stride = bound->y.stride[2],
      .width = bound->x.extent[2],
      .out_width = bound->y.extent[2],
      .stride = window->stride[2],
      .dilation = window->dilation[2],
      .pad = window->pad_begin[2],
      .low = call->epilogue.low,
      .high = call->epilogue.high,
  };
  convolution->isa->windows->grouped(&row);
  const int64_t taps = window->kernel[1] * window->kernel[2];
  const bool finite = call->packed[(size_t)taps * tap] != 0;
  if (!finite) {
    multiply_outside(&row, call->packed + channel, taps, low, high);
  }
  if (call->epilogue.finish != NULL) {
    const tenon__cpu_epilogue_task_t task = {
        &call->epilogue,
        call->scratch + thread * convolution->slot_bytes + convolution->image_bytes};
    call->epilogue.finish(&task, row.y, (size_t)row.y_stride, first_pixel, (size_t)row.out_width,
                          (size_t)channel, channels);
  }
}
