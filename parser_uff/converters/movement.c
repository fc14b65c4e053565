/* Data movement: elements keep their values and change their places. */
#include <inttypes.h>
#include <string.h>

#include "families.h"

/* ---- Extents ---- */

static void reshape(tenon_make_t* make) {
  int64_t dims[TENON_MAKE_LIST_LIMIT];
  uint32_t count = 0;
  if (!tenon__uff_needs(make, 2)) {
    return;
  }
  const tenon_value_t operand = tenon__uff_operand(make, 1);
  /* A 0 would be the extent of x; here it is a 0. */
  tenon_make_begin(make, "reshape");
  const bool is_known =
      tenon_make_known_ints(make, operand, dims, TENON_MAKE_LIST_LIMIT, &count) && count > 0;
  tenon_make_set_int(make, "allow_zero", 1);
  if (is_known) {
    tenon_make_set_ints(make, "fixed_dims", dims, count);
  }
  tenon_make_add(make, tenon_make_input(make, 0));
  if (!is_known) {
    tenon_make_add(make, operand);
  }
  tenon_make_output(make, 0, tenon_make_end(make));
}

static void transpose(tenon_make_t* make) {
  int64_t perm[TENON_MAKE_LIST_LIMIT];
  uint32_t count = 0;
  if (tenon__uff_known(make, 1, "permutation", perm, &count)) {
    tenon_make_output(make, 0, tenon_make_permute(make, tenon_make_input(make, 0), perm, count));
  }
}

static void uff_transpose(tenon_make_t* make) {
  const int64_t* perm = NULL;
  size_t count = 0;
  if (!tenon__uff_needs(make, 1)) {
    return;
  }
  if (!tenon_make_get_ints(make, "permutation", &perm, &count)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "it has no permutation");
    return;
  }
  tenon_make_output(make, 0, tenon_make_permute(make, tenon_make_input(make, 0), perm, count));
}

static void expand_at(tenon_make_t* make, int64_t axis) {
  if (tenon_make_ok(make)) {
    tenon_make_output(make, 0, tenon_make_unsqueeze(make, tenon_make_input(make, 0), &axis, 1));
  }
}

static void expand_dims(tenon_make_t* make) {
  expand_at(make, tenon__uff_known_one(make, 1, "axis"));
}

static void uff_expand_dims(tenon_make_t* make) {
  if (tenon__uff_needs(make, 1)) {
    expand_at(make, tenon_make_get_int(make, "axis", 0));
  }
}

/* No axes: every axis known to have extent 1. */
static void squeeze(tenon_make_t* make) {
  const int64_t* axes = NULL;
  size_t count = 0;
  if (!tenon__uff_needs(make, 1)) {
    return;
  }
  (void)(tenon_make_get_ints(make, "squeeze_dims", &axes, &count) ||
         tenon_make_get_ints(make, "axis", &axes, &count) ||
         tenon_make_get_ints(make, "axes", &axes, &count));
  tenon_make_begin(make, "squeeze");
  if (count > 0) {
    tenon_make_set_ints(make, "fixed_axes", axes, count);
  }
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_output(make, 0, tenon_make_end(make));
}

/* ---- Joining and parting ---- */

static void join(tenon_make_t* make, int64_t axis, uint32_t first, uint32_t count) {
  if (tenon_make_ok(make) && count == 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "it joins nothing");
  }
  if (tenon_make_ok(make)) {
    tenon_make_output(make, 0, tenon_make_concat(make, axis, count, make->inputs + first));
  }
}

static void concat_v2(tenon_make_t* make) {
  if (tenon__uff_needs(make, 2)) {
    const uint32_t last = make->input_count - 1;
    join(make, tenon__uff_known_one(make, last, "axis"), 0, last);
  }
}

static void concat(tenon_make_t* make) {
  join(make, tenon__uff_known_one(make, 0, "axis"), 1,
       make->input_count > 0 ? make->input_count - 1 : 0);
}

static void uff_concat(tenon_make_t* make) {
  join(make, tenon_make_get_int(make, "axis", 0), 0, make->input_count);
}

