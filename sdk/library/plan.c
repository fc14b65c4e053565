/* tenon.h: timing cache, building, plans. */
#include <stdatomic.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "sdk/library/library.h"

/* ---- Timing cache ---- */

TENON_API tenon_status_t tenon_timing_cache_create(tenon_registry_t* registry, const char* path,
                                                   tenon_timing_cache_t** out_cache) {
  if (registry == NULL || out_cache == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  tenon_timing_cache_t* cache = tenon__allocate(registry->allocator, 1, sizeof *cache);
  if (cache == NULL) {
    return tenon__fail_memory(&registry->logger);
  }
  cache->registry = registry;
  tenon_status_t status = tenon__timing_cache_create(registry->allocator, &cache->cache);
  tenon__mapped_file_t file;
  if (status == TENON_OK && path != NULL &&
      tenon__file_map(path, NULL, &file) == TENON_OK) { /* absent: empty */
    status = tenon__timing_cache_read(cache->cache, file.data, file.size, path, &registry->logger);
    tenon__file_unmap(&file);
  }
  if (status != TENON_OK) {
    tenon__timing_cache_destroy(cache->cache);
    tenon__free(registry->allocator, cache, sizeof *cache);
    return tenon__fail_memory(&registry->logger);
  }
  tenon_registry_retain(registry);
  *out_cache = cache;
  return TENON_OK;
}

TENON_API tenon_status_t tenon_timing_cache_save(tenon_timing_cache_t* cache, const char* path) {
  char* text = NULL;
  size_t size = 0;
  if (cache == NULL || path == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  if (tenon__timing_cache_write(cache->cache, &text, &size) != TENON_OK) {
    return tenon__fail_memory(&cache->registry->logger);
  }
  const tenon_status_t status = tenon__file_write(path, text, size, &cache->registry->logger);
  tenon__free(cache->registry->allocator, text, size + 1);
  return status;
}

TENON_API uint32_t tenon_timing_cache_entry_count(const tenon_timing_cache_t* cache) {
  return cache == NULL ? 0 : tenon__timing_cache_count(cache->cache);
}

TENON_API void tenon_timing_cache_destroy(tenon_timing_cache_t* cache) {
  if (cache == NULL) {
    return;
  }
  tenon_registry_t* registry = cache->registry;
  tenon__timing_cache_destroy(cache->cache);
  tenon__free(registry->allocator, cache, sizeof *cache);
  tenon_registry_release(registry);
}

/* ---- Plans ---- */

void tenon__plan_bytes_release(void* user) {
  tenon__plan_bytes_t* bytes = user;
  if (bytes == NULL ||
      atomic_fetch_sub_explicit(&bytes->reference_count, 1, memory_order_acq_rel) != 1) {
    return;
  }
  if (bytes->file.data != NULL) {
    tenon__file_unmap(&bytes->file);
  } else if (!bytes->is_borrowed) {
    tenon__free(bytes->allocator, bytes->data, bytes->size_bytes);
  }
  tenon__free(bytes->allocator, bytes, sizeof *bytes);
}

static const tenon__build_range_t* copy_ranges(tenon__arena_t* arena,
                                               const tenon_build_options_t* options,
                                               uint32_t* out_count) {
  const tenon_profile_t* profile = options->profile_count == 0 ? NULL : &options->profiles[0];
  const uint32_t count = profile == NULL ? 0 : profile->range_count;
  tenon__build_range_t* ranges = tenon__arena_allocate(arena, count + 1u, sizeof *ranges);
  for (uint32_t k = 0; ranges != NULL && k < count; ++k) {
    ranges[k] = (tenon__build_range_t){.input = profile->ranges[k].input,
                                       .rank = profile->ranges[k].rank,
                                       .min = profile->ranges[k].min,
                                       .optimum = profile->ranges[k].optimum,
                                       .max = profile->ranges[k].max};
  }
  *out_count = count;
  return ranges;
}

static tenon_status_t check(const tenon_network_t* network, const tenon_build_options_t* options) {
  const tenon_sink_t* sink = &network->registry->logger;
  if (options->profile_count > 1) {
    return tenon__fail(sink, TENON_ERROR_UNSUPPORTED, "a build takes one profile for now, not %u",
                       options->profile_count);
  }
  if (network->network->graphs[0]->output_count == 0) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT, "the network has no output");
  }
  return TENON_OK;
}

