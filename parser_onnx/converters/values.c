/* Asking about values, constants, and frequent small nodes. */
#include <inttypes.h>
#include <string.h>

#include "context.h"
#include "maker.h"
#include "types.h"

bool tenon__make_present(tenon_value_t value) {
  return value.id != 0;
}

tenon_value_type_t tenon__make_type(tenon__make_t* make, tenon_value_t value) {
  tenon_value_type_t type = {.kind = TENON_ARGUMENT_ABSENT};
  if (make->status == TENON_OK && tenon__make_present(value)) {
    make->status = make->build->type(make->builder, value, &type);
  }
  return type;
}

uint32_t tenon__make_rank(tenon__make_t* make, tenon_value_t value) {
  const tenon_value_type_t type = tenon__make_type(make, value);
  if (make->status == TENON_OK &&
      (type.kind != TENON_ARGUMENT_TENSOR || type.rank > TENON__MAKE_LIST_LIMIT)) {
    tenon__make_fail(make, TENON_ERROR_INVALID_DATA, "a tensor of known rank is needed");
  }
  return make->status == TENON_OK ? type.rank : 0;
}

tenon_dtype_t tenon__make_dtype(tenon__make_t* make, tenon_value_t value) {
  return tenon__make_type(make, value).dtype;
}

int64_t tenon__make_dim(tenon__make_t* make, tenon_value_t value, uint32_t axis) {
  const tenon_value_type_t type = tenon__make_type(make, value);
  return type.kind == TENON_ARGUMENT_TENSOR && axis < type.rank ? type.dims[axis] : -1;
}

bool tenon__make_is_float(tenon_dtype_t dtype) {
  const char* name = tenon__onnx_dtype_name(dtype);
  return name[0] == 'f' || name[0] == 'b' ? dtype != TENON_DTYPE_BOOL : false;
}

/* How many elements, -1 when that is not known. */
static int64_t element_count(const tenon_value_type_t* type) {
  int64_t count = 1;
  for (uint32_t i = 0; i < type->rank; ++i) {
    if (type->dims[i] < 0 || (type->dims[i] != 0 && count > INT64_MAX / type->dims[i])) {
      return -1;
    }
    count *= type->dims[i];
  }
  return count;
}

