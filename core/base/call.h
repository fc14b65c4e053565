/*
 * Records the plugin and function in which a thread is, for crash reports of a program. The record
 * is on the caller's stack, or exists already. It costs one store before and one after the call.
 *
 * A signal handler may read the record, in any thread and at any point, so reading never allocates.
 * The record is a thread-local variable. If the library was loaded by dlopen, the first access of a
 * thread allocates the thread's block. tenon__call_enter does this before the plugin is called, and
 * stores the address where a handler finds it without such an access.
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
  const char* node;     /* the node or file that is processed; "" for none */
} tenon__call_t;

typedef struct tenon__thread_calls_t {
  /* The innermost call of this thread; NULL: none. Workers of a pool use their caller's. */
  const tenon__call_t* volatile now;
  bool is_registered; /* a handler finds `now` */
} tenon__thread_calls_t;

#if defined(__GNUC__)
__attribute__((visibility("hidden")))
#endif
extern _Thread_local tenon__thread_calls_t tenon__calls;

/* Stores the address of this thread's calls for tenon__call_get. If the system has no memory or no
 * key for it, the thread's calls are not found, and the next call tries again. */
void tenon__call_register(void);

/* Returns the innermost call of this thread; NULL: none. Async-signal-safe. */
const tenon__call_t* tenon__call_get(void);

/* Returns the value for leave. `call` must not move until then. Calls nest: a plugin's function may
 * call the host, which calls another plugin. */
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
