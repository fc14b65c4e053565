/* Messages of an ONNX file: numbers of their fields, and the order in which they are written. */
#include "export/onnx_file.h"

#include <inttypes.h>
#include <string.h>

#include "export/names.h"
#include "export/onnx_type.h"
#include "tenon/reader.h"
#include "text/console.h"
#include "text/memory.h"

enum {
  MODEL_IR_VERSION = 1,
  MODEL_PRODUCER = 2,
  MODEL_GRAPH = 7,
  MODEL_OPSET = 8,
  GRAPH_NODE = 1,
  GRAPH_NAME = 2,
  GRAPH_TENSOR = 5,
  NODE_INPUT = 1,
  NODE_OUTPUT = 2,
  NODE_NAME = 3,
  NODE_TYPE = 4,
  NODE_ATTRIBUTE = 5,
  ATTRIBUTE_NAME = 1,
  ATTRIBUTE_FLOAT = 2,
  ATTRIBUTE_INT = 3,
  ATTRIBUTE_STRING = 4,
  ATTRIBUTE_GRAPH = 6,
  ATTRIBUTE_FLOATS = 7,
  ATTRIBUTE_INTS = 8,
  ATTRIBUTE_STRINGS = 9,
  ATTRIBUTE_TYPE_PROTO = 14,
  ATTRIBUTE_TYPE = 20,
  TENSOR_DIMS = 1,
  TENSOR_TYPE = 2,
  TENSOR_STRINGS = 6,
  TENSOR_NAME = 8,
  TENSOR_RAW = 9,
};

/* Of AttributeProto.type. */
enum {
  IS_FLOAT = 1,
  IS_INT = 2,
  IS_STRING = 3,
  IS_GRAPH = 5,
  IS_FLOATS = 6,
  IS_INTS = 7,
  IS_STRINGS = 8,
  IS_TYPE = 13
};

/* What is smaller is copied, so that a file is not written in crumbs. */
enum { LENT_FROM = 4096 };

/* ---- Nodes ---- */

tool_wire_writer_t* tool_onnx_node(tool_onnx_file_t* file, const char* type, uint32_t since) {
  file->nodes =
      tool_grow(file->nodes, &file->node_capacity, file->node_count + 1, sizeof(*file->nodes));
  tool_wire_writer_t* node = &file->nodes[file->node_count++];
  *node = (tool_wire_writer_t){0};
  tool_wire_put_text(node, NODE_TYPE, type);
  file->opset = since > file->opset ? since : file->opset;
  return node;
}

void tool_onnx_name(tool_wire_writer_t* node, const char* name) {
  tool_wire_put_text(node, NODE_NAME, name);
}

void tool_onnx_input(tool_wire_writer_t* node, const char* name) {
  tool_wire_put_text(node, NODE_INPUT, name);
}

void tool_onnx_output(tool_wire_writer_t* node, const char* name) {
  tool_wire_put_text(node, NODE_OUTPUT, name);
}

void tool_onnx_alias(tool_onnx_file_t* file, const char* name, const char* source) {
  tool_wire_writer_t* node = tool_onnx_node(file, "Identity", 0);
  tool_onnx_input(node, source);
  tool_onnx_output(node, name);
}

static tool_wire_writer_t begin_attribute(const char* name, uint32_t type) {
  tool_wire_writer_t attribute = {0};
  tool_wire_put_text(&attribute, ATTRIBUTE_NAME, name);
  tool_wire_put_varint(&attribute, ATTRIBUTE_TYPE, type);
  return attribute;
}

static void put_float(tool_wire_writer_t* attribute, uint32_t number, double value) {
  const float narrow = (float)value;
  uint32_t bits = 0;
  memcpy(&bits, &narrow, sizeof(bits));
  tool_wire_put_fixed32(attribute, number, bits);
}

