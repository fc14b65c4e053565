/* Networks as UFF files. */
#include "export/export.h"
#include "export/uff_node.h"
#include "text/memory.h"

static bool has_type(tenon_dtype_t dtype) {
  return tool_uff_dtype(dtype) != 0;
}

static bool write_input(tool_export_network_t* network, const char* name,
                        const tenon_value_type_t* type) {
  if (type->kind != TENON_ARGUMENT_TENSOR || type->rank == TENON_NONE) {
    return false;
  }
  tool_wire_writer_t* node = tool_uff_node(network->file, name, "Input");
  tool_uff_ints(node, "shape", type->dims, type->rank);
  tool_uff_type(node, "dtype", type->dtype);
  return true;
}

static void write_constant(tool_export_network_t* network, const char* name,
                           const tenon_value_type_t* type, size_t size_bytes) {
  tool_uff_const(network->file, name, type, size_bytes);
}

static void write_alias(tool_export_network_t* network, const char* name, const char* source) {
  tool_uff_input(tool_uff_node(network->file, name, "Identity"), source);
}

static const tool_export_language_t uff = {.name = "UFF",
                                           .has_type = has_type,
                                           .node = tool_uff_write_node,
                                           .input = write_input,
                                           .constant = write_constant,
                                           .alias = write_alias};

static void mark_outputs(tool_export_network_t* network, tool_uff_file_t* file) {
  file->first_mark = file->node_count;
  for (size_t i = 0; i < network->output_count; ++i) {
    char* stem = tool_format("MarkOutput_%zu", i);
    char* mark = tool_export_new_name(network, stem);
    tool_uff_input(tool_uff_node(file, mark, "MarkOutput"), network->outputs[i].name);
    tool_free(mark);
    tool_free(stem);
  }
}

tenon_status_t tool_export_uff(tenon_network_t* network, tool_pieces_t* out_pieces) {
  tool_uff_file_t file = {.node_count = 0};
  tool_export_network_t writer = {.language = &uff, .file = &file, .network = network};
  const tenon_status_t status = tool_export_walk(&writer);
  if (status == TENON_OK) {
    tool_wire_writer_t bytes;
    mark_outputs(&writer, &file);
    tool_uff_finish(&file, &bytes);
    tool_pieces_adopt(out_pieces, bytes.data, bytes.size);
  }
  tool_export_free(&writer);
  tool_uff_free(&file);
  return status;
}
