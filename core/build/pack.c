/* The end of a build: weights packed by the chosen kernels, and what the plan says of itself. */
#include "core/build/pack.h"

#include <string.h>

#include "core/base/status.h"
#include "core/build/building.h"
#include "core/build/weights.h"
#include "core/catalog/catalog.h"

static tenon_status_t pack_step(tenon__building_t* b, const tenon__step_t* step) {
  const tenon__kernel_entry_t* entry =
      tenon__catalog_kernel(b->catalog, step->plugin, step->kernel, b->options->sink);
  tenon__instance_t* instance = NULL;
  if (entry == NULL) {
    return tenon__fail(b->options->sink, TENON_ERROR_INTERNAL, "kernel '%s' of plugin '%s' is gone",
                       step->kernel, step->plugin);
  }
  const tenon__kernel_binding_t binding = tenon__tuning_binding(&b->tuning, step->region, entry);
  const tenon__instance_request_t request = {.kernel = &binding,
                                             .region = step->region,
                                             .tactic = &step->tactic,
                                             .step_name = step->name,
                                             .store = b->store};
  TENON_TRY(tenon__instance_create(b->allocator, &request, b->options->sink, &instance));
  tenon__building_mark_reads(b, step, instance);
  tenon__instance_release(instance);
  return TENON_OK;
}

static tenon_status_t pack_graph(tenon__building_t* b, const tenon__schedule_t* schedule) {
  tenon_status_t status = TENON_OK;
  for (uint32_t k = 0; k < schedule->step_count && status == TENON_OK; ++k) {
    status = tenon__building_progress(b, "pack weights", k, schedule->step_count);
    if (status == TENON_OK && schedule->steps[k].kind == TENON_STEP_KERNEL) {
      status = pack_step(b, &schedule->steps[k]);
    }
  }
  return status;
}

tenon_status_t tenon__building_pack(tenon__building_t* b) {
  TENON_TRY(tenon__packed_store_create(b->allocator, &b->store));
  TENON_TRY(tenon__building_begin_reads(b));
  for (uint32_t g = 0; g < b->plan->schedule_count; ++g) {
    TENON_TRY(pack_graph(b, &b->plan->schedules[g]));
  }
  const uint32_t count = tenon__packed_store_count(b->store);
  b->plan->packed = tenon__arena_allocate(&b->plan->arena, count + 1u, sizeof *b->plan->packed);
  TENON_TRY_MEMORY(b->plan->packed != NULL);
  for (uint32_t k = 0; k < count; ++k) {
    b->plan->packed[k] = *tenon__packed_store_get(b->store, k);
  }
  b->plan->packed_count = count;
  return TENON_OK;
}

/* ---- Plugins ---- */

static tenon_status_t name_plugin(tenon__building_t* b, const tenon__owner_t* owner) {
  tenon__plan_t* plan = b->plan;
  for (uint32_t k = 0; k < plan->plugin_count; ++k) {
    if (strcmp(plan->plugins[k].name, owner->plugin) == 0) {
      return TENON_OK;
    }
  }
  tenon__plan_plugin_t* plugins =
      tenon__arena_allocate(&plan->arena, plan->plugin_count + 1u, sizeof *plugins);
  TENON_TRY_MEMORY(plugins != NULL);
  if (plan->plugin_count > 0) {
    memcpy(plugins, plan->plugins, plan->plugin_count * sizeof *plugins);
  }
  plugins[plan->plugin_count] =
      (tenon__plan_plugin_t){.name = owner->plugin, .version = owner->version};
  if (owner->digest != NULL) {
    TENON_TRY(
        owner->digest(owner->user, owner, b->options->sink, &plugins[plan->plugin_count].digest));
  }
  plan->plugins = plugins;
  plan->plugin_count += 1;
  return TENON_OK;
}

static tenon_status_t name_kernel_plugins(tenon__building_t* b, const tenon__schedule_t* schedule) {
  tenon_status_t status = TENON_OK;
  for (uint32_t k = 0; k < schedule->step_count && status == TENON_OK; ++k) {
    const tenon__step_t* step = &schedule->steps[k];
    if (step->kind == TENON_STEP_KERNEL) {
      const tenon__kernel_entry_t* entry =
          tenon__catalog_kernel(b->catalog, step->plugin, step->kernel, b->options->sink);
      status = name_plugin(b, entry->owner);
    }
  }
  return status;
}

static tenon_status_t name_plugins(tenon__building_t* b) {
  for (uint32_t d = 0; d < b->devices.count; ++d) {
    TENON_TRY(name_plugin(b, b->devices.entries[d]->owner));
  }
  for (uint32_t g = 0; g < b->plan->schedule_count; ++g) {
    TENON_TRY(name_kernel_plugins(b, &b->plan->schedules[g]));
  }
  return TENON_OK;
}

tenon_status_t tenon__building_describe(tenon__building_t* b) {
  tenon__plan_t* plan = b->plan;
  plan->flags = (b->options->tuned_only ? TENON_PLAN_TUNED_ONLY : 0u) |
                (b->options->tuning.strict ? TENON_PLAN_STRICT : 0u) |
                (b->options->tuning.reference_only ? TENON_PLAN_REFERENCE_ONLY : 0u) |
                (b->options->no_rewrites ? TENON_PLAN_NO_REWRITES : 0u) |
                (b->options->tuning.no_fusion ? TENON_PLAN_NO_FUSION : 0u) |
                (b->options->tuning.permit_reduced_precision ? TENON_PLAN_REDUCED_PRECISION : 0u);
  TENON_TRY(name_plugins(b));
  return tenon__building_keep_weights(b);
}
