/* Who can compute a region: asks every kernel on offer, collects tactics and refusals, sorts by
 * time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/file.h"
#include "core/base/status.h"
#include "core/plan/kernel_match.h"
#include "core/tactics/tuning.h"

enum { MAX_KERNELS = 256, MAX_TACTICS = 64 };

typedef struct search_t {
  tenon__tuning_t* tuning;
  struct tenon_region_t* region;
  tenon__candidate_t found[MAX_TACTICS];
  uint32_t count;
  const char* refusals; /* in the tuning's arena */
} search_t;

static void note_refusal(search_t* search, const tenon__kernel_entry_t* entry,
                         const tenon_refusal_t* refusal) {
  const char* line = tenon__arena_format(
      search->tuning->arena, "%s%s:%s: %s%s%s\n", search->refusals == NULL ? "" : search->refusals,
      entry->owner->plugin, entry->kernel.name, tenon__refusal_text(refusal->reason),
      refusal->detail == NULL ? "" : ": ", refusal->detail == NULL ? "" : refusal->detail);
  if (line != NULL) {
    search->refusals = line;
  }
}

static bool is_excluded(const tenon__tuning_t* tuning, const tenon__kernel_entry_t* entry) {
  const char* const* exclude = tuning->options.exclude;
  const size_t plugin = strlen(entry->owner->plugin);
  for (; exclude != NULL && *exclude != NULL; ++exclude) {
    if (strcmp(*exclude, entry->owner->plugin) == 0) {
      return true;
    }
    if (strncmp(*exclude, entry->owner->plugin, plugin) == 0 && (*exclude)[plugin] == ':' &&
        strcmp(*exclude + plugin + 1, entry->kernel.name) == 0) {
      return true;
    }
  }
  return false;
}

/* The build's policy, then the kernel. */
static bool accepts(const tenon__tuning_t* tuning, const struct tenon_region_t* region,
                    const tenon__kernel_entry_t* entry, tenon_refusal_t* out_refusal) {
  if (is_excluded(tuning, entry) ||
      (tuning->options.reference_only && (entry->kernel.flags & TENON_KERNEL_REFERENCE) == 0)) {
    *out_refusal = (tenon_refusal_t){.reason = TENON_REFUSAL_POLICY};
    return false;
  }
  const tenon__kernel_binding_t binding = {.kernel = &entry->kernel,
                                           .state = entry->owner->state,
                                           .plugin = entry->owner->plugin,
                                           .device = tuning->device,
                                           .device_handle = tuning->device_handle};
  return tenon__kernel_takes(&binding, region, out_refusal);
}

static uint32_t kernels_for(tenon__tuning_t* tuning, const struct tenon_region_t* region,
                            const tenon__kernel_entry_t** entries) {
  const char* op = NULL;
  uint32_t flags = 0;
  if (region->claimant != NULL) {
    entries[0] = region->claimant;
    return 1;
  }
  if (region->kind == TENON_REGION_OPERATOR) {
    op = region->network->graphs[region->graph]->nodes[region->nodes[0]].op->name;
  } else {
    flags = region->kind == TENON_REGION_EXPRESSION ? TENON_KERNEL_EXPRESSIONS : TENON_KERNEL_MOVES;
  }
  const uint32_t count =
      tenon__catalog_kernels(tuning->catalog, op, flags, tuning->sink, entries, MAX_KERNELS);
  return count < MAX_KERNELS ? count : MAX_KERNELS;
}

bool tenon__candidates_any(tenon__tuning_t* tuning, const struct tenon_region_t* region,
                           uint32_t* out_fitting) {
  const tenon__kernel_entry_t* entries[MAX_KERNELS];
  const uint32_t count = kernels_for(tuning, region, entries);
  uint32_t fitting = 0;
  bool any = false;
  for (uint32_t k = 0; k < count && !any; ++k) {
    tenon_refusal_t refusal;
    if ((entries[k]->kernel.flags & TENON_KERNEL_REFERENCE) != 0 &&
        !tuning->options.reference_only) {
      continue;
    }
    any = accepts(tuning, region, entries[k], &refusal);
    if (!any && refusal.reason == TENON_REFUSAL_SLOT && refusal.accepted_instructions > fitting) {
      fitting = refusal.accepted_instructions;
    }
  }
  if (out_fitting != NULL) {
    *out_fitting = fitting;
  }
  return any;
}

/* ---- Tactics ---- */

struct tenon_emit_t {
  search_t* search;
  const tenon__kernel_entry_t* entry;
  tenon_status_t status;
};

/* False when memory is out; nothing is copied of NULL. */
static bool copy_numbers(tenon__arena_t* arena, const uint32_t* numbers, uint32_t count,
                         const uint32_t** out_copy) {
  *out_copy = numbers == NULL ? NULL : tenon__arena_copy(arena, numbers, count * sizeof(uint32_t));
  return numbers == NULL || *out_copy != NULL;
}

