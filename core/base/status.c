/* Words for status values, and messages put together on the stack. */
#include "core/base/status.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { TENON_MESSAGE_SIZE = 2048 };

const char* tenon__status_text(tenon_status_t status) {
  static const char* const texts[] = {
      [TENON_OK] = "success",
      [TENON_ERROR_INVALID_ARGUMENT] = "invalid argument",
      [TENON_ERROR_INVALID_STATE] = "invalid state",
      [TENON_ERROR_INVALID_DATA] = "invalid data",
      [TENON_ERROR_UNSUPPORTED] = "unsupported",
      [TENON_ERROR_NOT_FOUND] = "not found",
      [TENON_ERROR_OUT_OF_MEMORY] = "out of memory",
      [TENON_ERROR_IO] = "input or output failed",
      [TENON_ERROR_DEVICE] = "device failed",
      [TENON_ERROR_DENIED] = "denied",
      [TENON_ERROR_CANCELLED] = "cancelled",
      [TENON_ERROR_INTERNAL] = "internal error",
  };
  const size_t count = sizeof(texts) / sizeof(texts[0]);
  return status >= 0 && (size_t)status < count ? texts[status] : "unknown status";
}

static bool heard(const tenon_sink_t* sink) {
  return sink != NULL && sink->report != NULL;
}

/* `wanted` is what vsnprintf would have written to `buffer`. A message that did not fit ends with
 * dots, and never in the middle of a character. */
static void end_cut_message(char* buffer, size_t size, int wanted) {
  static const char dots[] = "...";
  if (wanted < 0) {
    (void)snprintf(buffer, size, "(a message that cannot be formatted)");
    return;
  }
  if ((size_t)wanted < size) {
    return;
  }
  size_t end = size - sizeof(dots);
  while (end > 0 && ((unsigned char)buffer[end] & 0xC0u) == 0x80u) {
    --end;
  }
  memcpy(buffer + end, dots, sizeof(dots));
}

__attribute__((format(printf, 3, 0))) static void report_list(const tenon_sink_t* sink,
                                                              int32_t severity, const char* format,
                                                              va_list arguments) {
  char message[TENON_MESSAGE_SIZE];
  end_cut_message(message, sizeof(message), vsnprintf(message, sizeof(message), format, arguments));
  sink->report(sink->user, severity, message);
}

void tenon__report(const tenon_sink_t* sink, int32_t severity, const char* format, ...) {
  if (heard(sink)) {
    va_list arguments;
    va_start(arguments, format);
    report_list(sink, severity, format, arguments);
    va_end(arguments);
  }
}

tenon_status_t tenon__fail(const tenon_sink_t* sink, tenon_status_t status, const char* format,
                           ...) {
  if (heard(sink)) {
    va_list arguments;
    va_start(arguments, format);
    report_list(sink, TENON_SEVERITY_ERROR, format, arguments);
    va_end(arguments);
  }
  return status;
}

static void report_with_prefix(void* user, int32_t severity, const char* message) {
  tenon__prefix_sink_t* prefix_sink = user;
  prefix_sink->error_count += severity == TENON_SEVERITY_ERROR ? 1 : 0;
  tenon__report(prefix_sink->next, severity, "%s%s", prefix_sink->prefix, message);
}

void tenon__prefix_sink_initialize(tenon__prefix_sink_t* out_sink, const tenon_sink_t* next,
                                   const char* prefix) {
  out_sink->sink.user = out_sink;
  out_sink->sink.report = heard(next) ? report_with_prefix : NULL;
  out_sink->next = next;
  out_sink->prefix = prefix;
  out_sink->error_count = 0;
}

static void keep(void* user, int32_t severity, const char* message) {
  tenon__keeping_sink_t* keeping_sink = user;
  char* kept = keeping_sink->message;
  const size_t size = sizeof(keeping_sink->message);
  const size_t used = strlen(kept);
  if (severity >= TENON_SEVERITY_ERROR) {
    const int wanted = snprintf(kept + used, size - used, "%s%s", used > 0 ? "; " : "", message);
    end_cut_message(kept, size, wanted < 0 ? wanted : (int)used + wanted);
  }
}

void tenon__keeping_sink_initialize(tenon__keeping_sink_t* out_sink) {
  out_sink->sink = (tenon_sink_t){out_sink, keep};
  out_sink->message[0] = '\0';
}
