/* Convolutions, pools, and what normalises: [N, C, spatial...]. */
#include <string.h>

#include "export/uff_node.h"
#include "text/memory.h"

/* Padding that differs before and behind is a node of its own, where it is of zeros. */
static char* pad_before(const tool_export_node_t* node, const int64_t* pads, uint32_t spatial,
                        const char* source) {
  const int64_t dims[2] = {spatial + 2, 2};
  int64_t pairs[2 * TENON_RANK_LIMIT] = {0};
  for (uint32_t i = 0; i < spatial; ++i) {
    pairs[4 + 2 * i] = pads[i];
    pairs[5 + 2 * i] = pads[spatial + i];
  }
  char* list = tool_uff_write_list(node, "border", 2, dims, pairs);
  char* name = tool_export_aside(node->network, node->item, "padded");
  tool_wire_writer_t* writer = tool_uff_node(node->network->file, name, "Pad");
  tool_uff_input(writer, source);
  tool_uff_input(writer, list);
  tool_free(list);
  return name;
}

static bool is_symmetric(const int64_t* pads, uint32_t spatial) {
  return memcmp(pads, pads + spatial, spatial * sizeof(*pads)) == 0;
}

static void write_padding(const tool_export_node_t* node, tool_wire_writer_t* writer,
                          const int64_t* pads, uint32_t spatial) {
  if (tool_export_attribute_is(node, "auto_pad", "same_upper")) {
    tool_uff_text(writer, "implicit_padding", "same");
  } else if (is_symmetric(pads, spatial)) {
    tool_uff_ints(writer, "padding", pads, spatial);
  }
}

/* Pads are in use where padding is explicit. */
static bool read_padding(const tool_export_node_t* node, uint32_t spatial, int64_t* out_pads) {
  const bool is_explicit = tool_export_attribute_is(node, "auto_pad", "explicit");
  tool_export_attribute_list(node, is_explicit ? "pads" : "", 2 * spatial, 0, out_pads);
  return spatial >= 1 && spatial <= 3 && !tool_export_attribute_is(node, "auto_pad", "same_lower")
             ? true
             : tool_export_refuse(node,
                                  "UFF has one to three spatial axes, and the odd pixel behind");
}

/* The bias of a convolution is a sum of its own: [C] beside [N, C, spatial...]. */
static bool add_bias(const tool_export_node_t* node, const char* convolved, uint32_t spatial) {
  const tenon_value_t bias = node->item->inputs[2];
  tenon_value_type_t type = tool_export_type_of(node->network, bias);
  if (type.constant_data == NULL || tool_uff_dtype(type.dtype) == 0) {
    return tool_export_refuse(node, "its bias is not constant");
  }
  const int64_t dims[4] = {type.dims[0], 1, 1, 1};
  char* name = tool_export_aside(node->network, node->item, "bias");
  type.rank = 1 + spatial;
  type.dims = dims;
  tool_uff_const(node->network->file, name, &type,
                 (size_t)dims[0] * (tool_uff_dtype(type.dtype) & 0xFFu) / 8);
  tool_wire_writer_t* writer = tool_uff_node(
      node->network->file, tool_export_target(node->network, node->item, 0), "Binary");
  tool_uff_input(writer, convolved);
  tool_uff_input(writer, name);
  tool_uff_text(writer, "func", "add");
  tool_free(name);
  return true;
}

