/* Contexts: inputs in, run, outputs out. */
#include "core/runtime/context.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/runtime/frame.h"
#include "core/tensor/layout.h"

enum { MAX_RANK = 64 };

static const tenon__graph_t* main_graph(const tenon__context_t* context) {
  return context->engine->plan->network->graphs[0];
}

/* ---- Life ---- */

static char* allocate_memory(tenon__context_t* context, uint64_t size_bytes) {
  return tenon__allocate(context->allocator, size_bytes + 64, 1);
}

static tenon_status_t create_frames(tenon__context_t* context) {
  const tenon__plan_t* plan = context->engine->plan;
  context->frames =
      tenon__arena_allocate(&context->arena, plan->schedule_count + 1u, sizeof *context->frames);
  uint64_t* bases =
      tenon__arena_allocate(&context->arena, plan->schedule_count + 1u, sizeof *bases);
  if (context->frames == NULL || bases == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
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

static tenon_status_t create_states(tenon__context_t* context) {
  const tenon__network_t* network = context->engine->plan->network;
  const size_t count = network->state_count + 1u;
  context->states = tenon__arena_allocate(&context->arena, count, sizeof(void*));
  context->state_sizes = tenon__arena_allocate(&context->arena, count, sizeof(size_t));
  if (context->states == NULL || context->state_sizes == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t k = 0; k < network->state_count; ++k) {
    const tenon__state_node_t* state = &network->states[k];
    uint64_t elements = 0;
    if (!tenon__element_count(state->rank, state->dims, &elements) ||
        !tenon__dtype_bytes(state->dtype, elements, &context->state_sizes[k])) {
      return TENON_ERROR_INVALID_DATA;
    }
    context->states[k] = tenon__allocate(context->allocator, context->state_sizes[k], 1);
    if (context->states[k] == NULL) {
      return TENON_ERROR_OUT_OF_MEMORY;
    }
  }
  tenon__context_reset_states(context);
  return TENON_OK;
}

static tenon_status_t create_border(tenon__context_t* context) {
  const tenon__graph_t* g = main_graph(context);
  tenon__arena_t* arena = &context->arena;
  const size_t inputs = g->input_count + 1u;
  const size_t outputs = g->output_count + 1u;
  context->inputs = tenon__arena_allocate(arena, inputs, sizeof *context->inputs);
  context->input_is_set = tenon__arena_allocate(arena, inputs, sizeof(bool));
  context->input_dims = tenon__arena_allocate(arena, inputs, sizeof *context->input_dims);
  context->input_strides = tenon__arena_allocate(arena, inputs, sizeof *context->input_strides);
  context->outputs = tenon__arena_allocate(arena, outputs, sizeof *context->outputs);
  context->results = tenon__arena_allocate(arena, outputs, sizeof *context->results);
  context->result_dims = tenon__arena_allocate(arena, outputs, sizeof *context->result_dims);
  context->result_strides = tenon__arena_allocate(arena, outputs, sizeof *context->result_strides);
  const bool good = context->inputs != NULL && context->input_is_set != NULL &&
                    context->input_dims != NULL && context->input_strides != NULL &&
                    context->outputs != NULL && context->results != NULL &&
                    context->result_dims != NULL && context->result_strides != NULL;
  context->shapes_changed = true;
  return good ? TENON_OK : TENON_ERROR_OUT_OF_MEMORY;
}

static tenon_status_t initialize(tenon__context_t* context, uint32_t thread_count, void* stream) {
  const tenon__engine_t* engine = context->engine;
  const tenon__plan_t* plan = engine->plan;
  const tenon_device_descriptor_t* device = &engine->device->device;
  TENON_TRY(tenon__thread_pool_create(context->allocator,
                                      thread_count == 0 ? plan->thread_count : thread_count,
                                      engine->options.sink, &context->pool));
  if (device->create_stream != NULL && (device->flags & TENON_DEVICE_INLINE_STREAM) == 0) {
    TENON_TRY(device->create_stream(engine->device_handle, stream, &context->stream));
  }
  context->memory = allocate_memory(context, plan->schedules[0].memory_bytes);
  context->scratch = allocate_memory(context, plan->scratch_bytes);
  context->zeroed = allocate_memory(context, plan->zeroed_bytes);
  context->persistent = allocate_memory(context, plan->persistent_bytes);
  if (context->memory == NULL || context->scratch == NULL || context->zeroed == NULL ||
      context->persistent == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  TENON_TRY(tenon__extents_create(&context->arena, plan->network->pool, &context->extents));
  TENON_TRY(create_states(context));
  TENON_TRY(create_border(context));
  context->run = (struct tenon_run_t){.pool = context->pool,
                                      .stream = context->stream,
                                      .scratch = context->scratch,
                                      .sink = engine->options.sink};
  return create_frames(context);
}

tenon_status_t tenon__context_create(tenon__engine_t* engine, uint32_t thread_count, void* stream,
                                     tenon__context_t** out_context) {
  tenon__context_t* context = tenon__allocate(engine->allocator, 1, sizeof *context);
  if (context == NULL) {
    return tenon__fail_memory(engine->options.sink);
  }
  context->allocator = engine->allocator;
  context->engine = engine;
  tenon__engine_retain(engine);
  tenon__arena_initialize(&context->arena, engine->allocator);
  const tenon_status_t status = initialize(context, thread_count, stream);
  if (status != TENON_OK) {
    tenon__context_destroy(context);
    return tenon__fail(engine->options.sink, status, "a context cannot be made");
  }
  *out_context = context;
  return TENON_OK;
}

static void free_memory(tenon__context_t* context, char* memory, uint64_t size_bytes) {
  tenon__free(context->allocator, memory, size_bytes + 64);
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
  for (uint32_t k = 0; context->states != NULL && k < plan->network->state_count; ++k) {
    tenon__free(context->allocator, context->states[k], context->state_sizes[k]);
  }
  free_memory(context, context->memory, plan->schedules[0].memory_bytes);
  free_memory(context, context->scratch, plan->scratch_bytes);
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

/* ---- Inputs ---- */

static tenon_status_t check_range(const tenon__context_t* context, uint32_t index,
                                  const tenon_tensor_view_t* view) {
  const tenon__graph_t* g = main_graph(context);
  const tenon__value_node_t* value = &g->values[g->inputs[index]];
  const tenon__plan_t* plan = context->engine->plan;
  const tenon_sink_t* sink = context->engine->options.sink;
  if (value->dtype != view->dtype) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                       "input '%s' is %s, the engine expects %s", value->name,
                       tenon__dtype_name(view->dtype), tenon__dtype_name(value->dtype));
  }
  if (value->rank != view->rank || view->rank > MAX_RANK) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                       "input '%s' has rank %u, the engine expects %u", value->name, view->rank,
                       value->rank);
  }
  for (uint32_t k = 0; k < view->rank; ++k) {
    int64_t min = 0;
    int64_t max = INT64_MAX;
    (void)tenon__extents_get(&plan->profile.min, value->dims[k], &min);
    (void)tenon__extents_get(&plan->profile.max, value->dims[k], &max);
    if (view->dims[k] < min || view->dims[k] > max) {
      return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                         "input '%s': extent %lld of axis %u is outside the profile, %lld to %lld; "
                         "build with a wider one",
                         value->name, (long long)view->dims[k], k, (long long)min, (long long)max);
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__context_set_input(tenon__context_t* context, uint32_t index,
                                        const tenon_argument_t* argument) {
  const tenon__graph_t* g = main_graph(context);
  const tenon_sink_t* sink = context->engine->options.sink;
  if (index >= g->input_count) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                       "there is no input %u, the engine has %u", index, g->input_count);
  }
  const tenon__value_node_t* value = &g->values[g->inputs[index]];
  if (value->kind != argument->kind) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT, "input '%s' is of another kind",
                       value->name);
  }
  tenon__frame_t* frame = &context->frames[0];
  tenon__place_state_t* place = &frame->places[frame->schedule->inputs[index]];
  if (value->kind != TENON_ARGUMENT_TENSOR) {
    TENON_TRY(tenon__growing_assign(place->growing, argument));
    place->argument = (tenon_argument_t){
        .kind = value->kind, .count = place->growing->item_count, .items = place->growing->items};
    context->input_is_set[index] = true;
    return TENON_OK;
  }
  TENON_TRY(check_range(context, index, &argument->tensor));
  const size_t bytes = argument->tensor.rank * sizeof(int64_t);
  if (!context->input_is_set[index] ||
      (bytes > 0 && memcmp(context->input_dims[index], argument->tensor.dims, bytes) != 0)) {
    context->shapes_changed = true;
  }
  if (bytes > 0) {
    memcpy(context->input_dims[index], argument->tensor.dims, bytes);
    memcpy(context->input_strides[index], argument->tensor.strides, bytes);
  }
  context->inputs[index] = *argument;
  context->inputs[index].tensor.dims = context->input_dims[index];
  context->inputs[index].tensor.strides = context->input_strides[index];
  context->input_is_set[index] = true;
  return TENON_OK;
}

