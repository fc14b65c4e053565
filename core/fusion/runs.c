/*
 * Runs of expressions: each expression node takes in the groups of expressions that it reads, where
 * one program over one space can say both and no cycle arises. Values that others read too stay
 * outputs.
 */
#include "core/fusion/runs.h"

#include <string.h>

#include "core/base/status.h"
#include "core/candidate/candidates.h"
#include "core/fusion/grouping.h"
#include "core/fusion/units.h"
#include "core/program/compose.h"
#include "core/program/program_text.h"
#include "core/region/region_finish.h"

enum { CHEAP_COST = 3 };

typedef struct run_t {
  grouping_t* grouping;
  const uint32_t* own; /* of each node: the group that it began with, where that was a run */
  uint32_t index;      /* of its group */
  group_t* group;
  uint32_t apart[GROUP_MOST_NODES]; /* nodes of a group that was taken apart, in its order */
  uint32_t apart_count;
} run_t;

static bool in_group(const grouping_t* grouping, uint32_t node, uint32_t group) {
  return grouping->group_of[node] == group;
}

/* Is the value read by this group alone? */
static bool read_here_alone(const run_t* run, uint32_t value) {
  const grouping_t* grouping = run->grouping;
  if (grouping->leaves[value]) {
    return false;
  }
  const uint32_t* users = tenon__lists_get(&grouping->uses, value);
  for (uint32_t k = 0; k < tenon__lists_count(&grouping->uses, value); ++k) {
    const uint32_t node = users[k];
    const bool counts = grouping->group_of[node] != TENON_NONE || grouping->needed[value];
    if (counts && !in_group(grouping, node, run->index)) {
      return false;
    }
  }
  return true;
}

static double elements_at_optimum(const grouping_t* grouping, const tenon__expression_t* e) {
  double count = 1;
  for (uint32_t k = 0; k < e->program.rank; ++k) {
    int64_t extent = 1;
    (void)tenon__extents_get(&grouping->tuning->profile->optimum, e->space[k], &extent);
    count *= (double)(extent < 1 ? 1 : extent);
  }
  return count;
}

/* Does composing repeat work? Reading at the identity of one space never does. */
static bool is_worth_it(const grouping_t* grouping, const tenon__expression_t* consumer,
                        const tenon__expression_t* producer) {
  if (consumer->program.rank == producer->program.rank &&
      tenon__dims_equal(consumer->space, producer->space, consumer->program.rank)) {
    return true;
  }
  if (tenon__expression_reduces(producer)) {
    return false;
  }
  const double repeats =
      elements_at_optimum(grouping, consumer) / elements_at_optimum(grouping, producer);
  return repeats <= 1.0 || tenon__program_cost(&producer->program) <= CHEAP_COST;
}

/* Does the run, of what it reads beside `value`, need anything that waits for the producer? */
static bool makes_cycle(const run_t* run, uint32_t producer_group, uint32_t value) {
  grouping_t* grouping = run->grouping;
  const group_t* producer = &grouping->groups[producer_group];
  tenon__grouping_walk_begin(grouping);
  for (uint32_t n = 0; n < run->group->node_count; ++n) {
    const tenon__node_t* node = &grouping->g->nodes[run->group->nodes[n]];
    TENON_EACH_INPUT(k, node) {
      const uint32_t input = node->inputs[k];
      const uint32_t maker = grouping->g->values[input].producer;
      if (input != value && maker != TENON_NONE && !in_group(grouping, maker, run->index)) {
        tenon__grouping_walk_from(grouping, input);
      }
    }
  }
  return tenon__grouping_walk_meets(grouping, producer->nodes, producer->node_count);
}

/* Does a kernel, other than the reference, take what the group would be with that expression? */
static tenon_status_t is_taken(grouping_t* grouping, const group_t* group,
                               const tenon__expression_t* expression, bool* out_is_taken) {
  struct tenon_region_t* region = NULL;
  TENON_TRY(tenon__units_expression_region(grouping, expression, group->values, group->nodes,
                                           group->node_count, &region));
  TENON_TRY(tenon__region_finish(grouping->arena, grouping->tuning->profile, region));
  *out_is_taken = tenon__candidates_any(grouping->tuning, region);
  return TENON_OK;
}

/* Kernels take most programs, but not all that reduce: one that reduces along different axes, say.
 * What only the reference would take together stays apart. `group` is as it would be. */
