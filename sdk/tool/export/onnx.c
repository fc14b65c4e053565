/* Networks as ONNX files. */
#include "export/export.h"
#include "export/onnx_node.h"

tenon_status_t tool_export_onnx(tenon_network_t* network, tool_pieces_t* out_pieces) {
  tool_onnx_file_t file = {.opset = TOOL_ONNX_OPSET};
  tool_export_network_t writer = {
      .write_node = tool_onnx_write_node, .file = &file, .network = network};
  tenon_status_t status = tool_export_walk(&writer);
  if (status == TENON_OK) {
    tool_onnx_ends(&file, network);
    status = tool_onnx_finish(&file, out_pieces);
  }
  tool_export_free(&writer);
  tool_onnx_free(&file);
  return status;
}
