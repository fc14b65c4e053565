/* Products of 8-bit values. Both operands become integer operators, and one expression scales,
 * rounds and saturates their sums. */
#include "convolution.h"
#include "families.h"
#include "quantized.h"
#include "steps.h"

static bool has_8_bits(tenon_make_t* make, tenon_value_t value) {
  const tenon_dtype_t dtype = tenon_make_dtype(make, value);
  return dtype == TENON_DTYPE_INT8 || dtype == TENON_DTYPE_UINT8;
}

/* ---- Products of matrices ---- */

static void mat_mul_integer_to_float(tenon_make_t* make) {
  const tenon_value_t sums =
      microsoft_integer_product(make, tenon_make_input(make, 0), tenon_make_input(make, 1),
                                microsoft_parameter(make, 4), microsoft_parameter(make, 5));
  const tenon_value_t a_scale = microsoft_followed(make, microsoft_parameter(make, 2), 1);
  tenon_make_output(make, 0,
                    microsoft_scaled_sums(make, sums, a_scale, microsoft_parameter(make, 3),
                                          tenon_make_input(make, 6)));
}

static void dynamic_quantize_mat_mul(tenon_make_t* make) {
  tenon_value_t a[3] = {{0}, {0}, {0}}; /* values, scale, zero point */
  tenon_make_begin(make, "dynamic_quantize_linear");
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_end_many(make, a, 3);
  const tenon_value_t sums = microsoft_integer_product(make, a[0], tenon_make_input(make, 1), a[2],
                                                       microsoft_parameter(make, 3));
  tenon_make_output(make, 0,
                    microsoft_scaled_sums(make, sums, a[1], microsoft_parameter(make, 2),
                                          tenon_make_input(make, 4)));
}

static void mat_mul_integer_16(tenon_make_t* make) {
  const bool is_signed = tenon_make_dtype(make, tenon_make_input(make, 0)) == TENON_DTYPE_INT16 ||
                         tenon_make_dtype(make, tenon_make_input(make, 1)) == TENON_DTYPE_INT16;
  const tenon_dtype_t dtype = is_signed ? TENON_DTYPE_INT32 : TENON_DTYPE_UINT32;
  tenon_make_output(
      make, 0,
      tenon_make_2(make, "mat_mul", tenon_make_cast(make, tenon_make_input(make, 0), dtype),
                   tenon_make_cast(make, tenon_make_input(make, 1), dtype)));
}

/* The product of two values less their zero points, as i32. */
static void mul_integer(tenon_make_t* make) {
  tenon_value_t factors[2];
  for (uint32_t k = 0; k < 2; ++k) {
    const tenon_value_t value = tenon_make_input(make, 2 * k);
    factors[k] = tenon_make_has_input(make, 2 * k + 1)
                     ? tenon_make_math_2(make, "y = cast(a, i32) - cast(b, i32)", value,
                                         microsoft_parameter(make, 2 * k + 1))
                     : tenon_make_cast(make, value, TENON_DTYPE_INT32);
  }
  tenon_make_output(make, 0, tenon_make_2(make, "mul", factors[0], factors[1]));
}

static void reduce_sum_integer(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const tenon_dtype_t dtype =
      tenon_make_dtype(make, x) == TENON_DTYPE_INT8 ? TENON_DTYPE_INT32 : TENON_DTYPE_UINT32;
  const int64_t* axes = NULL;
  size_t count = 0;
  (void)tenon_make_get_ints(make, "axes", &axes, &count);
  tenon_make_output(make, 0,
                    tenon_make_reduce(make, "reduce_sum", tenon_make_cast(make, x, dtype), axes,
                                      count, tenon_make_get_int(make, "keepdims", 1)));
}

static tenon_value_t turned(tenon_make_t* make, uint32_t index, const char* attribute) {
  const tenon_value_t value = tenon_make_input(make, index);
  return tenon_make_get_int(make, attribute, 0) != 0 ? microsoft_transposed(make, value) : value;
}

/* c is an i32 in steps of the sums. Without a scale, y is f32. */
static void quantized_gemm(tenon_make_t* make) {
  tenon_value_t sums =
      microsoft_integer_product(make, turned(make, 0, "transA"), turned(make, 3, "transB"),
                                microsoft_parameter(make, 2), microsoft_parameter(make, 5));
  sums = microsoft_add_input(make, sums, 6);
  const tenon_value_t a_scale =
      microsoft_scaled(make, microsoft_parameter(make, 1), tenon_make_get_float(make, "alpha", 1));
  if (!tenon_make_has_input(make, 7)) {
    tenon_make_output(make, 0,
                      microsoft_scaled_sums(make, sums, a_scale, microsoft_parameter(make, 4),
                                            microsoft_absent()));
    return;
  }
  const tenon_value_t scales[3] = {a_scale, microsoft_parameter(make, 4),
                                   microsoft_parameter(make, 7)};
  const tenon_value_t operands[2] = {sums, tenon_make_math(make, "y = a * b / c", 3, scales)};
  const tenon_dtype_t dtype = tenon_make_has_input(make, 8)
                                  ? tenon_make_dtype(make, tenon_make_input(make, 8))
                                  : (tenon_dtype_t)TENON_DTYPE_UINT8;
  tenon_make_output(make, 0,
                    microsoft_quantize_math(make, "cast(a, f32) * b", 2, operands, 8, dtype));
}

/* ---- QLinearConv ---- */

/* Returns true if products of the groups are so small that a convolution of floats is faster. */
static bool has_small_groups(tenon_make_t* make) {
  enum { MIN_CHANNELS = 16 };
  const int64_t groups = tenon_make_get_int(make, "group", 1);
  const tenon_value_t w = tenon_make_input(make, 3);
  const int64_t channels = tenon_make_dim(make, w, 1);
  const bool is_depthwise = channels == 1 && tenon_make_dim(make, w, 0) == groups;
  return groups > 1 && !is_depthwise && channels < MIN_CHANNELS;
}

