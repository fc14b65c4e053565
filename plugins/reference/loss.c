/* negative_log_likelihood: -weight[target] x[n, target, ...], summed, averaged by weight, or as it
 * is. */
#include "kernels.h"

tenon_status_t tenon__compute_negative_log_likelihood(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  const tenon__array_t* target = tenon__work_input(work, 1);
  const tenon__array_t* weight = tenon__work_input(work, 2);
  tenon__array_t* y = tenon__work_output(work, 0);
  bool ignores = tenon__work_int(work, "ignores") != 0;
  int64_t ignored = tenon__work_int(work, "ignore_index");
  bool keeps_all = tenon__work_is(work, "reduction", "none");
  tenon__axis_view_t view = tenon__axis_view(x, 1);
  double sum = 0.0;
  double total_weight = 0.0;
  for (int64_t place = 0; place < target->count; ++place) {
    int64_t class_index = target->at[place].i;
    bool counts = !ignores || class_index != ignored;
    if (counts && (class_index < 0 || class_index >= view.extent)) {
      return tenon__work_fail(work, "target %lld is out of range for %lld classes",
                              (long long)class_index, (long long)view.extent);
    }
    double own = !counts ? 0.0 : weight == NULL ? 1.0 : weight->at[class_index].f;
    int64_t from = (place / view.inner * view.extent + (counts ? class_index : 0)) * view.inner +
                   place % view.inner;
    double loss = counts ? -own * x->at[from].f : 0.0;
    sum += loss;
    total_weight += own;
    if (keeps_all) {
      y->at[place].f = loss;
    }
  }
  if (!keeps_all) {
    y->at[0].f = tenon__work_is(work, "reduction", "mean") ? sum / total_weight : sum;
  }
  return TENON_OK;
}