void tool_onnx_int(tool_wire_writer_t* node, const char* name, int64_t value) {
  tool_wire_writer_t attribute = begin_attribute(name, IS_INT);
  tool_wire_put_varint(&attribute, ATTRIBUTE_INT, (uint64_t)value);
  tool_wire_put_message(node, NODE_ATTRIBUTE, &attribute);
}

void tool_onnx_float(tool_wire_writer_t* node, const char* name, double value) {
  tool_wire_writer_t attribute = begin_attribute(name, IS_FLOAT);
  put_float(&attribute, ATTRIBUTE_FLOAT, value);
  tool_wire_put_message(node, NODE_ATTRIBUTE, &attribute);
}

void tool_onnx_text(tool_wire_writer_t* node, const char* name, const char* value) {
  tool_wire_writer_t attribute = begin_attribute(name, IS_STRING);
  tool_wire_put_text(&attribute, ATTRIBUTE_STRING, value);
  tool_wire_put_message(node, NODE_ATTRIBUTE, &attribute);
}

void tool_onnx_ints(tool_wire_writer_t* node, const char* name, const int64_t* values,
                    size_t count) {
  tool_wire_writer_t attribute = begin_attribute(name, IS_INTS);
  for (size_t i = 0; i < count; ++i) {
    tool_wire_put_varint(&attribute, ATTRIBUTE_INTS, (uint64_t)values[i]);
  }
  tool_wire_put_message(node, NODE_ATTRIBUTE, &attribute);
}

void tool_onnx_floats(tool_wire_writer_t* node, const char* name, const double* values,
                      size_t count) {
  tool_wire_writer_t attribute = begin_attribute(name, IS_FLOATS);
  for (size_t i = 0; i < count; ++i) {
    put_float(&attribute, ATTRIBUTE_FLOATS, values[i]);
  }
  tool_wire_put_message(node, NODE_ATTRIBUTE, &attribute);
}

void tool_onnx_texts(tool_wire_writer_t* node, const char* name, const char* const* values,
                     size_t count) {
  tool_wire_writer_t attribute = begin_attribute(name, IS_STRINGS);
  for (size_t i = 0; i < count; ++i) {
    tool_wire_put_text(&attribute, ATTRIBUTE_STRINGS, values[i]);
  }
  tool_wire_put_message(node, NODE_ATTRIBUTE, &attribute);
}

void tool_onnx_graph(tool_wire_writer_t* node, const char* name, tool_wire_writer_t* graph) {
  tool_wire_writer_t attribute = begin_attribute(name, IS_GRAPH);
  tool_wire_put_message(&attribute, ATTRIBUTE_GRAPH, graph);
  tool_wire_put_message(node, NODE_ATTRIBUTE, &attribute);
}

void tool_onnx_type(tool_wire_writer_t* node, const char* name, const tenon_io_info_t* info) {
  tool_wire_writer_t attribute = begin_attribute(name, IS_TYPE);
  tool_wire_writer_t type = tool_onnx_type_of(info);
  tool_wire_put_message(&attribute, ATTRIBUTE_TYPE_PROTO, &type);
  tool_wire_put_message(node, NODE_ATTRIBUTE, &attribute);
}

/* ---- Constants ---- */

static void put_strings(tool_wire_writer_t* message, const void* data, size_t size_bytes) {
  for (size_t at = 0; at < size_bytes; at += sizeof(tenon_string_view_t)) {
    tenon_string_view_t text;
    memcpy(&text, (const uint8_t*)data + at, sizeof(text));
    tool_wire_put_bytes(message, TENSOR_STRINGS, text.data, text.size);
  }
}

