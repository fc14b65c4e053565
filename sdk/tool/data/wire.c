/* See wire.h. */
#include "data/wire.h"

#include <string.h>

#include "tenon/reader.h"
#include "text/memory.h"

static void put(tool_wire_writer_t* writer, const void* data, size_t size) {
  writer->data = tool_grow(writer->data, &writer->capacity, writer->size + size, 1);
  if (size > 0) {
    memcpy(writer->data + writer->size, data, size);
  }
  writer->size += size;
}

static void put_number(tool_wire_writer_t* writer, uint64_t value) {
  do {
    const uint8_t byte = (uint8_t)((value & 0x7F) | (value > 0x7F ? 0x80u : 0u));
    put(writer, &byte, 1);
    value >>= 7;
  } while (value != 0);
}

void tool_wire_put_varint(tool_wire_writer_t* writer, uint32_t number, uint64_t value) {
  put_number(writer, (uint64_t)number << 3 | TENON_READER_WIRE_VARINT);
  put_number(writer, value);
}

void tool_wire_put_fixed64(tool_wire_writer_t* writer, uint32_t number, uint64_t bits) {
  put_number(writer, (uint64_t)number << 3 | TENON_READER_WIRE_FIXED64);
  put(writer, &bits, sizeof(bits));
}

void tool_wire_put_fixed32(tool_wire_writer_t* writer, uint32_t number, uint32_t bits) {
  put_number(writer, (uint64_t)number << 3 | TENON_READER_WIRE_FIXED32);
  put(writer, &bits, sizeof(bits));
}

void tool_wire_put_length(tool_wire_writer_t* writer, uint32_t number, size_t size) {
  put_number(writer, (uint64_t)number << 3 | TENON_READER_WIRE_LENGTH);
  put_number(writer, size);
}

void tool_wire_put_text(tool_wire_writer_t* writer, uint32_t number, const char* text) {
  tool_wire_put_bytes(writer, number, text, strlen(text));
}

void tool_wire_put_message(tool_wire_writer_t* writer, uint32_t number,
                           tool_wire_writer_t* message) {
  tool_wire_put_bytes(writer, number, message->data, message->size);
  tool_free(message->data);
  *message = (tool_wire_writer_t){0};
}

void tool_wire_put_bytes(tool_wire_writer_t* writer, uint32_t number, const void* data,
                         size_t size) {
  tool_wire_put_length(writer, number, size);
  put(writer, data, size);
}
