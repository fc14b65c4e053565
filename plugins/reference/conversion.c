/*
 * Conversions that no expression says: bits taken as another type, float8 without saturation, the
 * rounding modes of f8e8m0. All write the bits of their output themselves.
 */
#include <math.h>

#include "kernels.h"

/* The unsigned integer type of so many bits: what raw bits are read and written as. */
static tenon_dtype_t raw_dtype(uint32_t bits) {
  switch (bits) {
    case 2:
      return TENON_DTYPE_UINT2;
    case 4:
      return TENON_DTYPE_UINT4;
    case 8:
      return TENON_DTYPE_UINT8;
    case 16:
      return TENON_DTYPE_UINT16;
    case 32:
      return TENON_DTYPE_UINT32;
    case 64:
      return TENON_DTYPE_UINT64;
    default:
      return TENON_DTYPE_UNDEFINED;
  }
}

static int64_t element_count(const tenon_tensor_view_t* view) {
  return tenon__dims_product(view->dims, 0, view->rank);
}

static void write_bits(const tenon_tensor_view_t* view, int64_t place, uint64_t bits) {
  tenon__number_t raw = {.i = (int64_t)bits};
  tenon__number_store(view->data, view->bit_offset, raw_dtype(tenon__number_bits(view->dtype)),
                      tenon__view_place(view, place), raw);
}

static tenon__number_t read_number(const tenon_tensor_view_t* view, int64_t place) {
  return tenon__number_load(view->data, view->bit_offset, view->dtype,
                            tenon__view_place(view, place));
}

tenon_status_t tenon__compute_bit_cast(tenon__work_t* work) {
  const tenon_tensor_view_t* x = &work->input_arguments[0].tensor;
  const tenon_tensor_view_t* y = &work->output_arguments[0].tensor;
  tenon_dtype_t raw = raw_dtype(tenon__number_bits(x->dtype));
  if (tenon__number_bits(x->dtype) != tenon__number_bits(y->dtype) ||
      raw == TENON_DTYPE_UNDEFINED) {
    return tenon__work_fail(work, "%u bits taken as %u", tenon__number_bits(x->dtype),
                            tenon__number_bits(y->dtype));
  }
  for (int64_t place = 0; place < element_count(x); ++place) {
    tenon__number_t bits =
        tenon__number_load(x->data, x->bit_offset, raw, tenon__view_place(x, place));
    write_bits(y, place, (uint64_t)bits.i);
  }
  return TENON_OK;
}

/* A positive number as the exponent of a power of two, biased by 127; 255 is NaN. */
static uint32_t encode_power(const tenon__work_t* work, double value, bool saturates) {
  double magnitude = fabs((double)(float)value);
  int exponent = 0;
  if (isnan(value) || (isinf(value) && !saturates)) {
    return 255;
  }
  if (isinf(value)) {
    return 254;
  }
  double mantissa = frexp(magnitude, &exponent); /* magnitude = mantissa 2^exponent, 0.5 <= m < 1 */
  bool up = tenon__work_is(work, "round_mode", "up")     ? mantissa > 0.5
            : tenon__work_is(work, "round_mode", "down") ? false
                                                         : mantissa >= 0.75;
  int power = exponent - 1 + (up ? 1 : 0);
  if (magnitude == 0.0 || power < -127) {
    return saturates ? 0 : 255;
  }
  return power <= 127 ? (uint32_t)(power + 127) : saturates ? 254 : 255;
}

tenon_status_t tenon__compute_cast(tenon__work_t* work) {
  const tenon_tensor_view_t* x = &work->input_arguments[0].tensor;
  const tenon_tensor_view_t* y = &work->output_arguments[0].tensor;
  bool saturates = tenon__work_int(work, "saturate") != 0;
  bool is_power = y->dtype == TENON_DTYPE_FLOAT8E8M0;
  for (int64_t place = 0; place < element_count(x); ++place) {
    tenon__number_t number = read_number(x, place);
    if (tenon__number_is_float(y->dtype) && tenon__number_bits(y->dtype) < 32) {
      double value = tenon__number_value(x->dtype, number);
      write_bits(y, place,
                 is_power ? encode_power(work, value, saturates)
                          : tenon__narrow_encode(y->dtype, value, saturates));
    } else {
      tenon__number_store(y->data, y->bit_offset, y->dtype, tenon__view_place(y, place),
                          tenon__number_cast(number, x->dtype, y->dtype));
    }
  }
  return TENON_OK;
}

/* The scale (or zero point) of an element: one for all, one along the axis, one for each block
 * along the axis, or one for each element. */
static double parameter_at(const tenon_tensor_view_t* parameter, const tenon_tensor_view_t* x,
                           uint32_t axis, int64_t block, int64_t place) {
  if (element_count(parameter) == 1) {
    return tenon__number_value(parameter->dtype, read_number(parameter, 0));
  }
  int64_t inner = tenon__dims_product(x->dims, axis + 1, x->rank);
  int64_t coordinate = place / inner % x->dims[axis];
  int64_t at = place;
  if (parameter->rank == 1) {
    at = coordinate;
  } else if (block > 0) {
    int64_t outer = place / inner / x->dims[axis];
    at = (outer * parameter->dims[axis] + coordinate / block) * inner + place % inner;
  }
  return tenon__number_value(parameter->dtype, read_number(parameter, at));
}

/* A quantised value as the type says: integers round and saturate, float8 saturates if it shall. */
static void write_quantized(const tenon_tensor_view_t* y, int64_t place, double ratio, double zero,
                            bool saturates) {
  if (tenon__number_is_float(y->dtype)) {
    double value = (double)((float)ratio + (float)zero);
    write_bits(y, place, tenon__narrow_encode(y->dtype, value, saturates));
    return;
  }
  tenon__number_store(y->data, y->bit_offset, y->dtype, tenon__view_place(y, place),
                      tenon__number_of(y->dtype, nearbyint(ratio) + zero));
}

tenon_status_t tenon__compute_quantize_linear(tenon__work_t* work) {
  const tenon_tensor_view_t* x = &work->input_arguments[0].tensor;
  const tenon_tensor_view_t* scale = &work->input_arguments[1].tensor;
  const tenon_tensor_view_t* y = &work->output_arguments[0].tensor;
  bool has_zero_point =
      work->input_count > 2 && work->input_arguments[2].kind == TENON_ARGUMENT_TENSOR;
  bool saturates = tenon__work_int(work, "saturate") != 0;
  int64_t block = tenon__work_int(work, "block_size");
  uint32_t axis = tenon__axis_wrap(tenon__work_int(work, "axis"), x->rank);
  if (axis >= x->rank) {
    axis = x->rank == 0 ? 0 : x->rank - 1;
  }
  for (int64_t place = 0; place < element_count(x); ++place) {
    float value = (float)tenon__number_value(x->dtype, read_number(x, place));
    float ratio = value / (float)parameter_at(scale, x, axis, block, place);
    double zero = has_zero_point
                      ? parameter_at(&work->input_arguments[2].tensor, x, axis, block, place)
                      : 0.0;
    write_quantized(y, place, (double)ratio, zero, saturates);
  }
  return TENON_OK;
}
