/* Who can compute a region: asks every kernel on offer, collects tactics and refusals, sorts by
 * time. */
#include "core/candidate/candidates.h"

#include <stdio.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/candidate/collect.h"
#include "core/candidate/search.h"
#include "core/candidate/times.h"
#include "core/catalog/exclude.h"
#include "core/catalog/kernel_list.h"
#include "core/kernel/kernel_match.h"
#include "core/kernel/slot.h"
#include "core/region/region_signature.h"
#include "core/region/retype.h"
#include "core/tensor/layout.h"

static bool takes(const tenon__tuning_t* tuning, const struct tenon_region_t* region,
                  const tenon__kernel_entry_t* entry, tenon_refusal_t* out_refusal) {
  const tenon__kernel_binding_t binding = tenon__tuning_binding(tuning, region, entry);
  return tenon__kernel_takes(&binding, region, out_refusal);
}

/* The build's policy, then the kernel. */
static bool accepts(const tenon__tuning_t* tuning, const struct tenon_region_t* region,
                    const tenon__kernel_entry_t* entry, tenon_refusal_t* out_refusal) {
  if (tenon__tuning_excludes(tuning, entry)) {
    *out_refusal = (tenon_refusal_t){.reason = TENON_REFUSAL_POLICY};
    return false;
  }
  return takes(tuning, region, entry, out_refusal);
}

/* The kernels that may compute a region. */
static tenon_status_t list_kernels(tenon__tuning_t* tuning, const struct tenon_region_t* region,
                                   const tenon__kernel_entry_t* claimant,
                                   tenon__kernel_list_t* out_list) {
  const char* op = NULL;
  uint32_t flags = 0;
  if (region->kind == TENON_REGION_OPERATOR) {
    op = region->network->graphs[region->graph]->nodes[region->nodes[0]].op->name;
  } else {
    flags = region->kind == TENON_REGION_EXPRESSION ? TENON_KERNEL_EXPRESSIONS : TENON_KERNEL_MOVES;
  }
  return claimant != NULL ? tenon__kernel_list_of_one(tuning->allocator, claimant, out_list)
                          : tenon__kernel_list_initialize(tuning->allocator, tuning->catalog, op,
                                                          flags, tuning->sink, out_list);
}

bool tenon__candidates_any(tenon__tuning_t* tuning, const struct tenon_region_t* region) {
  tenon__kernel_list_t list;
  bool any = false;
  (void)list_kernels(tuning, region, NULL, &list); /* without memory the list is empty */
  for (uint32_t k = 0; k < list.count && !any; ++k) {
    tenon_refusal_t refusal;
    if ((list.entries[k]->kernel.flags & TENON_KERNEL_REFERENCE) != 0 &&
        !tuning->options.reference_only) {
      continue;
    }
    any = accepts(tuning, region, list.entries[k], &refusal);
  }
  tenon__kernel_list_deinitialize(&list);
  return any;
}

static void note_slots(const tenon_kernel_t* kernel, tenon__slot_numbers_t* numbers) {
  for (uint32_t number = 0; number < kernel->slots.count && number < 64; ++number) {
    const uint32_t kind = tenon__kernel_slot(kernel, number)->kind;
    const uint64_t bit = UINT64_C(1) << number;
    numbers->prologues |= kind == TENON_SLOT_PROLOGUE ? bit : 0;
    numbers->epilogues |= kind == TENON_SLOT_EPILOGUE ? bit : 0;
    numbers->sides |= kind == TENON_SLOT_SIDE ? bit : 0;
  }
}

tenon__slot_numbers_t tenon__candidates_slots(tenon__tuning_t* tuning,
                                              const struct tenon_region_t* region) {
  tenon__kernel_list_t list;
  tenon__slot_numbers_t numbers = {0};
  (void)list_kernels(tuning, region, NULL, &list); /* without memory the list is empty */
  for (uint32_t k = 0; k < list.count; ++k) {
    const tenon__kernel_entry_t* entry = list.entries[k];
    if (entry->kernel.slots.count > 0 && !tenon__tuning_excludes(tuning, entry) &&
        tenon__tuning_runs_on(tuning, entry, region->device)) {
      note_slots(&entry->kernel, &numbers);
    }
  }
  tenon__kernel_list_deinitialize(&list);
  return numbers;
}

