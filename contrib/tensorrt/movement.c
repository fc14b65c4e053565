/* Moved and selected data. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "families.h"
#include "steps.h"

static const char image_form[] = "[batch, channels, height, width]";

/*
 * The order of Darknet. Its code reads the memory of x [C, H, W] as [C / s^2, H s, W s] and writes
 * [C, H, W], one block of C / s^2 channels for each place in a square of s pixels.
 */
static void reorg(tenon_make_t* make) {
  static const int64_t order[6] = {0, 3, 5, 1, 2, 4};
  const tenon_value_t x = tensorrt_input(make, 0, "x", 4, image_form);
  tensorrt_require(make, "stride");
  const int64_t stride = tensorrt_int(make, "stride", 1, 1, 1 << 12);
  const int64_t square = stride * stride;
  int64_t dims[3];
  for (uint32_t axis = 1; axis < 4; ++axis) {
    dims[axis - 1] = tensorrt_known(make, x, axis, "x");
  }
  if (tenon_make_ok(make) &&
      (dims[0] % square != 0 || dims[1] % stride != 0 || dims[2] % stride != 0)) {
    tensorrt_refuse(make, "stride",
                    "height and width must be multiples of it, channels of its square");
  }
  const int64_t from[6] = {-1, dims[0] / square, dims[1], stride, dims[2], stride};
  const int64_t to[4] = {-1, dims[0] * square, dims[1] / stride, dims[2] / stride};
  const tenon_value_t blocks = tenon_make_reshape(make, x, from, 6);
  tenon_make_output(make, 0,
                    tenon_make_reshape(make, tenon_make_permute(make, blocks, order, 6), to, 4));
}

static void flatten_concat(tenon_make_t* make) {
  tenon_value_t* flat = tenon_make_memory(make, make->input_count + 1, sizeof(*flat));
  const int64_t axis = tensorrt_int(make, "axis", 1, 1, 3);
  static const int64_t rest[2] = {0, -1};
  (void)tensorrt_flag(make, "ignoreBatch", false);
  for (uint32_t k = 0; flat != NULL && k < make->input_count; ++k) {
    flat[k] = tenon_make_reshape(make, tensorrt_input(make, k, "x", 4, image_form), rest, 2);
  }
  if (tenon_make_ok(make) && make->input_count == 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "there are no inputs: give at least one");
  }
  if (!tenon_make_ok(make)) {
    return;
  }
  const int64_t axes[2] = {axis == 1 ? 2 : 1, axis == 3 ? 2 : 3};
  tenon_make_output(
      make, 0,
      tenon_make_unsqueeze(make, tenon_make_concat(make, 1, make->input_count, flat), axes, 2));
}

static void batch_tile(tenon_make_t* make) {
  const tenon_value_t like = tenon_make_input(make, 0);
  const tenon_value_t x = tenon_make_input(make, 1);
  const int64_t rank = tenon_make_rank(make, x);
  if (tenon_make_ok(make) && (tenon_make_rank(make, like) == 0 || rank == 0)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "inputs have rank 0: the batch needs an axis");
  }
  if (tenon_make_ok(make) && tenon_make_dim(make, x, 0) >= 0 && tenon_make_dim(make, x, 0) != 1) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "axis 0 of input 1 has extent %lld, not 1: only one item is repeated",
                    (long long)tenon_make_dim(make, x, 0));
  }
  const tenon_value_t dims[2] = {tenon_make_extents(make, like, 0, 1),
                                 tenon_make_extents(make, x, 1, rank)};
  tenon_make_output(make, 0,
                    tenon_make_2(make, "broadcast_to", x, tenon_make_concat(make, 0, 2, dims)));
}

/* Extents of axis 2 or 3 times `scale`, rounded down. i64 [1]. */
static tenon_value_t scaled_extent(tenon_make_t* make, tenon_value_t x, uint32_t axis,
                                   double scale) {
  const int64_t known = tenon_make_ok(make) ? tenon_make_dim(make, x, axis) : 0;
  const tenon_value_t extent = tenon_make_extents(make, x, axis, axis + 1);
  if (known >= 0) {
    const int64_t scaled = (int64_t)((float)known * (float)scale);
    return tenon_make_int64s(make, &scaled, 1);
  }
  if (scale == floor(scale)) {
    return tenon_make_print_math(make, 1, &extent, "y = a * %lld", (long long)scale);
  }
  if (1 / scale == floor(1 / scale)) {
    return tenon_make_print_math(make, 1, &extent, "y = a / %lld", (long long)(1 / scale));
  }
  tensorrt_refuse(make, "scale", "height or width varies: use an integer, or 1 / an integer");
  return extent;
}

static void resize_nearest(tenon_make_t* make) {
  const tenon_value_t x = tensorrt_input(make, 0, "x", 4, image_form);
  tensorrt_require(make, "scale");
  const double scale = tensorrt_float(make, "scale", 1, 1.0 / 4096, 4096);
  const double scales[4] = {1, 1, scale, scale};
  const tenon_value_t sizes[3] = {tenon_make_extents(make, x, 0, 2),
                                  scaled_extent(make, x, 2, scale),
                                  scaled_extent(make, x, 3, scale)};
  const tenon_value_t joined = tenon_make_concat(make, 0, 3, sizes);
  const tenon_value_t factors = tensorrt_numbers(make, scales, 4);
  tenon_make_begin(make, "resize");
  tenon_make_set_string(make, "mode", "nearest");
  tenon_make_set_string(make, "coordinate_mode", "asymmetric");
  tenon_make_set_string(make, "nearest_mode", "floor");
  tenon_make_add(make, x);
  tenon_make_add(make, joined);
  tenon_make_add(make, factors);
  tenon_make_output(make, 0, tenon_make_end(make));
}

