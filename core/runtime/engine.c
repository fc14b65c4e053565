/* Engines: a plan read, its kernels found and prepared. */
#include "core/runtime/engine.h"

#include <stdatomic.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/plan/kernel_match.h"
#include "core/runtime/frame.h"

typedef struct finder_t {
  tenon__catalog_t* catalog;
} finder_t;

static const tenon__operator_t* find_operator(void* user, const char* name) {
  /* A plan runs without the plugin that declared an operator: its meaning is in the plan. */
  return tenon__catalog_operator(((finder_t*)user)->catalog, name, NULL);
}

static tenon_status_t open_device(tenon__engine_t* engine) {
  const tenon_sink_t* sink = engine->options.sink;
  engine->device = tenon__catalog_device(engine->catalog, engine->plan->device, sink);
  if (engine->device == NULL) {
    return tenon__fail(sink, TENON_ERROR_NOT_FOUND,
                       "the plan runs on device '%s', which no plugin offers",
                       engine->plan->device);
  }
  const tenon_device_descriptor_t* device = &engine->device->device;
  TENON_TRY(device->open(engine->device->owner->state, engine->options.device_index, sink,
                         &engine->device_handle));
  const char* here = device->fingerprint(engine->device_handle);
  if (strcmp(here, engine->plan->fingerprint) != 0) {
    tenon__report(sink, TENON_SEVERITY_WARNING,
                  "the plan was tuned for '%s', this machine is '%s': it may be slower here",
                  engine->plan->fingerprint, here);
  }
  return TENON_OK;
}

static const tenon__kernel_entry_t* find_kernel(tenon__engine_t* engine,
                                                const tenon__step_t* step) {
  const tenon__kernel_entry_t* entry =
      tenon__catalog_kernel(engine->catalog, step->plugin, step->kernel, engine->options.sink);
  if (entry == NULL || entry->kernel.version != step->kernel_version) {
    tenon__report(engine->options.sink, TENON_SEVERITY_ERROR,
                  "step '%s' needs kernel '%s' version %u of plugin '%s', %s", step->name,
                  step->kernel, step->kernel_version, step->plugin,
                  entry == NULL ? "which is not there" : "which has another version here");
    return NULL;
  }
  if (entry->kernel.isa != NULL &&
      (engine->device->device.has == NULL ||
       !engine->device->device.has(engine->device_handle, entry->kernel.isa))) {
    tenon__report(engine->options.sink, TENON_SEVERITY_ERROR,
                  "step '%s': kernel '%s' needs instruction set %s, which this machine lacks",
                  step->name, step->kernel, entry->kernel.isa);
    return NULL;
  }
  return entry;
}

tenon_status_t tenon__engine_prepare_step(tenon__engine_t* engine, const tenon__step_t* step,
                                          tenon__instance_t** out_instance) {
  const tenon__kernel_entry_t* entry = find_kernel(engine, step);
  if (entry == NULL) {
    return TENON_ERROR_NOT_FOUND;
  }
  const tenon__kernel_binding_t binding = {.kernel = &entry->kernel,
                                           .state = entry->owner->state,
                                           .plugin = entry->owner->plugin,
                                           .device = &engine->device->device,
                                           .device_handle = engine->device_handle};
  tenon_refusal_t refusal;
  if (!tenon__kernel_takes(&binding, step->region, &refusal)) {
    return tenon__fail(engine->options.sink, TENON_ERROR_INVALID_DATA,
                       "step '%s': kernel '%s' of plugin '%s' does not take it: %s%s%s", step->name,
                       step->kernel, step->plugin, tenon__refusal_text(refusal.reason),
                       refusal.detail == NULL ? "" : ": ",
                       refusal.detail == NULL ? "" : refusal.detail);
  }
  const tenon_status_t status =
      tenon__instance_create(engine->allocator, &binding, step->region, &step->tactic, step->name,
                             engine->store, engine->options.sink, out_instance);
  if (status != TENON_OK) {
    return tenon__fail(engine->options.sink, status,
                       "step '%s': kernel '%s' of plugin '%s' cannot be prepared", step->name,
                       step->kernel, step->plugin);
  }
  return TENON_OK;
}

static tenon_status_t prepare_graph(tenon__engine_t* engine, uint32_t graph) {
  const tenon__schedule_t* schedule = &engine->plan->schedules[graph];
  tenon__engine_step_t* steps =
      tenon__allocate(engine->allocator, schedule->step_count + 1u, sizeof *steps);
  if (steps == NULL) {
    return tenon__fail_memory(engine->options.sink);
  }
  engine->steps[graph] = steps;
  for (uint32_t k = 0; k < schedule->step_count; ++k) {
    steps[k].number = engine->step_count++;
    if (schedule->steps[k].kind == TENON_STEP_KERNEL) {
      TENON_TRY(tenon__engine_prepare_step(engine, &schedule->steps[k], &steps[k].instance));
    }
  }
  return TENON_OK;
}

static tenon_status_t prepare_steps(tenon__engine_t* engine) {
  const tenon__plan_t* plan = engine->plan;
  for (uint32_t k = 0; k < plan->packed_count; ++k) {
    TENON_TRY(tenon__packed_store_add_mapped(engine->store, &plan->packed[k]));
  }
  engine->steps = tenon__allocate(engine->allocator, plan->schedule_count + 1u, sizeof(void*));
  if (engine->steps == NULL) {
    return tenon__fail_memory(engine->options.sink);
  }
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    TENON_TRY(prepare_graph(engine, g));
  }
  return TENON_OK;
}