bool tool_uff_convolution(const tool_export_node_t* node) {
  const uint32_t spatial = tool_export_rank(node, 0) < 2 ? 0 : tool_export_rank(node, 0) - 2;
  int64_t pads[2 * TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  int64_t dilations[TENON_RANK_LIMIT];
  const char* x = tool_export_source(node->network, node->item, 0);
  const char* w = tool_export_source(node->network, node->item, 1);
  if (x == NULL || w == NULL || !read_padding(node, spatial, pads)) {
    return false;
  }
  const bool has_bias = node->item->input_count > 2 && node->item->inputs[2].id != 0;
  tool_export_attribute_list(node, "strides", spatial, 1, strides);
  tool_export_attribute_list(node, "dilations", spatial, 1, dilations);
  char* padded = is_symmetric(pads, spatial) ? NULL : pad_before(node, pads, spatial, x);
  char* convolved = has_bias ? tool_export_aside(node->network, node->item, "convolved") : NULL;
  tool_wire_writer_t* writer = tool_uff_node(
      node->network->file, has_bias ? convolved : tool_export_target(node->network, node->item, 0),
      "Conv");
  tool_uff_input(writer, padded != NULL ? padded : x);
  tool_uff_input(writer, w);
  tool_uff_ints(writer, "strides", strides, spatial);
  tool_uff_ints(writer, "dilation", dilations, spatial);
  tool_uff_int(writer, "number_groups", tool_export_attribute_int(node, "groups"));
  write_padding(node, writer, pads, spatial);
  tool_uff_orders(node->network->file, writer, "NC+ KC+");
  const bool is_done = !has_bias || add_bias(node, convolved, spatial);
  tool_free(padded);
  tool_free(convolved);
  return is_done;
}

bool tool_uff_pool(const tool_export_node_t* node) {
  const uint32_t spatial = tool_export_rank(node, 0) < 2 ? 0 : tool_export_rank(node, 0) - 2;
  int64_t pads[2 * TENON_RANK_LIMIT];
  int64_t kernel[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  if (!read_padding(node, spatial, pads)) {
    return false;
  }
  tool_export_attribute_list(node, "kernel_shape", spatial, 1, kernel);
  tool_export_attribute_list(node, "strides", spatial, 1, strides);
  if (!is_symmetric(pads, spatial)) {
    return tool_export_refuse(node, "UFF's pools are padded alike on both sides");
  }
  tool_wire_writer_t* writer = tool_uff_begin(node, "Pool", 1);
  if (writer == NULL) {
    return false;
  }
  tool_uff_text(writer, "func", node->word);
  tool_uff_ints(writer, "kernel", kernel, spatial);
  tool_uff_ints(writer, "strides", strides, spatial);
  write_padding(node, writer, pads, spatial);
  tool_uff_orders(node->network->file, writer, "NC+");
  return true;
}

/* ---- Normalisation ---- */

bool tool_uff_batch_norm(const tool_export_node_t* node) {
  tool_wire_writer_t* writer = tool_uff_begin(node, "BatchNorm", 5);
  if (writer != NULL) {
    tool_uff_double(writer, "epsilon", tool_export_attribute_float(node, "epsilon"));
    tool_uff_orders(node->network->file, writer, "NC+");
  }
  return writer != NULL;
}

bool tool_uff_lrn(const tool_export_node_t* node) {
  const int64_t window = tool_export_attribute_int(node, "window");
  tool_wire_writer_t* writer = window % 2 == 0 ? NULL : tool_uff_begin(node, "LRN", 1);
  if (writer == NULL) {
    return window % 2 == 0 ? tool_export_refuse(node, "UFF's windows reach as far to both sides")
                           : false;
  }
  tool_uff_int(writer, "window_size", window / 2);
  tool_uff_double(writer, "alpha", tool_export_attribute_float(node, "alpha") / (double)window);
  tool_uff_double(writer, "beta", tool_export_attribute_float(node, "beta"));
  tool_uff_double(writer, "k", tool_export_attribute_float(node, "bias"));
  tool_uff_orders(node->network->file, writer, "NC+");
  return true;
}

/* Along the channels: those are the second axis, or the last. */
bool tool_uff_softmax(const tool_export_node_t* node) {
  const uint32_t rank = tool_export_rank(node, 0);
  const int64_t axis = tool_export_axis(tool_export_attribute_int(node, "axis"), rank);
  const bool is_last = axis == (int64_t)rank - 1;
  if (rank < 2 || (!is_last && axis != 1)) {
    return tool_export_refuse(node, "UFF's softmax is along the second axis, or the last");
  }
  tool_wire_writer_t* writer = tool_uff_begin(node, "Softmax", 1);
  if (writer != NULL) {
    tool_uff_int(writer, "axis", axis);
    tool_uff_orders(node->network->file, writer, is_last ? "N+C" : "NC+");
  }
  return writer != NULL;
}
