/* Layers that only move elements. */
#include <inttypes.h>

#include "families.h"

/* The axis of a layer that has a newer and an older name for it. */
static int64_t axis_of(tenon_make_t* make, const char* name, const char* older) {
  const char* field = !tenon_make_has(make, name) && tenon_make_has(make, older) ? older : name;
  return tenon_make_axis(make, tenon_make_get_int(make, field, 1),
                         tenon_make_rank(make, tenon_make_input(make, 0)));
}

static void concatenate(tenon_make_t* make) {
  const int64_t axis = axis_of(make, "concat_param.axis", "concat_param.concat_dim");
  if (make->input_count == 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "it has no bottoms");
    return;
  }
  tenon_make_output(make, 0, tenon_make_concat(make, axis, make->input_count, make->inputs));
}

/* Pieces between the points, or as many equal ones as there are tops. */
static void slice(tenon_make_t* make) {
  const int64_t axis = axis_of(make, "slice_param.axis", "slice_param.slice_dim");
  const int64_t extent = tenon__caffe_extent(make, tenon_make_input(make, 0), axis);
  const int64_t* points = NULL;
  size_t count = 0;
  const bool has_points = tenon_make_get_ints(make, "slice_param.slice_point", &points, &count);
  int64_t* sizes = tenon_make_memory(make, make->output_count, sizeof(*sizes));
  if (make->output_count == 0 ||
      (has_points ? count + 1 != make->output_count : extent % make->output_count != 0)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "extent %" PRId64 " and %zu points do not make %u tops", extent, count,
                    make->output_count);
  }
  int64_t last = 0;
  for (uint32_t i = 0; tenon_make_ok(make) && i < make->output_count; ++i) {
    const int64_t next = !has_points  ? last + extent / make->output_count
                         : i == count ? extent
                                      : points[i];
    sizes[i] = next - last;
    if (next < last || next > extent) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                      "slice point %" PRId64 " does not lie between %" PRId64 " and %" PRId64, next,
                      last, extent);
    }
    last = next;
  }
  const tenon_value_t pieces = tenon_make_int64s(make, sizes, make->output_count);
  tenon_make_begin(make, "split");
  tenon_make_set_int(make, "axis", axis);
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_add(make, pieces);
  tenon_make_set_output_count(make, make->output_count);
  tenon_make_end_outputs(make);
}

static void split(tenon_make_t* make) {
  for (uint32_t i = 0; i < make->output_count; ++i) {
    tenon_make_output(make, i, tenon_make_1(make, "pass_through", tenon_make_input(make, 0)));
  }
}

static void silence(tenon_make_t* make) {
  if (make->output_count > 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "it has tops");
  }
}

/* Axes [begin, end) of the bottom become `count` new ones; 0 among them copies, -1 is the rest. */
static void replace_axes(tenon_make_t* make, int64_t begin, int64_t end, const int64_t* dims,
                         size_t count) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const uint32_t rank = tenon_make_rank(make, x);
  int64_t all[2 * TENON_MAKE_LIST_LIMIT] = {0};
  bool has_rest = false;
  size_t used = (size_t)begin;
  if (count > TENON_MAKE_LIST_LIMIT || (int64_t)count + rank > TENON_MAKE_LIST_LIMIT) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "it has %zu new extents", count);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    has_rest = has_rest || dims[i] == -1;
    all[used++] = dims[i];
  }
  for (int64_t i = end; i < (int64_t)rank; ++i) { /* an unknown extent may be the rest */
    const int64_t extent = tenon_make_dim(make, x, (uint32_t)i);
    const bool copies = extent < 0 && (size_t)i == used;
    if (extent < 0 && !copies && has_rest) {
      tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                      "extents behind the axes that it replaces are not known");
    }
    has_rest = has_rest || (extent < 0 && !copies);
    all[used++] = copies ? 0 : extent;
  }
  tenon_make_output(make, 0, tenon_make_reshape(make, x, all, used));
}

static void flatten(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const uint32_t rank = tenon_make_rank(make, x);
  const int64_t begin =
      tenon_make_axis(make, tenon_make_get_int(make, "flatten_param.axis", 1), rank);
  const int64_t last =
      tenon_make_axis(make, tenon_make_get_int(make, "flatten_param.end_axis", -1), rank);
  if (last < begin) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "end_axis %" PRId64 " lies before axis %" PRId64, last, begin);
    return;
  }
  const int64_t known = tenon_make_elements(make, x, (uint32_t)begin, (uint32_t)last + 1);
  replace_axes(make, begin, last + 1, &known, 1);
}

static void reshape(tenon_make_t* make) {
  const uint32_t rank = tenon_make_rank(make, tenon_make_input(make, 0));
  const int64_t given = tenon_make_get_int(make, "reshape_param.axis", 0);
  const int64_t replaced = tenon_make_get_int(make, "reshape_param.num_axes", -1);
  const int64_t begin = given >= 0 ? given : (int64_t)rank + given + 1;
  const int64_t end = replaced == -1 ? (int64_t)rank : begin + replaced;
  const int64_t* dims = NULL;
  size_t count = 0;
  (void)tenon_make_get_ints(make, "reshape_param.shape.dim", &dims, &count);
  if (begin < 0 || begin > (int64_t)rank || end < begin || end > (int64_t)rank) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "axis %" PRId64 " and num_axes %" PRId64 " do not fit rank %u", given, replaced,
                    rank);
    return;
  }
  replace_axes(make, begin, end, dims, count);
}