/* What others pay for a tactic depends on its rules alone: of those with the same rules the fastest
 * will do. A time of another sort than the fastest's does not compare. */
static bool find_picks(tenon__arena_t* arena, tenon__candidates_t* result) {
  uint32_t* picks = tenon__arena_allocate(arena, result->count + 1u, sizeof *picks);
  result->pick_count = 0;
  if (picks == NULL) {
    return false;
  }
  for (uint32_t k = 0; k < result->count; ++k) {
    const tenon__step_tactic_t* own = &result->items[k].tactic;
    bool is_new = result->items[k].time.figure == result->items[0].time.figure;
    for (uint32_t p = 0; p < result->pick_count && is_new; ++p) {
      const tenon__step_tactic_t* other = &result->items[picks[p]].tactic;
      is_new =
          !tenon__rule_lists_alike(own->input_rules, other->input_rules, result->input_count) ||
          !tenon__rule_lists_alike(own->output_rules, other->output_rules, result->output_count);
    }
    if (is_new) {
      picks[result->pick_count++] = k;
    }
  }
  result->picks = picks;
  return true;
}

/* ---- The search ---- */

/* A kernel of a device that the build is not for is nobody's refusal: that a plugin is there
 * changes no plan. */
static tenon_status_t search_kernels(search_t* search, const tenon__kernel_list_t* list,
                                     bool want_reference) {
  const tenon__kernel_entry_t** entries = list->entries;
  for (uint32_t k = 0; k < list->count; ++k) {
    tenon_refusal_t refusal;
    if (((entries[k]->kernel.flags & TENON_KERNEL_REFERENCE) != 0) != want_reference ||
        !tenon__tuning_runs_somewhere(search->subject.tuning, entries[k])) {
      continue;
    }
    if (!accepts(search->subject.tuning, search->subject.region, entries[k], &refusal)) {
      tenon__search_note(search, entries[k], NULL, &refusal);
      continue;
    }
    TENON_TRY(tenon__search_collect(search, entries[k]));
  }
  return TENON_OK;
}

/* References of the region's device are not asked while another kernel accepts: that is their
 * reason. */
static void note_references(search_t* search, const tenon__kernel_list_t* list) {
  static const tenon_refusal_t policy = {
      .reason = TENON_REFUSAL_POLICY, .detail = "a reference, for where no other kernel accepts"};
  static const tenon_refusal_t other = {.reason = TENON_REFUSAL_DEVICE};
  const tenon__tuning_t* tuning = search->subject.tuning;
  for (uint32_t k = 0; k < list->count; ++k) {
    const tenon__kernel_entry_t* entry = list->entries[k];
    if ((entry->kernel.flags & TENON_KERNEL_REFERENCE) != 0 &&
        tenon__tuning_runs_somewhere(tuning, entry)) {
      const bool is_here = tenon__tuning_runs_on(tuning, entry, search->subject.region->device);
      tenon__search_note(search, entry, NULL, is_here ? &policy : &other);
    }
  }
}

/* A build of references alone has none for a closed operator whose plugin brings none. */
static tenon_status_t search_instead(search_t* search, const tenon__kernel_list_t* list) {
  const tenon__tuning_t* tuning = search->subject.tuning;
  for (uint32_t k = 0; k < list->count && search->count == 0; ++k) {
    const tenon__kernel_entry_t* entry = list->entries[k];
    tenon_refusal_t refusal;
    if (tenon__is_excluded(tuning->options.exclude, entry->owner->plugin, entry->kernel.name) ||
        !takes(tuning, search->subject.region, entry, &refusal)) {
      continue;
    }
    TENON_TRY(tenon__search_collect(search, entry));
    if (search->count > 0) {
      tenon__report(tuning->sink, TENON_SEVERITY_WARNING,
                    "%s: no reference kernel computes it: kernel '%s' of plugin '%s' is used, and "
                    "its results are compared with nothing",
                    tenon__region_text(search->subject.tuning, search->subject.region),
                    entry->kernel.name, entry->owner->plugin);
    }
  }
  return TENON_OK;
}