/* The application's memory where it will do, else a copy. */
static tenon_status_t take_input(tenon__context_t* context, uint32_t index) {
  const tenon__graph_t* g = main_graph(context);
  const tenon__value_node_t* value = &g->values[g->inputs[index]];
  tenon__frame_t* frame = &context->frames[0];
  const uint32_t at = frame->schedule->inputs[index];
  tenon__place_state_t* place = &frame->places[at];
  if (!context->input_is_set[index]) {
    return tenon__fail(context->engine->options.sink, TENON_ERROR_INVALID_STATE,
                       "input '%s' was not set", value->name);
  }
  if (value->kind != TENON_ARGUMENT_TENSOR ||
      frame->schedule->places[at].storage != TENON_STORAGE_INPUT) {
    return TENON_OK;
  }
  const tenon_tensor_view_t* view = &context->inputs[index].tensor;
  const bool in_place = tenon__strides_are_row_major(view->rank, view->dims, view->strides) &&
                        ((uintptr_t)view->data % 16 == 0 || tenon__dtype_bits(view->dtype) < 8) &&
                        view->bit_offset == 0;
  if (in_place) {
    place->data = view->data;
    return TENON_OK;
  }
  const tenon_argument_t argument = {.kind = TENON_ARGUMENT_TENSOR, .tensor = *view};
  TENON_TRY(tenon__growing_assign(place->growing, &argument));
  place->data = place->growing->data;
  return TENON_OK;
}

