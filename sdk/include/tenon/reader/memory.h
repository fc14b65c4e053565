/* The code of tenon/reader.h: state of a parse, messages, memory, characters. */
#ifndef TENON_READER_MEMORY_H_
#define TENON_READER_MEMORY_H_

#include <stdio.h>
#include <string.h>

#include "tenon/reader.h"

enum {
  TENON_READER_BLOCK_SIZE = 64 * 1024,
  TENON_READER_LARGE_SIZE = 4096, /* from the host, one by one */
  TENON_READER_ALIGNMENT = 16
};

static inline void tenon_reader_initialize(tenon_reader_t* out_reader, tenon_parse_t* parse,
                                           const tenon_parse_table_t* host,
                                           tenon_builder_t* builder,
                                           const tenon_builder_table_t* build) {
  memset(out_reader, 0, sizeof(*out_reader));
  out_reader->parse = parse;
  out_reader->host = host;
  out_reader->builder = builder;
  out_reader->build = build;
  out_reader->sink = host->sink(parse);
}

/* ---- Words ---- */

static inline void tenon_reader_say(const tenon_reader_t* reader, int32_t severity,
                                    const char* format, ...) {
  if (reader->sink == NULL || reader->sink->report == NULL) {
    return;
  }
  char message[TENON_READER_MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  reader->sink->report(reader->sink->user, severity, message);
}

static inline tenon_status_t tenon_reader_fail_memory(const tenon_reader_t* reader) {
  return TENON_READER_FAIL(reader, TENON_ERROR_OUT_OF_MEMORY, "out of memory");
}

/* ---- The host ---- */

static inline const char* tenon_reader_setting(const tenon_reader_t* reader, const char* name) {
  const tenon_parse_table_t* host = reader->host;
  const bool can_ask = TENON_HAS(host, tenon_parse_table_t, setting) && host->setting != NULL;
  return can_ask ? host->setting(reader->parse, name) : NULL;
}

static inline bool tenon_reader_can_declare(const tenon_reader_t* reader) {
  const tenon_parse_table_t* host = reader->host;
  return TENON_HAS(host, tenon_parse_table_t, declare_node) && host->declare_value != NULL &&
         host->declare_node != NULL;
}

/* ---- Memory ---- */

static inline void* tenon_reader_allocate(tenon_reader_t* reader, size_t count, size_t size_bytes) {
  const size_t alignment = TENON_READER_ALIGNMENT;
  if (size_bytes != 0 && count > (SIZE_MAX - alignment) / size_bytes) {
    return NULL;
  }
  const size_t wanted = count * size_bytes;
  if (wanted > TENON_READER_LARGE_SIZE) {
    return reader->host->allocate(reader->parse, wanted);
  }
  const size_t rounded = wanted == 0 ? alignment : (wanted + alignment - 1) / alignment * alignment;
  if (rounded > reader->block_left) {
    void* block = reader->host->allocate(reader->parse, TENON_READER_BLOCK_SIZE);
    if (block == NULL) {
      return NULL;
    }
    reader->block = (uint8_t*)block;
    reader->block_left = TENON_READER_BLOCK_SIZE;
  }
  void* result = reader->block;
  reader->block += rounded;
  reader->block_left -= rounded;
  return result;
}

static inline void* tenon_reader_enlarge(tenon_reader_t* reader, const void* old, size_t old_count,
                                         size_t new_count, size_t size_bytes) {
  void* larger = tenon_reader_allocate(reader, new_count, size_bytes);
  if (larger != NULL && old_count > 0) {
    memcpy(larger, old, old_count * size_bytes);
  }
  return larger;
}

static inline char* tenon_reader_format(tenon_reader_t* reader, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int length = vsnprintf(NULL, 0, format, arguments);
  char* text = length < 0 ? NULL : (char*)tenon_reader_allocate(reader, (size_t)length + 1, 1);
  if (text != NULL) {
    (void)vsnprintf(text, (size_t)length + 1, format, again);
  }
  va_end(again);
  va_end(arguments);
  return text;
}

static inline tenon_status_t tenon_reader_spend(tenon_reader_t* reader, size_t count,
                                                size_t size_bytes) {
  const size_t left = TENON_READER_MADE_LIMIT - reader->made_bytes;
  if (size_bytes != 0 && count > left / size_bytes) {
    return TENON_READER_FAIL(reader, TENON_ERROR_UNSUPPORTED,
                             "its lists and filled tensors need more than 1 GiB");
  }
  reader->made_bytes += count * size_bytes;
  return TENON_OK;
}

static inline void* tenon_reader_unconst(const void* data) {
  void* result = NULL;
  memcpy(&result, &data, sizeof(result));
  return result;
}

/* ---- Characters ---- */

/* Length of the UTF-8 sequence at data, 0 if it is none, or is NUL. */
static inline size_t tenon_reader_utf8_length(const uint8_t* data, size_t size_bytes) {
  const uint8_t first = data[0];
  if (first < 0x80u) {
    return first != 0;
  }
  const size_t length = first >= 0xC2u && first < 0xE0u   ? 2
                        : first >= 0xE0u && first < 0xF0u ? 3
                        : first >= 0xF0u && first < 0xF5u ? 4
                                                          : 0;
  if (length == 0 || length > size_bytes) {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((data[i] & 0xC0u) != 0x80u) {
      return 0;
    }
  }
  const bool overlong = (first == 0xE0u && data[1] < 0xA0u) || (first == 0xF0u && data[1] < 0x90u);
  const bool outside = (first == 0xEDu && data[1] > 0x9Fu) || (first == 0xF4u && data[1] > 0x8Fu);
  return overlong || outside ? 0 : length;
}

static inline size_t tenon_reader_character(const uint8_t* data, size_t size_bytes,
                                            char out_text[TENON_READER_CHARACTER_SIZE],
                                            size_t* out_taken) {
  static const char digits[] = "0123456789abcdef";
  const size_t length = tenon_reader_utf8_length(data, size_bytes);
  if (length > 0) {
    memcpy(out_text, data, length);
    *out_taken = length;
    return length;
  }
  out_text[0] = '\\';
  out_text[1] = 'x';
  out_text[2] = digits[data[0] >> 4];
  out_text[3] = digits[data[0] & 15u];
  *out_taken = 1;
  return TENON_READER_CHARACTER_SIZE;
}

static inline char* tenon_reader_readable(tenon_reader_t* reader, const void* data,
                                          size_t size_bytes) {
  const uint8_t* bytes = (const uint8_t*)data;
  /* The last one ends it. */
  char* text = (char*)tenon_reader_allocate(reader, size_bytes + 1, TENON_READER_CHARACTER_SIZE);
  size_t used = 0;
  size_t taken = 0;
  if (text != NULL) {
    for (size_t i = 0; i < size_bytes; i += taken) {
      used += tenon_reader_character(bytes + i, size_bytes - i, text + used, &taken);
    }
  }
  return text;
}

#endif /* TENON_READER_MEMORY_H_ */
