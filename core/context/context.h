/*
 * A context: one execution of an engine. Nothing allocates, locks or logs between two steps of
 * known extents. One thread at a time may use a context, and cancel alone is for any thread;
 * contexts of one engine are independent of each other. A context holds a reference to its engine.
 */
#ifndef TENON_CORE_CONTEXT_CONTEXT_H_
#define TENON_CORE_CONTEXT_CONTEXT_H_

#include "core/engine/types.h"
#include "core/frame/observer.h"

typedef struct tenon__context_t tenon__context_t;

/* thread_count 0: what the plan was tuned for. `stream`: native handle of the caller's, or NULL.
 * Memory for the plan's largest shapes is allocated here; what stages inputs, what a run finds, and
 * binding allocate later. OUT_OF_MEMORY says how many bytes of what were asked for. */
tenon_status_t tenon__context_create(tenon__engine_t* engine, uint32_t thread_count, void* stream,
                                     tenon__context_t** out_context);
/* Pending work must be done. The caller's memory is left alone. */
void tenon__context_destroy(tenon__context_t* context);

/* Enqueues on the context's stream: with an inline stream the work is done when it returns. On
 * failure outputs are ABSENT, and the context can run again. */
tenon_status_t tenon__context_enqueue(tenon__context_t* context);
/* Enqueues, and waits. */
tenon_status_t tenon__context_run(tenon__context_t* context);
/* Waits for what was enqueued; nothing to do with an inline stream. */
tenon_status_t tenon__context_synchronize(tenon__context_t* context);
/* From any thread: the run in progress ends with CANCELLED as soon as it can. A wish from before a
 * run is forgotten when the run begins. */
void tenon__context_cancel(tenon__context_t* context);
/* The handle behind the stream of the plan's device, NULL: none of that name. */
void* tenon__context_native_stream(const tenon__context_t* context, const char* name);

/* `step` counts the steps of all graphs: main first, then bodies, in order of schedules. Called
 * after each step, in the running thread; NULL: nobody, and no clock is read. Steps of bodies are
 * told once for each iteration. */
void tenon__context_set_profiler(tenon__context_t* context,
                                 void (*profiler)(void* user, uint32_t step, double seconds),
                                 void* user);
/* Told of each tensor that a kernel wrote in the host's memory, before anybody reads it: it may be
 * changed. NULL: nobody. For builds that look at what values a network has. */
void tenon__context_set_watcher(tenon__context_t* context, tenon__watcher_t watcher, void* user);
/* Before the first run: are steps recorded on the streams that the plan says, as they are where
 * nobody says it, or in a row? For builds that ask which is faster. */
void tenon__context_use_lanes(tenon__context_t* context, bool uses_lanes);

#endif