static tenon_status_t search_list(search_t* search, const tenon__kernel_list_t* list,
                                  const tenon__digest_t* signature) {
  TENON_TRY(search_kernels(search, list, false));
  TENON_TRY(tenon__search_time(search, signature));
  if (search->count == 0) {
    TENON_TRY(search_kernels(search, list, true));
    return search->count == 0 && search->subject.tuning->options.reference_only &&
                   search->subject.region->kind == TENON_REGION_OPERATOR
               ? search_instead(search, list)
               : TENON_OK;
  }
  if (search->subject.tuning->options.keep_refusals) {
    note_references(search, list);
  }
  return TENON_OK;
}

static tenon_status_t search_all(search_t* search, const tenon__digest_t* signature) {
  tenon__kernel_list_t list;
  tenon_status_t status =
      list_kernels(search->subject.tuning, search->subject.region, search->subject.claimant, &list);
  if (status == TENON_OK) {
    status = search_list(search, &list, signature);
  }
  tenon__kernel_list_deinitialize(&list);
  return status;
}

/* What was found, in the tuning's arena. NULL when memory is out. */
static tenon__candidates_t* result_of(search_t* search) {
  tenon__arena_t* arena = search->subject.tuning->arena;
  const bool wants_message = search->subject.tuning->options.keep_refusals || search->count == 0;
  tenon__candidates_t* result = tenon__arena_allocate(arena, 1, sizeof *result);
  if (result == NULL || search->refusals.failed) {
    return NULL;
  }
  result->serial = search->subject.tuning->serial++;
  result->count = search->count;
  result->input_count = search->subject.region->input_count;
  result->output_count = search->subject.region->output_count;
  result->items = tenon__arena_allocate(arena, search->count + 1u, sizeof *result->items);
  if (result->items == NULL) {
    return NULL;
  }
  if (search->count > 0) {
    memcpy(result->items, search->found, search->count * sizeof *search->found);
  }
  if (wants_message && search->refusals.size > 0) {
    result->refusals =
        tenon__arena_copy_text(arena, (const char*)search->refusals.data, search->refusals.size);
  }
  const bool is_complete = result->refusals != NULL || !wants_message || search->refusals.size == 0;
  return is_complete && find_picks(arena, result) ? result : NULL;
}

tenon_status_t tenon__candidates_renew(tenon__tuning_t* tuning,
                                       const tenon__candidates_t* candidates) {
  tenon__candidates_t* own = tenon__drop_const(candidates);
  if (!own->is_unsorted) {
    return TENON_OK;
  }
  own->is_unsorted = false;
  tenon__candidates_sort(own->items, own->count);
  return find_picks(tuning->arena, own) ? TENON_OK : TENON_ERROR_OUT_OF_MEMORY;
}

static void key_of(const struct tenon_region_t* region, const tenon__kernel_entry_t* claimant,
                   const tenon__digest_t* signature, char out_key[TENON_REGION_KEY_SIZE]) {
  tenon__digest_text(signature, out_key);
  if (region->device != 0) {
    const size_t used = strlen(out_key);
    (void)snprintf(out_key + used, TENON_REGION_KEY_SIZE - used, "@%u", region->device);
  }
  if (claimant != NULL) {
    const size_t used = strlen(out_key);
    (void)snprintf(out_key + used, TENON_REGION_KEY_SIZE - used, "|%p", (const void*)claimant);
  }
}

void tenon__candidates_key(const struct tenon_region_t* region,
                           const tenon__kernel_entry_t* claimant,
                           char out_key[TENON_REGION_KEY_SIZE]) {
  const tenon__digest_t signature = tenon__region_signature(region);
  key_of(region, claimant, &signature, out_key);
}

