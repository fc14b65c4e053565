/* Building, plans and timing caches. */
#include "core/builder/guard.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/allocator.h"
#include "core/base/c_locale.h"
#include "core/network/builder.h"
#include "core/plan_file/writer.h"
#include "sdk/library/library.h"

/* ---- Timing cache ---- */

static tenon_status_t read_timings(tenon_timing_cache_t* cache, const char* path,
                                   const tenon_sink_t* sink) {
  tenon__mapped_file_t file;
  TENON_TRY(tenon__file_map(path, sink, &file));
  const locale_t outer = tenon__c_locale_enter();
  const tenon_status_t status =
      tenon__timing_cache_read(cache->cache, file.data, file.size, path, sink);
  tenon__c_locale_leave(outer);
  tenon__file_unmap(&file);
  return status;
}

static tenon_status_t save_timings(tenon_timing_cache_t* cache, const char* path) {
  const tenon_sink_t* sink = &cache->registry->sink;
  char* text = NULL;
  size_t size = 0;
  const locale_t outer = tenon__c_locale_enter();
  tenon_status_t status = tenon__timing_cache_write(cache->cache, &text, &size);
  tenon__c_locale_leave(outer);
  if (status != TENON_OK) {
    return tenon__fail_memory(sink);
  }
  status = tenon__file_write(path, text, size, sink);
  tenon__free(cache->registry->allocator, text, size + 1);
  return status;
}

/* Trials of this cache are noted beside its file. What ended an earlier process is saved at once,
 * because the next trial takes its place. */
static tenon_status_t keep_journal(tenon_timing_cache_t* cache, const char* path) {
  const tenon_allocator_t allocator = cache->registry->allocator;
  static const char suffix[] = ".trial";
  const size_t size = strlen(path) + sizeof suffix;
  bool found = false;
  char* journal = tenon__allocate(allocator, size, 1);
  if (journal == NULL) {
    return tenon__fail_memory(&cache->registry->sink);
  }
  (void)snprintf(journal, size, "%s%s", path, suffix);
  tenon_status_t status = tenon__timing_cache_keep_journal(cache->cache, journal, &found);
  tenon__free(allocator, journal, size);
  if (status == TENON_OK && found) {
    status = save_timings(cache, path);
    tenon__timing_cache_end_trial(cache->cache);
  }
  return status;
}

tenon_status_t tenon_timing_cache_create(tenon_registry_t* registry, const char* path,
                                         tenon_timing_cache_t** out_cache) {
  TENON_TRY(tenon__enter(__func__, "registry", registry != NULL));
  TENON_TRY(tenon__need(&registry->sink, __func__, "out_cache", out_cache != NULL));
  tenon_timing_cache_t* cache = tenon__allocate(registry->allocator, 1, sizeof(*cache));
  if (cache == NULL || tenon__timing_cache_create(registry->allocator, &cache->cache) != TENON_OK) {
    tenon__free(registry->allocator, cache, sizeof(*cache));
    return tenon__fail_memory(&registry->sink);
  }
  cache->registry = registry;
  tenon_registry_retain(registry);
  tenon_status_t status = TENON_OK;
  if (path != NULL && access(path, F_OK) == 0) {
    status = read_timings(cache, path, &registry->sink);
  }
  if (path != NULL && status == TENON_OK) {
    status = keep_journal(cache, path);
  }
  if (status != TENON_OK) {
    (void)tenon__tell(&registry->sink, __func__, status);
    tenon_timing_cache_destroy(cache);
    return status;
  }
  *out_cache = cache;
  return TENON_OK;
}

tenon_status_t tenon_timing_cache_save(tenon_timing_cache_t* cache, const char* path) {
  TENON_TRY(tenon__enter(__func__, "cache", cache != NULL));
  const tenon_sink_t* sink = &cache->registry->sink;
  TENON_TRY(tenon__need(sink, __func__, "path", path != NULL));
  /* What others wrote meanwhile is kept. */
  if (access(path, F_OK) == 0) {
    TENON_TRY(tenon__tell(sink, __func__, read_timings(cache, path, sink)));
  }
  return save_timings(cache, path);
}

uint32_t tenon_timing_cache_entry_count(const tenon_timing_cache_t* cache) {
  return cache != NULL ? tenon__timing_cache_count(cache->cache) : 0;
}

