/* Quantised values: conversion, arithmetic, functions, pools. Elementwise operators are one
 * expression. */
#include <stdio.h>

#include "convolution.h"
#include "families.h"
#include "quantized.h"
#include "steps.h"

/* Inputs of operators with one quantised operand and a quantised result. */
static const microsoft_quantized_t from_x = {0, 1, 2};
static const microsoft_quantized_t to_y = {0, 3, 4};

static tenon_dtype_t dtype_of(tenon_make_t* make, uint32_t index) {
  return tenon_make_dtype(make, tenon_make_input(make, index));
}

/* ---- QuantizeLinear, DequantizeLinear ---- */

/* Without `axis`, the scale is one. */
static void linear(tenon_make_t* make, const char* op, tenon_dtype_t to) {
  const tenon_value_t operands[3] = {tenon_make_input(make, 0), microsoft_parameter(make, 1),
                                     microsoft_parameter(make, 2)};
  if (tenon_make_rank(make, operands[1]) > 0 && !tenon_make_has(make, "axis")) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "the scale is a list, and axis is absent");
  }
  const int64_t axis = tenon_make_get_int(make, "axis", 0);
  tenon_make_output(make, 0, microsoft_linear(make, op, to, operands, axis, 0));
}

static void quantize_linear(tenon_make_t* make) {
  linear(make, "quantize_linear",
         tenon_make_has_input(make, 2) ? dtype_of(make, 2) : (tenon_dtype_t)TENON_DTYPE_UINT8);
}

static void dequantize_linear(tenon_make_t* make) {
  linear(make, "dequantize_linear", dtype_of(make, 1));
}

/* ---- Arithmetic ---- */

/* Operands: a, b, the zero points c and d (absent: a and b again, unused), factors e and f. */
static void arithmetic(tenon_make_t* make) {
  const bool adds = make->row->op != NULL;
  const tenon_value_t scales[3] = {microsoft_parameter(make, 1), microsoft_parameter(make, 4),
                                   microsoft_parameter(make, 6)};
  const tenon_value_t a = tenon_make_input(make, 0);
  const tenon_value_t b = tenon_make_input(make, 3);
  tenon_value_t operands[6] = {a, b,
                               tenon_make_has_input(make, 2) ? microsoft_parameter(make, 2) : a,
                               tenon_make_has_input(make, 5) ? microsoft_parameter(make, 5) : b};
  const char* left =
      tenon_make_has_input(make, 2) ? "(cast(a, f32) - cast(c, f32))" : "cast(a, f32)";
  const char* right =
      tenon_make_has_input(make, 5) ? "(cast(b, f32) - cast(d, f32))" : "cast(b, f32)";
  char text[128];
  if (adds) {
    operands[4] = tenon_make_math_2(make, "y = a / b", scales[0], scales[2]);
    operands[5] = tenon_make_math_2(make, "y = a / b", scales[1], scales[2]);
    (void)snprintf(text, sizeof(text), "%s * e + %s * f", left, right);
  } else {
    operands[4] = tenon_make_math(make, "y = a * b / c", 3, scales);
    (void)snprintf(text, sizeof(text), "%s * %s * e", left, right);
  }
  tenon_make_output(
      make, 0,
      microsoft_quantize_math(make, text, adds ? 6 : 5, operands, 7, tenon_make_dtype(make, a)));
}

/* Returns true if both inputs are the same number, known now. */
static bool is_same_number(tenon_make_t* make, uint32_t a, uint32_t b) {
  double numbers[2] = {0, 0};
  uint32_t counts[2] = {0, 0};
  return tenon_make_known_floats(make, tenon_make_input(make, a), &numbers[0], 1, &counts[0]) &&
         tenon_make_known_floats(make, tenon_make_input(make, b), &numbers[1], 1, &counts[1]) &&
         counts[0] == 1 && counts[1] == 1 && numbers[0] == numbers[1];
}

/* `value` with the scale and zero point of another quantised tensor. Equal constants: itself. */
static tenon_value_t requantized(tenon_make_t* make, microsoft_quantized_t from,
                                 microsoft_quantized_t to, tenon_dtype_t dtype) {
  const tenon_value_t value = tenon_make_input(make, from.value);
  if (tenon_make_dtype(make, value) == dtype && is_same_number(make, from.scale, to.scale) &&
      is_same_number(make, from.zero_point, to.zero_point)) {
    return value;
  }
  return microsoft_quantize(make, microsoft_dequantize(make, from), to, dtype);
}

static void concatenate(tenon_make_t* make) {
  const microsoft_quantized_t to = {0, 0, 1};
  const tenon_dtype_t dtype = dtype_of(make, 1);
  if (make->input_count % 3 != 2 || make->input_count < 5) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "%u inputs are not a scale, a zero point and triples", make->input_count);
    return;
  }
  const uint32_t count = (make->input_count - 2) / 3;
  tenon_value_t* values = tenon_make_memory(make, count, sizeof(*values));
  for (uint32_t k = 0; k < count && tenon_make_ok(make); ++k) {
    const microsoft_quantized_t from = {2 + 3 * k, 3 + 3 * k, 4 + 3 * k};
    values[k] = requantized(make, from, to, dtype);
  }
  if (tenon_make_ok(make)) {
    const int64_t axis = tenon_make_axis(make, tenon_make_get_int(make, "axis", 0),
                                         tenon_make_rank(make, values[0]));
    tenon_make_output(make, 0, tenon_make_concat(make, axis, count, values));
  }
}