static void scatter(tenon_make_t* make, const char* op) {
  tenon_make_begin(make, op);
  if (strcmp(op, "scatter_elements") == 0) {
    const char* reduction = tenon_make_get_string(make, "reduction", "none");
    if (tenon_make_ok(make) && strcmp(reduction, "none") != 0 && strcmp(reduction, "add") != 0 &&
        strcmp(reduction, "mul") != 0 && strcmp(reduction, "max") != 0 &&
        strcmp(reduction, "min") != 0) {
      tensorrt_refuse(make, "reduction", "use none, add, mul, max or min");
    }
    tenon_make_set_string(make, "reduction", reduction);
    tenon_make_set_int(make, "axis", tensorrt_int(make, "axis", 0, INT32_MIN, INT32_MAX));
  }
  for (uint32_t k = 0; k < 3; ++k) {
    tenon_make_add(make, tenon_make_input(make, k));
  }
  tenon_make_output(make, 0, tenon_make_end(make));
}

static void scatter_elements(tenon_make_t* make) {
  scatter(make, "scatter_elements");
}

static void scatter_nd(tenon_make_t* make) {
  scatter(make, "scatter_nd");
}

static void split(tenon_make_t* make) {
  size_t count = 0;
  const int64_t axis = tensorrt_int(make, "axis", 0, INT32_MIN, INT32_MAX);
  const int64_t* lengths = tensorrt_ints(make, "output_lengths", 1, TENSORRT_COUNT_MAX, 0, &count);
  if (tenon_make_ok(make) && count != make->output_count) {
    tenon_make_fail(
        make, TENON_ERROR_INVALID_DATA,
        "attribute output_lengths has %zu numbers for %u outputs: it needs one for each", count,
        make->output_count);
  }
  if (!tenon_make_ok(make)) {
    return;
  }
  const tenon_value_t sizes = tenon_make_int64s(make, lengths, count);
  tenon_make_begin(make, "split");
  tenon_make_set_int(make, "axis", axis);
  tenon_make_set_output_count(make, (uint32_t)count);
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_add(make, sizes);
  tenon_make_end_outputs(make);
}

/* The boxes of detections [batch, boxes, 6]. */
static void special_slice(tenon_make_t* make) {
  const tenon_value_t x = tensorrt_input(make, 0, "detections", 3, "[batch, boxes, 6]");
  tenon_make_output(make, 0, tenon_make_slice(make, x, 2, 0, 4));
}

/* Whether the number of TensorRT's data type is this type. */
static bool is_type(int64_t type_id, tenon_dtype_t dtype) {
  return (type_id == 0 && dtype == TENON_DTYPE_FLOAT32) ||
         (type_id == 1 && dtype == TENON_DTYPE_FLOAT16) ||
         (type_id == 3 && dtype == TENON_DTYPE_INT32) ||
         (type_id == 7 && dtype == TENON_DTYPE_BFLOAT16);
}

static void top_k(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  tensorrt_require(make, "type_id");
  tensorrt_require(make, "k");
  tensorrt_require(make, "is_largest");
  const int64_t type_id = tensorrt_int(make, "type_id", 0, 0, 7);
  const int64_t count = tensorrt_int(make, "k", 1, 1, INT32_MAX);
  const bool is_largest = tensorrt_flag(make, "is_largest", true);
  const int64_t axis = tensorrt_int(make, "axis", -1, INT32_MIN, INT32_MAX);
  if (tenon_make_ok(make) && !is_type(type_id, tenon_make_dtype(make, x))) {
    tensorrt_refuse(make, "type_id",
                    "use the type of x: 0 for f32, 1 for f16, 3 for i32, 7 for bf16");
  }
  tenon_value_t found[2] = {{0}, {0}};
  const tenon_value_t k = tenon_make_int64(make, count);
  tenon_make_begin(make, "top_k");
  tenon_make_set_int(make, "axis", axis);
  tenon_make_set_int(make, "largest", is_largest);
  tenon_make_add(make, x);
  tenon_make_add(make, k);
  tenon_make_end_many(make, found, 2);
  tenon_make_output(make, 0, found[0]);
  if (tenon_make_wants(make, 1)) {
    tenon_make_output(make, 1, tenon_make_cast(make, found[1], TENON_DTYPE_INT32));
  }
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENSORRT_ROW("BatchTilePlugin_TRT", batch_tile, "1", NULL),
    TENSORRT_ROW("FlattenConcat_TRT", flatten_concat, "1", NULL),
    TENSORRT_ROW("Reorg_TRT", reorg, "1 2", NULL),
    TENSORRT_ROW("ResizeNearest_TRT", resize_nearest, "1", NULL),
    TENSORRT_APART("ScatterElements", scatter_elements, "1 2", NULL),
    TENSORRT_APART("ScatterND", scatter_nd, "1", NULL),
    TENSORRT_ROW("SpecialSlice_TRT", special_slice, "1", NULL),
    TENSORRT_APART("Split", split, "1", NULL),
    TENSORRT_ROW("TopkLastDim", top_k, "1", NULL),
};
TENSORRT_FAMILY(movement);