void tenon_timing_cache_destroy(tenon_timing_cache_t* cache) {
  if (cache == NULL) {
    return;
  }
  tenon_registry_t* registry = cache->registry;
  tenon__timing_cache_destroy(cache->cache);
  tenon__free(registry->allocator, cache, sizeof(*cache));
  tenon_registry_release(registry);
}

/* ---- Plans ---- */

void tenon__plan_bytes_retain(tenon__plan_bytes_t* bytes) {
  (void)atomic_fetch_add_explicit(&bytes->reference_count, 1, memory_order_relaxed);
}

void tenon__plan_bytes_release(tenon__plan_bytes_t* bytes) {
  if (bytes == NULL ||
      atomic_fetch_sub_explicit(&bytes->reference_count, 1, memory_order_acq_rel) != 1) {
    return;
  }
  tenon_registry_t* registry = bytes->registry;
  tenon__free(registry->allocator, bytes->data, bytes->size);
  tenon__free(registry->allocator, bytes, sizeof(*bytes));
  tenon_registry_release(registry);
}

tenon_status_t tenon_plan_get_data(const tenon_plan_t* plan, const void** out_data,
                                   size_t* out_size_bytes) {
  TENON_TRY(tenon__enter(__func__, "plan", plan != NULL));
  const tenon_sink_t* sink = &plan->bytes->registry->sink;
  TENON_TRY(tenon__need(sink, __func__, "out_data", out_data != NULL));
  TENON_TRY(tenon__need(sink, __func__, "out_size_bytes", out_size_bytes != NULL));
  *out_data = plan->bytes->data;
  *out_size_bytes = plan->bytes->size;
  return TENON_OK;
}

tenon_status_t tenon_plan_save(const tenon_plan_t* plan, const char* path) {
  TENON_TRY(tenon__enter(__func__, "plan", plan != NULL));
  TENON_TRY(tenon__need(&plan->bytes->registry->sink, __func__, "path", path != NULL));
  const tenon_sink_t* sink = &plan->bytes->registry->sink;
  const size_t cold_offset = tenon__plan_cold_offset(plan->bytes->data, plan->bytes->size);
  return tenon__tell(
      sink, __func__,
      tenon__file_write_rare(path, plan->bytes->data, plan->bytes->size, cold_offset, sink));
}

void tenon_plan_destroy(tenon_plan_t* plan) {
  if (plan != NULL) {
    const tenon_allocator_t allocator = plan->bytes->registry->allocator;
    tenon__plan_bytes_t* bytes = plan->bytes;
    tenon__free(allocator, plan, sizeof(*plan));
    tenon__plan_bytes_release(bytes);
  }
}

int32_t tenon_plan_sniff(const void* data, size_t size_bytes) {
  static const char magic[] = "TENONPLN";
  return data != NULL && size_bytes >= sizeof(magic) - 1 &&
                 memcmp(data, magic, sizeof(magic) - 1) == 0
             ? 1
             : 0;
}

/* ---- Building ---- */

_Static_assert((int)TENON_STREAM_LIMIT == (int)TENON_LANE_LIMIT,
               "the core's limit is the contract's");
_Static_assert((int)TENON_PERMIT_TF32 == (int)TENON__PERMIT_TF32 &&
                   (int)TENON_PERMIT_F16 == (int)TENON__PERMIT_F16 &&
                   (int)TENON_PERMIT_BF16 == (int)TENON__PERMIT_BF16 &&
                   (int)TENON_PERMIT_NONDETERMINISTIC == (int)TENON__PERMIT_NONDETERMINISTIC,
               "the core's numbers are the contract's");