/* Sums of x, less its zero point, and w, with the bias in the same steps. */
static tenon_value_t convolved_integers(tenon_make_t* make, tenon_value_t x, uint32_t spatial) {
  const tenon_value_t operands[4] = {x, tenon_make_input(make, 3), microsoft_parameter(make, 2),
                                     microsoft_parameter(make, 5)};
  const tenon_value_t sums = microsoft_convolve(make, "convolution_integer", 4, operands);
  const tenon_value_t bias = microsoft_followed(make, tenon_make_input(make, 8), spatial);
  return tenon_make_present(bias) ? tenon_make_math_2(make, "y = a + b", sums, bias) : sums;
}

static tenon_value_t convolved_floats(tenon_make_t* make, tenon_value_t x) {
  static const microsoft_quantized_t of_x = {0, 1, 2};
  static const microsoft_quantized_t of_w = {3, 4, 5};
  const tenon_value_t scales[3] = {tenon_make_input(make, 8), microsoft_parameter(make, 1),
                                   microsoft_parameter(make, 4)};
  const tenon_value_t operands[3] = {
      microsoft_dequantize_as(make, x, of_x, 1),
      microsoft_dequantize_as(make, tenon_make_input(make, 3), of_w, 0),
      tenon_make_has_input(make, 8) ? tenon_make_math(make, "y = cast(a, f32) * b * c", 3, scales)
                                    : microsoft_absent()};
  return microsoft_convolve(make, "convolution", 3, operands);
}

static void quantized_conv(tenon_make_t* make) {
  const bool is_last = tenon_make_get_int(make, "channels_last", 0) != 0;
  const tenon_value_t input = tenon_make_input(make, 0);
  const uint32_t rank = tenon_make_rank(make, input);
  const tenon_value_t x = is_last ? microsoft_channels_first(make, input) : input;
  const tenon_dtype_t dtype = tenon_make_dtype(make, tenon_make_input(make, 7));
  if (rank < 3 || rank > 5) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "x has rank %u, not 3 to 5", rank);
    return;
  }
  tenon_value_t y = {0};
  if (has_8_bits(make, x) && has_8_bits(make, tenon_make_input(make, 3)) &&
      !has_small_groups(make)) {
    const tenon_value_t scales[3] = {
        microsoft_parameter(make, 1),
        microsoft_followed(make, microsoft_parameter(make, 4), rank - 2),
        microsoft_parameter(make, 6)};
    const tenon_value_t operands[2] = {convolved_integers(make, x, rank - 2),
                                       tenon_make_math(make, "y = a * b / c", 3, scales)};
    y = microsoft_quantize_math(make, "cast(a, f32) * b", 2, operands, 7, dtype);
  } else {
    const microsoft_quantized_t to_y = {0, 6, 7};
    y = microsoft_quantize(make, convolved_floats(make, x), to_y, dtype);
  }
  tenon_make_output(make, 0, is_last ? microsoft_channels_last(make, y) : y);
}

/* ---- DynamicQuantizeLSTM ---- */

/* Weights [directions, inputs, outputs] as f32 [directions, outputs, inputs]. The scale is one for
 * each direction, or one for each output. */
static tenon_value_t lstm_weights(tenon_make_t* make, uint32_t index, uint32_t scale) {
  static const int64_t perm[] = {0, 2, 1};
  static const int64_t middle[] = {1};
  static const int64_t last[] = {1, 2};
  tenon_value_t operands[3] = {tenon_make_input(make, index), tenon_make_input(make, scale),
                               tenon_make_input(make, scale + 1)};
  for (uint32_t k = 1; k < 3; ++k) {
    operands[k] = tenon_make_rank(make, operands[k]) == 1
                      ? tenon_make_unsqueeze(make, operands[k], last, 2)
                      : tenon_make_unsqueeze(make, operands[k], middle, 1);
  }
  return tenon_make_permute(
      make, tenon_make_math(make, "y = (cast(a, f32) - cast(c, f32)) * b", 3, operands), perm, 3);
}

/* x and the states stay f32: ONNX Runtime rounds them to 8 bits in each step. */
static void dynamic_quantize_lstm(tenon_make_t* make) {
  const tenon_value_t w = lstm_weights(make, 1, 8);
  const tenon_value_t r = lstm_weights(make, 2, 10);
  tenon_make_begin(make, "lstm");
  tenon_make_pass_all(make,
                      "direction activations activation_alpha activation_beta clip input_forget");
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_add(make, w);
  tenon_make_add(make, r);
  for (uint32_t k = 3; k < 8; ++k) {
    tenon_make_add(make, tenon_make_input(make, k));
  }
  tenon_make_end_outputs(make);
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MICROSOFT_ROW("DynamicQuantizeLSTM", dynamic_quantize_lstm, NULL, NULL),
    MICROSOFT_ROW("DynamicQuantizeMatMul", dynamic_quantize_mat_mul, NULL, NULL),
    MICROSOFT_ROW("MatMulInteger16", mat_mul_integer_16, NULL, NULL),
    MICROSOFT_ROW("MatMulIntegerToFloat", mat_mul_integer_to_float, NULL, NULL),
    MICROSOFT_ROW("MulInteger", mul_integer, NULL, NULL),
    MICROSOFT_ROW("QGemm", quantized_gemm, NULL, NULL),
    MICROSOFT_ROW("QLinearConv", quantized_conv, NULL, NULL),
    MICROSOFT_ROW("ReduceSumInteger", reduce_sum_integer, NULL, NULL),
};
MICROSOFT_FAMILY(integer);
