#include "message.h"

#include <stdlib.h>
#include <string.h>

void tenon__message_raw(tenon__message_t* message, const void* data, size_t size) {
  if (size > sizeof(message->bytes) - message->size) {
    abort();
  }
  if (size > 0) {
    memcpy(message->bytes + message->size, data, size);
    message->size += size;
  }
}

static void varint(tenon__message_t* message, uint64_t value) {
  do {
    const uint8_t byte = (uint8_t)((value & 0x7Fu) | (value > 0x7Fu ? 0x80u : 0));
    tenon__message_raw(message, &byte, 1);
    value >>= 7;
  } while (value > 0);
}

void tenon__message_varint(tenon__message_t* message, uint32_t field, uint64_t value) {
  varint(message, (uint64_t)field << 3);
  varint(message, value);
}

void tenon__message_float(tenon__message_t* message, uint32_t field, float value) {
  varint(message, (uint64_t)field << 3 | 5);
  tenon__message_raw(message, &value, sizeof(value));
}

void tenon__message_bytes(tenon__message_t* message, uint32_t field, const void* data,
                          size_t size) {
  varint(message, (uint64_t)field << 3 | 2);
  varint(message, size);
  tenon__message_raw(message, data, size);
}

void tenon__message_text(tenon__message_t* message, uint32_t field, const char* text) {
  tenon__message_bytes(message, field, text, strlen(text));
}

/* The length is a varint padded to 3 bytes. */
void tenon__message_begin(tenon__message_t* message, uint32_t field) {
  static const uint8_t room[3] = {0};
  if (message->depth == TENON__MESSAGE_DEPTH) {
    abort();
  }
  varint(message, (uint64_t)field << 3 | 2);
  tenon__message_raw(message, room, sizeof(room));
  message->open[message->depth++] = message->size;
}

void tenon__message_end(tenon__message_t* message) {
  const size_t start = message->open[--message->depth];
  const size_t length = message->size - start;
  message->bytes[start - 3] = (uint8_t)((length & 0x7Fu) | 0x80u);
  message->bytes[start - 2] = (uint8_t)((length >> 7 & 0x7Fu) | 0x80u);
  message->bytes[start - 1] = (uint8_t)(length >> 14);
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
