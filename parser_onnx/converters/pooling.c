/* Windows without weights, and pools over all of space. */
#include <stdio.h>

#include "families.h"
#include "windows.h"

enum { TEXT_SIZE = 96 };

static void pool(tenon__make_t* make) {
  tenon__make_begin(make, make->row->op);
  tenon__make_window_attributes(make);
  tenon__make_pass_all(make, "kernel_shape ceil_mode");
  tenon__make_pass_all(make, make->row->attributes);
  tenon__make_add_inputs(make, 0);
  tenon__make_end_outputs(make);
}

/* Until opset 1 the norm is a float. */
static void lp_pool_before_2(tenon__make_t* make) {
  const double p = tenon__make_get_float(make, "p", 2);
  const int64_t norm = tenon__make_to_int64(p);
  if (p != (double)norm) {
    tenon__make_fail(make, TENON_ERROR_UNSUPPORTED, "p is %g, no integer", p);
  }
  tenon__make_begin(make, "lp_pool");
  tenon__make_window_attributes(make);
  tenon__make_pass_all(make, "kernel_shape");
  tenon__make_set_int(make, "p", norm);
  tenon__make_add_inputs(make, 0);
  tenon__make_end_outputs(make);
}

static tenon_value_t over_space(tenon__make_t* make, const char* op) {
  const tenon_value_t x = tenon__make_input(make, 0);
  const uint32_t rank = tenon__make_rank(make, x);
  int64_t axes[TENON__MAKE_LIST_LIMIT];
  size_t count = 0;
  for (uint32_t i = 2; i < rank; ++i) {
    axes[count] = i;
    ++count;
  }
  if (count == 0) {
    tenon__make_fail(make, TENON_ERROR_INVALID_DATA, "its input has rank %u: no space", rank);
  }
  return tenon__make_reduce(make, op, x, axes, count, 1);
}

static void global_pool(tenon__make_t* make) {
  tenon__make_output(make, 0, over_space(make, make->row->op));
}

static void global_lp_pool(tenon__make_t* make) {
  const double p = tenon__make_version(make) < 2 ? tenon__make_get_float(make, "p", 2)
                                                 : (double)tenon__make_get_int(make, "p", 2);
  if (p == 1 || p == 2) {
    tenon__make_output(make, 0, over_space(make, p == 1 ? "reduce_l1" : "reduce_l2"));
    return;
  }
  char text[TEXT_SIZE];
  (void)snprintf(text, sizeof(text), "y = pow(sum(pow(abs(a), %.17g), 2..), %.17g)", p, 1 / p);
  tenon__make_output(make, 0, tenon__make_math_1(make, text, tenon__make_input(make, 0)));
}

#define ROW(type, function, op, attributes) \
  TENON__MAKE_ROW("", type, 1, 0, function, op, attributes)

TENON__ONNX_FAMILY(pooling) = {
    ROW("AveragePool", pool, "average_pool", "count_include_pad"),
    ROW("GlobalAveragePool", global_pool, "reduce_mean", NULL),
    ROW("GlobalLpPool", global_lp_pool, NULL, NULL),
    ROW("GlobalMaxPool", global_pool, "reduce_max", NULL),
    ROW("LRN", tenon__make_same, "lrn", "size>window alpha beta bias"),
    TENON__MAKE_ROW("", "LpPool", 1, 2, lp_pool_before_2, NULL, NULL),
    TENON__MAKE_ROW("", "LpPool", 2, 0, pool, "lp_pool", "p"),
    ROW("MaxPool", pool, "max_pool", "storage_order"),
    ROW("MaxUnpool", tenon__make_same, "max_unpool", "kernel_shape strides pads"),
};
