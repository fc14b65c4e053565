/* Layers that treat each element alike, and sums and products of several bottoms. */
#include <math.h>
#include <stdio.h>

#include "families.h"

enum { TEXT_SIZE = 160 };

static void relu(tenon_make_t* make) {
  const double slope = tenon_make_get_float(make, "relu_param.negative_slope", 0);
  tenon_make_begin(make, slope == 0 ? "relu" : "leaky_relu");
  if (slope != 0) {
    tenon_make_set_float(make, "alpha", slope);
  }
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_output(make, 0, tenon_make_end(make));
}

static void prelu(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const uint32_t rank = tenon_make_rank(make, x);
  const bool is_shared = tenon_make_get_int(make, "prelu_param.channel_shared", 0) != 0;
  const int64_t channels = is_shared ? 1 : tenon__caffe_extent(make, x, 1);
  const tenon_value_t slope = tenon__caffe_vector(make, 0, channels);
  const tenon_value_t aligned = is_shared ? slope : tenon__caffe_align(make, slope, 1, rank);
  tenon_make_output(make, 0, tenon_make_2(make, "prelu", x, aligned));
}

static void text_of_input(tenon_make_t* make, const char* text) {
  tenon_make_output(make, 0, tenon_make_math_1(make, text, tenon_make_input(make, 0)));
}

/* (shift + scale x)^power */
static void power(tenon_make_t* make) {
  const double exponent = tenon_make_get_float(make, "power_param.power", 1);
  const double scale = tenon_make_get_float(make, "power_param.scale", 1);
  const double shift = tenon_make_get_float(make, "power_param.shift", 0);
  char text[TEXT_SIZE];
  if (exponent == 1) {
    (void)snprintf(text, sizeof(text), "y = a * (%.9g) + (%.9g)", scale, shift);
  } else if (exponent == 2) {
    (void)snprintf(text, sizeof(text), "let b = a * (%.9g) + (%.9g); y = b * b", scale, shift);
  } else {
    (void)snprintf(text, sizeof(text), "y = pow(a * (%.9g) + (%.9g), %.9g)", scale, shift,
                   exponent);
  }
  text_of_input(make, text);
}

/* The logarithm of the base; -1 stands for e. */
static double log_of_base(tenon_make_t* make, const char* name) {
  const double base = tenon_make_get_float(make, name, -1);
  const double result = base == -1 ? 1 : log(base);
  if (!isfinite(result) || result == 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "its base is %g", base);
  }
  return result;
}

/* base^(shift + scale x) */
static void exponential(tenon_make_t* make) {
  const double factor = log_of_base(make, "exp_param.base");
  const double scale = tenon_make_get_float(make, "exp_param.scale", 1);
  const double shift = tenon_make_get_float(make, "exp_param.shift", 0);
  char text[TEXT_SIZE];
  (void)snprintf(text, sizeof(text), "y = exp(a * (%.9g)) * (%.9g)", factor * scale,
                 exp(factor * shift));
  text_of_input(make, text);
}

/* log of shift + scale x */
static void logarithm(tenon_make_t* make) {
  const double factor = log_of_base(make, "log_param.base");
  const double scale = tenon_make_get_float(make, "log_param.scale", 1);
  const double shift = tenon_make_get_float(make, "log_param.shift", 0);
  char text[TEXT_SIZE];
  (void)snprintf(text, sizeof(text), "y = log(a * (%.9g) + (%.9g)) * (%.9g)", scale, shift,
                 1 / factor);
  text_of_input(make, text);
}

static void clip(tenon_make_t* make) {
  if (!tenon_make_has(make, "clip_param.min") || !tenon_make_has(make, "clip_param.max")) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "clip_param needs min and max");
    return;
  }
  const double low = tenon_make_get_float(make, "clip_param.min", 0);
  const double high = tenon_make_get_float(make, "clip_param.max", 0);
  tenon_make_output(make, 0,
                    tenon_make_3(make, "clip", tenon_make_input(make, 0),
                                 tenon_make_number(make, TENON_DTYPE_FLOAT32, low),
                                 tenon_make_number(make, TENON_DTYPE_FLOAT32, high)));
}

