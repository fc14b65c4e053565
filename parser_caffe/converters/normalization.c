/* Means, deviations, norms, scales. */
#include <inttypes.h>
#include <stdio.h>

#include "families.h"

enum { TEXT_SIZE = 192 };

/* Channels are axis 1; of a vector there is one. */
static int64_t channels_of(tenon_make_t* make, tenon_value_t x) {
  return tenon_make_rank(make, x) < 2 ? 1 : tenon__caffe_extent(make, x, 1);
}

static tenon_value_t filled(tenon_make_t* make, int64_t count, float value) {
  float* values = tenon_make_memory(make, (size_t)count, sizeof(*values));
  if (values != NULL) {
    for (int64_t i = 0; i < count; ++i) {
      values[i] = value;
    }
  }
  return tenon_make_tensor(make, TENON_DTYPE_FLOAT32, 1, &count, values);
}

/* Statistics of what goes in, for a network that was asked to use them. */
static void normalize_by_batch(tenon_make_t* make, double epsilon) {
  char text[TEXT_SIZE];
  const tenon_value_t x = tenon_make_input(make, 0);
  const bool has_space = tenon_make_rank(make, x) > 2;
  const char* axes = has_space ? "2.." : "[0]";
  (void)snprintf(text, sizeof(text),
                 "let m = mean(mean(a, %s), [0]); let c = a - m;"
                 "let v = mean(mean(c * c, %s), [0]);"
                 "y = c / sqrt(v + (%.9g))",
                 axes, axes, epsilon);
  tenon_make_output(make, 0, tenon_make_math_1(make, text, x));
}

/* Blobs: mean and variance, each times the third; or, NVIDIA's, mean, variance, one unused, scale,
 * bias. */
static void batch_norm(tenon_make_t* make) {
  static const char share[] = "y = b == 0 ? 0 : a / b";
  const tenon_value_t x = tenon_make_input(make, 0);
  const double epsilon = tenon_make_get_float(make, "batch_norm_param.eps", 1e-5);
  const int64_t channels = channels_of(make, x);
  const bool is_nvidia = tenon_make_blob_count(make) == 5;
  if (tenon_make_get_int(make, "batch_norm_param.use_global_stats", 1) == 0) {
    normalize_by_batch(make, epsilon);
    return;
  }
  tenon_value_t mean = tenon__caffe_vector(make, 0, channels);
  tenon_value_t variance = tenon__caffe_vector(make, 1, channels);
  if (!is_nvidia) {
    const tenon_value_t factor = tenon__caffe_vector(make, 2, 1);
    mean = tenon_make_math_2(make, share, mean, factor);
    variance = tenon_make_math_2(make, share, variance, factor);
  }
  const tenon_value_t scale =
      is_nvidia ? tenon__caffe_vector(make, 3, channels) : filled(make, channels, 1);
  const tenon_value_t bias =
      is_nvidia ? tenon__caffe_vector(make, 4, channels) : filled(make, channels, 0);
  tenon_make_begin(make, "batch_norm");
  tenon_make_set_float(make, "epsilon", epsilon);
  tenon_make_add(make, x);
  tenon_make_add(make, scale);
  tenon_make_add(make, bias);
  tenon_make_add(make, mean);
  tenon_make_add(make, variance);
  tenon_make_output(make, 0, tenon_make_end(make));
}

/* Where a scale or bias lies along its bottom: axes [axis, axis + count). */
typedef struct span_t {
  int64_t axis;
  uint32_t count;
  int64_t dims[TENON_MAKE_LIST_LIMIT];
} span_t;

static void read_span(tenon_make_t* make, const char* axis_name, const char* count_name,
                      span_t* out_span) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const uint32_t rank = tenon_make_rank(make, x);
  const int64_t axis = tenon_make_axis(make, tenon_make_get_int(make, axis_name, 1), rank);
  const int64_t given = tenon_make_get_int(make, count_name, 1);
  const int64_t count = given == -1 ? (int64_t)rank - axis : given;
  *out_span = (span_t){.axis = axis};
  if (count < 0 || axis + count > (int64_t)rank) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "num_axes %" PRId64 " from axis %" PRId64 " on are more than rank %u", given,
                    axis, rank);
    return;
  }
  out_span->count = (uint32_t)count;
  for (uint32_t i = 0; i < out_span->count; ++i) {
    out_span->dims[i] = tenon__caffe_extent(make, x, axis + i);
  }
}

static tenon_value_t weight_over(tenon_make_t* make, uint32_t blob, const span_t* span) {
  return tenon__caffe_weight(make, blob, span->count, span->dims);
}

/* x scale + bias; absent ones are left out. A vector stays one, so that it can move into weights.
 */
