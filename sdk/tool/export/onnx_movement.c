/* Operators whose lists are inputs of ONNX's, or whose results are made of several nodes there. */
#include <string.h>

#include "export/onnx_node.h"
#include "text/memory.h"

/* Input 1 where it is there, else the attribute as a constant: "" when that is empty and
 * `is_optional`. Freed by tool_free; NULL when it is lacking. */
static char* list_of(const tool_onnx_node_t* node, const char* attribute, bool is_optional) {
  const tenon_attribute_t* list = tool_onnx_attribute(node, attribute);
  const size_t count = list == NULL ? 0 : list->count;
  if (tool_onnx_has(node, 1)) {
    const char* name = tool_onnx_source(node, 1);
    return name == NULL ? NULL : tool_copy_text(name);
  }
  return count == 0 && is_optional
             ? tool_copy_text("")
             : tool_onnx_int64s(node, attribute, count == 0 ? NULL : list->integers,
                                (uint32_t)count);
}

static bool with_list(const tool_onnx_node_t* node, char* list) {
  const char* names[2] = {tool_onnx_source(node, 0), list};
  const bool is_done = tool_onnx_begin(node, names, 2) != NULL;
  tool_free(list);
  return is_done;
}

bool tool_onnx_reshape(const tool_onnx_node_t* node) {
  return with_list(node, list_of(node, "fixed_dims", false));
}

bool tool_onnx_axes(const tool_onnx_node_t* node) {
  return with_list(node, list_of(node, "fixed_axes", true));
}

/* [N, groups, the rest]. */
bool tool_onnx_group_channels(const tool_onnx_node_t* node) {
  const int64_t dims[3] = {0, tool_onnx_attribute_int(node, "groups"), -1};
  return with_list(node, tool_onnx_int64s(node, "dims", dims, 3));
}

/* Where there are no sizes, ONNX wants to know the number of parts. */
bool tool_onnx_split(const tool_onnx_node_t* node) {
  const char* names[2] = {tool_onnx_source(node, 0), tool_onnx_source(node, 1)};
  tool_wire_writer_t* writer = tool_onnx_begin(node, names, 2);
  if (writer != NULL && !tool_onnx_has(node, 1)) {
    tool_onnx_int(writer, "num_outputs", node->item->output_count);
  }
  return writer != NULL;
}

/* k has one element, in ONNX in a list. */
bool tool_onnx_top_k(const tool_onnx_node_t* node) {
  const char* names[2] = {tool_onnx_source(node, 0), tool_onnx_source(node, 1)};
  char* one = NULL;
  char* list = NULL;
  if (names[1] != NULL && tool_onnx_rank(node, 1) == 0) {
    one = tool_onnx_int64(node, "one", 1);
    const char* inputs[2] = {names[1], one};
    list = tool_onnx_step(node, "Reshape", inputs, 2, NULL);
    names[1] = list;
  }
  const bool is_done = tool_onnx_begin(node, names, 2) != NULL;
  tool_free(one);
  tool_free(list);
  return is_done;
}

/* The end is left out where it is that of the list of extents. */
bool tool_onnx_shape(const tool_onnx_node_t* node) {
  const char* names[1] = {tool_onnx_source(node, 0)};
  const int64_t end = tool_onnx_attribute_int(node, "end");
  tool_wire_writer_t* writer = tool_onnx_begin(node, names, 1);
  if (writer != NULL && end != INT64_MAX) {
    tool_onnx_int(writer, "end", end);
  }
  return writer != NULL;
}

/* Without an axis ONNX takes all elements in a row. */
bool tool_onnx_flat_or_axis(const tool_onnx_node_t* node) {
  const char* names[2] = {tool_onnx_source(node, 0), tool_onnx_source(node, 1)};
  tool_wire_writer_t* writer = tool_onnx_begin(node, names, 2);
  if (writer != NULL && tool_onnx_attribute_int(node, "flat") == 0) {
    tool_onnx_int(writer, "axis", tool_onnx_attribute_int(node, "axis"));
  }
  return writer != NULL;
}

