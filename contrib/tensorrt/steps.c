/* Steps that converters of several families take. */
#include "steps.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "families.h"

/* ---- Versions ---- */

/* Whether a list of words separated by blanks has the word. */
static bool has_word(const char* list, const char* word) {
  const size_t length = strlen(word);
  for (const char* at = list; length > 0 && (at = strstr(at, word)) != NULL; at += length) {
    if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) {
      return true;
    }
  }
  return false;
}

static void check_version(tenon_make_t* make) {
  char number[24];
  const char* version = number;
  const char* reason = make->row->attributes;
  if (make->table->field_kind(make->source, "plugin_version") == TENON_FIELD_INT) {
    (void)snprintf(number, sizeof(number), "%" PRId64,
                   tenon_make_get_int(make, "plugin_version", 1));
  } else {
    version = tenon_make_get_string(make, "plugin_version", "1");
  }
  if (tenon_make_ok(make) && !has_word(make->row->op, version)) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "plugin_version = '%s' is not supported: use one of these versions: %s%s%s",
                    version, make->row->op, reason == NULL ? "" : "; ",
                    reason == NULL ? "" : reason);
  }
}

tenon_status_t tensorrt_run(const tenon_make_row_t* row, const tenon_conversion_t* call) {
  if (row == NULL) {
    return tenon_make_run(row, call);
  }
  tenon_make_row_t check = *row;
  check.make = check_version;
  const tenon_status_t status = tenon_make_run(&check, call);
  return status == TENON_OK ? tenon_make_run(row, call) : status;
}

/* ---- Attributes ---- */

void tensorrt_refuse(tenon_make_t* make, const char* name, const char* reason) {
  if (!tenon_make_ok(make)) {
    return;
  }
  switch (make->table->field_kind(make->source, name)) {
    case TENON_FIELD_INT:
      tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "%s = %" PRId64 " is not supported: %s", name,
                      tenon_make_get_int(make, name, 0), reason);
      break;
    case TENON_FIELD_FLOAT:
      tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "%s = %g is not supported: %s", name,
                      tenon_make_get_float(make, name, 0), reason);
      break;
    case TENON_FIELD_NONE:
      tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "attribute %s is absent: %s", name, reason);
      break;
    default:
      tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "attribute %s is not supported: %s", name,
                      reason);
      break;
  }
}

void tensorrt_require(tenon_make_t* make, const char* name) {
  if (tenon_make_ok(make) && !tenon_make_has(make, name)) {
    tensorrt_refuse(make, name, "the plugin has no default, set it");
  }
}

int64_t tensorrt_int(tenon_make_t* make, const char* name, int64_t otherwise, int64_t low,
                     int64_t high) {
  int64_t value = otherwise;
  const int64_t* list = NULL;
  size_t count = 0;
  if (!tenon_make_ok(make)) {
    return otherwise;
  }
  if (make->table->field_kind(make->source, name) == TENON_FIELD_INTS &&
      tenon_make_get_ints(make, name, &list, &count) && count == 1) {
    value = list[0];
  } else {
    value = tenon_make_get_int(make, name, otherwise);
  }
  if (tenon_make_ok(make) && (value < low || value > high)) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "%s = %" PRId64 " is not supported: use %" PRId64 " to %" PRId64, name, value,
                    low, high);
    return otherwise;
  }
  return value;
}

double tensorrt_float(tenon_make_t* make, const char* name, double otherwise, double low,
                      double high) {
  double value = otherwise;
  const double* list = NULL;
  size_t count = 0;
  if (!tenon_make_ok(make)) {
    return otherwise;
  }
  const uint32_t kind = make->table->field_kind(make->source, name);
  if (kind == TENON_FIELD_FLOATS && tenon_make_get_floats(make, name, &list, &count) &&
      count == 1) {
    value = list[0];
  } else if (kind == TENON_FIELD_INT) {
    value = (double)tenon_make_get_int(make, name, 0);
  } else {
    value = tenon_make_get_float(make, name, otherwise);
  }
  if (tenon_make_ok(make) && !(value >= low && value <= high)) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "%s = %g is not supported: use %g to %g", name,
                    value, low, high);
    return otherwise;
  }
  return value;
}

bool tensorrt_flag(tenon_make_t* make, const char* name, bool otherwise) {
  return tensorrt_int(make, name, otherwise ? 1 : 0, 0, 1) != 0;
}