static void apply(tenon_make_t* make, const span_t* span, tenon_value_t scale, tenon_value_t bias) {
  tenon_value_t x = tenon_make_input(make, 0);
  const uint32_t rank = tenon_make_rank(make, x);
  if (span->count == 1) {
    tenon_make_begin(make, "affine_scale");
    tenon_make_set_int(make, "axis", span->axis);
    tenon_make_add(make, x);
    tenon_make_add(make, bias);
    tenon_make_add(make, scale);
    tenon_make_output(make, 0, tenon_make_end(make));
    return;
  }
  if (tenon_make_present(scale)) {
    x = tenon_make_2(make, "mul", x, tenon__caffe_align(make, scale, span->axis, rank));
  }
  if (tenon_make_present(bias)) {
    x = tenon_make_2(make, "add", x, tenon__caffe_align(make, bias, span->axis, rank));
  }
  tenon_make_output(make, 0, x);
}

/* The second bottom, if there is one, takes the place of weights; it says how many axes it has. */
static void span_of_bottom(tenon_make_t* make, span_t* span) {
  if (tenon_make_has_input(make, 1)) {
    span->count = tenon_make_rank(make, tenon_make_input(make, 1));
    span->axis = span->count == 0 ? 0 : span->axis;
  }
  for (uint32_t i = 0; tenon_make_has_input(make, 1) && i < span->count; ++i) {
    span->dims[i] = tenon_make_dim(make, tenon_make_input(make, 1), i);
  }
}

static void scale(tenon_make_t* make) {
  span_t span;
  read_span(make, "scale_param.axis", "scale_param.num_axes", &span);
  span_of_bottom(make, &span);
  const bool has_bottom = tenon_make_has_input(make, 1);
  const bool has_bias = tenon_make_get_int(make, "scale_param.bias_term", 0) != 0;
  const tenon_value_t factor = has_bottom ? tenon_make_input(make, 1) : weight_over(make, 0, &span);
  const tenon_value_t bias =
      has_bias ? weight_over(make, has_bottom ? 0 : 1, &span) : (tenon_value_t){0};
  apply(make, &span, factor, bias);
}

static void bias(tenon_make_t* make) {
  span_t span;
  read_span(make, "bias_param.axis", "bias_param.num_axes", &span);
  span_of_bottom(make, &span);
  apply(make, &span, (tenon_value_t){0},
        tenon_make_has_input(make, 1) ? tenon_make_input(make, 1) : weight_over(make, 0, &span));
}

/* (x - mean) / (deviation + eps), over the plane, or over channels too. */
static void mean_variance(tenon_make_t* make) {
  char text[TEXT_SIZE];
  const char* axes = tenon_make_get_int(make, "mvn_param.across_channels", 0) != 0 ? "1.." : "2..";
  const double epsilon = tenon_make_get_float(make, "mvn_param.eps", 1e-9);
  if (tenon_make_get_int(make, "mvn_param.normalize_variance", 1) != 0) {
    (void)snprintf(text, sizeof(text),
                   "let c = a - mean(a, %s); y = c / (sqrt(mean(c * c, %s)) + (%.9g))", axes, axes,
                   epsilon);
  } else {
    (void)snprintf(text, sizeof(text), "y = a - mean(a, %s)", axes);
  }
  tenon_make_output(make, 0, tenon_make_math_1(make, text, tenon_make_input(make, 0)));
}

/* x / its norm, along channels at each place or over all of a picture, times learned scales. */
static void normalize(tenon_make_t* make) {
  char text[TEXT_SIZE];
  const tenon_value_t x = tenon_make_input(make, 0);
  const bool is_shared = tenon_make_get_int(make, "norm_param.channel_shared", 1) != 0;
  const bool is_whole = tenon_make_get_int(make, "norm_param.across_spatial", 1) != 0;
  (void)snprintf(text, sizeof(text), "y = a / sqrt(sum(a * a, %s) + (%.9g))",
                 is_whole ? "1.." : "[1]", tenon_make_get_float(make, "norm_param.eps", 1e-10));
  const tenon_value_t unit = tenon_make_math_1(make, text, x);
  const tenon_value_t factor = tenon__caffe_vector(make, 0, is_shared ? 1 : channels_of(make, x));
  tenon_make_output(
      make, 0,
      tenon_make_2(
          make, "mul", unit,
          is_shared ? factor : tenon__caffe_align(make, factor, 1, tenon_make_rank(make, x))));
}

/* Also of the loss: without its labels. */
static void softmax(tenon_make_t* make) {
  tenon_make_begin(make, "softmax");
  tenon_make_set_int(make, "axis", tenon_make_get_int(make, "softmax_param.axis", 1));
  tenon_make_add(make, tenon_make_input(make, 0));
  const tenon_value_t y = tenon_make_end(make);
  for (uint32_t i = 0; i < make->output_count; ++i) {
    tenon_make_output(make, i, y);
  }
}

#define ROW(type, function) TENON__CAFFE_ROW("", type, function, NULL, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    ROW("BatchNorm", batch_norm), ROW("Bias", bias),
    ROW("MVN", mean_variance),    ROW("Norm", normalize),
    ROW("Normalize", normalize),  ROW("Scale", scale),
    ROW("Softmax", softmax),      ROW("SoftmaxWithLoss", softmax),
};
TENON__CAFFE_FAMILY(normalization);
