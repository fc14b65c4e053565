/* Common parts of epilogues and prologues: the program for a slot, the region with this program,
 * its candidates, and the comparison with separate steps. */
#include "core/fusion/fusions.h"

#include <string.h>

#include "core/base/status.h"
#include "core/program/compose.h"
#include "core/program/normalise.h"
#include "core/region/region_finish.h"

const tenon__slot_numbers_t* tenon__fusion_slots(grouping_t* grouping, uint32_t root) {
  fusion_slots_t* slots = &grouping->slots[root];
  if (!slots->is_known) {
    slots->numbers = tenon__candidates_slots(grouping->tuning,
                                             grouping->groups[grouping->group_of[root]].region);
    slots->is_known = true;
  }
  return &slots->numbers;
}

/* ---- Programs ---- */

bool tenon__fusion_operands(grouping_t* grouping, const tenon__expression_t* expression,
                            uint32_t value, uint32_t operands[GROUP_MOST_OPERANDS],
                            uint32_t* out_count) {
  *out_count = 0;
  for (uint32_t o = 0; o < expression->program.operand_count; ++o) {
    if (expression->program.operands[o].index != value) {
      continue;
    }
    if (*out_count == GROUP_MOST_OPERANDS ||
        !tenon__grouping_is_identity(grouping, expression, o)) {
      return false;
    }
    operands[(*out_count)++] = o;
  }
  return true;
}

tenon_status_t tenon__fusion_compose(grouping_t* grouping, const tenon__expression_t* consumer,
                                     const uint32_t* operands, uint32_t operand_count,
                                     const tenon__expression_t* producer,
                                     const tenon__expression_t** out_expression) {
  tenon__expression_t* composed = tenon__arena_allocate(grouping->arena, 1, sizeof *composed);
  *out_expression = NULL;
  TENON_TRY_MEMORY(composed != NULL);
  const tenon__composition_t composition = {.consumer = consumer,
                                            .slots = operands,
                                            .slot_count = operand_count,
                                            .producer = producer,
                                            .strict = grouping->tuning->options.strict};
  const tenon_status_t status = tenon__expression_compose(grouping->tuning->network->pool,
                                                          &composition, grouping->arena, composed);
  if (status == TENON_ERROR_UNSUPPORTED) {
    return TENON_OK;
  }
  TENON_TRY(status);
  *out_expression = composed;
  return TENON_OK;
}

bool tenon__fusion_is_small(const tenon__expression_t* expression) {
  return expression->program.instruction_count <= GROUP_MOST_INSTRUCTIONS &&
         expression->program.operand_count <= GROUP_MOST_OPERANDS;
}

tenon_status_t tenon__fusion_slot_expression(grouping_t* grouping,
                                             const tenon__expression_t* expression, uint32_t value,
                                             tenon__expression_t* out_expression) {
  tenon__arena_t* arena = grouping->arena;
  TENON_TRY(tenon__expression_normalise(expression, arena, out_expression));
  tenon_operand_t* operands =
      tenon__arena_copy(arena, out_expression->program.operands,
                        out_expression->program.operand_count * sizeof *operands);
  TENON_TRY_MEMORY(operands != NULL);
  for (uint32_t o = 0; o < out_expression->program.operand_count; ++o) {
    if (operands[o].index == value && tenon__grouping_is_identity(grouping, out_expression, o)) {
      operands[o].kind = TENON_OPERAND_SLOT_VALUE;
    }
  }
  out_expression->program.operands = operands;
  return TENON_OK;
}

/* ---- The region ---- */

static tenon_status_t cover_nodes(const fusing_t* f, struct tenon_region_t* inout_region) {
  const uint32_t own = f->base->covered_count;
  uint32_t* covered =
      tenon__arena_allocate(f->grouping->arena, f->node_count + own, sizeof *covered);
  TENON_TRY_MEMORY(covered != NULL);
  memcpy(covered, f->base->covered, own * sizeof *covered);
  memcpy(covered + own, f->nodes, f->node_count * sizeof *covered);
  inout_region->covered = covered;
  inout_region->covered_count = f->node_count + own;
  return TENON_OK;
}

tenon_status_t tenon__fusion_offer(const fusing_t* f, struct tenon_region_t** out_region,
                                   const tenon__candidates_t** out_found) {
  tenon__tuning_t* tuning = f->grouping->tuning;
  tenon__arena_t* arena = f->grouping->arena;
  struct tenon_region_t* region = tenon__arena_allocate(arena, 1, sizeof *region);
  *out_found = NULL;
  TENON_TRY_MEMORY(region != NULL);
  *region = *f->base;
  for (uint32_t k = 0; k < f->filling_count; ++k) {
    TENON_TRY(tenon__region_fill_slot(arena, region, &f->fillings[k]));
  }
  TENON_TRY(cover_nodes(f, region));
  TENON_TRY(tenon__region_finish(arena, tuning->profile, region));
  *out_region = region;
  if (f->expects) {
    return tenon__candidates_expect(tuning, region);
  }
  return tenon__candidates_any(tuning, region)
             ? tenon__candidates_find(tuning, region, NULL, out_found)
             : TENON_OK;
}

