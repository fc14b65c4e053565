/*
 * Claims: several operators' nodes that one kernel would compute at once, because its pattern
 * matches them or because it proposes them. A claim competes, measured, with its nodes on their
 * own; where claims overlap, those are taken that save the most together.
 */
#include "core/tactics/claims.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/call.h"
#include "core/base/status.h"
#include "core/network/match.h"

enum { MOST_KERNELS = 64, MOST_CLAIMS = 4096 };

static bool read_outside(const void* user, const tenon__match_t* match, uint32_t value) {
  const grouping_t* grouping = user;
  if (grouping->leaves[value]) {
    return true;
  }
  for (uint32_t k = grouping->uses.use_begin[value]; k < grouping->uses.use_begin[value + 1]; ++k) {
    if (!tenon__match_holds(match, grouping->uses.uses[k])) {
      return true;
    }
  }
  return false;
}

/* Operators that nobody else has taken: of their own group, or expressions not yet in one. */
static bool is_free(const grouping_t* grouping, uint32_t node) {
  const tenon__node_t* n = &grouping->g->nodes[node];
  const uint32_t index = grouping->group_of[node];
  if (!n->alive || n->op == NULL || n->body_count > 0) {
    return false;
  }
  return index == TENON_NONE
             ? n->expression != NULL || n->maps != NULL
             : grouping->groups[index].alive && grouping->groups[index].node_count == 1 &&
                   grouping->groups[index].kind != TENON_UNIT_CONTENTS &&
                   grouping->groups[index].kind != TENON_UNIT_CONTROL;
}

static bool any_needed(const grouping_t* grouping, uint32_t node) {
  const tenon__node_t* n = &grouping->g->nodes[node];
  for (uint32_t k = 0; k < n->output_count; ++k) {
    if (n->outputs[k] != TENON_NONE && grouping->needed[n->outputs[k]]) {
      return true;
    }
  }
  return false;
}

/* ---- What the nodes cost on their own ---- */