/* Pack, Stack: each gets a new axis. */
static void stack(tenon_make_t* make) {
  const int64_t axis = tenon_make_get_int(make, "axis", 0);
  tenon_value_t* parts = tenon_make_memory(make, make->input_count, sizeof(*parts));
  if (parts == NULL || !tenon__uff_needs(make, 1)) {
    return;
  }
  for (uint32_t i = 0; i < make->input_count; ++i) {
    parts[i] = tenon_make_unsqueeze(make, tenon_make_input(make, i), &axis, 1);
  }
  if (tenon_make_ok(make)) {
    tenon_make_output(make, 0, tenon_make_concat(make, axis, make->input_count, parts));
  }
}

/* `sizes` absent: parts of one size. */
static tenon_value_t* part(tenon_make_t* make, tenon_value_t x, int64_t axis, tenon_value_t sizes) {
  tenon_value_t* parts = tenon_make_memory(make, make->output_count, sizeof(*parts));
  if (parts == NULL || !tenon_make_ok(make)) {
    return NULL;
  }
  tenon_make_begin(make, "split");
  tenon_make_set_int(make, "axis", axis);
  if (!tenon_make_present(sizes)) {
    tenon_make_set_int(make, "parts", make->output_count);
    tenon_make_set_int(make, "equal", 1);
  }
  tenon_make_add(make, x);
  if (tenon_make_present(sizes)) {
    tenon_make_add(make, sizes);
  }
  tenon_make_set_output_count(make, make->output_count);
  tenon_make_end_many(make, parts, make->output_count);
  return tenon_make_ok(make) ? parts : NULL;
}

static bool check_count(tenon_make_t* make, const char* attribute) {
  const int64_t count = tenon_make_get_int(make, attribute, make->output_count);
  if (count != make->output_count) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "its %s is %" PRId64 ", %u outputs are read",
                    attribute, count, make->output_count);
  }
  return tenon_make_ok(make);
}

static void set_parts(tenon_make_t* make, const tenon_value_t* parts) {
  if (parts != NULL) {
    for (uint32_t i = 0; i < make->output_count; ++i) {
      tenon_make_output(make, i, parts[i]);
    }
  }
}

static void split(tenon_make_t* make) {
  const int64_t axis = tenon__uff_known_one(make, 0, "axis");
  if (check_count(make, "num_split") && tenon__uff_needs(make, 2)) {
    set_parts(make, part(make, tenon_make_input(make, 1), axis, (tenon_value_t){0}));
  }
}

/* One size may be -1: what is left. */
static void split_v(tenon_make_t* make) {
  int64_t sizes[TENON_MAKE_LIST_LIMIT];
  uint32_t count = 0;
  const int64_t axis = tenon__uff_known_one(make, 2, "axis");
  if (!check_count(make, "num_split") ||
      !tenon__uff_known(make, 1, "list of sizes", sizes, &count)) {
    return;
  }
  const tenon_value_t x = tenon_make_input(make, 0);
  const uint32_t rank = tenon_make_rank(make, x);
  const int64_t whole = tenon_make_dim(make, x, (uint32_t)tenon_make_axis(make, axis, rank));
  int64_t sum = 0;
  uint32_t open = TENON_NONE;
  for (uint32_t i = 0; i < count; ++i) {
    if (sizes[i] < 0) {
      open = i;
    } else {
      sum = tenon__uff_sum(make, sum, sizes[i]);
    }
  }
  if (open != TENON_NONE && whole >= 0) {
    sizes[open] = whole - sum;
  }
  if (tenon_make_ok(make) && open != TENON_NONE && whole < 0) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "one of its sizes is open, and so is the extent that is split");
  }
  set_parts(make, part(make, x, axis, tenon_make_int64s(make, sizes, count)));
}

static void unpack(tenon_make_t* make) {
  const int64_t axis = tenon_make_get_int(make, "axis", 0);
  if (!check_count(make, "num") || !tenon__uff_needs(make, 1)) {
    return;
  }
  const tenon_value_t* parts = part(make, tenon_make_input(make, 0), axis, (tenon_value_t){0});
  if (parts != NULL) {
    for (uint32_t i = 0; i < make->output_count; ++i) {
      tenon_make_output(make, i, tenon_make_squeeze(make, parts[i], axis));
    }
  }
}