static bool copy_layout(tenon__arena_t* arena, const tenon_layout_t* layout,
                        const tenon_layout_t** out_copy) {
  *out_copy = NULL;
  if (layout == NULL) {
    return true;
  }
  tenon_layout_t* copy = tenon__arena_allocate(arena, 1, sizeof *copy);
  if (copy == NULL) {
    return false;
  }
  memcpy(copy, layout, layout->size < sizeof *copy ? layout->size : sizeof *copy);
  const tenon_layout_t given = *copy;
  copy->size = sizeof *copy;
  copy->name = given.name == NULL ? NULL : tenon__arena_copy_string(arena, given.name);
  *out_copy = copy;
  return (given.name == NULL || copy->name != NULL) &&
         copy_numbers(arena, given.order, given.rank, &copy->order) &&
         copy_numbers(arena, given.multiples, given.rank, &copy->multiples) &&
         copy_numbers(arena, given.borders, given.rank, &copy->borders) &&
         copy_numbers(arena, given.block_dims, given.block_count, &copy->block_dims) &&
         copy_numbers(arena, given.block_sizes, given.block_count, &copy->block_sizes);
}

static bool copy_rules(tenon__arena_t* arena, const tenon_argument_rule_t* rules, uint32_t count,
                       const tenon_argument_rule_t** out_copy) {
  *out_copy = NULL;
  if (rules == NULL) {
    return true;
  }
  tenon_argument_rule_t* copy = tenon__arena_allocate(arena, count + 1u, sizeof *copy);
  bool good = copy != NULL;
  for (uint32_t k = 0; good && k < count; ++k) {
    copy[k] = rules[k];
    good = copy_layout(arena, rules[k].layout, &copy[k].layout);
  }
  *out_copy = copy;
  return good;
}

/* Less accurate than the region's own type in fp32? What a tactic says of its error counts; where
 * it says nothing, products of a narrower type in one part do. */
static bool is_rough(const struct tenon_region_t* region, const tenon_numerics_t* numerics) {
  if (numerics->error_bound > 0 || numerics->product_dtype == TENON_DTYPE_UNDEFINED ||
      numerics->parts > 1 || region->input_count == 0 || region->inputs[0].value == TENON_NONE) {
    return numerics->error_bound > 2.0;
  }
  const tenon__graph_t* g = region->network->graphs[region->graph];
  const tenon_dtype_t own = g->values[region->inputs[0].value].dtype;
  return tenon__dtype_bits(numerics->product_dtype) < tenon__dtype_bits(own);
}

/* Does the tactic stay within what the build permits? */
static bool is_permitted(const tenon__tuning_t* tuning, const struct tenon_region_t* region,
                         const tenon_tactic_t* tactic, tenon_refusal_t* out_refusal) {
  const uint64_t limit = tuning->options.workspace_limit_bytes;
  if (limit > 0 && tactic->scratch_bytes > limit) {
    out_refusal->reason = TENON_REFUSAL_WORKSPACE;
    return false;
  }
  const tenon_numerics_t* n = tactic->numerics;
  if (n != NULL && !tuning->options.permit_reduced_precision && is_rough(region, n)) {
    out_refusal->reason = TENON_REFUSAL_ACCURACY;
    return false;
  }
  return true;
}

static tenon_status_t add_tactic(tenon_emit_t* emit, const tenon_tactic_t* tactic) {
  search_t* search = emit->search;
  tenon__arena_t* arena = search->tuning->arena;
  tenon_refusal_t refusal = {0};
  if (!is_permitted(search->tuning, search->region, tactic, &refusal)) {
    note_refusal(search, emit->entry, &refusal);
    return TENON_OK;
  }
  if (search->count == MAX_TACTICS) {
    refusal = (tenon_refusal_t){.reason = TENON_REFUSAL_OTHER, .detail = "a tactic too many"};
    note_refusal(search, emit->entry, &refusal);
    return TENON_OK;
  }
  tenon__candidate_t candidate = {
      .kernel = emit->entry,
      .tactic = {.name = tenon__arena_copy_string(arena, tactic->name == NULL ? "" : tactic->name),
                 .configuration_size = tactic->configuration_size,
                 .scratch_bytes = tactic->scratch_bytes,
                 .zeroed_bytes = tactic->zeroed_bytes,
                 .persistent_bytes = tactic->persistent_bytes,
                 .flags = tactic->flags,
                 .launches = tactic->launches},
      .seconds = tactic->estimate_seconds,
  };
  if (tactic->numerics != NULL) {
    candidate.tactic.numerics = *tactic->numerics;
  }
  bool good = candidate.tactic.name != NULL &&
              copy_rules(arena, tactic->inputs, search->region->input_count,
                         &candidate.tactic.input_rules) &&
              copy_rules(arena, tactic->outputs, search->region->output_count,
                         &candidate.tactic.output_rules);
  if (good && tactic->configuration_size > 0) {
    candidate.tactic.configuration =
        tenon__arena_copy(arena, tactic->configuration, tactic->configuration_size);
    good = candidate.tactic.configuration != NULL;
  }
  if (good) {
    search->found[search->count++] = candidate;
  }
  return good ? TENON_OK : TENON_ERROR_OUT_OF_MEMORY;
}

