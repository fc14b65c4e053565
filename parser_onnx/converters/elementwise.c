/* Elementwise operators: most are one operator with the same inputs, and need their row alone. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "families.h"

/* Before opset 7 operands broadcast only when asked: b's axes then stand at `axis` of a (at its end
 * without one), which today's rule says with further axes of extent 1. */
static tenon_value_t align_operand(tenon_make_t* make) {
  const tenon_value_t b = tenon_make_input(make, 1);
  if (tenon_make_get_int(make, "broadcast", 0) == 0 || !tenon_make_has(make, "axis")) {
    return b;
  }
  const uint32_t rank = tenon_make_rank(make, tenon_make_input(make, 0));
  const uint32_t rank_b = tenon_make_rank(make, b);
  const int64_t axis = tenon_make_axis(make, tenon_make_get_int(make, "axis", 0), rank);
  int64_t axes[TENON_MAKE_LIST_LIMIT];
  size_t count = 0;
  for (int64_t i = axis + rank_b; i < rank && tenon_make_ok(make); ++i) {
    axes[count] = (int64_t)rank_b + (int64_t)count;
    ++count;
  }
  return tenon_make_unsqueeze(make, b, axes, count);
}

static void binary_before_7(tenon_make_t* make) {
  const tenon_value_t b = align_operand(make);
  tenon_make_output(make, 0, tenon_make_2(make, make->row->op, tenon_make_input(make, 0), b));
}

/* Before opset 7 a slope of rank 1 runs along the channels. */
static void prelu_before_7(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  tenon_value_t slope = tenon_make_input(make, 1);
  const uint32_t rank = tenon_make_rank(make, x);
  int64_t axes[TENON_MAKE_LIST_LIMIT];
  size_t count = 0;
  if (tenon_make_rank(make, slope) == 1 && tenon_make_dim(make, slope, 0) != 1) {
    for (uint32_t i = 2; i < rank; ++i) {
      axes[count] = (int64_t)i - 1;
      ++count;
    }
  }
  slope = tenon_make_unsqueeze(make, slope, axes, count);
  tenon_make_output(make, 0, tenon_make_2(make, "prelu", x, slope));
}

static void keep_value(tenon_make_t* make) {
  tenon_make_output(make, 0, tenon_make_input(make, 0));
}

/* Until opset 10 the limits are attributes. */
static void clip_before_11(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const tenon_dtype_t dtype = tenon_make_dtype(make, x);
  const tenon_value_t none = {0};
  tenon_value_t limits[2] = {none, none};
  static const char* const names[2] = {"min", "max"};
  for (uint32_t i = 0; i < 2; ++i) {
    const double limit = tenon_make_get_float(make, names[i], 0);
    if (tenon_make_has(make, names[i]) && fabs(limit) < (double)FLT_MAX) {
      limits[i] = tenon_make_number(make, dtype, limit);
    }
  }
  tenon_make_output(make, 0, tenon_make_3(make, "clip", x, limits[0], limits[1]));
}

static void bit_shift(tenon_make_t* make) {
  const char* direction = tenon_make_get_string(make, "direction", "");
  const bool is_left = strcmp(direction, "LEFT") == 0;
  if (!is_left && strcmp(direction, "RIGHT") != 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "direction '%s' is neither LEFT nor RIGHT",
                    direction);
  }
  tenon_make_begin(make, "bit_shift");
  tenon_make_set_string(make, "direction", is_left ? "left" : "right");
  tenon_make_add_inputs(make, 0);
  tenon_make_end_outputs(make);
}

#define ROW(type, since, until, function, op, attributes) \
  TENON__ONNX_ROW("", type, since, until, function, op, attributes)
