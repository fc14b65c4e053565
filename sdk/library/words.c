/* What this thread's last call said when it failed, for programs that bring no logger. */
#include <stdio.h>
#include <string.h>

#include "sdk/library/library.h"

enum { WORDS_SIZE = 4096 };

static _Thread_local char words[WORDS_SIZE];
static _Thread_local size_t used;

/* A line for each error of a call. What does not fit ends with dots, and never in the middle of a
 * character. */
static void keep(const char* message) {
  static const char dots[] = "...";
  const size_t size = strlen(message);
  const size_t separator = used > 0 ? 1 : 0;
  if (used + separator + size < WORDS_SIZE) {
    (void)snprintf(words + used, WORDS_SIZE - used, "%s%s", separator > 0 ? "\n" : "", message);
    used += separator + size;
    return;
  }
  (void)snprintf(words + used, WORDS_SIZE - used, "%s%s", separator > 0 ? "\n" : "", message);
  used = WORDS_SIZE - sizeof(dots);
  while (used > 0 && ((unsigned char)words[used] & 0xC0u) == 0x80u) {
    --used;
  }
  memcpy(words + used, dots, sizeof(dots));
  used = WORDS_SIZE; /* full */
}

static void hear(void* user, int32_t severity, const char* message) {
  const tenon_sink_t* logger = user;
  if (severity >= TENON_SEVERITY_ERROR && used < WORDS_SIZE) {
    keep(message);
  }
  if (logger != NULL && logger->report != NULL) {
    logger->report(logger->user, severity, message);
  }
}

const tenon_sink_t tenon__words_sink = {NULL, hear};

void tenon__words_sink_initialize(tenon_sink_t* out_sink, tenon_sink_t* logger) {
  *out_sink = (tenon_sink_t){logger, hear};
}

void tenon__words_begin(void) {
  words[0] = '\0';
  used = 0;
}

tenon_status_t tenon__tell(const tenon_sink_t* sink, const char* function, tenon_status_t status) {
  return status == TENON_OK || used > 0
             ? status
             : tenon__fail(sink, status, "%s: %s", function, tenon__status_text(status));
}

const char* tenon_last_message(void) {
  return words;
}