/* ---- Shapes ---- */

static tenon_status_t learn_inputs(tenon__context_t* context) {
  const tenon__graph_t* g = main_graph(context);
  const tenon__dim_pool_t* pool = context->engine->plan->network->pool;
  const tenon_sink_t* sink = context->engine->options.sink;
  bool changed = false;
  memset(context->extents.symbol_known, 0, context->extents.symbol_count);
  for (uint32_t k = 0; k < g->input_count; ++k) {
    const tenon__value_node_t* value = &g->values[g->inputs[k]];
    if (value->kind == TENON_ARGUMENT_TENSOR) {
      TENON_TRY(tenon__context_learn_shape(context, 0, g->inputs[k], value->rank,
                                           context->input_dims[k], &changed));
    }
  }
  tenon__extents_update(&context->extents);
  /* Symbols that several inputs share, and constants, must agree. */
  for (uint32_t k = 0; k < g->input_count; ++k) {
    const tenon__value_node_t* value = &g->values[g->inputs[k]];
    for (uint32_t d = 0; value->kind == TENON_ARGUMENT_TENSOR && d < value->rank; ++d) {
      int64_t extent = 0;
      if (tenon__extents_get(&context->extents, value->dims[d], &extent) &&
          extent != context->input_dims[k][d]) {
        return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                           "input '%s': axis %u (%s) is %lld, but %lld elsewhere", value->name, d,
                           tenon__dim_text(pool, value->dims[d], &context->arena),
                           (long long)context->input_dims[k][d], (long long)extent);
      }
    }
  }
  for (uint32_t f = 0; f < context->engine->plan->schedule_count; ++f) {
    context->frames[f].is_bound = false;
  }
  context->shapes_changed = false;
  return TENON_OK;
}

/* Does what this run puts into the arena fit where the plan put it? */
static tenon_status_t check_sizes(tenon__context_t* context) {
  const tenon__plan_t* plan = context->engine->plan;
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    for (uint32_t p = 0; p < plan->schedules[g].place_count; ++p) {
      const tenon__place_t* place = &plan->schedules[g].places[p];
      uint64_t bytes = 0;
      if (place->storage == TENON_STORAGE_ARENA &&
          tenon__place_bytes(plan->network, g, place, &context->extents, &bytes) &&
          bytes > place->size_bytes) {
        return tenon__fail(context->engine->options.sink, TENON_ERROR_INVALID_ARGUMENT,
                           "value '%s' needs %llu bytes for these inputs, the plan has %llu; "
                           "build with a wider profile",
                           plan->network->graphs[g]->values[place->value].name,
                           (unsigned long long)bytes, (unsigned long long)place->size_bytes);
      }
    }
  }
  return TENON_OK;
}

/* ---- Outputs ---- */