static void where(tenon_make_t* make) {
  const microsoft_quantized_t x = {1, 2, 3};
  const microsoft_quantized_t y = {4, 5, 6};
  const microsoft_quantized_t z = {0, 7, 8};
  const tenon_dtype_t dtype = dtype_of(make, 8);
  tenon_make_output(make, 0,
                    tenon_make_3(make, "where", tenon_make_input(make, 0),
                                 requantized(make, x, z, dtype), requantized(make, y, z, dtype)));
}

/* ---- Functions of f32 between dequantisation and quantisation ---- */

static void set_quantized(tenon_make_t* make, tenon_value_t y) {
  tenon_make_output(make, 0, microsoft_quantize(make, y, to_y, dtype_of(make, 0)));
}

static void function(tenon_make_t* make) {
  const tenon_value_t x = microsoft_dequantize(make, from_x);
  tenon_make_begin(make, make->row->op);
  tenon_make_pass_all(make, make->row->attributes);
  tenon_make_add(make, x);
  set_quantized(make, tenon_make_end(make));
}

/* Before operator set 13, a softmax takes all axes from `axis` on. */
static void softmax(tenon_make_t* make) {
  tenon_value_t x = microsoft_dequantize(make, from_x);
  const tenon_value_t shape = tenon_make_shape(make, x);
  const int64_t axis =
      tenon_make_axis(make, tenon_make_get_int(make, "axis", -1), tenon_make_rank(make, x));
  const bool is_flat = tenon_make_get_int(make, "opset", 0) < 13;
  if (is_flat) {
    tenon_make_begin(make, "flatten");
    tenon_make_set_int(make, "axis", axis);
    tenon_make_add(make, x);
    x = tenon_make_end(make);
  }
  tenon_make_begin(make, "softmax");
  tenon_make_set_int(make, "axis", is_flat ? -1 : axis);
  tenon_make_add(make, x);
  const tenon_value_t y = tenon_make_end(make);
  set_quantized(make, is_flat ? tenon_make_2(make, "reshape", y, shape) : y);
}

static void reduce_mean(tenon_make_t* make) {
  const tenon_value_t x = microsoft_dequantize(make, from_x);
  const int64_t* axes = NULL;
  size_t count = 0;
  (void)tenon_make_get_ints(make, "axes", &axes, &count);
  set_quantized(make, tenon_make_reduce(make, "reduce_mean", x, axes, count,
                                        tenon_make_get_int(make, "keepdims", 1)));
}

static bool has_channels_last(tenon_make_t* make) {
  return tenon_make_get_int(make, "channels_last", 0) != 0;
}

static void average_pool(tenon_make_t* make) {
  const bool is_last = has_channels_last(make);
  tenon_value_t x = microsoft_dequantize(make, from_x);
  x = is_last ? microsoft_channels_first(make, x) : x;
  const tenon_value_t y = microsoft_pool(make, "average_pool", x, "count_include_pad");
  set_quantized(make, is_last ? microsoft_channels_last(make, y) : y);
}

static void global_average_pool(tenon_make_t* make) {
  const tenon_value_t x = microsoft_dequantize(make, from_x);
  const uint32_t rank = tenon_make_rank(make, x);
  const int64_t first = has_channels_last(make) ? 1 : 2;
  int64_t axes[TENON_MAKE_LIST_LIMIT];
  for (uint32_t k = 0; k + 2 < rank && k < TENON_MAKE_LIST_LIMIT; ++k) {
    axes[k] = first + k;
  }
  if (rank < 3 || rank > TENON_MAKE_LIST_LIMIT) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "x has rank %u, less than 3", rank);
    return;
  }
  set_quantized(make, tenon_make_reduce(make, "reduce_mean", x, axes, rank - 2, 1));
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MICROSOFT_ROW("DequantizeLinear", dequantize_linear, NULL, NULL),
    MICROSOFT_ROW("QLinearAdd", arithmetic, "add", NULL),
    MICROSOFT_ROW("QLinearAveragePool", average_pool, NULL, NULL),
    MICROSOFT_ROW("QLinearConcat", concatenate, NULL, NULL),
    MICROSOFT_ROW("QLinearGlobalAveragePool", global_average_pool, NULL, NULL),
    MICROSOFT_ROW("QLinearLeakyRelu", function, "leaky_relu", "alpha=0.01"),
    MICROSOFT_ROW("QLinearMul", arithmetic, NULL, NULL),
    MICROSOFT_ROW("QLinearReduceMean", reduce_mean, NULL, NULL),
    MICROSOFT_ROW("QLinearSigmoid", function, "sigmoid", ""),
    MICROSOFT_ROW("QLinearSoftmax", softmax, NULL, NULL),
    MICROSOFT_ROW("QLinearWhere", where, NULL, NULL),
    MICROSOFT_ROW("QuantizeLinear", quantize_linear, NULL, NULL),
};
MICROSOFT_FAMILY(quantization);
