/*
 * Status, messages and the two macros that hide a return. The place that knows the values writes
 * the message, once; whoever passes a status on says nothing more. So a function that returns a
 * fault either was given a sink and has used it, or says in its header that it is silent. Memory
 * that is out is the exception: nothing below the border says so; the border does (tenon__tell).
 */
#ifndef TENON_CORE_BASE_STATUS_H_
#define TENON_CORE_BASE_STATUS_H_

#include <stdarg.h>

#include "tenon/plugin.h"

/* Returns the status of `call` from the calling function unless it is TENON_OK. Only where nothing
 * needs release. */
#define TENON_TRY(call)                              \
  do {                                               \
    const tenon_status_t tenon_try_status_ = (call); \
    if (tenon_try_status_ != TENON_OK)               \
      return tenon_try_status_; /* one level */      \
  } while (0)

/* Returns OUT_OF_MEMORY from the calling function unless `made` holds: that an allocation, or all
 * of several, gave something. Only where nothing needs release. */
#define TENON_TRY_MEMORY(made)                          \
  do {                                                  \
    if (!(made))                                        \
      return TENON_ERROR_OUT_OF_MEMORY; /* one level */ \
  } while (0)

/* "invalid data", "out of memory", ... Never NULL. */
const char* tenon__status_text(tenon_status_t status);

/* Writes a formatted message to the sink (NULL or an empty sink: nowhere). Messages longer than 2
 * KiB are cut. Never allocates. */
void tenon__report(const tenon_sink_t* sink, int32_t severity, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

/* tenon__report with severity error; returns `status`, so that `return tenon__fail(...)` reads
 * well. */
tenon_status_t tenon__fail(const tenon_sink_t* sink, tenon_status_t status, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

/* A sink that puts `prefix` before each message and passes it on. It lies where it was initialised,
 * as the sink points at it; `next` and `prefix` outlive it. */
typedef struct tenon__prefix_sink_t {
  tenon_sink_t sink; /* give &prefix_sink.sink to the callee */
  const tenon_sink_t* next;
  const char* prefix;
  uint32_t error_count; /* what was passed on */
} tenon__prefix_sink_t;
void tenon__prefix_sink_initialize(tenon__prefix_sink_t* out_sink, const tenon_sink_t* next,
                                   const char* prefix);

/* A sink that keeps the errors it is told, "; " between them, as far as there is room for them, and
 * nothing else. For what is tried, and told only where it matters. It too must stay where it is. */
typedef struct tenon__keeping_sink_t {
  tenon_sink_t sink; /* give &keeping_sink.sink to the callee */
  char message[1024];
} tenon__keeping_sink_t;
void tenon__keeping_sink_initialize(tenon__keeping_sink_t* out_sink);

#endif
