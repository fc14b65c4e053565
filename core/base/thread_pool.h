/* Threads that kernels borrow. One pool belongs to one context or one build; its owner and its
 * workers are `thread_count` threads together. Workers spin for a while after each job of a run,
 * then block. */
#ifndef TENON_CORE_BASE_THREAD_POOL_H_
#define TENON_CORE_BASE_THREAD_POOL_H_

#include "tenon/plugin.h"

typedef struct tenon__thread_pool_t tenon__thread_pool_t;

/* thread_count 0: the processors that this process may use. 1: no workers, everything runs inline.
 */
tenon_status_t tenon__thread_pool_create(tenon_allocator_t allocator, uint32_t thread_count,
                                         const tenon_sink_t* sink, tenon__thread_pool_t** out_pool);
void tenon__thread_pool_destroy(tenon__thread_pool_t* pool);
uint32_t tenon__thread_pool_thread_count(const tenon__thread_pool_t* pool);
/* Runs body(user, i, thread) for each i in [0, count), each once, and waits for all. One caller at
 * a time. Allocates and locks nothing while workers are awake. */
void tenon__thread_pool_run(tenon__thread_pool_t* pool, uint32_t count,
                            void (*body)(void* user, uint32_t index, uint32_t thread), void* user);
/* A run of many jobs begins / ends: between the two workers spin longer before they block. */
void tenon__thread_pool_wake(tenon__thread_pool_t* pool);
void tenon__thread_pool_rest(tenon__thread_pool_t* pool);

#endif
