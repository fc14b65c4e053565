/* The end of a build: weights packed by the chosen kernels, and what the plan says of itself. */
#include <string.h>

#include "core/base/status.h"
#include "core/builder/building.h"
#include "core/catalog/catalog.h"
#include "core/kernel/instance.h"

/* ---- Which weights the plan keeps, and which of them every run reads ---- */

/* Tables smaller than this are not worth a place of their own. */
enum { LEAST_TABLE_BYTES = 256 * 1024 };

static tenon_status_t begin_reads(tenon__building_t* b) {
  const size_t count = b->plan->network->weights_count + 1u;
  b->is_read = tenon__arena_allocate(&b->plan->arena, count, sizeof *b->is_read);
  b->is_table = tenon__arena_allocate(&b->plan->arena, count, sizeof *b->is_table);
  TENON_TRY_MEMORY(b->is_read != NULL && b->is_table != NULL);
  for (size_t k = 0; k < count; ++k) {
    b->is_table[k] = true;
  }
  return TENON_OK;
}

/* The weights behind a place, or TENON_NONE. */
static uint32_t weights_of(const tenon__schedule_t* schedule, uint32_t place) {
  while (place != TENON_NONE && schedule->places[place].storage == TENON_STORAGE_VIEW) {
    place = schedule->places[place].base;
  }
  return place != TENON_NONE && schedule->places[place].storage == TENON_STORAGE_WEIGHTS
             ? schedule->places[place].index
             : TENON_NONE;
}

static void mark(tenon__building_t* b, uint32_t weights, bool by_index) {
  if (weights != TENON_NONE) {
    b->is_read[weights] = true;
    b->is_table[weights] = b->is_table[weights] && by_index &&
                           b->plan->network->weights[weights].size_bytes >= LEAST_TABLE_BYTES;
  }
}

static void mark_reads(tenon__building_t* b, const tenon__step_t* step,
                       const tenon__instance_t* instance) {
  const struct tenon_region_t* region = step->region;
  const tenon__schedule_t* schedule = &b->plan->schedules[region->graph];
  for (uint32_t k = 0; k < step->input_count; ++k) {
    const bool by_index = region->kind == TENON_REGION_EXPRESSION && !region->inputs[k].aligned;
    if (tenon__instance_reads(instance, k)) {
      mark(b, weights_of(schedule, step->inputs[k]), by_index);
    }
  }
}

/* What other than kernels reads: control, the network's outputs, states. */
static void mark_others(tenon__building_t* b) {
  const tenon__network_t* network = b->plan->network;
  for (uint32_t g = 0; g < b->plan->schedule_count; ++g) {
    const tenon__schedule_t* schedule = &b->plan->schedules[g];
    for (uint32_t s = 0; s < schedule->step_count; ++s) {
      const tenon__step_t* step = &schedule->steps[s];
      const uint32_t input_count = step->kind == TENON_STEP_KERNEL ? 0 : step->input_count;
      for (uint32_t k = 0; k < input_count; ++k) {
        mark(b, weights_of(schedule, step->inputs[k]), false);
      }
    }
    for (uint32_t k = 0; k < schedule->output_count; ++k) {
      mark(b, weights_of(schedule, schedule->outputs[k]), false);
    }
  }
  for (uint32_t k = 0; k < network->state_count; ++k) {
    if (network->states[k].initial != TENON_NONE) {
      mark(b, network->states[k].initial, false);
    }
  }
}

/* What a refit makes again from the originals, and no run reads. */
static bool is_made_again(const tenon__building_t* b, uint32_t weights) {
  const tenon__weights_t* w = &b->plan->network->weights[weights];
  return b->plan->original.data != NULL && w->derivation != NULL &&
         w->size_bytes >= LEAST_TABLE_BYTES && !b->is_read[weights];
}

/* Weights that a refit starts from stay, and those that values alive stand for; with tuned_only
 * those alone that are read. */
static tenon_status_t keep_weights(tenon__building_t* b) {
  const tenon__network_t* network = b->plan->network;
  const size_t count = network->weights_count + 1u;
  bool* kept = tenon__arena_allocate(&b->plan->arena, count, sizeof *kept);
  bool* hot = tenon__arena_allocate(&b->plan->arena, count, sizeof *hot);
  TENON_TRY_MEMORY(kept != NULL && hot != NULL);
  mark_others(b);
  for (uint32_t g = 0; g < b->plan->schedule_count; ++g) {
    const tenon__schedule_t* schedule = &b->plan->schedules[g];
    for (uint32_t p = 0; p < schedule->place_count; ++p) {
      if (schedule->places[p].storage == TENON_STORAGE_WEIGHTS) {
        kept[schedule->places[p].index] = true;
      }
    }
  }
  for (uint32_t k = 0; k < network->weights_count; ++k) {
    hot[k] = b->is_read[k] && !b->is_table[k];
    const bool is_wanted =
        (kept[k] && !is_made_again(b, k)) || (k < b->original_count && b->is_original[k]);
    kept[k] = b->is_read[k] || (is_wanted && !b->options->tuned_only);
  }
  b->plan->weights_kept = kept;
  b->plan->weights_hot = hot;
  return TENON_OK;
}

/* Makes an instance of the step, and ends it; or begins what that takes. */
static tenon_status_t pack_step(tenon__building_t* b, const tenon__step_t* step, bool is_ahead) {
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
  if (is_ahead) {
    tenon__instance_ahead(b->allocator, &request);
    return TENON_OK;
  }
  TENON_TRY(tenon__instance_create(b->allocator, &request, b->options->sink, &instance));
  mark_reads(b, step, instance);
  tenon__instance_release(instance);
  return TENON_OK;
}

static tenon_status_t pack_graph(tenon__building_t* b, const tenon__schedule_t* schedule,
                                 bool is_ahead) {
  tenon_status_t status = TENON_OK;
  for (uint32_t k = 0; k < schedule->step_count && status == TENON_OK; ++k) {
    status =
        is_ahead ? TENON_OK : tenon__building_progress(b, "pack weights", k, schedule->step_count);
    if (status == TENON_OK && schedule->steps[k].kind == TENON_STEP_KERNEL) {
      status = pack_step(b, &schedule->steps[k], is_ahead);
    }
  }
  return status;
}

tenon_status_t tenon__building_pack(tenon__building_t* b) {
  TENON_TRY(tenon__packed_store_create(b->allocator, &b->store));
  tenon__packed_store_use_folder(b->store, b->options->blobs);
  TENON_TRY(begin_reads(b));
  for (uint32_t g = 0; g < b->plan->schedule_count; ++g) {
    TENON_TRY(pack_graph(b, &b->plan->schedules[g], true));
  }
  for (uint32_t g = 0; g < b->plan->schedule_count; ++g) {
    TENON_TRY(pack_graph(b, &b->plan->schedules[g], false));
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
                (b->options->merges_siblings ? TENON_PLAN_MERGES_SIBLINGS : 0u) |
                (b->options->tuning.no_fusion ? TENON_PLAN_NO_FUSION : 0u) |
                b->options->tuning.permits << TENON_PLAN_PERMITS_SHIFT |
                b->options->stream_limit << TENON_PLAN_STREAMS_SHIFT;
  TENON_TRY(name_plugins(b));
  return keep_weights(b);
}
