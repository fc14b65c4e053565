/* Reading stops at the first byte that is not there; writing stops when memory is out. Both
 * remember. */
#include "core/base/bytes.h"

#include <string.h>

#include "core/base/allocator.h"

void tenon__byte_reader_initialize(tenon__byte_reader_t* out_reader, const void* data,
                                   size_t size) {
  static const uint8_t nothing[1] = {0};
  *out_reader = (tenon__byte_reader_t){.data = data != NULL ? data : nothing,
                                       .size = data != NULL ? size : 0};
}

const void* tenon__read_view(tenon__byte_reader_t* reader, size_t size_bytes) {
  if (reader->failed || size_bytes > reader->size - reader->position) {
    reader->failed = true;
    return NULL;
  }
  const uint8_t* view = reader->data + reader->position;
  reader->position += size_bytes;
  return view;
}

static uint64_t read_number(tenon__byte_reader_t* reader, size_t size_bytes) {
  const uint8_t* bytes = tenon__read_view(reader, size_bytes);
  uint64_t number = 0;
  if (bytes == NULL) {
    return 0;
  }
  for (size_t i = size_bytes; i > 0; --i) {
    number = number << 8 | bytes[i - 1];
  }
  return number;
}

uint8_t tenon__read_u8(tenon__byte_reader_t* reader) {
  return (uint8_t)read_number(reader, 1);
}

uint32_t tenon__read_u32(tenon__byte_reader_t* reader) {
  return (uint32_t)read_number(reader, 4);
}

uint64_t tenon__read_u64(tenon__byte_reader_t* reader) {
  return read_number(reader, 8);
}

int64_t tenon__read_i64(tenon__byte_reader_t* reader) {
  return (int64_t)read_number(reader, 8);
}

double tenon__read_f64(tenon__byte_reader_t* reader) {
  const uint64_t bits = read_number(reader, 8);
  double value = 0.0;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

const char* tenon__read_string(tenon__byte_reader_t* reader) {
  const size_t length = tenon__read_u32(reader);
  const char* text = tenon__read_view(reader, length + 1);
  if (text == NULL) {
    return "";
  }
  if (memchr(text, '\0', length + 1) != text + length) {
    reader->failed = true;
    return "";
  }
  return text;
}

uint32_t tenon__read_count(tenon__byte_reader_t* reader, size_t least_size) {
  const uint32_t count = tenon__read_u32(reader);
  const size_t left = reader->size - reader->position;
  if (least_size > 0 && count > left / least_size) {
    reader->failed = true;
  }
  return reader->failed ? 0 : count;
}

void tenon__byte_writer_initialize(tenon__byte_writer_t* out_writer, tenon_allocator_t allocator) {
  *out_writer = (tenon__byte_writer_t){.allocator = allocator};
}

void tenon__byte_writer_deinitialize(tenon__byte_writer_t* writer) {
  tenon__free(writer->allocator, writer->data, writer->capacity);
  tenon__byte_writer_initialize(writer, writer->allocator);
}

/* Where the next `size_bytes` go, NULL when there is no room for them. */
static uint8_t* extend(tenon__byte_writer_t* writer, size_t size_bytes) {
  size_t needed = 0;
  if (writer->failed || !tenon__add_size(writer->size, size_bytes, &needed) ||
      !TENON_GROW(writer->allocator, writer->data, writer->capacity, needed)) {
    writer->failed = true;
    return NULL;
  }
  uint8_t* place = writer->data + writer->size;
  writer->size = needed;
  return place;
}

static void write_number(tenon__byte_writer_t* writer, uint64_t number, size_t size_bytes) {
  uint8_t* place = extend(writer, size_bytes);
  if (place == NULL) {
    return;
  }
  for (size_t i = 0; i < size_bytes; ++i) {
    place[i] = (uint8_t)(number >> (8 * i));
  }
}

void tenon__write_u8(tenon__byte_writer_t* writer, uint8_t value) {
  write_number(writer, value, 1);
}

void tenon__write_u32(tenon__byte_writer_t* writer, uint32_t value) {
  write_number(writer, value, 4);
}

void tenon__write_u64(tenon__byte_writer_t* writer, uint64_t value) {
  write_number(writer, value, 8);
}

void tenon__write_i64(tenon__byte_writer_t* writer, int64_t value) {
  write_number(writer, (uint64_t)value, 8);
}

void tenon__write_f64(tenon__byte_writer_t* writer, double value) {
  write_number(writer, tenon__bits_of(value), 8);
}

void tenon__write_bytes(tenon__byte_writer_t* writer, const void* data, size_t size_bytes) {
  uint8_t* place = size_bytes > 0 ? extend(writer, size_bytes) : NULL;
  if (place != NULL) {
    memcpy(place, data, size_bytes);
  }
}

void tenon__write_string(tenon__byte_writer_t* writer, const char* text) {
  const char* known = text != NULL ? text : "";
  const size_t length = strlen(known);
  if (length >= UINT32_MAX) {
    writer->failed = true;
    return;
  }
  tenon__write_u32(writer, (uint32_t)length);
  tenon__write_bytes(writer, known, length + 1);
}

bool tenon__structure_copy(const void* source, size_t least, size_t room, size_t full,
                           void* out_copy) {
  size_t size = 0;
  memcpy(&size, source, sizeof(size));
  if (size < least || size > room || size > TENON_STRUCTURE_LIMIT) {
    return false;
  }
  memset(out_copy, 0, full);
  memcpy(out_copy, source, size < full ? size : full);
  memcpy(out_copy, &full, sizeof(full));
  return true;
}

bool tenon__structure_fill(const void* source, size_t full, void* inout_target) {
  size_t size = 0;
  memcpy(&size, inout_target, sizeof(size));
  if (size < sizeof(size)) {
    return false;
  }
  memcpy(inout_target, source, size < full ? size : full);
  memcpy(inout_target, &size, sizeof(size));
  return true;
}