void tool_onnx_tensor(tool_onnx_file_t* file, const char* name, const tenon_value_type_t* type,
                      size_t size_bytes) {
  file->tensors = tool_grow(file->tensors, &file->tensor_capacity, file->tensor_count + 1,
                            sizeof(*file->tensors));
  tool_onnx_tensor_t* tensor = &file->tensors[file->tensor_count++];
  *tensor = (tool_onnx_tensor_t){.name = tool_copy_text(name)};
  for (uint32_t i = 0; i < type->rank; ++i) {
    tool_wire_put_varint(&tensor->message, TENSOR_DIMS, (uint64_t)type->dims[i]);
  }
  tool_wire_put_varint(&tensor->message, TENSOR_TYPE, tool_onnx_dtype(type->dtype));
  tool_wire_put_text(&tensor->message, TENSOR_NAME, name);
  if (type->dtype == TENON_DTYPE_STRING) {
    put_strings(&tensor->message, type->constant_data, size_bytes);
  } else if (size_bytes < LENT_FROM) {
    tool_wire_put_bytes(&tensor->message, TENSOR_RAW, type->constant_data, size_bytes);
  } else {
    tool_wire_put_length(&tensor->message, TENSOR_RAW, size_bytes);
    tensor->borrowed = type->constant_data;
    tensor->borrowed_size = size_bytes;
  }
}

/* ---- The whole ---- */

/* Names that a node's field lists; true when one of them is among `needed`, or (add) adds them. */
static bool look_at_names(const tool_wire_writer_t* node, uint32_t field_number,
                          tool_names_t* needed, bool adds) {
  const uint8_t* at = node->data;
  tenon_reader_record_t field;
  bool found = false;
  while (tenon_reader_read_record(&at, node->data + node->size, &field)) {
    if (field.number == field_number && field.size > 0) {
      char* name = tool_copy_bytes((const char*)field.data, field.size);
      found = found || tool_names_has(needed, name);
      if (adds) {
        (void)tool_names_add(needed, name);
      }
      tool_free(name);
    }
  }
  return found;
}

/* A body reads what is outside by name: adds all that a message's nodes read, and those of the
 * graphs inside. The field `number` leads on from a node to its attributes, from these to graphs,
 * from graphs to nodes. */
static void add_names_of_bodies(const uint8_t* data, size_t size, uint32_t number,
                                tool_names_t* needed) {
  const uint32_t next = number == NODE_ATTRIBUTE    ? ATTRIBUTE_GRAPH
                        : number == ATTRIBUTE_GRAPH ? GRAPH_NODE
                                                    : NODE_ATTRIBUTE;
  const uint8_t* end = data + size;
  tenon_reader_record_t field;
  while (tenon_reader_read_record(&data, end, &field)) {
    if (field.number != number) {
      continue;
    }
    if (number == GRAPH_NODE) {
      const tool_wire_writer_t lent = {.data = (uint8_t*)field.data, .size = field.size};
      (void)look_at_names(&lent, NODE_INPUT, needed, true);
    }
    add_names_of_bodies(field.data, field.size, next, needed);
  }
}

/* From the end: a node that gives nothing that is needed is emptied. */
static void drop_unneeded(tool_onnx_file_t* file, tool_names_t* needed) {
  for (size_t i = file->node_count; i > 0; --i) {
    tool_wire_writer_t* node = &file->nodes[i - 1];
    if (look_at_names(node, NODE_OUTPUT, needed, false)) {
      (void)look_at_names(node, NODE_INPUT, needed, true);
      add_names_of_bodies(node->data, node->size, NODE_ATTRIBUTE, needed);
    } else {
      node->size = 0;
    }
  }
}

static void put_tensor(tool_onnx_tensor_t* tensor, tool_pieces_t* pieces) {
  tool_wire_writer_t head = {0};
  tool_wire_put_length(&head, GRAPH_TENSOR, tensor->message.size + tensor->borrowed_size);
  tool_pieces_adopt(pieces, head.data, head.size);
  tool_pieces_adopt(pieces, tensor->message.data, tensor->message.size);
  tensor->message = (tool_wire_writer_t){0};
  if (tensor->borrowed_size > 0) {
    tool_pieces_borrow(pieces, tensor->borrowed, tensor->borrowed_size);
  }
}

