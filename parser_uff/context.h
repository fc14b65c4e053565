/*
 * What one parse carries everywhere: the host's tables, memory, words. All memory comes from the
 * host and lives until the parse ends, so nothing here is ever released. Small blocks are cut from
 * larger ones.
 */
#ifndef TENON_PARSER_UFF_CONTEXT_H_
#define TENON_PARSER_UFF_CONTEXT_H_

#include <stdbool.h>
#include <string.h>

#include "tenon/plugin.h"

/* Returns the status of `call` unless it is TENON_OK. Nothing ever needs release here. */
#define UFF_TRY(call)                          \
  do {                                         \
    const tenon_status_t uff_status_ = (call); \
    if (uff_status_ != TENON_OK)               \
      return uff_status_;                      \
  } while (0)

/* Writes the message to the sink and is `status`. */
#define UFF_FAIL(context, status, ...) \
  (tenon__uff_say((context), TENON_SEVERITY_ERROR, __VA_ARGS__), (status))
#define UFF_FAIL_MEMORY(context) UFF_FAIL(context, TENON_ERROR_OUT_OF_MEMORY, "out of memory")

typedef struct tenon__uff_context_t {
  tenon_parse_t* parse;
  const tenon_parse_table_t* host;
  tenon_builder_t* builder;
  const tenon_builder_table_t* build;
  const tenon_sink_t* sink;
  uint8_t* block; /* what is left of the newest block */
  size_t block_left;
  size_t made_bytes; /* see tenon__uff_spend */
  bool is_text;      /* of the file that is read: its bytes are no views of the file */
} tenon__uff_context_t;

/* builder and build may be NULL while nothing is built. */
void tenon__uff_context_initialize(tenon__uff_context_t* out_context, tenon_parse_t* parse,
                                   const tenon_parse_table_t* host, tenon_builder_t* builder,
                                   const tenon_builder_table_t* build);

/* Zero-filled, aligned to 16 (to 64 when large). NULL when the product overflows or memory is out.
 */
void* tenon__uff_allocate(tenon__uff_context_t* context, size_t count, size_t size_bytes);
/* The old elements, then zeros; the old memory stays. */
void* tenon__uff_enlarge(tenon__uff_context_t* context, const void* old, size_t old_count,
                         size_t new_count, size_t size_bytes);
char* tenon__uff_format(tenon__uff_context_t* context, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
/* Any bytes as UTF-8 that ends with NUL: what is none, and NUL, is written as \xNN. */
char* tenon__uff_readable(tenon__uff_context_t* context, const void* data, size_t size_bytes);

/* Counts memory that a short file can ask for much of: numbers that are filled in, data that many
 * nodes refer to. UNSUPPORTED beyond 1 GiB. */
tenon_status_t tenon__uff_spend(tenon__uff_context_t* context, size_t count, size_t size_bytes);

/* What the caller set for this parser; NULL: nothing. */
const char* tenon__uff_setting(const tenon__uff_context_t* context, const char* name);

void tenon__uff_say(const tenon__uff_context_t* context, int32_t severity, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

/* For structures of the contract that hold what is only read as void*. */
static inline void* tenon__uff_unconst(const void* data) {
  void* result = NULL;
  memcpy(&result, &data, sizeof(result));
  return result;
}

#endif
