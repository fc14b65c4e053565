/* Contexts: their life, and running. Inputs and outputs: border.c; states: states.c. */
#include "core/context/context.h"

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/context/border.h"
#include "core/context/context_state.h"
#include "core/context/lent.h"
#include "core/context/propagate.h"
#include "core/context/states.h"
#include "core/control/execute.h"
#include "core/control/repeat_state.h"
#include "core/engine/engine.h"
#include "core/engine/uploads.h"
#include "core/frame/data_dependent.h"
#include "core/frame/frame.h"
#include "core/step/chains.h"
#include "core/step/device_words.h"
#include "core/step/timing.h"
#include "core/step/transfer.h"

/* ---- Life ---- */

/* Where in each device's memory the values of a graph lie. */
typedef char* bases_t[TENON_DEVICE_LIMIT];

static void place_bodies(const tenon__plan_t* plan, uint32_t g, bases_t* bases) {
  for (uint32_t k = 0; k < plan->schedules[g].step_count; ++k) {
    const tenon__step_t* step = &plan->schedules[g].steps[k];
    if (!tenon__step_is_control(step)) {
      continue;
    }
    const tenon__node_t* node = &plan->network->graphs[g]->nodes[step->node];
    for (uint32_t b = 0; b < node->body_count; ++b) {
      for (uint32_t d = 0; d < plan->device_count; ++d) {
        bases[node->bodies[b]][d] = bases[g][d] + step->body_offset[d];
      }
    }
  }
}

static tenon_status_t create_frames(tenon__context_t* context) {
  const tenon__plan_t* plan = context->run.engine->plan;
  context->run.frames = tenon__arena_allocate(&context->run.arena, plan->schedule_count + 1u,
                                              sizeof *context->run.frames);
  bases_t* bases =
      tenon__arena_allocate(&context->run.arena, plan->schedule_count + 1u, sizeof *bases);
  uint64_t words[TENON_DEVICE_LIMIT] = {0};
  TENON_TRY_MEMORY(context->run.frames != NULL && bases != NULL);
  for (uint32_t d = 0; d < plan->device_count; ++d) {
    bases[0][d] = context->run.spaces[d].activations;
  }
  /* Graphs are made before the bodies of their nodes. */
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    tenon__frame_t* frame = &context->run.frames[g];
    TENON_TRY(tenon__frame_create(&context->run, g, bases[g], frame));
    TENON_TRY(tenon__frame_list_words(frame, words));
    TENON_TRY(tenon__frame_find_chains(frame));
    TENON_TRY(tenon__frame_list_data_dependent(frame));
    place_bodies(plan, g, bases);
  }
  return TENON_OK;
}

/* The caller's stream is one of the device that the plan was built for. */
static tenon_status_t begin_spaces(tenon__context_t* context, void* stream) {
  tenon__engine_t* engine = context->run.engine;
  const tenon__plan_t* plan = engine->plan;
  const uint32_t threads = tenon__thread_pool_thread_count(context->run.pool);
  const uint32_t main = tenon__plan_main_device(plan);
  for (uint32_t d = 0; d < plan->device_count; ++d) {
    tenon__space_t* space = &context->run.spaces[d];
    space->memory =
        (tenon__memory_t){.allocator = context->run.allocator, .device = &engine->devices[d]};
    space->words_bytes = tenon__engine_words_bytes(engine, d);
    TENON_TRY(tenon__space_begin(space, plan, d, threads, d == main ? stream : NULL,
                                 engine->options.sink));
    space->run = (struct tenon_run_t){.pool = context->run.pool,
                                      .stream = space->memory.stream,
                                      .scratch = space->scratch,
                                      .interrupt = &context->run.interrupt,
                                      .sink = engine->options.sink};
  }
  return TENON_OK;
}

static tenon_status_t initialize(tenon__context_t* context, uint32_t thread_count, void* stream) {
  const tenon__engine_t* engine = context->run.engine;
  const tenon__plan_t* plan = engine->plan;
  const tenon__device_t* device = tenon__engine_main_device(engine);
  context->run.watched = device != NULL && tenon__device_is_watched(device) ? device : NULL;
  TENON_TRY(tenon__thread_pool_create(context->run.allocator,
                                      thread_count == 0 ? plan->thread_count : thread_count,
                                      engine->options.sink, &context->run.pool));
  TENON_TRY(begin_spaces(context, stream));
  TENON_TRY(tenon__extents_create(&context->run.arena, plan->network->pool, &context->run.extents));
  TENON_TRY(tenon__context_create_states(context));
  TENON_TRY(tenon__context_create_border(context));
  TENON_TRY(create_frames(context));
  return tenon__context_create_lent(context);
}