static void threshold(tenon_make_t* make) {
  char text[TEXT_SIZE];
  (void)snprintf(text, sizeof(text), "y = cast(a > (%.9g), f32)",
                 tenon_make_get_float(make, "threshold_param.threshold", 0));
  text_of_input(make, text);
}

static void relu6(tenon_make_t* make) {
  text_of_input(make, "y = clamp(a, 0, 6)");
}

static void all_inputs(tenon_make_t* make, const char* op) {
  tenon_make_begin(make, op);
  tenon_make_add_inputs(make, 0);
  tenon_make_output(make, 0, tenon_make_end(make));
}

static void weighted_sum(tenon_make_t* make, const double* factors) {
  char text[TEXT_SIZE];
  (void)snprintf(text, sizeof(text), "y = a * (%.9g)", factors[0]);
  tenon_value_t sum = tenon_make_math_1(make, text, tenon_make_input(make, 0));
  for (uint32_t i = 1; i < make->input_count; ++i) {
    (void)snprintf(text, sizeof(text), "y = a + b * (%.9g)", factors[i]);
    sum = tenon_make_math_2(make, text, sum, tenon_make_input(make, i));
  }
  tenon_make_output(make, 0, sum);
}

static void eltwise(tenon_make_t* make) {
  const double* factors = NULL;
  size_t count = 0;
  const bool is_product = tenon__caffe_is(make, "eltwise_param.operation", "SUM", "PROD");
  const bool is_sum = tenon__caffe_is(make, "eltwise_param.operation", "SUM", "SUM");
  const bool has_factors = tenon_make_get_floats(make, "eltwise_param.coeff", &factors, &count);
  if (has_factors && (!is_sum || count != make->input_count)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "%zu coeff for %u bottoms: a sum takes one for each, nothing else takes any",
                    count, make->input_count);
  } else if (make->input_count == 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "it has no bottoms");
  } else if (has_factors) {
    weighted_sum(make, factors);
  } else if (is_product) {
    tenon_value_t product = tenon_make_input(make, 0);
    for (uint32_t i = 1; i < make->input_count; ++i) {
      product = tenon_make_2(make, "mul", product, tenon_make_input(make, i));
    }
    tenon_make_output(make, 0, product);
  } else {
    all_inputs(make, is_sum ? "sum_of" : "max");
  }
}

/* a x + y: a is one number for each channel. */
static void axpy(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 1);
  const tenon_value_t a =
      tenon__caffe_align(make, tenon_make_input(make, 0), 0, tenon_make_rank(make, x));
  const tenon_value_t values[3] = {a, x, tenon_make_input(make, 2)};
  tenon_make_output(make, 0, tenon_make_math(make, "y = a * b + c", 3, values));
}

#define SAME(type, op, attributes) TENON__CAFFE_ROW("", type, tenon_make_same, op, attributes)
#define ROW(type, function) TENON__CAFFE_ROW("", type, function, NULL, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    SAME("AbsVal", "abs", NULL),
    ROW("Axpy", axpy),
    SAME("BNLL", "softplus", NULL),
    ROW("Clip", clip),
    SAME("Dropout", "pass_through", NULL),
    SAME("ELU", "elu", "elu_param.alpha>alpha"),
    ROW("Eltwise", eltwise),
    ROW("Exp", exponential),
    ROW("Log", logarithm),
    SAME("Mish", "mish", NULL),
    ROW("PReLU", prelu),
    ROW("Power", power),
    ROW("ReLU", relu),
    ROW("ReLU6", relu6),
    SAME("Sigmoid", "sigmoid", NULL),
    SAME("Swish", "swish", "swish_param.beta>alpha"),
    SAME("TanH", "tanh", NULL),
    ROW("Threshold", threshold),
};
TENON__CAFFE_FAMILY(elementwise);