tenon_status_t tenon__context_set_output(tenon__context_t* context, uint32_t index,
                                         const tenon_tensor_view_t* view) {
  const tenon__graph_t* g = main_graph(context);
  if (index >= g->output_count) {
    return tenon__fail(context->engine->options.sink, TENON_ERROR_INVALID_ARGUMENT,
                       "there is no output %u, the engine has %u", index, g->output_count);
  }
  if (view == NULL) {
    context->outputs[index].data = NULL;
    return TENON_OK;
  }
  const tenon__value_node_t* value = &g->values[g->outputs[index]];
  if (value->kind != TENON_ARGUMENT_TENSOR || view->dtype != value->dtype ||
      view->rank != value->rank || view->rank > MAX_RANK) {
    return tenon__fail(context->engine->options.sink, TENON_ERROR_INVALID_ARGUMENT,
                       "output '%s' is %s of rank %u; the memory given is %s of rank %u",
                       value->name, tenon__dtype_name(value->dtype), value->rank,
                       tenon__dtype_name(view->dtype), view->rank);
  }
  context->outputs[index] = *view;
  memcpy(context->result_dims[index], view->dims, view->rank * sizeof(int64_t));
  memcpy(context->result_strides[index], view->strides, view->rank * sizeof(int64_t));
  return TENON_OK;
}

/* Memory for outputs that the plan writes where the application wants them. */
static tenon_status_t place_outputs(tenon__context_t* context) {
  tenon__frame_t* frame = &context->frames[0];
  const tenon__graph_t* g = main_graph(context);
  for (uint32_t k = 0; k < g->output_count; ++k) {
    const uint32_t at = frame->schedule->outputs[k];
    const tenon__place_t* place = &frame->schedule->places[at];
    const tenon__value_node_t* value = &g->values[g->outputs[k]];
    int64_t dims[MAX_RANK];
    if (place->storage != TENON_STORAGE_OUTPUT) {
      continue;
    }
    if (!tenon__extents_shape(&context->extents, value->rank, value->dims, dims)) {
      return tenon__fail(context->engine->options.sink, TENON_ERROR_INTERNAL,
                         "the extents of output '%s' are not known in time", value->name);
    }
    const tenon_tensor_view_t* own = &context->outputs[k];
    const bool in_place =
        own->data != NULL &&
        memcmp(context->result_dims[k], dims, value->rank * sizeof *dims) == 0 &&
        tenon__strides_are_row_major(value->rank, dims, context->result_strides[k]) &&
        (uintptr_t)own->data % 16 == 0;
    if (in_place) {
      frame->places[at].data = own->data;
    } else {
      TENON_TRY(tenon__growing_resize(frame->places[at].growing, value->dtype, value->rank, dims));
      frame->places[at].data = frame->places[at].growing->data;
    }
  }
  return TENON_OK;
}

/* An output of ours into the application's memory. */
static tenon_status_t copy_out(tenon__context_t* context, uint32_t index,
                               const tenon_tensor_view_t* result) {
  tenon_tensor_view_t target = context->outputs[index];
  const tenon__graph_t* g = main_graph(context);
  target.dims = context->result_dims[index];
  target.strides = context->result_strides[index];
  for (uint32_t k = 0; k < result->rank; ++k) {
    if (result->dims[k] > target.dims[k]) {
      return tenon__fail(context->engine->options.sink, TENON_ERROR_INVALID_ARGUMENT,
                         "output '%s' has extent %lld on axis %u, the memory given holds %lld",
                         g->values[g->outputs[index]].name, (long long)result->dims[k], k,
                         (long long)target.dims[k]);
    }
  }
  return tenon__copy_tensor(result, &target);
}

static tenon_status_t collect_outputs(tenon__context_t* context) {
  tenon__frame_t* frame = &context->frames[0];
  for (uint32_t k = 0; k < main_graph(context)->output_count; ++k) {
    int64_t dims[MAX_RANK];
    int64_t strides[MAX_RANK];
    tenon_argument_t argument;
    TENON_TRY(tenon__frame_argument(frame, frame->schedule->outputs[k], dims, strides, &argument));
    if (argument.kind != TENON_ARGUMENT_TENSOR) {
      context->results[k] = argument;
      continue;
    }
    if (context->outputs[k].data != NULL && argument.tensor.data != context->outputs[k].data) {
      TENON_TRY(copy_out(context, k, &argument.tensor));
      argument.tensor.data = context->outputs[k].data;
      memcpy(strides, context->result_strides[k], argument.tensor.rank * sizeof *strides);
    }
    int64_t* kept_dims = context->result_dims[k];
    int64_t* kept_strides = context->result_strides[k];
    if (context->outputs[k].data == NULL) {
      memcpy(kept_dims, dims, argument.tensor.rank * sizeof *dims);
      memcpy(kept_strides, strides, argument.tensor.rank * sizeof *strides);
    }
    argument.tensor.dims = kept_dims;
    argument.tensor.strides = kept_strides;
    context->results[k] = argument;
  }
  return TENON_OK;
}

