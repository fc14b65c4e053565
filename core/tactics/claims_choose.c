/* Which claims are taken, where they overlap. */
#include <stdlib.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/tactics/claims.h"

typedef struct walk_t {
  const grouping_t* grouping;
  uint32_t* stack;
  uint8_t* seen; /* nodes */
  uint32_t depth;
} walk_t;

/* Pushes who makes the value: with it, all nodes of its step. */
static void push_producer(walk_t* walk, uint32_t value) {
  const grouping_t* grouping = walk->grouping;
  const uint32_t producer = value == TENON_NONE ? TENON_NONE : grouping->g->values[value].producer;
  if (producer == TENON_NONE || walk->seen[producer] != 0) {
    return;
  }
  const uint32_t index = grouping->group_of[producer];
  const uint32_t count = index == TENON_NONE ? 1 : grouping->groups[index].node_count;
  for (uint32_t k = 0; k < count; ++k) {
    const uint32_t node = index == TENON_NONE ? producer : grouping->groups[index].nodes[k];
    if (walk->seen[node] == 0) {
      walk->seen[node] = 1;
      walk->stack[walk->depth++] = node;
    }
  }
}

static bool walk_back(walk_t* walk, const claim_t* claim) {
  const grouping_t* grouping = walk->grouping;
  for (uint32_t n = 0; n < claim->node_count; ++n) {
    const tenon__node_t* node = &grouping->g->nodes[claim->nodes[n]];
    for (uint32_t k = 0; k < node->input_count; ++k) {
      const uint32_t value = node->inputs[k];
      if (value != TENON_NONE && grouping->g->values[value].producer != TENON_NONE &&
          !claim_holds(claim, grouping->g->values[value].producer)) {
        push_producer(walk, value);
      }
    }
  }
  while (walk->depth > 0) {
    const uint32_t at = walk->stack[--walk->depth];
    if (claim_holds(claim, at)) {
      return true;
    }
    for (uint32_t k = 0; k < grouping->g->nodes[at].input_count; ++k) {
      push_producer(walk, grouping->g->nodes[at].inputs[k]);
    }
  }
  return false;
}

/* Could something that the nodes read be made only after one of them? */
static tenon_status_t waits_for_itself(const grouping_t* grouping, const claim_t* claim,
                                       bool* out) {
  const size_t capacity = grouping->g->node_count + 1u;
  const tenon_allocator_t allocator = grouping->tuning->allocator;
  walk_t walk = {.grouping = grouping,
                 .stack = tenon__allocate(allocator, capacity, sizeof *walk.stack),
                 .seen = tenon__allocate(allocator, capacity, 1)};
  const bool enough = walk.stack != NULL && walk.seen != NULL;
  *out = enough && walk_back(&walk, claim);
  tenon__free(allocator, walk.stack, capacity * sizeof *walk.stack);
  tenon__free(allocator, walk.seen, capacity);
  return enough ? TENON_OK : tenon__fail_memory(grouping->tuning->sink);
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
  bool waits = false;
  TENON_TRY(waits_for_itself(grouping, claim, &waits));
  if (waits) {
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
                     .first_position = grouping->position[claim->nodes[0]],
                     .last_position = grouping->position[claim->nodes[0]],
                     .region = claim->region};
  for (uint32_t k = 0; k < claim->node_count; ++k) {
    const uint32_t at = grouping->position[claim->nodes[k]];
    group->nodes[k] = claim->nodes[k];
    grouping->group_of[claim->nodes[k]] = home;
    group->first_position = at < group->first_position ? at : group->first_position;
    group->last_position = at > group->last_position ? at : group->last_position;
  }
  return TENON_OK;
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
  tenon_status_t status = TENON_OK;
  qsort(claims->items, claims->count, sizeof *claims->items, compare_claims);
  for (uint32_t k = 0; k < claims->count; ++k) {
    rest += claims->items[k].saved_seconds;
  }
  choose_from(&choice, 0, 0, rest);
  for (uint32_t k = 0; k < claims->count && status == TENON_OK; ++k) {
    status = choice.best[k] != 0 ? take(grouping, &claims->items[k]) : TENON_OK;
  }
  return status;
}
