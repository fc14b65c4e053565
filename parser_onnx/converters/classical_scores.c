/* What the converters of classical machine learning share, see classical.h. */
#include <stdio.h>
#include <string.h>

#include "classical.h"

enum { TEXT_SIZE = 96 };

tenon_value_t tenon__onnx_ints_vector(tenon_make_t* make, const char* name) {
  const int64_t* values = NULL;
  size_t count = 0;
  return tenon_make_get_ints(make, name, &values, &count) ? tenon_make_int64s(make, values, count)
                                                          : (tenon_value_t){0};
}

tenon_value_t tenon__onnx_floats(tenon_make_t* make, tenon_dtype_t dtype, uint32_t rank,
                                 const int64_t* dims, const double* values) {
  size_t count = 1;
  for (uint32_t axis = 0; axis < rank; ++axis) {
    count *= (size_t)dims[axis];
  }
  if (dtype != TENON_DTYPE_FLOAT32) {
    const double none = 0;
    const tenon_value_t wide =
        tenon_make_tensor(make, TENON_DTYPE_FLOAT64, rank, dims, count == 0 ? &none : values);
    return tenon_make_cast(make, wide, dtype);
  }
  float* narrow = tenon_make_memory(make, count + 1, sizeof(*narrow));
  if (narrow != NULL) {
    for (size_t i = 0; i < count; ++i) {
      narrow[i] = (float)values[i];
    }
  }
  return tenon_make_tensor(make, dtype, rank, dims, narrow);
}

tenon_value_t tenon__onnx_floats_vector(tenon_make_t* make, const char* name) {
  const double* values = NULL;
  size_t count = 0;
  if (!tenon_make_get_floats(make, name, &values, &count)) {
    return (tenon_value_t){0};
  }
  const int64_t dims[1] = {(int64_t)count};
  return tenon__onnx_floats(make, TENON_DTYPE_FLOAT32, 1, dims, values);
}

tenon_value_t tenon__onnx_strings_vector(tenon_make_t* make, const char* name) {
  const tenon_string_view_t* values = NULL;
  size_t count = 0;
  if (make->table->get_strings(make->source, name, &values, &count) != TENON_OK) {
    return (tenon_value_t){0};
  }
  const int64_t dims[1] = {(int64_t)count};
  return tenon_make_tensor(make, TENON_DTYPE_STRING, 1, dims, values);
}

tenon_value_t tenon__onnx_tensor_of(tenon_make_t* make, const char* name) {
  tenon_tensor_view_t view = {0};
  const tenon_status_t status = make->table->get_tensor(make->source, name, &view);
  if (status == TENON_ERROR_NOT_FOUND) {
    return (tenon_value_t){0};
  }
  if (status != TENON_OK) {
    tenon_make_fail(make, status, "attribute '%s' cannot be read", name);
  }
  return tenon_make_tensor(make, view.dtype, view.rank, view.dims, view.data);
}

tenon_value_t tenon__onnx_samples(tenon_make_t* make) {
  const int64_t first = 0;
  tenon_value_t x = tenon_make_input(make, 0);
  if (!tenon_make_is_float(tenon_make_dtype(make, x))) {
    x = tenon_make_cast(make, x, TENON_DTYPE_FLOAT32);
  }
  return tenon_make_rank(make, x) == 1 ? tenon_make_unsqueeze(make, x, &first, 1) : x;
}

tenon_value_t tenon__onnx_pick(tenon_make_t* make, tenon_value_t vector, tenon_value_t places) {
  if (tenon_make_dtype(make, vector) != TENON_DTYPE_STRING) {
    return tenon_make_2(make, "gather", vector, places);
  }
  const int64_t count = tenon_make_dim(make, vector, 0);
  if (count < 1) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "strings are picked from a list whose length is known, and not 0");
  }
  /* The first entry in every place, then the others over it. */
  tenon_value_t picked = tenon_make_squeeze(make, tenon_make_slice(make, vector, 0, 0, 1), 0);
  for (int64_t i = count == 1 ? 0 : 1; i < count; ++i) {
    const tenon_value_t entry = tenon_make_slice(make, vector, 0, i, i + 1);
    const tenon_value_t is_here = tenon_make_2(make, "equal", places, tenon_make_int64(make, i));
    picked = tenon_make_3(make, "where", is_here, tenon_make_squeeze(make, entry, 0), picked);
  }
  return picked;
}

tenon__onnx_post_transform_t tenon__onnx_get_post_transform(tenon_make_t* make) {
  static const char* const names[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const char* name = tenon_make_get_string(make, "post_transform", "NONE");
  for (int i = 0; i < 5; ++i) {
    if (strcmp(name, names[i]) == 0) {
      return (tenon__onnx_post_transform_t)i;
    }
  }
  tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                  "post_transform is '%s', not NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT",
                  name);
  return TENON__ONNX_POST_NONE;
}