/* What is a graph's, in pieces. */
static void put_graph(tool_onnx_file_t* file, const char* name, tool_pieces_t* pieces) {
  tool_names_t needed = {0};
  tool_wire_writer_t graph = {0};
  tool_onnx_end_names(&file->ends, &needed);
  drop_unneeded(file, &needed);
  for (size_t i = 0; i < file->node_count; ++i) {
    if (file->nodes[i].size > 0) {
      tool_wire_put_bytes(&graph, GRAPH_NODE, file->nodes[i].data, file->nodes[i].size);
    }
  }
  tool_wire_put_text(&graph, GRAPH_NAME, name);
  tool_pieces_adopt(pieces, graph.data, graph.size);
  for (size_t i = 0; i < file->tensor_count; ++i) {
    if (tool_names_has(&needed, file->tensors[i].name)) {
      put_tensor(&file->tensors[i], pieces);
    }
  }
  tool_pieces_adopt(pieces, file->ends.data, file->ends.size);
  file->ends = (tool_wire_writer_t){0};
  tool_names_free(&needed);
}

/* The version of the file's own form that came with an operator set. */
static uint32_t ir_version(uint32_t opset) {
  return opset < 23 ? 10 : opset < 24 ? 11 : opset < 25 ? 12 : 13;
}

static void put_head(const tool_onnx_file_t* file, size_t graph_size, tool_wire_writer_t* head) {
  tool_wire_writer_t opset = {0};
  const uint32_t version = file->opset < TOOL_ONNX_OPSET ? TOOL_ONNX_OPSET : file->opset;
  tool_wire_put_varint(head, MODEL_IR_VERSION, ir_version(version));
  tool_wire_put_text(head, MODEL_PRODUCER, "tenon");
  tool_wire_put_text(&opset, 1, "");
  tool_wire_put_varint(&opset, 2, version);
  tool_wire_put_message(head, MODEL_OPSET, &opset);
  tool_wire_put_length(head, MODEL_GRAPH, graph_size);
}

tenon_status_t tool_onnx_finish(tool_onnx_file_t* file, tool_pieces_t* out_pieces) {
  tool_pieces_t graph = {0};
  tool_wire_writer_t head = {0};
  put_graph(file, "main", &graph);
  if (graph.size > INT32_MAX - 64) { /* what a reader of protocol buffers takes, less the head */
    const size_t size = graph.size;
    tool_pieces_free(&graph);
    return tool_fail(TENON_ERROR_UNSUPPORTED,
                     "%zu bytes do not fit into one ONNX file, which holds less than 2 GiB", size);
  }
  put_head(file, graph.size, &head);
  tool_pieces_adopt(out_pieces, head.data, head.size);
  tool_pieces_append(out_pieces, &graph);
  return TENON_OK;
}

tool_wire_writer_t tool_onnx_finish_body(tool_onnx_file_t* file, const char* name,
                                         tool_onnx_file_t* outer) {
  tool_pieces_t pieces = {0};
  tool_wire_writer_t graph = {0};
  put_graph(file, name, &pieces);
  graph.data = tool_allocate(pieces.size + 1, 1);
  graph.capacity = pieces.size + 1;
  for (size_t i = 0; i < pieces.count; ++i) {
    if (pieces.items[i].size > 0) {
      memcpy(graph.data + graph.size, pieces.items[i].data, pieces.items[i].size);
      graph.size += pieces.items[i].size;
    }
  }
  tool_pieces_free(&pieces);
  outer->opset = file->opset > outer->opset ? file->opset : outer->opset;
  return graph;
}

void tool_onnx_free(tool_onnx_file_t* file) {
  for (size_t i = 0; i < file->node_count; ++i) {
    tool_free(file->nodes[i].data);
  }
  for (size_t i = 0; i < file->tensor_count; ++i) {
    tool_free(file->tensors[i].name);
    tool_free(file->tensors[i].message.data);
  }
  tool_free(file->nodes);
  tool_free(file->tensors);
  tool_free(file->ends.data);
  *file = (tool_onnx_file_t){0};
}