#define SAME(type, op, attributes) ROW(type, 1, 0, tenon_make_same, op, attributes)
#define BINARY(type, op) \
  ROW(type, 1, 7, binary_before_7, op, NULL), ROW(type, 7, 0, tenon_make_same, op, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    SAME("Abs", "abs", NULL),
    SAME("Acos", "acos", NULL),
    SAME("Acosh", "acosh", NULL),
    BINARY("Add", "add"),
    BINARY("And", "logical_and"),
    SAME("Asin", "asin", NULL),
    SAME("Asinh", "asinh", NULL),
    SAME("Atan", "atan", NULL),
    SAME("Atanh", "atanh", NULL),
    ROW("BitShift", 11, 0, bit_shift, NULL, NULL),
    SAME("BitwiseAnd", "bitwise_and", NULL),
    SAME("BitwiseNot", "bitwise_not", NULL),
    SAME("BitwiseOr", "bitwise_or", NULL),
    SAME("BitwiseXor", "bitwise_xor", NULL),
    SAME("Ceil", "ceil", NULL),
    SAME("Celu", "celu", "alpha=1.0"),
    ROW("Clip", 1, 11, clip_before_11, NULL, NULL),
    ROW("Clip", 11, 0, tenon_make_same, "clip", NULL),
    SAME("Cos", "cos", NULL),
    SAME("Cosh", "cosh", NULL),
    BINARY("Div", "div"),
    SAME("Elu", "elu", "alpha=1.0"),
    BINARY("Equal", "equal"),
    SAME("Erf", "erf", NULL),
    SAME("Exp", "exp", NULL),
    SAME("Floor", "floor", NULL),
    SAME("Gelu", "gelu", "approximate"),
    BINARY("Greater", "greater"),
    SAME("GreaterOrEqual", "greater_equal", NULL),
    SAME("HardSigmoid", "hard_sigmoid", "alpha=0.2 beta=0.5"),
    SAME("HardSwish", "hard_swish", NULL),
    ROW("Identity", 1, 0, keep_value, NULL, NULL),
    SAME("IsInf", "is_inf", "detect_positive detect_negative"),
    SAME("IsNaN", "is_nan", NULL),
    SAME("LeakyRelu", "leaky_relu", "alpha=0.01"),
    BINARY("Less", "less"),
    SAME("LessOrEqual", "less_equal", NULL),
    SAME("Log", "log", NULL),
    SAME("Max", "max", NULL),
    SAME("Mean", "mean_of", NULL),
    SAME("Min", "min", NULL),
    SAME("Mish", "mish", NULL),
    SAME("Mod", "mod", "fmod"),
    BINARY("Mul", "mul"),
    SAME("Neg", "neg", NULL),
    SAME("Not", "logical_not", NULL),
    BINARY("Or", "logical_or"),
    ROW("PRelu", 1, 7, prelu_before_7, NULL, NULL),
    ROW("PRelu", 7, 0, tenon_make_same, "prelu", NULL),
    BINARY("Pow", "pow"),
    SAME("Reciprocal", "reciprocal", NULL),
    SAME("Relu", "relu", NULL),
    SAME("Round", "round", NULL),
    ROW("Selu", 1, 6, tenon_make_same, "selu", "alpha=1.6732 gamma=1.0507"),
    ROW("Selu", 6, 0, tenon_make_same, "selu", "alpha gamma"),
    SAME("Shrink", "shrink", "lambd>lambda=0.5 bias=0.0"),
    SAME("Sigmoid", "sigmoid", NULL),
    SAME("Sign", "sign", NULL),
    SAME("Sin", "sin", NULL),
    SAME("Sinh", "sinh", NULL),
    SAME("Softplus", "softplus", NULL),
    SAME("Softsign", "softsign", NULL),
    SAME("Sqrt", "sqrt", NULL),
    BINARY("Sub", "sub"),
    SAME("Sum", "sum_of", NULL),
    SAME("SwiGLU", "swiglu", "alpha=1.0"),
    SAME("Swish", "swish", "alpha=1.0"),
    SAME("Tan", "tan", NULL),
    SAME("Tanh", "tanh", NULL),
    SAME("ThresholdedRelu", "thresholded_relu", "alpha=1.0"),
    SAME("Where", "where", NULL),
    BINARY("Xor", "logical_xor"),
};
TENON__ONNX_FAMILY(elementwise);
