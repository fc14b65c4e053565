/*
 * Times of all candidates of a region: known from before, measured, or as the kernels estimate.
 * While they are measured their outputs are compared; what is wrong, or fails, is dropped with a
 * reason. The cache remembers both, so that a warm one neither compares again nor trusts what never
 * was compared.
 */
#include "core/candidate/times.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/noise.h"
#include "core/base/status.h"
#include "core/kernel/instance.h"
#include "core/kernel/kernel_match.h"
#include "core/rehearsal/rehearsal.h"
#include "core/rehearsal/verdict.h"

typedef struct entry_t {
  tenon__digest_t key;
  tenon__timing_t timing;
  bool is_known;   /* the cache had it */
  bool is_tried;   /* in this build, well */
  bool is_dropped; /* it failed, or is wrong */
  uint32_t answer; /* of the rehearsal; TENON_NONE */
} entry_t;

typedef struct timing_t {
  search_t* search;
  tenon__rehearsal_t rehearsal;
  entry_t* entries; /* one for each candidate */
} timing_t;

/* ---- Keys ---- */

static void hash_rules(tenon__digest_state_t* state, const tenon_argument_rule_t* rules,
                       uint32_t count) {
  if (rules == NULL) {
    return;
  }
  for (uint32_t k = 0; k < count; ++k) {
    const uint32_t numbers[] = {rules[k].kind, rules[k].argument, rules[k].flags,
                                rules[k].alignment, rules[k].dtype};
    tenon__digest_add(state, numbers, sizeof numbers);
    if (rules[k].layout != NULL) {
      tenon__digest_add(state, rules[k].layout->order,
                        rules[k].layout->rank * sizeof *rules[k].layout->order);
    }
  }
}

/* Region, kernel, the plugin's file, what the kernel depends on, tactic, machine, threads: a plugin
 * that was built anew is another one, whatever its version says. */
static tenon_status_t make_key(const search_t* search, const tenon__digest_t* signature,
                               const tenon__candidate_t* candidate, tenon__digest_t* out_key) {
  const tenon__owner_t* owner = candidate->kernel->owner;
  const tenon__step_tactic_t* tactic = &candidate->tactic;
  tenon__digest_state_t state;
  tenon__digest_t file = {{0}};
  char numbers[64];
  (void)snprintf(numbers, sizeof numbers, "|%u|%u|", candidate->kernel->kernel.version,
                 search->subject.tuning->options.thread_count);
  const tenon__kernel_binding_t binding =
      tenon__tuning_binding(search->subject.tuning, search->subject.region, candidate->kernel);
  const char* const texts[] = {
      owner->plugin, candidate->kernel->kernel.name,
      tactic->name,  search->subject.tuning->devices[search->subject.region->device].fingerprint,
      numbers,       tenon__kernel_validity(&binding)};
  if (owner->digest != NULL) {
    TENON_TRY(owner->digest(owner->user, owner, search->subject.tuning->sink, &file));
  }
  tenon__digest_begin(&state);
  tenon__digest_add(&state, signature, sizeof *signature);
  tenon__digest_add(&state, &file, sizeof file);
  for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k) {
    tenon__digest_add(&state, texts[k], strlen(texts[k]) + 1);
  }
  if (tactic->configuration_size > 0) {
    tenon__digest_add(&state, tactic->configuration, tactic->configuration_size);
  }
  hash_rules(&state, tactic->input_rules, search->subject.region->input_count);
  hash_rules(&state, tactic->output_rules, search->subject.region->output_count);
  *out_key = tenon__digest_end(&state);
  return TENON_OK;
}

/* ---- Trying ---- */

static void drop(timing_t* t, uint32_t k, const tenon_refusal_t* refusal) {
  const tenon__candidate_t* c = &t->search->found[k];
  t->entries[k].is_dropped = true;
  tenon__search_note(t->search, c->kernel, c->tactic.name, refusal);
}

/* Wrong numbers are worth a word to whoever builds, not only to who asks why. */
static void drop_wrong(timing_t* t, uint32_t k, const char* message) {
  const tenon__tuning_t* tuning = t->search->subject.tuning;
  const tenon__candidate_t* c = &t->search->found[k];
  const tenon_refusal_t refusal = {.reason = TENON_REFUSAL_WRONG, .detail = message};
  tenon__report(tuning->sink, TENON_SEVERITY_WARNING, "%s: %s:%s (%s) is not used: it %s",
                tenon__region_text(tuning, t->search->subject.region), c->kernel->owner->plugin,
                c->kernel->kernel.name, c->tactic.name, message == NULL ? "is wrong" : message);
  drop(t, k, &refusal);
}

static tenon_status_t record(timing_t* t, uint32_t k) {
  return tenon__timing_cache_add(t->search->subject.tuning->cache, &t->entries[k].key,
                                 t->entries[k].timing);
}

