/* Windows without weights: pools, their inverse, and normalisation across channels. */
#include <math.h>

#include "kernels.h"
#include "windows.h"

/* What is found in one window of one plane. */
typedef struct pooled_t {
  tenon__number_t largest;
  tenon__point3_t largest_at;
  double sum;      /* of values, or of their powers */
  int64_t inside;  /* taps in x */
  int64_t covered; /* taps in x or its padding */
} pooled_t;

static bool in_padding(const tenon__windows_t* windows, tenon__point3_t source) {
  for (uint32_t axis = 0; axis < 3; ++axis) {
    if (source.at[axis] >= windows->input[axis] + windows->end[axis]) {
      return false; /* ceil_mode: past the padding too */
    }
  }
  return true;
}

/* `power` 0: sums values; else their absolute values to that power. */
static pooled_t pool_window(const tenon__windows_t* windows, tenon_dtype_t dtype,
                            const tenon__number_t* plane, tenon__point3_t at, double power) {
  pooled_t pooled = {.sum = 0.0};
  tenon__point3_t tap = {{0, 0, 0}};
  do {
    tenon__point3_t source;
    bool inside = tenon__windows_tap(windows, at, tap, &source);
    pooled.covered += inside || in_padding(windows, source) ? 1 : 0;
    if (!inside) {
      continue;
    }
    tenon__number_t value = plane[tenon__point3_place(source, windows->input)];
    if (pooled.inside++ == 0 || tenon__number_compare(dtype, value, pooled.largest) > 0) {
      pooled.largest = value;
      pooled.largest_at = source;
    }
    if (tenon__number_is_float(dtype)) {
      pooled.sum += power == 0.0 ? value.f : pow(fabs(value.f), power);
    }
  } while (tenon__point3_next(&tap, windows->kernel));
  return pooled;
}

static bool pool_geometry(const tenon__work_t* work, const tenon__array_t* x,
                          const tenon__array_t* y, tenon__windows_t* out_windows) {
  tenon__integers_t kernel = tenon__work_ints(work, "kernel_shape");
  return kernel.count + 2 == x->rank && tenon__windows_of(work, x, y, kernel.values, out_windows);
}

static tenon_status_t refuse_rank(const tenon__work_t* work) {
  return tenon__work_fail(work, "%u axes are not 1 to 3 spatial ones", work->inputs[0].rank);
}

/* Place in the whole tensor of a point of one plane; columns first where `columns_first`. */
static int64_t found_place(const tenon__windows_t* windows, int64_t slice, tenon__point3_t point,
                           bool columns_first) {
  const int64_t* dims = windows->input;
  int64_t place = columns_first ? (point.at[2] * dims[1] + point.at[1]) * dims[0] + point.at[0]
                                : tenon__point3_place(point, dims);
  return slice * tenon__dims_product(dims, 0, 3) + place;
}

/* The least value of a type, for windows that lie in padding alone. */
static tenon__number_t least(tenon_dtype_t dtype) {
  tenon__number_t number = {.i = 0};
  if (tenon__number_is_float(dtype)) {
    number.f = -(double)INFINITY;
  } else if (tenon__number_class(dtype) == 'i') {
    number.i = -((int64_t)1 << (tenon__number_bits(dtype) - 1));
  }
  return number;
}

tenon_status_t tenon__compute_max_pool(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  tenon__array_t* y = tenon__work_output(work, 0);
  tenon__array_t* indices = tenon__work_output(work, 1);
  tenon__windows_t windows;
  if (!pool_geometry(work, x, y != NULL ? y : indices, &windows)) {
    return refuse_rank(work);
  }
  bool columns_first = tenon__work_int(work, "storage_order") != 0;
  int64_t plane = tenon__dims_product(windows.input, 0, 3);
  int64_t points = tenon__dims_product(windows.output, 0, 3);
  int64_t slices = points > 0 ? windows.batch * windows.input_channels : 0;
  for (int64_t slice = 0; slice < slices && !tenon__work_is_cancelled(work); ++slice) {
    tenon__point3_t at = {{0, 0, 0}};
    int64_t place = slice * points;
    do {
      pooled_t pooled = pool_window(&windows, x->dtype, x->at + slice * plane, at, 0.0);
      if (y != NULL) {
        y->at[place] = pooled.inside == 0 ? least(x->dtype) : pooled.largest;
      }
      if (indices != NULL) {
        indices->at[place].i = found_place(&windows, slice, pooled.largest_at, columns_first);
      }
      ++place;
    } while (tenon__point3_next(&at, windows.output));
  }
  return TENON_OK;
}

