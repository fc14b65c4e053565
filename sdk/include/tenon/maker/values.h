/* The code of tenon/maker.h: asking about values, constants, frequent nodes. */
#ifndef TENON_MAKER_VALUES_H_
#define TENON_MAKER_VALUES_H_

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tenon/maker.h"
#include "tenon/maker/read.h"

static inline bool tenon_make_present(tenon_value_t value) {
  return value.id != 0;
}

static inline tenon_value_type_t tenon_make_type(tenon_make_t* make, tenon_value_t value) {
  tenon_value_type_t type;
  memset(&type, 0, sizeof(type)); /* kind: TENON_ARGUMENT_ABSENT */
  type.size = sizeof(type);
  if (make->status == TENON_OK && tenon_make_present(value)) {
    make->status = make->build->type(make->builder, value, &type);
  }
  return type;
}

static inline uint32_t tenon_make_rank(tenon_make_t* make, tenon_value_t value) {
  const tenon_value_type_t type = tenon_make_type(make, value);
  if (make->status == TENON_OK &&
      (type.kind != TENON_ARGUMENT_TENSOR || type.rank > TENON_MAKE_LIST_LIMIT)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "a tensor of known rank is needed");
  }
  return make->status == TENON_OK ? type.rank : 0;
}

static inline tenon_dtype_t tenon_make_dtype(tenon_make_t* make, tenon_value_t value) {
  return tenon_make_type(make, value).dtype;
}

static inline int64_t tenon_make_dim(tenon_make_t* make, tenon_value_t value, uint32_t axis) {
  const tenon_value_type_t type = tenon_make_type(make, value);
  return type.kind == TENON_ARGUMENT_TENSOR && type.rank != TENON_NONE && axis < type.rank
             ? type.dims[axis]
             : -1;
}

static inline bool tenon_make_is_float(tenon_dtype_t dtype) {
#define TENON_MAKE_IS_FLOAT(name, mnemonic, bits, kind) (kind) == 'f',
  static const bool floats[] = {TENON_DTYPES(TENON_MAKE_IS_FLOAT)};
#undef TENON_MAKE_IS_FLOAT
  return dtype < TENON_DTYPE_COUNT && floats[dtype];
}

static inline int64_t tenon_make_elements(tenon_make_t* make, tenon_value_t value, uint32_t begin,
                                          uint32_t end) {
  const tenon_value_type_t type = tenon_make_type(make, value);
  return type.kind == TENON_ARGUMENT_TENSOR && type.rank != TENON_NONE && begin <= end &&
                 end <= type.rank
             ? tenon_make_product(end - begin, type.dims + begin)
             : -1;
}

static inline bool tenon_make_known_ints(tenon_make_t* make, tenon_value_t value,
                                         int64_t* out_values, uint32_t capacity,
                                         uint32_t* out_count) {
  const tenon_value_type_t type = tenon_make_type(make, value);
  *out_count = 0;
  if (type.kind != TENON_ARGUMENT_TENSOR || type.rank == TENON_NONE) {
    return false;
  }
  const int64_t count = tenon_make_product(type.rank, type.dims);
  if (count < 0 || count > (int64_t)capacity || (count > 0 && type.has_contents == 0)) {
    return false;
  }
  for (uint32_t i = 0; i < (uint32_t)count; ++i) {
    if (make->build->content(make->builder, value, i, &out_values[i]) != 1) {
      return false;
    }
  }
  *out_count = (uint32_t)count;
  return true;
}

/* The upper half of a single is a bfloat16; a half has fewer bits of exponent. */
static inline double tenon_make_small_float(uint16_t bits, bool is_half) {
  const uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
  const uint32_t exponent = bits >> 10 & 31u;
  const uint32_t fraction = bits & 1023u;
  uint32_t wide = is_half ? sign | (exponent == 31 ? 255u : exponent + 112u) << 23 | fraction << 13
                          : (uint32_t)bits << 16;
  float value = 0;
  memcpy(&value, &wide, sizeof(value));
  if (is_half && exponent == 0) { /* below the normal ones: multiples of 2^-24 */
    value = (float)fraction * 5.9604644775390625e-8F * (sign != 0 ? -1.0F : 1.0F);
  }
  return (double)value;
}

