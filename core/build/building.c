#include "core/build/building.h"

#include <stdio.h>
#include <string.h>

#include "core/base/call.h"
#include "core/base/file.h"
#include "core/base/status.h"
#include "core/catalog/catalog.h"

static bool is_wanted(const tenon__building_t* b, const tenon_device_descriptor_t* device) {
  return b->options->device == NULL || strcmp(b->options->device, device->name) == 0;
}

static bool is_host(const tenon_device_descriptor_t* device) {
  return (device->flags & TENON_DEVICE_HOST_MEMORY) != 0;
}

static bool is_here(const tenon__device_entry_t* entry, const tenon_sink_t* sink) {
  const tenon__call_t call = {entry->owner->plugin, "count", entry->device.name, ""};
  const tenon__call_t* outer = tenon__call_enter(&call);
  const uint32_t count = entry->device.count(entry->owner->state, sink);
  tenon__call_leave(outer);
  return count > 0;
}

/* Of all that the build permits and this machine has: the host, whoever's name comes first; else
 * the first. That a plugin is there says nothing of what it is to be used for. */
static const tenon__device_entry_t* pick_device(const tenon__building_t* b,
                                                const tenon__device_entry_t** entries,
                                                uint32_t count) {
  const tenon_sink_t* sink = b->options->sink;
  const tenon__device_entry_t* best = NULL;
  for (uint32_t k = 0; k < count; ++k) {
    const tenon_device_descriptor_t* device = &entries[k]->device;
    const bool is_better = best == NULL || (is_host(device) && !is_host(&best->device));
    const bool is_tie = !is_better && is_host(device) && b->options->device == NULL;
    if (!is_wanted(b, device) || (!is_better && !is_tie) || !is_here(entries[k], sink)) {
      continue;
    }
    if (is_tie) {
      tenon__report(sink, TENON_SEVERITY_WARNING,
                    "devices '%s' (plugin %s) and '%s' (plugin %s) are both the host's memory; the "
                    "build is for the first, unless it names one",
                    best->device.name, best->owner->plugin, device->name,
                    entries[k]->owner->plugin);
    } else {
      best = entries[k];
    }
  }
  return best;
}

static tenon_status_t open_device(tenon__building_t* b) {
  const tenon_sink_t* sink = b->options->sink;
  const uint32_t room = tenon__catalog_all(b->catalog, TENON_OFFER_DEVICE, sink, NULL, 0);
  const tenon__device_entry_t** entries =
      tenon__arena_allocate(&b->plan->arena, room + 1u, sizeof(void*));
  TENON_TRY_MEMORY(entries != NULL);
  const uint32_t found = tenon__catalog_all(b->catalog, TENON_OFFER_DEVICE, sink, entries, room);
  const uint32_t count = found < room ? found : room;
  char others[512] = "";
  b->device = pick_device(b, entries, count);
  if (b->device != NULL) {
    const tenon__call_t call = {b->device->owner->plugin, "open", b->device->device.name, ""};
    const tenon__call_t* outer = tenon__call_enter(&call);
    const tenon_status_t status =
        b->device->device.open(b->device->owner->state, 0, sink, &b->device_handle);
    b->tuning.fingerprint =
        status == TENON_OK ? b->device->device.fingerprint(b->device_handle) : "";
    tenon__call_leave(outer);
    return status;
  }
  const uint32_t other_count = b->options->device == NULL ? 0 : count;
  for (uint32_t k = 0; k < other_count; ++k) {
    const size_t used = strlen(others);
    (void)snprintf(others + used, sizeof others - used, "%s%s",
                   used > 0 ? ", " : "; there are: ", entries[k]->device.name);
  }
  return tenon__fail(sink, TENON_ERROR_NOT_FOUND, "no plugin offers %s%s that this machine has%s",
                     b->options->device == NULL ? "a device" : "device ",
                     b->options->device == NULL ? "" : b->options->device, others);
}

tenon_status_t tenon__building_begin(tenon__building_t* b) {
  TENON_TRY(open_device(b));
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
      .device = &b->device->device,
      .device_handle = b->device_handle,
      .device_name = b->device->device.name,
      .fingerprint = b->tuning.fingerprint,
      .pool = b->pool,
      .cache = b->options->cache == NULL ? b->own_cache : b->options->cache,
      .options = b->options->tuning,
      .sink = b->options->sink,
  };
  b->tuning.options.thread_count = tenon__thread_pool_thread_count(b->pool);
  b->plan->thread_count = b->tuning.options.thread_count;
  if (b->options->tuning.time_budget_seconds > 0) {
    b->tuning.deadline = tenon__seconds() + b->options->tuning.time_budget_seconds;
  }
  tenon__string_map_initialize(&b->tuning.known, b->allocator);
  tenon__blocks_initialize(&b->tuning.blocks, b->allocator);
  b->has_known = true;
  return TENON_OK;
}

void tenon__building_end(tenon__building_t* b) {
  if (b->has_known) {
    tenon__string_map_deinitialize(&b->tuning.known);
    tenon__blocks_deinitialize(&b->tuning.blocks);
  }
  tenon__timing_cache_destroy(b->own_cache);
  tenon__thread_pool_destroy(b->pool);
  if (b->device_handle != NULL) {
    const tenon__call_t call = {b->device->owner->plugin, "close", b->device->device.name, ""};
    const tenon__call_t* outer = tenon__call_enter(&call);
    b->device->device.close(b->device_handle);
    tenon__call_leave(outer);
  }
  tenon__packed_store_destroy(b->store);
  tenon__plan_destroy(b->plan);
}

tenon_status_t tenon__building_progress(const tenon__building_t* b, const char* phase,
                                        uint32_t done, uint32_t total) {
  return tenon__interrupt_tell(b->options->tuning.interrupt, phase, done, total)
             ? TENON_ERROR_CANCELLED
             : TENON_OK;
}
