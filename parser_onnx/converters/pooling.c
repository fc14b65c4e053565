/* Windows without weights, and pools over all of space. */
#include <stdio.h>

#include "families.h"
#include "windows.h"

enum { TEXT_SIZE = 96 };

static void pool(tenon_make_t* make) {
  tenon_make_begin(make, make->row->op);
  tenon__onnx_window_attributes(make);
  tenon_make_pass_all(make, "kernel_shape ceil_mode");
  tenon_make_pass_all(make, make->row->attributes);
  tenon_make_add_inputs(make, 0);
  tenon_make_end_outputs(make);
}

/* Until opset 1 the norm is a float. */
static void lp_pool_before_2(tenon_make_t* make) {
  const double p = tenon_make_get_float(make, "p", 2);
  const int64_t norm = tenon_make_to_int64(p);
  if (p != (double)norm) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "p is %g, no integer", p);
  }
  tenon_make_begin(make, "lp_pool");
  tenon__onnx_window_attributes(make);
  tenon_make_pass_all(make, "kernel_shape");
  tenon_make_set_int(make, "p", norm);
  tenon_make_add_inputs(make, 0);
  tenon_make_end_outputs(make);
}

static tenon_value_t over_space(tenon_make_t* make, const char* op) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const uint32_t rank = tenon_make_rank(make, x);
  int64_t axes[TENON_MAKE_LIST_LIMIT];
  size_t count = 0;
  for (uint32_t i = 2; i < rank; ++i) {
    axes[count] = i;
    ++count;
  }
  if (count == 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "its input has rank %u: no space", rank);
  }
  return tenon_make_reduce(make, op, x, axes, count, 1);
}

static void global_pool(tenon_make_t* make) {
  tenon_make_output(make, 0, over_space(make, make->row->op));
}

static void global_lp_pool(tenon_make_t* make) {
  const double p = tenon_make_version(make) < 2 ? tenon_make_get_float(make, "p", 2)
                                                : (double)tenon_make_get_int(make, "p", 2);
  if (p == 1 || p == 2) {
    tenon_make_output(make, 0, over_space(make, p == 1 ? "reduce_l1" : "reduce_l2"));
    return;
  }
  char text[TEXT_SIZE];
  (void)snprintf(text, sizeof(text), "y = pow(sum(pow(abs(a), %.17g), 2..), %.17g)", p, 1 / p);
  tenon_make_output(make, 0, tenon_make_math_1(make, text, tenon_make_input(make, 0)));
}

#define ROW(type, function, op, attributes) \
  TENON__ONNX_ROW("", type, 1, 0, function, op, attributes)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    ROW("AveragePool", pool, "average_pool", "count_include_pad"),
    ROW("GlobalAveragePool", global_pool, "reduce_mean", NULL),
    ROW("GlobalLpPool", global_lp_pool, NULL, NULL),
    ROW("GlobalMaxPool", global_pool, "reduce_max", NULL),
    ROW("LRN", tenon_make_same, "lrn", "size>window alpha beta bias"),
    TENON__ONNX_ROW("", "LpPool", 1, 2, lp_pool_before_2, NULL, NULL),
    TENON__ONNX_ROW("", "LpPool", 2, 0, pool, "lp_pool", "p"),
    ROW("MaxPool", pool, "max_pool", "storage_order"),
    ROW("MaxUnpool", tenon_make_same, "max_unpool", "kernel_shape strides pads"),
};
TENON__ONNX_FAMILY(pooling);