/* ---- Decisions ---- */

static tenon__time_t best_time(const tenon__candidates_t* candidates) {
  return candidates->count == 0 ? (tenon__time_t){TENON_FIGURE_NONE, 1e30}
                                : candidates->items[0].time;
}

/* How long the base takes, then the rest in one step. */
static tenon_status_t time_apart(const fusing_t* f, const fusion_rest_t* rest,
                                 tenon__time_t* out_time) {
  tenon__tuning_t* tuning = f->grouping->tuning;
  tenon__arena_t* arena = f->grouping->arena;
  struct tenon_region_t step;
  struct tenon_region_t alone = *f->base;
  const tenon__candidates_t* first = NULL;
  const tenon__candidates_t* second = NULL;
  tenon__expression_t expression;
  TENON_TRY(tenon__expression_normalise(rest->expression, arena, &expression));
  const tenon__graph_expression_t source = {.expression = &expression,
                                            .values = &rest->value,
                                            .covered = f->nodes,
                                            .covered_count = f->node_count};
  TENON_TRY(
      tenon__region_of_expression(arena, tuning->network, f->grouping->graph, &source, &step));
  step.device = f->base->device;
  TENON_TRY(tenon__region_finish(arena, tuning->profile, &step));
  TENON_TRY(tenon__candidates_find(tuning, &alone, NULL, &first));
  TENON_TRY(tenon__candidates_find(tuning, &step, NULL, &second));
  *out_time = tenon__time_sum(best_time(first), best_time(second));
  return TENON_OK;
}

/* Where one begins. Without measuring nothing is decided later: what has to prove that it pays goes
 * in where it is estimated to, or where nobody knows any time and fewer steps are better. */
static tenon_status_t judge(const fusing_t* f, const fusion_rest_t* rest, fusion_t* inout_fusion) {
  const bool measures = !f->grouping->tuning->options.no_measuring;
  const tenon__time_t fused = inout_fusion->fused->items[0].time;
  inout_fusion->first_limit = TENON_NONE;
  if (measures || f->has_to_prove) {
    TENON_TRY(time_apart(f, rest, &inout_fusion->apart));
  }
  if (f->has_to_prove) {
    const tenon__time_t apart = inout_fusion->apart;
    const bool pays = fused.figure == apart.figure &&
                      (fused.figure == TENON_FIGURE_NONE || fused.seconds <= apart.seconds);
    inout_fusion->first_limit = !measures && pays ? TENON_NONE : 0;
  }
  inout_fusion->limit = inout_fusion->first_limit;
  return TENON_OK;
}

tenon_status_t tenon__fusion_find(const fusing_t* f, const struct tenon_region_t* region,
                                  const tenon__candidates_t* fused, const fusion_rest_t* rest,
                                  uint32_t* out_index) {
  alternatives_t* alternatives = f->grouping->alternatives;
  group_t* group = &f->grouping->groups[f->grouping->group_of[f->root]];
  char key[TENON_REGION_KEY_SIZE];
  fusion_t fusion = {
      .fused = fused, .base_count = f->base->covered_count, .node_count = f->node_count};
  tenon__candidates_key(region, NULL, key);
  *out_index = tenon__alternatives_find_fusion(alternatives, key);
  if (*out_index == TENON_NONE) {
    TENON_TRY(judge(f, rest, &fusion));
    TENON_TRY(tenon__alternatives_add_fusion(alternatives, key, fusion, out_index));
  }
  if (group->fusions.count < TENON_UNIT_MOST_FUSIONS) {
    group->fusions.items[group->fusions.count++] = *out_index;
  }
  return TENON_OK;
}

bool tenon__fusion_exceeds(const grouping_t* grouping, uint32_t fusion, uint32_t node_count) {
  return fusion != TENON_NONE && node_count > grouping->alternatives->fusions[fusion].limit;
}

void tenon__fusion_take(const fusing_t* f, struct tenon_region_t* region) {
  grouping_t* grouping = f->grouping;
  const uint32_t index = grouping->group_of[f->root];
  group_t* group = &grouping->groups[index];
  group->region = region;
  group->candidates = NULL; /* a claim's were those of less */
  for (uint32_t k = 0; k < f->node_count; ++k) {
    group->nodes[group->node_count++] = f->nodes[k];
    grouping->group_of[f->nodes[k]] = index;
    if (grouping->position[f->nodes[k]] > group->last_position) {
      group->last_position = grouping->position[f->nodes[k]];
    }
  }
  tenon__grouping_span(grouping, group);
}
