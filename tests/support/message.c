#include "tests/support/message.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTH_SIZE = 5 };

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
  uint8_t bytes[10];
  size_t size = 0;
  do {
    bytes[size] = (uint8_t)(value & 0x7Fu);
    value >>= 7;
    bytes[size] |= value > 0 ? 0x80u : 0;
    ++size;
  } while (value > 0);
  tenon__message_raw(message, bytes, size);
}

void tenon__message_varint(tenon__message_t* message, uint32_t field, uint64_t value) {
  varint(message, (uint64_t)field << 3);
  varint(message, value);
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

void tenon__message_fixed(tenon__message_t* message, uint32_t field, const void* data,
                          size_t size) {
  varint(message, (uint64_t)field << 3 | (size == 8 ? 1u : 5u));
  tenon__message_raw(message, data, size);
}

/* The length is padded, so that it can be written when it is known. */
void tenon__message_begin(tenon__message_t* message, uint32_t field) {
  static const uint8_t length[LENGTH_SIZE] = {0};
  if (message->depth == TENON__MESSAGE_DEPTH) {
    abort();
  }
  varint(message, (uint64_t)field << 3 | 2);
  tenon__message_raw(message, length, sizeof(length));
  message->open[message->depth++] = message->size;
}

void tenon__message_end(tenon__message_t* message) {
  const size_t content = message->open[--message->depth];
  size_t length = message->size - content;
  for (size_t i = 0; i < LENGTH_SIZE; ++i) {
    message->bytes[content - LENGTH_SIZE + i] =
        (uint8_t)((length & 0x7Fu) | (i + 1 < LENGTH_SIZE ? 0x80u : 0));
    length >>= 7;
  }
}
