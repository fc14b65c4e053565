/* Data movement: elements keep their values and change their places. */
#include <inttypes.h>
#include <string.h>

#include "families.h"

/* A shape operand: i64. */
static tenon_value_t shape_operand(tenon_make_t* make, uint32_t index) {
  const tenon_value_t value = tenon_make_input(make, index);
  return tenon_make_present(value) ? tenon_make_cast(make, value, TENON_DTYPE_INT64) : value;
}

/* Input `index`, or before it was one the attribute of that name: as known numbers if possible,
 * else as an operand. Both empty: neither is there. */
typedef struct list_t {
  int64_t known[TENON_MAKE_LIST_LIMIT];
  uint32_t count;
  bool is_known;
  tenon_value_t operand;
} list_t;

static list_t list_of(tenon_make_t* make, uint32_t index, const char* name) {
  list_t list = {.count = 0};
  const int64_t* values = NULL;
  size_t count = 0;
  if (tenon_make_has_input(make, index)) {
    list.operand = shape_operand(make, index);
    list.is_known =
        tenon_make_known_ints(make, list.operand, list.known, TENON_MAKE_LIST_LIMIT, &list.count);
  } else if (name != NULL && tenon_make_get_ints(make, name, &values, &count)) {
    if (count > TENON_MAKE_LIST_LIMIT) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "attribute '%s' has %zu entries", name,
                      count);
      return list;
    }
    list.is_known = true;
    list.count = (uint32_t)count;
    if (count > 0) {
      memcpy(list.known, values, count * sizeof(*values));
    }
  }
  return list;
}

/* The list as an operand, absent if there is none. */
static tenon_value_t list_operand(tenon_make_t* make, const list_t* list) {
  return list->is_known && !tenon_make_present(list->operand)
             ? tenon_make_int64s(make, list->known, list->count)
             : list->operand;
}

/* x, and a list as attribute or as second input. */
static void with_list(tenon_make_t* make, const char* op, const char* attribute, const list_t* list,
                      const char* others) {
  const bool as_attribute = list->is_known && list->count > 0;
  tenon_make_begin(make, op);
  if (as_attribute) {
    tenon_make_set_ints(make, attribute, list->known, list->count);
  }
  tenon_make_pass_all(make, others);
  tenon_make_add(make, tenon_make_input(make, 0));
  if (!as_attribute && tenon_make_present(list->operand)) {
    tenon_make_add(make, list->operand);
  }
  tenon_make_end_outputs(make);
}

static void reshape(tenon_make_t* make) {
  list_t list = list_of(make, 1, "shape");
  if (list.count == 0 && !tenon_make_present(list.operand)) {
    list.operand = tenon_make_int64s(make, NULL, 0);
  }
  with_list(make, "reshape", "fixed_dims", &list, "allowzero>allow_zero");
}

static void squeeze(tenon_make_t* make) {
  const list_t list = list_of(make, 1, "axes");
  with_list(make, "squeeze", "fixed_axes", &list, "");
}

static void unsqueeze(tenon_make_t* make) {
  const list_t list = list_of(make, 1, "axes");
  if (list.is_known && list.count == 0) {
    tenon_make_output(make, 0, tenon_make_input(make, 0));
    return;
  }
  with_list(make, "unsqueeze", "fixed_axes", &list, "");
}

static void expand(tenon_make_t* make) {
  const tenon_value_t dims = shape_operand(make, 1);
  tenon_make_output(make, 0, tenon_make_2(make, "broadcast_to", tenon_make_input(make, 0), dims));
}

/* At first one axis could be repeated, so often. */
static void tile_before_6(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const uint32_t rank = tenon_make_rank(make, x);
  int64_t times = 0;
  int64_t axis = 0;
  uint32_t count = 0;
  if (!tenon_make_known_ints(make, tenon_make_input(make, 1), &times, 1, &count) || count != 1 ||
      !tenon_make_known_ints(make, tenon_make_input(make, 2), &axis, 1, &count) || count != 1) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "tiles and axis must be constant");
    return;
  }
  int64_t repeats[TENON_MAKE_LIST_LIMIT];
  axis = tenon_make_axis(make, axis, rank);
  for (uint32_t i = 0; i < rank; ++i) {
    repeats[i] = i == axis ? times : 1;
  }
  const tenon_value_t operand = tenon_make_int64s(make, repeats, rank);
  tenon_make_output(make, 0, tenon_make_2(make, "tile", x, operand));
}

static void tile(tenon_make_t* make) {
  const tenon_value_t repeats = shape_operand(make, 1);
  tenon_make_output(make, 0, tenon_make_2(make, "tile", tenon_make_input(make, 0), repeats));
}

static void split(tenon_make_t* make) {
  const list_t list = list_of(make, 1, "split");
  const tenon_value_t sizes = list_operand(make, &list);
  const int64_t parts = tenon_make_get_int(make, "num_outputs", make->output_count);
  if (parts != make->output_count) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "num_outputs is %" PRId64 ", it has %u outputs",
                    parts, make->output_count);
  }
  tenon_make_begin(make, "split");
  tenon_make_pass_all(make, "axis");
  if (!tenon_make_present(sizes)) {
    tenon_make_set_int(make, "parts", parts);
    tenon_make_set_int(make, "equal", tenon_make_version(make) < 18 ? 1 : 0);
  }
  tenon_make_add(make, tenon_make_input(make, 0));
  if (tenon_make_present(sizes)) {
    tenon_make_add(make, sizes);
  }
  tenon_make_set_output_count(make, make->output_count);
  tenon_make_end_outputs(make);
}

