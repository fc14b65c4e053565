/* Steps that converters of quantised operators take. */
#ifndef MICROSOFT_QUANTIZED_H_
#define MICROSOFT_QUANTIZED_H_

#include "tenon/maker.h"

/* A quantised tensor of the node: numbers of its inputs. */
typedef struct microsoft_quantized_t {
  uint32_t value;
  uint32_t scale;
  uint32_t zero_point; /* may be absent: 0 */
} microsoft_quantized_t;

/* Input `index`, a scale or a zero point. Of one element, it has rank 0. */
tenon_value_t microsoft_parameter(tenon_make_t* make, uint32_t index);
/* Makes quantize_linear or dequantize_linear. The operands are the value, its scale and its zero
 * point, which may be absent. Lists belong to `axis`. Each scale belongs to `block` elements of the
 * axis; 0: one scale for each index. */
tenon_value_t microsoft_linear(tenon_make_t* make, const char* op, tenon_dtype_t to,
                               const tenon_value_t operands[3], int64_t axis, int64_t block);
/* Dequantises `value`, to f32, with the scale and zero point of `from`. Lists belong to `axis`. */
tenon_value_t microsoft_dequantize_as(tenon_make_t* make, tenon_value_t value,
                                      microsoft_quantized_t from, int64_t axis);
tenon_value_t microsoft_dequantize(tenon_make_t* make, microsoft_quantized_t from);
/* Quantises to `dtype`, with one scale and zero point. `to.value` is unused. */
tenon_value_t microsoft_quantize(tenon_make_t* make, tenon_value_t value, microsoft_quantized_t to,
                                 tenon_dtype_t dtype);
/* `value` as i8 or u8, by an expression: y = cast(round(EXPRESSION) + zero, TYPE). The zero point is
 * operand `count`. */
tenon_value_t microsoft_quantize_math(tenon_make_t* make, const char* expression, uint32_t count,
                                      const tenon_value_t* operands, uint32_t zero_point,
                                      tenon_dtype_t dtype);
/* An element of a list as [n, 1, ...] with `count` extents of 1; a scalar as it is. `count` is at
 * most 3. */
tenon_value_t microsoft_followed(tenon_make_t* make, tenon_value_t list, uint32_t count);

/* Unpacks numbers of 2, 4 or 8 bits along the last axis: one for each `block` of `columns`, rounded
 * up. */
tenon_value_t microsoft_unpacked(tenon_make_t* make, tenon_value_t value, int64_t bits,
                                 int64_t columns, int64_t block);

/* The product of 8-bit matrices less their zero points, which may be absent: i32. */
tenon_value_t microsoft_integer_product(tenon_make_t* make, tenon_value_t a, tenon_value_t b,
                                        tenon_value_t a_zero, tenon_value_t b_zero);
/* Scales such sums by both scales, adds a bias, which may be absent, and converts to the type of
 * `b_scale`. */
tenon_value_t microsoft_scaled_sums(tenon_make_t* make, tenon_value_t sums, tenon_value_t a_scale,
                                    tenon_value_t b_scale, tenon_value_t bias);

#endif
