/* Activations, normalisation and coordinates. */
#include <float.h>
#include <math.h>

#include "families.h"
#include "steps.h"

static const char image_form[] = "[batch, channels, height, width]";

static tenon_value_t leaky(tenon_make_t* make, tenon_value_t x, double slope) {
  tenon_make_begin(make, "leaky_relu");
  tenon_make_set_float(make, "alpha", slope);
  tenon_make_add(make, x);
  return tenon_make_end(make);
}

static void leaky_relu(tenon_make_t* make) {
  tensorrt_require(make, "negSlope");
  const double slope = tensorrt_float(make, "negSlope", 0, -INFINITY, INFINITY);
  tenon_make_output(make, 0, leaky(make, tenon_make_input(make, 0), slope));
}

static void clip(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  tensorrt_require(make, "clipMin");
  tensorrt_require(make, "clipMax");
  const double low = tensorrt_float(make, "clipMin", 0, -FLT_MAX, FLT_MAX);
  const double high = tensorrt_float(make, "clipMax", 0, -FLT_MAX, FLT_MAX);
  if (low > high) {
    tensorrt_refuse(make, "clipMin", "it is above clipMax");
  }
  tensorrt_output_like(
      make, 0, tenon_make_print_math(make, 1, &x, "y = clamp(a, (%.17g), (%.17g))", low, high), x);
}

/* Two more channels: the coordinates of rows and of columns, from -1 to 1. */
static void coordinates(tenon_make_t* make) {
  const tenon_value_t x = tensorrt_input(make, 0, "x", 4, image_form);
  const tenon_value_t first = tenon_make_slice(make, x, 1, 0, 1);
  tenon_value_t parts[3] = {x, {0}, {0}};
  for (int axis = 2; axis < 4; ++axis) { /* the values of x do not count, NaN neither */
    const tenon_value_t along =
        tenon_make_print_math(make, 1, &first,
                              "let step = 2 / cast(max(size(%d) - 1, 1), f32);"
                              "y = cast(cast(a, i32) * 0, f32) + cast(index(%d), f32) * step - 1",
                              axis, axis);
    parts[axis - 1] = tenon_make_cast(make, along, tenon_make_dtype(make, x));
  }
  tenon_make_output(make, 0, tenon_make_concat(make, 1, 3, parts));
}

/* An attribute with a number for each channel of x, as an f32 constant. */
static tenon_value_t channel_numbers(tenon_make_t* make, const char* name, tenon_value_t x) {
  size_t count = 0;
  const tenon_value_t numbers = tensorrt_weights(make, name, 1, TENSORRT_COUNT_MAX, &count);
  const int64_t channels = tenon_make_ok(make) ? tenon_make_dim(make, x, 1) : -1;
  if (tenon_make_ok(make) && channels >= 0 && channels != (int64_t)count) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "attribute %s has %zu numbers for %lld channels: it needs one for each", name,
                    count, (long long)channels);
  }
  return numbers;
}

static void instance_norm(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const tenon_dtype_t dtype = tenon_make_dtype(make, x);
  const double epsilon = tensorrt_float(make, "epsilon", 1e-5, 0, FLT_MAX);
  const bool has_relu = tensorrt_flag(make, "relu", false);
  const double slope = tensorrt_float(make, "alpha", 0, -FLT_MAX, FLT_MAX);
  const tenon_value_t scale = tenon_make_cast(make, channel_numbers(make, "scales", x), dtype);
  const tenon_value_t bias = tenon_make_cast(make, channel_numbers(make, "bias", x), dtype);
  tenon_make_begin(make, "instance_norm");
  tenon_make_set_float(make, "epsilon", epsilon);
  tenon_make_add(make, x);
  tenon_make_add(make, scale);
  tenon_make_add(make, bias);
  const tenon_value_t y = tenon_make_end(make);
  tenon_make_output(make, 0,
                    !has_relu    ? y
                    : slope == 0 ? tenon_make_1(make, "relu", y)
                                 : leaky(make, y, slope));
}

static void group_norm(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const tenon_dtype_t dtype = tenon_make_dtype(make, x);
  const int64_t flat = -1;
  tensorrt_require(make, "num_groups");
  const int64_t groups = tensorrt_int(make, "num_groups", 1, 1, TENSORRT_COUNT_MAX);
  const double epsilon = tensorrt_float(make, "eps", 1e-5, 0, FLT_MAX);
  tenon_value_t numbers[2];
  for (uint32_t k = 0; k < 2; ++k) {
    numbers[k] = tenon_make_cast(make, tenon_make_input(make, k + 1), dtype);
    numbers[k] = tenon_make_reshape(make, numbers[k], &flat, 1);
  }
  tenon_make_begin(make, "group_norm");
  tenon_make_set_int(make, "groups", groups);
  tenon_make_set_float(make, "epsilon", epsilon);
  tenon_make_add(make, x);
  tenon_make_add(make, numbers[0]);
  tenon_make_add(make, numbers[1]);
  tenon_make_output(make, 0, tenon_make_end(make));
}