/* `best`: measured as well, unless there is no need. */
static tenon_status_t try_candidate(timing_t* t, uint32_t k, const double* best) {
  entry_t* entry = &t->entries[k];
  tenon__candidate_t* candidate = &t->search->found[k];
  tenon__timing_cache_t* cache = t->search->subject.tuning->cache;
  tenon__outcome_t outcome;
  tenon__timing_cache_begin_trial(cache, &entry->key);
  const tenon_status_t status = tenon__rehearsal_try(&t->rehearsal, candidate, best, &outcome);
  tenon__timing_cache_end_trial(cache);
  if (status == TENON_ERROR_DEVICE) { /* the device is lost, and the build ends */
    entry->timing =
        (tenon__timing_t){.seconds = TENON_TIMING_LEAST, .checked = TENON_CHECKED_ENDED};
    (void)record(t, k);
  }
  TENON_TRY(status);
  switch (outcome.tried) {
    case TENON_TRIED_WELL:
      entry->is_tried = true;
      entry->answer = outcome.answer;
      break;
    case TENON_TRIED_FAILED:
      drop(t, k, &outcome.refusal);
      return TENON_OK;
    case TENON_TRIED_WRONGLY:
      drop_wrong(t, k, outcome.refusal.detail);
      entry->timing.checked = TENON_CHECKED_WRONG;
      entry->timing.seconds = fmax(entry->timing.seconds, TENON_TIMING_LEAST);
      return record(t, k);
    case TENON_TRIED_NOT:
    default:
      return TENON_OK;
  }
  if (best != NULL) {
    entry->timing.seconds = fmax(outcome.seconds, TENON_TIMING_LEAST);
    candidate->time = (tenon__time_t){TENON_FIGURE_MEASURED, entry->timing.seconds};
    entry->timing.is_disturbed = outcome.is_disturbed;
    candidate->is_disturbed = outcome.is_disturbed;
    candidate->is_fresh = true;
    t->search->subject.tuning->measured_count += 1;
  }
  return TENON_OK;
}

/* What the cache knows; what it knows to be wrong is not tried again. */
static tenon_status_t look_up(timing_t* t, uint32_t k, const tenon__digest_t* signature) {
  entry_t* entry = &t->entries[k];
  tenon__candidate_t* candidate = &t->search->found[k];
  tenon__tuning_t* tuning = t->search->subject.tuning;
  entry->answer = TENON_NONE;
  TENON_TRY(make_key(t->search, signature, candidate, &entry->key));
  candidate->key = entry->key;
  entry->is_known = tenon__timing_cache_find(tuning->cache, &entry->key, &entry->timing);
  if (entry->is_known) {
    tuning->cached_count += 1;
    candidate->is_disturbed = entry->timing.is_disturbed;
    /* If a choice depends on this time, it is measured again. */
    candidate->is_fresh = candidate->is_disturbed && tenon__tuning_may_measure(tuning);
    candidate->time = (tenon__time_t){TENON_FIGURE_MEASURED, entry->timing.seconds};
  }
  if (entry->is_known && entry->timing.checked == TENON_CHECKED_WRONG) {
    drop_wrong(t, k, "was found to compute something else when it was measured (timing cache)");
  } else if (entry->is_known && entry->timing.checked == TENON_CHECKED_ENDED) {
    drop_wrong(t, k,
               "ended the process, or lost the device, of an earlier build (timing cache); it is "
               "tried again if its plugin changes");
  }
  return TENON_OK;
}

/* ---- Comparing ---- */

static uint32_t count_kernels(const timing_t* t) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < t->search->count; ++k) {
    bool is_new = !t->entries[k].is_dropped;
    for (uint32_t i = 0; i < k && is_new; ++i) {
      is_new = t->entries[i].is_dropped || t->search->found[i].kernel != t->search->found[k].kernel;
    }
    count += is_new ? 1u : 0u;
  }
  return count;
}

/* Of those that the cache knows: is its answer still to be heard? One that agreed with others
 * speaks for all of them; one that was alone speaks for itself. */
static tenon_status_t hear_known(timing_t* t, bool is_anything_new) {
  const uint32_t kernels = count_kernels(t);
  bool is_any_alone = false;
  bool has_spoken = false;
  for (uint32_t k = 0; k < t->search->count; ++k) {
    is_any_alone = is_any_alone || (t->entries[k].is_known && !t->entries[k].is_dropped &&
                                    t->entries[k].timing.checked == TENON_CHECKED_ALONE);
  }
  if (!is_anything_new && (kernels < 2 || !is_any_alone)) {
    return TENON_OK;
  }
  for (uint32_t k = 0; k < t->search->count; ++k) {
    const entry_t* entry = &t->entries[k];
    const bool agrees = entry->timing.checked == TENON_CHECKED_AGREES;
    if (!entry->is_known || entry->is_dropped || (agrees && has_spoken)) {
      continue;
    }
    has_spoken = has_spoken || agrees;
    TENON_TRY(try_candidate(t, k, NULL));
  }
  return TENON_OK;
}

