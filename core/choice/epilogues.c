/*
 * Epilogues. Behind each operator's node the expression nodes that lead from its first output to
 * one single value
 * ("milestones" on the way) are composed into one program and offered to the kernels' slot. The
 * longest milestone that a kernel takes goes in, unless it was decided otherwise for all operators
 * with such an epilogue.
 */
#include "core/choice/epilogues.h"

#include <string.h>

#include "core/base/status.h"
#include "core/candidate/candidates.h"
#include "core/choice/alternatives.h"
#include "core/program/compose.h"
#include "core/program/normalise.h"
#include "core/region/region_finish.h"

enum { EPILOGUE_MOST_NODES = 16, EPILOGUE_MOST_MILESTONES = 8 };

typedef struct milestone_t {
  uint32_t node_count; /* the first so many of the chain's nodes */
  uint32_t exit;       /* value */
  const tenon__expression_t* expression;
} milestone_t;

typedef struct chain_t {
  grouping_t* grouping;
  uint32_t root;                     /* node */
  const struct tenon_region_t* base; /* the operator's, or several nodes' whose last is the root */
  uint32_t source;                   /* its output 0 */
  uint32_t nodes[EPILOGUE_MOST_NODES];
  uint32_t values[EPILOGUE_MOST_NODES];                        /* output of each */
  const tenon__expression_t* expressions[EPILOGUE_MOST_NODES]; /* in terms of source and others */
  uint32_t count;
  milestone_t milestones[EPILOGUE_MOST_MILESTONES];
  uint32_t milestone_count;
} chain_t;

/* Does anybody outside the chain read the value? */
static bool read_outside(const chain_t* chain, uint32_t value) {
  return tenon__grouping_read_outside(chain->grouping, value, chain->nodes, chain->count);
}

/* The earliest node behind `value` that is not in the chain and could join it; TENON_NONE. */
static uint32_t next_reader(const chain_t* chain, uint32_t value) {
  const grouping_t* grouping = chain->grouping;
  uint32_t best = TENON_NONE;
  const uint32_t* users = tenon__lists_get(&grouping->uses, value);
  for (uint32_t k = 0; k < tenon__lists_count(&grouping->uses, value); ++k) {
    const uint32_t node = users[k];
    const tenon__node_t* n = &grouping->g->nodes[node];
    const bool fits = !tenon__list_holds(chain->nodes, chain->count, node) &&
                      grouping->device_of[node] == grouping->device_of[chain->root] &&
                      n->expression != NULL && n->output_count == 1 && n->body_count == 0 &&
                      grouping->group_of[node] == TENON_NONE && n->outputs[0] != TENON_NONE &&
                      !n->contents_only;
    if (fits && (best == TENON_NONE || grouping->position[node] < grouping->position[best])) {
      best = node;
    }
  }
  return best;
}

/* The operands that read `value`. False when they do not fit a slot. */
static bool find_slots(grouping_t* grouping, const tenon__expression_t* expression, uint32_t value,
                       uint32_t slots[GROUP_MOST_OPERANDS], uint32_t* out_count) {
  *out_count = 0;
  for (uint32_t o = 0; o < expression->program.operand_count; ++o) {
    if (expression->program.operands[o].index != value) {
      continue;
    }
    if (*out_count == GROUP_MOST_OPERANDS ||
        !tenon__grouping_is_identity(grouping, expression, o)) {
      return false;
    }
    slots[(*out_count)++] = o;
  }
  return true;
}

