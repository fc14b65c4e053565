/*
 * What one parse carries everywhere: the host's tables, memory, words. All memory comes from the
 * host and lives until the parse ends, so nothing here is ever released. Small blocks are cut from
 * larger ones.
 */
#ifndef TENON_PARSER_ONNX_CONTEXT_H_
#define TENON_PARSER_ONNX_CONTEXT_H_

#include <stdbool.h>
#include <string.h>

#include "tenon/plugin.h"

/* Returns the status of `call` unless it is TENON_OK. Nothing ever needs release here. */
#define ONNX_TRY(call)                          \
  do {                                          \
    const tenon_status_t onnx_status_ = (call); \
    if (onnx_status_ != TENON_OK)               \
      return onnx_status_;                      \
  } while (0)

/* Writes the message to the sink and is `status`. */
#define ONNX_FAIL(context, status, ...) \
  (tenon__onnx_say((context), TENON_SEVERITY_ERROR, __VA_ARGS__), (status))
#define ONNX_FAIL_MEMORY(context) ONNX_FAIL(context, TENON_ERROR_OUT_OF_MEMORY, "out of memory")

typedef struct tenon__onnx_file_t {
  const char* path;
  const void* data;
  size_t size;
  struct tenon__onnx_file_t* next;
} tenon__onnx_file_t;

typedef struct tenon__onnx_context_t {
  tenon_parse_t* parse;
  const tenon_parse_table_t* host;
  tenon_builder_t* builder;
  const tenon_builder_table_t* build;
  const tenon_sink_t* sink;
  uint8_t* block; /* what is left of the newest block */
  size_t block_left;
  tenon__onnx_file_t* files; /* external data, opened once */
} tenon__onnx_context_t;

/* builder and build may be NULL while nothing is built. */
void tenon__onnx_context_initialize(tenon__onnx_context_t* out_context, tenon_parse_t* parse,
                                    const tenon_parse_table_t* host, tenon_builder_t* builder,
                                    const tenon_builder_table_t* build);

/* Zero-filled, aligned to 16 (to 64 when large). NULL when the product overflows or memory is out.
 */
void* tenon__onnx_allocate(tenon__onnx_context_t* context, size_t count, size_t size_bytes);
char* tenon__onnx_format(tenon__onnx_context_t* context, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

void tenon__onnx_say(const tenon__onnx_context_t* context, int32_t severity, const char* format,
                     ...) __attribute__((format(printf, 3, 4)));

/* For structures of the contract that hold what is only read as void*. */
static inline void* tenon__onnx_unconst(const void* data) {
  void* result = NULL;
  memcpy(&result, &data, sizeof(result));
  return result;
}

#endif
