/*
 * Status, messages and the two macros that hide a return. The code that detects an error sends the
 * message, once; callers that pass the status on send none. So a function that returns an error has
 * either sent a message to its sink, or its header states that it sends none. Exception:
 * OUT_OF_MEMORY has no message below the API boundary, which adds it (tenon__tell).
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

/* Returns OUT_OF_MEMORY from the calling function unless `made` is true, that is, unless all
 * allocations have succeeded. Use it only if nothing needs release. */
#define TENON_TRY_MEMORY(made)                          \
  do {                                                  \
    if (!(made))                                        \
      return TENON_ERROR_OUT_OF_MEMORY; /* one level */ \
  } while (0)

/* Returns "invalid data", "out of memory", ... Never NULL. */
const char* tenon__status_text(tenon_status_t status);

/* Sends a formatted message to the sink (NULL or an empty sink: discarded). Messages longer than 2
 * KiB are truncated. Never allocates. */
void tenon__report(const tenon_sink_t* sink, int32_t severity, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

/* tenon__report with severity error; returns `status`, so that `return tenon__fail(...)` reads
 * well. */
tenon_status_t tenon__fail(const tenon_sink_t* sink, tenon_status_t status, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

/* A sink that puts `prefix` before each message and passes it on. Do not move it, because the sink
 * points to it. `next` and `prefix` outlive it. */
typedef struct tenon__prefix_sink_t {
  tenon_sink_t sink; /* give &prefix_sink.sink to the callee */
  const tenon_sink_t* next;
  const char* prefix;
  uint32_t error_count; /* number of errors passed on */
} tenon__prefix_sink_t;
void tenon__prefix_sink_initialize(tenon__prefix_sink_t* out_sink, const tenon_sink_t* next,
                                   const char* prefix);

/* A sink that keeps only errors, separated by "; ", as far as there is space. For trials whose
 * errors are reported only if relevant. Do not move it. */
typedef struct tenon__keeping_sink_t {
  tenon_sink_t sink; /* give &keeping_sink.sink to the callee */
  char message[1024];
} tenon__keeping_sink_t;
void tenon__keeping_sink_initialize(tenon__keeping_sink_t* out_sink);

#endif