static tenon_status_t time_of_expression(grouping_t* grouping, uint32_t node,
                                         tenon__time_t* out_time) {
  tenon__tuning_t* tuning = grouping->tuning;
  const tenon__node_t* n = &grouping->g->nodes[node];
  const tenon__expression_t* expression = NULL;
  *out_time = (tenon__time_t){TENON_FIGURE_MEASURED, 0};
  if (n->expression == NULL) {
    return TENON_OK; /* a move: a view, or joined with what reads it */
  }
  TENON_TRY(tenon__grouping_expression(grouping, node, &expression));
  struct tenon_region_t* region = tenon__arena_allocate(tuning->arena, 1, sizeof *region);
  tenon__expression_t normal;
  if (region == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  TENON_TRY(tenon__expression_normalise(expression, tuning->arena, &normal));
  TENON_TRY(tenon__region_of_expression(tuning->arena, tuning->network, grouping->graph, &normal,
                                        n->outputs, &node, 1, region));
  return tenon__region_time(tuning, region, out_time);
}

static tenon_status_t time_of_node(grouping_t* grouping, uint32_t node, tenon__time_t* out_time) {
  const uint32_t index = grouping->group_of[node];
  return index != TENON_NONE && grouping->groups[index].region != NULL
             ? tenon__region_time(grouping->tuning, grouping->groups[index].region, out_time)
             : time_of_expression(grouping, node, out_time);
}

static tenon_status_t time_apart(grouping_t* grouping, const claim_t* claim,
                                 tenon__time_t* out_time) {
  *out_time = (tenon__time_t){TENON_FIGURE_MEASURED, 0};
  for (uint32_t k = 0; k < claim->node_count; ++k) {
    tenon__time_t time;
    TENON_TRY(time_of_node(grouping, claim->nodes[k], &time));
    *out_time = tenon__time_sum(*out_time, time);
  }
  return TENON_OK;
}

/* ---- Finding claims ---- */

/* Adds a claim whose kernel accepts the region and is not slower. */
static tenon_status_t add_claim(claims_t* claims, const tenon__kernel_entry_t* entry,
                                claim_t* claim) {
  tenon__tuning_t* tuning = claims->grouping->tuning;
  const tenon__candidates_t* found = NULL;
  if (claims->count == MOST_CLAIMS) {
    return TENON_OK;
  }
  claim->entry = entry;
  claim->region->claimant = entry;
  TENON_TRY(tenon__region_finish(tuning->arena, tuning->profile, claim->region));
  TENON_TRY(tenon__candidates_find(tuning, claim->region, &found));
  covering_t covering = claim_covering(claim);
  if (found->count == 0) {
    return tenon__grouping_note(claims->grouping, &covering, found->refusals);
  }
  claim->together = found->items[0].time;
  TENON_TRY(time_apart(claims->grouping, claim, &claim->apart));
  covering = claim_covering(claim);
  if (!covering_pays(&covering)) {
    return tenon__grouping_note(claims->grouping, &covering, NULL);
  }
  if (claim->together.figure == claim->apart.figure) {
    claim->saved_seconds = claim->apart.seconds * 1.05 - claim->together.seconds;
  }
  if (!tenon__grow(tuning->allocator, (void**)&claims->items, &claims->capacity, claims->count + 1u,
                   sizeof *claims->items)) {
    return tenon__fail_memory(tuning->sink);
  }
  claims->items[claims->count++] = *claim;
  return TENON_OK;
}

static tenon_status_t match_at(claims_t* claims, const tenon__kernel_entry_t* entry,
                               const tenon__calls_t* pattern, uint32_t root) {
  grouping_t* grouping = claims->grouping;
  const tenon__match_uses_t uses = {read_outside, grouping};
  tenon__match_t match;
  if (!is_free(grouping, root) || !any_needed(grouping, root) ||
      !tenon__match_pattern(grouping->tuning->network, &uses, pattern, grouping->graph, root,
                            &grouping->scratch, &match) ||
      match.node_count > GROUP_MOST_NODES) {
    return TENON_OK;
  }
  claim_t claim = {.node_count = match.node_count};
  tenon__match_nodes(&match, claim.nodes);
  for (uint32_t k = 0; k < claim.node_count; ++k) {
    if (!is_free(grouping, claim.nodes[k])) {
      return TENON_OK;
    }
  }
  claim.region = tenon__arena_allocate(grouping->tuning->arena, 1, sizeof *claim.region);
  if (claim.region == NULL) {
    return tenon__fail_memory(grouping->tuning->sink);
  }
  TENON_TRY(tenon__region_of_nodes(grouping->tuning->arena, grouping->tuning->network,
                                   grouping->graph, claim.nodes, claim.node_count, match.inputs,
                                   match.input_count, &match.result, 1, claim.region));
  return add_claim(claims, entry, &claim);
}

static tenon_status_t match_everywhere(claims_t* claims, const tenon__kernel_entry_t* entry) {
  grouping_t* grouping = claims->grouping;
  tenon__calls_t pattern;
  tenon_status_t status = tenon__calls_parse(&grouping->scratch, entry->kernel.pattern,
                                             grouping->tuning->sink, &pattern);
  if (status != TENON_OK || pattern.statement_count == 0) {
    return TENON_OK; /* it was reported; the others go on */
  }
  const char* last = pattern.statements[pattern.statement_count - 1].op;
  for (uint32_t p = 0; p < grouping->order_count && status == TENON_OK; ++p) {
    const tenon__node_t* node = &grouping->g->nodes[grouping->order[p]];
    if (node->op != NULL && strcmp(node->op->name, last) == 0) {
      status = match_at(claims, entry, &pattern, grouping->order[p]);
    }
  }
  return status;
}

/* ---- Proposals ---- */

static bool is_output_of(const grouping_t* grouping, const claim_t* claim, uint32_t value) {
  if (grouping->leaves[value]) {
    return true;
  }
  for (uint32_t k = grouping->uses.use_begin[value]; k < grouping->uses.use_begin[value + 1]; ++k) {
    if (!claim_holds(claim, grouping->uses.uses[k])) {
      return true;
    }
  }
  return false;
}

/* The region of nodes that are not a pattern's: what they read from outside, and what others read
 * of theirs. NULL when that is too much, or nothing. */
static tenon_status_t region_around(claims_t* claims, claim_t* claim) {
  grouping_t* grouping = claims->grouping;
  uint32_t inputs[TENON_REGION_MOST_PROPOSED];
  uint32_t outputs[TENON_REGION_MOST_PROPOSED];
  uint32_t input_count = 0;
  uint32_t output_count = 0;
  claim->region = NULL;
  if (!tenon__region_reads(grouping->g, claim->nodes, claim->node_count, inputs, &input_count)) {
    return TENON_OK;
  }
  for (uint32_t n = 0; n < claim->node_count; ++n) {
    const tenon__node_t* node = &grouping->g->nodes[claim->nodes[n]];
    for (uint32_t k = 0; k < node->output_count; ++k) {
      if (node->outputs[k] == TENON_NONE || !is_output_of(grouping, claim, node->outputs[k])) {
        continue;
      }
      if (output_count == TENON_REGION_MOST_PROPOSED) {
        return TENON_OK;
      }
      outputs[output_count++] = node->outputs[k];
    }
  }
  if (output_count == 0) {
    return TENON_OK;
  }
  claim->region = tenon__arena_allocate(grouping->tuning->arena, 1, sizeof *claim->region);
  return claim->region == NULL
             ? tenon__fail_memory(grouping->tuning->sink)
             : tenon__region_of_nodes(grouping->tuning->arena, grouping->tuning->network,
                                      grouping->graph, claim->nodes, claim->node_count, inputs,
                                      input_count, outputs, output_count, claim->region);
}

/* The whole graph as a region, whose node numbers the kernel gives back. */
static tenon_status_t describe_graph(claims_t* claims) {
  grouping_t* grouping = claims->grouping;
  tenon__tuning_t* tuning = grouping->tuning;
  const tenon__graph_t* g = grouping->g;
  uint32_t* nodes =
      tenon__arena_allocate(&grouping->scratch, grouping->order_count + 1u, sizeof *nodes);
  uint32_t count = 0;
  if (nodes == NULL) {
    return tenon__fail_memory(tuning->sink);
  }
  for (uint32_t p = 0; p < grouping->order_count; ++p) {
    if (g->nodes[grouping->order[p]].op != NULL) {
      nodes[count++] = grouping->order[p];
    }
  }
  claims->whole = tenon__arena_allocate(tuning->arena, 1, sizeof *claims->whole);
  if (claims->whole == NULL) {
    return tenon__fail_memory(tuning->sink);
  }
  TENON_TRY(tenon__region_of_nodes(tuning->arena, tuning->network, grouping->graph, nodes, count,
                                   g->inputs, g->input_count, g->outputs, g->output_count,
                                   claims->whole));
  return tenon__region_finish(tuning->arena, tuning->profile, claims->whole);
}

static tenon_status_t ask_at(claims_t* claims, const tenon__kernel_entry_t* entry, uint32_t seed) {
  grouping_t* grouping = claims->grouping;
  claim_t claim = {0};
  uint32_t numbers[GROUP_MOST_NODES];
  const tenon__call_t call = {entry->owner->plugin, "propose", entry->kernel.name,
                              grouping->g->nodes[claims->whole->nodes[seed]].name};
  const tenon__call_t* outer = tenon__call_enter(&call);
  const uint32_t count = entry->kernel.propose(
      entry->owner->state, claims->whole, tenon__region_table(), seed, numbers, GROUP_MOST_NODES);
  tenon__call_leave(outer);
  if (count < 2 || count > GROUP_MOST_NODES) {
    return TENON_OK;
  }
  for (uint32_t k = 0; k < count; ++k) {
    if (numbers[k] >= claims->whole->node_count) {
      return tenon__fail(grouping->tuning->sink, TENON_ERROR_INVALID_DATA,
                         "kernel '%s' of plugin '%s' proposes node %u of %u", entry->kernel.name,
                         entry->owner->plugin, numbers[k], claims->whole->node_count);
    }
    const uint32_t node = claims->whole->nodes[numbers[k]];
    if (!is_free(grouping, node) || !any_needed(grouping, node) || claim_holds(&claim, node)) {
      return TENON_OK;
    }
    claim.nodes[claim.node_count++] = node;
  }
  TENON_TRY(region_around(claims, &claim));
  return claim.region == NULL ? TENON_OK : add_claim(claims, entry, &claim);
}

static tenon_status_t ask_everywhere(claims_t* claims, const tenon__kernel_entry_t* entry) {
  tenon_status_t status = claims->whole == NULL ? describe_graph(claims) : TENON_OK;
  const uint32_t count = claims->whole == NULL ? 0 : claims->whole->node_count;
  for (uint32_t k = 0; k < count && status == TENON_OK; ++k) {
    status = ask_at(claims, entry, k);
  }
  return status;
}

tenon_status_t tenon__claims_make(grouping_t* grouping) {
  const tenon__kernel_entry_t* entries[MOST_KERNELS];
  tenon__tuning_t* tuning = grouping->tuning;
  claims_t claims = {.grouping = grouping};
  uint32_t count =
      tenon__catalog_kernels(tuning->catalog, "*", 0, tuning->sink, entries, MOST_KERNELS);
  tenon_status_t status = TENON_OK;
  count = count < MOST_KERNELS ? count : MOST_KERNELS;
  for (uint32_t k = 0; k < count && status == TENON_OK; ++k) {
    if (entries[k]->kernel.device != NULL &&
        strcmp(entries[k]->kernel.device, tuning->device_name) != 0) {
      continue;
    }
    if (entries[k]->kernel.pattern != NULL) {
      status = match_everywhere(&claims, entries[k]);
    }
    if (status == TENON_OK && entries[k]->kernel.propose != NULL) {
      status = ask_everywhere(&claims, entries[k]);
    }
  }
  if (status == TENON_OK) {
    status = tenon__claims_choose(&claims);
  }
  tenon__free(tuning->allocator, claims.items, claims.capacity * sizeof *claims.items);
  return status;
}
