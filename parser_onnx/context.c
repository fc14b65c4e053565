#include "context.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK_SIZE = 64 * 1024, LARGE_SIZE = 4096, ALIGNMENT = 16, MESSAGE_SIZE = 1024 };

void tenon__onnx_context_initialize(tenon__onnx_context_t* out_context, tenon_parse_t* parse,
                                    const tenon_parse_table_t* host, tenon_builder_t* builder,
                                    const tenon_builder_table_t* build) {
  memset(out_context, 0, sizeof(*out_context));
  out_context->parse = parse;
  out_context->host = host;
  out_context->builder = builder;
  out_context->build = build;
  out_context->sink = host->sink(parse);
}

void* tenon__onnx_allocate(tenon__onnx_context_t* context, size_t count, size_t size_bytes) {
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

char* tenon__onnx_format(tenon__onnx_context_t* context, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int length = vsnprintf(NULL, 0, format, arguments);
  char* text = length < 0 ? NULL : tenon__onnx_allocate(context, (size_t)length + 1, 1);
  if (text != NULL) {
    (void)vsnprintf(text, (size_t)length + 1, format, again);
  }
  va_end(again);
  va_end(arguments);
  return text;
}

void tenon__onnx_say(const tenon__onnx_context_t* context, int32_t severity, const char* format,
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