/* Where all answers are one, whoever agreed with another kernel is checked. */
static void note_agreement(timing_t* t, const tenon__verdict_t* verdict) {
  for (uint32_t k = 0; k < t->search->count; ++k) {
    entry_t* entry = &t->entries[k];
    if (!entry->is_tried || entry->is_dropped || entry->answer == TENON_NONE) {
      continue;
    }
    const bool is_confirmed =
        verdict->is_certain ||
        (t->rehearsal.answer_count == 1 && t->rehearsal.answers[entry->answer].kernel_count > 1);
    if (is_confirmed) {
      entry->timing.checked = TENON_CHECKED_AGREES;
    }
  }
}

static tenon_status_t judge(timing_t* t) {
  tenon__verdict_t verdict;
  TENON_TRY(tenon__rehearsal_ask_nodes(&t->rehearsal));
  TENON_TRY(tenon__rehearsal_judge(&t->rehearsal, &verdict));
  for (uint32_t k = 0; k < t->search->count && t->rehearsal.answer_count > 1; ++k) {
    entry_t* entry = &t->entries[k];
    if (!entry->is_tried || entry->is_dropped || entry->answer == TENON_NONE ||
        verdict.is_right[entry->answer]) {
      continue;
    }
    drop_wrong(t, k, verdict.messages[entry->answer]);
    if (verdict.is_certain) {
      entry->timing.checked = TENON_CHECKED_WRONG;
      TENON_TRY(record(t, k));
    }
  }
  note_agreement(t, &verdict);
  return TENON_OK;
}

/* ---- Families ---- */

/* Tactics of one kernel that take and give the same types in the same order, and multiply alike:
 * kernels propose them the most promising first. Where two of them take more than twice as long as
 * the best of all, the others are not tried. */

static bool is_family(const search_t* search, uint32_t a, uint32_t b) {
  const tenon__candidate_t* first = &search->found[a];
  const tenon__candidate_t* second = &search->found[b];
  return first->kernel == second->kernel &&
         first->tactic.numerics.product_mantissa_bits ==
             second->tactic.numerics.product_mantissa_bits &&
         first->tactic.numerics.product_exponent_bits ==
             second->tactic.numerics.product_exponent_bits &&
         first->tactic.numerics.product_dtype == second->tactic.numerics.product_dtype &&
         tenon__rule_lists_alike(first->tactic.input_rules, second->tactic.input_rules,
                                 search->subject.region->input_count) &&
         tenon__rule_lists_alike(first->tactic.output_rules, second->tactic.output_rules,
                                 search->subject.region->output_count);
}

/* How many of the family come before it, and the least of their times. */
static uint32_t elders_of(const timing_t* t, uint32_t k, double* out_least) {
  uint32_t count = 0;
  *out_least = 1e30;
  for (uint32_t i = 0; i < k; ++i) {
    if (is_family(t->search, i, k)) {
      const tenon__time_t time = t->search->found[i].time;
      const bool counts = time.figure == TENON_FIGURE_MEASURED && !t->entries[i].is_dropped;
      *out_least = counts && time.seconds < *out_least ? time.seconds : *out_least;
      count += 1;
    }
  }
  return count;
}

/* False: leave it out, and it has a reason. */
static bool is_worth_a_look(timing_t* t, uint32_t k, double best) {
  double least = 0;
  const uint32_t elders = elders_of(t, k, &least);
  if (elders < TENON_NOISE_FAMILY_LOOKS || least >= 1e30 ||
      least <= TENON_NOISE_HOPELESS_FAMILY_RATIO * best) {
    return true;
  }
  const tenon_refusal_t refusal = {
      .reason = TENON_REFUSAL_SLOWER,
      .detail = tenon__arena_format(t->search->subject.tuning->arena,
                                    "not tried: the first %u of its kind take %.4g us, the best "
                                    "%.4g us",
                                    elders, least * 1e6, best * 1e6)};
  drop(t, k, &refusal);
  return false;
}

/* ---- All ---- */

/* Those that begin something ahead come last: it is under way while the others are timed. */
static bool begins_ahead(const timing_t* t, uint32_t k) {
  return t->search->found[k].kernel->kernel.begin_prepare != NULL;
}

static void begin_one(const search_t* search, const tenon__candidate_t* candidate,
                      tenon__packed_store_t* store) {
  const tenon__kernel_binding_t binding =
      tenon__tuning_binding(search->subject.tuning, search->subject.region, candidate->kernel);
  const tenon__instance_request_t request = {.kernel = &binding,
                                             .region = search->subject.region,
                                             .tactic = &candidate->tactic,
                                             .store = store};
  tenon__instance_ahead(search->subject.tuning->allocator, &request);
}