static tenon_status_t find_contents(tenon__engine_t* engine) {
  const tenon__dim_pool_t* pool = engine->plan->network->pool;
  engine->reads_contents =
      tenon__allocate(engine->allocator, engine->plan->network->number_count + 1u, 1);
  if (engine->reads_contents == NULL) {
    return tenon__fail_memory(engine->options.sink);
  }
  for (uint32_t k = 0; k < tenon__symbol_count(pool); ++k) {
    const tenon__symbol_t* symbol = tenon__symbol_get(pool, k);
    if (symbol->kind == TENON_SYMBOL_CONTENT && symbol->a < engine->plan->network->number_count) {
      engine->reads_contents[symbol->a] = 1;
    }
  }
  return TENON_OK;
}

static void destroy(tenon__engine_t* engine) {
  const tenon_allocator_t allocator = engine->allocator;
  for (uint32_t g = 0; engine->steps != NULL && g < engine->plan->schedule_count; ++g) {
    const uint32_t count = engine->plan->schedules[g].step_count;
    for (uint32_t k = 0; engine->steps[g] != NULL && k < count; ++k) {
      tenon__instance_release(engine->steps[g][k].instance);
    }
    tenon__free(allocator, engine->steps[g], (count + 1u) * sizeof **engine->steps);
  }
  if (engine->plan != NULL) {
    tenon__engine_drop_pending(engine);
    tenon__free(allocator, engine->steps, (engine->plan->schedule_count + 1u) * sizeof(void*));
    tenon__free(allocator, engine->reads_contents, engine->plan->network->number_count + 1u);
  }
  if (engine->device_handle != NULL) {
    engine->device->device.close(engine->device_handle);
  }
  tenon__packed_store_destroy(engine->store);
  tenon__plan_destroy(engine->plan);
  if (engine->options.release_data != NULL) {
    engine->options.release_data(engine->options.release_user);
  }
  tenon__free(allocator, engine, sizeof *engine);
}

static tenon_status_t initialize(tenon__engine_t* engine, const void* data, size_t size_bytes) {
  finder_t finder = {.catalog = engine->catalog};
  TENON_TRY(tenon__plan_read(engine->allocator, data, size_bytes, find_operator, &finder,
                             engine->options.sink, &engine->plan));
  if (engine->options.verify) {
    TENON_TRY(tenon__plan_verify(engine->plan, engine->options.sink));
  }
  TENON_TRY(tenon__packed_store_create(engine->allocator, &engine->store));
  TENON_TRY(open_device(engine));
  TENON_TRY(find_contents(engine));
  return prepare_steps(engine);
}

tenon_status_t tenon__engine_create(tenon__catalog_t* catalog, const void* data, size_t size_bytes,
                                    const tenon__engine_options_t* options,
                                    tenon__engine_t** out_engine) {
  tenon__engine_t* engine = tenon__allocate(options->allocator, 1, sizeof *engine);
  if (engine == NULL) {
    if (options->release_data != NULL) {
      options->release_data(options->release_user);
    }
    return tenon__fail_memory(options->sink);
  }
  engine->allocator = options->allocator;
  engine->options = *options;
  engine->catalog = catalog;
  atomic_init(&engine->reference_count, 1);
  const tenon_status_t status = initialize(engine, data, size_bytes);
  if (status != TENON_OK) {
    destroy(engine);
    return status;
  }
  *out_engine = engine;
  return TENON_OK;
}

void tenon__engine_retain(tenon__engine_t* engine) {
  atomic_fetch_add_explicit(&engine->reference_count, 1, memory_order_relaxed);
}

void tenon__engine_release(tenon__engine_t* engine) {
  if (engine != NULL &&
      atomic_fetch_sub_explicit(&engine->reference_count, 1, memory_order_acq_rel) == 1) {
    destroy(engine);
  }
}

const tenon__plan_t* tenon__engine_plan(const tenon__engine_t* engine) {
  return engine->plan;
}

const tenon_sink_t* tenon__engine_sink(const tenon__engine_t* engine) {
  return engine->options.sink;
}

static tenon_status_t verify_plugin(const tenon__engine_t* engine,
                                    const tenon__plan_plugin_t* plugin) {
  static const tenon__digest_t of_static_ones = {{0}};
  const tenon__owner_t* owners[512];
  const uint32_t count = tenon__catalog_owners(engine->catalog, owners, 512);
  const tenon_sink_t* sink = engine->options.sink;
  for (uint32_t k = 0; k < count && k < 512; ++k) {
    tenon__owner_t* owner = tenon__drop_const(owners[k]);
    if (strcmp(owner->plugin, plugin->name) != 0 || owner->digest == NULL) {
      continue;
    }
    tenon__digest_t digest;
    TENON_TRY(owner->digest(owner->user, owner, sink, &digest));
    if (memcmp(&digest, &plugin->digest, sizeof digest) != 0) {
      return tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                         "plugin '%s' (%s) is not the file that the plan was built with",
                         plugin->name, owner->path);
    }
    return TENON_OK;
  }
  return memcmp(&plugin->digest, &of_static_ones, sizeof of_static_ones) == 0
             ? TENON_OK
             : tenon__fail(sink, TENON_ERROR_NOT_FOUND,
                           "plugin '%s' %s, which the plan names, is not there", plugin->name,
                           plugin->version);
}

tenon_status_t tenon__engine_verify(const tenon__engine_t* engine) {
  TENON_TRY(tenon__plan_verify(engine->plan, engine->options.sink));
  for (uint32_t k = 0; k < engine->plan->plugin_count; ++k) {
    TENON_TRY(verify_plugin(engine, &engine->plan->plugins[k]));
  }
  return TENON_OK;
}
