#include "tests/support/onnx_message.h"

#include <string.h>

void tenon__message_float(tenon__message_t* message, uint32_t field, float value) {
  tenon__message_fixed(message, field, &value, sizeof(value));
}

void tenon__message_value_info(tenon__message_t* message, uint32_t field, const char* name,
                               int32_t data_type, uint32_t rank, const int64_t* dims) {
  tenon__message_begin(message, field);
  tenon__message_text(message, 1, name);
  tenon__message_begin(message, 2);
  tenon__message_begin(message, 1);
  tenon__message_varint(message, 1, (uint64_t)data_type);
  tenon__message_begin(message, 2);
  for (uint32_t i = 0; i < rank; ++i) {
    tenon__message_begin(message, 1);
    if (dims[i] >= 0) {
      tenon__message_varint(message, 1, (uint64_t)dims[i]);
    }
    tenon__message_end(message);
  }
  for (int i = 0; i < 4; ++i) {
    tenon__message_end(message);
  }
}

static void names(tenon__message_t* message, uint32_t field, const char* list) {
  while (*list != '\0') {
    const size_t length = strcspn(list, " ");
    const int is_empty = length == 1 && list[0] == '_';
    tenon__message_bytes(message, field, list, is_empty ? 0 : length);
    list += length + strspn(list + length, " ");
  }
}

void tenon__message_begin_node(tenon__message_t* message, uint32_t field, const char* type,
                               const char* name, const char* inputs, const char* outputs) {
  tenon__message_begin(message, field);
  names(message, 1, inputs);
  names(message, 2, outputs);
  tenon__message_text(message, 3, name);
  tenon__message_text(message, 4, type);
}

void tenon__message_begin_model(tenon__message_t* message, uint64_t opset) {
  tenon__message_varint(message, 1, 10);
  tenon__message_begin(message, 8);
  tenon__message_varint(message, 2, opset);
  tenon__message_end(message);
  tenon__message_begin(message, 7);
}

void tenon__message_end_model(tenon__message_t* message) {
  while (message->depth > 0) {
    tenon__message_end(message);
  }
}
