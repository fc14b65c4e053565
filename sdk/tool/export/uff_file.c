/* Messages of a UFF file, written from the inner ones to the outer ones. */
#include "export/uff_file.h"

#include <stdio.h>
#include <string.h>

#include "text/memory.h"

enum {
  NODE_ID = 1,
  NODE_INPUTS = 2,
  NODE_OPERATION = 3,
  NODE_FIELDS = 4,
  DATA_TEXT = 1,
  DATA_DOUBLE = 3,
  DATA_BOOL = 5,
  DATA_INT = 7,
  DATA_INTS = 8,
  DATA_BLOB = 9,
  DATA_REF = 100,
  DATA_TYPE = 101,
  DATA_ORDERS = 104,
};

/* An entry of a map from texts to Data. */
static void put_entry(tool_wire_writer_t* writer, uint32_t number, const char* key,
                      tool_wire_writer_t* data) {
  tool_wire_writer_t entry = {0};
  tool_wire_put_text(&entry, 1, key);
  tool_wire_put_message(&entry, 2, data);
  tool_wire_put_message(writer, number, &entry);
}

tool_wire_writer_t* tool_uff_node(tool_uff_file_t* file, const char* id, const char* operation) {
  file->nodes =
      tool_grow(file->nodes, &file->node_capacity, file->node_count + 1, sizeof(*file->nodes));
  tool_wire_writer_t* node = &file->nodes[file->node_count++];
  *node = (tool_wire_writer_t){0};
  tool_wire_put_text(node, NODE_ID, id);
  tool_wire_put_text(node, NODE_OPERATION, operation);
  file->has_extensions = file->has_extensions || operation[0] == '_';
  return node;
}

void tool_uff_input(tool_wire_writer_t* node, const char* id) {
  tool_wire_put_text(node, NODE_INPUTS, id);
}

void tool_uff_text(tool_wire_writer_t* node, const char* name, const char* value) {
  tool_wire_writer_t data = {0};
  tool_wire_put_text(&data, DATA_TEXT, value);
  put_entry(node, NODE_FIELDS, name, &data);
}

void tool_uff_int(tool_wire_writer_t* node, const char* name, int64_t value) {
  tool_wire_writer_t data = {0};
  tool_wire_put_varint(&data, DATA_INT, (uint64_t)value);
  put_entry(node, NODE_FIELDS, name, &data);
}

void tool_uff_bool(tool_wire_writer_t* node, const char* name, bool value) {
  tool_wire_writer_t data = {0};
  tool_wire_put_varint(&data, DATA_BOOL, value ? 1 : 0);
  put_entry(node, NODE_FIELDS, name, &data);
}

void tool_uff_double(tool_wire_writer_t* node, const char* name, double value) {
  tool_wire_writer_t data = {0};
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(bits));
  tool_wire_put_fixed64(&data, DATA_DOUBLE, bits);
  put_entry(node, NODE_FIELDS, name, &data);
}

/* One after the other, which readers of packed numbers take too. */
static void put_ints(tool_wire_writer_t* list, const int64_t* values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    tool_wire_put_varint(list, 1, (uint64_t)values[i]);
  }
}

void tool_uff_ints(tool_wire_writer_t* node, const char* name, const int64_t* values,
                   size_t count) {
  tool_wire_writer_t list = {0};
  tool_wire_writer_t data = {0};
  put_ints(&list, values, count);
  tool_wire_put_message(&data, DATA_INTS, &list);
  put_entry(node, NODE_FIELDS, name, &data);
}

uint32_t tool_uff_dtype(tenon_dtype_t dtype) {
  switch (dtype) {
    case TENON_DTYPE_INT8:
      return 0x10008;
    case TENON_DTYPE_INT16:
      return 0x10010;
    case TENON_DTYPE_INT32:
      return 0x10020;
    case TENON_DTYPE_INT64:
      return 0x10040;
    case TENON_DTYPE_FLOAT16:
      return 0x20010;
    case TENON_DTYPE_FLOAT32:
      return 0x20020;
    default:
      return 0;
  }
}

void tool_uff_type(tool_wire_writer_t* node, const char* name, tenon_dtype_t dtype) {
  tool_wire_writer_t data = {0};
  tool_wire_put_varint(&data, DATA_TYPE, tool_uff_dtype(dtype));
  put_entry(node, NODE_FIELDS, name, &data);
}

static void put_ref(tool_wire_writer_t* node, const char* name, const char* key) {
  tool_wire_writer_t data = {0};
  tool_wire_put_text(&data, DATA_REF, key);
  put_entry(node, NODE_FIELDS, name, &data);
}