/* ---- Borders ---- */

/* [[before, behind], ...] as all before, then all behind. */
static tenon_value_t border(tenon_make_t* make) {
  const int64_t turned[2] = {1, 0};
  const int64_t flat[1] = {-1};
  const tenon_value_t pads = tenon__uff_operand(make, 1);
  return tenon_make_reshape(make, tenon_make_permute(make, pads, turned, 2), flat, 1);
}

/* Elements from `start` back to before `end`, along an axis. */
static tenon_value_t backwards(tenon_make_t* make, tenon_value_t x, uint32_t axis, int64_t start,
                               int64_t end) {
  const int64_t lists[4] = {start, end, axis, -1};
  tenon_value_t values[4];
  for (uint32_t i = 0; i < 4; ++i) {
    values[i] = tenon_make_int64s(make, &lists[i], 1);
  }
  tenon_make_begin(make, "strided_slice");
  tenon_make_add(make, x);
  for (uint32_t i = 0; i < 4; ++i) {
    tenon_make_add(make, values[i]);
  }
  return tenon_make_end(make);
}

/* SYMMETRIC has the outermost elements twice, REFLECT once: the first ones stand backwards before
 * the axis, the last ones behind it. */
static tenon_value_t mirrored_axis(tenon_make_t* make, tenon_value_t x, uint32_t axis,
                                   const int64_t* pads, bool is_reflected) {
  const int64_t extent = tenon_make_dim(make, x, axis);
  const int64_t skip = is_reflected ? 1 : 0;
  const int64_t most = extent - skip;
  if (extent < 0 || pads[0] < 0 || pads[1] < 0 || pads[0] > most || pads[1] > most) {
    tenon_make_fail(make, extent < 0 ? TENON_ERROR_UNSUPPORTED : TENON_ERROR_INVALID_DATA,
                    "extent %" PRId64 " of axis %u has a mirrored border of %" PRId64
                    " and %" PRId64,
                    extent, axis, pads[0], pads[1]);
    return x;
  }
  tenon_value_t parts[3];
  uint32_t count = 0;
  if (pads[0] > 0) {
    parts[count++] = backwards(make, x, axis, pads[0] - 1 + skip, is_reflected ? 0 : INT64_MIN);
  }
  parts[count++] = x;
  if (pads[1] > 0) {
    parts[count++] = backwards(make, x, axis, -1 - skip, -1 - skip - pads[1]);
  }
  return tenon_make_concat(make, axis, count, parts);
}

static void mirror_pad(tenon_make_t* make) {
  const char* mode = tenon_make_get_string(make, "mode", "");
  const bool is_reflected = strcmp(mode, "REFLECT") == 0;
  int64_t pads[TENON_MAKE_LIST_LIMIT];
  uint32_t count = 0;
  if (!is_reflected && strcmp(mode, "SYMMETRIC") != 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "its mode is '%s', not REFLECT or SYMMETRIC",
                    mode);
    return;
  }
  if (!tenon__uff_known(make, 1, "border", pads, &count)) {
    return;
  }
  tenon_value_t value = tenon_make_input(make, 0);
  if (count != 2 * tenon_make_rank(make, value)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "its border has %u numbers", count);
  }
  for (size_t axis = 0; 2 * axis < count && tenon_make_ok(make); ++axis) {
    if (pads[2 * axis] != 0 || pads[2 * axis + 1] != 0) {
      value = mirrored_axis(make, value, (uint32_t)axis, pads + 2 * axis, is_reflected);
    }
  }
  tenon_make_output(make, 0, value);
}

static void pad(tenon_make_t* make) {
  if (!tenon__uff_needs(make, 2)) {
    return;
  }
  const tenon_value_t pads = border(make);
  tenon_make_begin(make, "pad");
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_add(make, pads);
  if (tenon_make_has_input(make, 2)) {
    tenon_make_add(make, tenon_make_input(make, 2));
  }
  tenon_make_output(make, 0, tenon_make_end(make));
}

