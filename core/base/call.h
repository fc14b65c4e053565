/*
 * Which function of which plugin a thread is in: for a program that is told of a crash and wants to
 * say whose. A note on the caller's stack, or one that is there anyway, and one store before the
 * call and one after it. A signal handler may read it.
 */
#ifndef TENON_CORE_BASE_CALL_H_
#define TENON_CORE_BASE_CALL_H_

#include "tenon/plugin.h"

/* Strings live as long as the call. */
typedef struct tenon__call_t {
  const char* plugin;
  const char* function; /* "enqueue" */
  const char* item;     /* the kernel, operator, ...; "" for none */
  const char* node;     /* the node, or file, that it is about; "" for none */
} tenon__call_t;

/* Found without a call: a handler must not allocate. */
#if defined(__GNUC__)
#define TENON_STATIC_TLS __attribute__((tls_model("initial-exec")))
#else
#define TENON_STATIC_TLS
#endif
/* The innermost call of this thread, NULL outside of any. Workers of a pool take over their
 * caller's. */
extern _Thread_local const tenon__call_t* volatile tenon__call_now TENON_STATIC_TLS;

/* Returns what is to be given to leave. `call` stays where it is until then. Calls nest: a plugin's
 * function may call the host, which calls another plugin. */
static inline const tenon__call_t* tenon__call_enter(const tenon__call_t* call) {
  const tenon__call_t* outer = tenon__call_now;
  tenon__call_now = call;
  return outer;
}
static inline void tenon__call_leave(const tenon__call_t* outer) {
  tenon__call_now = outer;
}

#endif
