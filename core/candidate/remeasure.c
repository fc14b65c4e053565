/*
 * A second look at times on which a choice hangs. What else the machine does makes a time longer,
 * never shorter: of all that were measured the smallest is nearest to the truth.
 */
#include "core/candidate/remeasure.h"

#include "core/base/allocator.h"
#include "core/base/noise.h"
#include "core/base/status.h"
#include "core/rehearsal/rehearsal.h"

static bool is_contender(const tenon__candidates_t* candidates, uint32_t k) {
  const tenon__candidate_t* item = &candidates->items[k];
  return item->is_fresh && item->time.figure == TENON_FIGURE_MEASURED &&
         item->time.seconds <= candidates->items[0].time.seconds * TENON_NOISE_CONTENDER_RATIO;
}

bool tenon__candidates_are_fresh(const tenon__candidates_t* candidates) {
  for (uint32_t k = 0; k < candidates->count; ++k) {
    if (is_contender(candidates, k)) {
      return true;
    }
  }
  return false;
}

/* One candidate's times. */
typedef struct look_t {
  double seconds;
  double undisturbed; /* the smallest of those that nobody disturbed */
} look_t;

static bool is_disturbed(const look_t* look) {
  return look->undisturbed > look->seconds * TENON_NOISE_EQUAL_RATIO;
}

/* One more time of each. */
static tenon_status_t measure_round(tenon__rehearsal_t* rehearsal,
                                    const tenon__candidates_t* candidates, look_t* looks,
                                    bool* out_resolved) {
  const double no_limit = 1e30;
  *out_resolved = true;
  for (uint32_t k = 0; k < candidates->count; ++k) {
    tenon__outcome_t outcome;
    if (!is_contender(candidates, k)) {
      continue;
    }
    TENON_TRY(tenon__rehearsal_try(rehearsal, &candidates->items[k], &no_limit, &outcome));
    if (outcome.tried != TENON_TRIED_WELL || !(outcome.seconds > 0)) {
      continue;
    }
    look_t* look = &looks[k];
    const bool is_near = outcome.seconds <= look->seconds * TENON_NOISE_EQUAL_RATIO &&
                         look->seconds <= outcome.seconds * TENON_NOISE_EQUAL_RATIO;
    look->seconds = outcome.seconds < look->seconds ? outcome.seconds : look->seconds;
    if (!outcome.is_disturbed && outcome.seconds < look->undisturbed) {
      look->undisturbed = outcome.seconds;
    }
    *out_resolved = *out_resolved && is_near && !is_disturbed(look);
  }
  return TENON_OK;
}

/* In turns, so that what disturbs one turn does not fall on one tactic alone, until the smallest
 * times have been met again twice: where others keep the machine busy that takes a while. */
static tenon_status_t measure(tenon__rehearsal_t* rehearsal, const tenon__candidates_t* candidates,
                              look_t* looks) {
  uint32_t agreeing_rounds = 0;
  for (uint32_t round = 0;
       round < TENON_NOISE_CONTENDER_ROUNDS && agreeing_rounds < TENON_NOISE_SETTLED_ROUNDS;
       ++round) {
    bool is_resolved = false;
    TENON_TRY(measure_round(rehearsal, candidates, looks, &is_resolved));
    agreeing_rounds += is_resolved ? 1 : 0;
  }
  return TENON_OK;
}

tenon_status_t tenon__candidates_remeasure(tenon__tuning_t* tuning, struct tenon_region_t* region,
                                           const tenon__candidates_t* candidates) {
  const tenon__subject_t subject = {.tuning = tuning, .region = region};
  tenon__rehearsal_t rehearsal;
  look_t* looks = tenon__arena_allocate(tuning->arena, candidates->count + 1u, sizeof(*looks));
  TENON_TRY_MEMORY(looks != NULL);
  for (uint32_t k = 0; k < candidates->count; ++k) {
    const tenon__candidate_t* item = &candidates->items[k];
    looks[k].seconds = item->time.seconds;
    looks[k].undisturbed = item->is_disturbed ? 1e30 : item->time.seconds;
  }
  const tenon__spent_t before = tuning->spent;
  tenon__rehearsal_begin(&subject, &rehearsal);
  const tenon_status_t status = measure(&rehearsal, candidates, looks);
  tenon__rehearsal_end(&rehearsal);
  tuning->spent.again_count += tuning->spent.count - before.count;
  tuning->spent.again += tuning->spent.seconds - before.seconds;
  TENON_TRY(status);
  for (uint32_t k = candidates->count; k-- > 0;) { /* the fastest decides who contends: last */
    tenon__candidate_t* item = &candidates->items[k];
    if (is_contender(candidates, k)) {
      item->is_fresh = false;
      item->time.seconds = looks[k].seconds;
      item->is_disturbed = is_disturbed(&looks[k]);
      tenon__timing_cache_renew(tuning->cache, &item->key, looks[k].seconds, item->is_disturbed);
    }
  }
  tuning->look_count += 1;
  ((tenon__candidates_t*)tenon__drop_const(candidates))->is_unsorted = true;
  return TENON_OK;
}
