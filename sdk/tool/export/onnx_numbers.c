/* Quantisation, and arithmetic that ONNX has for some types. */

#include "export/onnx_node.h"
#include "text/memory.h"

static tenon_dtype_t dtype_of(const tool_onnx_node_t* node, uint32_t index) {
  return tool_export_type_of(node->network, node->item->inputs[index]).dtype;
}

/* One scale, one for each slice along the axis, or one for each block. */
static bool has_known_scale(const tool_onnx_node_t* node) {
  return tool_onnx_rank(node, 1) <= 1 || tool_onnx_attribute_int(node, "block_size") > 0
             ? true
             : tool_onnx_refuse(node, "ONNX has one scale, or a list of them along one axis");
}

static tool_wire_writer_t* begin_quantization(const tool_onnx_node_t* node) {
  const char* names[3] = {tool_onnx_source(node, 0), tool_onnx_source(node, 1),
                          tool_onnx_source(node, 2)};
  return has_known_scale(node) ? tool_onnx_begin(node, names, 3) : NULL;
}

/* A zero point tells the type. */
bool tool_onnx_quantize(const tool_onnx_node_t* node) {
  const tenon_dtype_t to = (tenon_dtype_t)tool_onnx_attribute_int(node, "to");
  tool_wire_writer_t* writer = begin_quantization(node);
  if (writer != NULL && !tool_onnx_has(node, 2)) {
    tool_onnx_int(writer, "output_dtype", tool_onnx_dtype(to));
  }
  return writer != NULL;
}

/* The scale does, where nothing else is said, which can be since 23. */
bool tool_onnx_dequantize(const tool_onnx_node_t* node) {
  const tenon_dtype_t to = (tenon_dtype_t)tool_onnx_attribute_int(node, "to");
  tool_wire_writer_t* writer = begin_quantization(node);
  if (writer != NULL && to != dtype_of(node, 1)) {
    tool_onnx_int(writer, "output_dtype", tool_onnx_dtype(to));
    node->file->opset = node->file->opset < 23 ? 23 : node->file->opset;
  }
  return writer != NULL;
}

/* The remainder with the sign of b is ONNX's for integers alone. */
bool tool_onnx_mod(const tool_onnx_node_t* node) {
  return tool_onnx_attribute_int(node, "fmod") == 0 && tool_dtype_class(dtype_of(node, 0)) == 'f'
             ? tool_onnx_write_expression(node, "y = a - b * floor(a / b)", NULL)
             : tool_onnx_same(node);
}

/* (x scale + shift)^power, of those that are there: b is the shift, c the scale, d the power. */
bool tool_onnx_affine_scale(const tool_onnx_node_t* node) {
  const bool is_along = tool_onnx_attribute_int(node, "per_axis") != 0;
  const char* const scale = is_along ? " * at(c, axis)" : " * c";
  const char* const shift = is_along ? " + at(b, axis)" : " + b";
  const char* const power = is_along ? ", at(d, axis))" : ", d)";
  const bool has_power = tool_onnx_has(node, 3);
  char* text =
      tool_format("y = %sa%s%s%s", has_power ? "pow(" : "", tool_onnx_has(node, 2) ? scale : "",
                  tool_onnx_has(node, 1) ? shift : "", has_power ? power : "");
  const bool is_done = tool_onnx_write_expression(node, text, NULL);
  tool_free(text);
  return is_done;
}
