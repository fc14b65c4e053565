/* Slices, and what indices pick. */
#include <inttypes.h>

#include "families.h"

/* ---- Slices ---- */

/* sizes of -1 reach the end. */
static void slice(tenon_make_t* make) {
  if (!tenon__uff_needs(make, 3)) {
    return;
  }
  int64_t begins[TENON_MAKE_LIST_LIMIT];
  int64_t sizes[TENON_MAKE_LIST_LIMIT];
  uint32_t count = 0;
  uint32_t size_count = 0;
  const tenon_value_t x = tenon_make_input(make, 0);
  tenon_value_t starts = tenon__uff_operand(make, 1);
  const tenon_value_t lengths = tenon__uff_operand(make, 2);
  tenon_value_t ends = {0};
  if (tenon_make_known_ints(make, starts, begins, TENON_MAKE_LIST_LIMIT, &count) &&
      tenon_make_known_ints(make, lengths, sizes, TENON_MAKE_LIST_LIMIT, &size_count) &&
      count == size_count) {
    for (uint32_t i = 0; i < count; ++i) {
      if (begins[i] < 0 || sizes[i] < -1) {
        tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                        "it begins at %" PRId64 " and has %" PRId64 " elements along axis %u",
                        begins[i], sizes[i], i);
        return;
      }
      sizes[i] =
          sizes[i] < 0 || sizes[i] > INT64_MAX - begins[i] ? INT64_MAX : begins[i] + sizes[i];
    }
    starts = tenon_make_int64s(make, begins, count);
    ends = tenon_make_int64s(make, sizes, count);
  } else {
    ends = tenon_make_math_2(make, "y = b < 0 ? 4611686018427387904 : a + b", starts, lengths);
  }
  tenon_make_output(make, 0, tenon_make_3(make, "strided_slice", x, starts, ends));
}

/* One entry of a strided slice for each axis that it names, in order; what follows is whole. */
typedef struct slice_t {
  int64_t axes[TENON_MAKE_LIST_LIMIT];
  int64_t steps[TENON_MAKE_LIST_LIMIT];
  tenon_value_t starts[TENON_MAKE_LIST_LIMIT]; /* vectors of one element */
  tenon_value_t ends[TENON_MAKE_LIST_LIMIT];
  uint32_t count;
  int64_t dropped[TENON_MAKE_LIST_LIMIT]; /* axes of the slice that go */
  uint32_t dropped_count;
  int64_t added[TENON_MAKE_LIST_LIMIT]; /* axes of the result that come */
  uint32_t added_count;
} slice_t;

typedef struct masks_t {
  int64_t begin;
  int64_t end;
  int64_t ellipsis;
  int64_t new_axis;
  int64_t shrink;
} masks_t;

static masks_t read_masks(tenon_make_t* make) {
  return (masks_t){
      tenon_make_get_int(make, "begin_mask", 0), tenon_make_get_int(make, "end_mask", 0),
      tenon_make_get_int(make, "ellipsis_mask", 0), tenon_make_get_int(make, "new_axis_mask", 0),
      tenon_make_get_int(make, "shrink_axis_mask", 0)};
}

static bool has_bit(int64_t mask, uint32_t bit) {
  return bit < 63 && (mask >> bit & 1) != 0;
}

/* Entry `index` of an operand, as a vector of one. Known numbers are constants of their own. */
static tenon_value_t entry(tenon_make_t* make, tenon_value_t operand, uint32_t index,
                           int64_t* out_known, bool* out_is_known) {
  int64_t number = 0;
  const tenon_value_type_t type = tenon_make_type(make, operand);
  if (tenon_make_ok(make) && (type.rank != 1 || (type.dims[0] >= 0 && index >= type.dims[0]))) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "its lists of begins and ends are shorter than that of strides");
  }
  *out_is_known = tenon_make_ok(make) && type.has_contents != 0 &&
                  make->build->content(make->builder, operand, index, &number) == 1;
  *out_known = number;
  return *out_is_known ? tenon_make_int64s(make, &number, 1)
                       : tenon_make_slice(make, operand, 0, index, (int64_t)index + 1);
}

/* One element alone: from it to the next one. -1 is the last, of which there is no next one. */
static void set_single(tenon_make_t* make, slice_t* slice, uint32_t at, tenon_value_t start,
                       int64_t known, bool is_known) {
  const int64_t next = known == -1 || known == INT64_MAX ? INT64_MAX : known + 1;
  const uint32_t axis = (uint32_t)slice->axes[at];
  const int64_t extent = tenon_make_dim(make, tenon_make_input(make, 0), axis);
  if (is_known && extent >= 0 && (known >= extent || known < -extent)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "it takes element %" PRId64 " of axis %u, which has %" PRId64, known, axis,
                    extent);
  }
  slice->starts[at] = start;
  slice->ends[at] =
      is_known ? tenon_make_int64s(make, &next, 1)
               : tenon_make_math_1(make, "y = a == -1 ? 4611686018427387904 : a + 1", start);
  slice->steps[at] = 1;
}

