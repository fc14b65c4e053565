/* Contents made from shapes and scalars. */
#include <math.h>
#include <string.h>

#include "families.h"
#include "types.h"

enum { CONSTANT_RANGE_LIMIT = 4096 };

static tenon_value_t as_int64(tenon_make_t* make, uint32_t index) {
  return tenon_make_cast(make, tenon_make_input(make, index), TENON_DTYPE_INT64);
}

/* A value with one element, as rank 0. */
static tenon_value_t as_scalar(tenon_make_t* make, tenon_value_t value) {
  return tenon_make_rank(make, value) == 0 ? value : tenon_make_reshape(make, value, NULL, 0);
}

static void constant_of_shape(tenon_make_t* make) {
  tenon_tensor_view_t view = {.dtype = TENON_DTYPE_FLOAT32, .layout = TENON_NONE};
  static const float zero = 0;
  const tenon_value_t dims = as_int64(make, 0);
  const void* data = &zero;
  if (tenon_make_has(make, "value")) {
    const tenon_status_t status = make->table->get_tensor(make->source, "value", &view);
    if (status != TENON_OK) {
      tenon_make_fail(make, status, "its value cannot be read");
      return;
    }
    data = view.data;
    if (view.rank > 1 || (view.rank == 1 && view.dims[0] != 1)) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "its value has more than one element");
    }
  }
  const tenon_value_t value = tenon_make_tensor(make, view.dtype, 0, NULL, data);
  tenon_make_output(make, 0, tenon_make_2(make, "filled", value, dims));
}

/* Constant bounds of floats give a constant: else only the run would know its extent. */
static bool constant_range(tenon_make_t* make, tenon_dtype_t dtype) {
  double bounds[3] = {0};
  for (uint32_t i = 0; i < 3; ++i) {
    uint32_t count = 0;
    if (!tenon_make_known_floats(make, tenon_make_input(make, i), &bounds[i], 1, &count) ||
        count != 1) {
      return false;
    }
  }
  const double steps = ceil((bounds[1] - bounds[0]) / bounds[2]);
  if (!(steps <= CONSTANT_RANGE_LIMIT) ||
      (dtype != TENON_DTYPE_FLOAT32 && dtype != TENON_DTYPE_FLOAT64)) {
    return false;
  }
  const int64_t dims[1] = {steps > 0 ? (int64_t)steps : 0};
  float* narrow = tenon_make_memory(make, (size_t)dims[0] + 1, sizeof(float));
  double* wide = tenon_make_memory(make, (size_t)dims[0] + 1, sizeof(double));
  if (narrow == NULL || wide == NULL) {
    return true;
  }
  for (int64_t i = 0; i < dims[0]; ++i) {
    wide[i] = bounds[0] + (double)i * bounds[2];
    narrow[i] = (float)bounds[0] + (float)i * (float)bounds[2];
  }
  const void* data = dtype == TENON_DTYPE_FLOAT32 ? (const void*)narrow : (const void*)wide;
  tenon_make_output(make, 0, tenon_make_tensor(make, dtype, 1, dims, data));
  return true;
}

static void range(tenon_make_t* make) {
  const tenon_dtype_t dtype = tenon_make_dtype(make, tenon_make_input(make, 0));
  const bool is_float = tenon_make_is_float(dtype);
  if (is_float && constant_range(make, dtype)) {
    return;
  }
  tenon_value_t bounds[3];
  for (uint32_t i = 0; i < 3; ++i) {
    bounds[i] = as_scalar(make, tenon_make_input(make, i));
  }
  tenon_make_output(
      make, 0,
      tenon_make_3(make, is_float ? "arange_float" : "arange", bounds[0], bounds[1], bounds[2]));
}