/* Zeros, and what is as good as zero, keep out of the sum. */
static tenon_value_t softmax_zero(tenon_make_t* make, tenon_value_t scores) {
  const int64_t last = -1;
  const tenon_value_t top = tenon_make_reduce(make, "reduce_max", scores, &last, 1, 1);
  const tenon_value_t powers =
      tenon_make_math_2(make, "y = abs(a) > 0.0000001 ? exp(a - b) : 0.0 * a", scores, top);
  const tenon_value_t sum = tenon_make_reduce(make, "reduce_sum", powers, &last, 1, 1);
  const tenon_value_t operands[4] = {scores, top, powers, sum};
  return tenon_make_math(make, "y = (abs(a) > 0.0000001 ? c : a * exp(-b)) / d", 4, operands);
}

/* The normal distribution's quantile, by ONNX Runtime's approximation of erf's inverse (Winitzki,
 * with a = 0.147). */
static tenon_value_t probit(tenon_make_t* make, tenon_value_t scores) {
  return tenon_make_math_1(
      make,
      "let x = 2.0 * a - 1.0; let l = log((1.0 - x) * (1.0 + x));"
      " let v = 4.330751 + 0.5 * l; let r = sqrt(sqrt(v * v - l * 6.802721) - v);"
      " y = 1.41421356 * (x < 0.0 ? -r : r)",
      scores);
}

tenon_value_t tenon__onnx_post_transform(tenon_make_t* make, tenon__onnx_post_transform_t how,
                                         tenon_value_t scores) {
  const bool is_row = tenon_make_dim(make, scores, 1) != 1;
  if (how == TENON__ONNX_POST_PROBIT) {
    return probit(make, scores);
  }
  if (how == TENON__ONNX_POST_NONE || !is_row) {
    return scores;
  }
  if (how == TENON__ONNX_POST_LOGISTIC) {
    return tenon_make_1(make, "sigmoid", scores);
  }
  return how == TENON__ONNX_POST_SOFTMAX ? tenon_make_1(make, "softmax", scores)
                                         : softmax_zero(make, scores);
}

tenon_value_t tenon__onnx_two_scores(tenon_make_t* make, tenon__onnx_post_transform_t how,
                                     tenon_value_t scores, double whole) {
  tenon_value_t both[2] = {scores, scores};
  char text[TEXT_SIZE];
  if (how == TENON__ONNX_POST_PROBIT) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "PROBIT of one score for two classes is not defined; export with NONE");
    return scores;
  }
  const bool is_logistic = how == TENON__ONNX_POST_LOGISTIC;
  (void)snprintf(text, sizeof(text), "y = %.1f - a", is_logistic ? 0.0 : whole);
  both[0] = tenon_make_math_1(make, text, scores);
  const tenon_value_t pair = tenon_make_concat(make, 1, 2, both);
  return is_logistic ? tenon_make_1(make, "sigmoid", pair) : pair;
}

tenon_value_t tenon__onnx_class_labels(tenon_make_t* make, const char* integers,
                                       int64_t* out_count) {
  tenon_value_t labels = tenon__onnx_strings_vector(make, "classlabels_strings");
  if (!tenon_make_present(labels)) {
    labels = tenon__onnx_ints_vector(make, integers);
  }
  *out_count = tenon_make_present(labels) ? tenon_make_dim(make, labels, 0) : 0;
  if (*out_count < 1) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "it has neither classlabels_strings nor %s",
                    integers);
  }
  return labels;
}

void tenon__onnx_classify(tenon_make_t* make, const char* integers, tenon_value_t scores,
                          double limit, tenon_value_t results) {
  int64_t count = 0;
  char text[TEXT_SIZE];
  const tenon_value_t labels = tenon__onnx_class_labels(make, integers, &count);
  tenon_value_t place = {0};
  if (tenon_make_dim(make, scores, 1) == 1) {
    (void)snprintf(text, sizeof(text), "y = cast(a > %.17g, i64)", limit);
    place = tenon_make_squeeze(make, tenon_make_math_1(make, text, scores), 1);
  } else {
    tenon_make_begin(make, "arg_max");
    tenon_make_set_int(make, "axis", 1);
    tenon_make_set_int(make, "keepdims", 0);
    tenon_make_add(make, scores);
    place = tenon_make_end(make);
  }
  tenon_make_output(make, 0, tenon__onnx_pick(make, labels, place));
  if (tenon_make_wants(make, 1)) {
    tenon_make_output(make, 1, tenon_make_cast(make, results, TENON_DTYPE_FLOAT32));
  }
}
