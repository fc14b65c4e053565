/* Windows: geometry from attributes, and the places of their elements. */
#include "windows.h"

/* Index of the first spatial axis in arrays of 3. */
static uint32_t first_axis(uint32_t spatial) {
  return 3 - spatial;
}

static bool set_geometry(const tenon__work_t* work, const tenon__array_t* x,
                         const tenon__array_t* y, const int64_t* kernel,
                         tenon__windows_t* out_windows) {
  if (x->rank < 3 || x->rank > 5 || y->rank != x->rank) {
    return false;
  }
  uint32_t spatial = x->rank - 2;
  tenon__integers_t strides = tenon__work_ints(work, "strides");
  tenon__integers_t dilations = tenon__work_ints(work, "dilations");
  tenon__integers_t pads = tenon__work_ints(work, "pads");
  out_windows->batch = x->dims[0];
  out_windows->input_channels = x->dims[1];
  out_windows->output_channels = y->dims[1];
  for (uint32_t axis = 0; axis < 3; ++axis) {
    bool used = axis >= first_axis(spatial);
    uint32_t own = used ? axis - first_axis(spatial) : 0;
    out_windows->input[axis] = used ? x->dims[own + 2] : 1;
    out_windows->output[axis] = used ? y->dims[own + 2] : 1;
    out_windows->kernel[axis] = used ? kernel[own] : 1;
    out_windows->stride[axis] = used ? tenon__integers_at(strides, own, 1) : 1;
    out_windows->dilation[axis] = used ? tenon__integers_at(dilations, own, 1) : 1;
    out_windows->begin[axis] = used ? tenon__integers_at(pads, own, 0) : 0;
    out_windows->end[axis] = used ? tenon__integers_at(pads, own + spatial, 0) : 0;
  }
  return true;
}

static int64_t reach(const tenon__windows_t* windows, uint32_t axis) {
  return (windows->kernel[axis] - 1) * windows->dilation[axis] + 1;
}

static void set_padding(tenon__windows_t* windows, uint32_t axis, int64_t total, bool more_at_end) {
  int64_t padding = total > 0 ? total : 0;
  windows->begin[axis] = more_at_end ? padding / 2 : padding - padding / 2;
  windows->end[axis] = padding - windows->begin[axis];
}

bool tenon__windows_of(const tenon__work_t* work, const tenon__array_t* x, const tenon__array_t* y,
                       const int64_t* kernel, tenon__windows_t* out_windows) {
  if (!set_geometry(work, x, y, kernel, out_windows)) {
    return false;
  }
  bool upper = tenon__work_is(work, "auto_pad", "same_upper");
  bool lower = tenon__work_is(work, "auto_pad", "same_lower");
  bool none = tenon__work_is(work, "auto_pad", "valid");
  if ((upper || lower || none)) {
    for (uint32_t axis = 0; axis < 3; ++axis) {
      int64_t covered =
          (out_windows->output[axis] - 1) * out_windows->stride[axis] + reach(out_windows, axis);
      set_padding(out_windows, axis, none ? 0 : covered - out_windows->input[axis], upper);
    }
  }
  return true;
}

bool tenon__windows_transposed(const tenon__work_t* work, const tenon__array_t* x,
                               const tenon__array_t* y, const int64_t* kernel,
                               tenon__windows_t* out_windows) {
  if (!set_geometry(work, x, y, kernel, out_windows)) {
    return false;
  }
  tenon__integers_t growth = tenon__work_ints(work, "output_padding");
  bool upper = tenon__work_is(work, "auto_pad", "same_upper");
  bool lower = tenon__work_is(work, "auto_pad", "same_lower");
  bool none = tenon__work_is(work, "auto_pad", "valid");
  bool given = tenon__work_ints(work, "output_shape").count > 0;
  if ((upper || lower || none || given)) {
    for (uint32_t axis = 0; axis < 3; ++axis) {
      uint32_t first = first_axis(x->rank - 2);
      int64_t grown = axis < first ? 0 : tenon__integers_at(growth, axis - first, 0);
      int64_t natural = (out_windows->input[axis] - 1) * out_windows->stride[axis] + grown +
                        reach(out_windows, axis);
      set_padding(out_windows, axis, none ? 0 : natural - out_windows->output[axis], upper);
    }
  }
  return true;
}

bool tenon__point3_next(tenon__point3_t* point, const int64_t* dims) {
  return tenon__point_next(point->at, dims, 3);
}

int64_t tenon__point3_place(tenon__point3_t point, const int64_t* dims) {
  return (point.at[0] * dims[1] + point.at[1]) * dims[2] + point.at[2];
}

bool tenon__windows_tap(const tenon__windows_t* windows, tenon__point3_t at, tenon__point3_t tap,
                        tenon__point3_t* out_source) {
  bool inside = true;
  for (uint32_t axis = 0; axis < 3; ++axis) {
    int64_t place = at.at[axis] * windows->stride[axis] + tap.at[axis] * windows->dilation[axis] -
                    windows->begin[axis];
    out_source->at[axis] = place;
    inside = inside && place >= 0 && place < windows->input[axis];
  }
  return inside;
}