static tenon_status_t begin_ahead(timing_t* t) {
  tenon__tuning_t* tuning = t->search->subject.tuning;
  tenon__packed_store_t* store = NULL;
  TENON_TRY(tenon__packed_store_create(tuning->allocator, &store));
  tenon__packed_store_use_folder(store, tuning->blobs);
  for (uint32_t k = 0; k < t->search->count; ++k) {
    if (!t->entries[k].is_known) {
      begin_one(t->search, &t->search->found[k], store);
    }
  }
  tenon__packed_store_destroy(store);
  return TENON_OK;
}

static tenon_status_t expect_all(search_t* search, const tenon__digest_t* signature,
                                 tenon__packed_store_t* store) {
  for (uint32_t k = 0; k < search->count; ++k) {
    tenon__digest_t key;
    tenon__timing_t timing;
    if (search->found[k].kernel->kernel.begin_prepare == NULL) {
      continue;
    }
    TENON_TRY(make_key(search, signature, &search->found[k], &key));
    if (!tenon__timing_cache_find(search->subject.tuning->cache, &key, &timing)) {
      begin_one(search, &search->found[k], store);
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__search_expect(search_t* search, const tenon__digest_t* signature) {
  tenon__packed_store_t* store = NULL;
  TENON_TRY(tenon__packed_store_create(search->subject.tuning->allocator, &store));
  tenon__packed_store_use_folder(store, search->subject.tuning->blobs);
  const tenon_status_t status = expect_all(search, signature, store);
  tenon__packed_store_destroy(store);
  return status;
}

/* The first of each family, or the others, of those that begin something ahead or not. */
static tenon_status_t time_those(timing_t* t, bool elders, bool ahead, double* best) {
  for (uint32_t k = 0; k < t->search->count; ++k) {
    const entry_t* entry = &t->entries[k];
    double least = 0;
    if (begins_ahead(t, k) != ahead ||
        (elders_of(t, k, &least) < TENON_NOISE_FAMILY_LOOKS) != elders) {
      continue;
    }
    if (!entry->is_known && tenon__tuning_may_measure(t->search->subject.tuning) &&
        is_worth_a_look(t, k, *best)) {
      TENON_TRY(try_candidate(t, k, best));
    }
    const tenon__time_t time = t->search->found[k].time;
    *best = time.figure == TENON_FIGURE_MEASURED && !entry->is_dropped && time.seconds < *best
                ? time.seconds
                : *best;
  }
  return TENON_OK;
}

static tenon_status_t time_all(timing_t* t, const tenon__digest_t* signature) {
  double best = 1e30;
  bool is_anything_new = false;
  for (uint32_t k = 0; k < t->search->count; ++k) {
    TENON_TRY(look_up(t, k, signature));
  }
  if (tenon__tuning_may_measure(t->search->subject.tuning) && !t->search->is_begun) {
    TENON_TRY(begin_ahead(t));
  }
  TENON_TRY(time_those(t, true, false, &best));
  TENON_TRY(time_those(t, true, true, &best));
  TENON_TRY(time_those(t, false, false, &best));
  TENON_TRY(time_those(t, false, true, &best));
  for (uint32_t k = 0; k < t->search->count; ++k) {
    is_anything_new = is_anything_new || t->entries[k].is_tried;
  }
  if (!tenon__tuning_may_measure(t->search->subject.tuning) && !is_anything_new) {
    return TENON_OK;
  }
  TENON_TRY(hear_known(t, is_anything_new));
  TENON_TRY(judge(t));
  for (uint32_t k = 0; k < t->search->count; ++k) {
    if (t->entries[k].is_tried && !t->entries[k].is_dropped) {
      TENON_TRY(record(t, k));
    }
  }
  return TENON_OK;
}

static void keep_the_rest(search_t* search, const entry_t* entries) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < search->count; ++k) {
    if (!entries[k].is_dropped) {
      search->found[kept++] = search->found[k];
    }
  }
  search->count = kept;
  tenon__candidates_sort(search->found, kept);
}

tenon_status_t tenon__search_time(search_t* search, const tenon__digest_t* signature) {
  if (search->count == 0) {
    return TENON_OK;
  }
  timing_t t = {.search = search};
  t.entries =
      tenon__arena_allocate(search->subject.tuning->arena, search->count, sizeof *t.entries);
  TENON_TRY_MEMORY(t.entries != NULL);
  tenon__rehearsal_begin(&search->subject, &t.rehearsal);
  const tenon_status_t status = time_all(&t, signature);
  tenon__rehearsal_end(&t.rehearsal);
  TENON_TRY(status);
  keep_the_rest(search, t.entries);
  return TENON_OK;
}