static tenon_status_t check_options(const tenon_sink_t* sink,
                                    const tenon_build_options_t* options) {
  if (options->permits != TENON_PERMIT_NOTHING && (options->permits & TENON_PERMIT_NOTHING) != 0) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                       "tenon_build: permits 0x%x says nothing, and something", options->permits);
  }
  if ((options->permits & ~(uint32_t)(TENON__PERMIT_ALL | TENON_PERMIT_NOTHING)) != 0) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                       "tenon_build: permits 0x%x has bits that mean nothing", options->permits);
  }
  if (options->stream_limit > TENON_STREAM_LIMIT) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                       "tenon_build: stream_limit is %u, at most %d are possible",
                       options->stream_limit, TENON_STREAM_LIMIT);
  }
  TENON_TRY(tenon__check_list(sink, "tenon_build", "options->samples", &options->samples));
  if (!(options->accuracy_bound >= 0)) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT, "tenon_build: accuracy_bound is %g",
                       options->accuracy_bound);
  }
  TENON_TRY(tenon__check_list(sink, "tenon_build", "options->profiles", &options->profiles));
  if (options->profiles.count > 1) {
    return tenon__fail(sink, TENON_ERROR_UNSUPPORTED,
                       "tenon_build: %u profiles are given, at most one is possible",
                       options->profiles.count);
  }
  if (options->profiles.count == 0) {
    return TENON_OK;
  }
  const tenon_profile_t* profile = options->profiles.items;
  TENON_TRY(tenon__check_list(sink, "tenon_build", "profile->ranges", &profile->ranges));
  for (uint32_t i = 0; i < profile->ranges.count; ++i) {
    const tenon_profile_range_t* range = tenon__list_item(&profile->ranges, i);
    const bool complete =
        range->input != NULL &&
        (range->rank == 0 || (range->min != NULL && range->optimum != NULL && range->max != NULL));
    if (!complete) {
      return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                         "tenon_build: range %u of the profile has no name or no extents", i);
    }
  }
  return TENON_OK;
}

/* As the core has them. */
static uint32_t permits_of(const tenon_build_options_t* options) {
  const uint32_t by_default = options->strict != 0 ? 0 : TENON__PERMIT_TF32;
  return options->permits == 0 ? by_default : options->permits & TENON__PERMIT_ALL;
}

static void fill_tuning(const tenon_build_options_t* options, tenon__tuning_options_t* out_tuning) {
  *out_tuning = (tenon__tuning_options_t){
      .thread_count = options->thread_count,
      .workspace_limit_bytes = options->workspace_limit_bytes,
      .time_budget_seconds = options->time_budget_seconds,
      .no_measuring = options->no_measuring != 0,
      .no_fusion = options->no_fusion != 0,
      .reference_only = options->reference_only != 0,
      .strict = options->strict != 0,
      .permits = permits_of(options),
      .keep_refusals = options->keep_refusals != 0,
      .exclude = options->exclude,
  };
}

/* The samples as the core has them: with strides. In memory of `arena`. */
static tenon_status_t take_samples(const tenon_sink_t* sink, const tenon_list_t* list,
                                   tenon__arena_t* arena, tenon__input_sample_t** out_samples) {
  tenon__input_sample_t* samples =
      tenon__arena_allocate(arena, list->count + (size_t)1, sizeof *samples);
  TENON_TRY(samples != NULL ? TENON_OK : tenon__fail_memory(sink));
  for (uint32_t i = 0; i < list->count; ++i) {
    const tenon_sample_t* sample = tenon__list_item(list, i);
    const uint32_t count = sample->inputs != NULL ? sample->input_count : 0;
    tenon_tensor_view_t* views = tenon__arena_allocate(arena, count + (size_t)1, sizeof *views);
    TENON_TRY(views != NULL ? TENON_OK : tenon__fail_memory(sink));
    for (uint32_t k = 0; k < count; ++k) {
      char what[64];
      int64_t* strides = tenon__arena_allocate(arena, TENON_RANK_LIMIT, sizeof *strides);
      TENON_TRY(strides != NULL ? TENON_OK : tenon__fail_memory(sink));
      (void)snprintf(what, sizeof(what), "tenon_build: input %u of sample %u", k, i);
      TENON_TRY(tenon__complete_view(sink, what, &sample->inputs[k], strides, &views[k]));
    }
    samples[i] = (tenon__input_sample_t){views, count};
  }
  *out_samples = samples;
  return TENON_OK;
}