static tenon_status_t collect(search_t* search, const tenon__kernel_entry_t* entry) {
  tenon_emit_t emit = {.search = search, .entry = entry};
  if (entry->kernel.tactics == NULL) {
    const tenon_tactic_t single = {.size = sizeof single, .name = "default"};
    return add_tactic(&emit, &single);
  }
  return entry->kernel.tactics(entry->owner->state, search->region, tenon__region_table(), &emit,
                               add_tactic);
}

/* ---- Time ---- */

static tenon__digest_t time_key(const search_t* search, const tenon__digest_t* signature,
                                const tenon__candidate_t* candidate) {
  tenon__digest_state_t state;
  char numbers[64];
  (void)snprintf(numbers, sizeof numbers, "|%u|%u|", candidate->kernel->kernel.version,
                 search->tuning->options.thread_count);
  const char* const texts[] = {candidate->kernel->owner->plugin, candidate->kernel->kernel.name,
                               candidate->tactic.name, search->tuning->fingerprint, numbers};
  tenon__digest_begin(&state);
  tenon__digest_add(&state, signature, sizeof *signature);
  for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k) {
    tenon__digest_add(&state, texts[k], strlen(texts[k]) + 1);
  }
  if (candidate->tactic.configuration_size > 0) {
    tenon__digest_add(&state, candidate->tactic.configuration,
                      candidate->tactic.configuration_size);
  }
  return tenon__digest_end(&state);
}

/* Fills in the time of one candidate; false when it failed on trial. */
static tenon_status_t time_candidate(search_t* search, const tenon__digest_t* signature,
                                     tenon__candidate_t* candidate, double best, bool* out_failed) {
  tenon__tuning_t* tuning = search->tuning;
  const tenon__digest_t key = time_key(search, signature, candidate);
  *out_failed = false;
  if (tenon__timing_cache_find(tuning->cache, &key, &candidate->seconds)) {
    candidate->is_measured = true;
    tuning->cached_count += 1;
    return TENON_OK;
  }
  if (tuning->options.no_measuring ||
      (tuning->deadline > 0 && tenon__seconds() > tuning->deadline)) {
    return TENON_OK;
  }
  double seconds = 0;
  const tenon_status_t status = tenon__timer_measure(tuning, search->region, candidate->kernel,
                                                     &candidate->tactic, best, &seconds);
  if (tenon__interrupt_is_wanted(tuning->options.interrupt)) {
    return TENON_ERROR_CANCELLED; /* whatever the trial gave, it was not let alone */
  }
  if (status == TENON_ERROR_OUT_OF_MEMORY) {
    return status;
  }
  if (status != TENON_OK) {
    const tenon_refusal_t refusal = {.reason = TENON_REFUSAL_FAILED};
    note_refusal(search, candidate->kernel, &refusal);
    *out_failed = true;
    return TENON_OK;
  }
  candidate->seconds = seconds;
  candidate->is_measured = true;
  tuning->measured_count += 1;
  return tenon__timing_cache_add(tuning->cache, &key, seconds);
}

static int compare_times(const void* a, const void* b) {
  const tenon__candidate_t* left = a;
  const tenon__candidate_t* right = b;
  return (left->seconds > right->seconds) - (left->seconds < right->seconds);
}

/* Insertion keeps the order of equals: catalogue order, so that estimates of 0 choose the same each
 * time. */
static void sort_stable(tenon__candidate_t* items, uint32_t count) {
  for (uint32_t k = 1; k < count; ++k) {
    const tenon__candidate_t item = items[k];
    uint32_t at = k;
    while (at > 0 && compare_times(&items[at - 1], &item) > 0) {
      items[at] = items[at - 1];
      --at;
    }
    items[at] = item;
  }
}

static tenon_status_t time_all(search_t* search, const tenon__digest_t* signature) {
  double best = 1e30;
  uint32_t kept = 0;
  const bool is_timed = search->count != 1 || search->region->kind != TENON_REGION_MOVE;
  for (uint32_t k = 0; k < search->count; ++k) {
    tenon__candidate_t candidate = search->found[k];
    bool failed = false;
    const tenon_status_t status =
        is_timed ? time_candidate(search, signature, &candidate, best, &failed) : TENON_OK;
    if (status != TENON_OK) {
      return status;
    }
    if (!failed) {
      best = candidate.seconds > 0 && candidate.seconds < best ? candidate.seconds : best;
      search->found[kept++] = candidate;
    }
  }
  search->count = kept;
  sort_stable(search->found, kept);
  return TENON_OK;
}

