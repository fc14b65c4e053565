/* Building: the whole flow on one screen is `build_plan`, at the end of this file. */
#include "core/build.h"

#include <stdio.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/call.h"
#include "core/base/file.h"
#include "core/base/status.h"
#include "core/build_parts.h"
#include "core/catalog/exclude.h"
#include "core/network/fault.h"
#include "core/plan/memory_planner.h"
#include "core/plan/place.h"

/* ---- Device and tuning ---- */

enum { MOST_DEVICES = 16 };

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
  const tenon__device_entry_t* entries[MOST_DEVICES];
  const uint32_t found = tenon__catalog_devices(b->catalog, sink, entries, MOST_DEVICES);
  const uint32_t count = found < MOST_DEVICES ? found : MOST_DEVICES;
  char others[512] = "";
  b->device = pick_device(b, entries, count);
  if (b->device != NULL) {
    const tenon__call_t call = {b->device->owner->plugin, "open", b->device->device.name, ""};
    const tenon__call_t* outer = tenon__call_enter(&call);
    const tenon_status_t status =
        b->device->device.open(b->device->owner->state, 0, sink, &b->device_handle);
    tenon__call_leave(outer);
    return status;
  }
  for (uint32_t k = 0; k < count && b->options->device != NULL; ++k) {
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
      .fingerprint = b->device->device.fingerprint(b->device_handle),
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
    b->device->device.close(b->device_handle);
  }
  tenon__packed_store_destroy(b->store);
  tenon__plan_destroy(b->plan);
}

/* ---- Choosing ---- */

/* The units of one graph, unless they are chosen by the times as they are now. */
static tenon_status_t choose_graph(tenon__building_t* b, uint32_t graph, uint32_t* inout_look,
                                   tenon__units_t* inout_units, bool* inout_settled) {
  if (!tenon__building_graph_is_used(b, graph) || *inout_look == b->tuning.look_count) {
    return TENON_OK;
  }
  *inout_settled = false;
  TENON_TRY(tenon__units_choose(&b->tuning, graph, inout_units));
  *inout_look = b->tuning.look_count;
  return TENON_OK;
}

/* Units of all graphs that are used. Graphs share times: where one has measured again what another
 * has chosen by, the other chooses again, so that the same times always give the same choice. */
static tenon_status_t choose_units(tenon__building_t* b, tenon__units_t* units, uint32_t* looks) {
  const uint32_t count = b->plan->network->graph_count;
  bool is_settled = false;
  memset(looks, 0xff, count * sizeof(*looks));
  while (!is_settled) {
    is_settled = true;
    for (uint32_t g = 0; g < count; ++g) {
      TENON_TRY(choose_graph(b, g, &looks[g], &units[g], &is_settled));
    }
  }
  return TENON_OK;
}

static tenon_status_t choose(tenon__building_t* b) {
  tenon__plan_t* plan = b->plan;
  plan->schedule_count = plan->network->graph_count;
  plan->schedules =
      tenon__arena_allocate(&plan->arena, plan->schedule_count + 1u, sizeof *plan->schedules);
  tenon__units_t* units =
      tenon__arena_allocate(&plan->arena, plan->schedule_count + 1u, sizeof(*units));
  uint32_t* looks = tenon__arena_allocate(&plan->arena, plan->schedule_count + 1u, sizeof(*looks));
  if (plan->schedules == NULL || units == NULL || looks == NULL) {
    return tenon__fail_memory(b->options->sink);
  }
  TENON_TRY(choose_units(b, units, looks));
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    if (tenon__building_graph_is_used(b, g)) {
      TENON_TRY(tenon__schedule_make(&b->tuning, g, &units[g], plan, &plan->schedules[g]));
    }
  }
  return TENON_OK;
}

/* ---- Memory ---- */

static tenon_status_t lay_out(tenon__building_t* b) {
  const uint64_t limit = b->options->memory_limit_bytes;
  TENON_TRY(tenon__plan_memory(b->plan, b->options->sink));
  const uint64_t needed = b->plan->schedules[0].memory_bytes + b->plan->scratch_bytes;
  if (limit > 0 && needed > limit) {
    return tenon__fail(b->options->sink, TENON_ERROR_OUT_OF_MEMORY,
                       "activations and workspace need %llu bytes, the limit is %llu",
                       (unsigned long long)needed, (unsigned long long)limit);
  }
  return TENON_OK;
}

tenon_status_t tenon__building_progress(const tenon__building_t* b, const char* phase,
                                        uint32_t done, uint32_t total) {
  return tenon__interrupt_tell(b->options->tuning.interrupt, phase, done, total)
             ? TENON_ERROR_CANCELLED
             : TENON_OK;
}

/* ---- The flow ---- */

static tenon_status_t build_plan(tenon__building_t* b, const tenon__network_t* network) {
  const tenon_sink_t* sink = b->options->sink;
  TENON_TRY(tenon__exclude_check(b->catalog, b->options->tuning.exclude, sink));
  TENON_TRY(tenon__network_verify(network, sink));
  TENON_TRY(tenon__plan_create(b->allocator, &b->plan));
  TENON_TRY(tenon__network_copy(network, &b->plan->network));
  b->plan->network->interrupt = b->options->tuning.interrupt;
  TENON_TRY(tenon__building_narrow(b));
  TENON_TRY(tenon__network_judge(b->plan->network, sink));
  TENON_TRY(tenon__building_progress(b, "optimise", 0, 1));
  TENON_TRY(tenon__building_begin(b));
  TENON_TRY(tenon__building_remember(b));
  TENON_TRY(tenon__building_optimise(b));
  TENON_TRY(tenon__building_sign(b));
  TENON_TRY(tenon__building_profile(b));
  TENON_TRY(tenon__building_progress(b, "choose", 0, 1));
  TENON_TRY(choose(b));
  TENON_TRY(lay_out(b));
  tenon__building_report(b);
  TENON_TRY(tenon__building_pack(b));
  TENON_TRY(tenon__building_progress(b, "write", 0, 1));
  return tenon__building_describe(b);
}

tenon_status_t tenon__build(const tenon__network_t* network, tenon__catalog_t* catalog,
                            const tenon__build_options_t* options, void** out_plan_data,
                            size_t* out_plan_size) {
  tenon__building_t b = {.allocator = options->allocator, .catalog = catalog, .options = options};
  void* data = NULL;
  size_t size = 0;
  tenon_status_t status = build_plan(&b, network);
  if (status == TENON_OK) {
    status = tenon__plan_write_until(b.plan, b.allocator, options->tuning.interrupt, options->sink,
                                     &data, &size);
  }
  if (status == TENON_OK) {
    status = tenon__building_progress(&b, "write", 1, 1);
  }
  tenon__building_end(&b);
  if (status == TENON_OK) {
    *out_plan_data = data;
    *out_plan_size = size;
    return TENON_OK;
  }
  tenon__free(b.allocator, data, size);
  return tenon__interrupt_is_wanted(options->tuning.interrupt)
             ? tenon__fail(options->sink, TENON_ERROR_CANCELLED, "the build was cancelled")
             : status;
}
