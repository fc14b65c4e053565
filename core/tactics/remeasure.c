/*
 * A second look at times on which a choice hangs. What else the machine does makes a time longer,
 * never shorter: of all that were measured the smallest is nearest to the truth.
 */
#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/tactics/rehearsal.h"

enum { LEAST_ROUNDS = 3, MOST_ROUNDS = 10 };
/* Within so much of the fastest a tactic may turn out to be the fastest. */
static const double contender_factor = 1.3;
/* A time that falls by less stays as it is. */
static const double settled_factor = 0.97;

static bool is_contender(const tenon__candidates_t* candidates, uint32_t k) {
  const tenon__candidate_t* item = &candidates->items[k];
  return item->is_fresh && item->time.figure == TENON_FIGURE_MEASURED &&
         item->time.seconds <= candidates->items[0].time.seconds * contender_factor;
}

bool tenon__candidates_are_fresh(const tenon__candidates_t* candidates) {
  for (uint32_t k = 0; k < candidates->count; ++k) {
    if (is_contender(candidates, k)) {
      return true;
    }
  }
  return false;
}

/* One more time of each. */
static tenon_status_t measure_round(tenon__rehearsal_t* rehearsal,
                                    const tenon__candidates_t* candidates, double* seconds,
                                    bool* out_settled) {
  const double no_limit = 1e30;
  *out_settled = true;
  for (uint32_t k = 0; k < candidates->count; ++k) {
    tenon__outcome_t outcome;
    if (!is_contender(candidates, k)) {
      continue;
    }
    TENON_TRY(tenon__rehearsal_try(rehearsal, &candidates->items[k], &no_limit, &outcome));
    if (outcome.tried != TENON_TRIED_WELL || !(outcome.seconds > 0)) {
      continue;
    }
    *out_settled = *out_settled && outcome.seconds > seconds[k] * settled_factor;
    seconds[k] = outcome.seconds < seconds[k] ? outcome.seconds : seconds[k];
  }
  return TENON_OK;
}

/* In turns, so that what disturbs one turn does not fall on one tactic alone, until two turns in a
 * row have found nothing new. */
static tenon_status_t measure(tenon__rehearsal_t* rehearsal, const tenon__candidates_t* candidates,
                              double* seconds) {
  uint32_t settled_rounds = 0;
  for (uint32_t round = 0;
       round < LEAST_ROUNDS || (round < MOST_ROUNDS && settled_rounds < 2); ++round) {
    bool is_settled = false;
    TENON_TRY(measure_round(rehearsal, candidates, seconds, &is_settled));
    settled_rounds = is_settled ? settled_rounds + 1 : 0;
  }
  return TENON_OK;
}

tenon_status_t tenon__candidates_remeasure(tenon__tuning_t* tuning, struct tenon_region_t* region,
                                           const tenon__candidates_t* candidates) {
  search_t search = {.tuning = tuning, .region = region};
  tenon__rehearsal_t rehearsal;
  double* seconds = tenon__arena_allocate(tuning->arena, candidates->count + 1u, sizeof *seconds);
  if (seconds == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t k = 0; k < candidates->count; ++k) {
    seconds[k] = candidates->items[k].time.seconds;
  }
  tenon__rehearsal_begin(&search, &rehearsal);
  const tenon_status_t status = measure(&rehearsal, candidates, seconds);
  tenon__rehearsal_end(&rehearsal);
  TENON_TRY(status);
  for (uint32_t k = candidates->count; k-- > 0;) { /* the fastest decides who contends: last */
    tenon__candidate_t* item = &candidates->items[k];
    const bool was_contender = is_contender(candidates, k);
    item->is_fresh = item->is_fresh && !was_contender;
    if (was_contender && seconds[k] < item->time.seconds) {
      item->time.seconds = seconds[k];
      tenon__timing_cache_lower(tuning->cache, &item->key, seconds[k]);
    }
  }
  ((tenon__candidates_t*)tenon__drop_const(candidates))->is_unsorted = true;
  return TENON_OK;
}