/* Composes a node's expression with those of the chain that it reads. NULL when it does not fit. */
static tenon_status_t compose_node(chain_t* chain, uint32_t node,
                                   const tenon__expression_t** out_expression) {
  grouping_t* grouping = chain->grouping;
  const tenon__expression_t* expression = NULL;
  *out_expression = NULL;
  TENON_TRY(tenon__grouping_expression(grouping, node, &expression));
  if (expression == NULL || expression->program.output_count != 1 ||
      !tenon__expression_same_space(grouping, expression, chain->source) ||
      tenon__expression_reduces(expression)) {
    return TENON_OK;
  }
  for (uint32_t k = 0; k < chain->count; ++k) {
    uint32_t slots[GROUP_MOST_OPERANDS];
    uint32_t slot_count = 0;
    if (!find_slots(grouping, expression, chain->values[k], slots, &slot_count)) {
      return TENON_OK;
    }
    if (slot_count == 0) {
      continue;
    }
    tenon__expression_t* composed = tenon__arena_allocate(grouping->arena, 1, sizeof *composed);
    TENON_TRY_MEMORY(composed != NULL);
    const tenon__composition_t composition = {.consumer = expression,
                                              .slots = slots,
                                              .slot_count = slot_count,
                                              .producer = chain->expressions[k],
                                              .strict = grouping->tuning->options.strict};
    const tenon_status_t status = tenon__expression_compose(
        grouping->tuning->network->pool, &composition, grouping->arena, composed);
    if (status == TENON_ERROR_UNSUPPORTED) {
      return TENON_OK;
    }
    TENON_TRY(status);
    expression = composed;
  }
  for (uint32_t o = 0; o < expression->program.operand_count; ++o) {
    if (expression->program.operands[o].index == chain->source &&
        !tenon__grouping_is_identity(grouping, expression, o)) {
      return TENON_OK;
    }
  }
  const bool small = expression->program.instruction_count <= GROUP_MOST_INSTRUCTIONS &&
                     expression->program.operand_count <= GROUP_MOST_OPERANDS;
  *out_expression = small ? expression : NULL;
  return TENON_OK;
}

/* A milestone: the source is read inside alone, and exactly one value leaves. */
static void note_milestone(chain_t* chain) {
  if (read_outside(chain, chain->source) || chain->milestone_count == EPILOGUE_MOST_MILESTONES) {
    return;
  }
  uint32_t exit = TENON_NONE;
  for (uint32_t k = 0; k < chain->count; ++k) {
    if (read_outside(chain, chain->values[k])) {
      if (exit != TENON_NONE) {
        return;
      }
      exit = k;
    }
  }
  if (exit != TENON_NONE) {
    chain->milestones[chain->milestone_count++] = (milestone_t){
        .node_count = chain->count,
        .exit = chain->values[exit],
        .expression = chain->expressions[exit],
    };
  }
}

static tenon_status_t grow_chain(chain_t* chain) {
  while (chain->count < EPILOGUE_MOST_NODES) {
    uint32_t node = next_reader(chain, chain->source);
    for (uint32_t k = 0; k < chain->count; ++k) {
      const uint32_t other = next_reader(chain, chain->values[k]);
      if (other != TENON_NONE && (node == TENON_NONE || chain->grouping->position[other] <
                                                            chain->grouping->position[node])) {
        node = other;
      }
    }
    const tenon__expression_t* expression = NULL;
    if (node != TENON_NONE) {
      TENON_TRY(compose_node(chain, node, &expression));
    }
    if (expression == NULL) {
      return TENON_OK;
    }
    chain->nodes[chain->count] = node;
    chain->values[chain->count] = chain->grouping->g->nodes[node].outputs[0];
    chain->expressions[chain->count] = expression;
    chain->count += 1;
    note_milestone(chain);
  }
  return TENON_OK;
}

/* Does an operand of the milestone depend on the operator itself, other than through the chain? */
static bool makes_cycle(const chain_t* chain, const milestone_t* milestone) {
  grouping_t* grouping = chain->grouping;
  const group_t* own = &grouping->groups[grouping->group_of[chain->root]];
  tenon__grouping_walk_begin(grouping);
  for (uint32_t o = 0; o < milestone->expression->program.operand_count; ++o) {
    const uint32_t value = milestone->expression->program.operands[o].index;
    if (value != chain->source) {
      tenon__grouping_walk_from(grouping, value);
    }
  }
  return tenon__grouping_walk_meets(grouping, own->nodes, own->node_count);
}