static tenon_status_t stays_apart(const run_t* run, const group_t* from, const group_t* together,
                                  bool* out_apart) {
  bool taken = true;
  *out_apart = false;
  if (!tenon__expression_reduces(from->expression) ||
      !tenon__expression_reduces(run->group->expression)) {
    return TENON_OK;
  }
  TENON_TRY(is_taken(run->grouping, together, together->expression, &taken));
  if (!taken) {
    TENON_TRY(is_taken(run->grouping, run->group, run->group->expression, out_apart));
  }
  return TENON_OK;
}

static void absorb_group(run_t* run, uint32_t producer_group) {
  grouping_t* grouping = run->grouping;
  group_t* from = &grouping->groups[producer_group];
  group_t* to = run->group;
  for (uint32_t k = 0; k < from->node_count; ++k) {
    to->nodes[to->node_count++] = from->nodes[k];
    grouping->group_of[from->nodes[k]] = run->index;
  }
  tenon__grouping_span(grouping, to);
  from->alive = false;
  from->node_count = 0;
}

/* Can the two be one step, as far as their sizes and devices say? */
static bool may_join(const run_t* run, const group_t* from, uint32_t operand) {
  const grouping_t* grouping = run->grouping;
  const tenon__expression_t* mine = run->group->expression;
  const tenon__expression_t* theirs = from->expression;
  return grouping->device_of[from->nodes[0]] == grouping->device_of[run->group->nodes[0]] &&
         mine->program.operands[operand].indexed == 0 &&
         from->node_count + run->group->node_count <= GROUP_MOST_NODES &&
         run->group->value_count < GROUP_MOST_NODES &&
         theirs->program.instruction_count + mine->program.instruction_count <=
             GROUP_MOST_INSTRUCTIONS &&
         theirs->program.operand_count + mine->program.operand_count <= GROUP_MOST_OPERANDS &&
         is_worth_it(grouping, mine, theirs);
}

/* Is all that the group makes read by itself and by this run? */
static bool is_read_here(const run_t* run, uint32_t group) {
  const grouping_t* grouping = run->grouping;
  const group_t* from = &grouping->groups[group];
  for (uint32_t k = 0; k < from->value_count; ++k) {
    const uint32_t value = from->values[k];
    const uint32_t* users = tenon__lists_get(&grouping->uses, value);
    for (uint32_t u = 0; u < tenon__lists_count(&grouping->uses, value); ++u) {
      const uint32_t node = users[u];
      const bool counts = grouping->group_of[node] != TENON_NONE || grouping->needed[value];
      if (counts && !in_group(grouping, node, run->index) && !in_group(grouping, node, group)) {
        return false;
      }
    }
    if (grouping->leaves[value]) {
      return false;
    }
  }
  return true;
}

/* The node alone again, as it began. */
static void start_again(grouping_t* grouping, uint32_t node, uint32_t own) {
  const tenon__node_t* n = &grouping->g->nodes[node];
  group_t* group = &grouping->groups[own];
  *group = (group_t){.alive = true,
                     .kind = TENON_UNIT_REGION,
                     .node_count = 1,
                     .last_position = grouping->position[node],
                     .expression = grouping->expressions[node]};
  group->nodes[0] = node;
  group->value_count = tenon__node_values(n, group->values);
  grouping->group_of[node] = own;
}

/* A group with several values cannot be taken as it is: its nodes are apart again, to be taken one
 * by one from behind. What is not taken then is grouped anew. */
static void take_apart(run_t* run, uint32_t group) {
  grouping_t* grouping = run->grouping;
  uint32_t nodes[GROUP_MOST_NODES];
  const uint32_t count = grouping->groups[group].node_count;
  memcpy(nodes, grouping->groups[group].nodes, count * sizeof *nodes);
  for (uint32_t k = 0; k < count; ++k) {
    start_again(grouping, nodes[k], run->own[nodes[k]]);
    run->apart[run->apart_count++] = nodes[k];
  }
}

/* The operands that are this value; their number. */
static uint32_t slots_of(const tenon__expression_t* expression, uint32_t value,
                         uint32_t out_slots[GROUP_MOST_OPERANDS]) {
  uint32_t count = 0;
  for (uint32_t o = 0; o < expression->program.operand_count; ++o) {
    if (expression->program.operands[o].index == value) {
      out_slots[count++] = o;
    }
  }
  return count;
}

