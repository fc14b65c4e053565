/*
 * Epilogues. Behind each operator's node the expression nodes that lead from its first output to
 * few values that others read ("milestones" on the way) are composed into programs and offered to
 * the kernels' slots: to one single value in the epilogue, to more where kernels have sides. The
 * longest milestone that a kernel takes goes in, unless it was decided otherwise for all operators
 * with such an epilogue.
 */
#include "core/fusion/epilogues.h"

#include "core/base/status.h"
#include "core/fusion/fusions.h"

enum { EPILOGUE_MOST_NODES = 16, EPILOGUE_MOST_MILESTONES = 8, EPILOGUE_MOST_SIDES = 2 };

/* The first so many of a chain's nodes, and which of their values others read. Where the operator's
 * own value is read too it stays output 0, and all exits go through sides; else the last takes its
 * place. */
typedef struct milestone_t {
  uint32_t node_count;
  bool keeps_source;
  uint32_t exit_count;
  uint32_t exits[EPILOGUE_MOST_SIDES + 1]; /* of the chain's values */
} milestone_t;

typedef struct chain_t {
  grouping_t* grouping;
  uint32_t root;                     /* node */
  const struct tenon_region_t* base; /* the operator's, or several nodes' whose last is the root */
  uint32_t source;                   /* its output 0 */
  uint64_t epilogues;                /* numbers of slots that kernels have, as bits */
  uint64_t sides;
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

/* Composes a node's expression with those of the chain that it reads. NULL when it does not fit. */
static tenon_status_t compose_node(chain_t* chain, uint32_t node,
                                   const tenon__expression_t** out_expression) {
  grouping_t* grouping = chain->grouping;
  const tenon__expression_t* expression = NULL;
  uint32_t operands[GROUP_MOST_OPERANDS];
  uint32_t count = 0;
  *out_expression = NULL;
  TENON_TRY(tenon__grouping_expression(grouping, node, &expression));
  if (expression == NULL || expression->program.output_count != 1 ||
      !tenon__expression_same_space(grouping, expression, chain->source) ||
      tenon__expression_reduces(expression)) {
    return TENON_OK;
  }
  for (uint32_t k = 0; k < chain->count; ++k) {
    if (!tenon__fusion_operands(grouping, expression, chain->values[k], operands, &count)) {
      return TENON_OK;
    }
    if (count > 0) {
      TENON_TRY(tenon__fusion_compose(grouping, expression, operands, count, chain->expressions[k],
                                      &expression));
    }
    if (expression == NULL) {
      return TENON_OK;
    }
  }
  const bool fits = tenon__fusion_operands(grouping, expression, chain->source, operands, &count) &&
                    tenon__fusion_is_small(expression);
  *out_expression = fits ? expression : NULL;
  return TENON_OK;
}

/* Noted where there are slots for all that leaves. */
static void note_milestone(chain_t* chain) {
  milestone_t milestone = {.node_count = chain->count,
                           .keeps_source = read_outside(chain, chain->source)};
  const uint32_t sides = (uint32_t)__builtin_popcountll(chain->sides);
  const uint32_t most_sides = sides < EPILOGUE_MOST_SIDES ? sides : EPILOGUE_MOST_SIDES;
  const uint32_t most = most_sides + (milestone.keeps_source || chain->epilogues == 0 ? 0u : 1u);
  if (chain->milestone_count == EPILOGUE_MOST_MILESTONES ||
      (!milestone.keeps_source && chain->epilogues == 0)) {
    return;
  }
  for (uint32_t k = 0; k < chain->count; ++k) {
    if (!read_outside(chain, chain->values[k])) {
      continue;
    }
    if (milestone.exit_count == most) {
      return;
    }
    milestone.exits[milestone.exit_count++] = k;
  }
  if (milestone.exit_count > 0) {
    chain->milestones[chain->milestone_count++] = milestone;
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
  for (uint32_t k = 0; k < milestone->exit_count; ++k) {
    const tenon_program_t* program = &chain->expressions[milestone->exits[k]]->program;
    for (uint32_t o = 0; o < program->operand_count; ++o) {
      if (program->operands[o].index != chain->source) {
        tenon__grouping_walk_from(grouping, program->operands[o].index);
      }
    }
  }
  return tenon__grouping_walk_meets(grouping, own->nodes, own->node_count);
}

/* The lowest number that is not below `from`; 64: none. */
static uint32_t next_number(uint64_t numbers, uint32_t from) {
  while (from < 64 && (numbers >> from & 1u) == 0) {
    ++from;
  }
  return from;
}

/* Which exit goes into which slot: the last into the epilogue, the others into sides from this
 * number on. False when there are not so many. */
static bool number_slots(const chain_t* chain, const milestone_t* milestone, uint32_t epilogue,
                         uint32_t side, tenon__slot_filling_t* fillings) {
  const uint32_t side_count = milestone->exit_count - (milestone->keeps_source ? 0u : 1u);
  for (uint32_t k = 0; k < milestone->exit_count; ++k) {
    fillings[k].kind = k < side_count ? TENON_SLOT_SIDE : TENON_SLOT_EPILOGUE;
    fillings[k].slot = epilogue;
    fillings[k].value = chain->values[milestone->exits[k]];
    if (k < side_count) {
      side = next_number(chain->sides, side);
      fillings[k].slot = side++;
    }
    if (fillings[k].slot >= 64) {
      return false;
    }
  }
  return true;
}

/* The slots of every kernel, one after the other, until one takes the milestone: *out_found is NULL
 * where none does. */
static tenon_status_t offer(chain_t* chain, const milestone_t* milestone, fusing_t* fusing,
                            struct tenon_region_t** out_region,
                            const tenon__candidates_t** out_found) {
  tenon__slot_filling_t* fillings =
      tenon__arena_allocate(chain->grouping->arena, milestone->exit_count, sizeof *fillings);
  tenon__expression_t* expressions =
      tenon__arena_allocate(chain->grouping->arena, milestone->exit_count, sizeof *expressions);
  TENON_TRY_MEMORY(fillings != NULL && expressions != NULL);
  for (uint32_t k = 0; k < milestone->exit_count; ++k) {
    TENON_TRY(tenon__fusion_slot_expression(
        chain->grouping, chain->expressions[milestone->exits[k]], chain->source, &expressions[k]));
    fillings[k].expression = &expressions[k];
  }
  fusing->fillings = fillings;
  fusing->filling_count = milestone->exit_count;
  const bool has_sides = milestone->keeps_source || milestone->exit_count > 1;
  *out_found = NULL;
  uint32_t epilogue = milestone->keeps_source ? 0 : next_number(chain->epilogues, 0);
  while (epilogue < 64) {
    uint32_t side = has_sides ? next_number(chain->sides, 0) : 0;
    while (side < 64 && number_slots(chain, milestone, epilogue, side, fillings)) {
      TENON_TRY(tenon__fusion_offer(fusing, out_region, out_found));
      if (*out_found != NULL || fusing->expects) {
        return TENON_OK;
      }
      side = has_sides ? next_number(chain->sides, side + 1) : 64;
    }
    epilogue = milestone->keeps_source ? 64 : next_number(chain->epilogues, epilogue + 1);
  }
  return TENON_OK;
}

static fusing_t begin_fusing(const chain_t* chain, const milestone_t* milestone) {
  return (fusing_t){.grouping = chain->grouping,
                    .root = chain->root,
                    .base = chain->base,
                    .nodes = chain->nodes,
                    .node_count = milestone->node_count};
}

/* Begins what will be compiled for the longest, if that is what is asked about first. */
static tenon_status_t expect_longest(chain_t* chain) {
  for (uint32_t m = chain->milestone_count; m-- > 0;) {
    const milestone_t* milestone = &chain->milestones[m];
    fusing_t fusing = begin_fusing(chain, milestone);
    struct tenon_region_t* region = NULL;
    const tenon__candidates_t* found = NULL;
    if (chain->base->node_count + milestone->node_count <= GROUP_MOST_NODES &&
        !makes_cycle(chain, milestone)) {
      fusing.expects = true;
      return offer(chain, milestone, &fusing, &region, &found);
    }
  }
  return TENON_OK;
}

/* Takes the longest that is taken and was not decided against. */
static tenon_status_t take_longest(chain_t* chain) {
  grouping_t* grouping = chain->grouping;
  uint32_t fusion = TENON_NONE;
  for (uint32_t m = chain->milestone_count; m-- > 0;) {
    const milestone_t* milestone = &chain->milestones[m];
    const uint32_t node_count = chain->base->node_count + milestone->node_count;
    const uint32_t last = milestone->exits[milestone->exit_count - 1];
    const fusion_rest_t rest = {chain->expressions[last], chain->values[last]};
    fusing_t fusing = begin_fusing(chain, milestone);
    struct tenon_region_t* region = NULL;
    const tenon__candidates_t* found = NULL;
    if (node_count > GROUP_MOST_NODES ||
        tenon__fusion_exceeds(grouping, fusion, milestone->node_count) ||
        makes_cycle(chain, milestone)) {
      continue;
    }
    TENON_TRY(offer(chain, milestone, &fusing, &region, &found));
    if (found != NULL && found->count == 0) {
      TENON_TRY(tenon__grouping_note(grouping, chain->root, node_count,
                                     found->refusals == NULL ? "" : found->refusals));
    }
    if (found == NULL || found->count == 0) {
      continue;
    }
    if (fusion == TENON_NONE) {
      TENON_TRY(tenon__fusion_find(&fusing, region, found, &rest, &fusion));
    }
    if (!tenon__fusion_exceeds(grouping, fusion, milestone->node_count)) {
      tenon__fusion_take(&fusing, region);
      return TENON_OK;
    }
  }
  return TENON_OK;
}

/* The plan tells plugin authors why arithmetic after a closed operator is a step of its own. */
static tenon_status_t note_barrier(const chain_t* chain) {
  const tenon__node_t* root = &chain->grouping->g->nodes[chain->root];
  const uint32_t reader = next_reader(chain, chain->source);
  if (reader == TENON_NONE || root->op == NULL || root->expression != NULL ||
      chain->base->node_count > 1 || !chain->grouping->tuning->options.keep_refusals) {
    return TENON_OK;
  }
  const char* line = tenon__arena_format(
      chain->grouping->arena,
      "a barrier: no kernel of %s has a slot for '%s'; an epilogue slot in a kernel, or an "
      "expression in the operator's cases, removes it\n",
      root->op->name, chain->grouping->g->nodes[reader].name);
  TENON_TRY_MEMORY(line != NULL);
  return tenon__grouping_note(chain->grouping, chain->root, 2, line);
}

static tenon_status_t make_epilogue(grouping_t* grouping, uint32_t root, bool expects) {
  chain_t chain = {.grouping = grouping,
                   .root = root,
                   .base = grouping->groups[grouping->group_of[root]].region,
                   .source = grouping->g->nodes[root].outputs[0]};
  if (chain.source == TENON_NONE ||
      grouping->g->values[chain.source].type.kind != TENON_ARGUMENT_TENSOR) {
    return TENON_OK;
  }
  const tenon__slot_numbers_t* slots = tenon__fusion_slots(grouping, root);
  chain.epilogues = slots->epilogues;
  chain.sides = chain.base->node_count == 1 ? slots->sides : 0;
  if (chain.epilogues == 0 && chain.sides == 0) {
    return expects ? TENON_OK : note_barrier(&chain);
  }
  TENON_TRY(grow_chain(&chain));
  return expects ? expect_longest(&chain) : take_longest(&chain);
}

static tenon_status_t for_operators(grouping_t* grouping, bool expects) {
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
    TENON_TRY(make_epilogue(grouping, node, expects));
  }
  return TENON_OK;
}

/* All that takes long is begun before the first is waited for. */
tenon_status_t tenon__epilogues_make(grouping_t* grouping) {
  if (!grouping->has_expected && grouping->tuning->device_count > 1 &&
      tenon__tuning_may_measure(grouping->tuning)) {
    grouping->has_expected = true;
    TENON_TRY(for_operators(grouping, true));
  }
  return for_operators(grouping, false);
}
