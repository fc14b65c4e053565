#include "context.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
  BLOCK_SIZE = 64 * 1024,
  LARGE_SIZE = 4096,
  ALIGNMENT = 16,
  MESSAGE_SIZE = 2048,
  MADE_LIMIT = 1 << 30
};

void tenon__uff_context_initialize(tenon__uff_context_t* out_context, tenon_parse_t* parse,
                                   const tenon_parse_table_t* host, tenon_builder_t* builder,
                                   const tenon_builder_table_t* build) {
  memset(out_context, 0, sizeof(*out_context));
  out_context->parse = parse;
  out_context->host = host;
  out_context->builder = builder;
  out_context->build = build;
  out_context->sink = host->sink(parse);
}

void* tenon__uff_allocate(tenon__uff_context_t* context, size_t count, size_t size_bytes) {
  if (size_bytes != 0 && count > (SIZE_MAX - ALIGNMENT) / size_bytes) {
    return NULL;
  }
  const size_t wanted = count * size_bytes;
  if (wanted > LARGE_SIZE) {
    return context->host->allocate(context->parse, wanted);
  }
  const size_t rounded = wanted == 0 ? ALIGNMENT : (wanted + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (rounded > context->block_left) {
    uint8_t* block = context->host->allocate(context->parse, BLOCK_SIZE);
    if (block == NULL) {
      return NULL;
    }
    context->block = block;
    context->block_left = BLOCK_SIZE;
  }
  void* result = context->block;
  context->block += rounded;
  context->block_left -= rounded;
  return result;
}

void* tenon__uff_enlarge(tenon__uff_context_t* context, const void* old, size_t old_count,
                         size_t new_count, size_t size_bytes) {
  void* larger = tenon__uff_allocate(context, new_count, size_bytes);
  if (larger != NULL && old_count > 0) {
    memcpy(larger, old, old_count * size_bytes);
  }
  return larger;
}

char* tenon__uff_format(tenon__uff_context_t* context, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int length = vsnprintf(NULL, 0, format, arguments);
  char* text = length < 0 ? NULL : tenon__uff_allocate(context, (size_t)length + 1, 1);
  if (text != NULL) {
    (void)vsnprintf(text, (size_t)length + 1, format, again);
  }
  va_end(again);
  va_end(arguments);
  return text;
}

/* Length of the UTF-8 sequence at data, 0 if it is none, or is NUL. */
static size_t utf8_length(const uint8_t* data, size_t size) {
  const uint8_t first = data[0];
  if (first < 0x80u) {
    return first != 0;
  }
  const size_t length = first >= 0xC2u && first < 0xE0u   ? 2
                        : first >= 0xE0u && first < 0xF0u ? 3
                        : first >= 0xF0u && first < 0xF5u ? 4
                                                          : 0;
  if (length == 0 || length > size) {
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

char* tenon__uff_readable(tenon__uff_context_t* context, const void* data, size_t size_bytes) {
  static const char digits[] = "0123456789abcdef";
  const uint8_t* bytes = data;
  char* text = tenon__uff_allocate(context, size_bytes + 1, 4);
  size_t used = 0;
  for (size_t i = 0; text != NULL && i < size_bytes;) {
    const size_t length = utf8_length(bytes + i, size_bytes - i);
    if (length > 0) {
      memcpy(text + used, bytes + i, length);
      used += length;
      i += length;
    } else {
      const uint8_t byte = bytes[i++];
      const char escape[4] = {'\\', 'x', digits[byte >> 4], digits[byte & 15u]};
      memcpy(text + used, escape, sizeof(escape));
      used += sizeof(escape);
    }
  }
  return text;
}

tenon_status_t tenon__uff_spend(tenon__uff_context_t* context, size_t count, size_t size_bytes) {
  const size_t left = MADE_LIMIT - context->made_bytes;
  if (size_bytes != 0 && count > left / size_bytes) {
    return UFF_FAIL(context, TENON_ERROR_UNSUPPORTED,
                    "its lists and filled tensors need more than 1 GiB");
  }
  context->made_bytes += count * size_bytes;
  return TENON_OK;
}

const char* tenon__uff_setting(const tenon__uff_context_t* context, const char* name) {
  const tenon_parse_table_t* host = context->host;
  const bool can_ask = TENON_HAS(host, tenon_parse_table_t, setting) && host->setting != NULL;
  return can_ask ? host->setting(context->parse, name) : NULL;
}

void tenon__uff_say(const tenon__uff_context_t* context, int32_t severity, const char* format,
                    ...) {
  if (context->sink == NULL || context->sink->report == NULL) {
    return;
  }
  char message[MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  context->sink->report(context->sink->user, severity, message);
}
