/* Networks as ONNX files. */
#include "export/export.h"
#include "export/onnx_node.h"

static bool has_type(tenon_dtype_t dtype) {
  return tool_onnx_dtype(dtype) != 0;
}

/* Inputs are written at the end, with their extents' names. */
static bool take_input(tool_export_network_t* network, const char* name,
                       const tenon_value_type_t* type) {
  (void)network;
  (void)name;
  (void)type;
  return true;
}

static void write_constant(tool_export_network_t* network, const char* name,
                           const tenon_value_type_t* type, size_t size_bytes) {
  tool_onnx_tensor(network->file, name, type, size_bytes);
}

static void write_alias(tool_export_network_t* network, const char* name, const char* source) {
  tool_wire_writer_t* node = tool_onnx_node(network->file, "Identity", 0);
  tool_onnx_input(node, source);
  tool_onnx_output(node, name);
}

static const tool_export_language_t onnx = {.name = "ONNX",
                                            .has_type = has_type,
                                            .node = tool_onnx_write_node,
                                            .input = take_input,
                                            .constant = write_constant,
                                            .alias = write_alias};

tenon_status_t tool_export_onnx(tenon_network_t* network, tool_pieces_t* out_pieces) {
  tool_onnx_file_t file = {.opset = TOOL_ONNX_OPSET};
  tool_export_network_t writer = {.language = &onnx, .file = &file, .network = network};
  tenon_status_t status = tool_export_walk(&writer);
  if (status == TENON_OK) {
    tool_onnx_ends(&file, network);
    status = tool_onnx_finish(&file, out_pieces);
  }
  tool_export_free(&writer);
  tool_onnx_free(&file);
  return status;
}
