/*
 * Claims: operators' nodes that one kernel would compute at once, because its pattern matches them,
 * because it proposes them, or because it names an operator that needs no kernel.
 */
#include "core/fusion/claims.h"

#include <string.h>

#include "core/base/call.h"
#include "core/base/status.h"
#include "core/catalog/kernel_list.h"
#include "core/fusion/alternatives.h"
#include "core/fusion/view_orders.h"
#include "core/network/match.h"
#include "core/region/region_finish.h"
#include "core/region/region_table.h"

enum { MOST_CLAIMS = 4096 };

typedef struct claims_t {
  grouping_t* grouping;
  struct tenon_region_t* whole; /* the graph, for those who propose */
  uint32_t left;                /* that may still be added */
} claims_t;

static bool read_outside(const void* user, const tenon__match_t* match, uint32_t value) {
  return tenon__grouping_read_outside(user, value, match->nodes, match->node_count);
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

/* ---- Patterns ---- */

/* Are the nodes one device's, and does the claimant run there? */
static bool is_of_one_device(const grouping_t* grouping, const tenon__kernel_entry_t* entry,
                             const uint32_t* nodes, uint32_t node_count) {
  const uint32_t device = grouping->device_of[nodes[0]];
  bool is_one = entry == NULL || tenon__tuning_runs_on(grouping->tuning, entry, device);
  for (uint32_t k = 1; k < node_count && is_one; ++k) {
    is_one = grouping->device_of[nodes[k]] == device;
  }
  return is_one;
}

static tenon_status_t add_claim(claims_t* claims, const tenon__kernel_entry_t* entry,
                                const uint32_t* nodes, uint32_t node_count,
                                struct tenon_region_t* region) {
  grouping_t* grouping = claims->grouping;
  claim_t claim = {.node_count = node_count, .region = region};
  if (claims->left == 0 || !is_of_one_device(grouping, entry, nodes, node_count)) {
    return TENON_OK;
  }
  region->device = grouping->device_of[nodes[0]];
  claims->left -= 1;
  if (claims->left == 0) {
    tenon__report(grouping->tuning->sink, TENON_SEVERITY_WARNING,
                  "of what kernels %s in '%s' the first %d are looked at, and no more",
                  entry == NULL ? "name" : "match or propose", grouping->g->name, MOST_CLAIMS);
  }
  claim.nodes = tenon__arena_copy(grouping->tuning->arena, nodes, node_count * sizeof *nodes);
  return claim.nodes == NULL ? TENON_ERROR_OUT_OF_MEMORY
                             : tenon__alternatives_add_claim(grouping, entry, &claim);
}

static tenon_status_t new_region(grouping_t* grouping, struct tenon_region_t** out_region) {
  *out_region = tenon__arena_allocate(grouping->tuning->arena, 1, sizeof **out_region);
  return *out_region == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

static tenon_status_t match_at(claims_t* claims, const tenon__kernel_entry_t* entry,
                               const tenon__calls_t* pattern, uint32_t root) {
  grouping_t* grouping = claims->grouping;
  const tenon__match_uses_t uses = {read_outside, grouping};
  tenon__match_t match;
  if (!is_free(grouping, root) || !tenon__grouping_is_needed(grouping, &grouping->g->nodes[root]) ||
      !tenon__match_pattern(grouping->tuning->network, &uses, pattern, grouping->graph, root,
                            &grouping->scratch, &match) ||
      match.node_count > GROUP_MOST_NODES) {
    return TENON_OK;
  }
  uint32_t nodes[TENON_MATCH_NAMES];
  tenon__match_nodes(&match, nodes);
  if (grouping->tuning->options.no_fusion && match.node_count > 1) {
    return TENON_OK;
  }
  for (uint32_t k = 0; k < match.node_count; ++k) {
    if (!is_free(grouping, nodes[k])) {
      return TENON_OK;
    }
  }
  struct tenon_region_t* region = NULL;
  TENON_TRY(new_region(grouping, &region));
  const tenon__node_group_t group = {
      nodes, match.node_count, match.inputs, match.input_count, &match.result, 1};
  TENON_TRY(tenon__region_of_nodes(grouping->tuning->arena, grouping->tuning->network,
                                   grouping->graph, &group, region));
  return add_claim(claims, entry, nodes, match.node_count, region);
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

typedef struct proposal_t {
  uint32_t node_count;
  uint32_t nodes[GROUP_MOST_NODES];
} proposal_t;

/* The region of nodes that are not a pattern's: what they read from outside, and what others read
 * of theirs. NULL when that is too much, or nothing. */
static tenon_status_t region_around(grouping_t* grouping, const proposal_t* proposal,
                                    struct tenon_region_t** out_region) {
  uint32_t inputs[TENON_REGION_MOST_PROPOSED];
  uint32_t outputs[TENON_REGION_MOST_PROPOSED];
  uint32_t input_count = 0;
  uint32_t output_count = 0;
  *out_region = NULL;
  if (!tenon__region_reads(grouping->g, proposal->nodes, proposal->node_count, inputs,
                           &input_count)) {
    return TENON_OK;
  }
  for (uint32_t n = 0; n < proposal->node_count; ++n) {
    const tenon__node_t* node = &grouping->g->nodes[proposal->nodes[n]];
    TENON_EACH_OUTPUT(k, node) {
      if (!tenon__grouping_read_outside(grouping, node->outputs[k], proposal->nodes,
                                        proposal->node_count)) {
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
  TENON_TRY(new_region(grouping, out_region));
  const tenon__node_group_t group = {proposal->nodes, proposal->node_count, inputs, input_count,
                                     outputs,         output_count};
  TENON_TRY(tenon__region_of_nodes(grouping->tuning->arena, grouping->tuning->network,
                                   grouping->graph, &group, *out_region));
  return tenon__view_orders_find(grouping->tuning, *out_region);
}

/* The whole graph as a region, whose node numbers the kernel gives back. */
static tenon_status_t describe_graph(claims_t* claims) {
  grouping_t* grouping = claims->grouping;
  tenon__tuning_t* tuning = grouping->tuning;
  const tenon__graph_t* g = grouping->g;
  uint32_t* nodes =
      tenon__arena_allocate(&grouping->scratch, grouping->order_count + 1u, sizeof *nodes);
  uint32_t count = 0;
  TENON_TRY_MEMORY(nodes != NULL);
  for (uint32_t p = 0; p < grouping->order_count; ++p) {
    if (g->nodes[grouping->order[p]].op != NULL) {
      nodes[count++] = grouping->order[p];
    }
  }
  TENON_TRY(new_region(grouping, &claims->whole));
  const tenon__node_group_t group = {nodes,          count,      g->inputs,
                                     g->input_count, g->outputs, g->output_count};
  TENON_TRY(tenon__region_of_nodes(tuning->arena, tuning->network, grouping->graph, &group,
                                   claims->whole));
  return tenon__region_finish(tuning->arena, tuning->profile, claims->whole);
}

static tenon_status_t ask_at(claims_t* claims, const tenon__kernel_entry_t* entry, uint32_t seed) {
  grouping_t* grouping = claims->grouping;
  proposal_t proposal = {0};
  struct tenon_region_t* region = NULL;
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
    if (!is_free(grouping, node) ||
        !tenon__grouping_is_needed(grouping, &grouping->g->nodes[node]) ||
        tenon__list_holds(proposal.nodes, proposal.node_count, node)) {
      return TENON_OK;
    }
    proposal.nodes[proposal.node_count++] = node;
  }
  TENON_TRY(region_around(grouping, &proposal, &region));
  return region == NULL ? TENON_OK
                        : add_claim(claims, entry, proposal.nodes, proposal.node_count, region);
}

static tenon_status_t ask_everywhere(claims_t* claims, const tenon__kernel_entry_t* entry) {
  tenon_status_t status = claims->whole == NULL ? describe_graph(claims) : TENON_OK;
  const struct tenon_region_t* whole = claims->whole;
  tenon_refusal_t refusal;
  const bool is_known =
      whole != NULL && status == TENON_OK &&
      tenon__region_is_known(whole, tenon__known_values_of(entry->owner->built), &refusal);
  const uint32_t count = is_known ? whole->node_count : 0;
  for (uint32_t k = 0; k < count && status == TENON_OK; ++k) {
    status = ask_at(claims, entry, k);
  }
  return status;
}

/* ---- By an operator's name ---- */

/* Does a kernel other than a reference name the operator? */
static tenon_status_t is_named(const tenon__tuning_t* tuning, const char* op, bool* out_named) {
  tenon__kernel_list_t list;
  *out_named = false;
  TENON_TRY(tenon__kernel_list_initialize(tuning->allocator, tuning->catalog, op, 0, tuning->sink,
                                          &list));
  for (uint32_t k = 0; k < list.count && !*out_named; ++k) {
    *out_named = (list.entries[k]->kernel.flags & TENON_KERNEL_REFERENCE) == 0 &&
                 tenon__tuning_runs_somewhere(tuning, list.entries[k]);
  }
  tenon__kernel_list_deinitialize(&list);
  return TENON_OK;
}

static tenon_status_t claim_by_name(claims_t* claims, uint32_t node) {
  grouping_t* grouping = claims->grouping;
  struct tenon_region_t* region = NULL;
  TENON_TRY(new_region(grouping, &region));
  TENON_TRY(tenon__region_of_node(grouping->tuning->arena, grouping->tuning->network,
                                  grouping->graph, node, region));
  return add_claim(claims, NULL, &node, 1, region);
}

/* The answer of is_named, kept in `names`. */
static tenon_status_t find_name(const tenon__tuning_t* tuning, const char* op,
                                tenon__string_map_t* names, bool* out_named) {
  const tenon__map_value_t* known = tenon__string_map_find(names, op);
  if (known != NULL) {
    *out_named = known->number != 0;
    return TENON_OK;
  }
  TENON_TRY(is_named(tuning, op, out_named));
  return tenon__string_map_set(names, op, (tenon__map_value_t){.number = *out_named})
             ? TENON_OK
             : TENON_ERROR_OUT_OF_MEMORY;
}

/* Nodes that an expression or a map would compute, where kernels name their operators. Operators
 * are asked for once each. */
static tenon_status_t find_named(claims_t* claims) {
  grouping_t* grouping = claims->grouping;
  tenon__string_map_t named;
  tenon_status_t status = TENON_OK;
  tenon__string_map_initialize(&named, grouping->tuning->allocator);
  for (uint32_t p = 0; p < grouping->order_count && status == TENON_OK; ++p) {
    const uint32_t node = grouping->order[p];
    const tenon__node_t* n = &grouping->g->nodes[node];
    if (n->op == NULL || (n->expression == NULL && n->maps == NULL) || grouping->by_name[node] ||
        !is_free(grouping, node) ||
        !tenon__grouping_is_needed(grouping, &grouping->g->nodes[node])) {
      continue;
    }
    bool is_it = false;
    status = find_name(grouping->tuning, n->op->name, &named, &is_it);
    if (status == TENON_OK && is_it) {
      status = claim_by_name(claims, node);
    }
  }
  tenon__string_map_deinitialize(&named);
  return status;
}

static tenon_status_t ask_all(claims_t* claims, const tenon__kernel_list_t* list) {
  const tenon__tuning_t* tuning = claims->grouping->tuning;
  tenon_status_t status = TENON_OK;
  for (uint32_t k = 0; k < list->count && status == TENON_OK; ++k) {
    const tenon__kernel_entry_t* entry = list->entries[k];
    if (!tenon__tuning_runs_somewhere(tuning, entry)) {
      continue;
    }
    if (entry->kernel.pattern != NULL) {
      status = match_everywhere(claims, entry);
    }
    if (status == TENON_OK && entry->kernel.propose != NULL && !tuning->options.no_fusion) {
      status = ask_everywhere(claims, entry);
    }
  }
  return status;
}

tenon_status_t tenon__claims_find(grouping_t* grouping) {
  tenon__tuning_t* tuning = grouping->tuning;
  claims_t claims = {.grouping = grouping, .left = MOST_CLAIMS};
  tenon__kernel_list_t list;
  TENON_TRY(find_named(&claims));
  claims.left = MOST_CLAIMS; /* names are many: they take nothing from the others */
  tenon_status_t status = tenon__kernel_list_initialize(tuning->allocator, tuning->catalog, "*", 0,
                                                        tuning->sink, &list);
  if (status == TENON_OK) {
    status = ask_all(&claims, &list);
  }
  tenon__kernel_list_deinitialize(&list);
  return status;
}