/* Axes that are not named follow in their order. */
static void permute(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const uint32_t rank = tenon_make_rank(make, x);
  const int64_t* order = NULL;
  size_t count = 0;
  bool is_used[TENON_MAKE_LIST_LIMIT] = {false};
  int64_t perm[TENON_MAKE_LIST_LIMIT];
  (void)tenon_make_get_ints(make, "permute_param.order", &order, &count);
  for (size_t i = 0; i < count; ++i) {
    if (i >= rank || order[i] < 0 || order[i] >= (int64_t)rank || is_used[order[i]]) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                      "order %" PRId64 " is no axis of rank %u, or stands twice", order[i], rank);
      return;
    }
    is_used[order[i]] = true;
    perm[i] = order[i];
  }
  for (int64_t axis = 0; axis < (int64_t)rank; ++axis) {
    if (!is_used[axis]) {
      perm[count++] = axis;
    }
  }
  tenon_make_output(make, 0, tenon_make_permute(make, x, perm, rank));
}

static void tile(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const uint32_t rank = tenon_make_rank(make, x);
  const int64_t axis = tenon_make_axis(make, tenon_make_get_int(make, "tile_param.axis", 1), rank);
  const int64_t tiles = tenon_make_get_int(make, "tile_param.tiles", 0);
  int64_t repeats[TENON_MAKE_LIST_LIMIT];
  if (tiles < 1) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "tiles is %" PRId64, tiles);
  }
  for (uint32_t i = 0; i < rank; ++i) {
    repeats[i] = i == (uint64_t)axis ? tiles : 1;
  }
  tenon_make_output(make, 0, tenon_make_2(make, "tile", x, tenon_make_int64s(make, repeats, rank)));
}

/* What lies outside would be cut off silently. */
static void check_crop(tenon_make_t* make, int64_t axis, int64_t offset) {
  const int64_t there = tenon_make_dim(make, tenon_make_input(make, 0), (uint32_t)axis);
  const int64_t wanted = tenon_make_dim(make, tenon_make_input(make, 1), (uint32_t)axis);
  if (offset < 0 || (there >= 0 && wanted >= 0 && there - offset < wanted)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "%" PRId64 " elements from %" PRId64 " on, along axis %" PRId64
                    ", are not in an extent of %" PRId64,
                    wanted, offset, axis, there);
  }
}

/* From `axis` on, to the extents of the second bottom. */
static void crop(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const uint32_t rank = tenon_make_rank(make, x);
  const int64_t axis = tenon_make_axis(make, tenon_make_get_int(make, "crop_param.axis", 2), rank);
  const size_t cut = (size_t)((int64_t)rank - axis);
  const int64_t* offsets = NULL;
  size_t count = 0;
  int64_t starts[TENON_MAKE_LIST_LIMIT] = {0};
  int64_t axes[TENON_MAKE_LIST_LIMIT];
  (void)tenon_make_get_ints(make, "crop_param.offset", &offsets, &count);
  if ((count > 1 && count != cut) || tenon_make_rank(make, tenon_make_input(make, 1)) != rank) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "%zu offsets for %zu axes, bottoms of ranks %u and %u", count, cut, rank,
                    tenon_make_rank(make, tenon_make_input(make, 1)));
    return;
  }
  for (size_t i = 0; i < cut; ++i) {
    starts[i] = count == 0 ? 0 : offsets[count == 1 ? 0 : i];
    axes[i] = axis + (int64_t)i;
    check_crop(make, axes[i], starts[i]);
  }
  const tenon_value_t extents = tenon_make_slice(
      make, tenon_make_shape(make, tenon_make_input(make, 1)), 0, axis, (int64_t)rank);
  const tenon_value_t from = tenon_make_int64s(make, starts, cut);
  const tenon_value_t to = tenon_make_2(make, "add", from, extents);
  const tenon_value_t where = tenon_make_int64s(make, axes, cut);
  tenon_make_begin(make, "strided_slice");
  tenon_make_add(make, x);
  tenon_make_add(make, from);
  tenon_make_add(make, to);
  tenon_make_add(make, where);
  tenon_make_output(make, 0, tenon_make_end(make));
}

/* [N, groups, C / groups, ...] becomes [N, C / groups, groups, ...]. */
static void shuffle_channels(tenon_make_t* make) {
  static const int64_t swapped[4] = {0, 2, 1, 3};
  const tenon_value_t x = tenon_make_input(make, 0);
  const int64_t groups = tenon_make_get_int(make, "shuffle_channel_param.group", 1);
  const int64_t channels = tenon__caffe_extent(make, x, 1);
  if (groups < 1 || channels % groups != 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "%" PRId64 " channels do not divide into %" PRId64 " groups", channels, groups);
    return;
  }
  const int64_t grouped[4] = {0, groups, channels / groups, -1};
  const tenon_value_t apart = tenon_make_reshape(make, x, grouped, 4);
  const tenon_value_t mixed = tenon_make_permute(make, apart, swapped, 4);
  tenon_make_output(make, 0, tenon_make_2(make, "reshape", mixed, tenon_make_shape(make, x)));
}

#define ROW(type, function) TENON__CAFFE_ROW("", type, function, NULL, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    ROW("Concat", concatenate), ROW("Crop", crop),       ROW("Flatten", flatten),
    ROW("Permute", permute),    ROW("Reshape", reshape), ROW("ShuffleChannel", shuffle_channels),
    ROW("Silence", silence),    ROW("Slice", slice),     ROW("Split", split),
    ROW("Tile", tile),
};
TENON__CAFFE_FAMILY(movement);
