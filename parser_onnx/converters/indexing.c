/* Order, search, running sums and scattering. */
#include "families.h"

/* Before opset 10 k is an attribute. */
static void top_k(tenon_make_t* make) {
  tenon_value_t k = {0};
  if (tenon_make_version(make) < 10) {
    const int64_t count = tenon_make_get_int(make, "k", 0);
    k = tenon_make_int64s(make, &count, 1);
  } else {
    k = tenon_make_cast(make, tenon_make_input(make, 1), TENON_DTYPE_INT64);
  }
  tenon_make_begin(make, "top_k");
  tenon_make_pass_all(make, "axis largest sorted");
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_add(make, k);
  tenon_make_end_outputs(make);
}

/* Unique and Compress: without an axis, all elements in a row. */
static void flat_without_axis(tenon_make_t* make) {
  tenon_make_begin(make, make->row->op);
  tenon_make_pass_all(make, make->row->attributes);
  if (!tenon_make_has(make, "axis")) {
    tenon_make_set_int(make, "flat", 1);
  }
  tenon_make_add_inputs(make, 0);
  tenon_make_end_outputs(make);
}

#define ROW(type, function, op, attributes) \
  TENON__ONNX_ROW("", type, 1, 0, function, op, attributes)
#define SAME(type, op, attributes) ROW(type, tenon_make_same, op, attributes)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    ROW("Compress", flat_without_axis, "compress", "axis"),
    SAME("CumProd", "cumulative_prod", "exclusive reverse"),
    SAME("CumSum", "cumulative_sum", "exclusive reverse"),
    SAME("NonZero", "nonzero", NULL),
    SAME("Scatter", "scatter_elements", "axis"),
    SAME("ScatterElements", "scatter_elements", "axis reduction"),
    SAME("ScatterND", "scatter_nd", "reduction"),
    SAME("TensorScatter", "tensor_scatter", "axis mode"),
    ROW("TopK", top_k, NULL, NULL),
    ROW("Unique", flat_without_axis, "unique", "axis sorted"),
};
TENON__ONNX_FAMILY(indexing);
