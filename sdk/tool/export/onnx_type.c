/* Types of inputs and outputs of an ONNX file. */
#include "export/onnx_type.h"

#include "export/onnx_file.h"
#include "tenon/reader.h"
#include "text/memory.h"

enum { GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, VALUE_NAME = 1, VALUE_TYPE = 2 };
enum { SEQUENCE_TYPE = 4, OPTIONAL_TYPE = 9 };

/* An extent: a number, a name, or nothing where it has none. */
static void put_dim(tool_wire_writer_t* shape, int64_t dim, const char* symbol) {
  tool_wire_writer_t field = {0};
  if (dim >= 0) {
    tool_wire_put_varint(&field, 1, (uint64_t)dim);
  } else if (symbol != NULL && symbol[0] != '\0' && symbol[0] != '?') {
    tool_wire_put_text(&field, 2, symbol);
  }
  tool_wire_put_message(shape, 1, &field);
}

static tool_wire_writer_t tensor_type(const tenon_io_info_t* info) {
  tool_wire_writer_t shape = {0};
  tool_wire_writer_t tensor = {0};
  tool_wire_writer_t type = {0};
  tool_wire_put_varint(&tensor, 1, tool_onnx_dtype(info->dtype));
  if (info->rank != TENON_NONE) {
    for (uint32_t i = 0; i < info->rank; ++i) {
      put_dim(&shape, info->dims[i], info->symbols == NULL ? NULL : info->symbols[i]);
    }
    tool_wire_put_message(&tensor, 2, &shape);
  }
  tool_wire_put_message(&type, 1, &tensor);
  return type;
}

/* A sequence and an optional hold a type. */
static tool_wire_writer_t container_type(uint32_t field, tool_wire_writer_t* inner) {
  tool_wire_writer_t container = {0};
  tool_wire_writer_t type = {0};
  tool_wire_put_message(&container, 1, inner);
  tool_wire_put_message(&type, field, &container);
  return type;
}

tool_wire_writer_t tool_onnx_type_of(const tenon_io_info_t* info) {
  tool_wire_writer_t inner = tensor_type(info);
  if (info->kind == TENON_ARGUMENT_TENSOR) {
    return inner;
  }
  if (info->kind != TENON_ARGUMENT_OPTIONAL) {
    inner = container_type(SEQUENCE_TYPE, &inner);
  }
  return info->kind == TENON_ARGUMENT_SEQUENCE ? inner : container_type(OPTIONAL_TYPE, &inner);
}

void tool_onnx_end(tool_onnx_file_t* file, bool is_input, const tenon_io_info_t* info) {
  tool_wire_writer_t value = {0};
  tool_wire_writer_t type = tool_onnx_type_of(info);
  tool_wire_put_text(&value, VALUE_NAME, info->name);
  tool_wire_put_message(&value, VALUE_TYPE, &type);
  tool_wire_put_message(&file->ends, is_input ? GRAPH_INPUT : GRAPH_OUTPUT, &value);
}

void tool_onnx_ends(tool_onnx_file_t* file, const tenon_network_t* network) {
  tenon_io_info_t info = {.size = sizeof(info)};
  for (uint32_t i = 0; i < tenon_network_input_count(network); ++i) {
    if (tenon_network_get_input(network, i, &info) == TENON_OK) {
      tool_onnx_end(file, true, &info);
    }
  }
  for (uint32_t i = 0; i < tenon_network_output_count(network); ++i) {
    if (tenon_network_get_output(network, i, &info) == TENON_OK) {
      tool_onnx_end(file, false, &info);
    }
  }
}

/* The value's name in a field of the graph. */
static char* name_of(const tenon_reader_record_t* field) {
  const uint8_t* at = field->data;
  tenon_reader_record_t part;
  while (tenon_reader_read_record(&at, field->data + field->size, &part)) {
    if (part.number == VALUE_NAME) {
      return tool_copy_bytes((const char*)part.data, part.size);
    }
  }
  return NULL;
}

void tool_onnx_end_names(const tool_wire_writer_t* ends, tool_names_t* out_names) {
  const uint8_t* at = ends->data;
  tenon_reader_record_t field;
  while (tenon_reader_read_record(&at, ends->data + ends->size, &field)) {
    char* name = field.number == GRAPH_OUTPUT ? name_of(&field) : NULL;
    if (name != NULL) {
      (void)tool_names_add(out_names, name);
    }
    tool_free(name);
  }
}
