/* Reductions. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "families.h"

/* Over `axis` and all behind it, which are dropped. */
static void reduction(tenon_make_t* make) {
  static const char* const ops[][2] = {{"SUM", "reduce_sum"},
                                       {"ASUM", "reduce_l1"},
                                       {"SUMSQ", "reduce_sum_square"},
                                       {"MEAN", "reduce_mean"}};
  const tenon_value_t x = tenon_make_input(make, 0);
  const uint32_t rank = tenon_make_rank(make, x);
  const char* operation = tenon_make_get_string(make, "reduction_param.operation", "SUM");
  const int64_t axis =
      tenon_make_axis(make, tenon_make_get_int(make, "reduction_param.axis", 0), rank);
  const double factor = tenon_make_get_float(make, "reduction_param.coeff", 1);
  const char* op = NULL;
  for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); ++i) {
    op = strcmp(ops[i][0], operation) == 0 ? ops[i][1] : op;
  }
  if (op == NULL) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "operation '%s' is not known", operation);
    return;
  }
  int64_t axes[TENON_MAKE_LIST_LIMIT];
  size_t count = 0;
  for (int64_t i = axis; i < (int64_t)rank; ++i) {
    axes[count++] = i;
  }
  tenon_value_t y = tenon_make_reduce(make, op, x, axes, count, 0);
  if (factor != 1) {
    char text[48];
    (void)snprintf(text, sizeof(text), "y = a * (%.9g)", factor);
    y = tenon_make_math_1(make, text, y);
  }
  tenon_make_output(make, 0, y);
}

/* x backwards along the axis. */
static tenon_value_t reversed(tenon_make_t* make, tenon_value_t x, int64_t axis) {
  static const int64_t first = -1;
  static const int64_t last = INT64_MIN;
  static const int64_t step = -1;
  const tenon_value_t starts = tenon_make_int64s(make, &first, 1);
  const tenon_value_t ends = tenon_make_int64s(make, &last, 1);
  const tenon_value_t axes = tenon_make_int64s(make, &axis, 1);
  const tenon_value_t steps = tenon_make_int64s(make, &step, 1);
  tenon_make_begin(make, "strided_slice");
  tenon_make_add(make, x);
  tenon_make_add(make, starts);
  tenon_make_add(make, ends);
  tenon_make_add(make, axes);
  tenon_make_add(make, steps);
  return tenon_make_end(make);
}

/* The largest along the axis and their places, as floats. Among equals Caffe takes the last one
 * first, hence backwards. */
static void find_largest(tenon_make_t* make, tenon_value_t x, int64_t axis, int64_t count,
                         tenon_value_t* out_values, tenon_value_t* out_places) {
  char text[64];
  tenon_value_t found[2];
  const int64_t extent = tenon__caffe_extent(make, x, axis);
  const tenon_value_t backwards = reversed(make, x, axis);
  const tenon_value_t k = tenon_make_int64s(make, &count, 1);
  tenon_make_begin(make, "top_k");
  tenon_make_set_int(make, "axis", axis);
  tenon_make_add(make, backwards);
  tenon_make_add(make, k);
  tenon_make_end_many(make, found, 2);
  (void)snprintf(text, sizeof(text), "y = cast(%" PRId64 " - a, f32)", extent - 1);
  *out_values = found[0];
  *out_places = tenon_make_math_1(make, text, found[1]);
}

static void arg_max(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const uint32_t rank = tenon_make_rank(make, x);
  const int64_t count = tenon_make_get_int(make, "argmax_param.top_k", 1);
  const bool wants_values = tenon_make_get_int(make, "argmax_param.out_max_val", 0) != 0;
  tenon_value_t values = {0};
  tenon_value_t places = {0};
  if (count < 1) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "top_k is %" PRId64, count);
    return;
  }
  if (tenon_make_has(make, "argmax_param.axis")) {
    const int64_t axis =
        tenon_make_axis(make, tenon_make_get_int(make, "argmax_param.axis", 0), rank);
    find_largest(make, x, axis, count, &values, &places);
    tenon_make_output(make, 0, wants_values ? values : places);
    return;
  }
  /* Of each picture as a whole: [N, 1 or 2, top_k], and ones up to the bottom's rank. */
  const int64_t flat[3] = {0, 1, tenon_make_elements(make, x, 1, rank)};
  const int64_t ones[TENON_MAKE_LIST_LIMIT] = {3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  find_largest(make, tenon_make_reshape(make, x, flat, 3), 2, count, &values, &places);
  const tenon_value_t both[2] = {places, values};
  const tenon_value_t y = wants_values ? tenon_make_concat(make, 1, 2, both) : places;
  tenon_make_output(make, 0,
                    tenon_make_unsqueeze(make, y, ones, rank > 3 && rank < 16 ? rank - 3 : 0));
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENON__CAFFE_ROW("", "ArgMax", arg_max, NULL, NULL),
    TENON__CAFFE_ROW("", "Reduction", reduction, NULL, NULL),
};
TENON__CAFFE_FAMILY(reduction);