/* The source's operands become the slot's own value. */
static tenon_status_t slot_expression(chain_t* chain, const milestone_t* milestone,
                                      tenon__expression_t* out_expression) {
  tenon__arena_t* arena = chain->grouping->arena;
  TENON_TRY(tenon__expression_normalise(milestone->expression, arena, out_expression));
  tenon_operand_t* operands =
      tenon__arena_copy(arena, out_expression->program.operands,
                        out_expression->program.operand_count * sizeof *operands);
  TENON_TRY_MEMORY(operands != NULL);
  for (uint32_t o = 0; o < out_expression->program.operand_count; ++o) {
    if (operands[o].index == chain->source) {
      operands[o].kind = TENON_OPERAND_SLOT_VALUE;
    }
  }
  out_expression->program.operands = operands;
  return TENON_OK;
}

static tenon_status_t covered_nodes(chain_t* chain, const milestone_t* milestone,
                                    struct tenon_region_t* inout_region) {
  const uint32_t own = chain->base->node_count;
  uint32_t* covered =
      tenon__arena_allocate(chain->grouping->arena, milestone->node_count + own, sizeof *covered);
  TENON_TRY_MEMORY(covered != NULL);
  memcpy(covered, chain->base->nodes, own * sizeof *covered);
  memcpy(covered + own, chain->nodes, milestone->node_count * sizeof *covered);
  inout_region->covered = covered;
  inout_region->covered_count = milestone->node_count + own;
  return TENON_OK;
}

/* The operator's region with the milestone in its slot, and who computes that; *out_found NULL:
 * no kernel takes it. */
static tenon_status_t offer(chain_t* chain, const milestone_t* milestone,
                            struct tenon_region_t** out_region,
                            const tenon__candidates_t** out_found) {
  tenon__tuning_t* tuning = chain->grouping->tuning;
  tenon__arena_t* arena = chain->grouping->arena;
  tenon__expression_t expression;
  *out_found = NULL;
  TENON_TRY(slot_expression(chain, milestone, &expression));
  const uint32_t slot_count = tenon__candidates_slot_count(tuning, chain->base);
  for (uint32_t slot = 0; slot < slot_count; ++slot) {
    struct tenon_region_t* region = tenon__arena_allocate(arena, 1, sizeof *region);
    TENON_TRY_MEMORY(region != NULL);
    *region = *chain->base;
    TENON_TRY(tenon__region_fill_slot(arena, region, slot, 0, &expression, milestone->exit));
    TENON_TRY(covered_nodes(chain, milestone, region));
    TENON_TRY(tenon__region_finish(arena, tuning->profile, region));
    if (tenon__candidates_any(tuning, region)) {
      *out_region = region;
      return tenon__candidates_find(tuning, region, NULL, out_found);
    }
  }
  return TENON_OK;
}

static tenon__time_t best_time(const tenon__candidates_t* candidates) {
  return candidates->count == 0 ? (tenon__time_t){TENON_FIGURE_NONE, 1e30}
                                : candidates->items[0].time;
}

/* How long the operator takes, then the expressions in one step. */
static tenon_status_t time_apart(chain_t* chain, const milestone_t* milestone,
                                 tenon__time_t* out_time) {
  tenon__tuning_t* tuning = chain->grouping->tuning;
  tenon__arena_t* arena = chain->grouping->arena;
  struct tenon_region_t rest;
  struct tenon_region_t alone = *chain->base;
  const tenon__candidates_t* first = NULL;
  const tenon__candidates_t* second = NULL;
  tenon__expression_t expression;
  TENON_TRY(tenon__expression_normalise(milestone->expression, arena, &expression));
  const tenon__graph_expression_t source = {.expression = &expression,
                                            .values = &milestone->exit,
                                            .covered = chain->nodes,
                                            .covered_count = milestone->node_count};
  TENON_TRY(
      tenon__region_of_expression(arena, tuning->network, chain->grouping->graph, &source, &rest));
  rest.device = chain->base->device;
  TENON_TRY(tenon__region_finish(arena, tuning->profile, &rest));
  TENON_TRY(tenon__candidates_find(tuning, &alone, NULL, &first));
  TENON_TRY(tenon__candidates_find(tuning, &rest, NULL, &second));
  *out_time = tenon__time_sum(best_time(first), best_time(second));
  return TENON_OK;
}

/* Which of the alternatives the longest milestone is. Estimates do not say what a slot costs: only
 * where times are measured is the epilogue's own asked for. */
