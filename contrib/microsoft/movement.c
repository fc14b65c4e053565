/* Moves, generators and samples whose meaning is that of an operator of ONNX, or nearly so. */
#include <inttypes.h>
#include <string.h>

#include "families.h"
#include "steps.h"

/* Input `index` as i64 of rank 0. */
static tenon_value_t scalar(tenon_make_t* make, uint32_t index) {
  return tenon_make_reshape(make, tenon_make_input(make, index), NULL, 0);
}

static void expand_dims(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  int64_t axis = 0;
  uint32_t count = 0;
  if (!tenon_make_known_ints(make, tenon_make_input(make, 1), &axis, 1, &count) || count != 1) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "input 1, axis, is not constant; give its value by --input-constant");
    return;
  }
  axis = tenon_make_axis(make, axis, tenon_make_rank(make, x) + 1);
  tenon_make_output(make, 0, tenon_make_unsqueeze(make, x, &axis, 1));
}

/* All elements, in the order of their first occurrence. */
static void unique(tenon_make_t* make) {
  tenon_value_t values[4] = {{0}, {0}, {0}, {0}};
  tenon_make_begin(make, "unique");
  tenon_make_set_int(make, "flat", 1);
  tenon_make_set_int(make, "sorted", 0);
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_end_many(make, values, 4);
  static const uint32_t outputs[3] = {0, 2, 3};
  for (uint32_t k = 0; k < 3; ++k) {
    if (tenon_make_wants(make, k)) {
      tenon_make_output(make, k, values[outputs[k]]);
    }
  }
}

/* The pads may be [1, 2 rank]. */
static void pad(tenon_make_t* make) {
  static const int64_t flat[1] = {-1};
  const tenon_value_t pads = tenon_make_reshape(make, tenon_make_input(make, 1), flat, 1);
  tenon_make_begin(make, "pad");
  tenon_make_pass_all(make, "mode axes");
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_add(make, pads);
  tenon_make_add(make, tenon_make_input(make, 2));
  tenon_make_end_outputs(make);
}

static void range(tenon_make_t* make) {
  const tenon_dtype_t dtype = tenon_make_dtype(make, tenon_make_input(make, 0));
  const tenon_value_t start = scalar(make, 0);
  const tenon_value_t limit = scalar(make, 1);
  const tenon_value_t delta =
      tenon_make_has_input(make, 2) ? scalar(make, 2) : tenon_make_number(make, dtype, 1);
  tenon_make_output(make, 0,
                    tenon_make_3(make, tenon_make_is_float(dtype) ? "arange_float" : "arange",
                                 start, limit, delta));
}

/* Windows of `size` elements along an axis, `step` apart, in an axis of their own at the end. */
static void unfold(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const uint32_t rank = tenon_make_rank(make, x);
  const int64_t axis = tenon_make_axis(make, tenon_make_get_int(make, "dim", -1), rank);
  const int64_t size = tenon_make_get_int(make, "size", 0);
  const int64_t step = tenon_make_get_int(make, "step", 1);
  if (size < 1 || step < 1) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "windows of %" PRId64 " elements, %" PRId64 " apart", size, step);
    return;
  }
  static const int64_t back[1] = {1};
  static const int64_t front[1] = {0};
  const tenon_value_t extent =
      tenon_make_squeeze(make, tenon_make_extents(make, x, axis, axis + 1), 0);
  const tenon_value_t count = tenon_make_print_math(
      make, 1, &extent, "y = (a - %" PRId64 ") / %" PRId64 " + 1", size, step);
  const tenon_value_t firsts = microsoft_below(make, count);
  const tenon_value_t places = microsoft_below(make, tenon_make_int64(make, size));
  const tenon_value_t operands[2] = {tenon_make_unsqueeze(make, firsts, back, 1),
                                     tenon_make_unsqueeze(make, places, front, 1)};
  const tenon_value_t indices =
      tenon_make_print_math(make, 2, operands, "y = a * %" PRId64 " + b", step);
  const tenon_value_t windows = tenon_make_gather(make, x, indices, axis);
  tenon_make_output(make, 0, microsoft_moved(make, windows, (uint32_t)axis + 1, rank));
}

static void grid_sample(tenon_make_t* make) {
  const char* mode = tenon_make_get_string(make, "mode", "bilinear");
  tenon_make_begin(make, "grid_sample");
  tenon_make_set_string(make, "mode",
                        strcmp(mode, "bilinear") == 0  ? "linear"
                        : strcmp(mode, "bicubic") == 0 ? "cubic"
                                                       : mode);
  tenon_make_set_string(make, "padding_mode", tenon_make_get_string(make, "padding_mode", "zeros"));
  tenon_make_set_int(make, "align_corners", tenon_make_get_int(make, "align_corners", 0));
  tenon_make_add_inputs(make, 0);
  tenon_make_end_outputs(make);
}

/* Coordinates of one axis of each crop, in pixels. `low` and `high` are the columns of the boxes,
 * [boxes, 1]; `last` is the largest coordinate, f32. The result is [boxes, count]. */