tenon_status_t tenon__context_create(tenon__engine_t* engine, uint32_t thread_count, void* stream,
                                     tenon__context_t** out_context) {
  tenon__context_t* context = tenon__allocate(engine->allocator, 1, sizeof *context);
  TENON_TRY_MEMORY(context != NULL);
  context->run.allocator = engine->allocator;
  context->run.engine = engine;
  context->generation = engine->generation;
  tenon__engine_retain(engine);
  tenon__arena_initialize(&context->run.arena, engine->allocator);
  tenon__interrupt_initialize(&context->run.interrupt, NULL, NULL);
  const tenon_status_t status = initialize(context, thread_count, stream);
  if (status != TENON_OK) {
    tenon__context_destroy(context);
    return tenon__fail(engine->options.sink, status, "a context cannot be made");
  }
  *out_context = context;
  return TENON_OK;
}

void tenon__context_destroy(tenon__context_t* context) {
  if (context == NULL) {
    return;
  }
  tenon__engine_t* engine = context->run.engine;
  const tenon__plan_t* plan = engine->plan;
  (void)tenon__run_settle(&context->run, 0); /* the application need not have waited */
  for (uint32_t g = 0; context->run.frames != NULL && g < plan->schedule_count; ++g) {
    tenon__frame_t* frame = &context->run.frames[g];
    if (frame->run != NULL) {
      tenon__frame_forget_recordings(frame);
      tenon__frame_destroy(frame);
      tenon__frame_destroy_repeats(frame);
    }
  }
  tenon__context_free_states(context);
  tenon__timing_free(&context->run);
  for (uint32_t d = TENON_DEVICE_LIMIT; d-- > 0;) {
    tenon__space_end(&context->run.spaces[d]);
  }
  tenon__thread_pool_destroy(context->run.pool);
  tenon__arena_deinitialize(&context->run.arena);
  tenon__free(context->run.allocator, context, sizeof *context);
  tenon__engine_release(engine);
}

/* ---- Running ---- */

/* Knows the weights of the last refit. */
static void renew(tenon__context_t* context) {
  for (uint32_t g = 0; g < context->run.engine->plan->schedule_count; ++g) {
    tenon__frame_forget_recordings(&context->run.frames[g]);
    tenon__frame_renew(&context->run.frames[g]);
  }
  context->generation = context->run.engine->generation;
}

/* What is known only when all is done: results that lie elsewhere, and what states become. */
static tenon_status_t collect(tenon__context_t* context) {
  TENON_TRY(tenon__timing_begin_wait(&context->run));
  TENON_TRY(tenon__run_settle(&context->run, 0));
  TENON_TRY(tenon__run_take_words(&context->run));
  TENON_TRY(tenon__context_collect_outputs(context));
  return tenon__context_update_states(context);
}

/* Streams may be the application's: what it put there since the last run is no kernel of ours. */
static void forget_edges(tenon__context_t* context) {
  for (uint32_t d = 0; d < context->run.engine->plan->device_count; ++d) {
    context->run.spaces[d].run.edge = 0;
  }
}

static tenon_status_t enqueue_all(tenon__context_t* context) {
  if (context->generation != context->run.engine->generation) {
    renew(context);
  }
  TENON_TRY(tenon__timing_begin_run(&context->run));
  TENON_TRY(tenon__context_take_inputs(context));
  TENON_TRY(tenon__context_propagate_shapes(context));
  TENON_TRY(tenon__context_place_outputs(context));
  forget_edges(context);
  context->has_begun = true;
  TENON_TRY(tenon__frame_run(&context->run.frames[0]));
  TENON_TRY(tenon__run_ask_words(&context->run));
  return tenon__timing_end_run(&context->run);
}

/* What a step leaves zero is not, where it did not come to its end. */
static tenon_status_t clean_zeroed(tenon__context_t* context) {
  for (uint32_t d = 0; d < context->run.engine->plan->device_count; ++d) {
    const tenon__space_t* space = &context->run.spaces[d];
    TENON_TRY(tenon__memory_clear(&space->memory, space->zeroed, space->zeroed_bytes));
    TENON_TRY(tenon__space_clear_words(space));
  }
  context->zeroed_is_dirty = false;
  return TENON_OK;
}

