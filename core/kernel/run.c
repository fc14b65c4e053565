/* What a kernel may call while it runs, and the call itself. */
#include "core/kernel/run.h"

#include "core/base/status.h"
#include "core/kernel/bound.h"
#include "core/kernel/dynamic_buffer.h"

static void* run_scratch(tenon_run_t* run) {
  return run->scratch;
}
static void* run_zeroed(tenon_run_t* run) {
  return run->zeroed;
}
static void* run_persistent(tenon_run_t* run) {
  return run->persistent;
}
static tenon_stream_t* run_stream(tenon_run_t* run) {
  return run->stream;
}

static void run_parallel(tenon_run_t* run, uint32_t count,
                         void (*body)(void* user, uint32_t index, uint32_t thread), void* user) {
  if (atomic_exchange_explicit(&run->in_parallel, true, memory_order_relaxed)) {
    atomic_store_explicit(&run->nested, true, memory_order_relaxed);
    return;
  }
  tenon__thread_pool_run(run->pool, count, body, user);
  atomic_store_explicit(&run->in_parallel, false, memory_order_relaxed);
}

static uint32_t run_thread_count(tenon_run_t* run) {
  return tenon__thread_pool_thread_count(run->pool);
}

static int32_t run_cancelled(tenon_run_t* run) {
  return tenon__interrupt_is_wanted(run->interrupt) ? 1 : 0;
}

static uint32_t run_edge(tenon_run_t* run) {
  return run->edge;
}

static tenon_fault_t* run_fault(tenon_run_t* run) {
  return run->fault;
}

/* What a kernel finds in data that it has left half done is no fault of theirs. */
static tenon_status_t run_fail(tenon_run_t* run, tenon_status_t status, const char* message) {
  if (!run->failed && !tenon__interrupt_is_wanted(run->interrupt)) {
    run->failed = true;
    run->failure = status;
    tenon__report(run->sink, TENON_SEVERITY_ERROR, "%s%s", run->instance->prefix, message);
  }
  return status;
}

static tenon__dynamic_buffer_t* dynamic_output(tenon_run_t* run, uint32_t output) {
  return output < run->dynamic_count ? run->buffers[output] : NULL;
}

static tenon_status_t run_allocate_output(tenon_run_t* run, uint32_t output, uint32_t rank,
                                          const int64_t* dims, void** out_data) {
  tenon__dynamic_buffer_t* buffer = dynamic_output(run, output);
  if (buffer == NULL) {
    return run_fail(run, TENON_ERROR_INTERNAL, "allocates an output whose extents are fixed");
  }
  const tenon_status_t status = tenon__dynamic_buffer_resize(buffer, buffer->dtype, rank, dims);
  if (status != TENON_OK) {
    return run_fail(run, status, "cannot allocate an output");
  }
  *out_data = buffer->data;
  return TENON_OK;
}

static tenon_status_t run_append_output(tenon_run_t* run, uint32_t output,
                                        const tenon_argument_t* item) {
  tenon__dynamic_buffer_t* buffer = dynamic_output(run, output);
  if (buffer == NULL) {
    return run_fail(run, TENON_ERROR_INTERNAL, "appends to an output that is no sequence");
  }
  return tenon__dynamic_buffer_append(buffer, item);
}

static tenon_status_t run_copy_string(tenon_run_t* run, uint32_t output, tenon_string_view_t text,
                                      tenon_string_view_t* out_copy) {
  tenon__dynamic_buffer_t* buffer = dynamic_output(run, output);
  if (buffer == NULL) {
    return run_fail(run, TENON_ERROR_INTERNAL, "keeps a string in an output that has no room");
  }
  if (!buffer->strings_ready) {
    tenon__arena_initialize(&buffer->strings, buffer->memory.allocator);
    buffer->strings_ready = true;
  }
  char* copy = tenon__arena_copy_text(&buffer->strings, text.data, text.size);
  TENON_TRY_MEMORY(copy != NULL);
  *out_copy = (tenon_string_view_t){.data = copy, .size = text.size};
  return TENON_OK;
}

static const tenon_run_table_t run_table = {
    .size = sizeof(tenon_run_table_t),
    .scratch = run_scratch,
    .zeroed = run_zeroed,
    .persistent = run_persistent,
    .stream = run_stream,
    .parallel = run_parallel,
    .thread_count = run_thread_count,
    .allocate_output = run_allocate_output,
    .append_output = run_append_output,
    .copy_string = run_copy_string,
    .fail = run_fail,
    .cancelled = run_cancelled,
    .edge = run_edge,
    .fault = run_fault,
};

/* The first output whose extents the kernel finds and for which it allocated nothing; TENON_NONE.
 */
static uint32_t find_unallocated(const tenon__bound_t* bound, const struct tenon_run_t* run,
                                 const tenon_argument_t* outputs) {
  for (uint32_t k = 0; k < bound->output_count; ++k) {
    if (outputs[k].kind == TENON_ARGUMENT_ALLOCATE &&
        (k >= run->dynamic_count || run->buffers[k] == NULL || !run->buffers[k]->was_set)) {
      return k;
    }
  }
  return TENON_NONE;
}

static const char* name_of_output(const struct tenon_region_t* region, uint32_t output) {
  return region->network->graphs[region->graph]->values[region->outputs[output].value].name;
}

tenon_status_t tenon__bound_run(tenon__bound_t* bound, struct tenon_run_t* run,
                                const tenon_argument_t* inputs, const tenon_argument_t* outputs) {
  const tenon__instance_t* instance = bound->instance;
  if (bound->writes_nothing) {
    return TENON_OK;
  }
  const tenon_enqueue_t given = {.size = sizeof given,
                                 .instance = instance->prepared,
                                 .bound = bound->bound,
                                 .run = run,
                                 .host = &run_table,
                                 .inputs = inputs,
                                 .outputs = outputs,
                                 .input_count = bound->input_count,
                                 .output_count = bound->output_count};
  run->instance = instance;
  run->failed = false;
  atomic_store_explicit(&run->nested, false, memory_order_relaxed);
  const tenon__call_t* outer = tenon__call_enter(&instance->running);
  const tenon_status_t status = instance->kernel.kernel->enqueue(&given);
  tenon__call_leave(outer);
  if (atomic_load_explicit(&run->nested, memory_order_relaxed)) {
    return tenon__fail(run->sink, TENON_ERROR_INVALID_STATE,
                       "%sthe kernel calls `parallel` within `parallel`", instance->prefix);
  }
  if (status == TENON_OK && run->failed) {
    return run->failure;
  }
  if (status != TENON_OK && !run->failed && !tenon__interrupt_is_wanted(run->interrupt)) {
    return tenon__fail(run->sink, status, "%sthe kernel failed: %s", instance->prefix,
                       tenon__status_text(status));
  }
  const uint32_t missing = status == TENON_OK ? find_unallocated(bound, run, outputs) : TENON_NONE;
  if (missing != TENON_NONE) {
    return tenon__fail(run->sink, TENON_ERROR_INTERNAL,
                       "%sthe kernel did not allocate output %u, '%s', whose extents it finds: it "
                       "calls allocate_output for each such output",
                       instance->prefix, missing, name_of_output(instance->region, missing));
  }
  return status;
}