/* One element of a constant as a double. False for element types that are no plain numbers. */
static inline bool tenon_make_read_number(tenon_dtype_t dtype, const void* data, size_t index,
                                          double* out_value) {
#define TENON_MAKE_READ_AS(dtype_, type)                                            \
  case dtype_: {                                                                    \
    type number;                                                                    \
    memcpy(&number, (const uint8_t*)data + index * sizeof(number), sizeof(number)); \
    *out_value = (double)number;                                                    \
    return true;                                                                    \
  }
  uint16_t bits = 0;
  switch (dtype) {
    TENON_MAKE_READ_AS(TENON_DTYPE_FLOAT32, float)
    TENON_MAKE_READ_AS(TENON_DTYPE_FLOAT64, double)
    TENON_MAKE_READ_AS(TENON_DTYPE_INT8, int8_t)
    TENON_MAKE_READ_AS(TENON_DTYPE_INT16, int16_t)
    TENON_MAKE_READ_AS(TENON_DTYPE_INT32, int32_t)
    TENON_MAKE_READ_AS(TENON_DTYPE_INT64, int64_t)
    TENON_MAKE_READ_AS(TENON_DTYPE_BOOL, uint8_t)
    TENON_MAKE_READ_AS(TENON_DTYPE_UINT8, uint8_t)
    TENON_MAKE_READ_AS(TENON_DTYPE_UINT16, uint16_t)
    TENON_MAKE_READ_AS(TENON_DTYPE_UINT32, uint32_t)
    TENON_MAKE_READ_AS(TENON_DTYPE_UINT64, uint64_t)
    case TENON_DTYPE_FLOAT16:
    case TENON_DTYPE_BFLOAT16:
      memcpy(&bits, (const uint8_t*)data + index * sizeof(bits), sizeof(bits));
      *out_value = tenon_make_small_float(bits, dtype == TENON_DTYPE_FLOAT16);
      return true;
    default:
      return false;
  }
#undef TENON_MAKE_READ_AS
}

static inline bool tenon_make_known_floats(tenon_make_t* make, tenon_value_t value,
                                           double* out_values, uint32_t capacity,
                                           uint32_t* out_count) {
  const tenon_value_type_t type = tenon_make_type(make, value);
  *out_count = 0;
  if (type.kind != TENON_ARGUMENT_TENSOR || type.rank == TENON_NONE || type.constant_data == NULL) {
    return false;
  }
  const int64_t count = tenon_make_product(type.rank, type.dims);
  if (count < 0 || count > (int64_t)capacity) {
    return false;
  }
  for (uint32_t i = 0; i < (uint32_t)count; ++i) {
    if (!tenon_make_read_number(type.dtype, type.constant_data, i, &out_values[i])) {
      return false;
    }
  }
  *out_count = (uint32_t)count;
  return true;
}

static inline int64_t tenon_make_axis(tenon_make_t* make, int64_t axis, uint32_t rank) {
  if (axis < -(int64_t)rank || axis >= (int64_t)rank) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "axis %" PRId64 " does not exist in rank %u",
                    axis, rank);
    return 0;
  }
  return axis < 0 ? axis + rank : axis;
}

static inline int64_t tenon_make_to_int64(double value) {
  static const double limit = 4611686018427387904.0; /* 2^62 */
  if (!(value > -limit)) {
    return value <= -limit ? INT64_MIN / 2 : 0;
  }
  return value < limit ? (int64_t)value : INT64_MAX / 2;
}

