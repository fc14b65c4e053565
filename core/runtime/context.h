/* A context: one execution of an engine. Nothing allocates, locks or logs between two steps of
 * known extents. */
#ifndef TENON_CORE_RUNTIME_CONTEXT_H_
#define TENON_CORE_RUNTIME_CONTEXT_H_

#include "core/runtime/types.h"

/* thread_count 0: what the plan was tuned for. `stream`: native handle of the caller's, or NULL. */
tenon_status_t tenon__context_create(tenon__engine_t* engine, uint32_t thread_count, void* stream,
                                     tenon__context_t** out_context);
void tenon__context_destroy(tenon__context_t* context);

/* Enqueues on the context's stream: with an inline stream the work is done when it returns. */
tenon_status_t tenon__context_enqueue(tenon__context_t* context);
tenon_status_t tenon__context_run(tenon__context_t* context);
tenon_status_t tenon__context_synchronize(tenon__context_t* context);
/* From any thread: the run in progress ends with CANCELLED as soon as it can. */
void tenon__context_cancel(tenon__context_t* context);

/* `step` counts the steps of all graphs: main first, then bodies, in order of schedules. */
void tenon__context_set_profiler(tenon__context_t* context,
                                 void (*profiler)(void* user, uint32_t step, double seconds),
                                 void* user);

#endif
