/* Quantisation. Operators on quantised values become their float forms between dequantisation and
 * quantisation, which is what they mean; a kernel may take the three at once. */
#include <string.h>

#include "families.h"
#include "types.h"
#include "windows.h"

/* A scale or zero point of one element is one for the whole tensor. */
static tenon_value_t parameter(tenon_make_t* make, uint32_t index) {
  const tenon_value_t value = tenon_make_input(make, index);
  const bool is_single = tenon_make_present(value) && tenon_make_rank(make, value) == 1 &&
                         tenon_make_dim(make, value, 0) == 1;
  return is_single ? tenon_make_reshape(make, value, NULL, 0) : value;
}

/* Inputs `first` to `first + 2`: a quantised tensor, its scale, its zero point; f32 in any case. */
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

/* Inputs `first` and `first + 1`: scale and zero point of the result. */
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

/* x, w and y each with scale and zero point; the bias is an i32 in steps of x's scale times w's. */
static void qlinear_conv(tenon_make_t* make) {
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
