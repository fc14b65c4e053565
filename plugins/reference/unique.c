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

/* Scratch: extents of y, then for each slice: distinct slices, counts, numbers of slices, and two
 * lists to sort with. */
int64_t tenon__scratch_unique(const tenon__work_t* work) {
  slices_t slices = slices_of(work);
  return slices.x->rank + 1 + 5 * slices.view.extent;
}

typedef struct found_t {
  int64_t count;
  tenon__number_t* first; /* distinct slice -> where it occurs first */
  tenon__number_t* times; /* distinct slice -> how often */
  tenon__number_t* which; /* slice -> distinct slice */
  tenon__number_t* sorted;
  tenon__number_t* spare;
} found_t;

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* Merges the sorted parts [begin, middle) and [middle, end) of `from`; of equal ones the left first. */
static void merge(const slices_t* slices, const tenon__number_t* from, int64_t begin,
                  int64_t middle, int64_t end, tenon__number_t* to) {
  int64_t left = begin;
  int64_t right = middle;
  for (int64_t place = begin; place < end; ++place) {
    const bool takes_left =
        right == end || (left < middle && compare_slices(slices, from[left].i, from[right].i) <= 0);
    to[place] = takes_left ? from[left++] : from[right++];
  }
}

/* All slices in order of value, equal ones in order of occurrence. */
static void sort_slices(const slices_t* slices, found_t* found) {
  const int64_t count = slices->view.extent;
  for (int64_t at = 0; at < count; ++at) {
    found->sorted[at].i = at;
  }
  for (int64_t width = 1; width < count; width *= 2) {
    for (int64_t begin = 0; begin < count; begin += 2 * width) {
      merge(slices, found->sorted, begin, least(begin + width, count),
            least(begin + 2 * width, count), found->spare);
    }
    tenon__number_t* merged = found->spare;
    found->spare = found->sorted;
    found->sorted = merged;
  }
}

/* Distinct slices in order of value. */
static void find_distinct(const slices_t* slices, found_t* found) {
  sort_slices(slices, found);
  found->count = 0;
  for (int64_t place = 0; place < slices->view.extent; ++place) {
    const int64_t at = found->sorted[place].i;
    if (place == 0 || compare_slices(slices, found->sorted[place - 1].i, at) != 0) {
      found->first[found->count].i = at;
      found->times[found->count++].i = 0;
    }
    ++found->times[found->count - 1].i;
    found->which[at].i = found->count - 1;
  }
}

/* Puts the distinct slices in order of first occurrence: `sorted` is their new order, `spare` the new
 * number of each. */
static void order_by_occurrence(const slices_t* slices, found_t* found) {
  int64_t next = 0;
  for (int64_t at = 0; at < slices->view.extent; ++at) {
    const int64_t known = found->which[at].i;
    if (found->first[known].i == at) {
      found->sorted[next] = found->times[known];
      found->spare[known].i = next++;
    }
    found->which[at] = found->spare[known];
  }
  for (int64_t at = slices->view.extent - 1; at >= 0; --at) {
    const int64_t number = found->which[at].i;
    found->first[number].i = at;
    found->times[number] = found->sorted[number];
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
  const int64_t extent = slices.view.extent;
  found_t found = {
      0, lists, lists + extent, lists + 2 * extent, lists + 3 * extent, lists + 4 * extent};
  find_distinct(&slices, &found);
  if (tenon__work_int(work, "sorted") == 0) {
    order_by_occurrence(&slices, &found);
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
