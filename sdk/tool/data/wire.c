/* See wire.h. */
#include "data/wire.h"

#include <string.h>

#include "text/memory.h"

static bool fail(tool_wire_t* wire) {
  wire->failed = true;
  wire->position = wire->size;
  return false;
}

bool tool_wire_varint(tool_wire_t* wire, uint64_t* out_value) {
  if (wire->position >= wire->size) {
    return false;
  }
  uint64_t value = 0;
  for (uint32_t shift = 0; shift < 70; shift += 7) {
    if (wire->position >= wire->size) {
      return fail(wire);
    }
    const uint8_t byte = wire->data[wire->position++];
    if (shift == 63 && byte > 1) {
      return fail(wire);
    }
    value |= (uint64_t)(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) {
      *out_value = value;
      return true;
    }
  }
  return fail(wire);
}

static bool take_bytes(tool_wire_t* wire, uint64_t size, tool_wire_field_t* field) {
  if (size > wire->size - wire->position) {
    return fail(wire);
  }
  field->bytes = wire->data + wire->position;
  field->size = (size_t)size;
  wire->position += (size_t)size;
  return true;
}

static bool take_fixed(tool_wire_t* wire, size_t size, tool_wire_field_t* field) {
  if (!take_bytes(wire, size, field)) {
    return false;
  }
  for (size_t i = 0; i < size; ++i) {
    field->value |= (uint64_t)field->bytes[i] << 8 * i;
  }
  return true;
}

bool tool_wire_next(tool_wire_t* wire, tool_wire_field_t* out_field) {
  uint64_t key = 0;
  if (!tool_wire_varint(wire, &key)) {
    return false;
  }
  *out_field = (tool_wire_field_t){.number = (uint32_t)(key >> 3), .type = (uint32_t)(key & 7)};
  if (key >> 3 == 0 || key > UINT32_MAX) {
    return fail(wire);
  }
  uint64_t size = 0;
  switch (out_field->type) {
    case TOOL_WIRE_VARINT:
      return tool_wire_varint(wire, &out_field->value) || fail(wire);
    case TOOL_WIRE_FIXED64:
      return take_fixed(wire, 8, out_field);
    case TOOL_WIRE_FIXED32:
      return take_fixed(wire, 4, out_field);
    case TOOL_WIRE_BYTES:
      return tool_wire_varint(wire, &size) ? take_bytes(wire, size, out_field) : fail(wire);
    default:
      return fail(wire);
  }
}

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
  put_number(writer, (uint64_t)number << 3 | TOOL_WIRE_VARINT);
  put_number(writer, value);
}

void tool_wire_put_fixed64(tool_wire_writer_t* writer, uint32_t number, uint64_t bits) {
  put_number(writer, (uint64_t)number << 3 | TOOL_WIRE_FIXED64);
  put(writer, &bits, sizeof(bits));
}

void tool_wire_put_fixed32(tool_wire_writer_t* writer, uint32_t number, uint32_t bits) {
  put_number(writer, (uint64_t)number << 3 | TOOL_WIRE_FIXED32);
  put(writer, &bits, sizeof(bits));
}

void tool_wire_put_length(tool_wire_writer_t* writer, uint32_t number, size_t size) {
  put_number(writer, (uint64_t)number << 3 | TOOL_WIRE_BYTES);
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
