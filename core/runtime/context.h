/* A context: one execution of an engine. Nothing allocates, locks or logs between two steps of
 * known extents. */
#ifndef TENON_CORE_RUNTIME_CONTEXT_H_
#define TENON_CORE_RUNTIME_CONTEXT_H_

#include "core/plan/work.h"
#include "core/runtime/engine.h"

typedef struct tenon__context_t tenon__context_t;

/* thread_count 0: what the plan was tuned for. `stream`: native handle of the caller's, or NULL. */
tenon_status_t tenon__context_create(tenon__engine_t* engine, uint32_t thread_count, void* stream,
                                     tenon__context_t** out_context);
void tenon__context_destroy(tenon__context_t* context);

/* The caller's memory: used in place where strides and alignment allow, else copied at each run.
 * Checks dtype, rank and the profile's range, naming input and values. */
tenon_status_t tenon__context_set_input(tenon__context_t* context, uint32_t index,
                                        const tenon_argument_t* argument);
/* NULL: ours again. */
tenon_status_t tenon__context_set_output(tenon__context_t* context, uint32_t index,
                                         const tenon_tensor_view_t* view);
/* Extents of an output that is a tensor, for the inputs as they are set; out_dims[k] is -1 where
 * the data decide, out_max_dims[k] then their bound, or -1 where nothing bounds them. Both have 64
 * entries. */
tenon_status_t tenon__context_output_extents(tenon__context_t* context, uint32_t index,
                                             int64_t* out_dims, int64_t* out_max_dims);
/* Enqueues on the context's stream: with an inline stream the work is done when it returns. */
tenon_status_t tenon__context_enqueue(tenon__context_t* context);
tenon_status_t tenon__context_run(tenon__context_t* context);
tenon_status_t tenon__context_synchronize(tenon__context_t* context);
/* From any thread: the run in progress ends with CANCELLED as soon as it can. */
void tenon__context_cancel(tenon__context_t* context);
/* After a run that succeeded; borrowed until the next one. ABSENT otherwise. */
const tenon_argument_t* tenon__context_get_output(const tenon__context_t* context, uint32_t index);

/* `step` counts the steps of all graphs: main first, then bodies, in order of schedules. */
void tenon__context_set_profiler(tenon__context_t* context,
                                 void (*profiler)(void* user, uint32_t step, double seconds),
                                 void* user);
/* What that step did at the extents of the last run, and whether by a reference kernel.
 * INVALID_STATE before the first run. */
tenon_status_t tenon__context_step_work(const tenon__context_t* context, uint32_t step,
                                        tenon__work_t* out_work, bool* out_is_reference);
tenon_status_t tenon__context_state(tenon__context_t* context, const char* name, void** out_data,
                                    size_t* out_size);
void tenon__context_reset_states(tenon__context_t* context);
tenon_status_t tenon__context_clone_states(tenon__context_t* context,
                                           const tenon__context_t* source);

#endif
