/* Which claims are taken, where they overlap. */
#include <stdlib.h>
#include <string.h>

#include "core/base/status.h"
#include "core/tactics/claims.h"

/* Could something that the nodes read be made only after one of them? */
static bool waits_for_itself(grouping_t* grouping, const claim_t* claim) {
  tenon__grouping_walk_begin(grouping);
  for (uint32_t n = 0; n < claim->node_count; ++n) {
    const tenon__node_t* node = &grouping->g->nodes[claim->nodes[n]];
    for (uint32_t k = 0; k < node->input_count; ++k) {
      const uint32_t value = node->inputs[k];
      const uint32_t maker = value == TENON_NONE ? TENON_NONE : grouping->g->values[value].producer;
      if (maker != TENON_NONE && !claim_holds(claim, maker)) {
        tenon__grouping_walk_from(grouping, value);
      }
    }
  }
  return tenon__grouping_walk_meets(grouping, claim->nodes, claim->node_count);
}

static int compare_claims(const void* a, const void* b) {
  const claim_t* left = a;
  const claim_t* right = b;
  if (left->saved_seconds != right->saved_seconds) {
    return left->saved_seconds < right->saved_seconds ? 1 : -1;
  }
  if (left->node_count != right->node_count) {
    return left->node_count < right->node_count ? 1 : -1;
  }
  return left->nodes[0] < right->nodes[0] ? -1 : left->nodes[0] > right->nodes[0];
}

typedef struct choice_t {
  const claims_t* claims;
  uint8_t* taken; /* nodes */
  uint8_t* picked;
  uint8_t* best;
  double best_saved;
  uint32_t budget; /* branches left to try; then what was found stands */
} choice_t;

static bool fits(const choice_t* choice, const claim_t* claim) {
  for (uint32_t k = 0; k < claim->node_count; ++k) {
    if (choice->taken[claim->nodes[k]] != 0) {
      return false;
    }
  }
  return true;
}

static void mark(choice_t* choice, uint32_t index, uint8_t is_taken) {
  const claim_t* claim = &choice->claims->items[index];
  choice->picked[index] = is_taken;
  for (uint32_t k = 0; k < claim->node_count; ++k) {
    choice->taken[claim->nodes[k]] = is_taken;
  }
}

/* Branch and bound in order of what claims save: first with each claim, then without it. Depth is
 * that of the claims that overlap others; the rest are taken straight away. */
static void choose_from(choice_t* choice, uint32_t from, double saved, double rest) {
  const claims_t* claims = choice->claims;
  uint32_t at = from;
  while (at < claims->count && !fits(choice, &claims->items[at])) {
    rest -= claims->items[at++].saved_seconds;
  }
  if (at == claims->count) {
    if (saved > choice->best_saved) {
      choice->best_saved = saved;
      memcpy(choice->best, choice->picked, claims->count);
    }
    return;
  }
  if (saved + rest <= choice->best_saved || choice->budget == 0) {
    return;
  }
  choice->budget -= 1;
  const double own = claims->items[at].saved_seconds;
  mark(choice, at, 1);
  choose_from(choice, at + 1, saved + own, rest - own);
  mark(choice, at, 0);
  choose_from(choice, at + 1, saved, rest - own);
}

/* Claims that were taken before may have made it wait for itself. */
static tenon_status_t take(grouping_t* grouping, const claim_t* claim) {
  const covering_t covering = claim_covering(claim);
  if (waits_for_itself(grouping, claim)) {
    return TENON_OK;
  }
  uint32_t home = grouping->group_of[claim->nodes[0]];
  if (home == TENON_NONE) {
    home = grouping->group_count++;
  }
  for (uint32_t k = 0; k < claim->node_count; ++k) {
    const uint32_t old = grouping->group_of[claim->nodes[k]];
    if (old != TENON_NONE && old != home) {
      grouping->groups[old].alive = false;
      grouping->groups[old].node_count = 0;
    }
  }
  group_t* group = &grouping->groups[home];
  *group = (group_t){.alive = true,
                     .kind = TENON_UNIT_REGION,
                     .node_count = claim->node_count,
                     .last_position = grouping->position[claim->nodes[0]],
                     .region = claim->region};
  for (uint32_t k = 0; k < claim->node_count; ++k) {
    const uint32_t at = grouping->position[claim->nodes[k]];
    group->nodes[k] = claim->nodes[k];
    grouping->group_of[claim->nodes[k]] = home;
    group->last_position = at > group->last_position ? at : group->last_position;
  }
  return tenon__grouping_note(grouping, &covering, NULL);
}

tenon_status_t tenon__claims_choose(claims_t* claims) {
  enum { BRANCHES = 20000 };
  grouping_t* grouping = claims->grouping;
  choice_t choice = {.claims = claims, .best_saved = -1, .budget = BRANCHES};
  double rest = 0;
  if (claims->count == 0) {
    return TENON_OK;
  }
  choice.taken = tenon__arena_allocate(&grouping->scratch, grouping->g->node_count + 1u, 1);
  choice.picked = tenon__arena_allocate(&grouping->scratch, claims->count, 1);
  choice.best = tenon__arena_allocate(&grouping->scratch, claims->count, 1);
  if (choice.taken == NULL || choice.picked == NULL || choice.best == NULL) {
    return tenon__fail_memory(grouping->tuning->sink);
  }
  qsort(claims->items, claims->count, sizeof *claims->items, compare_claims);
  for (uint32_t k = 0; k < claims->count; ++k) {
    rest += claims->items[k].saved_seconds;
  }
  choose_from(&choice, 0, 0, rest);
  for (uint32_t k = 0; k < claims->count; ++k) {
    if (choice.best[k] != 0) {
      TENON_TRY(take(grouping, &claims->items[k]));
    }
  }
  return TENON_OK;
}