/* Tries to take the group that makes operand `operand`. */
static tenon_status_t try_operand(run_t* run, uint32_t operand, bool may_take_apart,
                                  bool* out_taken) {
  grouping_t* grouping = run->grouping;
  const tenon__expression_t* mine = run->group->expression;
  const uint32_t value = mine->program.operands[operand].index;
  const uint32_t producer = grouping->g->values[value].producer;
  const uint32_t index = producer == TENON_NONE ? TENON_NONE : grouping->group_of[producer];
  *out_taken = false;
  if (index == TENON_NONE || index == run->index || grouping->groups[index].expression == NULL ||
      grouping->sizing[value]) {
    return TENON_OK;
  }
  const group_t* from = &grouping->groups[index];
  const tenon__expression_t* theirs = from->expression;
  if (!may_join(run, from, operand)) {
    return TENON_OK;
  }
  if (from->value_count > 1) {
    *out_taken =
        may_take_apart && run->apart_count == 0 && from->node_count > 1 && is_read_here(run, index);
    if (*out_taken) {
      take_apart(run, index);
    }
    return TENON_OK;
  }
  uint32_t slots[GROUP_MOST_OPERANDS];
  const uint32_t slot_count = slots_of(mine, value, slots);
  const bool keep = !read_here_alone(run, value);
  if (makes_cycle(run, index, value)) {
    return TENON_OK;
  }
  tenon__expression_t* composed = tenon__arena_allocate(grouping->arena, 1, sizeof *composed);
  TENON_TRY_MEMORY(composed != NULL);
  const tenon__composition_t composition = {.consumer = mine,
                                            .slots = slots,
                                            .slot_count = slot_count,
                                            .producer = theirs,
                                            .keep_output = keep,
                                            .strict = grouping->tuning->options.strict};
  const tenon_status_t status = tenon__expression_compose(grouping->tuning->network->pool,
                                                          &composition, grouping->arena, composed);
  if (status != TENON_OK) {
    return status == TENON_ERROR_UNSUPPORTED ? TENON_OK : status;
  }
  group_t together = *run->group;
  bool is_apart = false;
  if (keep) {
    together.values[together.value_count++] = value;
  }
  together.expression = composed;
  TENON_TRY(stays_apart(run, from, &together, &is_apart));
  if (is_apart) {
    return TENON_OK;
  }
  *run->group = together;
  absorb_group(run, index);
  *out_taken = true;
  return TENON_OK;
}

static tenon_status_t make_run(grouping_t* grouping, const uint32_t* own, uint32_t node,
                               bool may_take_apart);

/* Those that were not taken, as they come. */
static tenon_status_t group_anew(const run_t* run) {
  grouping_t* grouping = run->grouping;
  for (uint32_t k = run->apart_count; k-- > 0;) {
    const uint32_t node = run->apart[k];
    if (grouping->group_of[node] == run->own[node] &&
        grouping->groups[run->own[node]].node_count == 1) {
      TENON_TRY(make_run(grouping, run->own, node, false));
    }
  }
  return TENON_OK;
}

static tenon_status_t make_run(grouping_t* grouping, const uint32_t* own, uint32_t node,
                               bool may_take_apart) {
  run_t run = {.grouping = grouping,
               .own = own,
               .index = grouping->group_of[node],
               .group = &grouping->groups[grouping->group_of[node]]};
  bool taken = true;
  while (taken) {
    taken = false;
    for (uint32_t o = 0; o < run.group->expression->program.operand_count && !taken; ++o) {
      TENON_TRY(try_operand(&run, o, may_take_apart, &taken));
    }
  }
  return group_anew(&run);
}

static bool begins_a_run(const grouping_t* grouping, uint32_t node) {
  const uint32_t index = grouping->group_of[node];
  return index != TENON_NONE && grouping->groups[index].expression != NULL &&
         grouping->groups[index].node_count == 1;
}

tenon_status_t tenon__runs_make(grouping_t* grouping) {
  uint32_t* own = tenon__arena_allocate(grouping->arena, grouping->g->node_count + 1u, sizeof *own);
  TENON_TRY_MEMORY(own != NULL);
  for (uint32_t p = 0; p < grouping->order_count; ++p) {
    own[grouping->order[p]] = begins_a_run(grouping, grouping->order[p])
                                  ? grouping->group_of[grouping->order[p]]
                                  : TENON_NONE;
  }
  for (uint32_t p = 0; p < grouping->order_count; ++p) {
    const uint32_t node = grouping->order[p];
    if (begins_a_run(grouping, node) && !grouping->tuning->options.no_fusion) {
      TENON_TRY(make_run(grouping, own, node, true));
    }
  }
  return TENON_OK;
}