/* average_pool (power 0) and lp_pool. */
static tenon_status_t pool_sums(tenon__work_t* work, double power) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  tenon__array_t* y = tenon__work_output(work, 0);
  tenon__windows_t windows;
  if (!pool_geometry(work, x, y, &windows)) {
    return refuse_rank(work);
  }
  bool with_padding = power == 0.0 && tenon__work_int(work, "count_include_pad") != 0;
  int64_t plane = tenon__dims_product(windows.input, 0, 3);
  int64_t points = tenon__dims_product(windows.output, 0, 3);
  int64_t slices = points > 0 ? windows.batch * windows.input_channels : 0;
  for (int64_t slice = 0; slice < slices && !tenon__work_is_cancelled(work); ++slice) {
    tenon__point3_t at = {{0, 0, 0}};
    int64_t place = slice * points;
    do {
      pooled_t pooled = pool_window(&windows, x->dtype, x->at + slice * plane, at, power);
      int64_t count = with_padding ? pooled.covered : pooled.inside;
      double mean = count == 0 ? 0.0 : pooled.sum / (double)count;
      y->at[place].f = power == 0.0 ? mean : pow(pooled.sum, 1.0 / power);
      ++place;
    } while (tenon__point3_next(&at, windows.output));
  }
  return TENON_OK;
}

tenon_status_t tenon__compute_average_pool(tenon__work_t* work) {
  return pool_sums(work, 0.0);
}

tenon_status_t tenon__compute_lp_pool(tenon__work_t* work) {
  return pool_sums(work, (double)tenon__work_int(work, "p"));
}

/* Indices count in a tensor of the extents that the pool's attributes imply; a larger output_shape
 * leaves zeros at the ends. */
tenon_status_t tenon__compute_max_unpool(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  const tenon__array_t* indices = tenon__work_input(work, 1);
  tenon__array_t* y = tenon__work_output(work, 0);
  tenon__integers_t kernel = tenon__work_ints(work, "kernel_shape");
  tenon__integers_t strides = tenon__work_ints(work, "strides");
  tenon__integers_t pads = tenon__work_ints(work, "pads");
  int64_t implied[5];
  if (x->rank < 3 || x->rank > 5 || kernel.count + 2 != x->rank) {
    return refuse_rank(work);
  }
  for (uint32_t axis = 0; axis < x->rank; ++axis) {
    size_t own = axis - 2u;
    implied[axis] = axis < 2
                        ? x->dims[axis]
                        : (x->dims[axis] - 1) * tenon__integers_at(strides, own, 1) -
                              tenon__integers_at(pads, own, 0) -
                              tenon__integers_at(pads, own + kernel.count, 0) + kernel.values[own];
  }
  int64_t count = tenon__dims_product(implied, 0, x->rank);
  for (int64_t place = 0; place < y->count; ++place) {
    y->at[place].f = 0.0;
  }
  for (int64_t place = 0; place < x->count; ++place) {
    int64_t index = indices->at[place].i;
    int64_t point[5];
    bool inside = index >= 0 && index < count;
    for (uint32_t axis = x->rank; inside && axis-- > 0;) {
      point[axis] = index % implied[axis];
      index /= implied[axis];
      inside = point[axis] < y->dims[axis];
    }
    if (!inside) {
      return tenon__work_fail(work, "index %lld is out of range", (long long)indices->at[place].i);
    }
    y->at[tenon__point_place(point, y->dims, y->rank)] = x->at[place];
  }
  return TENON_OK;
}

tenon_status_t tenon__compute_lrn(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  tenon__array_t* y = tenon__work_output(work, 0);
  int64_t window = tenon__work_int(work, "window");
  double alpha = tenon__work_float(work, "alpha");
  double beta = tenon__work_float(work, "beta");
  double bias = tenon__work_float(work, "bias");
  tenon__axis_view_t view = tenon__axis_view(x, 1);
  for (int64_t place = 0; place < x->count; ++place) {
    int64_t channel = place / view.inner % view.extent;
    double squares = 0.0;
    for (int64_t near = channel - (window - 1) / 2; near <= channel + window / 2; ++near) {
      if (near >= 0 && near < view.extent) {
        double value = x->at[place + (near - channel) * view.inner].f;
        squares += value * value;
      }
    }
    y->at[place].f = x->at[place].f / pow(bias + alpha / (double)window * squares, beta);
  }
  return TENON_OK;
}
