/* Reductions. */
#include <string.h>

#include "families.h"

/* No axes: nothing is reduced. */
static void reduce(tenon_make_t* make, const char* op, const int64_t* axes, size_t count,
                   int64_t keepdims) {
  const tenon_value_t x = tenon_make_input(make, 0);
  if (count == 0) {
    tenon_make_output(make, 0, x);
    return;
  }
  tenon_make_output(make, 0, tenon_make_reduce(make, op, x, axes, count, keepdims));
}

static void by_operand(tenon_make_t* make) {
  int64_t axes[TENON_MAKE_LIST_LIMIT];
  uint32_t count = 0;
  const int64_t keepdims = tenon_make_get_int(make, "keep_dims", 0);
  if (tenon__uff_known(make, 1, "list of axes", axes, &count)) {
    reduce(make, make->row->op, axes, count, keepdims);
  }
}

static void uff_reduce(tenon_make_t* make) {
  static const struct {
    const char* name;
    const char* op;
  } functions[] = {{"max", "reduce_max"},
                   {"mean", "reduce_mean"},
                   {"min", "reduce_min"},
                   {"prod", "reduce_prod"},
                   {"sum", "reduce_sum"}};
  const char* name = tenon_make_get_string(make, "func", "");
  const int64_t* axes = NULL;
  size_t count = 0;
  if (!tenon__uff_needs(make, 1)) {
    return;
  }
  (void)tenon_make_get_ints(make, "axes", &axes, &count);
  for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); ++i) {
    if (strcmp(functions[i].name, name) == 0) {
      reduce(make, functions[i].op, axes, count, tenon_make_get_int(make, "keepdims", 0));
      return;
    }
  }
  tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "its func is '%s', which UFF does not have", name);
}

/* ---- Where the extreme is ---- */

static void find_extreme(tenon_make_t* make, int64_t axis, tenon_dtype_t otherwise) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const bool is_bool = tenon_make_dtype(make, x) == TENON_DTYPE_BOOL;
  const tenon_value_t numbers = is_bool ? tenon_make_cast(make, x, TENON_DTYPE_UINT8) : x;
  tenon_make_begin(make, make->row->op);
  tenon_make_set_int(make, "axis", axis);
  tenon_make_set_int(make, "keepdims", 0);
  tenon_make_add(make, numbers);
  const tenon_value_t y = tenon_make_end(make);
  tenon_make_output(make, 0, tenon__uff_as_type(make, y, "output_type", otherwise));
}

static void extreme_by_operand(tenon_make_t* make) {
  const int64_t axis = tenon__uff_known_one(make, 1, "axis");
  if (tenon_make_ok(make)) {
    find_extreme(make, axis, TENON_DTYPE_INT64);
  }
}

static void uff_extreme(tenon_make_t* make) {
  if (tenon__uff_needs(make, 1)) {
    find_extreme(make, tenon_make_get_int(make, "axis", 0), TENON_DTYPE_INT32);
  }
}

/* ---- Running ---- */

static void cumulate(tenon_make_t* make) {
  if (tenon__uff_needs(make, 2)) {
    const tenon_value_t axis = tenon__uff_operand(make, 1);
    tenon_make_begin(make, make->row->op);
    tenon_make_pass_all(make, "exclusive reverse");
    tenon_make_add(make, tenon_make_input(make, 0));
    tenon_make_add(make, axis);
    tenon_make_output(make, 0, tenon_make_end(make));
  }
}

static void half_square_sum(tenon_make_t* make) {
  if (tenon__uff_needs(make, 1)) {
    const tenon_value_t sum =
        tenon_make_reduce(make, "reduce_sum_square", tenon_make_input(make, 0), NULL, 0, 0);
    tenon_make_output(make, 0, tenon_make_math_1(make, "y = a / 2", sum));
  }
}

#define TF(type, function, op) TENON__UFF_TF_ROW(type, function, op, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENON__UFF_ROW("ArgMax", uff_extreme, "arg_max", NULL),
    TENON__UFF_ROW("ArgMin", uff_extreme, "arg_min", NULL),
    TENON__UFF_ROW("Reduce", uff_reduce, NULL, NULL),

    TF("All", by_operand, "reduce_min"),
    TF("Any", by_operand, "reduce_max"),
    TF("ArgMax", extreme_by_operand, "arg_max"),
    TF("ArgMin", extreme_by_operand, "arg_min"),
    TF("Cumprod", cumulate, "cumulative_prod"),
    TF("Cumsum", cumulate, "cumulative_sum"),
    TF("EuclideanNorm", by_operand, "reduce_l2"),
    TF("L2Loss", half_square_sum, NULL),
    TF("Max", by_operand, "reduce_max"),
    TF("Mean", by_operand, "reduce_mean"),
    TF("Min", by_operand, "reduce_min"),
    TF("Prod", by_operand, "reduce_prod"),
    TF("Sum", by_operand, "reduce_sum"),
};
TENON__UFF_FAMILY(reduction);
