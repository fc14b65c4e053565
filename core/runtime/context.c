/* Contexts: their life, and running. Inputs and outputs: border.c; states: states.c. */
#include "core/runtime/context.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/call.h"
#include "core/base/processor.h"
#include "core/base/status.h"
#include "core/runtime/border.h"
#include "core/runtime/engine.h"
#include "core/runtime/execute.h"
#include "core/runtime/frame.h"
#include "core/runtime/propagate.h"
#include "core/runtime/states.h"

enum { MEMORY_PADDING = 64 };

/* ---- Life ---- */

/* All of it is written to at once (it begins with zeros): what the machine does not have must not
 * be tried. */
static tenon_status_t check_demand(const tenon__context_t* context) {
  const tenon__plan_t* plan = context->engine->plan;
  const uint64_t machine = tenon__machine_memory_bytes();
  const uint64_t activations = plan->schedules[0].memory_bytes;
  uint64_t kernels = 0;
  uint64_t total = 0;
  const bool counts = tenon__add_size(context->scratch_bytes, plan->zeroed_bytes, &kernels) &&
                      tenon__add_size(plan->persistent_bytes, kernels, &kernels) &&
                      tenon__add_size(activations, kernels, &total);
  return counts && total <= machine
             ? TENON_OK
             : tenon__fail(context->engine->options.sink, TENON_ERROR_OUT_OF_MEMORY,
                           "the plan asks for %llu bytes of memory for activations and %llu for "
                           "scratch (%llu) and what its kernels keep; this machine has %llu",
                           (unsigned long long)activations,
                           (unsigned long long)(counts ? kernels : UINT64_MAX),
                           (unsigned long long)context->scratch_bytes, (unsigned long long)machine);
}

static tenon_status_t allocate_memory(tenon__context_t* context, const char* what,
                                      uint64_t size_bytes, char** out_memory) {
  size_t padded = 0;
  *out_memory = tenon__add_size(size_bytes, MEMORY_PADDING, &padded)
                    ? tenon__allocate(context->allocator, padded, 1)
                    : NULL;
  return *out_memory != NULL
             ? TENON_OK
             : tenon__fail(context->engine->options.sink, TENON_ERROR_OUT_OF_MEMORY,
                           "the plan asks for %llu bytes of %s, which are not to be had",
                           (unsigned long long)size_bytes, what);
}

static tenon_status_t allocate_all(tenon__context_t* context) {
  const tenon__plan_t* plan = context->engine->plan;
  TENON_TRY(check_demand(context));
  TENON_TRY(
      allocate_memory(context, "activations", plan->schedules[0].memory_bytes, &context->memory));
  TENON_TRY(allocate_memory(context, "scratch memory", context->scratch_bytes, &context->scratch));
  TENON_TRY(allocate_memory(context, "zeroed memory", plan->zeroed_bytes, &context->zeroed));
  return allocate_memory(context, "persistent memory", plan->persistent_bytes,
                         &context->persistent);
}

static tenon_status_t create_frames(tenon__context_t* context) {
  const tenon__plan_t* plan = context->engine->plan;
  context->frames =
      tenon__arena_allocate(&context->arena, plan->schedule_count + 1u, sizeof *context->frames);
  uint64_t* bases =
      tenon__arena_allocate(&context->arena, plan->schedule_count + 1u, sizeof *bases);
  TENON_TRY_MEMORY(context->frames != NULL && bases != NULL);
  /* Graphs are made before the bodies of their nodes. */
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    TENON_TRY(tenon__frame_create(context, g, context->memory + bases[g], &context->frames[g]));
    for (uint32_t k = 0; k < plan->schedules[g].step_count; ++k) {
      const tenon__step_t* step = &plan->schedules[g].steps[k];
      if (step->kind == TENON_STEP_KERNEL || step->kind == TENON_STEP_CONTENTS) {
        continue;
      }
      const tenon__node_t* node = &plan->network->graphs[g]->nodes[step->node];
      for (uint32_t b = 0; b < node->body_count; ++b) {
        bases[node->bodies[b]] = bases[g] + step->body_offset;
      }
    }
  }
  return TENON_OK;
}

static tenon_status_t initialize(tenon__context_t* context, uint32_t thread_count, void* stream) {
  const tenon__engine_t* engine = context->engine;
  const tenon__plan_t* plan = engine->plan;
  const tenon_device_descriptor_t* device = &engine->device->device;
  TENON_TRY(tenon__thread_pool_create(context->allocator,
                                      thread_count == 0 ? plan->thread_count : thread_count,
                                      engine->options.sink, &context->pool));
  if (device->create_stream != NULL && (device->flags & TENON_DEVICE_INLINE_STREAM) == 0) {
    const tenon__call_t call = {engine->device->owner->plugin, "create_stream", device->name, ""};
    const tenon__call_t* outer = tenon__call_enter(&call);
    const tenon_status_t status =
        device->create_stream(engine->device_handle, stream, &context->stream);
    tenon__call_leave(outer);
    TENON_TRY(status);
  }
  const uint32_t threads = tenon__thread_pool_thread_count(context->pool);
  if (!tenon__plan_scratch_bytes(plan, threads, &context->scratch_bytes)) {
    return tenon__fail(engine->options.sink, TENON_ERROR_OUT_OF_MEMORY,
                       "the plan's steps need more scratch for %u threads than can be counted",
                       threads);
  }
  TENON_TRY(allocate_all(context));
  TENON_TRY(tenon__extents_create(&context->arena, plan->network->pool, &context->extents));
  TENON_TRY(tenon__context_create_states(context));
  TENON_TRY(tenon__context_create_border(context));
  context->run = (struct tenon_run_t){.pool = context->pool,
                                      .stream = context->stream,
                                      .scratch = context->scratch,
                                      .interrupt = &context->interrupt,
                                      .sink = engine->options.sink};
  return create_frames(context);
}