/* Letters as numbers: N and K 0, C 1, "+" "from 2 upward". */
static void put_order(tool_wire_writer_t* list, const char* letters, size_t length) {
  static const int64_t special = -1;
  static const int64_t upward = 0x7FFFFFFF;
  tool_wire_writer_t codes = {0};
  tool_wire_writer_t entry = {0};
  tool_wire_writer_t orders = {0};
  for (size_t i = 0; i < length; ++i) {
    const int64_t pair[2] = {letters[i] == '+' ? 2 : letters[i] == 'C' ? 1 : 0, upward};
    put_ints(&codes, pair, letters[i] == '+' ? 2 : 1);
  }
  tool_wire_put_varint(&entry, 1, (uint64_t)special);
  tool_wire_put_message(&entry, 2, &codes);
  tool_wire_put_message(&orders, 1, &entry);
  tool_wire_put_message(list, 1, &orders);
}

static void put_orders(tool_uff_file_t* file, const char* key, const char* orders) {
  tool_wire_writer_t list = {0};
  tool_wire_writer_t data = {0};
  for (const char* at = orders; *at != '\0';) {
    const size_t length = strcspn(at, " ");
    put_order(&list, at, length);
    at += length + (at[length] == ' ' ? 1 : 0);
  }
  tool_wire_put_message(&data, DATA_ORDERS, &list);
  put_entry(&file->referenced, 5, key, &data);
}

void tool_uff_orders(tool_uff_file_t* file, tool_wire_writer_t* node, const char* orders) {
  char* key = tool_format("orders_%s", orders);
  for (char* blank = strchr(key, ' '); blank != NULL; blank = strchr(blank, ' ')) {
    *blank = '_';
  }
  if (tool_names_add(&file->orders, key)) {
    put_orders(file, key, orders);
  }
  put_ref(node, "inputs_orders", key);
  tool_free(key);
}

void tool_uff_const(tool_uff_file_t* file, const char* id, const tenon_value_type_t* type,
                    size_t size_bytes) {
  tool_wire_writer_t blob = {0};
  char* key = tool_format("weights_%s", id);
  tool_wire_writer_t* node = tool_uff_node(file, id, "Const");
  tool_uff_ints(node, "shape", type->dims, type->rank);
  tool_uff_type(node, "dtype", type->dtype);
  put_ref(node, "values", key);
  tool_wire_put_bytes(&blob, DATA_BLOB, type->constant_data, size_bytes);
  put_entry(&file->referenced, 5, key, &blob);
  tool_free(key);
}

/* What the file's operations are described by: both in version 1. */
static void put_descriptor(tool_wire_writer_t* writer, const char* name) {
  tool_wire_writer_t descriptor = {0};
  tool_wire_put_text(&descriptor, 1, name);
  tool_wire_put_varint(&descriptor, 2, 1);
  tool_wire_put_message(writer, 3, &descriptor);
}

void tool_uff_finish(tool_uff_file_t* file, tool_wire_writer_t* out_bytes) {
  tool_wire_writer_t graph = {0};
  *out_bytes = (tool_wire_writer_t){0};
  tool_wire_put_text(&graph, 1, "main");
  for (size_t i = 0; i < file->node_count; ++i) {
    const size_t at = i < file->first_mark ? file->first_mark - 1 - i : i;
    tool_wire_put_bytes(&graph, 2, file->nodes[at].data, file->nodes[at].size);
  }
  tool_wire_put_varint(out_bytes, 1, 1);
  tool_wire_put_varint(out_bytes, 2, 1);
  put_descriptor(out_bytes, "tensorflow_extension");
  if (file->has_extensions) {
    put_descriptor(out_bytes, "custom");
  }
  tool_wire_put_message(out_bytes, 4, &graph);
  out_bytes->data =
      tool_grow(out_bytes->data, &out_bytes->capacity, out_bytes->size + file->referenced.size, 1);
  if (file->referenced.size > 0) {
    memcpy(out_bytes->data + out_bytes->size, file->referenced.data, file->referenced.size);
  }
  out_bytes->size += file->referenced.size;
  tool_uff_free(file);
}

void tool_uff_free(tool_uff_file_t* file) {
  for (size_t i = 0; i < file->node_count; ++i) {
    tool_free(file->nodes[i].data);
  }
  tool_free(file->nodes);
  tool_free(file->referenced.data);
  tool_names_free(&file->orders);
  *file = (tool_uff_file_t){0};
}
