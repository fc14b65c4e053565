/* Reductions. Their axes are an attribute at first, later an input. */
#include "families.h"

/* Constant axes become the attribute, which is the canonical form. Files of either kind occur with
 * the other kind's version, so both are read. */
static void reduce(tenon_make_t* make) {
  int64_t known[TENON_MAKE_LIST_LIMIT];
  uint32_t known_count = 0;
  const int64_t* axes = NULL;
  size_t count = 0;
  tenon_value_t operand = {0};
  if (!tenon_make_has_input(make, 1)) {
    (void)tenon_make_get_ints(make, "axes", &axes, &count);
  } else {
    operand = tenon_make_input(make, 1);
    if (tenon_make_known_ints(make, operand, known, TENON_MAKE_LIST_LIMIT, &known_count)) {
      operand.id = 0;
      axes = known;
      count = known_count;
    } else {
      operand = tenon_make_cast(make, operand, TENON_DTYPE_INT64);
    }
  }
  tenon_make_begin(make, make->row->op);
  tenon_make_pass_all(make, "keepdims noop_with_empty_axes");
  tenon_make_set_ints(make, "fixed_axes", axes, count);
  tenon_make_add(make, tenon_make_input(make, 0));
  if (tenon_make_present(operand)) {
    tenon_make_add(make, operand);
  }
  tenon_make_end_outputs(make);
}

#define REDUCTION(type, op) TENON__ONNX_ROW("", type, 1, 0, reduce, op, NULL)
#define SEARCH(type, op) \
  TENON__ONNX_ROW("", type, 1, 0, tenon_make_same, op, "axis keepdims select_last_index")

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    SEARCH("ArgMax", "arg_max"),
    SEARCH("ArgMin", "arg_min"),
    REDUCTION("ReduceL1", "reduce_l1"),
    REDUCTION("ReduceL2", "reduce_l2"),
    REDUCTION("ReduceLogSum", "reduce_log_sum"),
    REDUCTION("ReduceLogSumExp", "reduce_log_sum_exp"),
    REDUCTION("ReduceMax", "reduce_max"),
    REDUCTION("ReduceMean", "reduce_mean"),
    REDUCTION("ReduceMin", "reduce_min"),
    REDUCTION("ReduceProd", "reduce_prod"),
    REDUCTION("ReduceSum", "reduce_sum"),
    REDUCTION("ReduceSumSquare", "reduce_sum_square"),
};
TENON__ONNX_FAMILY(reduction);
