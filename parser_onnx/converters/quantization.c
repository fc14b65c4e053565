/* Quantisation. Operators on quantised values become their float forms between dequantisation and
 * quantisation, which is what they mean; a kernel may take the three at once. */
#include <string.h>

#include "families.h"
#include "types.h"
#include "windows.h"

/* A scale or zero point of one element is one for the whole tensor. */
static tenon_value_t parameter(tenon__make_t* make, uint32_t index) {
  const tenon_value_t value = tenon__make_input(make, index);
  const bool is_single = tenon__make_present(value) && tenon__make_rank(make, value) == 1 &&
                         tenon__make_dim(make, value, 0) == 1;
  return is_single ? tenon__make_reshape(make, value, NULL, 0) : value;
}

/* Inputs `first` to `first + 2`: a quantised tensor, its scale, its zero point; f32 in any case. */
static tenon_value_t dequantized(tenon__make_t* make, uint32_t first, int64_t axis) {
  const tenon_value_t scale = parameter(make, first + 1);
  const tenon_value_t zero_point = parameter(make, first + 2);
  tenon__make_begin(make, "dequantize_linear");
  tenon__make_set_dtype(make, "to", TENON_DTYPE_FLOAT32);
  tenon__make_set_int(make, "axis", axis);
  tenon__make_add(make, tenon__make_input(make, first));
  tenon__make_add(make, scale);
  tenon__make_add(make, zero_point);
  return tenon__make_end(make);
}

/* Inputs `first` and `first + 1`: scale and zero point of the result. */
static tenon_value_t quantized(tenon__make_t* make, tenon_value_t value, uint32_t first,
                               int64_t axis) {
  const tenon_value_t scale = parameter(make, first);
  const tenon_value_t zero_point = parameter(make, first + 1);
  const tenon_dtype_t to = tenon__make_dtype(make, zero_point);
  tenon__make_begin(make, "quantize_linear");
  tenon__make_set_dtype(make, "to", to);
  tenon__make_set_int(make, "axis", axis);
  tenon__make_add(make, value);
  tenon__make_add(make, scale);
  tenon__make_add(make, zero_point);
  return tenon__make_end(make);
}

static void quantize_linear(tenon__make_t* make) {
  const tenon_value_t zero_point = parameter(make, 2);
  const tenon_value_t scale = parameter(make, 1);
  tenon_dtype_t to = tenon__make_present(zero_point) ? tenon__make_dtype(make, zero_point)
                                                     : (tenon_dtype_t)TENON_DTYPE_UINT8;
  if (tenon__make_get_int(make, "output_dtype", 0) != 0) {
    to = tenon__make_get_dtype(make, "output_dtype", to);
  }
  tenon__make_begin(make, "quantize_linear");
  tenon__make_set_dtype(make, "to", to);
  tenon__make_pass_all(make, "axis block_size saturate");
  tenon__make_add(make, tenon__make_input(make, 0));
  tenon__make_add(make, scale);
  tenon__make_add(make, zero_point);
  tenon__make_end_outputs(make);
}

static void dequantize_linear(tenon__make_t* make) {
  const tenon_value_t zero_point = parameter(make, 2);
  const tenon_value_t scale = parameter(make, 1);
  tenon_dtype_t to = tenon__make_dtype(make, scale);
  if (tenon__make_get_int(make, "output_dtype", 0) != 0) {
    to = tenon__make_get_dtype(make, "output_dtype", to);
  }
  tenon__make_begin(make, "dequantize_linear");
  tenon__make_set_dtype(make, "to", to);
  tenon__make_pass_all(make, "axis block_size");
  tenon__make_add(make, tenon__make_input(make, 0));
  tenon__make_add(make, scale);
  tenon__make_add(make, zero_point);
  tenon__make_end_outputs(make);
}

/* x, w and y each with scale and zero point; the bias is an i32 in steps of x's scale times w's. */
static void qlinear_conv(tenon__make_t* make) {
  const tenon_value_t x = dequantized(make, 0, 1);
  const tenon_value_t w = dequantized(make, 3, 0);
  tenon_value_t bias = tenon__make_input(make, 8);
  if (tenon__make_present(bias)) {
    const tenon_value_t operands[3] = {bias, parameter(make, 1), parameter(make, 4)};
    bias = tenon__make_math(make, "y = cast(a, f32) * b * c", 3, operands);
  }
  tenon__make_begin(make, "convolution");
  tenon__make_window_attributes(make);
  tenon__make_pass_all(make, "group>groups");
  tenon__make_add(make, x);
  tenon__make_add(make, w);
  tenon__make_add(make, bias);
  const tenon_value_t y = tenon__make_end(make);
  tenon__make_output(make, 0, quantized(make, y, 6, 1));
}

static void qlinear_mat_mul(tenon__make_t* make) {
  const uint32_t rank = tenon__make_rank(make, tenon__make_input(make, 0));
  const tenon_value_t a = dequantized(make, 0, rank < 2 ? 0 : (int64_t)rank - 2);
  const tenon_value_t b = dequantized(make, 3, -1);
  const tenon_value_t y = tenon__make_2(make, "mat_mul", a, b);
  tenon__make_output(make, 0, quantized(make, y, 6, -1));
}

#define MADE(type, function) TENON__MAKE_ROW("", type, 10, 0, function, NULL, NULL)

TENON__ONNX_FAMILY(quantization) = {
    MADE("DequantizeLinear", dequantize_linear),
    TENON__MAKE_ROW("", "DynamicQuantizeLinear", 11, 0, tenon__make_same, "dynamic_quantize_linear",
                    NULL),
    MADE("QLinearConv", qlinear_conv),
    MADE("QLinearMatMul", qlinear_mat_mul),
    MADE("QuantizeLinear", quantize_linear),
};
