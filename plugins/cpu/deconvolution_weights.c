/*
 * A transposed convolution's weights as its phases' products want them: packed once when the plan
 * is built, or in each run where they are no constants. They come as [in][out of a group][taps].
 */
#include <stdio.h>

#include "deconvolution.h"

static size_t phase_depth(const tenon__cpu_deconvolution_t* self, int64_t phase) {
  const int64_t columns = self->window.stride[2];
  const tenon__cpu_phase_axis_t a = tenon__cpu_phase_axis(&self->window, 1, 0, phase / columns);
  const tenon__cpu_phase_axis_t b = tenon__cpu_phase_axis(&self->window, 2, 0, phase % columns);
  return (size_t)(a.count * b.count * self->in_channels);
}

static int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

tenon__cpu_phase_axis_t tenon__cpu_phase_axis(const tenon__cpu_window_t* window, size_t axis,
                                              int64_t pad, int64_t remainder) {
  const int64_t stride = window->stride[axis];
  const int64_t shifted = remainder + pad;
  const int64_t base = floor_div(shifted, stride);
  tenon__cpu_phase_axis_t phase = {.first = shifted - base * stride};
  phase.count = phase.first < window->kernel[axis]
                    ? (window->kernel[axis] - phase.first + stride - 1) / stride
                    : 0;
  phase.pad = phase.count - 1 - base;
  return phase;
}

size_t tenon__cpu_phase_offset(const tenon__cpu_deconvolution_t* self, int64_t row,
                               int64_t column) {
  size_t offset = 0;
  for (int64_t k = 0; k < row * self->window.stride[2] + column; k++) {
    offset +=
        tenon__cpu_packed_size(self->isa->tiles, phase_depth(self, k), (size_t)self->out_channels);
  }
  return offset;
}

/* Tap by tap in the order in which a line of the image meets them. */
static void pack_phase(const tenon__cpu_deconvolution_t* self, const float* w, int64_t phase,
                       float* out) {
  const tenon__cpu_window_t* window = &self->window;
  const int64_t row = phase / window->stride[2];
  const int64_t column = phase % window->stride[2];
  const tenon__cpu_phase_axis_t a = tenon__cpu_phase_axis(window, 1, 0, row);
  const tenon__cpu_phase_axis_t b = tenon__cpu_phase_axis(window, 2, 0, column);
  const int64_t taps = window->kernel[1] * window->kernel[2];
  tenon__cpu_panel_rows_t rows = {.k_stride = self->out_channels * taps,
                                  .n_stride = taps,
                                  .count = (size_t)self->in_channels,
                                  .step = 1,
                                  .depth = phase_depth(self, phase),
                                  .columns = (size_t)self->out_channels};
  out += tenon__cpu_phase_offset(self, row, column);
  for (int64_t i = 0; i < a.count * b.count; i++) {
    const int64_t tap_1 = a.first + window->stride[1] * (a.count - 1 - i / b.count);
    const int64_t tap_2 = b.first + window->stride[2] * (b.count - 1 - i % b.count);
    rows.first = (size_t)(i * self->in_channels);
    tenon__cpu_pack_rows(self->isa->tiles, self->isa->elements, &rows,
                         w + tap_1 * window->kernel[2] + tap_2, out);
  }
}

typedef struct packing_t {
  const tenon__cpu_deconvolution_t* self;
  const float* w;
  float* out;
} packing_t;

static uint32_t task_count(const tenon__cpu_deconvolution_t* self) {
  return (uint32_t)(self->groups * self->window.stride[1] * self->window.stride[2]);
}

/* A phase of a group. */
static void pack_task(void* user, uint32_t index, uint32_t thread) {
  (void)thread;
  const packing_t* packing = user;
  const tenon__cpu_deconvolution_t* self = packing->self;
  const int64_t phases = self->window.stride[1] * self->window.stride[2];
  const size_t group = index / (size_t)phases;
  const size_t weights =
      (size_t)(self->in_channels * self->out_channels * tenon__cpu_window_taps(&self->window));
  pack_phase(self, packing->w + group * weights, index % phases,
             packing->out + group * self->packed_group);
}

tenon_status_t tenon__cpu_deconvolution_pack_once(tenon__cpu_deconvolution_t* inout_deconvolution,
                                                  tenon__cpu_region_t region,
                                                  tenon__cpu_preparation_t* preparation) {
  tenon__cpu_deconvolution_t* self = inout_deconvolution;
  const tenon_value_info_t* w = tenon__cpu_region_input(region, 1);
  const uint32_t source = region.table->node_input(region.handle, 0, 1);
  char parameters[96];
  void* data = NULL;
  int32_t ready = 0;
  (void)snprintf(parameters, sizeof(parameters), "%u floats, %lld groups, strides %lld %lld",
                 self->isa->tiles->vector_floats, (long long)self->groups,
                 (long long)self->window.stride[1], (long long)self->window.stride[2]);
  const tenon_packing_t wanted = {
      .size = sizeof(wanted),
      .format = "cpu.phases/1",
      .parameters = parameters,
      .sources = &source,
      .source_count = 1,
      .size_bytes = (size_t)self->groups * self->packed_group * sizeof(float) + 1};
  const tenon_status_t status =
      preparation->host->pack(preparation->handle, &wanted, &data, &ready);
  self->w = data;
  if (status != TENON_OK || ready != 0) {
    return status;
  }
  if (w->constant_data == NULL) {
    return TENON_ERROR_INVALID_STATE;
  }
  packing_t packing = {self, w->constant_data, data};
  for (uint32_t k = 0; k < task_count(self); k++) {
    pack_task(&packing, k, 0);
  }
  return TENON_OK;
}

const float* tenon__cpu_deconvolution_pack_now(const tenon__cpu_deconvolution_t* deconvolution,
                                               const float* w, const tenon_enqueue_t* call) {
  packing_t packing = {deconvolution, w, call->host->scratch(call->run)};
  tenon__cpu_parallel(call, task_count(deconvolution), pack_task, &packing);
  return packing.out;
}
