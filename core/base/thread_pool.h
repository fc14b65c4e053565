/*
 * Threads that kernels borrow. One pool belongs to one context or one build; its owner and its
 * workers are `thread_count` threads together. Workers spin for a while after each job of a run,
 * then block. Fork and join without locks: a run never waits for a worker that has not begun, as
 * whoever is done takes over what others have not claimed. The caller is thread 0 and works too.
 */
#ifndef TENON_CORE_BASE_THREAD_POOL_H_
#define TENON_CORE_BASE_THREAD_POOL_H_

#include "tenon/plugin.h"

typedef struct tenon__thread_pool_t tenon__thread_pool_t;

/* thread_count 0: the processors that this process may use. 1: no workers, everything runs inline.
 * INVALID_ARGUMENT beyond 1024 threads, OUT_OF_MEMORY also where the system starts no more. Workers
 * block all signals but those of a crash. */
tenon_status_t tenon__thread_pool_create(tenon_allocator_t allocator, uint32_t thread_count,
                                         const tenon_sink_t* sink, tenon__thread_pool_t** out_pool);
/* Waits for the workers to end; no run may be going on. NULL is fine. */
void tenon__thread_pool_destroy(tenon__thread_pool_t* pool);
uint32_t tenon__thread_pool_thread_count(const tenon__thread_pool_t* pool);
/* Runs body(user, i, thread) for each i in [0, count), each once, and waits for all. One caller at
 * a time. Allocates and locks nothing while workers are awake. `thread` is below the thread count,
 * and no two bodies run as the same one at once: it may number scratch memory. What bodies wrote is
 * seen by the caller afterwards. Bodies must not call it again. */
void tenon__thread_pool_run(tenon__thread_pool_t* pool, uint32_t count,
                            void (*body)(void* user, uint32_t index, uint32_t thread), void* user);
/* A run of many jobs begins / ends: between the two workers spin longer before they block. */
void tenon__thread_pool_wake(tenon__thread_pool_t* pool);
/* The same for a run that may have no job at all: who sleeps sleeps on until there is one. To wake
 * a worker is a call of the system, some microseconds of the caller's time for each. */
void tenon__thread_pool_expect(tenon__thread_pool_t* pool);
void tenon__thread_pool_rest(tenon__thread_pool_t* pool);

#endif