/* Refuses a count of numbers outside of low to high. */
static bool counts(tenon_make_t* make, const char* name, size_t count, size_t low, size_t high) {
  if (tenon_make_ok(make) && (count < low || count > high)) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "attribute %s has %zu numbers: it needs %zu to %zu", name, count, low, high);
  }
  return tenon_make_ok(make);
}

const int64_t* tensorrt_ints(tenon_make_t* make, const char* name, size_t low, size_t high,
                             int64_t least, size_t* out_count) {
  const int64_t* values = NULL;
  *out_count = 0;
  if (tenon_make_ok(make) && make->table->field_kind(make->source, name) == TENON_FIELD_INT) {
    int64_t* one = tenon_make_memory(make, 1, sizeof(*one));
    if (one != NULL) {
      *one = tenon_make_get_int(make, name, 0);
      *out_count = 1;
    }
    values = one;
  } else {
    (void)tenon_make_get_ints(make, name, &values, out_count);
  }
  if (!counts(make, name, *out_count, low, high)) {
    return NULL;
  }
  for (size_t k = 0; k < *out_count; ++k) {
    if (values[k] < least || values[k] > TENSORRT_COUNT_MAX) {
      tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                      "%s[%zu] = %" PRId64 " is not supported: use %" PRId64 " to %d", name, k,
                      values[k], least, TENSORRT_COUNT_MAX);
      return NULL;
    }
  }
  return values;
}

/* Reads a list of floats. A list of integers or a single number is converted to one. */
static const double* any_floats(tenon_make_t* make, const char* name, size_t* out_count) {
  const double* values = NULL;
  const int64_t* ints = NULL;
  const uint32_t kind = make->table->field_kind(make->source, name);
  *out_count = 0;
  if (kind == TENON_FIELD_FLOATS || kind == TENON_FIELD_NONE) {
    (void)tenon_make_get_floats(make, name, &values, out_count);
    return values;
  }
  size_t count = 1;
  if (kind == TENON_FIELD_INTS) {
    (void)tenon_make_get_ints(make, name, &ints, &count);
  }
  double* copy = tenon_make_memory(make, count + 1, sizeof(*copy));
  for (size_t k = 0; copy != NULL && k < count; ++k) {
    copy[k] = ints != NULL              ? (double)ints[k]
              : kind == TENON_FIELD_INT ? (double)tenon_make_get_int(make, name, 0)
                                        : tenon_make_get_float(make, name, 0);
  }
  *out_count = copy == NULL ? 0 : count;
  return copy;
}

const double* tensorrt_floats(tenon_make_t* make, const char* name, size_t low, size_t high,
                              double least, size_t* out_count) {
  *out_count = 0;
  const double* values = tenon_make_ok(make) ? any_floats(make, name, out_count) : NULL;
  if (!counts(make, name, *out_count, low, high)) {
    return NULL;
  }
  for (size_t k = 0; k < *out_count; ++k) {
    if (!(values[k] >= least && values[k] <= 3.4028234663852886e38)) {
      tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                      "%s[%zu] = %g is not supported: use finite numbers from %g on", name, k,
                      values[k], least);
      return NULL;
    }
  }
  return values;
}

/* A tensor of floats as a constant of rank 1. */
static tenon_value_t tensor_weights(tenon_make_t* make, const char* name, size_t* out_count) {
  tenon_tensor_view_t view;
  memset(&view, 0, sizeof(view));
  const tenon_status_t status = make->table->get_tensor(make->source, name, &view);
  int64_t count = 1;
  if (status != TENON_OK || !tenon_make_is_float(view.dtype)) {
    tensorrt_refuse(make, name, "use a list or a tensor of floats");
    return tensorrt_absent();
  }
  for (uint32_t axis = 0; axis < view.rank; ++axis) {
    count *= view.dims[axis];
  }
  *out_count = (size_t)count;
  return tenon_make_cast(make, tenon_make_tensor(make, view.dtype, 1, &count, view.data),
                         TENON_DTYPE_FLOAT32);
}

