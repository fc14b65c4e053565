/* What this thread's last call said when it failed, for programs that bring no logger. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/escape.h"
#include "sdk/library/library.h"

enum { LAST_SIZE = 4096 };

/* Allocated when the thread first fails, and freed when it ends. Thread-local storage itself is
 * scarce: a library that is loaded by dlopen must need next to nothing of it. */
static _Thread_local char* last;
static _Thread_local size_t used; /* LAST_SIZE: full */
static const char no_memory[] = "out of memory: the message is lost";

static pthread_key_t key; /* of each thread that has failed: `last` */
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool has_key;

static void free_last(void* text) {
  tenon__free(tenon__allocator_default(), text, LAST_SIZE);
  last = NULL;
  used = 0;
}

static void create_key(void) {
  has_key = pthread_key_create(&key, free_last) == 0;
}

/* False if it cannot be had, or could not be freed. */
static bool allocate_last(void) {
  (void)pthread_once(&key_once, create_key);
  if (!has_key) {
    return false;
  }
  char* text = tenon__allocate(tenon__allocator_default(), LAST_SIZE, 1);
  if (text == NULL || pthread_setspecific(key, text) != 0) {
    tenon__free(tenon__allocator_default(), text, LAST_SIZE);
    return false;
  }
  last = text;
  return true;
}

/* A line for each error of a call. What does not fit ends with dots, and never in the middle of a
 * character. */
static void keep(const char* message) {
  static const char dots[] = "...";
  const size_t size = strlen(message);
  if (last == NULL && !allocate_last()) {
    used = LAST_SIZE;
    return;
  }
  if (used > 0 && used + 1 < LAST_SIZE) {
    last[used++] = '\n';
  }
  const size_t room = LAST_SIZE - 1 - used;
  memcpy(last + used, message, size < room ? size : room);
  if (size <= room) {
    used += size;
    last[used] = '\0';
    return;
  }
  used = LAST_SIZE - sizeof(dots);
  while (used > 0 && ((unsigned char)last[used] & 0xC0u) == 0x80u) {
    --used;
  }
  memcpy(last + used, dots, sizeof(dots));
  used = LAST_SIZE;
}

static void pass_on(const tenon_registry_t* registry, int32_t severity, const char* message) {
  if (severity >= TENON_SEVERITY_ERROR && used < LAST_SIZE) {
    keep(message);
  }
  if (registry != NULL && registry->logger.report != NULL) {
    registry->logger.report(registry->logger.user, severity, message);
  }
}

/* The one way to the application: names come from models, files and plugins. */
static void hear(void* user, int32_t severity, const char* message) {
  const tenon_registry_t* registry = user;
  char few[LAST_SIZE];
  if (!tenon__needs_escape(message)) {
    pass_on(registry, severity, message);
    return;
  }
  const size_t size = tenon__escape(message, few, sizeof(few)) + 1;
  char* all =
      size > sizeof(few) && registry != NULL ? tenon__allocate(registry->allocator, size, 1) : NULL;
  if (all != NULL) {
    (void)tenon__escape(message, all, size);
  }
  pass_on(registry, severity, all != NULL ? all : few);
  if (all != NULL) {
    tenon__free(registry->allocator, all, size);
  }
}

const tenon_sink_t tenon__message_sink = {NULL, hear};

tenon_sink_t tenon__message_sink_of(tenon_registry_t* registry) {
  return (tenon_sink_t){registry, hear};
}

void tenon__last_message_clear(void) {
  used = 0;
}

tenon_status_t tenon__tell(const tenon_sink_t* sink, const char* function, tenon_status_t status) {
  return status == TENON_OK || used > 0
             ? status
             : tenon__fail(sink, status, "%s: %s", function, tenon__status_text(status));
}

const char* tenon_last_message(void) {
  if (used == 0) {
    return "";
  }
  return last != NULL ? last : no_memory;
}