bool tenon__make_known_ints(tenon__make_t* make, tenon_value_t value, int64_t* out_values,
                            uint32_t capacity, uint32_t* out_count) {
  const tenon_value_type_t type = tenon__make_type(make, value);
  *out_count = 0;
  if (type.kind != TENON_ARGUMENT_TENSOR || type.rank == TENON_NONE) {
    return false;
  }
  const int64_t count = element_count(&type);
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

/* One element of a constant as a double. False for element types that are no plain numbers. */
static bool read_number(tenon_dtype_t dtype, const void* data, size_t index, double* out_value) {
  const uint8_t* bytes = data;
  union {
    float f32;
    double f64;
    int32_t i32;
    int64_t i64;
    uint8_t u8;
  } number = {0};
  switch (dtype) {
    case TENON_DTYPE_FLOAT32:
      memcpy(&number.f32, bytes + index * 4, 4);
      *out_value = (double)number.f32;
      return true;
    case TENON_DTYPE_FLOAT64:
      memcpy(&number.f64, bytes + index * 8, 8);
      *out_value = number.f64;
      return true;
    case TENON_DTYPE_INT32:
      memcpy(&number.i32, bytes + index * 4, 4);
      *out_value = number.i32;
      return true;
    case TENON_DTYPE_INT64:
      memcpy(&number.i64, bytes + index * 8, 8);
      *out_value = (double)number.i64;
      return true;
    case TENON_DTYPE_BOOL:
    case TENON_DTYPE_UINT8:
      *out_value = bytes[index];
      return true;
    default:
      return false;
  }
}

bool tenon__make_known_floats(tenon__make_t* make, tenon_value_t value, double* out_values,
                              uint32_t capacity, uint32_t* out_count) {
  const tenon_value_type_t type = tenon__make_type(make, value);
  *out_count = 0;
  if (type.kind != TENON_ARGUMENT_TENSOR || type.constant_data == NULL) {
    return false;
  }
  const int64_t count = element_count(&type);
  if (count < 0 || count > (int64_t)capacity) {
    return false;
  }
  for (uint32_t i = 0; i < (uint32_t)count; ++i) {
    if (!read_number(type.dtype, type.constant_data, i, &out_values[i])) {
      return false;
    }
  }
  *out_count = (uint32_t)count;
  return true;
}

int64_t tenon__make_axis(tenon__make_t* make, int64_t axis, uint32_t rank) {
  if (axis < -(int64_t)rank || axis >= (int64_t)rank) {
    tenon__make_fail(make, TENON_ERROR_INVALID_DATA, "axis %" PRId64 " does not exist in rank %u",
                     axis, rank);
    return 0;
  }
  return axis < 0 ? axis + rank : axis;
}

int64_t tenon__make_to_int64(double value) {
  static const double limit = 4611686018427387904.0; /* 2^62 */
  if (!(value > -limit)) {
    return value <= -limit ? INT64_MIN / 2 : 0;
  }
  return value < limit ? (int64_t)value : INT64_MAX / 2;
}

tenon_value_t tenon__make_tensor(tenon__make_t* make, tenon_dtype_t dtype, uint32_t rank,
                                 const int64_t* dims, const void* data) {
  int64_t strides[TENON__MAKE_LIST_LIMIT] = {0};
  int64_t stride = 1;
  tenon_value_t value = {0};
  if (make->status != TENON_OK || rank > TENON__MAKE_LIST_LIMIT) {
    return value;
  }
  for (uint32_t i = rank; i > 0; --i) {
    strides[i - 1] = stride;
    stride *= dims[i - 1];
  }
  const tenon_tensor_view_t view = {.data = tenon__onnx_unconst(data),
                                    .dims = dims,
                                    .strides = strides,
                                    .rank = rank,
                                    .dtype = dtype,
                                    .layout = TENON_NONE};
  make->status =
      make->build->constant(make->builder, make->table->name(make->source), &view, 0, &value);
  return value;
}

tenon_value_t tenon__make_int64(tenon__make_t* make, int64_t value) {
  return tenon__make_tensor(make, TENON_DTYPE_INT64, 0, NULL, &value);
}

tenon_value_t tenon__make_int64s(tenon__make_t* make, const int64_t* values, size_t count) {
  static const int64_t none = 0;
  const int64_t dims[1] = {(int64_t)count};
  return tenon__make_tensor(make, TENON_DTYPE_INT64, 1, dims, count == 0 ? &none : values);
}

/* Made as f32 or i64 and converted, which folds: so any type will do. */
tenon_value_t tenon__make_number(tenon__make_t* make, tenon_dtype_t dtype, double value) {
  if (dtype == TENON_DTYPE_FLOAT64) {
    return tenon__make_tensor(make, dtype, 0, NULL, &value);
  }
  if (tenon__make_is_float(dtype)) {
    const float narrow = (float)value;
    return tenon__make_cast(make, tenon__make_tensor(make, TENON_DTYPE_FLOAT32, 0, NULL, &narrow),
                            dtype);
  }
  return tenon__make_cast(make, tenon__make_int64(make, tenon__make_to_int64(value)), dtype);
}

tenon_value_t tenon__make_1(tenon__make_t* make, const char* op, tenon_value_t a) {
  tenon__make_begin(make, op);
  tenon__make_add(make, a);
  return tenon__make_end(make);
}

tenon_value_t tenon__make_2(tenon__make_t* make, const char* op, tenon_value_t a, tenon_value_t b) {
  tenon__make_begin(make, op);
  tenon__make_add(make, a);
  tenon__make_add(make, b);
  return tenon__make_end(make);
}

tenon_value_t tenon__make_3(tenon__make_t* make, const char* op, tenon_value_t a, tenon_value_t b,
                            tenon_value_t c) {
  tenon__make_begin(make, op);
  tenon__make_add(make, a);
  tenon__make_add(make, b);
  tenon__make_add(make, c);
  return tenon__make_end(make);
}

tenon_value_t tenon__make_math_1(tenon__make_t* make, const char* text, tenon_value_t a) {
  return tenon__make_math(make, text, 1, &a);
}

tenon_value_t tenon__make_math_2(tenon__make_t* make, const char* text, tenon_value_t a,
                                 tenon_value_t b) {
  const tenon_value_t values[2] = {a, b};
  return tenon__make_math(make, text, 2, values);
}

tenon_value_t tenon__make_cast(tenon__make_t* make, tenon_value_t value, tenon_dtype_t to) {
  if (make->status != TENON_OK || tenon__make_dtype(make, value) == to) {
    return value;
  }
  tenon__make_begin(make, "cast");
  tenon__make_set_dtype(make, "to", to);
  tenon__make_add(make, value);
  return tenon__make_end(make);
}

static tenon_value_t with_ints(tenon__make_t* make, const char* op, const char* attribute,
                               tenon_value_t value, const int64_t* values, size_t count) {
  tenon__make_begin(make, op);
  tenon__make_set_ints(make, attribute, values, count);
  tenon__make_add(make, value);
  return tenon__make_end(make);
}

/* To rank 0 there is no list of extents to give; a vector of none says it. */
tenon_value_t tenon__make_reshape(tenon__make_t* make, tenon_value_t value, const int64_t* dims,
                                  size_t count) {
  if (count == 0) {
    return tenon__make_2(make, "reshape", value, tenon__make_int64s(make, NULL, 0));
  }
  return with_ints(make, "reshape", "fixed_dims", value, dims, count);
}

tenon_value_t tenon__make_squeeze(tenon__make_t* make, tenon_value_t value, int64_t axis) {
  return with_ints(make, "squeeze", "fixed_axes", value, &axis, 1);
}

tenon_value_t tenon__make_unsqueeze(tenon__make_t* make, tenon_value_t value, const int64_t* axes,
                                    size_t count) {
  return count == 0 ? value : with_ints(make, "unsqueeze", "fixed_axes", value, axes, count);
}

tenon_value_t tenon__make_permute(tenon__make_t* make, tenon_value_t value, const int64_t* perm,
                                  size_t count) {
  return with_ints(make, "permute", "perm", value, perm, count);
}

tenon_value_t tenon__make_slice(tenon__make_t* make, tenon_value_t value, int64_t axis,
                                int64_t start, int64_t end) {
  const tenon_value_t starts = tenon__make_int64s(make, &start, 1);
  const tenon_value_t ends = tenon__make_int64s(make, &end, 1);
  const tenon_value_t axes = tenon__make_int64s(make, &axis, 1);
  tenon__make_begin(make, "strided_slice");
  tenon__make_add(make, value);
  tenon__make_add(make, starts);
  tenon__make_add(make, ends);
  tenon__make_add(make, axes);
  return tenon__make_end(make);
}

tenon_value_t tenon__make_concat(tenon__make_t* make, int64_t axis, uint32_t count,
                                 const tenon_value_t* values) {
  if (count == 1) {
    return values[0];
  }
  tenon__make_begin(make, "concatenate");
  tenon__make_set_int(make, "axis", axis);
  for (uint32_t i = 0; i < count; ++i) {
    tenon__make_add(make, values[i]);
  }
  return tenon__make_end(make);
}

tenon_value_t tenon__make_reduce(tenon__make_t* make, const char* op, tenon_value_t value,
                                 const int64_t* axes, size_t count, int64_t keepdims) {
  tenon__make_begin(make, op);
  tenon__make_set_ints(make, "fixed_axes", axes, count);
  tenon__make_set_int(make, "keepdims", keepdims);
  tenon__make_add(make, value);
  return tenon__make_end(make);
}

tenon_value_t tenon__make_shape(tenon__make_t* make, tenon_value_t value) {
  return tenon__make_1(make, "shape_of", value);
}