/* Bounds that are cut out of a table have an open length, and the operator must know it. Another
 * list tells it. Otherwise it is 1, which the run checks. */
static void close_lengths(tenon_make_t* make, tenon_value_t operands[4]) {
  int64_t length = -1;
  for (uint32_t i = 0; i < 4 && length < 0; ++i) {
    length = tenon_make_present(operands[i]) ? tenon_make_dim(make, operands[i], 0) : -1;
  }
  length = length < 0 ? 1 : length;
  for (uint32_t i = 0; i < 4; ++i) {
    if (tenon_make_present(operands[i]) && tenon_make_rank(make, operands[i]) == 1 &&
        tenon_make_dim(make, operands[i], 0) < 0) {
      operands[i] = tenon_make_reshape(make, operands[i], &length, 1);
    }
  }
}

static void slice(tenon_make_t* make) {
  const bool by_input = tenon_make_version(make) >= 10;
  static const char* const names[4] = {"starts", "ends", "axes", "steps"};
  tenon_value_t operands[4];
  for (uint32_t i = 0; i < 4; ++i) {
    const list_t list = list_of(make, i + 1, by_input ? NULL : names[i]);
    operands[i] = list_operand(make, &list);
  }
  if (!tenon_make_present(operands[0]) || !tenon_make_present(operands[1])) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "starts or ends are missing");
    return;
  }
  close_lengths(make, operands);
  tenon_make_begin(make, "strided_slice");
  tenon_make_add(make, tenon_make_input(make, 0));
  for (uint32_t i = 0; i < 4; ++i) {
    tenon_make_add(make, operands[i]);
  }
  tenon_make_end_outputs(make);
}

static void pad(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const int64_t version = tenon_make_version(make);
  const char* name = version < 2 ? "paddings" : version < 11 ? "pads" : NULL;
  const list_t pads = list_of(make, 1, name);
  const tenon_value_t operand = list_operand(make, &pads);
  tenon_value_t value = tenon_make_input(make, 2);
  if (version < 11 && tenon_make_get_float(make, "value", 0) != 0) {
    value =
        tenon_make_number(make, tenon_make_dtype(make, x), tenon_make_get_float(make, "value", 0));
  }
  const tenon_value_t axes = shape_operand(make, 3);
  tenon_make_begin(make, "pad");
  tenon_make_pass_all(make, "mode");
  tenon_make_add(make, x);
  tenon_make_add(make, operand);
  tenon_make_add(make, value);
  tenon_make_add(make, axes);
  tenon_make_end_outputs(make);
}

static void center_crop_pad(tenon_make_t* make) {
  const tenon_value_t dims = shape_operand(make, 1);
  tenon_make_begin(make, "center_crop_pad");
  tenon_make_pass_all(make, "axes");
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_add(make, dims);
  tenon_make_end_outputs(make);
}

/* DepthToSpace and its inverse. */
static void blocks(tenon_make_t* make) {
  const bool is_crd = strcmp(tenon_make_get_string(make, "mode", "DCR"), "CRD") == 0;
  tenon_make_begin(make, make->row->op);
  tenon_make_pass_all(make, "blocksize>block_size");
  tenon_make_set_string(make, "mode", is_crd ? "crd" : "dcr");
  tenon_make_add_inputs(make, 0);
  tenon_make_end_outputs(make);
}

#define ROW(type, since, until, function, op, attributes) \
  TENON__ONNX_ROW("", type, since, until, function, op, attributes)
#define SAME(type, op, attributes) ROW(type, 1, 0, tenon_make_same, op, attributes)
#define MADE(type, function) ROW(type, 1, 0, function, NULL, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MADE("CenterCropPad", center_crop_pad),
    ROW("Concat", 1, 4, tenon_make_same, "concatenate", "axis=1"),
    ROW("Concat", 4, 0, tenon_make_same, "concatenate", "axis"),
    ROW("DepthToSpace", 1, 0, blocks, "depth_to_space", NULL),
    MADE("Expand", expand),
    SAME("Flatten", "flatten", "axis=1"),
    SAME("Gather", "gather", "axis"),
    SAME("GatherElements", "gather_elements", "axis"),
    SAME("GatherND", "gather_nd", "batch_dims"),
    MADE("Pad", pad),
    MADE("Reshape", reshape),
    SAME("ReverseSequence", "reverse_sequence", "time_axis=0 batch_axis=1"),
    MADE("Slice", slice),
    ROW("SpaceToDepth", 1, 0, blocks, "space_to_depth", NULL),
    MADE("Split", split),
    MADE("Squeeze", squeeze),
    ROW("Tile", 1, 6, tile_before_6, NULL, NULL),
    ROW("Tile", 6, 0, tile, NULL, NULL),
    SAME("Transpose", "permute", "perm"),
    MADE("Unsqueeze", unsqueeze),
};
TENON__ONNX_FAMILY(movement);