const tenon_argument_t* tenon__context_get_output(const tenon__context_t* context, uint32_t index) {
  return index < main_graph(context)->output_count ? &context->results[index] : NULL;
}

/* ---- Running ---- */

static tenon_status_t update_states(tenon__context_t* context) {
  const tenon__network_t* network = context->engine->plan->network;
  tenon__frame_t* frame = &context->frames[0];
  for (uint32_t k = 0; k < network->state_count; ++k) {
    int64_t dims[MAX_RANK];
    int64_t strides[MAX_RANK];
    tenon_argument_t argument;
    uint32_t place = 0;
    while (place < frame->schedule->place_count &&
           frame->schedule->places[place].value != network->states[k].update) {
      ++place;
    }
    if (network->states[k].update == TENON_NONE || place == frame->schedule->place_count) {
      continue;
    }
    TENON_TRY(tenon__frame_argument(frame, place, dims, strides, &argument));
    int64_t own[MAX_RANK];
    (void)tenon__strides_row_major(argument.tensor.rank, dims, own);
    const tenon_tensor_view_t target = {.data = context->states[k],
                                        .dims = dims,
                                        .strides = own,
                                        .rank = argument.tensor.rank,
                                        .dtype = argument.tensor.dtype};
    if (argument.tensor.data != target.data) {
      TENON_TRY(tenon__copy_tensor(&argument.tensor, &target));
    }
  }
  return TENON_OK;
}

static tenon_status_t run_all(tenon__context_t* context) {
  for (uint32_t k = 0; k < main_graph(context)->input_count; ++k) {
    TENON_TRY(take_input(context, k));
  }
  if (context->shapes_changed) {
    TENON_TRY(learn_inputs(context));
    const tenon_status_t status = check_sizes(context);
    if (status != TENON_OK) {
      context->shapes_changed = true;
      return status;
    }
  }
  TENON_TRY(place_outputs(context));
  TENON_TRY(tenon__frame_run(&context->frames[0]));
  TENON_TRY(collect_outputs(context));
  return update_states(context);
}

tenon_status_t tenon__context_enqueue(tenon__context_t* context) {
  tenon__thread_pool_wake(context->pool);
  const tenon_status_t status = run_all(context);
  tenon__thread_pool_rest(context->pool);
  return status;
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

/* ---- States ---- */

tenon_status_t tenon__context_state(tenon__context_t* context, const char* name, void** out_data,
                                    size_t* out_size) {
  const tenon__network_t* network = context->engine->plan->network;
  for (uint32_t k = 0; k < network->state_count; ++k) {
    if (strcmp(network->states[k].name, name) == 0) {
      *out_data = context->states[k];
      *out_size = context->state_sizes[k];
      return TENON_OK;
    }
  }
  return tenon__fail(context->engine->options.sink, TENON_ERROR_NOT_FOUND,
                     "there is no state called '%s'", name);
}

void tenon__context_reset_states(tenon__context_t* context) {
  const tenon__network_t* network = context->engine->plan->network;
  for (uint32_t k = 0; k < network->state_count; ++k) {
    const uint32_t initial = network->states[k].initial;
    if (initial == TENON_NONE) {
      memset(context->states[k], 0, context->state_sizes[k]);
    } else {
      memcpy(context->states[k], network->weights[initial].data, context->state_sizes[k]);
    }
  }
}

tenon_status_t tenon__context_clone_states(tenon__context_t* context,
                                           const tenon__context_t* source) {
  if (context->engine != source->engine) {
    return tenon__fail(context->engine->options.sink, TENON_ERROR_INVALID_ARGUMENT,
                       "the contexts belong to different engines");
  }
  for (uint32_t k = 0; k < context->engine->plan->network->state_count; ++k) {
    memcpy(context->states[k], source->states[k], context->state_sizes[k]);
  }
  return TENON_OK;
}