static void set_entry(tenon_make_t* make, slice_t* slice, const masks_t* masks, uint32_t index,
                      int64_t step) {
  const uint32_t at = slice->count++;
  const int64_t first = step > 0 ? 0 : INT64_MAX;
  const int64_t last = step > 0 ? INT64_MAX : INT64_MIN;
  int64_t known = 0;
  bool is_known = false;
  const tenon_value_t start = entry(make, tenon__uff_operand(make, 1), index, &known, &is_known);
  slice->steps[at] = step;
  if (has_bit(masks->shrink, index)) {
    set_single(make, slice, at, start, known, is_known);
    slice->dropped[slice->dropped_count++] = slice->axes[at];
    return;
  }
  slice->starts[at] = has_bit(masks->begin, index) ? tenon_make_int64s(make, &first, 1) : start;
  slice->ends[at] = has_bit(masks->end, index)
                        ? tenon_make_int64s(make, &last, 1)
                        : entry(make, tenon__uff_operand(make, 2), index, &known, &is_known);
}

/* Walks the entries: an axis each, but for the ellipsis and for new axes. */
static bool read_slice(tenon_make_t* make, uint32_t rank, const int64_t* steps, uint32_t count,
                       slice_t* out) {
  const masks_t masks = read_masks(make);
  uint32_t plain = 0;
  for (uint32_t i = 0; i < count; ++i) {
    plain += has_bit(masks.ellipsis, i) || has_bit(masks.new_axis, i) ? 0 : 1;
  }
  if (plain > rank || masks.ellipsis < 0 || (masks.ellipsis & (masks.ellipsis - 1)) != 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "%u entries for rank %u, ellipsis_mask %" PRId64, plain, rank, masks.ellipsis);
    return false;
  }
  int64_t axis = 0;
  int64_t result_axis = 0;
  for (uint32_t i = 0; i < count && tenon_make_ok(make); ++i) {
    if (has_bit(masks.ellipsis, i)) {
      axis += rank - plain;
      result_axis += rank - plain;
    } else if (has_bit(masks.new_axis, i)) {
      out->added[out->added_count++] = result_axis++;
    } else {
      out->axes[out->count] = axis++;
      set_entry(make, out, &masks, i, steps[i]);
      result_axis += has_bit(masks.shrink, i) ? 0 : 1;
    }
  }
  return tenon_make_ok(make);
}

static void strided_slice(tenon_make_t* make) {
  int64_t steps[TENON_MAKE_LIST_LIMIT];
  uint32_t count = 0;
  if (!tenon__uff_known(make, 3, "list of strides", steps, &count)) {
    return;
  }
  tenon_value_t value = tenon_make_input(make, 0);
  slice_t* slice = tenon_make_memory(make, 1, sizeof(*slice));
  if (slice == NULL || !read_slice(make, tenon_make_rank(make, value), steps, count, slice)) {
    return;
  }
  if (slice->count > 0) {
    const tenon_value_t starts = tenon_make_concat(make, 0, slice->count, slice->starts);
    const tenon_value_t ends = tenon_make_concat(make, 0, slice->count, slice->ends);
    const tenon_value_t axes = tenon_make_int64s(make, slice->axes, slice->count);
    const tenon_value_t strides = tenon_make_int64s(make, slice->steps, slice->count);
    tenon_make_begin(make, "strided_slice");
    tenon_make_add(make, value);
    tenon_make_add(make, starts);
    tenon_make_add(make, ends);
    tenon_make_add(make, axes);
    tenon_make_add(make, strides);
    value = tenon_make_end(make);
  }
  if (slice->dropped_count > 0) {
    tenon_make_begin(make, "squeeze");
    tenon_make_set_ints(make, "fixed_axes", slice->dropped, slice->dropped_count);
    tenon_make_add(make, value);
    value = tenon_make_end(make);
  }
  if (slice->added_count > 0) {
    value = tenon_make_unsqueeze(make, value, slice->added, slice->added_count);
  }
  tenon_make_output(make, 0, value);
}

static void reverse(tenon_make_t* make) {
  int64_t axes[TENON_MAKE_LIST_LIMIT];
  int64_t starts[TENON_MAKE_LIST_LIMIT];
  int64_t ends[TENON_MAKE_LIST_LIMIT];
  int64_t steps[TENON_MAKE_LIST_LIMIT];
  uint32_t count = 0;
  if (!tenon__uff_known(make, 1, "list of axes", axes, &count)) {
    return;
  }
  for (uint32_t i = 0; i < count; ++i) {
    starts[i] = INT64_MAX;
    ends[i] = INT64_MIN;
    steps[i] = -1;
  }
  if (count == 0) {
    tenon__uff_same_input(make);
    return;
  }
  const tenon_value_t lists[4] = {
      tenon_make_int64s(make, starts, count), tenon_make_int64s(make, ends, count),
      tenon_make_int64s(make, axes, count), tenon_make_int64s(make, steps, count)};
  tenon_make_begin(make, "strided_slice");
  tenon_make_add(make, tenon_make_input(make, 0));
  for (uint32_t i = 0; i < 4; ++i) {
    tenon_make_add(make, lists[i]);
  }
  tenon_make_output(make, 0, tenon_make_end(make));
}

