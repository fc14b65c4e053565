/*
 * Unique: slices of x along an axis (or elements) that differ, where each occurs first, which of
 * them each slice is, and how often each occurs; in order of value, or of first occurrence.
 */
#include "kernels.h"

/* x as `extent` slices, each of outer x inner elements. */
typedef struct slices_t {
  const tenon__array_t* x;
  tenon__axis_view_t view;
} slices_t;

static slices_t slices_of(const tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  slices_t slices = {x, {1, x->count, 1}};
  if (tenon__work_int(work, "flat") == 0) {
    slices.view = tenon__axis_view(x, tenon__axis_wrap(tenon__work_int(work, "axis"), x->rank));
  }
  return slices;
}

/* Element `item` of slice `at`. */
static tenon__number_t slice_item(const slices_t* slices, int64_t at, int64_t item) {
  const tenon__axis_view_t* view = &slices->view;
  int64_t outer = item / view->inner;
  return slices->x->at[(outer * view->extent + at) * view->inner + item % view->inner];
}

static int compare_slices(const slices_t* slices, int64_t a, int64_t b) {
  for (int64_t item = 0; item < slices->view.outer * slices->view.inner; ++item) {
    int order = tenon__number_compare(slices->x->dtype, slice_item(slices, a, item),
                                      slice_item(slices, b, item));
    if (order != 0) {
      return order;
    }
  }
  return 0;
}

/* Scratch: extents of y, then for each slice: distinct slices, counts, numbers of slices. */
int64_t tenon__scratch_unique(const tenon__work_t* work) {
  slices_t slices = slices_of(work);
  return slices.x->rank + 1 + 3 * slices.view.extent;
}

typedef struct found_t {
  int64_t count;
  tenon__number_t* first; /* distinct slice -> where it occurs first */
  tenon__number_t* times; /* distinct slice -> how often */
  tenon__number_t* which; /* slice -> distinct slice */
} found_t;

/* Distinct slices in order of first occurrence. */
static void find_distinct(const slices_t* slices, found_t* found) {
  found->count = 0;
  for (int64_t at = 0; at < slices->view.extent; ++at) {
    int64_t known = 0;
    while (known < found->count && compare_slices(slices, found->first[known].i, at) != 0) {
      ++known;
    }
    if (known == found->count) {
      found->first[found->count].i = at;
      found->times[found->count++].i = 0;
    }
    ++found->times[known].i;
    found->which[at].i = known;
  }
}

/* Insertion sort of the distinct slices by value; keeps all three lists in step. */
static void sort_distinct(const slices_t* slices, found_t* found) {
  for (int64_t end = 1; end < found->count; ++end) {
    for (int64_t place = end;
         place > 0 && compare_slices(slices, found->first[place - 1].i, found->first[place].i) > 0;
         --place) {
      tenon__number_t first = found->first[place];
      tenon__number_t times = found->times[place];
      found->first[place] = found->first[place - 1];
      found->times[place] = found->times[place - 1];
      found->first[place - 1] = first;
      found->times[place - 1] = times;
    }
  }
  for (int64_t at = 0; at < slices->view.extent; ++at) {
    int64_t known = 0;
    while (compare_slices(slices, found->first[known].i, at) != 0) {
      ++known;
    }
    found->which[at].i = known;
  }
}

static tenon_status_t put_vector(tenon__work_t* work, uint32_t output,
                                 const tenon__number_t* numbers, const int64_t* count) {
  if (tenon__work_output(work, output) == NULL) {
    return TENON_OK;
  }
  tenon_status_t status = tenon__work_allocate(work, output, 1, count);
  for (int64_t place = 0; status == TENON_OK && place < *count; ++place) {
    status = tenon__work_put(work, output, place, numbers[place]);
  }
  return status;
}

/* The distinct slices side by side along the axis. */
static tenon_status_t put_slices(tenon__work_t* work, const slices_t* slices, const found_t* found,
                                 int64_t* dims) {
  const tenon__array_t* x = slices->x;
  bool flat = tenon__work_int(work, "flat") != 0;
  if (tenon__work_output(work, 0) == NULL) {
    return TENON_OK;
  }
  for (uint32_t axis = 0; axis < x->rank; ++axis) {
    dims[axis] = x->dims[axis];
  }
  dims[flat ? 0 : tenon__axis_wrap(tenon__work_int(work, "axis"), x->rank)] = found->count;
  tenon_status_t status = tenon__work_allocate(work, 0, flat ? 1 : x->rank, dims);
  const tenon__axis_view_t* view = &slices->view;
  for (int64_t at = 0; at < found->count; ++at) {
    for (int64_t item = 0; status == TENON_OK && item < view->outer * view->inner; ++item) {
      int64_t place = (item / view->inner * found->count + at) * view->inner + item % view->inner;
      status = tenon__work_put(work, 0, place, slice_item(slices, found->first[at].i, item));
    }
  }
  return status;
}

tenon_status_t tenon__compute_unique(tenon__work_t* work) {
  slices_t slices = slices_of(work);
  tenon__number_t* lists = work->scratch + slices.x->rank + 1;
  found_t found = {0, lists, lists + slices.view.extent, lists + 2 * slices.view.extent};
  find_distinct(&slices, &found);
  if (tenon__work_int(work, "sorted") != 0) {
    sort_distinct(&slices, &found);
  }
  tenon_status_t status = put_slices(work, &slices, &found, &work->scratch[0].i);
  if (status == TENON_OK) {
    status = put_vector(work, 1, found.first, &found.count);
  }
  if (status == TENON_OK) {
    status = put_vector(work, 2, found.which, &slices.view.extent);
  }
  return status == TENON_OK ? put_vector(work, 3, found.times, &found.count) : status;
}
