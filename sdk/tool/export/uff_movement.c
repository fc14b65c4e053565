/* Elements that change their places. */
#include <string.h>

#include "export/uff_node.h"
#include "text/memory.h"

bool tool_uff_permute(const tool_export_node_t* node) {
  const tenon_attribute_t* perm = tool_export_attribute(node, "perm");
  int64_t axes[TENON_RANK_LIMIT];
  const uint32_t rank = tool_export_rank(node, 0);
  for (uint32_t i = 0; i < rank; ++i) {
    axes[i] = perm != NULL && perm->count == rank ? perm->integers[i] : (int64_t)rank - 1 - i;
  }
  tool_wire_writer_t* writer = tool_uff_begin(node, "Transpose", 1);
  if (writer != NULL) {
    tool_uff_ints(writer, "permutation", axes, rank);
  }
  return writer != NULL;
}

/* The extents of the result, of which one may be open. */
bool tool_uff_reshape(const tool_export_node_t* node) {
  const tenon_value_type_t type = tool_export_type_of(node->network, node->item->outputs[0]);
  const char* source = tool_export_source(node->network, node->item, 0);
  uint32_t open = 0;
  if (type.rank != TENON_NONE) {
    for (uint32_t i = 0; i < type.rank; ++i) {
      open += type.dims[i] < 0 ? 1 : 0;
    }
  }
  if (source == NULL) {
    return false;
  }
  if (type.rank == TENON_NONE || type.rank > TENON_RANK_LIMIT || open > 1) {
    return tool_export_refuse(node, "more than one extent of its result is open (see --shapes)");
  }
  const int64_t dims[1] = {type.rank};
  char* list = tool_uff_write_list(node, "shape", 1, dims, type.dims);
  tool_wire_writer_t* writer = tool_uff_node(
      node->network->file, tool_export_target(node->network, node->item, 0), "Reshape");
  tool_uff_input(writer, source);
  tool_uff_input(writer, list);
  tool_free(list);
  return true;
}

bool tool_uff_concatenate(const tool_export_node_t* node) {
  tool_wire_writer_t* writer = tool_uff_begin(node, "Concat", node->item->input_count);
  if (writer != NULL) {
    tool_uff_int(writer, "axis", tool_export_attribute_int(node, "axis"));
  }
  return writer != NULL;
}

/* Whether an input is absent or a constant whose bits are all 0. */
static bool is_zero(const tool_export_node_t* node, uint32_t index) {
  if (index >= node->item->input_count || node->item->inputs[index].id == 0) {
    return true;
  }
  const tenon_value_type_t type = tool_export_type_of(node->network, node->item->inputs[index]);
  const uint32_t bits = tool_uff_dtype(type.dtype) & 0xFFu;
  const uint8_t* bytes = type.constant_data;
  bool is_it = bytes != NULL && bits > 0 && type.rank == 0;
  for (uint32_t i = 0; is_it && i < bits / 8; ++i) {
    is_it = bytes[i] == 0;
  }
  return is_it;
}

/* Zeros around every axis. */
bool tool_uff_pad(const tool_export_node_t* node) {
  int64_t pads[2 * TENON_RANK_LIMIT] = {0};
  int64_t pairs[2 * TENON_RANK_LIMIT];
  uint32_t count = 0;
  const uint32_t rank = tool_export_rank(node, 0);
  const char* source = tool_export_source(node->network, node->item, 0);
  if (source == NULL || !tool_export_operand(node, 1, NULL, pads, &count)) {
    return false;
  }
  if (!tool_export_attribute_is(node, "mode", "constant") || count != 2 * rank ||
      !is_zero(node, 2) || (node->item->input_count > 3 && node->item->inputs[3].id != 0)) {
    return tool_export_refuse(node, "UFF pads all axes, with zeros");
  }
  for (size_t i = 0; i < rank; ++i) {
    pairs[2 * i] = pads[i];
    pairs[2 * i + 1] = pads[rank + i];
  }
  const int64_t dims[2] = {rank, 2};
  char* list = tool_uff_write_list(node, "border", 2, dims, pairs);
  tool_wire_writer_t* writer =
      tool_uff_node(node->network->file, tool_export_target(node->network, node->item, 0), "Pad");
  tool_uff_input(writer, source);
  tool_uff_input(writer, list);
  tool_free(list);
  return true;
}