bool tool_onnx_dft(const tool_onnx_node_t* node) {
  char* axis = tool_onnx_has(node, 2)
                   ? NULL
                   : tool_onnx_number(node, TENON_DTYPE_INT64,
                                      (double)tool_onnx_attribute_int(node, "fixed_axis"));
  const char* names[3] = {tool_onnx_source(node, 0), tool_onnx_source(node, 1),
                          axis != NULL ? axis : tool_onnx_source(node, 2)};
  const bool is_done = tool_onnx_begin(node, names, 3) != NULL;
  tool_free(axis);
  return is_done;
}

/* A scalar as a list of one. */
static char* list_of_one(const tool_onnx_node_t* node, const char* name, const char* one) {
  const char* inputs[2] = {name, one};
  return tool_onnx_step(node, "Reshape", inputs, 2, NULL);
}

/* ONNX makes the axis itself, and has both values in one list. */
bool tool_onnx_one_hot(const tool_onnx_node_t* node) {
  const char* const own[4] = {tool_onnx_source(node, 0), tool_onnx_source(node, 1),
                              tool_onnx_source(node, 2), tool_onnx_source(node, 3)};
  if (own[0] == NULL || own[1] == NULL || own[2] == NULL || own[3] == NULL) {
    return false;
  }
  char* axis = tool_onnx_int64(node, "axis", tool_onnx_attribute_int(node, "axis"));
  char* one = tool_onnx_int64(node, "one", 1);
  char* off = list_of_one(node, own[2], one);
  char* on = list_of_one(node, own[3], one);
  const char* const both[2] = {off, on};
  const char* const squeezed[2] = {own[0], axis};
  tool_wire_writer_t* joined = NULL;
  char* values = tool_onnx_step(node, "Concat", both, 2, &joined);
  tool_onnx_int(joined, "axis", 0);
  char* indices = tool_onnx_step(node, "Squeeze", squeezed, 2, NULL);
  const char* const names[3] = {indices, own[1], values};
  const bool is_done = tool_onnx_begin(node, names, 3) != NULL;
  tool_free(axis);
  tool_free(one);
  tool_free(off);
  tool_free(on);
  tool_free(values);
  tool_free(indices);
  return is_done;
}

/* Of no input, with constant extents; Bernoulli and Multinomial have one. */
bool tool_onnx_random(const tool_onnx_node_t* node) {
  const bool has_dims = strncmp(node->row->type, "Random", 6) == 0;
  const char* names[1] = {has_dims ? "" : tool_onnx_source(node, 0)};
  const tenon_attribute_t* seed = tool_onnx_attribute(node, "seed");
  int64_t dims[TENON_RANK_LIMIT];
  uint32_t count = 0;
  if (has_dims && !tool_onnx_operand(node, 0, dims, &count)) {
    return false;
  }
  tool_wire_writer_t* writer = tool_onnx_begin(node, names, 1);
  if (writer == NULL) {
    return false;
  }
  if (has_dims) {
    tool_onnx_ints(writer, "shape", dims, count);
  }
  if (seed != NULL && (seed->integer != 0 || seed->number != 0)) {
    tool_onnx_float(writer, "seed",
                    seed->kind == TENON_ATTRIBUTE_INT ? (double)seed->integer : seed->number);
  }
  return true;
}

bool tool_onnx_to_text(const tool_onnx_node_t* node) {
  const char* names[1] = {tool_onnx_source(node, 0)};
  tool_wire_writer_t* writer = tool_onnx_begin(node, names, 1);
  if (writer != NULL) {
    tool_onnx_int(writer, "to", tool_onnx_dtype(TENON_DTYPE_STRING));
  }
  return writer != NULL;
}

bool tool_onnx_optional(const tool_onnx_node_t* node) {
  const char* names[1] = {tool_onnx_source(node, 0)};
  const bool is_sequence = strcmp(node->row->op, "optional_make") != 0;
  const tenon_io_info_t held = {
      .kind = is_sequence ? TENON_ARGUMENT_SEQUENCE : TENON_ARGUMENT_TENSOR,
      .dtype = (tenon_dtype_t)tool_onnx_attribute_int(node, "to"),
      .rank = TENON_NONE};
  tool_wire_writer_t* writer = tool_onnx_begin(node, names, 1);
  if (writer != NULL) {
    tool_onnx_type(writer, "type", &held);
  }
  return writer != NULL;
}
