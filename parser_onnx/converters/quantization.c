/* Quantisation. Multiplications of 8-bit values become integer operators and one expression that
 * scales and rounds, which kernels fuse. Those of other types become their float forms between
 * dequantisation and quantisation. */
#include <string.h>

#include "families.h"
#include "types.h"
#include "windows.h"

/* Returns true for a list of one scale or zero point, which is one for the whole tensor. */
static bool is_single(tenon_make_t* make, tenon_value_t value) {
  return tenon_make_present(value) && tenon_make_rank(make, value) == 1 &&
         tenon_make_dim(make, value, 0) == 1;
}

/* Returns a scale or zero point. Its rank is 0 if it is one for the whole tensor. */
static tenon_value_t parameter(tenon_make_t* make, uint32_t index) {
  const tenon_value_t value = tenon_make_input(make, index);
  return is_single(make, value) ? tenon_make_reshape(make, value, NULL, 0) : value;
}

/* Dequantises to f32. Inputs `first` to `first + 2` are a quantised tensor, its scale and its zero
 * point. */
static tenon_value_t dequantized(tenon_make_t* make, uint32_t first, int64_t axis) {
  const tenon_value_t scale = parameter(make, first + 1);
  const tenon_value_t zero_point = parameter(make, first + 2);
  tenon_make_begin(make, "dequantize_linear");
  tenon_make_set_dtype(make, "to", TENON_DTYPE_FLOAT32);
  tenon_make_set_int(make, "axis", axis);
  tenon_make_add(make, tenon_make_input(make, first));
  tenon_make_add(make, scale);
  tenon_make_add(make, zero_point);
  return tenon_make_end(make);
}

/* Quantises `value`. Inputs `first` and `first + 1` are the scale and zero point of the result. */
static tenon_value_t quantized(tenon_make_t* make, tenon_value_t value, uint32_t first,
                               int64_t axis) {
  const tenon_value_t scale = parameter(make, first);
  const tenon_value_t zero_point = parameter(make, first + 1);
  const tenon_dtype_t to = tenon_make_dtype(make, zero_point);
  tenon_make_begin(make, "quantize_linear");
  tenon_make_set_dtype(make, "to", to);
  tenon_make_set_int(make, "axis", axis);
  tenon_make_add(make, value);
  tenon_make_add(make, scale);
  tenon_make_add(make, zero_point);
  return tenon_make_end(make);
}

static bool has_8_bits(tenon_make_t* make, uint32_t index) {
  const tenon_dtype_t dtype = tenon_make_dtype(make, tenon_make_input(make, index));
  return dtype == TENON_DTYPE_INT8 || dtype == TENON_DTYPE_UINT8;
}

/* Returns true if inputs `first` and `first + 1`, a scale and a zero point, are one for all or, if
 * `has_lists` is true, a list. */
static bool has_simple_parameters(tenon_make_t* make, uint32_t first, bool has_lists) {
  for (uint32_t index = first; index < first + 2; index++) {
    const tenon_value_t value = tenon_make_input(make, index);
    if (!is_single(make, value) && tenon_make_rank(make, value) > (has_lists ? 1U : 0U)) {
      return false;
    }
  }
  return true;
}

/* Returns true if an integer operator can multiply. Inputs 0 to 5 are two quantised tensors, 6 and 7
 * the scale and zero point of y. The lists of an operand must run along an axis of y. */
static bool is_integer(tenon_make_t* make, bool left_lists, bool right_lists) {
  return has_8_bits(make, 0) && has_8_bits(make, 3) && has_8_bits(make, 7) &&
         has_simple_parameters(make, 1, left_lists) &&
         has_simple_parameters(make, 4, right_lists) && has_simple_parameters(make, 6, true);
}

/* Appends `count` axes of extent 1 to a list. `count` is at most 3, the spatial axes of an image. */
static tenon_value_t followed(tenon_make_t* make, tenon_value_t list, uint32_t count) {
  static const int64_t axes[] = {1, 2, 3};
  return count == 0 || tenon_make_rank(make, list) == 0
             ? list
             : tenon_make_unsqueeze(make, list, axes, count);
}

/* Scales, rounds and saturates i32 sums. y has `trailing` axes after that of the lists. */
static tenon_value_t requantized(tenon_make_t* make, tenon_value_t sums, tenon_value_t left,
                                 tenon_value_t right, uint32_t trailing) {
  const tenon_value_t scales[3] = {left, right, followed(make, parameter(make, 6), trailing)};
  const tenon_value_t operands[3] = {
      sums, tenon_make_math(make, "y = cast(a, f32) * cast(b, f32) / cast(c, f32)", 3, scales),
      followed(make, parameter(make, 7), trailing)};
  return tenon_make_math(make,
                         tenon_make_dtype(make, operands[2]) == TENON_DTYPE_INT8
                             ? "y = cast(round(cast(a, f32) * b) + cast(c, f32), i8)"
                             : "y = cast(round(cast(a, f32) * b) + cast(c, f32), u8)",
                         3, operands);
}

static void quantize_linear(tenon_make_t* make) {
  const tenon_value_t zero_point = parameter(make, 2);
  const tenon_value_t scale = parameter(make, 1);
  tenon_dtype_t to = tenon_make_present(zero_point) ? tenon_make_dtype(make, zero_point)
                                                    : (tenon_dtype_t)TENON_DTYPE_UINT8;
  if (tenon_make_get_int(make, "output_dtype", 0) != 0) {
    to = tenon__onnx_get_dtype(make, "output_dtype", to);
  }
  tenon_make_begin(make, "quantize_linear");
  tenon_make_set_dtype(make, "to", to);
  tenon_make_pass_all(make, "axis block_size saturate");
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_add(make, scale);
  tenon_make_add(make, zero_point);
  tenon_make_end_outputs(make);
}

