/* Steps that converters of quantised operators take. */
#include "quantized.h"

#include <stdio.h>

#include "steps.h"

tenon_value_t microsoft_parameter(tenon_make_t* make, uint32_t index) {
  const tenon_value_t value = tenon_make_input(make, index);
  return tenon_make_present(value) && tenon_make_rank(make, value) == 1 &&
                 tenon_make_dim(make, value, 0) == 1
             ? tenon_make_reshape(make, value, NULL, 0)
             : value;
}

tenon_value_t microsoft_linear(tenon_make_t* make, const char* op, tenon_dtype_t to,
                               const tenon_value_t operands[3], int64_t axis, int64_t block) {
  tenon_make_begin(make, op);
  tenon_make_set_dtype(make, "to", to);
  tenon_make_set_int(make, "axis", axis);
  tenon_make_set_int(make, "block_size", block);
  for (uint32_t k = 0; k < 3; ++k) {
    tenon_make_add(make, operands[k]);
  }
  return tenon_make_end(make);
}

tenon_value_t microsoft_dequantize_as(tenon_make_t* make, tenon_value_t value,
                                      microsoft_quantized_t from, int64_t axis) {
  const tenon_value_t operands[3] = {value, microsoft_parameter(make, from.scale),
                                     microsoft_parameter(make, from.zero_point)};
  return microsoft_linear(make, "dequantize_linear", TENON_DTYPE_FLOAT32, operands, axis, 0);
}

tenon_value_t microsoft_dequantize(tenon_make_t* make, microsoft_quantized_t from) {
  return microsoft_dequantize_as(make, tenon_make_input(make, from.value), from, 0);
}

tenon_value_t microsoft_quantize(tenon_make_t* make, tenon_value_t value, microsoft_quantized_t to,
                                 tenon_dtype_t dtype) {
  const tenon_value_t operands[3] = {value, microsoft_parameter(make, to.scale),
                                     microsoft_parameter(make, to.zero_point)};
  return microsoft_linear(make, "quantize_linear", dtype, operands, 1, 0);
}

tenon_value_t microsoft_quantize_math(tenon_make_t* make, const char* expression, uint32_t count,
                                      const tenon_value_t* operands, uint32_t zero_point,
                                      tenon_dtype_t dtype) {
  enum { MAX_OPERANDS = 8 };
  tenon_value_t all[MAX_OPERANDS];
  const tenon_value_t zero = microsoft_parameter(make, zero_point);
  const char* type = dtype == TENON_DTYPE_INT8 ? "i8" : "u8";
  if (dtype != TENON_DTYPE_INT8 && dtype != TENON_DTYPE_UINT8) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "the result is neither i8 nor u8");
  }
  for (uint32_t k = 0; k < count && k < MAX_OPERANDS; ++k) {
    all[k] = operands[k];
  }
  if (!tenon_make_present(zero)) {
    return tenon_make_print_math(make, count, all, "y = cast(round(%s), %s)", expression, type);
  }
  all[count] = zero;
  return tenon_make_print_math(make, count + 1, all, "y = cast(round(%s) + cast(%c, f32), %s)",
                               expression, (char)('a' + count), type);
}

tenon_value_t microsoft_followed(tenon_make_t* make, tenon_value_t list, uint32_t count) {
  static const int64_t axes[] = {1, 2, 3};
  return !tenon_make_present(list) || count == 0 || tenon_make_rank(make, list) == 0
             ? list
             : tenon_make_unsqueeze(make, list, axes, count);
}

tenon_value_t microsoft_unpacked(tenon_make_t* make, tenon_value_t value, int64_t bits,
                                 int64_t columns, int64_t block) {
  tenon_make_begin(make, "microsoft.packed_bytes/1");
  tenon_make_set_int(make, "bits", bits);
  tenon_make_set_int(make, "columns", columns);
  tenon_make_set_int(make, "block_size", block);
  tenon_make_add(make, value);
  const tenon_value_t bytes = tenon_make_end(make);
  tenon_make_begin(make, "microsoft.unpacked_bits/1");
  tenon_make_set_int(make, "bits", bits);
  tenon_make_add(make, bytes);
  return tenon_make_end(make);
}

tenon_value_t microsoft_integer_product(tenon_make_t* make, tenon_value_t a, tenon_value_t b,
                                        tenon_value_t a_zero, tenon_value_t b_zero) {
  tenon_make_begin(make, "mat_mul_integer");
  tenon_make_add(make, a);
  tenon_make_add(make, b);
  tenon_make_add(make, a_zero);
  tenon_make_add(make, b_zero);
  return tenon_make_end(make);
}

tenon_value_t microsoft_scaled_sums(tenon_make_t* make, tenon_value_t sums, tenon_value_t a_scale,
                                    tenon_value_t b_scale, tenon_value_t bias) {
  const tenon_value_t operands[3] = {
      sums, tenon_make_math_2(make, "y = cast(a, f32) * cast(b, f32)", a_scale, b_scale), bias};
  const tenon_value_t y =
      tenon_make_present(bias)
          ? tenon_make_math(make, "y = cast(a, f32) * b + cast(c, f32)", 3, operands)
          : tenon_make_math(make, "y = cast(a, f32) * b", 2, operands);
  return tenon_make_cast(make, y, tenon_make_dtype(make, b_scale));
}