static void tile(tenon_make_t* make) {
  if (tenon__uff_needs(make, 2)) {
    tenon_make_output(
        make, 0,
        tenon_make_2(make, "tile", tenon_make_input(make, 0), tenon__uff_operand(make, 1)));
  }
}

/* ---- Blocks ---- */

/* SpaceToDepth, DepthToSpace. */
static void block(tenon_make_t* make) {
  if (!tenon__uff_needs(make, 1)) {
    return;
  }
  const uint32_t rank = tenon_make_rank(make, tenon_make_input(make, 0));
  const tenon__uff_layout_t layout = tenon__uff_layout(make, "data_format", 0, "NHWC", rank);
  if (!tenon_make_ok(make)) {
    return;
  }
  const tenon_value_t x = tenon__uff_channels_first(make, &layout, tenon_make_input(make, 0));
  tenon_make_begin(make, make->row->op);
  tenon_make_set_int(make, "block_size", tenon_make_get_int(make, "block_size", 0));
  tenon_make_add(make, x);
  tenon_make_output(make, 0, tenon__uff_channels_back(make, &layout, tenon_make_end(make)));
}

typedef struct blocks_t {
  uint32_t rank;
  uint32_t count; /* of blocked axes: 1 .. count */
  int64_t sizes[TENON_MAKE_LIST_LIMIT];
  int64_t borders[2 * TENON_MAKE_LIST_LIMIT]; /* all before, then all behind, of each axis of x */
  int64_t dims[TENON_MAKE_LIST_LIMIT];        /* of x; all but the batch are known */
} blocks_t;

static bool read_blocks(tenon_make_t* make, blocks_t* out) {
  int64_t pairs[TENON_MAKE_LIST_LIMIT];
  uint32_t pair_count = 0;
  *out = (blocks_t){.rank = tenon_make_rank(make, tenon_make_input(make, 0))};
  if (!tenon__uff_known(make, 1, "block shape", out->sizes, &out->count) ||
      !tenon__uff_known(make, 2, "border", pairs, &pair_count)) {
    return false;
  }
  if (pair_count != 2 * out->count || out->count >= out->rank ||
      2 * out->rank > TENON_MAKE_LIST_LIMIT) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "%u blocks and %u borders for rank %u",
                    out->count, pair_count, out->rank);
    return false;
  }
  for (size_t i = 0; i < out->count; ++i) {
    out->borders[1 + i] = pairs[2 * i];
    out->borders[out->rank + 1 + i] = pairs[2 * i + 1];
    if (out->sizes[i] < 1 || out->sizes[i] > INT32_MAX || pairs[2 * i] < 0 ||
        pairs[2 * i + 1] < 0) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                      "block size %" PRId64 ", border %" PRId64 " and %" PRId64, out->sizes[i],
                      pairs[2 * i], pairs[2 * i + 1]);
    }
  }
  for (uint32_t i = 0; i < out->rank; ++i) {
    out->dims[i] = tenon_make_dim(make, tenon_make_input(make, 0), i);
    if (i > 0 && out->dims[i] < 0) {
      tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                      "extent %u of its input must be known (give it with --shapes)", i);
    }
  }
  return tenon_make_ok(make);
}