static void one_hot(tenon_make_t* make) {
  tenon_value_t indices = as_int64(make, 0);
  const tenon_value_t depth = as_scalar(make, as_int64(make, 1));
  const tenon_value_t values = tenon_make_input(make, 2);
  const uint32_t rank = tenon_make_rank(make, indices);
  const int64_t axis = tenon_make_axis(make, tenon_make_get_int(make, "axis", -1), rank + 1);
  indices = tenon_make_unsqueeze(make, indices, &axis, 1);
  const tenon_value_t off = tenon_make_squeeze(make, tenon_make_slice(make, values, 0, 0, 1), 0);
  const tenon_value_t on = tenon_make_squeeze(make, tenon_make_slice(make, values, 0, 1, 2), 0);
  const bool is_text = tenon_make_dtype(make, values) == TENON_DTYPE_STRING;
  const tenon_value_t no = is_text ? tenon_make_number(make, TENON_DTYPE_UINT8, 0) : off;
  const tenon_value_t yes = is_text ? tenon_make_number(make, TENON_DTYPE_UINT8, 1) : on;
  tenon_make_begin(make, "one_hot");
  tenon_make_set_int(make, "axis", axis);
  tenon_make_add(make, indices);
  tenon_make_add(make, depth);
  tenon_make_add(make, no);
  tenon_make_add(make, yes);
  tenon_value_t y = tenon_make_end(make);
  if (is_text) {
    y = tenon_make_3(make, "where", tenon_make_cast(make, y, TENON_DTYPE_BOOL), on, off);
  }
  tenon_make_output(make, 0, y);
}

static void eye_like(tenon_make_t* make) {
  const tenon_dtype_t like = tenon_make_dtype(make, tenon_make_input(make, 0));
  tenon_make_begin(make, "eye_like");
  tenon_make_pass_all(make, "k");
  tenon_make_set_dtype(make, "to", tenon__onnx_get_dtype(make, "dtype", like));
  tenon_make_add_inputs(make, 0);
  tenon_make_end_outputs(make);
}

static void window(tenon_make_t* make) {
  const tenon_value_t count = as_scalar(make, as_int64(make, 0));
  tenon_make_begin(make, make->row->op);
  tenon_make_pass_all(make, "periodic");
  tenon_make_set_dtype(make, "to",
                       tenon__onnx_get_dtype(make, "output_datatype", TENON_DTYPE_FLOAT32));
  tenon_make_add(make, count);
  tenon_make_end_outputs(make);
}

static void mel_weight_matrix(tenon_make_t* make) {
  tenon_value_t operands[5];
  for (uint32_t i = 0; i < 5; ++i) {
    operands[i] = as_scalar(make, tenon_make_cast(make, tenon_make_input(make, i),
                                                  i < 3 ? (tenon_dtype_t)TENON_DTYPE_INT64
                                                        : (tenon_dtype_t)TENON_DTYPE_FLOAT32));
  }
  tenon_make_begin(make, "mel_weight_matrix");
  tenon_make_set_dtype(make, "to",
                       tenon__onnx_get_dtype(make, "output_datatype", TENON_DTYPE_FLOAT32));
  for (uint32_t i = 0; i < 5; ++i) {
    tenon_make_add(make, operands[i]);
  }
  tenon_make_end_outputs(make);
}

static void trilu(tenon_make_t* make) {
  tenon_value_t k = tenon_make_input(make, 1);
  if (tenon_make_present(k)) {
    k = as_scalar(make, k);
  }
  tenon_make_begin(make, "trilu");
  tenon_make_pass_all(make, "upper");
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_add(make, k);
  tenon_make_end_outputs(make);
}

#define ROW(type, function, op, attributes) \
  TENON__ONNX_ROW("", type, 1, 0, function, op, attributes)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    ROW("BlackmanWindow", window, "blackman_window", NULL),
    ROW("ConstantOfShape", constant_of_shape, NULL, NULL),
    ROW("EyeLike", eye_like, NULL, NULL),
    ROW("HammingWindow", window, "hamming_window", NULL),
    ROW("HannWindow", window, "hann_window", NULL),
    ROW("MelWeightMatrix", mel_weight_matrix, NULL, NULL),
    ROW("OneHot", one_hot, NULL, NULL),
    ROW("Range", range, NULL, NULL),
    ROW("Shape", tenon_make_same, "shape_of", "start end"),
    ROW("Size", tenon_make_same, "element_count", NULL),
    ROW("Trilu", trilu, NULL, NULL),
};
TENON__ONNX_FAMILY(generator);
