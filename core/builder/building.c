/* Begin and end of a build: devices, threads, timing cache, deadline, and progress. */
#include "core/builder/building.h"

#include "core/base/file.h"
#include "core/base/status.h"

tenon_status_t tenon__building_begin(tenon__building_t* b) {
  TENON_TRY(tenon__build_devices_open(b->catalog, b->options, b->plan, &b->devices));
  TENON_TRY(tenon__thread_pool_create(b->allocator, b->options->tuning.thread_count,
                                      b->options->sink, &b->pool));
  if (b->options->cache == NULL) {
    TENON_TRY(tenon__timing_cache_create(b->allocator, &b->own_cache));
  }
  b->tuning = (tenon__tuning_t){
      .allocator = b->allocator,
      .arena = &b->plan->arena,
      .network = b->plan->network,
      .catalog = b->catalog,
      .profile = &b->plan->profile,
      .devices = b->devices.items,
      .streams = b->devices.streams,
      .device_count = b->devices.count,
      .pool = b->pool,
      .cache = b->options->cache == NULL ? b->own_cache : b->options->cache,
      .blobs = b->options->blobs,
      .options = b->options->tuning,
      .sink = b->options->sink,
  };
  b->tuning.options.thread_count = tenon__thread_pool_thread_count(b->pool);
  b->plan->thread_count = b->tuning.options.thread_count;
  if (b->options->tuning.time_budget_seconds > 0) {
    b->tuning.deadline = tenon__seconds() + b->options->tuning.time_budget_seconds;
  }
  tenon__tuning_begin(&b->tuning);
  tenon__blocks_initialize(&b->tuning.blocks, b->allocator);
  b->has_known = true;
  return TENON_OK;
}

void tenon__building_end(tenon__building_t* b) {
  if (b->has_known) {
    tenon__tuning_end(&b->tuning);
    tenon__blocks_deinitialize(&b->tuning.blocks);
  }
  tenon__timing_cache_destroy(b->own_cache);
  tenon__thread_pool_destroy(b->pool);
  tenon__packed_store_destroy(b->store);
  tenon__build_devices_close(&b->devices);
  tenon__plan_destroy(b->plan);
}

tenon_status_t tenon__building_progress(const tenon__building_t* b, const char* phase,
                                        uint32_t done, uint32_t total) {
  return tenon__interrupt_tell(b->options->tuning.interrupt, phase, done, total)
             ? TENON_ERROR_CANCELLED
             : TENON_OK;
}
