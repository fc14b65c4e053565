/* Groups of the claims whose classes are taken. */
#include "core/fusion/claims_take.h"

#include "core/fusion/alternatives.h"

/* Could something that the nodes read be made only after one of them? */
static bool waits_for_itself(grouping_t* grouping, const claim_t* claim) {
  tenon__grouping_walk_begin(grouping);
  for (uint32_t n = 0; n < claim->node_count; ++n) {
    const tenon__node_t* node = &grouping->g->nodes[claim->nodes[n]];
    TENON_EACH_INPUT(k, node) {
      const uint32_t value = node->inputs[k];
      const uint32_t maker = grouping->g->values[value].producer;
      if (maker != TENON_NONE && !tenon__list_holds(claim->nodes, claim->node_count, maker)) {
        tenon__grouping_walk_from(grouping, value);
      }
    }
  }
  return tenon__grouping_walk_meets(grouping, claim->nodes, claim->node_count);
}

/* Are the nodes where they were before anything was grouped? */
static bool are_free(const grouping_t* grouping, const claim_t* claim) {
  for (uint32_t k = 0; k < claim->node_count; ++k) {
    const uint32_t index = grouping->group_of[claim->nodes[k]];
    if (index != grouping->first_group_of[claim->nodes[k]] ||
        (index != TENON_NONE &&
         (!grouping->groups[index].alive ||
          grouping->groups[index].region != grouping->first_groups[index].region))) {
      return false;
    }
  }
  return true;
}

static void take(grouping_t* grouping, const claim_t* claim) {
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
                     .region = claim->region,
                     .candidates = grouping->alternatives->classes[claim->class_index].candidates};
  for (uint32_t k = 0; k < claim->node_count; ++k) {
    const uint32_t at = grouping->position[claim->nodes[k]];
    group->nodes[k] = claim->nodes[k];
    grouping->group_of[claim->nodes[k]] = home;
    group->last_position = at > group->last_position ? at : group->last_position;
  }
  tenon__grouping_span(grouping, group);
}

void tenon__claims_take(grouping_t* grouping) {
  const alternatives_t* a = grouping->alternatives;
  for (uint32_t t = 0; t < a->taken_count; ++t) {
    for (uint32_t k = 0; k < a->claim_count; ++k) {
      const claim_t* claim = &a->claims[k];
      if (claim->class_index == a->taken[t] && are_free(grouping, claim) &&
          !waits_for_itself(grouping, claim)) {
        take(grouping, claim);
      }
    }
  }
}