static tenon_status_t search_kernels(search_t* search, bool want_reference) {
  const tenon__kernel_entry_t* entries[MAX_KERNELS];
  const uint32_t count = kernels_for(search->tuning, search->region, entries);
  for (uint32_t k = 0; k < count; ++k) {
    tenon_refusal_t refusal;
    if (((entries[k]->kernel.flags & TENON_KERNEL_REFERENCE) != 0) != want_reference) {
      continue;
    }
    if (!accepts(search->tuning, search->region, entries[k], &refusal)) {
      note_refusal(search, entries[k], &refusal);
      continue;
    }
    TENON_TRY(collect(search, entries[k]));
  }
  return TENON_OK;
}

/* References are not asked while another kernel accepts: that is their reason. */
static void note_references(search_t* search) {
  const tenon__kernel_entry_t* entries[MAX_KERNELS];
  const uint32_t count = kernels_for(search->tuning, search->region, entries);
  const tenon_refusal_t refusal = {.reason = TENON_REFUSAL_POLICY,
                                   .detail = "a reference, for where no other kernel accepts"};
  for (uint32_t k = 0; k < count; ++k) {
    if ((entries[k]->kernel.flags & TENON_KERNEL_REFERENCE) != 0) {
      note_refusal(search, entries[k], &refusal);
    }
  }
}

tenon_status_t tenon__candidates_find(tenon__tuning_t* tuning, struct tenon_region_t* region,
                                      const tenon__candidates_t** out_candidates) {
  const tenon__digest_t signature = tenon__region_signature(region);
  char key[96];
  tenon__digest_text(&signature, key);
  if (region->claimant != NULL) {
    (void)snprintf(key + strlen(key), sizeof key - strlen(key), "|%p",
                   (const void*)region->claimant);
  }
  const tenon__map_value_t* known = tenon__string_map_find(&tuning->known, key);
  if (known != NULL) {
    *out_candidates = known->const_pointer;
    return TENON_OK;
  }
  search_t* search = tenon__allocate(tuning->allocator, 1, sizeof *search);
  if (search == NULL) {
    return tenon__fail_memory(tuning->sink);
  }
  search->tuning = tuning;
  search->region = region;
  tenon_status_t status = search_kernels(search, false);
  if (status == TENON_OK) {
    status = time_all(search, &signature);
  }
  if (status == TENON_OK && search->count == 0) {
    status = search_kernels(search, true);
  } else if (status == TENON_OK && tuning->options.keep_refusals) {
    note_references(search);
  }
  tenon__candidates_t* result = tenon__arena_allocate(tuning->arena, 1, sizeof *result);
  if (status == TENON_OK && result != NULL) {
    result->count = search->count;
    result->items =
        tenon__arena_copy(tuning->arena, search->found, search->count * sizeof *search->found);
    result->refusals =
        tuning->options.keep_refusals || search->count == 0 ? search->refusals : NULL;
  }
  tenon__free(tuning->allocator, search, sizeof *search);
  TENON_TRY(status);
  if (result == NULL || result->items == NULL ||
      !tenon__string_map_set(&tuning->known, key, (tenon__map_value_t){.pointer = result})) {
    return tenon__fail_memory(tuning->sink);
  }
  *out_candidates = result;
  return TENON_OK;
}

const char* tenon__candidates_reasons(tenon__tuning_t* tuning,
                                      const tenon__candidates_t* candidates, uint32_t pick,
                                      const char* notes) {
  if (!tuning->options.keep_refusals) {
    return candidates->refusals;
  }
  const char* text = tenon__arena_format(tuning->arena, "%s%s", notes == NULL ? "" : notes,
                                         candidates->refusals == NULL ? "" : candidates->refusals);
  const double best = candidates->items[pick].seconds;
  for (uint32_t k = 0; k < candidates->count && text != NULL; ++k) {
    const tenon__candidate_t* c = &candidates->items[k];
    if (k == pick) {
      continue;
    }
    text = tenon__arena_format(tuning->arena, "%s%s:%s (%s): %s: %s %.4g us, this one %.4g us\n",
                               text, c->kernel->owner->plugin, c->kernel->kernel.name,
                               c->tactic.name, tenon__refusal_text(TENON_REFUSAL_SLOWER),
                               c->is_measured ? "measured" : "estimated", c->seconds * 1e6,
                               best * 1e6);
  }
  return text;
}
