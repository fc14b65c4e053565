/* The call of each thread, in thread-local memory. A thread-specific key lets a signal handler find
 * it. */
#include "core/base/call.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

_Thread_local tenon__thread_calls_t tenon__calls;

/* Of each registered thread: its tenon__calls. pthread_getspecific neither allocates nor locks. */
static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static atomic_bool has_key;

/* The thread ends. A plugin that it calls in another destructor registers it again. */
static void forget(void* calls) {
  ((tenon__thread_calls_t*)calls)->is_registered = false;
}

static void create_key(void) {
  atomic_store_explicit(&has_key, pthread_key_create(&key, forget) == 0, memory_order_release);
}

void tenon__call_register(void) {
  (void)pthread_once(&key_once, create_key);
  tenon__calls.is_registered = atomic_load_explicit(&has_key, memory_order_acquire) &&
                               pthread_setspecific(key, &tenon__calls) == 0;
}

const tenon__call_t* tenon__call_get(void) {
  if (!atomic_load_explicit(&has_key, memory_order_acquire)) {
    return NULL;
  }
  const tenon__thread_calls_t* calls = pthread_getspecific(key);
  return calls != NULL ? calls->now : NULL;
}