/* Pixels of one place in their blocks become one image; the place counts more than the batch. */
static void space_to_batch(tenon_make_t* make) {
  blocks_t blocks;
  if (!read_blocks(make, &blocks)) {
    return;
  }
  int64_t split_dims[TENON_MAKE_LIST_LIMIT] = {-1};
  int64_t perm[TENON_MAKE_LIST_LIMIT];
  int64_t dims[TENON_MAKE_LIST_LIMIT] = {-1};
  uint32_t used = 1;
  const uint32_t count = blocks.count;
  for (uint32_t i = 1; i < blocks.rank; ++i) {
    const int64_t extent =
        tenon__uff_sum(make, tenon__uff_sum(make, blocks.dims[i], blocks.borders[i]),
                       blocks.borders[blocks.rank + i]);
    const int64_t size = i <= count ? blocks.sizes[i - 1] : 1;
    dims[i] = extent / size;
    split_dims[used++] = dims[i];
    if (i <= count) {
      split_dims[used++] = size;
      perm[i - 1] = 2 * (int64_t)i;
      perm[count + i] = 2 * (int64_t)i - 1;
    } else {
      perm[count + i] = count + i;
    }
    if (extent % size != 0) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                      "extent %" PRId64 " with its border does not divide into blocks of %" PRId64,
                      extent, size);
    }
  }
  perm[count] = 0;
  tenon_value_t value =
      tenon_make_2(make, "pad", tenon_make_input(make, 0),
                   tenon_make_int64s(make, blocks.borders, 2 * (size_t)blocks.rank));
  value = tenon_make_reshape(make, value, split_dims, used);
  value = tenon_make_permute(make, value, perm, used);
  tenon_make_output(make, 0, tenon_make_reshape(make, value, dims, blocks.rank));
}

static void batch_to_space(tenon_make_t* make) {
  blocks_t blocks;
  if (!read_blocks(make, &blocks)) {
    return;
  }
  int64_t split_dims[TENON_MAKE_LIST_LIMIT];
  int64_t perm[TENON_MAKE_LIST_LIMIT] = {0};
  int64_t dims[TENON_MAKE_LIST_LIMIT] = {-1};
  int64_t crops[2 * TENON_MAKE_LIST_LIMIT];
  const uint32_t count = blocks.count;
  uint32_t used = 1;
  perm[0] = count;
  split_dims[count] = -1;
  for (uint32_t i = 0; i < count; ++i) {
    split_dims[i] = blocks.sizes[i];
  }
  for (uint32_t i = 1; i < blocks.rank; ++i) {
    split_dims[count + i] = blocks.dims[i];
    dims[i] =
        i <= count ? tenon__uff_times(make, blocks.dims[i], blocks.sizes[i - 1]) : blocks.dims[i];
    perm[used++] = count + i;
    if (i <= count) {
      perm[used++] = i - 1;
    }
  }
  for (uint32_t i = 0; i < 2 * blocks.rank; ++i) {
    crops[i] = -blocks.borders[i];
  }
  tenon_value_t value =
      tenon_make_reshape(make, tenon_make_input(make, 0), split_dims, count + blocks.rank);
  value = tenon_make_permute(make, value, perm, used);
  value = tenon_make_reshape(make, value, dims, blocks.rank);
  tenon_make_output(
      make, 0,
      tenon_make_2(make, "pad", value, tenon_make_int64s(make, crops, 2 * (size_t)blocks.rank)));
}

#define UFF(type, function) TENON__UFF_ROW(type, function, NULL, NULL)
#define TF(type, function) TENON__UFF_TF_ROW(type, function, NULL, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    UFF("Concat", uff_concat),
    UFF("ExpandDims", uff_expand_dims),
    UFF("Pad", pad),
    UFF("Reshape", reshape),
    UFF("Squeeze", squeeze),
    UFF("Stack", stack),
    UFF("Transpose", uff_transpose),

    TF("BatchToSpaceND", batch_to_space),
    TF("Concat", concat),
    TF("ConcatV2", concat_v2),
    TENON__UFF_TF_ROW("DepthToSpace", block, "depth_to_space", NULL),
    TF("ExpandDims", expand_dims),
    TF("MirrorPad", mirror_pad),
    TF("Pack", stack),
    TF("Pad", pad),
    TF("PadV2", pad),
    TF("Reshape", reshape),
    TF("SpaceToBatchND", space_to_batch),
    TENON__UFF_TF_ROW("SpaceToDepth", block, "space_to_depth", NULL),
    TF("Split", split),
    TF("SplitV", split_v),
    TF("Squeeze", squeeze),
    TF("Tile", tile),
    TF("Transpose", transpose),
    TF("Unpack", unpack),
};
TENON__UFF_FAMILY(movement);