/* Divides x by the root of the sum of squares of a picture, or of the channels of a place. */
static void normalize(tenon_make_t* make) {
  const tenon_value_t x = tensorrt_input(make, 0, "x", 4, image_form);
  const bool is_picture = tensorrt_flag(make, "acrossSpatial", true);
  const bool is_shared = tensorrt_flag(make, "channelShared", true);
  const double epsilon = tensorrt_float(make, "eps", 1e-10, 0, FLT_MAX);
  (void)tensorrt_int(make, "nbWeights", 1, 1, 1);
  size_t count = 0;
  static const int64_t axes[2] = {1, 2};
  const tenon_value_t weights =
      is_shared ? tensorrt_weights(make, "weights", 1, 1, &count)
                : tenon_make_unsqueeze(make, channel_numbers(make, "weights", x), axes, 2);
  const tenon_value_t operands[2] = {tensorrt_wide(make, x), weights};
  tensorrt_output_like(
      make, 0,
      tenon_make_print_math(make, 2, operands, "y = a * rsqrt(sum(a * a, %s) + %.17g) * b",
                            is_picture ? "[1, 2, 3]" : "[1]", epsilon),
      x);
}

/* YOLO v2: sigmoid of centres and of the object's score, softmax of classes. */
static void region(tenon_make_t* make) {
  const tenon_value_t x = tensorrt_input(make, 0, "x", 4, image_form);
  const int64_t boxes = tensorrt_int(make, "num", 5, 1, TENSORRT_COUNT_MAX);
  const int64_t coords = tensorrt_int(make, "coords", 4, 4, 4);
  const int64_t classes = tensorrt_int(make, "classes", 80, 1, TENSORRT_COUNT_MAX);
  if (tenon_make_has(make, "smTree") || tenon_make_has(make, "softmaxTree")) {
    tensorrt_refuse(make, tenon_make_has(make, "smTree") ? "smTree" : "softmaxTree",
                    "it is a pointer to memory of TensorRT, which no file holds");
  }
  const int64_t numbers = coords + 1 + classes;
  if (tenon_make_ok(make) && tensorrt_known(make, x, 1, "x") != boxes * numbers) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "x has %lld channels: num = %lld and classes = %lld need %lld",
                    (long long)tenon_make_dim(make, x, 1), (long long)boxes, (long long)classes,
                    (long long)boxes * (long long)numbers);
  }
  const int64_t dims[4] = {0, boxes, numbers, -1};
  const tenon_value_t of_boxes = tenon_make_reshape(make, x, dims, 4);
  tenon_value_t parts[4] = {
      tenon_make_1(make, "sigmoid", tenon_make_slice(make, of_boxes, 2, 0, 2)),
      tenon_make_slice(make, of_boxes, 2, 2, 4),
      tenon_make_1(make, "sigmoid", tenon_make_slice(make, of_boxes, 2, 4, 5)),
      {0}};
  const tenon_value_t scores = tenon_make_slice(make, of_boxes, 2, 5, numbers);
  tenon_make_begin(make, "softmax");
  tenon_make_set_int(make, "axis", 2);
  tenon_make_add(make, scores);
  parts[3] = tenon_make_end(make);
  tenon_make_output(make, 0,
                    tenon_make_2(make, "reshape", tenon_make_concat(make, 2, 4, parts),
                                 tenon_make_shape(make, x)));
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENSORRT_ROW("Clip_TRT", clip, "1", NULL),
    TENSORRT_ROW("CoordConvAC", coordinates, "1", NULL),
    TENSORRT_ROW("GroupNormalizationPlugin", group_norm, "1", NULL),
    TENSORRT_ROW("InstanceNormalization_TRT", instance_norm, "1 2 3", NULL),
    TENSORRT_ROW("LReLU_TRT", leaky_relu, "1", NULL),
    TENSORRT_ROW("Normalize_TRT", normalize, "1", NULL),
    TENSORRT_ROW("Region_TRT", region, "1", NULL),
};
TENSORRT_FAMILY(layers);