static tenon_status_t end_run(tenon__context_t* context, tenon_status_t status) {
  if (status == TENON_OK) {
    return TENON_OK;
  }
  context->zeroed_is_dirty = true;
  context->is_steady = false;
  tenon__context_tell_of_states(context);
  tenon__timing_forget(&context->run);
  context->run.awaits_collection = false;
  context->run.awaits_words = false;
  context->run.awaits_faults = false;
  (void)tenon__run_settle(&context->run, 0);
  tenon__context_forget_outputs(context);
  for (uint32_t d = 1; d < context->run.engine->plan->device_count; ++d) {
    context->is_lost = context->is_lost || !tenon__device_is_well(&context->run.engine->devices[d]);
  }
  return tenon__interrupt_is_wanted(&context->run.interrupt)
             ? tenon__fail(context->run.engine->options.sink, TENON_ERROR_CANCELLED,
                           "the run was cancelled")
             : status;
}

/* The host's threads. On a plan with devices they may have nothing to do, and what they have comes
 * late. */
static void expect_work(const tenon__context_t* context) {
  if (context->run.engine->plan->device_count > 1) {
    tenon__thread_pool_expect(context->run.pool);
  } else {
    tenon__thread_pool_wake(context->run.pool);
  }
}

static bool is_busy(const tenon__context_t* context) {
  bool is_busy = false;
  for (uint32_t d = 1; d < context->run.engine->plan->device_count; ++d) {
    is_busy = is_busy || context->run.spaces[d].is_busy;
  }
  return is_busy;
}

/* As the run before, of which nothing changed. */
static tenon_status_t enqueue_again(tenon__context_t* context) {
  tenon__frame_t* frame = &context->run.frames[0];
  tenon__interrupt_forget(&context->run.interrupt);
  tenon__context_forget_outputs(context);
  context->has_begun = false;
  TENON_TRY(tenon__timing_begin_run(&context->run));
  context->has_begun = true;
  TENON_TRY(tenon__frame_replay(frame, frame->chains));
  context->run.awaits_collection = true;
  context->run.awaits_faults = context->run.has_faults;
  return tenon__timing_end_run(&context->run);
}

tenon_status_t tenon__context_enqueue(tenon__context_t* context) {
  if (tenon__context_is_steady(context)) {
    return end_run(context, enqueue_again(context));
  }
  if (context->is_lost) {
    return tenon__fail(context->run.engine->options.sink, TENON_ERROR_INVALID_STATE,
                       "a device of this context was lost: destroy it, and load the engine again");
  }
  if (!tenon__context_is_all_lent(context) || context->run.awaits_words ||
      context->generation != context->run.engine->generation) {
    TENON_TRY(tenon__context_synchronize(context));
  }
  tenon__interrupt_forget(&context->run.interrupt);
  tenon__context_forget_outputs(context);
  if (context->zeroed_is_dirty) {
    TENON_TRY(clean_zeroed(context));
  }
  expect_work(context);
  context->has_begun = false;
  tenon_status_t status = enqueue_all(context);
  context->run.awaits_collection = status == TENON_OK && is_busy(context);
  if (context->run.awaits_collection) {
    tenon__context_find_steady(context);
  } else if (status == TENON_OK) {
    status = collect(context);
  }
  tenon__thread_pool_rest(context->run.pool);
  return end_run(context, status);
}

void* tenon__context_native_stream(const tenon__context_t* context, const char* name) {
  const tenon__memory_t* memory =
      &context->run.spaces[tenon__plan_main_device(context->run.engine->plan)].memory;
  return memory->stream == NULL ? NULL : tenon__device_native(memory->device, memory->stream, name);
}

void tenon__context_cancel(tenon__context_t* context) {
  tenon__interrupt_want(&context->run.interrupt);
}

tenon_status_t tenon__context_run(tenon__context_t* context) {
  TENON_TRY(tenon__context_enqueue(context));
  return tenon__context_synchronize(context);
}

tenon_status_t tenon__context_synchronize(tenon__context_t* context) {
  if (!context->run.awaits_collection) {
    return TENON_OK;
  }
  context->run.awaits_collection = false;
  return end_run(context, collect(context));
}

void tenon__context_set_profiler(tenon__context_t* context,
                                 void (*profiler)(void* user, uint32_t step, double seconds),
                                 void* user) {
  context->is_steady = false;
  context->run.observer.profiler = profiler;
  context->run.observer.profiler_user = user;
}

void tenon__context_set_watcher(tenon__context_t* context, tenon__watcher_t watcher, void* user) {
  context->is_steady = false;
  context->run.observer.watcher = watcher;
  context->run.observer.watcher_user = user;
}

void tenon__context_use_lanes(tenon__context_t* context, bool uses_lanes) {
  context->run.is_in_a_row = !uses_lanes;
}