tenon_value_t tensorrt_weights(tenon_make_t* make, const char* name, size_t low, size_t high,
                               size_t* out_count) {
  *out_count = 0;
  if (!tenon_make_ok(make)) {
    return tensorrt_absent();
  }
  if (make->table->field_kind(make->source, name) == TENON_FIELD_TENSOR) {
    const tenon_value_t weights = tensor_weights(make, name, out_count);
    return counts(make, name, *out_count, low, high) ? weights : tensorrt_absent();
  }
  const double* values = tensorrt_floats(make, name, low, high, -3.4028234663852886e38, out_count);
  return values == NULL ? tensorrt_absent() : tensorrt_numbers(make, values, *out_count);
}

/* ---- Inputs ---- */

tenon_value_t tensorrt_input(tenon_make_t* make, uint32_t index, const char* name, uint32_t rank,
                             const char* form) {
  const tenon_value_t value = tenon_make_input(make, index);
  if (!tenon_make_ok(make)) {
    return tensorrt_absent();
  }
  if (!tenon_make_present(value)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "input %" PRIu32 ", %s, is absent: it is %s",
                    index, name, form);
    return tensorrt_absent();
  }
  const uint32_t own = tenon_make_rank(make, value);
  if (tenon_make_ok(make) && own != rank) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "input %" PRIu32 ", %s, has rank %" PRIu32 ", not %" PRIu32 ": it is %s", index,
                    name, own, rank, form);
  }
  return value;
}

int64_t tensorrt_known(tenon_make_t* make, tenon_value_t value, uint32_t axis, const char* name) {
  const int64_t extent = tenon_make_dim(make, value, axis);
  if (tenon_make_ok(make) && (extent < 0 || extent > INT32_MAX)) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "axis %" PRIu32 " of %s has extent %" PRId64
                    ": a known extent is needed, set it in the model",
                    axis, name, extent);
  }
  return tenon_make_ok(make) ? extent : 0;
}

/* ---- Values ---- */

tenon_value_t tensorrt_math_3(tenon_make_t* make, const char* text, tenon_value_t a,
                              tenon_value_t b, tenon_value_t c) {
  const tenon_value_t inputs[3] = {a, b, c};
  return tenon_make_math(make, text, 3, inputs);
}

tenon_value_t tensorrt_math_4(tenon_make_t* make, const char* text, tenon_value_t a,
                              tenon_value_t b, tenon_value_t c, tenon_value_t d) {
  const tenon_value_t inputs[4] = {a, b, c, d};
  return tenon_make_math(make, text, 4, inputs);
}

tenon_value_t tensorrt_numbers(tenon_make_t* make, const double* values, size_t count) {
  const int64_t dims[1] = {(int64_t)count};
  float* numbers = tenon_make_memory(make, count + 1, sizeof(*numbers));
  for (size_t k = 0; numbers != NULL && k < count; ++k) {
    numbers[k] = (float)values[k];
  }
  return tenon_make_tensor(make, TENON_DTYPE_FLOAT32, 1, dims, numbers);
}

tenon_value_t tensorrt_axis(tenon_make_t* make, tenon_value_t value, int64_t axis) {
  return tenon_make_unsqueeze(make, value, &axis, 1);
}

tenon_value_t tensorrt_counted(tenon_make_t* make, tenon_value_t value, int64_t axis) {
  const tenon_value_t extent =
      tenon_make_reshape(make, tenon_make_extents(make, value, axis, axis + 1), NULL, 0);
  return tenon_make_3(make, "arange", tenon_make_int64(make, 0), extent, tenon_make_int64(make, 1));
}

tenon_value_t tensorrt_wide(tenon_make_t* make, tenon_value_t value) {
  if (tenon_make_ok(make) && !tenon_make_is_float(tenon_make_dtype(make, value))) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "an input has integers: it needs floats");
  }
  return tenon_make_cast(make, value, TENON_DTYPE_FLOAT32);
}

void tensorrt_output_like(tenon_make_t* make, uint32_t index, tenon_value_t value,
                          tenon_value_t like) {
  if (tenon_make_wants(make, index)) {
    tenon_make_output(make, index, tenon_make_cast(make, value, tenon_make_dtype(make, like)));
  }
}

tenon_value_t tensorrt_corners(tenon_make_t* make, tenon_value_t low, tenon_value_t high) {
  const tenon_value_t parts[2] = {low, high};
  return tenon_make_concat(make, (int64_t)tenon_make_rank(make, low) - 1, 2, parts);
}
