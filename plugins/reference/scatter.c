/* Writing where indices say: scatter_elements, scatter_nd, tensor_scatter. */
#include <string.h>

#include "kernels.h"

typedef enum combine_t {
  COMBINE_NONE,
  COMBINE_ADD,
  COMBINE_MUL,
  COMBINE_MAX,
  COMBINE_MIN
} combine_t;

static combine_t reduction_of(const tenon__work_t* work) {
  static const char* const names[] = {"none", "add", "mul", "max", "min"};
  for (uint32_t index = 0; index < sizeof(names) / sizeof(names[0]); ++index) {
    if (tenon__work_is(work, "reduction", names[index])) {
      return (combine_t)index;
    }
  }
  return COMBINE_NONE;
}

static tenon__number_t combine(combine_t how, tenon_dtype_t dtype, tenon__number_t old,
                               tenon__number_t update) {
  switch (how) {
    case COMBINE_ADD:
      return dtype == TENON_DTYPE_BOOL ? tenon__number_max(dtype, old, update)
                                       : tenon__number_add(dtype, old, update);
    case COMBINE_MUL:
      return tenon__number_multiply(dtype, old, update);
    case COMBINE_MAX:
      return tenon__number_max(dtype, old, update);
    case COMBINE_MIN:
      return tenon__number_min(dtype, old, update);
    default:
      return update;
  }
}

static void copy_first(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  tenon__array_t* y = tenon__work_output(work, 0);
  if (x->count > 0) {
    memcpy(y->at, x->at, (size_t)x->count * sizeof(tenon__number_t));
  }
}

/* Counts from the end where negative; false when out of range. */
static bool wrap_index(int64_t extent, int64_t* inout_index) {
  *inout_index += *inout_index < 0 ? extent : 0;
  return *inout_index >= 0 && *inout_index < extent;
}

tenon_status_t tenon__compute_scatter_elements(tenon__work_t* work) {
  const tenon__array_t* indices = tenon__work_input(work, 1);
  const tenon__array_t* updates = tenon__work_input(work, 2);
  tenon__array_t* y = tenon__work_output(work, 0);
  uint32_t axis = tenon__axis_wrap(tenon__work_int(work, "axis"), y->rank);
  combine_t how = reduction_of(work);
  copy_first(work);
  for (int64_t place = 0; place < indices->count; ++place) {
    int64_t target = 0;
    int64_t rest = place;
    int64_t step = 1;
    for (uint32_t at = y->rank; at-- > 0;) {
      int64_t coordinate = rest % indices->dims[at];
      rest /= indices->dims[at];
      if (at == axis) {
        coordinate = indices->at[place].i;
      }
      if (!wrap_index(y->dims[at], &coordinate)) {
        return tenon__work_fail(work, "index %lld is out of range for extent %lld",
                                (long long)coordinate, (long long)y->dims[at]);
      }
      target += coordinate * step;
      step *= y->dims[at];
    }
    y->at[target] = combine(how, y->dtype, y->at[target], updates->at[place]);
  }
  return TENON_OK;
}

tenon_status_t tenon__compute_scatter_nd(tenon__work_t* work) {
  const tenon__array_t* indices = tenon__work_input(work, 1);
  const tenon__array_t* updates = tenon__work_input(work, 2);
  tenon__array_t* y = tenon__work_output(work, 0);
  uint32_t depth = (uint32_t)indices->dims[indices->rank - 1];
  int64_t slices = tenon__dims_product(indices->dims, 0, indices->rank - 1);
  combine_t how = reduction_of(work);
  copy_first(work);
  if (depth > y->rank) {
    return tenon__work_fail(work, "coordinates of %u axes, x has %u", depth, y->rank);
  }
  /* Not checked before where the number of axes is dynamic. */
  int64_t length = tenon__dims_product(y->dims, depth, y->rank);
  if (updates->count != slices * length) {
    return tenon__work_fail(work, "%lld updates for %lld slices of %lld elements",
                            (long long)updates->count, (long long)slices, (long long)length);
  }
  for (int64_t slice = 0; slice < slices; ++slice) {
    int64_t target = 0;
    for (uint32_t at = 0; at < depth; ++at) {
      int64_t coordinate = indices->at[slice * depth + at].i;
      if (!wrap_index(y->dims[at], &coordinate)) {
        return tenon__work_fail(work, "index %lld is out of range for extent %lld",
                                (long long)coordinate, (long long)y->dims[at]);
      }
      target = target * y->dims[at] + coordinate;
    }
    for (int64_t item = 0; item < length; ++item) {
      tenon__number_t* to = &y->at[target * length + item];
      *to = combine(how, y->dtype, *to, updates->at[slice * length + item]);
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__compute_tensor_scatter(tenon__work_t* work) {
  const tenon__array_t* update = tenon__work_input(work, 1);
  const tenon__array_t* starts = tenon__work_input(work, 2);
  tenon__array_t* y = tenon__work_output(work, 0);
  uint32_t axis = tenon__axis_wrap(tenon__work_int(work, "axis"), y->rank);
  bool circular = tenon__work_is(work, "mode", "circular");
  tenon__axis_view_t view = tenon__axis_view(y, axis);
  int64_t steps = update->dims[axis];
  int64_t rows = y->dims[0] == 0 ? 0 : view.outer / y->dims[0]; /* outer rows of one sample */
  copy_first(work);
  for (int64_t place = 0; place < update->count; ++place) {
    int64_t outer = place / view.inner / steps;
    int64_t at = place / view.inner % steps;
    at += starts == NULL ? 0 : starts->at[rows == 0 ? 0 : outer / rows].i;
    at = circular ? at % view.extent : at;
    if (at < 0 || at >= view.extent) {
      return tenon__work_fail(work, "position %lld is out of range for extent %lld", (long long)at,
                              (long long)view.extent);
    }
    y->at[(outer * view.extent + at) * view.inner + place % view.inner] = update->at[place];
  }
  return TENON_OK;
}