static tenon_value_t crop_places(tenon_make_t* make, tenon_value_t low, tenon_value_t high,
                                 tenon_value_t last, int64_t count) {
  const tenon_value_t places = tenon_make_cast(
      make, microsoft_below(make, tenon_make_int64(make, count)), TENON_DTYPE_FLOAT32);
  const tenon_value_t operands[4] = {low, high, last, places};
  return count > 1
             ? tenon_make_print_math(make, 4, operands,
                                     "y = a * c + d * ((b - a) * c / %" PRId64 ".0)", count - 1)
             : tenon_make_math(make, "y = 0.5 * (a + b) * c + 0.0 * d", 4, operands);
}

/*
 * Crops of images, resized corner on corner. A crop reads its image at a grid of points.
 * A point outside of the image has extrapolation_value.
 */
static void crop_and_resize(tenon_make_t* make) {
  static const int64_t axes[2] = {2, 1};
  static const int64_t last_axis[1] = {3};
  static const int64_t channel[1] = {1};
  const tenon_value_t x = tenon_make_input(make, 0);
  const char* mode = tenon_make_get_string(make, "mode", "bilinear");
  const double outside = tenon_make_get_float(make, "extrapolation_value", 0);
  int64_t sizes[2] = {0, 0};
  uint32_t count = 0;
  if (!tenon_make_known_ints(make, tenon_make_input(make, 3), sizes, 2, &count) || count != 2) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "input 3, crop_size, is not constant; give its value by --input-constant");
    return;
  }
  tenon_value_t places[2] = {{0}, {0}};
  tenon_value_t grids[2] = {{0}, {0}};
  tenon_value_t lasts[2] = {{0}, {0}};
  const tenon_value_t dims[2] = {tenon_make_extents(make, tenon_make_input(make, 1), 0, 1),
                                 tenon_make_int64s(make, sizes, 2)};
  const tenon_value_t shape = tenon_make_concat(make, 0, 2, dims);
  for (int64_t k = 0; k < 2; ++k) { /* y, then x */
    const tenon_value_t boxes = tenon_make_input(make, 1);
    const tenon_value_t extent =
        tenon_make_cast(make, tenon_make_extents(make, x, 2 + k, 3 + k), TENON_DTYPE_FLOAT32);
    lasts[k] = tenon_make_math_1(make, "y = a - 1.0", extent);
    const tenon_value_t along =
        crop_places(make, tenon_make_slice(make, boxes, 1, k, k + 1),
                    tenon_make_slice(make, boxes, 1, k + 2, k + 3), lasts[k], sizes[k]);
    places[k] =
        tenon_make_2(make, "broadcast_to", tenon_make_unsqueeze(make, along, &axes[k], 1), shape);
    const tenon_value_t pair[2] = {places[k], lasts[k]};
    grids[k] = tenon_make_unsqueeze(
        make, tenon_make_math(make, "y = 2.0 * a / max(b, 1.0) - 1.0", 2, pair), last_axis, 1);
  }
  const tenon_value_t by_axis[2] = {grids[1], grids[0]}; /* x, then y */
  const tenon_value_t grid = tenon_make_concat(make, 3, 2, by_axis);
  const tenon_value_t images = tenon_make_2(make, "gather", x, tenon_make_input(make, 2));
  tenon_make_begin(make, "grid_sample");
  tenon_make_set_string(make, "mode", strcmp(mode, "bilinear") == 0 ? "linear" : mode);
  tenon_make_set_string(make, "padding_mode", "border");
  tenon_make_set_int(make, "align_corners", 1);
  tenon_make_add(make, images);
  tenon_make_add(make, grid);
  const tenon_value_t sampled = tenon_make_end(make);
  const tenon_value_t operands[5] = {sampled, tenon_make_unsqueeze(make, places[0], channel, 1),
                                     tenon_make_unsqueeze(make, places[1], channel, 1), lasts[0],
                                     lasts[1]};
  tenon_make_output(
      make, 0,
      tenon_make_print_math(make, 5, operands,
                            "y = b >= 0 && b <= d && c >= 0 && c <= e ? a : (%.9g)", outside));
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MICROSOFT_ROW("CropAndResize", crop_and_resize, NULL, NULL),
    MICROSOFT_ROW("ExpandDims", expand_dims, NULL, NULL),
    MICROSOFT_ROW("GatherND", tenon_make_same, "gather_nd", NULL),
    MICROSOFT_ROW("GridSample", grid_sample, NULL, NULL),
    MICROSOFT_ROW("Pad", pad, NULL, NULL),
    MICROSOFT_ROW("Range", range, NULL, NULL),
    MICROSOFT_ROW("SampleOp", tenon_make_same, "pass_through", NULL),
    MICROSOFT_ROW("Trilu", tenon_make_same, "trilu", "upper=1"),
    MICROSOFT_ROW("UnfoldTensor", unfold, NULL, NULL),
    MICROSOFT_ROW("Unique", unique, NULL, NULL),
};
MICROSOFT_FAMILY(movement);
