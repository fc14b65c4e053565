/*
 * What one parse carries everywhere: the host's tables, memory, words. All memory comes from the
 * host and lives until the parse ends, so nothing here is ever released. Small blocks are cut from
 * larger ones.
 */
#ifndef TENON_PARSER_CAFFE_CONTEXT_H_
#define TENON_PARSER_CAFFE_CONTEXT_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* Returns the status of `call` unless it is TENON_OK. Nothing ever needs release here. */
#define CAFFE_TRY(call)                          \
  do {                                           \
    const tenon_status_t caffe_status_ = (call); \
    if (caffe_status_ != TENON_OK)               \
      return caffe_status_;                      \
  } while (0)

/* Writes the message to the sink and is `status`. */
#define CAFFE_FAIL(context, status, ...) \
  (tenon__caffe_say((context), TENON_SEVERITY_ERROR, __VA_ARGS__), (status))
#define CAFFE_FAIL_MEMORY(context) CAFFE_FAIL(context, TENON_ERROR_OUT_OF_MEMORY, "out of memory")

typedef struct tenon__caffe_context_t {
  tenon_parse_t* parse;
  const tenon_parse_table_t* host;
  tenon_builder_t* builder;
  const tenon_builder_table_t* build;
  const tenon_sink_t* sink;
  uint8_t* block; /* what is left of the newest block */
  size_t block_left;
} tenon__caffe_context_t;

/* builder and build may be NULL while nothing is built. */
void tenon__caffe_context_initialize(tenon__caffe_context_t* out_context, tenon_parse_t* parse,
                                     const tenon_parse_table_t* host, tenon_builder_t* builder,
                                     const tenon_builder_table_t* build);

/* Zero-filled, aligned to 16 (to 64 when large). NULL when the product overflows or memory is out.
 */
void* tenon__caffe_allocate(tenon__caffe_context_t* context, size_t count, size_t size_bytes);
/* The old elements, then zeros; the old memory stays. */
void* tenon__caffe_enlarge(tenon__caffe_context_t* context, const void* old, size_t old_count,
                           size_t new_count, size_t size_bytes);
char* tenon__caffe_format(tenon__caffe_context_t* context, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
/* Any bytes as UTF-8 that ends with NUL: what is none, and NUL, is written as \xNN. */
char* tenon__caffe_readable(tenon__caffe_context_t* context, const void* data, size_t size_bytes);

/* What the caller set for this parser; NULL: nothing. */
const char* tenon__caffe_setting(const tenon__caffe_context_t* context, const char* name);

void tenon__caffe_say(const tenon__caffe_context_t* context, int32_t severity, const char* format,
                      ...) __attribute__((format(printf, 3, 4)));

#endif