static tenon_status_t find_epilogue(chain_t* chain, const milestone_t* milestone,
                                    const struct tenon_region_t* region,
                                    const tenon__candidates_t* fused, uint32_t* out_index) {
  grouping_t* grouping = chain->grouping;
  char key[TENON_REGION_KEY_SIZE];
  epilogue_t epilogue = {.fused = fused, .node_count = milestone->node_count, .limit = TENON_NONE};
  tenon__candidates_key(region, NULL, key);
  *out_index = tenon__alternatives_find_epilogue(grouping->alternatives, key);
  if (*out_index != TENON_NONE) {
    return TENON_OK;
  }
  if (!grouping->tuning->options.no_measuring) {
    TENON_TRY(time_apart(chain, milestone, &epilogue.apart));
  }
  return tenon__alternatives_add_epilogue(grouping->alternatives, key, epilogue, out_index);
}

static void take(chain_t* chain, const milestone_t* milestone, struct tenon_region_t* region) {
  grouping_t* grouping = chain->grouping;
  const uint32_t index = grouping->group_of[chain->root];
  group_t* group = &grouping->groups[index];
  group->region = region;
  for (uint32_t k = 0; k < milestone->node_count; ++k) {
    group->nodes[group->node_count++] = chain->nodes[k];
    grouping->group_of[chain->nodes[k]] = index;
    if (grouping->position[chain->nodes[k]] > group->last_position) {
      group->last_position = grouping->position[chain->nodes[k]];
    }
  }
}

/* Was it decided that the operator takes no more than fewer nodes? */
static bool exceeds(const grouping_t* grouping, uint32_t epilogue, uint32_t node_count) {
  return epilogue != TENON_NONE && node_count > grouping->alternatives->epilogues[epilogue].limit;
}

static tenon_status_t make_epilogue(grouping_t* grouping, uint32_t root) {
  chain_t chain = {.grouping = grouping,
                   .root = root,
                   .base = grouping->groups[grouping->group_of[root]].region,
                   .source = grouping->g->nodes[root].outputs[0]};
  if (chain.source == TENON_NONE ||
      grouping->g->values[chain.source].type.kind != TENON_ARGUMENT_TENSOR) {
    return TENON_OK;
  }
  TENON_TRY(grow_chain(&chain));
  uint32_t epilogue = TENON_NONE;
  for (uint32_t m = chain.milestone_count; m-- > 0;) {
    const milestone_t* milestone = &chain.milestones[m];
    const uint32_t node_count = chain.base->node_count + milestone->node_count;
    struct tenon_region_t* region = NULL;
    const tenon__candidates_t* found = NULL;
    if (node_count > GROUP_MOST_NODES || exceeds(grouping, epilogue, milestone->node_count) ||
        makes_cycle(&chain, milestone)) {
      continue;
    }
    TENON_TRY(offer(&chain, milestone, &region, &found));
    if (found != NULL && found->count == 0) {
      TENON_TRY(tenon__grouping_note(grouping, root, node_count,
                                     found->refusals == NULL ? "" : found->refusals));
    }
    if (found == NULL || found->count == 0) {
      continue;
    }
    if (epilogue == TENON_NONE) {
      TENON_TRY(find_epilogue(&chain, milestone, region, found, &epilogue));
      grouping->groups[grouping->group_of[root]].epilogue = epilogue;
    }
    if (!exceeds(grouping, epilogue, milestone->node_count)) {
      take(&chain, milestone, region);
      return TENON_OK;
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__epilogues_make(grouping_t* grouping) {
  for (uint32_t p = 0; p < grouping->order_count; ++p) {
    const uint32_t node = grouping->order[p];
    const uint32_t index = grouping->group_of[node];
    if (index == TENON_NONE || grouping->groups[index].kind != TENON_UNIT_REGION ||
        grouping->groups[index].region == NULL || grouping->groups[index].nodes[0] != node ||
        grouping->groups[index].region->output_count == 0 ||
        grouping->groups[index].region->outputs[0].value != grouping->g->nodes[node].outputs[0] ||
        grouping->groups[index].region->slot_count > 0 ||
        grouping->groups[index].region->kind != TENON_REGION_OPERATOR) {
      continue;
    }
    TENON_TRY(make_epilogue(grouping, node));
  }
  return TENON_OK;
}