static inline tenon_value_t tenon_make_tensor(tenon_make_t* make, tenon_dtype_t dtype,
                                              uint32_t rank, const int64_t* dims,
                                              const void* data) {
  tenon_value_t value = {0};
  tenon_tensor_view_t view;
  memset(&view, 0, sizeof(view));
  memcpy(&view.data, &data, sizeof(view.data)); /* a view of data that is only read */
  view.dims = dims;
  view.rank = rank;
  view.dtype = dtype;
  view.layout = TENON_NONE;
  if (make->status == TENON_OK) {
    make->status =
        make->build->constant(make->builder, make->table->name(make->source), &view, 0, &value);
  }
  return value;
}

static inline tenon_value_t tenon_make_int64(tenon_make_t* make, int64_t value) {
  return tenon_make_tensor(make, TENON_DTYPE_INT64, 0, NULL, &value);
}

static inline tenon_value_t tenon_make_int64s(tenon_make_t* make, const int64_t* values,
                                              size_t count) {
  static const int64_t none = 0;
  const int64_t dims[1] = {(int64_t)count};
  return tenon_make_tensor(make, TENON_DTYPE_INT64, 1, dims, count == 0 ? &none : values);
}

/* Made as f32 or i64 and converted, which folds: so any type will do. */
static inline tenon_value_t tenon_make_number(tenon_make_t* make, tenon_dtype_t dtype,
                                              double value) {
  if (dtype == TENON_DTYPE_FLOAT64) {
    return tenon_make_tensor(make, dtype, 0, NULL, &value);
  }
  if (tenon_make_is_float(dtype)) {
    const float narrow = (float)value;
    return tenon_make_cast(make, tenon_make_tensor(make, TENON_DTYPE_FLOAT32, 0, NULL, &narrow),
                           dtype);
  }
  return tenon_make_cast(make, tenon_make_int64(make, tenon_make_to_int64(value)), dtype);
}

static inline tenon_value_t tenon_make_1(tenon_make_t* make, const char* op, tenon_value_t a) {
  tenon_make_begin(make, op);
  tenon_make_add(make, a);
  return tenon_make_end(make);
}

static inline tenon_value_t tenon_make_2(tenon_make_t* make, const char* op, tenon_value_t a,
                                         tenon_value_t b) {
  tenon_make_begin(make, op);
  tenon_make_add(make, a);
  tenon_make_add(make, b);
  return tenon_make_end(make);
}

static inline tenon_value_t tenon_make_3(tenon_make_t* make, const char* op, tenon_value_t a,
                                         tenon_value_t b, tenon_value_t c) {
  tenon_make_begin(make, op);
  tenon_make_add(make, a);
  tenon_make_add(make, b);
  tenon_make_add(make, c);
  return tenon_make_end(make);
}

static inline tenon_value_t tenon_make_math_1(tenon_make_t* make, const char* text,
                                              tenon_value_t a) {
  return tenon_make_math(make, text, 1, &a);
}

static inline tenon_value_t tenon_make_math_2(tenon_make_t* make, const char* text, tenon_value_t a,
                                              tenon_value_t b) {
  const tenon_value_t values[2] = {a, b};
  return tenon_make_math(make, text, 2, values);
}

static inline tenon_value_t tenon_make_print_math(tenon_make_t* make, uint32_t count,
                                                  const tenon_value_t* inputs, const char* format,
                                                  ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  const int length = vsnprintf(text, sizeof(text), format, list);
  va_end(list);
  if (length < 0 || length >= (int)sizeof(text)) {
    tenon_make_fail(make, TENON_ERROR_INTERNAL, "an expression has %d characters", length);
  }
  return tenon_make_math(make, text, count, inputs);
}

static inline tenon_value_t tenon_make_cast(tenon_make_t* make, tenon_value_t value,
                                            tenon_dtype_t to) {
  if (make->status != TENON_OK || tenon_make_dtype(make, value) == to) {
    return value;
  }
  tenon_make_begin(make, "cast");
  tenon_make_set_dtype(make, "to", to);
  tenon_make_add(make, value);
  return tenon_make_end(make);
}

