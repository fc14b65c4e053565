/* Order and search along an axis: top_k, running sums, what is not zero, what is selected. */
#include "kernels.h"

/* One candidate of top_k. */
typedef struct ranked_t {
  tenon__number_t value;
  int64_t index;
} ranked_t;

/* Scratch: one line of candidates, two numbers each. */
int64_t tenon__scratch_top_k(const tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  return 2 * x->dims[tenon__axis_wrap(tenon__work_int(work, "axis"), x->rank)];
}

/* Whether a comes before b: by value, equal ones by index. */
static bool precedes(tenon_dtype_t dtype, bool largest, const ranked_t* a, const ranked_t* b) {
  int order = tenon__number_compare(dtype, a->value, b->value);
  return order == 0 ? a->index < b->index : largest ? order > 0 : order < 0;
}

/* Moves the best `count` of the line to its front, in order. */
static void select_best(tenon_dtype_t dtype, bool largest, ranked_t* line, int64_t extent,
                        int64_t count) {
  for (int64_t place = 0; place < count; ++place) {
    int64_t best = place;
    for (int64_t other = place + 1; other < extent; ++other) {
      best = precedes(dtype, largest, &line[other], &line[best]) ? other : best;
    }
    ranked_t kept = line[place];
    line[place] = line[best];
    line[best] = kept;
  }
}

tenon_status_t tenon__compute_top_k(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  tenon__array_t* values = tenon__work_output(work, 0);
  tenon__array_t* indices = tenon__work_output(work, 1);
  uint32_t axis = tenon__axis_wrap(tenon__work_int(work, "axis"), x->rank);
  bool largest = tenon__work_int(work, "largest") != 0;
  int64_t count = (values != NULL ? values : indices)->dims[axis];
  tenon__axis_view_t view = tenon__axis_view(x, axis);
  ranked_t* line = (ranked_t*)work->scratch;
  if (count > view.extent) {
    return tenon__work_fail(work, "k is %lld, the axis has %lld elements", (long long)count,
                            (long long)view.extent);
  }
  for (int64_t row = 0; row < view.outer * view.inner; ++row) {
    int64_t outer = row / view.inner;
    int64_t inner = row % view.inner;
    for (int64_t at = 0; at < view.extent; ++at) {
      line[at] = (ranked_t){x->at[(outer * view.extent + at) * view.inner + inner], at};
    }
    select_best(x->dtype, largest, line, view.extent, count);
    for (int64_t at = 0; at < count; ++at) {
      int64_t place = (outer * count + at) * view.inner + inner;
      if (values != NULL) {
        values->at[place] = line[at].value;
      }
      if (indices != NULL) {
        indices->at[place].i = line[at].index;
      }
    }
  }
  return TENON_OK;
}

static tenon_status_t accumulate(tenon__work_t* work, tenon__number_t start,
                                 tenon__number_t (*combine)(tenon_dtype_t dtype, tenon__number_t a,
                                                            tenon__number_t b)) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  tenon__array_t* y = tenon__work_output(work, 0);
  int64_t axis = tenon__work_integer(work, 1, 0);
  bool exclusive = tenon__work_int(work, "exclusive") != 0;
  bool reverse = tenon__work_int(work, "reverse") != 0;
  if (axis < -(int64_t)x->rank || axis >= (int64_t)x->rank) {
    return tenon__work_fail(work, "axis %lld is out of range for rank %u", (long long)axis,
                            x->rank);
  }
  tenon__axis_view_t view = tenon__axis_view(x, tenon__axis_wrap(axis, x->rank));
  for (int64_t row = 0; row < view.outer * view.inner; ++row) {
    tenon__number_t running = start;
    for (int64_t step = 0; step < view.extent; ++step) {
      int64_t at = reverse ? view.extent - 1 - step : step;
      int64_t place = (row / view.inner * view.extent + at) * view.inner + row % view.inner;
      tenon__number_t next = combine(x->dtype, running, x->at[place]);
      y->at[place] = exclusive ? running : next;
      running = next;
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__compute_cumulative_sum(tenon__work_t* work) {
  return accumulate(work, tenon__number_of(work->inputs[0].dtype, 0.0), tenon__number_add);
}

tenon_status_t tenon__compute_cumulative_prod(tenon__work_t* work) {
  return accumulate(work, tenon__number_of(work->inputs[0].dtype, 1.0), tenon__number_multiply);
}

tenon_status_t tenon__compute_nonzero(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  int64_t found = 0;
  for (int64_t place = 0; place < x->count; ++place) {
    found += tenon__number_is_zero(x->dtype, x->at[place]) ? 0 : 1;
  }
  int64_t dims[2] = {x->rank, found};
  tenon_status_t status = tenon__work_allocate(work, 0, 2, dims);
  int64_t column = 0;
  if (status == TENON_OK) {
    for (int64_t place = 0; place < x->count; ++place) {
      if (tenon__number_is_zero(x->dtype, x->at[place])) {
        continue;
      }
      int64_t rest = place;
      for (uint32_t axis = x->rank; axis-- > 0;) {
        tenon__number_t coordinate = {.i = rest % x->dims[axis]};
        rest /= x->dims[axis];
        (void)tenon__work_put(work, 0, (int64_t)axis * found + column, coordinate);
      }
      ++column;
    }
  }
  return status;
}

/* Scratch: the extents of the result. */
int64_t tenon__scratch_compress(const tenon__work_t* work) {
  return tenon__work_input(work, 0)->rank + 1;
}

/* How many slices are selected; -1 after a failure. */
static int64_t count_selected(const tenon__work_t* work, int64_t extent) {
  const tenon__array_t* condition = tenon__work_input(work, 1);
  int64_t selected = 0;
  for (int64_t at = 0; at < condition->count; ++at) {
    if (condition->at[at].i == 0) {
      continue;
    }
    if (at >= extent) {
      (void)tenon__work_fail(work, "condition %lld is true, the axis has %lld elements",
                             (long long)at, (long long)extent);
      return -1;
    }
    ++selected;
  }
  return selected;
}

tenon_status_t tenon__compute_compress(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  const tenon__array_t* condition = tenon__work_input(work, 1);
  bool flat = tenon__work_int(work, "flat") != 0;
  uint32_t axis = flat ? 0 : tenon__axis_wrap(tenon__work_int(work, "axis"), x->rank);
  tenon__axis_view_t view = {1, x->count, 1};
  int64_t* dims = &work->scratch[0].i;
  if (!flat) {
    view = tenon__axis_view(x, axis);
  }
  for (uint32_t other = 0; other < x->rank; ++other) {
    dims[other] = x->dims[other];
  }
  dims[axis] = count_selected(work, view.extent);
  if (dims[axis] < 0) {
    return TENON_ERROR_INVALID_DATA;
  }
  tenon_status_t status = tenon__work_allocate(work, 0, flat ? 1 : x->rank, dims);
  int64_t target = 0;
  for (int64_t place = 0; status == TENON_OK && place < x->count; ++place) {
    int64_t at = place / view.inner % view.extent;
    if (at < condition->count && condition->at[at].i != 0) {
      status = tenon__work_put(work, 0, target++, x->at[place]);
    }
  }
  return status;
}
