/*
 * Which function of which plugin a thread is in: for a program that is told of a crash and wants to
 * say whose. A note on the caller's stack, or one that is there anyway, and one store before the
 * call and one after it.
 *
 * A signal handler may read the note, in any thread and wherever the thread was interrupted, so
 * reading never allocates. The note is a thread-local variable, and the library may have been
 * loaded by dlopen: the first access of a thread then allocates the thread's block.
 * tenon__call_enter does that before the plugin is called, and leaves the address where a handler
 * finds it without an access.
 */
#ifndef TENON_CORE_BASE_CALL_H_
#define TENON_CORE_BASE_CALL_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* Strings live as long as the call. */
typedef struct tenon__call_t {
  const char* plugin;
  const char* function; /* "enqueue" */
  const char* item;     /* the kernel, operator, ...; "" for none */
  const char* node;     /* the node, or file, that it is about; "" for none */
} tenon__call_t;

typedef struct tenon__thread_calls_t {
  /* The innermost call of this thread, NULL outside of any. Workers of a pool take over their
   * caller's. */
  const tenon__call_t* volatile now;
  bool is_registered; /* a handler finds `now` */
} tenon__thread_calls_t;

#if defined(__GNUC__)
__attribute__((visibility("hidden")))
#endif
extern _Thread_local tenon__thread_calls_t tenon__calls;

/* Leaves the address of this thread's calls for tenon__call_get. If the system has no memory or no
 * key for it, the thread's calls are not found, and the next call tries again. */
void tenon__call_register(void);

/* The innermost call of this thread, NULL outside of any. Async-signal-safe. */
const tenon__call_t* tenon__call_get(void);

/* Returns what is to be given to leave. `call` stays where it is until then. Calls nest: a plugin's
 * function may call the host, which calls another plugin. */
static inline const tenon__call_t* tenon__call_enter(const tenon__call_t* call) {
  const tenon__call_t* outer = tenon__calls.now;
  if (!tenon__calls.is_registered) {
    tenon__call_register();
  }
  tenon__calls.now = call;
  return outer;
}
static inline void tenon__call_leave(const tenon__call_t* outer) {
  tenon__calls.now = outer;
}

#endif
