/* tenon.h: engines. */
#include <stdatomic.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "sdk/library/library.h"

static void destroy(tenon_engine_t* engine) {
  tenon_registry_t* registry = engine->registry;
  tenon__engine_release(engine->engine);
  tenon__arena_deinitialize(&engine->arena);
  (void)pthread_mutex_destroy(&engine->mutex);
  tenon__free(registry->allocator, engine, sizeof *engine);
  tenon_registry_release(registry);
}

static tenon_status_t describe_border(tenon_engine_t* engine) {
  const tenon__plan_t* plan = tenon__engine_plan(engine->engine);
  const tenon__graph_t* g = plan->network->graphs[0];
  tenon__arena_t* arena = &engine->arena;
  engine->inputs = tenon__arena_allocate(arena, g->input_count + 1u, sizeof *engine->inputs);
  engine->outputs = tenon__arena_allocate(arena, g->output_count + 1u, sizeof *engine->outputs);
  engine->profiles =
      tenon__arena_allocate(arena, 3u * (size_t)g->input_count + 1u, sizeof *engine->profiles);
  if (engine->inputs == NULL || engine->outputs == NULL || engine->profiles == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const tenon__extents_t* points[] = {&plan->profile.min, &plan->profile.optimum,
                                      &plan->profile.max};
  for (uint32_t k = 0; k < g->input_count; ++k) {
    const tenon__value_node_t* v = &g->values[g->inputs[k]];
    TENON_TRY(
        tenon__io_describe(arena, plan->network, g->inputs[k], v->name, &engine->inputs[k]));
    for (uint32_t p = 0; p < 3; ++p) {
      const uint32_t rank = v->rank == TENON_NONE ? 0 : v->rank;
      int64_t* dims = tenon__arena_allocate(arena, rank + 1u, sizeof *dims);
      if (dims == NULL) {
        return TENON_ERROR_OUT_OF_MEMORY;
      }
      (void)tenon__extents_shape(points[p], rank, v->dims, dims);
      engine->profiles[3 * k + p] = dims;
    }
  }
  for (uint32_t k = 0; k < g->output_count; ++k) {
    TENON_TRY(tenon__io_describe(arena, plan->network, g->outputs[k], g->output_names[k],
                                 &engine->outputs[k]));
  }
  return TENON_OK;
}

/* Takes over one reference of `bytes`. */
static tenon_status_t create(tenon_registry_t* registry, tenon__plan_bytes_t* bytes,
                             const tenon_engine_options_t* options, tenon_engine_t** out_engine) {
  tenon_engine_options_t own;
  tenon__options_copy(&own, sizeof own, options);
  tenon_engine_t* engine = tenon__allocate(registry->allocator, 1, sizeof *engine);
  if (engine == NULL) {
    tenon__plan_bytes_release(bytes);
    return tenon__fail_memory(&registry->logger);
  }
  engine->registry = registry;
  tenon_registry_retain(registry);
  atomic_init(&engine->reference_count, 1);
  (void)pthread_mutex_init(&engine->mutex, NULL);
  engine->plan_bytes = bytes->size_bytes;
  tenon__arena_initialize(&engine->arena, registry->allocator);
  const tenon__engine_options_t inner = {
      .allocator = registry->allocator,
      .device_index = own.device_index,
      .verify = own.verify != 0,
      .sink = &registry->logger,
      .release_data = tenon__plan_bytes_release,
      .release_user = bytes,
  };
  tenon_status_t status = tenon__engine_create(registry->catalog, bytes->data, bytes->size_bytes,
                                               &inner, &engine->engine);
  if (status == TENON_OK && own.verify != 0) {
    status = tenon__engine_verify(engine->engine);
  }
  if (status == TENON_OK) {
    status = describe_border(engine);
  }
  if (status == TENON_OK) {
    status = tenon__engine_describe(engine);
  }
  if (status != TENON_OK) {
    destroy(engine);
    return status;
  }
  *out_engine = engine;
  return TENON_OK;
}

static tenon__plan_bytes_t* new_bytes(tenon_registry_t* registry) {
  tenon__plan_bytes_t* bytes = tenon__allocate(registry->allocator, 1, sizeof *bytes);
  if (bytes != NULL) {
    bytes->allocator = registry->allocator;
    bytes->file.descriptor = -1;
    atomic_init(&bytes->reference_count, 1);
  }
  return bytes;
}

TENON_API tenon_status_t tenon_engine_create_from_file(tenon_registry_t* registry, const char* path,
                                                       const tenon_engine_options_t* options,
                                                       tenon_engine_t** out_engine) {
  tenon__mapped_file_t file;
  if (registry == NULL || path == NULL || out_engine == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  TENON_TRY(tenon__file_map(path, &registry->logger, &file));
  tenon__plan_bytes_t* bytes = new_bytes(registry);
  if (bytes == NULL) {
    tenon__file_unmap(&file);
    return tenon__fail_memory(&registry->logger);
  }
  bytes->file = file;
  bytes->data = (void*)(uintptr_t)file.data;
  bytes->size_bytes = file.size;
  const tenon_status_t status = create(registry, bytes, options, out_engine);
  return status == TENON_OK ? status
                            : tenon__fail(&registry->logger, status, "%s: the plan cannot be used",
                                          path);
}

TENON_API tenon_status_t tenon_engine_create_from_memory(tenon_registry_t* registry,
                                                         const void* data, size_t size_bytes,
                                                         const tenon_engine_options_t* options,
                                                         tenon_engine_t** out_engine) {
  if (registry == NULL || data == NULL || out_engine == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  tenon__plan_bytes_t* bytes = new_bytes(registry);
  if (bytes == NULL) {
    return tenon__fail_memory(&registry->logger);
  }
  bytes->data = (void*)(uintptr_t)data;
  bytes->size_bytes = size_bytes;
  bytes->is_borrowed = true;
  return create(registry, bytes, options, out_engine);
}

TENON_API tenon_status_t tenon_engine_create_from_plan(tenon_registry_t* registry,
                                                       const tenon_plan_t* plan,
                                                       const tenon_engine_options_t* options,
                                                       tenon_engine_t** out_engine) {
  if (registry == NULL || plan == NULL || out_engine == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  atomic_fetch_add_explicit(&plan->bytes->reference_count, 1, memory_order_relaxed);
  return create(registry, plan->bytes, options, out_engine);
}

TENON_API void tenon_engine_retain(tenon_engine_t* engine) {
  if (engine != NULL) {
    atomic_fetch_add_explicit(&engine->reference_count, 1, memory_order_relaxed);
  }
}

TENON_API void tenon_engine_release(tenon_engine_t* engine) {
  if (engine != NULL &&
      atomic_fetch_sub_explicit(&engine->reference_count, 1, memory_order_acq_rel) == 1) {
    destroy(engine);
  }
}

TENON_API uint32_t tenon_engine_input_count(const tenon_engine_t* engine) {
  return engine == NULL ? 0 : tenon__engine_plan(engine->engine)->network->graphs[0]->input_count;
}

TENON_API uint32_t tenon_engine_output_count(const tenon_engine_t* engine) {
  return engine == NULL ? 0 : tenon__engine_plan(engine->engine)->network->graphs[0]->output_count;
}

TENON_API tenon_status_t tenon_engine_get_input(const tenon_engine_t* engine, uint32_t index,
                                                tenon_io_info_t* out_info) {
  if (index >= tenon_engine_input_count(engine) || out_info == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  *out_info = engine->inputs[index];
  return TENON_OK;
}

TENON_API tenon_status_t tenon_engine_get_output(const tenon_engine_t* engine, uint32_t index,
                                                 tenon_io_info_t* out_info) {
  if (index >= tenon_engine_output_count(engine) || out_info == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  *out_info = engine->outputs[index];
  return TENON_OK;
}

TENON_API tenon_status_t tenon_engine_get_profile(const tenon_engine_t* engine, uint32_t input,
                                                  uint32_t which, const int64_t** out_dims) {
  if (input >= tenon_engine_input_count(engine) || which > 2 || out_dims == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  *out_dims = engine->profiles[3 * input + which];
  return TENON_OK;
}

TENON_API uint32_t tenon_engine_step_count(const tenon_engine_t* engine) {
  return engine == NULL ? 0 : engine->step_count;
}

TENON_API tenon_status_t tenon_engine_get_step(const tenon_engine_t* engine, uint32_t index,
                                               tenon_step_info_t* out_info) {
  if (index >= tenon_engine_step_count(engine) || out_info == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  TENON_TRY(tenon__engine_describe_steps((tenon_engine_t*)(uintptr_t)engine));
  *out_info = engine->steps[index];
  return TENON_OK;
}

TENON_API tenon_status_t tenon_engine_get_info(const tenon_engine_t* engine,
                                               tenon_engine_info_t* out_info) {
  if (engine == NULL || out_info == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  const size_t size = out_info->size < sizeof *out_info ? out_info->size : sizeof *out_info;
  memcpy(out_info, &engine->info, size);
  out_info->size = size;
  return TENON_OK;
}

TENON_API void tenon_engine_print_network(const tenon_engine_t* engine, tenon_write_t write,
                                          void* user) {
  tenon__network_print(tenon__engine_plan(engine->engine)->network, write, user);
}

TENON_API tenon_status_t tenon_engine_verify(const tenon_engine_t* engine) {
  return engine == NULL ? TENON_ERROR_INVALID_ARGUMENT : tenon__engine_verify(engine->engine);
}

TENON_API uint32_t tenon_engine_weights_count(const tenon_engine_t* engine) {
  return engine == NULL ? 0 : tenon__engine_plan(engine->engine)->network->weights_count;
}

TENON_API const char* tenon_engine_get_weights_name(const tenon_engine_t* engine, uint32_t index) {
  return index < tenon_engine_weights_count(engine)
             ? tenon__engine_plan(engine->engine)->network->weights[index].name
             : NULL;
}

TENON_API tenon_status_t tenon_engine_set_weights(tenon_engine_t* engine, const char* name,
                                                  const void* data, size_t size_bytes) {
  if (engine == NULL || name == NULL || data == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  return tenon__engine_set_weights(engine->engine, name, data, size_bytes);
}

TENON_API tenon_status_t tenon_engine_commit_weights(tenon_engine_t* engine) {
  return engine == NULL ? TENON_ERROR_INVALID_ARGUMENT
                        : tenon__engine_commit_weights(engine->engine);
}
