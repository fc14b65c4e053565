/* The end of a build: which weights the plan keeps, and which of them every run reads. */
#include "core/build/weights.h"

#include "core/base/status.h"

/* Tables smaller than this are not worth a place of their own. */
enum { LEAST_TABLE_BYTES = 256 * 1024 };

tenon_status_t tenon__building_begin_reads(tenon__building_t* b) {
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

void tenon__building_mark_reads(tenon__building_t* b, const tenon__step_t* step,
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
tenon_status_t tenon__building_keep_weights(tenon__building_t* b) {
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