/* `key`: what the result is remembered by; `signature`: what its times are. */
static tenon_status_t find(const search_t* begun, const char* key, const tenon__digest_t* signature,
                           const tenon__candidates_t** out_candidates) {
  search_t search = *begun;
  tenon__tuning_t* tuning = search.subject.tuning;
  const tenon__map_value_t* known = tenon__string_map_find(&tuning->known, key);
  if (known != NULL) {
    *out_candidates = known->const_pointer;
    return tenon__candidates_renew(tuning, known->const_pointer);
  }
  search.is_begun = tenon__string_map_find(&tuning->expected, key) != NULL;
  tenon__byte_writer_initialize(&search.refusals, tuning->allocator);
  const tenon_status_t status = search_all(&search, signature);
  tenon__candidates_t* result = status == TENON_OK ? result_of(&search) : NULL;
  tenon__byte_writer_deinitialize(&search.refusals);
  tenon__free(tuning->allocator, search.found, search.capacity * sizeof *search.found);
  TENON_TRY(status);
  if (result == NULL ||
      !tenon__string_map_set(&tuning->known, key, (tenon__map_value_t){.pointer = result})) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *out_candidates = result;
  return TENON_OK;
}

tenon_status_t tenon__candidates_find(tenon__tuning_t* tuning, struct tenon_region_t* region,
                                      const tenon__kernel_entry_t* claimant,
                                      const tenon__candidates_t** out_candidates) {
  const search_t search = {.subject = {.tuning = tuning,
                                       .region = region,
                                       .claimant = claimant,
                                       .ask_node = tenon__candidates_for_node}};
  const tenon__digest_t signature = tenon__region_signature(region);
  char key[TENON_REGION_KEY_SIZE];
  key_of(region, claimant, &signature, key);
  return find(&search, key, &signature, out_candidates);
}

/* True when it was neither found nor expected before. */
static bool is_new(tenon__tuning_t* tuning, const struct tenon_region_t* region,
                   const tenon__digest_t* signature) {
  char key[TENON_REGION_KEY_SIZE];
  key_of(region, NULL, signature, key);
  return tenon__string_map_find(&tuning->known, key) == NULL &&
         tenon__string_map_find(&tuning->expected, key) == NULL &&
         tenon__string_map_set(&tuning->expected, key, (tenon__map_value_t){.pointer = NULL});
}

tenon_status_t tenon__candidates_expect(tenon__tuning_t* tuning, struct tenon_region_t* region) {
  search_t search = {.subject = {.tuning = tuning, .region = region}};
  const tenon__digest_t signature = tenon__region_signature(region);
  if (!tenon__tuning_may_measure(tuning) || !is_new(tuning, region, &signature)) {
    return TENON_OK;
  }
  tenon__byte_writer_initialize(&search.refusals, tuning->allocator);
  tenon__kernel_list_t list;
  tenon_status_t status = list_kernels(tuning, region, NULL, &list);
  if (status == TENON_OK) {
    status = search_kernels(&search, &list, false);
  }
  if (status == TENON_OK) {
    status = tenon__search_expect(&search, &signature);
  }
  tenon__kernel_list_deinitialize(&list);
  tenon__byte_writer_deinitialize(&search.refusals);
  tenon__free(tuning->allocator, search.found, search.capacity * sizeof *search.found);
  return status;
}

tenon_status_t tenon__candidates_convert(tenon__tuning_t* tuning, struct tenon_region_t* copy,
                                         const tenon__conversion_t* conversion,
                                         const tenon__candidates_t** out_candidates) {
  const search_t search = {.subject = {.tuning = tuning,
                                       .region = copy,
                                       .conversion = conversion,
                                       .ask_node = tenon__candidates_for_node}};
  const tenon__digest_t region = tenon__region_signature(copy);
  const tenon__digest_t signature = tenon__conversion_signature(conversion, &region);
  char key[TENON_REGION_KEY_SIZE];
  key_of(copy, NULL, &signature, key);
  return find(&search, key, &signature, out_candidates);
}

/* ---- One node ---- */

