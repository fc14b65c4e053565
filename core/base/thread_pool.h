/*
 * Threads that kernels borrow. A pool belongs to one context or one build. The owner and the
 * workers are `thread_count` threads together. Workers spin for a while after each job of a run,
 * then block. Fork and join use no locks: a run never waits for a worker that has not begun,
 * because idle threads take unclaimed work. The caller is thread 0 and works too.
 */
#ifndef TENON_CORE_BASE_THREAD_POOL_H_
#define TENON_CORE_BASE_THREAD_POOL_H_

#include "tenon/plugin.h"

typedef struct tenon__thread_pool_t tenon__thread_pool_t;

/* Creates a pool. thread_count 0: the number of processors that this process may use. 1: no
 * workers, everything runs inline. Workers block all signals except those of a crash. Returns
 * INVALID_ARGUMENT beyond 1024 threads, and OUT_OF_MEMORY also if the system starts no more
 * threads. */
tenon_status_t tenon__thread_pool_create(tenon_allocator_t allocator, uint32_t thread_count,
                                         const tenon_sink_t* sink, tenon__thread_pool_t** out_pool);
/* Waits for the workers to end. No run may be in progress. NULL is accepted. */
void tenon__thread_pool_destroy(tenon__thread_pool_t* pool);
uint32_t tenon__thread_pool_thread_count(const tenon__thread_pool_t* pool);
/* Runs body(user, i, thread) for each i in [0, count), each once, and waits for all. One caller at
 * a time. Does not allocate or lock while workers are awake. `thread` is below the thread count and
 * unique among bodies that run at once, so it may index scratch memory. Writes of bodies are
 * visible to the caller afterwards. Bodies must not call this function. */
void tenon__thread_pool_run(tenon__thread_pool_t* pool, uint32_t count,
                            void (*body)(void* user, uint32_t index, uint32_t thread), void* user);
/* Begins a run of many jobs, until rest: workers spin longer before they block. */
void tenon__thread_pool_wake(tenon__thread_pool_t* pool);
/* Same for a run that may have no job. Sleeping workers stay asleep until a job arrives, because
 * waking a worker is a system call of a few microseconds. */
void tenon__thread_pool_expect(tenon__thread_pool_t* pool);
void tenon__thread_pool_rest(tenon__thread_pool_t* pool);

#endif