static inline tenon_value_t tenon_make_with_ints(tenon_make_t* make, const char* op,
                                                 const char* attribute, tenon_value_t value,
                                                 const int64_t* values, size_t count) {
  tenon_make_begin(make, op);
  tenon_make_set_ints(make, attribute, values, count);
  tenon_make_add(make, value);
  return tenon_make_end(make);
}

/* To rank 0 there is no list of extents to give; a vector of none says it. */
static inline tenon_value_t tenon_make_reshape(tenon_make_t* make, tenon_value_t value,
                                               const int64_t* dims, size_t count) {
  if (count == 0) {
    return tenon_make_2(make, "reshape", value, tenon_make_int64s(make, NULL, 0));
  }
  return tenon_make_with_ints(make, "reshape", "fixed_dims", value, dims, count);
}

static inline tenon_value_t tenon_make_squeeze(tenon_make_t* make, tenon_value_t value,
                                               int64_t axis) {
  return tenon_make_with_ints(make, "squeeze", "fixed_axes", value, &axis, 1);
}

static inline tenon_value_t tenon_make_unsqueeze(tenon_make_t* make, tenon_value_t value,
                                                 const int64_t* axes, size_t count) {
  return count == 0 ? value
                    : tenon_make_with_ints(make, "unsqueeze", "fixed_axes", value, axes, count);
}

static inline tenon_value_t tenon_make_permute(tenon_make_t* make, tenon_value_t value,
                                               const int64_t* perm, size_t count) {
  return tenon_make_with_ints(make, "permute", "perm", value, perm, count);
}

static inline tenon_value_t tenon_make_slice(tenon_make_t* make, tenon_value_t value, int64_t axis,
                                             int64_t start, int64_t end) {
  const tenon_value_t starts = tenon_make_int64s(make, &start, 1);
  const tenon_value_t ends = tenon_make_int64s(make, &end, 1);
  const tenon_value_t axes = tenon_make_int64s(make, &axis, 1);
  tenon_make_begin(make, "strided_slice");
  tenon_make_add(make, value);
  tenon_make_add(make, starts);
  tenon_make_add(make, ends);
  tenon_make_add(make, axes);
  return tenon_make_end(make);
}

static inline tenon_value_t tenon_make_concat(tenon_make_t* make, int64_t axis, uint32_t count,
                                              const tenon_value_t* values) {
  if (count == 1) {
    return values[0];
  }
  tenon_make_begin(make, "concatenate");
  tenon_make_set_int(make, "axis", axis);
  for (uint32_t i = 0; i < count; ++i) {
    tenon_make_add(make, values[i]);
  }
  return tenon_make_end(make);
}

static inline tenon_value_t tenon_make_reduce(tenon_make_t* make, const char* op,
                                              tenon_value_t value, const int64_t* axes,
                                              size_t count, int64_t keepdims) {
  tenon_make_begin(make, op);
  tenon_make_set_ints(make, "fixed_axes", axes, count);
  tenon_make_set_int(make, "keepdims", keepdims);
  tenon_make_add(make, value);
  return tenon_make_end(make);
}

static inline tenon_value_t tenon_make_shape(tenon_make_t* make, tenon_value_t value) {
  return tenon_make_1(make, "shape_of", value);
}

static inline tenon_value_t tenon_make_extents(tenon_make_t* make, tenon_value_t value,
                                               int64_t begin, int64_t end) {
  tenon_make_begin(make, "shape_of");
  tenon_make_set_int(make, "start", begin);
  tenon_make_set_int(make, "end", end);
  tenon_make_add(make, value);
  return tenon_make_end(make);
}

static inline tenon_value_t tenon_make_gather(tenon_make_t* make, tenon_value_t value,
                                              tenon_value_t indices, int64_t axis) {
  tenon_make_begin(make, "gather");
  tenon_make_set_int(make, "axis", axis);
  tenon_make_add(make, value);
  tenon_make_add(make, indices);
  return tenon_make_end(make);
}

#endif /* TENON_MAKER_VALUES_H_ */