static tenon_status_t run_build(tenon_network_t* network, const tenon_build_options_t* o,
                                tenon__arena_t* arena, void** out_data, size_t* out_size) {
  tenon__build_options_t own = {
      .allocator = network->registry->allocator,
      .device = o->device,
      .cache = o->timing_cache == NULL ? NULL : o->timing_cache->cache,
      .tuning = {.thread_count = o->thread_count,
                 .workspace_limit_bytes = o->workspace_limit_bytes,
                 .time_budget_seconds = o->time_budget_seconds,
                 .no_measuring = o->no_measuring != 0,
                 .no_fusion = o->no_fusion != 0,
                 .reference_only = o->reference_only != 0,
                 .strict = o->strict != 0,
                 .permit_reduced_precision = o->permit_reduced_precision != 0,
                 .keep_refusals = o->keep_refusals != 0,
                 .exclude = o->exclude,
                 .progress = o->progress,
                 .progress_user = o->progress_user},
      .memory_limit_bytes = o->memory_limit_bytes,
      .optimizer_limit = o->optimizer_limit,
      .tuned_only = o->tuned_only != 0,
      .sink = &network->registry->logger,
  };
  own.ranges = copy_ranges(arena, o, &own.range_count);
  if (own.ranges == NULL) {
    return tenon__fail_memory(&network->registry->logger);
  }
  TENON_TRY(tenon__builder_finish(network->builder));
  return tenon__build(network->network, network->registry->catalog, &own, out_data, out_size);
}

TENON_API tenon_status_t tenon_build(tenon_network_t* network, const tenon_build_options_t* options,
                                     tenon_plan_t** out_plan) {
  tenon_build_options_t own;
  tenon__arena_t arena;
  if (network == NULL || out_plan == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  tenon__options_copy(&own, sizeof own, options);
  TENON_TRY(check(network, &own));
  const tenon_allocator_t allocator = network->registry->allocator;
  tenon_plan_t* plan = tenon__allocate(allocator, 1, sizeof *plan);
  tenon__plan_bytes_t* bytes = tenon__allocate(allocator, 1, sizeof *bytes);
  tenon_status_t status = TENON_ERROR_OUT_OF_MEMORY;
  if (plan != NULL && bytes != NULL) {
    bytes->allocator = allocator;
    bytes->file.descriptor = -1;
    atomic_init(&bytes->reference_count, 1);
    tenon__arena_initialize(&arena, allocator);
    status = run_build(network, &own, &arena, &bytes->data, &bytes->size_bytes);
    tenon__arena_deinitialize(&arena);
  }
  if (status != TENON_OK) {
    tenon__free(allocator, plan, sizeof *plan);
    tenon__free(allocator, bytes, sizeof *bytes);
    return status;
  }
  plan->registry = network->registry;
  tenon_registry_retain(plan->registry);
  plan->bytes = bytes;
  *out_plan = plan;
  return TENON_OK;
}

TENON_API tenon_status_t tenon_plan_get_data(const tenon_plan_t* plan, const void** out_data,
                                             size_t* out_size_bytes) {
  if (plan == NULL || out_data == NULL || out_size_bytes == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  *out_data = plan->bytes->data;
  *out_size_bytes = plan->bytes->size_bytes;
  return TENON_OK;
}

TENON_API tenon_status_t tenon_plan_save(const tenon_plan_t* plan, const char* path) {
  if (plan == NULL || path == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  return tenon__file_write(path, plan->bytes->data, plan->bytes->size_bytes,
                           &plan->registry->logger);
}

TENON_API void tenon_plan_destroy(tenon_plan_t* plan) {
  if (plan == NULL) {
    return;
  }
  tenon_registry_t* registry = plan->registry;
  tenon__plan_bytes_release(plan->bytes);
  tenon__free(registry->allocator, plan, sizeof *plan);
  tenon_registry_release(registry);
}
