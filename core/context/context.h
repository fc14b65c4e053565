/*
 * A context: one execution of an engine. Nothing allocates, locks or logs between two steps of
 * known extents. One thread at a time may use a context; any thread may call cancel. Contexts of
 * one engine are independent. A context holds a reference to its engine.
 */
#ifndef TENON_CORE_CONTEXT_CONTEXT_H_
#define TENON_CORE_CONTEXT_CONTEXT_H_

#include "core/engine/types.h"
#include "core/frame/observer.h"

typedef struct tenon__context_t tenon__context_t;

/* Creates a context. thread_count 0: the number for which the plan was tuned. `stream` is a native
 * handle of the caller, or NULL. Memory for the plan's largest shapes is allocated here. Staging of
 * inputs, data-dependent values and binding allocate later. The message of OUT_OF_MEMORY gives
 * purpose and bytes. */
tenon_status_t tenon__context_create(tenon__engine_t* engine, uint32_t thread_count, void* stream,
                                     tenon__context_t** out_context);
/* Destroys the context. Enqueued work must be complete. The caller's memory is not changed. */
void tenon__context_destroy(tenon__context_t* context);

/* Enqueues a run on the context's stream. With an inline stream the work is complete when it
 * returns. On failure outputs are ABSENT, and the context can run again. */
tenon_status_t tenon__context_enqueue(tenon__context_t* context);
/* Enqueues, and waits. */
tenon_status_t tenon__context_run(tenon__context_t* context);
/* Waits for enqueued work; returns at once with an inline stream. */
tenon_status_t tenon__context_synchronize(tenon__context_t* context);
/* From any thread: the run in progress ends with CANCELLED as soon as possible. A request before a
 * run is cleared when the run begins. */
void tenon__context_cancel(tenon__context_t* context);
/* Returns the native handle of the stream of the plan's device; NULL: none of that name. */
void* tenon__context_native_stream(const tenon__context_t* context, const char* name);

/* `step` counts the steps of all graphs: main first, then bodies, in order of schedules. Called
 * after each step, in the running thread. NULL: none, and no clock is read. Steps of bodies are
 * reported once for each iteration. */
void tenon__context_set_profiler(tenon__context_t* context,
                                 void (*profiler)(void* user, uint32_t step, double seconds),
                                 void* user);
/* Sets an observer that is called with each tensor that a kernel has written in the host's memory,
 * before it is read; it may change the tensor. NULL: none. For builds that examine a network's
 * values. */
void tenon__context_set_watcher(tenon__context_t* context, tenon__watcher_t watcher, void* user);
/* Before the first run: selects whether steps are recorded on the plan's streams (default), or on
 * one stream. For builds that compare both. */
void tenon__context_use_lanes(tenon__context_t* context, bool uses_lanes);

#endif
