/*
 * Grids: affine_grid makes one, grid_sample reads x at it. Coordinates run from -1 to 1 over each
 * axis and are given innermost axis first.
 */
#include <math.h>

#include "kernels.h"

typedef enum padding_t { PADDING_ZEROS, PADDING_BORDER, PADDING_REFLECTION } padding_t;
typedef enum method_t { METHOD_NEAREST, METHOD_LINEAR, METHOD_CUBIC } method_t;

enum { MAX_SPATIAL = 6 };

typedef struct grid_reader_t {
  method_t method;
  padding_t padding;
  bool align_corners;
  uint32_t spatial;
  const int64_t* dims; /* of one plane */
} grid_reader_t;

/* Reflects at both ends of [low, high] until inside. */
static double reflect(double place, double low, double high) {
  double span = high - low;
  if (span <= 0.0) {
    return low;
  }
  double past = place < low ? low - place : place - high;
  if (past <= 0.0) {
    return place;
  }
  double turns = floor(past / span);
  double rest = past - turns * span;
  bool from_low = (place < low) == (fmod(turns, 2.0) == 0.0);
  return from_low ? low + rest : high - rest;
}

/* A coordinate from -1 .. 1 as a place along an axis; folded back where the padding says so. Cubic
 * interpolation folds each of its taps instead, as PyTorch and ONNX Runtime do. */
static double place_of(const grid_reader_t* reader, double coordinate, int64_t extent) {
  double n = (double)extent;
  double place = reader->align_corners ? (coordinate + 1.0) / 2.0 * (n - 1.0)
                                       : ((coordinate + 1.0) * n - 1.0) / 2.0;
  double low = reader->align_corners ? 0.0 : -0.5;
  double high = reader->align_corners ? n - 1.0 : n - 0.5;
  if (reader->method == METHOD_NEAREST) {
    place = nearbyint(place);
  }
  if (reader->method == METHOD_CUBIC || (place >= low && place <= high)) {
    return place;
  }
  return reader->padding == PADDING_BORDER       ? fmin(fmax(place, 0.0), n - 1.0)
         : reader->padding == PADDING_REFLECTION ? reflect(place, low, high)
                                                 : place;
}

/* The pixel that stands for index `at` of an axis, or -1: zero. */
static int64_t pixel_of(const grid_reader_t* reader, int64_t at, int64_t extent) {
  if (at >= 0 && at < extent) {
    return at;
  }
  if (reader->padding == PADDING_BORDER) {
    return at < 0 ? 0 : extent - 1;
  }
  if (reader->padding == PADDING_REFLECTION) {
    double low = reader->align_corners ? 0.0 : -0.5;
    double high = reader->align_corners ? (double)extent - 1.0 : (double)extent - 0.5;
    return (int64_t)reflect((double)at, low, high);
  }
  return -1;
}

static double cubic_weight(double distance) {
  const double a = -0.75;
  double d = fabs(distance);
  return d <= 1.0  ? ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0
         : d < 2.0 ? ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a
                   : 0.0;
}

/* Sums over the taps around the places, from `axis` on. */
static double read_plane(const grid_reader_t* reader, const tenon__number_t* plane,
                         const double* places, uint32_t axis, int64_t offset) {
  if (axis == reader->spatial) {
    return plane[offset].f;
  }
  int64_t extent = reader->dims[axis];
  int64_t floor_place = (int64_t)floor(places[axis]);
  int64_t begin = reader->method == METHOD_CUBIC ? floor_place - 1 : floor_place;
  int64_t end = reader->method == METHOD_NEAREST ? floor_place + 1
                : reader->method == METHOD_CUBIC ? floor_place + 3
                                                 : floor_place + 2;
  double sum = 0.0;
  for (int64_t at = begin; at < end; ++at) {
    double distance = places[axis] - (double)at;
    double weight = reader->method == METHOD_NEAREST ? 1.0
                    : reader->method == METHOD_CUBIC ? cubic_weight(distance)
                                                     : 1.0 - fabs(distance);
    int64_t pixel = pixel_of(reader, at, extent);
    if (pixel >= 0 && weight != 0.0) {
      sum += weight * read_plane(reader, plane, places, axis + 1, offset * extent + pixel);
    }
  }
  return sum;
}

tenon_status_t tenon__compute_grid_sample(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  const tenon__array_t* grid = tenon__work_input(work, 1);
  tenon__array_t* y = tenon__work_output(work, 0);
  if (x->rank < 3 || x->rank - 2 > MAX_SPATIAL) {
    return tenon__work_fail(work, "rank %u is not 3 to %u", x->rank, MAX_SPATIAL + 2u);
  }
  grid_reader_t reader = {
      .method = tenon__work_is(work, "mode", "cubic")     ? METHOD_CUBIC
                : tenon__work_is(work, "mode", "nearest") ? METHOD_NEAREST
                                                          : METHOD_LINEAR,
      .padding = tenon__work_is(work, "padding_mode", "border")       ? PADDING_BORDER
                 : tenon__work_is(work, "padding_mode", "reflection") ? PADDING_REFLECTION
                                                                      : PADDING_ZEROS,
      .align_corners = tenon__work_int(work, "align_corners") != 0,
      .spatial = x->rank - 2,
      .dims = x->dims + 2,
  };
  int64_t plane = tenon__dims_product(x->dims, 2, x->rank);
  int64_t points = tenon__dims_product(y->dims, 2, y->rank);
  for (int64_t place = 0; place < y->count; ++place) {
    int64_t slice = place / points;
    int64_t entry = (slice / x->dims[1] * points + place % points) * reader.spatial;
    double places[MAX_SPATIAL];
    for (uint32_t axis = 0; axis < reader.spatial; ++axis) {
      double coordinate = grid->at[entry + reader.spatial - 1 - axis].f;
      places[axis] = place_of(&reader, coordinate, reader.dims[axis]);
    }
    y->at[place].f = read_plane(&reader, x->at + slice * plane, places, 0, 0);
  }
  return TENON_OK;
}

/* The coordinate of point `at` of an axis. */
static double grid_coordinate(int64_t at, int64_t extent, bool align_corners) {
  if (align_corners) {
    return extent == 1 ? -1.0 : -1.0 + 2.0 * (double)at / (double)(extent - 1);
  }
  return (2.0 * (double)at + 1.0) / (double)extent - 1.0;
}

tenon_status_t tenon__compute_affine_grid(tenon__work_t* work) {
  const tenon__array_t* theta = tenon__work_input(work, 0);
  tenon__array_t* y = tenon__work_output(work, 0);
  uint32_t spatial = y->rank - 2;
  bool align_corners = tenon__work_int(work, "align_corners") != 0;
  int64_t points = tenon__dims_product(y->dims, 1, spatial + 1);
  for (int64_t place = 0; place < y->count; ++place) {
    int64_t point = place / spatial;
    int64_t rest = point % points;
    const tenon__number_t* row =
        theta->at + (point / points * spatial + place % spatial) * (int64_t)(spatial + 1);
    double sum = row[spatial].f;
    for (uint32_t axis = 0; axis < spatial; ++axis) { /* innermost first */
      int64_t extent = y->dims[spatial - axis];
      sum += row[axis].f * grid_coordinate(rest % extent, extent, align_corners);
      rest /= extent;
    }
    y->at[place].f = sum;
  }
  return TENON_OK;
}