/* Entries for all axes up to the last that is sliced: of others the masks say that they are whole.
 */
typedef struct slice_t {
  int64_t starts[TENON_RANK_LIMIT];
  int64_t ends[TENON_RANK_LIMIT];
  int64_t steps[TENON_RANK_LIMIT];
  int64_t mask;
} slice_t;

static bool read_slice(const tool_export_node_t* node, uint32_t rank, slice_t* out) {
  int64_t lists[4][TENON_RANK_LIMIT];
  uint32_t counts[4] = {0};
  const bool has_axes = node->item->input_count > 3 && node->item->inputs[3].id != 0;
  const bool has_steps = node->item->input_count > 4 && node->item->inputs[4].id != 0;
  for (uint32_t i = 0; i < 4; ++i) {
    if (!tool_export_operand(node, i + 1, NULL, lists[i], &counts[i])) {
      return false;
    }
  }
  for (uint32_t i = 0; i < rank; ++i) {
    out->ends[i] = INT32_MAX;
    out->steps[i] = 1;
  }
  out->mask = ((int64_t)1 << rank) - 1;
  if (counts[1] != counts[0] || (has_axes && counts[2] != counts[0]) ||
      (has_steps && counts[3] != counts[0])) {
    return tool_export_refuse(node, "its lists differ in length");
  }
  for (uint32_t i = 0; i < counts[0]; ++i) {
    const int64_t axis = tool_export_axis(has_axes ? lists[2][i] : i, rank);
    if (axis < 0 || axis >= (int64_t)rank || (out->mask >> axis & 1) == 0) {
      return tool_export_refuse(node, "it slices one axis twice, or one that is not there");
    }
    out->starts[axis] = lists[0][i];
    out->ends[axis] = lists[1][i];
    out->steps[axis] = has_steps ? lists[3][i] : 1;
    out->mask &= ~((int64_t)1 << axis);
  }
  return true;
}

bool tool_uff_strided_slice(const tool_export_node_t* node) {
  slice_t slice = {.mask = 0};
  const uint32_t rank = tool_export_rank(node, 0);
  const char* source = tool_export_source(node->network, node->item, 0);
  if (source == NULL) {
    return false;
  }
  if (rank == 0 || rank > 32) {
    return tool_export_refuse(node, "UFF slices one to 32 axes");
  }
  if (!read_slice(node, rank, &slice)) {
    return false;
  }
  const int64_t dims[1] = {rank};
  char* lists[3] = {tool_uff_write_list(node, "begin", 1, dims, slice.starts),
                    tool_uff_write_list(node, "end", 1, dims, slice.ends),
                    tool_uff_write_list(node, "strides", 1, dims, slice.steps)};
  tool_wire_writer_t* writer = tool_uff_node(
      node->network->file, tool_export_target(node->network, node->item, 0), "StridedSlice");
  tool_uff_input(writer, source);
  for (uint32_t i = 0; i < 3; ++i) {
    tool_uff_input(writer, lists[i]);
    tool_free(lists[i]);
  }
  tool_uff_int(writer, "begin_mask", slice.mask);
  tool_uff_int(writer, "end_mask", slice.mask);
  return true;
}

bool tool_uff_gather(const tool_export_node_t* node) {
  tool_wire_writer_t* writer = tool_uff_begin(node, "GatherV2", 2);
  if (writer != NULL) {
    tool_uff_int(writer, "axis", tool_export_attribute_int(node, "axis"));
  }
  return writer != NULL;
}
