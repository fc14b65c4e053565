/* Convolutions, pools, recurrent layers, and what changes the size of pictures. */
#include <string.h>

#include "export/onnx_node.h"

/* ---- Windows ---- */

/* Over its own inputs, without those behind that are absent. */
static tool_wire_writer_t* begin_with_inputs(const tool_onnx_node_t* node) {
  const char* names[TOOL_ONNX_MOST_INPUTS];
  const uint32_t count = node->item->input_count;
  if (count > TOOL_ONNX_MOST_INPUTS) {
    return NULL;
  }
  for (uint32_t i = 0; i < count; ++i) {
    names[i] = tool_onnx_source(node, i);
  }
  return tool_onnx_begin(node, names, count);
}

/* Padding is either given or computed. */
bool tool_onnx_window(const tool_onnx_node_t* node) {
  const tenon_attribute_t* pads = tool_onnx_attribute(node, "pads");
  tool_wire_writer_t* writer = begin_with_inputs(node);
  if (writer == NULL) {
    return false;
  }
  if (tool_onnx_attribute_is(node, "auto_pad", "same_upper")) {
    tool_onnx_text(writer, "auto_pad", "SAME_UPPER");
  } else if (tool_onnx_attribute_is(node, "auto_pad", "same_lower")) {
    tool_onnx_text(writer, "auto_pad", "SAME_LOWER");
  } else if (tool_onnx_attribute_is(node, "auto_pad", "valid")) {
    tool_onnx_text(writer, "auto_pad", "VALID");
  } else if (pads != NULL && pads->count > 0) {
    tool_onnx_ints(writer, "pads", pads->integers, pads->count);
  }
  return true;
}

/* ---- Layers with state, attention, losses: attributes whose absence means something ---- */

bool tool_onnx_recurrent(const tool_onnx_node_t* node) {
  const tenon_value_type_t r = tool_export_type_of(node->network, node->item->inputs[2]);
  const double clip = tool_onnx_attribute_float(node, "clip");
  if (r.rank != 3 || r.dims[2] < 0) {
    return tool_onnx_refuse(node, "the size of its state is not known");
  }
  tool_wire_writer_t* writer = begin_with_inputs(node);
  if (writer == NULL) {
    return false;
  }
  tool_onnx_int(writer, "hidden_size", r.dims[2]);
  if (clip > 0) {
    tool_onnx_float(writer, "clip", clip);
  }
  return true;
}

bool tool_onnx_attention(const tool_onnx_node_t* node) {
  static const char* const heads[2] = {"q_num_heads", "kv_num_heads"};
  const double scale = tool_onnx_attribute_float(node, "scale");
  tool_wire_writer_t* writer = begin_with_inputs(node);
  if (writer == NULL) {
    return false;
  }
  for (uint32_t i = 0; i < 2; ++i) {
    const int64_t count = tool_onnx_attribute_int(node, heads[i]);
    if (count > 0) {
      tool_onnx_int(writer, heads[i], count);
    }
  }
  if (scale != 0) {
    tool_onnx_float(writer, "scale", scale);
  }
  return true;
}

bool tool_onnx_loss(const tool_onnx_node_t* node) {
  tool_wire_writer_t* writer = begin_with_inputs(node);
  if (writer != NULL && tool_onnx_attribute_int(node, "ignores") != 0) {
    tool_onnx_int(writer, "ignore_index", tool_onnx_attribute_int(node, "ignore_index"));
  }
  return writer != NULL;
}

bool tool_onnx_with_scale(const tool_onnx_node_t* node) {
  return tool_onnx_has(node, 1) ? tool_onnx_same(node)
                                : tool_onnx_refuse(node, "ONNX's has a scale");
}

/* ---- Resize ---- */

/* One of the four known numbers of a size and a scale does not fit the others. */
static bool is_other_size(int64_t from, int64_t to, double scale) {
  const double made = (double)from * scale;
  return from >= 0 && to >= 0 && ((double)to > made + 1e-4 || (double)to < made - 1 - 1e-4);
}

/* ONNX takes extents or scales, and computes the others. Both are said where scales are: they have
 * to agree. */
static bool do_scales_agree(const tool_onnx_node_t* node) {
  const tenon_network_item_t* item = node->item;
  const tenon_value_type_t x = tool_export_type_of(node->network, item->inputs[0]);
  const tenon_value_type_t y = tool_export_type_of(node->network, item->outputs[0]);
  const tenon_value_type_t scales = tool_export_type_of(node->network, item->inputs[2]);
  if (scales.constant_data == NULL || x.rank != y.rank || scales.dims[0] != (int64_t)x.rank) {
    return tool_onnx_refuse(node, "its scales are not known");
  }
  for (uint32_t i = 0; i < x.rank; ++i) {
    float scale = 0;
    memcpy(&scale, (const uint8_t*)scales.constant_data + i * sizeof(scale), sizeof(scale));
    if (is_other_size(x.dims[i], y.dims[i], (double)scale)) {
      return tool_onnx_refuse(node, "ONNX computes extents from scales, or scales from extents");
    }
  }
  return true;
}

bool tool_onnx_resize(const tool_onnx_node_t* node) {
  const bool has_scales = tool_onnx_has(node, 2);
  if (has_scales && !do_scales_agree(node)) {
    return false;
  }
  const char* names[4] = {tool_onnx_source(node, 0), tool_onnx_source(node, 3),
                          has_scales ? tool_onnx_source(node, 2) : "",
                          has_scales ? "" : tool_onnx_source(node, 1)};
  return tool_onnx_begin(node, names, 4) != NULL;
}
