/* Types of an ONNX file: numbers of element types, and the types of inputs and outputs. */
#include "export/onnx_type.h"

#include <string.h>

#include "export/onnx_file.h"
#include "text/memory.h"

enum { GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, VALUE_NAME = 1, VALUE_TYPE = 2 };
enum { SEQUENCE_TYPE = 4, OPTIONAL_TYPE = 9 };

uint32_t tool_onnx_dtype(tenon_dtype_t dtype) {
  static const uint8_t numbers[TENON_DTYPE_COUNT] = {
      [TENON_DTYPE_FLOAT32] = 1,       [TENON_DTYPE_UINT8] = 2,
      [TENON_DTYPE_INT8] = 3,          [TENON_DTYPE_UINT16] = 4,
      [TENON_DTYPE_INT16] = 5,         [TENON_DTYPE_INT32] = 6,
      [TENON_DTYPE_INT64] = 7,         [TENON_DTYPE_STRING] = 8,
      [TENON_DTYPE_BOOL] = 9,          [TENON_DTYPE_FLOAT16] = 10,
      [TENON_DTYPE_FLOAT64] = 11,      [TENON_DTYPE_UINT32] = 12,
      [TENON_DTYPE_UINT64] = 13,       [TENON_DTYPE_COMPLEX64] = 14,
      [TENON_DTYPE_COMPLEX128] = 15,   [TENON_DTYPE_BFLOAT16] = 16,
      [TENON_DTYPE_FLOAT8E4M3FN] = 17, [TENON_DTYPE_FLOAT8E4M3FNUZ] = 18,
      [TENON_DTYPE_FLOAT8E5M2] = 19,   [TENON_DTYPE_FLOAT8E5M2FNUZ] = 20,
      [TENON_DTYPE_UINT4] = 21,        [TENON_DTYPE_INT4] = 22,
      [TENON_DTYPE_FLOAT4E2M1] = 23,   [TENON_DTYPE_FLOAT8E8M0] = 24,
      [TENON_DTYPE_UINT2] = 25,        [TENON_DTYPE_INT2] = 26};
  return dtype < TENON_DTYPE_COUNT ? numbers[dtype] : 0;
}

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
static char* name_of(const tool_wire_field_t* field) {
  tool_wire_t value = {.data = field->bytes, .size = field->size};
  tool_wire_field_t part;
  while (tool_wire_next(&value, &part)) {
    if (part.number == VALUE_NAME) {
      return tool_copy_bytes((const char*)part.bytes, part.size);
    }
  }
  return NULL;
}

void tool_onnx_end_names(const tool_wire_writer_t* ends, tool_names_t* out_names) {
  tool_wire_t wire = {.data = ends->data, .size = ends->size};
  tool_wire_field_t field;
  while (tool_wire_next(&wire, &field)) {
    char* name = field.number == GRAPH_OUTPUT ? name_of(&field) : NULL;
    if (name != NULL) {
      (void)tool_names_add(out_names, name);
    }
    tool_free(name);
  }
}
