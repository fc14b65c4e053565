/* Cancellation: any thread requests it, and the computing code checks it regularly. A run of a
 * context checks a variable that another thread sets. A build also calls its caller's progress
 * function, in the building thread. */
#ifndef TENON_CORE_BASE_INTERRUPT_H_
#define TENON_CORE_BASE_INTERRUPT_H_

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns non-zero to cancel. `phase` names the current phase, with `done` of `total` steps. */
typedef int32_t (*tenon__progress_t)(void* user, const char* phase, uint32_t done, uint32_t total);

/* Owned by a build or a context; other code has a pointer, NULL if it cannot be cancelled. Other
 * threads may access only is_wanted. */
typedef struct tenon__interrupt_t {
  _Atomic uint32_t is_wanted;
  /* For builds only; otherwise progress is NULL. */
  tenon__progress_t progress;
  void* user;
  pthread_t thread; /* may call progress */
  const char* phase;
  uint32_t done;
  uint32_t total;
  double told; /* time of the last call of progress */
} tenon__interrupt_t;

/* Initialises without a request. `progress` is NULL, or belongs to the calling thread. */
void tenon__interrupt_initialize(tenon__interrupt_t* out_interrupt, tenon__progress_t progress,
                                 void* user);
/* Requests cancellation. Any thread, and signal handlers. */
void tenon__interrupt_want(tenon__interrupt_t* interrupt);
/* Clears the request when a new operation begins. */
void tenon__interrupt_forget(tenon__interrupt_t* interrupt);
/* Calls the progress function, if any. Returns true if cancelled. `interrupt` NULL: always
 * false. */
bool tenon__interrupt_tell(tenon__interrupt_t* interrupt, const char* phase, uint32_t done,
                           uint32_t total);
/* Repeats the last progress report, in the thread that may call it, unless the last call was less
 * than 20 ms ago. So checks are cheap, and a caller still gets reports during long steps. */
bool tenon__interrupt_ask(tenon__interrupt_t* interrupt);

/* Returns true if cancelled. For a run it is one load. Any thread, at any frequency. NULL: always
 * false. */
static inline bool tenon__interrupt_is_wanted(tenon__interrupt_t* interrupt) {
  return interrupt != NULL &&
         (atomic_load_explicit(&interrupt->is_wanted, memory_order_relaxed) != 0 ||
          (interrupt->progress != NULL && tenon__interrupt_ask(interrupt)));
}

#endif