static tenon_status_t run_build(tenon_network_t* network, const tenon_build_options_t* options,
                                tenon__arena_t* arena, tenon__blob_folder_t* blobs,
                                tenon__plan_bytes_t* bytes) {
  tenon_registry_t* registry = network->registry;
  const tenon_profile_t* profile = options->profiles.count > 0 ? options->profiles.items : NULL;
  const uint32_t range_count = profile != NULL ? profile->ranges.count : 0;
  tenon__build_range_t* ranges = tenon__arena_allocate(arena, range_count + 1u, sizeof *ranges);
  tenon__input_sample_t* samples = NULL;
  TENON_TRY(ranges != NULL ? TENON_OK : tenon__fail_memory(&registry->sink));
  TENON_TRY(take_samples(&registry->sink, &options->samples, arena, &samples));
  for (uint32_t i = 0; i < range_count; ++i) {
    const tenon_profile_range_t* range = tenon__list_item(&profile->ranges, i);
    ranges[i] =
        (tenon__build_range_t){range->input, range->rank, range->min, range->optimum, range->max};
  }
  tenon__build_options_t inner = {
      .allocator = registry->allocator,
      .ranges = ranges,
      .range_count = range_count,
      .device = options->device,
      .node_devices = options->node_devices,
      .kept = options->keep,
      .samples = samples,
      .sample_count = options->samples.count,
      .accuracy_bound = options->accuracy_bound,
      .cache = options->timing_cache != NULL ? options->timing_cache->cache : NULL,
      .blobs = blobs,
      .memory_limit_bytes = options->memory_limit_bytes,
      .optimizer_limit = options->optimizer_limit,
      .stream_limit = options->stream_limit,
      .no_rewrites = options->no_rewrites != 0,
      .tuned_only = options->tuned_only != 0,
      .sink = &registry->sink,
  };
  tenon__interrupt_t interrupt;
  fill_tuning(options, &inner.tuning);
  tenon__interrupt_initialize(&interrupt, options->progress, options->progress_user);
  inner.tuning.interrupt = &interrupt;
  const locale_t outer = tenon__c_locale_enter();
  const tenon_status_t status =
      tenon__build_guarded(network->network, registry->catalog, &inner, &bytes->data, &bytes->size);
  tenon__c_locale_leave(outer);
  return tenon__tell(&registry->sink, "tenon_build", status);
}

static tenon_status_t check_network(const tenon_network_t* network) {
  const tenon_sink_t* sink = &network->registry->sink;
  TENON_TRY(tenon__builder_finish(network->builder));
  if (network->network->graphs[0]->output_count == 0) {
    return tenon__fail(sink, TENON_ERROR_INVALID_STATE,
                       "tenon_build: the network has no outputs, so there is nothing to compute");
  }
  return TENON_OK;
}

tenon_status_t tenon_build(tenon_network_t* network, const tenon_build_options_t* options,
                           tenon_plan_t** out_plan) {
  tenon_build_options_t own;
  TENON_TRY(tenon__enter(__func__, "network", network != NULL));
  tenon_registry_t* registry = network->registry;
  TENON_TRY(tenon__need(&registry->sink, __func__, "out_plan", out_plan != NULL));
  TENON_TRY(
      tenon__options_copy(&registry->sink, "tenon_build_options_t", options, &own, sizeof(own)));
  TENON_TRY(check_options(&registry->sink, &own));
  TENON_TRY(tenon__tell(&registry->sink, __func__, check_network(network)));
  tenon_plan_t* plan = tenon__allocate(registry->allocator, 1, sizeof(*plan));
  tenon__plan_bytes_t* bytes = tenon__allocate(registry->allocator, 1, sizeof(*bytes));
  tenon__blob_folder_t* blobs = NULL;
  const bool has_room =
      plan != NULL && bytes != NULL &&
      (own.blob_folder == NULL || tenon__blob_folder_create(registry->allocator, own.blob_folder,
                                                            &registry->sink, &blobs) == TENON_OK);
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, registry->allocator);
  const tenon_status_t status = has_room ? run_build(network, &own, &arena, blobs, bytes)
                                         : tenon__fail_memory(&registry->sink);
  tenon__arena_deinitialize(&arena);
  tenon__blob_folder_destroy(blobs);
  if (!has_room || status != TENON_OK) {
    tenon__free(registry->allocator, bytes, sizeof(*bytes));
    tenon__free(registry->allocator, plan, sizeof(*plan));
    return status;
  }
  atomic_init(&bytes->reference_count, 1);
  bytes->registry = registry;
  tenon_registry_retain(registry);
  plan->bytes = bytes;
  *out_plan = plan;
  return TENON_OK;
}