/* ---- Picking ---- */

static void gather_along(tenon_make_t* make, int64_t axis) {
  tenon_make_output(
      make, 0, tenon_make_gather(make, tenon_make_input(make, 0), tenon_make_input(make, 1), axis));
}

static void gather(tenon_make_t* make) {
  if (tenon__uff_needs(make, 2)) {
    gather_along(make, 0);
  }
}

/* Each row of a batch with indices of its own: what they pick are slices after the batch axes. */
static void gather_in_batches(tenon_make_t* make, int64_t axis, int64_t batch_dims) {
  const int64_t last = -1;
  if (axis != batch_dims) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "batch_dims %" PRId64 " with axis %" PRId64 ": they must be the same",
                    batch_dims, axis);
    return;
  }
  const tenon_value_t indices = tenon_make_unsqueeze(make, tenon__uff_operand(make, 1), &last, 1);
  tenon_make_begin(make, "gather_nd");
  tenon_make_set_int(make, "batch_dims", batch_dims);
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_add(make, indices);
  tenon_make_output(make, 0, tenon_make_end(make));
}

static void gather_v2(tenon_make_t* make) {
  int64_t axis = tenon_make_get_int(make, "axis", 0); /* UFF's converter puts it there */
  int64_t batch_dims = tenon_make_get_int(make, "batch_dims", 0);
  if (make->input_count > 2) {
    axis = tenon__uff_known_one(make, 2, "axis");
  }
  if (!tenon__uff_needs(make, 2)) {
    return;
  }
  if (batch_dims < 0) {
    batch_dims += tenon_make_rank(make, tenon_make_input(make, 1));
  }
  if (axis < 0) {
    axis += tenon_make_rank(make, tenon_make_input(make, 0));
  }
  if (batch_dims == 0) {
    gather_along(make, axis);
  } else {
    gather_in_batches(make, axis, batch_dims);
  }
}

static void gather_nd(tenon_make_t* make) {
  if (tenon__uff_needs(make, 2)) {
    tenon_make_output(
        make, 0,
        tenon_make_2(make, "gather_nd", tenon_make_input(make, 0), tenon__uff_operand(make, 1)));
  }
}

static void one_hot(tenon_make_t* make) {
  if (!tenon__uff_needs(make, 4)) {
    return;
  }
  const int64_t axis = tenon_make_get_int(make, "axis", -1);
  const tenon_value_t places = tenon_make_unsqueeze(make, tenon__uff_operand(make, 0), &axis, 1);
  const tenon_value_t depth = tenon__uff_operand(make, 1);
  /* The operator counts negative ones from the end; here they are nowhere. */
  const tenon_value_t indices = tenon_make_math_2(make, "y = a < 0 ? b : a", places, depth);
  tenon_make_begin(make, "one_hot");
  tenon_make_set_int(make, "axis", axis);
  tenon_make_add(make, indices);
  tenon_make_add(make, depth);
  tenon_make_add(make, tenon_make_input(make, 3)); /* off, then on */
  tenon_make_add(make, tenon_make_input(make, 2));
  tenon_make_output(make, 0, tenon_make_end(make));
}

static void top_k(tenon_make_t* make) {
  if (!tenon__uff_needs(make, 2)) {
    return;
  }
  tenon_value_t found[2] = {{0}, {0}};
  const tenon_value_t k = tenon__uff_operand(make, 1);
  tenon_make_begin(make, "top_k");
  tenon_make_pass(make, "sorted", "sorted");
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_add(make, k);
  tenon_make_end_many(make, found, 2);
  tenon_make_output(make, 0, found[0]);
  tenon_make_output(make, 1, tenon__uff_as_type(make, found[1], "index_type", TENON_DTYPE_INT32));
}

/* Where a condition holds: a row of coordinates each. */
static void where(tenon_make_t* make) {
  static const int64_t turned[2] = {1, 0};
  if (tenon__uff_needs(make, 1)) {
    const tenon_value_t found = tenon_make_1(make, "nonzero", tenon_make_input(make, 0));
    tenon_make_output(make, 0, tenon_make_permute(make, found, turned, 2));
  }
}

#define UFF(type, function) TENON__UFF_ROW(type, function, NULL, NULL)
#define TF(type, function) TENON__UFF_TF_ROW(type, function, NULL, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    UFF("Gather", gather), UFF("GatherV2", gather_v2),        UFF("StridedSlice", strided_slice),

    TF("Gather", gather),  TF("GatherNd", gather_nd),         TF("GatherV2", gather_v2),
    TF("OneHot", one_hot), TF("ResourceGather", gather_v2),   TF("ReverseV2", reverse),
    TF("Slice", slice),    TF("StridedSlice", strided_slice), TF("TopKV2", top_k),
    TF("Where", where),
};
TENON__UFF_FAMILY(indexing);