/* A policy that excludes the oracle does not make it less right. */
static tenon_status_t collect_reference(search_t* search) {
  tenon__kernel_list_t list;
  tenon_status_t status = list_kernels(search->subject.tuning, search->subject.region, NULL, &list);
  for (uint32_t k = 0; k < list.count && status == TENON_OK && search->count == 0; ++k) {
    tenon_refusal_t refusal;
    if ((list.entries[k]->kernel.flags & TENON_KERNEL_REFERENCE) != 0 &&
        takes(search->subject.tuning, search->subject.region, list.entries[k], &refusal)) {
      status = tenon__search_collect(search, list.entries[k]);
    }
  }
  tenon__kernel_list_deinitialize(&list);
  return status;
}

static tenon_status_t find_reference(tenon__tuning_t* tuning, struct tenon_region_t* region,
                                     const tenon__candidate_t** out_candidate) {
  search_t search = {.subject = {.tuning = tuning, .region = region}};
  tenon__byte_writer_initialize(&search.refusals, tuning->allocator);
  tenon_status_t status = collect_reference(&search);
  if (status == TENON_OK && search.count > 0) {
    *out_candidate = tenon__arena_copy(tuning->arena, search.found, sizeof *search.found);
    status = *out_candidate == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
  }
  tenon__byte_writer_deinitialize(&search.refusals);
  tenon__free(tuning->allocator, search.found, search.capacity * sizeof *search.found);
  return status;
}

/* Does the tactic take and leave everything in the types of the network? */
static bool keeps_types(const struct tenon_region_t* region, const tenon__step_tactic_t* tactic) {
  const uint32_t input_count = tactic->input_rules == NULL ? 0 : region->input_count;
  const uint32_t output_count = tactic->output_rules == NULL ? 0 : region->output_count;
  bool keeps = true;
  for (uint32_t k = 0; k < input_count; ++k) {
    keeps = keeps && tenon__region_input_dtype(region, k, &tactic->input_rules[k]) ==
                         tenon__region_input_dtype(region, k, NULL);
  }
  for (uint32_t k = 0; k < output_count; ++k) {
    keeps = keeps && tenon__region_output_dtype(region, k, &tactic->output_rules[k]) ==
                         tenon__region_output_dtype(region, k, NULL);
  }
  return keeps;
}

tenon_status_t tenon__candidates_for_node(tenon__tuning_t* tuning, struct tenon_region_t* region,
                                          bool by_reference,
                                          const tenon__candidate_t** out_candidate) {
  *out_candidate = NULL;
  if (by_reference) {
    return find_reference(tuning, region, out_candidate);
  }
  const tenon__candidates_t* found = NULL;
  TENON_TRY(tenon__candidates_find(tuning, region, NULL, &found));
  for (uint32_t k = 0; k < found->count && *out_candidate == NULL; ++k) {
    *out_candidate = keeps_types(region, &found->items[k].tactic) ? &found->items[k] : NULL;
  }
  return TENON_OK;
}

/* ---- Words ---- */

const char* tenon__candidates_reasons(tenon__tuning_t* tuning,
                                      const tenon__candidates_t* candidates, uint32_t pick,
                                      const char* notes) {
  if (!tuning->options.keep_refusals) {
    return candidates->refusals;
  }
  const char* text = tenon__arena_format(tuning->arena, "%s%s", notes == NULL ? "" : notes,
                                         candidates->refusals == NULL ? "" : candidates->refusals);
  const char* best = tenon__time_text(tuning, candidates->items[pick].time);
  if (best == NULL) {
    return NULL;
  }
  for (uint32_t k = 0; k < candidates->count && text != NULL; ++k) {
    const tenon__candidate_t* c = &candidates->items[k];
    const char* own = tenon__time_text(tuning, c->time);
    if (k == pick || own == NULL) {
      continue;
    }
    const bool is_faster = c->time.figure == TENON_FIGURE_MEASURED &&
                           candidates->items[pick].time.figure == TENON_FIGURE_MEASURED &&
                           c->time.seconds < candidates->items[pick].time.seconds;
    text = tenon__arena_format(
        tuning->arena, "%s%s:%s (%s): %s%s: %s, this one %s\n", text, c->kernel->owner->plugin,
        c->kernel->kernel.name, c->tactic.name, tenon__refusal_text(TENON_REFUSAL_SLOWER),
        is_faster ? " in the plan as a whole, with its layouts and copies" : "", own, best);
  }
  return text;
}
