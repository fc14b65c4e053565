/* A wish to end early: any thread expresses it, and whoever computes asks for it now and then. A
 * run of a context asks a word that another thread sets; a build also asks its caller's progress
 * function, which belongs to the thread that builds. */
#ifndef TENON_CORE_BASE_INTERRUPT_H_
#define TENON_CORE_BASE_INTERRUPT_H_

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Non-zero: the caller wants no more of it. `phase` is a word of ours for what is being done, done
 * of total steps of it. */
typedef int32_t (*tenon__progress_t)(void* user, const char* phase, uint32_t done, uint32_t total);

/* Owned by a build or a context; others hold a pointer, NULL where nobody can interrupt. Only
 * is_wanted may be touched by other threads. */
typedef struct tenon__interrupt_t {
  _Atomic uint32_t is_wanted;
  /* For builds alone; progress NULL otherwise. */
  tenon__progress_t progress;
  void* user;
  pthread_t thread; /* may call progress */
  const char* phase;
  uint32_t done;
  uint32_t total;
  double told; /* when progress was called last */
} tenon__interrupt_t;

/* Nobody wants to end. `progress`: NULL, or the calling thread's. */
void tenon__interrupt_initialize(tenon__interrupt_t* out_interrupt, tenon__progress_t progress,
                                 void* user);
/* Any thread, and signal handlers. */
void tenon__interrupt_want(tenon__interrupt_t* interrupt);
/* Something new begins, and nobody wants its end yet. */
void tenon__interrupt_forget(tenon__interrupt_t* interrupt);
/* Tells the progress function, if there is one. True when the end is wanted. NULL: never. */
bool tenon__interrupt_tell(tenon__interrupt_t* interrupt, const char* phase, uint32_t done,
                           uint32_t total);
/* Tells what was told last, in the thread that may and unless it was told a moment ago. A moment:
 * 20 ms, so that asking is cheap and a caller still hears of long steps. */
bool tenon__interrupt_ask(tenon__interrupt_t* interrupt);

/* Is the end wanted? One load for a run. Any thread, as often as is convenient. NULL: never. */
static inline bool tenon__interrupt_is_wanted(tenon__interrupt_t* interrupt) {
  return interrupt != NULL &&
         (atomic_load_explicit(&interrupt->is_wanted, memory_order_relaxed) != 0 ||
          (interrupt->progress != NULL && tenon__interrupt_ask(interrupt)));
}

#endif
