/* Engines: plans loaded, from files, memory or just built. */
#include <stdio.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/c_locale.h"
#include "core/builder/load.h"
#include "core/builder/refit.h"
#include "core/engine/engine.h"
#include "core/engine/refit.h"
#include "core/network/print.h"
#include "sdk/library/library.h"

enum { PLAN_ALIGNMENT = 64 };

/* ---- Loading ---- */

static void destroy(tenon_engine_t* engine) {
  tenon_registry_t* registry = engine->registry;
  tenon__engine_texts_destroy(engine);
  tenon__engine_release(engine->engine);
  tenon__plan_bytes_release(engine->bytes);
  tenon__file_unmap(&engine->file);
  tenon__free(registry->allocator, engine, sizeof(*engine));
  tenon_registry_release(registry);
}

static tenon_status_t make_engine(tenon_registry_t* registry, const tenon_engine_options_t* options,
                                  tenon_engine_t** out_engine) {
  if (options->plugins > TENON_PLUGINS_ACCEPT) {
    tenon__report(&registry->sink, TENON_SEVERITY_ERROR,
                  "tenon_engine_options_t: there is no way %u to treat plugins", options->plugins);
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  tenon_engine_t* engine = tenon__allocate(registry->allocator, 1, sizeof(*engine));
  if (engine == NULL) {
    (void)tenon__fail_memory(&registry->sink);
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  atomic_init(&engine->reference_count, 1);
  engine->registry = registry;
  engine->sink = registry->sink;
  engine->file.descriptor = -1;
  tenon_registry_retain(registry);
  *out_engine = engine;
  return TENON_OK;
}

/* `name` goes before messages; "" for none. */
static tenon_status_t load(tenon_engine_t* engine, const void* data, size_t size_bytes,
                           const char* name, const tenon_engine_options_t* options) {
  tenon__prefix_sink_t named;
  tenon__prefix_sink_initialize(&named, &engine->registry->sink, name);
  engine->sink = named.sink;
  engine->plan_size = size_bytes;
  const bool verifies_all = options->verify == TENON_VERIFY_ALL;
  const tenon__engine_options_t inner = {
      .allocator = engine->registry->allocator,
      .device_index = options->device_index,
      .verify = verifies_all,
      .verify_read = options->verify == TENON_VERIFY_READ,
      .accepts_others = options->plugins == TENON_PLUGINS_ACCEPT && !verifies_all,
      .sink = &engine->sink};
  const bool makes_again = options->plugins == TENON_PLUGINS_REBUILD && !verifies_all;
  const locale_t outer = tenon__c_locale_enter();
  tenon_status_t status = makes_again ? tenon__load(engine->registry->catalog, data, size_bytes,
                                                    &inner, &engine->engine, &engine->is_made_again)
                                      : tenon__engine_create(engine->registry->catalog, data,
                                                             size_bytes, &inner, &engine->engine);
  if (status == TENON_OK) {
    status = tenon__engine_texts_create(engine);
  }
  tenon__c_locale_leave(outer);
  engine->sink = engine->registry->sink;
  return status;
}

static tenon_status_t finish(tenon_engine_t* engine, const char* function, tenon_status_t status,
                             tenon_engine_t** out_engine) {
  if (status != TENON_OK) {
    (void)tenon__tell(&engine->registry->sink, function, status);
    destroy(engine);
    return status;
  }
  *out_engine = engine;
  return TENON_OK;
}

static tenon_status_t load_file(tenon_engine_t* engine, const char* path,
                                const tenon_engine_options_t* options) {
  tenon__arena_t arena;
  TENON_TRY(tenon__file_map(path, &engine->registry->sink, &engine->file));
  tenon__arena_initialize(&arena, engine->registry->allocator);
  const char* name = tenon__arena_format(&arena, "%s: ", path);
  const tenon_status_t status =
      name != NULL ? load(engine, engine->file.data, engine->file.size, name, options)
                   : tenon__fail_memory(&engine->registry->sink);
  tenon__arena_deinitialize(&arena);
  if (status == TENON_OK && !engine->is_made_again) {
    const tenon__plan_t* plan = tenon__engine_plan(engine->engine);
    tenon__file_expect_rare_reads(&engine->file, plan->cold_data, plan->cold_size);
  }
  return status;
}

tenon_status_t tenon_engine_create_from_file(tenon_registry_t* registry, const char* path,
                                             const tenon_engine_options_t* options,
                                             tenon_engine_t** out_engine) {
  tenon_engine_options_t own;
  tenon_engine_t* engine = NULL;
  TENON_TRY(tenon__enter(__func__, "registry", registry != NULL));
  TENON_TRY(tenon__need(&registry->sink, __func__, "path", path != NULL));
  TENON_TRY(tenon__need(&registry->sink, __func__, "out_engine", out_engine != NULL));
  TENON_TRY(
      tenon__options_copy(&registry->sink, "tenon_engine_options_t", options, &own, sizeof(own)));
  TENON_TRY(make_engine(registry, &own, &engine));
  return finish(engine, __func__, load_file(engine, path, &own), out_engine);
}

/* The core wants plans aligned: memory that is not is copied once. */
static tenon_status_t copy_aligned(tenon_engine_t* engine, const void* data, size_t size_bytes) {
  const tenon_allocator_t allocator = engine->registry->allocator;
  tenon__plan_bytes_t* bytes = tenon__allocate(allocator, 1, sizeof(*bytes));
  void* copy = tenon__allocate(allocator, size_bytes, 1);
  if (bytes == NULL || copy == NULL) {
    tenon__free(allocator, bytes, sizeof(*bytes));
    tenon__free(allocator, copy, size_bytes);
    return tenon__fail_memory(&engine->registry->sink);
  }
  memcpy(copy, data, size_bytes);
  *bytes = (tenon__plan_bytes_t){.registry = engine->registry, .data = copy, .size = size_bytes};
  atomic_init(&bytes->reference_count, 1);
  tenon_registry_retain(engine->registry);
  engine->bytes = bytes;
  return TENON_OK;
}

static tenon_status_t load_memory(tenon_engine_t* engine, const void* data, size_t size_bytes,
                                  const tenon_engine_options_t* options) {
  if ((uintptr_t)data % PLAN_ALIGNMENT != 0 && size_bytes > 0) {
    TENON_TRY(copy_aligned(engine, data, size_bytes));
    data = engine->bytes->data;
  }
  return load(engine, data, size_bytes, "", options);
}

tenon_status_t tenon_engine_create_from_memory(tenon_registry_t* registry, const void* data,
                                               size_t size_bytes,
                                               const tenon_engine_options_t* options,
                                               tenon_engine_t** out_engine) {
  tenon_engine_options_t own;
  tenon_engine_t* engine = NULL;
  TENON_TRY(tenon__enter(__func__, "registry", registry != NULL));
  TENON_TRY(tenon__need(&registry->sink, __func__, "data", data != NULL));
  TENON_TRY(tenon__need(&registry->sink, __func__, "out_engine", out_engine != NULL));
  TENON_TRY(
      tenon__options_copy(&registry->sink, "tenon_engine_options_t", options, &own, sizeof(own)));
  TENON_TRY(make_engine(registry, &own, &engine));
  return finish(engine, __func__, load_memory(engine, data, size_bytes, &own), out_engine);
}

tenon_status_t tenon_engine_create_from_plan(tenon_registry_t* registry, const tenon_plan_t* plan,
                                             const tenon_engine_options_t* options,
                                             tenon_engine_t** out_engine) {
  tenon_engine_options_t own;
  tenon_engine_t* engine = NULL;
  TENON_TRY(tenon__enter(__func__, "registry", registry != NULL));
  TENON_TRY(tenon__need(&registry->sink, __func__, "plan", plan != NULL));
  TENON_TRY(tenon__need(&registry->sink, __func__, "out_engine", out_engine != NULL));
  TENON_TRY(
      tenon__options_copy(&registry->sink, "tenon_engine_options_t", options, &own, sizeof(own)));
  TENON_TRY(make_engine(registry, &own, &engine));
  engine->bytes = plan->bytes;
  tenon__plan_bytes_retain(plan->bytes);
  return finish(engine, __func__, load(engine, plan->bytes->data, plan->bytes->size, "", &own),
                out_engine);
}

void tenon_engine_retain(tenon_engine_t* engine) {
  if (engine != NULL) {
    (void)atomic_fetch_add_explicit(&engine->reference_count, 1, memory_order_relaxed);
  }
}

void tenon_engine_release(tenon_engine_t* engine) {
  if (engine != NULL &&
      atomic_fetch_sub_explicit(&engine->reference_count, 1, memory_order_acq_rel) == 1) {
    destroy(engine);
  }
}

/* ---- Looking ---- */

void tenon_engine_print_network(const tenon_engine_t* engine, tenon_write_t write, void* user) {
  if (engine != NULL && write != NULL) {
    const locale_t outer = tenon__c_locale_enter();
    tenon__network_print(tenon__engine_plan(engine->engine)->network, write, user);
    tenon__c_locale_leave(outer);
  }
}

tenon_status_t tenon_engine_verify(const tenon_engine_t* engine) {
  TENON_TRY(tenon__enter(__func__, "engine", engine != NULL));
  return tenon__tell(&engine->sink, __func__,
                     engine->is_made_again
                         ? tenon__fail(&engine->sink, TENON_ERROR_INVALID_DATA,
                                       "the plan's plugins are others here: what runs was made "
                                       "again when it was loaded")
                         : tenon__engine_verify(engine->engine));
}

/* ---- Refit ---- */

uint32_t tenon_engine_weights_count(const tenon_engine_t* engine) {
  uint32_t count = 0;
  const tenon__network_t* network =
      engine != NULL ? tenon__engine_plan(engine->engine)->network : NULL;
  if (network != NULL) {
    for (uint32_t i = 0; i < network->weights_count; ++i) {
      count += tenon__engine_can_set_weights(engine->engine, i) ? 1 : 0;
    }
  }
  return count;
}

const char* tenon_engine_get_weights_name(const tenon_engine_t* engine, uint32_t index) {
  const tenon__network_t* network =
      engine != NULL ? tenon__engine_plan(engine->engine)->network : NULL;
  if (network != NULL) {
    for (uint32_t i = 0; i < network->weights_count; ++i) {
      if (tenon__engine_can_set_weights(engine->engine, i) && index-- == 0) {
        return network->weights[i].name;
      }
    }
  }
  return NULL;
}

tenon_status_t tenon_engine_set_weights(tenon_engine_t* engine, const char* name, const void* data,
                                        size_t size_bytes) {
  TENON_TRY(tenon__enter(__func__, "engine", engine != NULL));
  TENON_TRY(tenon__need(&engine->sink, __func__, "name", name != NULL));
  TENON_TRY(tenon__need(&engine->sink, __func__, "data", data != NULL));
  return tenon__tell(&engine->sink, __func__,
                     tenon__engine_set_weights(engine->engine, name, data, size_bytes));
}

tenon_status_t tenon_engine_commit_weights(tenon_engine_t* engine) {
  TENON_TRY(tenon__enter(__func__, "engine", engine != NULL));
  const locale_t outer = tenon__c_locale_enter();
  const tenon_status_t status = tenon__refit_commit(engine->registry->catalog, engine->engine);
  tenon__c_locale_leave(outer);
  return tenon__tell(&engine->sink, __func__, status);
}