static void dequantize_linear(tenon_make_t* make) {
  const tenon_value_t zero_point = parameter(make, 2);
  const tenon_value_t scale = parameter(make, 1);
  tenon_dtype_t to = tenon_make_dtype(make, scale);
  if (tenon_make_get_int(make, "output_dtype", 0) != 0) {
    to = tenon__onnx_get_dtype(make, "output_dtype", to);
  }
  tenon_make_begin(make, "dequantize_linear");
  tenon_make_set_dtype(make, "to", to);
  tenon_make_pass_all(make, "axis block_size");
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_add(make, scale);
  tenon_make_add(make, zero_point);
  tenon_make_end_outputs(make);
}

/* Returns true if products of the groups are so small that a convolution of floats is faster. */
static bool has_small_groups(tenon_make_t* make) {
  enum { MIN_CHANNELS = 16 };
  const int64_t groups = tenon_make_get_int(make, "group", 1);
  const tenon_value_t w = tenon_make_input(make, 3);
  const int64_t channels = tenon_make_dim(make, w, 1);
  const bool is_depthwise = channels == 1 && tenon_make_dim(make, w, 0) == groups;
  return groups > 1 && !is_depthwise && channels < MIN_CHANNELS;
}

/* x, w and y each have a scale and a zero point. The bias is an i32 in steps of x's scale times
 * w's. */
static void qlinear_conv(tenon_make_t* make) {
  const uint32_t rank = tenon_make_rank(make, tenon_make_input(make, 0));
  if (rank >= 3 && rank <= 5 && is_integer(make, false, true) && !has_small_groups(make)) {
    const tenon_value_t b = tenon_make_input(make, 8);
    const tenon_value_t x_zero = parameter(make, 2);
    const tenon_value_t w_zero = parameter(make, 5);
    tenon_make_begin(make, "convolution_integer");
    tenon__onnx_window_attributes(make);
    tenon_make_pass_all(make, "group>groups");
    tenon_make_add(make, tenon_make_input(make, 0));
    tenon_make_add(make, tenon_make_input(make, 3));
    tenon_make_add(make, x_zero);
    tenon_make_add(make, w_zero);
    tenon_value_t sums = tenon_make_end(make);
    if (tenon_make_present(b)) {
      sums = tenon_make_math_2(make, "y = a + b", sums, followed(make, b, rank - 2));
    }
    tenon_make_output(make, 0,
                      requantized(make, sums, parameter(make, 1),
                                  followed(make, parameter(make, 4), rank - 2), rank - 2));
    return;
  }
  const tenon_value_t x = dequantized(make, 0, 1);
  const tenon_value_t w = dequantized(make, 3, 0);
  tenon_value_t bias = tenon_make_input(make, 8);
  if (tenon_make_present(bias)) {
    const tenon_value_t operands[3] = {bias, parameter(make, 1), parameter(make, 4)};
    bias = tenon_make_math(make, "y = cast(a, f32) * b * c", 3, operands);
  }
  tenon_make_begin(make, "convolution");
  tenon__onnx_window_attributes(make);
  tenon_make_pass_all(make, "group>groups");
  tenon_make_add(make, x);
  tenon_make_add(make, w);
  tenon_make_add(make, bias);
  const tenon_value_t y = tenon_make_end(make);
  tenon_make_output(make, 0, quantized(make, y, 6, 1));
}

static void qlinear_mat_mul(tenon_make_t* make) {
  const uint32_t rank = tenon_make_rank(make, tenon_make_input(make, 0));
  const bool has_columns = tenon_make_rank(make, tenon_make_input(make, 3)) >= 2;
  if (is_integer(make, rank >= 2 && has_columns, has_columns)) {
    const tenon_value_t zeros[2] = {parameter(make, 2), parameter(make, 5)};
    tenon_make_begin(make, "mat_mul_integer");
    tenon_make_add(make, tenon_make_input(make, 0));
    tenon_make_add(make, tenon_make_input(make, 3));
    tenon_make_add(make, zeros[0]);
    tenon_make_add(make, zeros[1]);
    const tenon_value_t sums = tenon_make_end(make);
    tenon_make_output(
        make, 0,
        requantized(make, sums, followed(make, parameter(make, 1), 1), parameter(make, 4), 0));
    return;
  }
  const tenon_value_t a = dequantized(make, 0, rank < 2 ? 0 : (int64_t)rank - 2);
  const tenon_value_t b = dequantized(make, 3, -1);
  const tenon_value_t y = tenon_make_2(make, "mat_mul", a, b);
  tenon_make_output(make, 0, quantized(make, y, 6, -1));
}

#define MADE(type, function) TENON__ONNX_ROW("", type, 10, 0, function, NULL, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MADE("DequantizeLinear", dequantize_linear),
    TENON__ONNX_ROW("", "DynamicQuantizeLinear", 11, 0, tenon_make_same, "dynamic_quantize_linear",
                    NULL),
    MADE("QLinearConv", qlinear_conv),
    MADE("QLinearMatMul", qlinear_mat_mul),
    MADE("QuantizeLinear", quantize_linear),
};
TENON__ONNX_FAMILY(quantization);