tenon_status_t tenon__context_create(tenon__engine_t* engine, uint32_t thread_count, void* stream,
                                     tenon__context_t** out_context) {
  tenon__context_t* context = tenon__allocate(engine->allocator, 1, sizeof *context);
  TENON_TRY_MEMORY(context != NULL);
  context->allocator = engine->allocator;
  context->engine = engine;
  context->generation = engine->generation;
  tenon__engine_retain(engine);
  tenon__arena_initialize(&context->arena, engine->allocator);
  tenon__interrupt_initialize(&context->interrupt, NULL, NULL);
  const tenon_status_t status = initialize(context, thread_count, stream);
  if (status != TENON_OK) {
    tenon__context_destroy(context);
    return tenon__fail(engine->options.sink, status, "a context cannot be made");
  }
  *out_context = context;
  return TENON_OK;
}

static void free_memory(tenon__context_t* context, char* memory, uint64_t size_bytes) {
  if (memory != NULL) {
    tenon__free(context->allocator, memory, size_bytes + MEMORY_PADDING);
  }
}

void tenon__context_destroy(tenon__context_t* context) {
  if (context == NULL) {
    return;
  }
  tenon__engine_t* engine = context->engine;
  const tenon__plan_t* plan = engine->plan;
  for (uint32_t g = 0; context->frames != NULL && g < plan->schedule_count; ++g) {
    if (context->frames[g].context != NULL) {
      tenon__frame_destroy(&context->frames[g]);
    }
  }
  tenon__context_free_states(context);
  free_memory(context, context->memory, plan->schedules[0].memory_bytes);
  free_memory(context, context->scratch, context->scratch_bytes);
  free_memory(context, context->zeroed, plan->zeroed_bytes);
  free_memory(context, context->persistent, plan->persistent_bytes);
  if (context->stream != NULL) {
    engine->device->device.destroy_stream(engine->device_handle, context->stream);
  }
  tenon__thread_pool_destroy(context->pool);
  tenon__arena_deinitialize(&context->arena);
  tenon__free(context->allocator, context, sizeof *context);
  tenon__engine_release(engine);
}

/* ---- Running ---- */

/* Knows the weights of the last refit. */
static void renew(tenon__context_t* context) {
  for (uint32_t g = 0; g < context->engine->plan->schedule_count; ++g) {
    tenon__frame_renew(&context->frames[g]);
  }
  context->generation = context->engine->generation;
}

static tenon_status_t run_all(tenon__context_t* context) {
  if (context->generation != context->engine->generation) {
    renew(context);
  }
  TENON_TRY(tenon__context_take_inputs(context));
  TENON_TRY(tenon__context_propagate_shapes(context));
  TENON_TRY(tenon__context_place_outputs(context));
  TENON_TRY(tenon__frame_run(&context->frames[0]));
  TENON_TRY(tenon__context_collect_outputs(context));
  return tenon__context_update_states(context);
}

tenon_status_t tenon__context_enqueue(tenon__context_t* context) {
  tenon__interrupt_forget(&context->interrupt);
  tenon__context_forget_outputs(context);
  /* What a step leaves zero is not, where it did not come to its end. */
  if (context->zeroed_is_dirty) {
    memset(context->zeroed, 0, context->engine->plan->zeroed_bytes);
  }
  tenon__thread_pool_wake(context->pool);
  const tenon_status_t status = run_all(context);
  tenon__thread_pool_rest(context->pool);
  context->zeroed_is_dirty = status != TENON_OK;
  if (status != TENON_OK) {
    tenon__context_forget_outputs(context);
    if (tenon__interrupt_is_wanted(&context->interrupt)) {
      return tenon__fail(context->engine->options.sink, TENON_ERROR_CANCELLED,
                         "the run was cancelled");
    }
  }
  return status;
}

void tenon__context_cancel(tenon__context_t* context) {
  tenon__interrupt_want(&context->interrupt);
}

tenon_status_t tenon__context_run(tenon__context_t* context) {
  TENON_TRY(tenon__context_enqueue(context));
  return tenon__context_synchronize(context);
}

tenon_status_t tenon__context_synchronize(tenon__context_t* context) {
  const tenon_device_descriptor_t* device = &context->engine->device->device;
  if (context->stream == NULL || device->synchronize == NULL) {
    return TENON_OK;
  }
  return device->synchronize(context->engine->device_handle, context->stream);
}

void tenon__context_set_profiler(tenon__context_t* context,
                                 void (*profiler)(void* user, uint32_t step, double seconds),
                                 void* user) {
  context->profiler = profiler;
  context->profiler_user = user;
}
