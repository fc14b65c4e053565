/* Ending early. */
#include "core/base/interrupt.h"

#include "core/base/file.h"

static const double patience = 0.02; /* seconds between two calls of a progress function */

void tenon__interrupt_initialize(tenon__interrupt_t* out_interrupt, tenon__progress_t progress,
                                 void* user) {
  atomic_init(&out_interrupt->is_wanted, 0);
  out_interrupt->progress = progress;
  out_interrupt->user = user;
  out_interrupt->thread = pthread_self();
  out_interrupt->phase = "";
  out_interrupt->done = 0;
  out_interrupt->total = 0;
  out_interrupt->told = 0;
}

void tenon__interrupt_want(tenon__interrupt_t* interrupt) {
  atomic_store_explicit(&interrupt->is_wanted, 1, memory_order_relaxed);
}

void tenon__interrupt_forget(tenon__interrupt_t* interrupt) {
  atomic_store_explicit(&interrupt->is_wanted, 0, memory_order_relaxed);
}

bool tenon__interrupt_tell(tenon__interrupt_t* interrupt, const char* phase, uint32_t done,
                           uint32_t total) {
  if (interrupt == NULL) {
    return false;
  }
  interrupt->phase = phase;
  interrupt->done = done;
  interrupt->total = total;
  if (interrupt->progress != NULL) {
    if (interrupt->progress(interrupt->user, phase, done, total) != 0) {
      tenon__interrupt_want(interrupt);
    }
    interrupt->told = tenon__seconds();
  }
  return atomic_load_explicit(&interrupt->is_wanted, memory_order_relaxed) != 0;
}

bool tenon__interrupt_ask(tenon__interrupt_t* interrupt) {
  return pthread_equal(interrupt->thread, pthread_self()) != 0 && interrupt->phase[0] != '\0' &&
         tenon__seconds() - interrupt->told > patience &&
         tenon__interrupt_tell(interrupt, interrupt->phase, interrupt->done, interrupt->total);
}
