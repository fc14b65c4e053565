/*
 * Prologues, the mirror of epilogues. Before an operator's input the expression nodes that nobody
 * else reads are composed into one program, from the input backwards, a milestone for each node.
 * One of the tensors that the program reads at the point itself, of the input's shape, is the
 * slot's own value and takes the input's place among the region's; the others are operands.
 */
#include "core/fusion/prologues.h"

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/fusion/fusions.h"

enum { PROLOGUE_MOST_NODES = 16 };

typedef struct chain_t {
  grouping_t* grouping;
  uint32_t root;  /* node */
  uint32_t input; /* of it */
  uint32_t value; /* that input */
  uint32_t count;
  uint32_t nodes[PROLOGUE_MOST_NODES]; /* the last in the network first */
  /* What makes the value of the first so many, in terms of what they read. */
  const tenon__expression_t* expressions[PROLOGUE_MOST_NODES];
} chain_t;

/* Is the node arithmetic that nothing else has, on the root's device, and does it make one tensor?
 */
static bool can_join(const chain_t* chain, uint32_t node) {
  const grouping_t* grouping = chain->grouping;
  const tenon__node_t* n = &grouping->g->nodes[node];
  return grouping->group_of[node] == TENON_NONE &&
         grouping->device_of[node] == grouping->device_of[chain->root] && n->expression != NULL &&
         n->output_count == 1 && n->body_count == 0 && !n->contents_only;
}

/* Does the operator alone read the value, and by one input? */
static bool is_read_once(const chain_t* chain) {
  const tenon__node_t* root = &chain->grouping->g->nodes[chain->root];
  uint32_t count = 0;
  for (uint32_t k = 0; k < root->input_count; ++k) {
    count += root->inputs[k] == chain->value ? 1u : 0u;
  }
  return count == 1 && !chain->grouping->sizing[chain->value] &&
         !tenon__grouping_read_outside(chain->grouping, chain->value, &chain->root, 1);
}

/* The node's expression, where it walks the input's space element by element. NULL: it does not. */
static tenon_status_t expression_of(const chain_t* chain, uint32_t node,
                                    const tenon__expression_t** out_expression) {
  const tenon__expression_t* expression = NULL;
  TENON_TRY(tenon__grouping_expression(chain->grouping, node, &expression));
  const bool fits = expression != NULL && expression->program.output_count == 1 &&
                    tenon__expression_same_space(chain->grouping, expression, chain->value) &&
                    !tenon__expression_reduces(expression) && tenon__fusion_is_small(expression);
  *out_expression = fits ? expression : NULL;
  return TENON_OK;
}

/* The latest node before the chain that could join it; TENON_NONE. */
static uint32_t next_producer(const chain_t* chain) {
  grouping_t* grouping = chain->grouping;
  const tenon__expression_t* expression = chain->expressions[chain->count - 1];
  const tenon_program_t* program = &expression->program;
  uint32_t operands[GROUP_MOST_OPERANDS];
  uint32_t count = 0;
  uint32_t best = TENON_NONE;
  for (uint32_t o = 0; o < program->operand_count; ++o) {
    const uint32_t value = program->operands[o].index;
    const uint32_t node = grouping->g->values[value].producer;
    if (node != TENON_NONE && can_join(chain, node) && !grouping->sizing[value] &&
        !tenon__grouping_read_outside(grouping, value, chain->nodes, chain->count) &&
        tenon__fusion_operands(grouping, expression, value, operands, &count) &&
        (best == TENON_NONE || grouping->position[node] > grouping->position[best])) {
      best = node;
    }
  }
  return best;
}

/* The chain's program with the node's in it; NULL when that does not fit. */
static tenon_status_t compose_node(const chain_t* chain, uint32_t node,
                                   const tenon__expression_t** out_expression) {
  const tenon__expression_t* consumer = chain->expressions[chain->count - 1];
  const tenon__expression_t* producer = NULL;
  uint32_t operands[GROUP_MOST_OPERANDS];
  uint32_t count = 0;
  *out_expression = NULL;
  TENON_TRY(expression_of(chain, node, &producer));
  if (producer == NULL ||
      !tenon__fusion_operands(chain->grouping, consumer, chain->grouping->g->nodes[node].outputs[0],
                              operands, &count)) {
    return TENON_OK;
  }
  TENON_TRY(
      tenon__fusion_compose(chain->grouping, consumer, operands, count, producer, out_expression));
  if (*out_expression != NULL && !tenon__fusion_is_small(*out_expression)) {
    *out_expression = NULL;
  }
  return TENON_OK;
}

static void add_node(chain_t* chain, uint32_t node, const tenon__expression_t* expression) {
  chain->nodes[chain->count] = node;
  chain->expressions[chain->count++] = expression;
}

static tenon_status_t grow_chain(chain_t* chain) {
  const uint32_t first = chain->grouping->g->values[chain->value].producer;
  const tenon__expression_t* expression = NULL;
  if (first == TENON_NONE || !can_join(chain, first) || !is_read_once(chain)) {
    return TENON_OK;
  }
  TENON_TRY(expression_of(chain, first, &expression));
  if (expression != NULL) {
    add_node(chain, first, expression);
  }
  while (chain->count > 0 && chain->count < PROLOGUE_MOST_NODES) {
    const uint32_t node = next_producer(chain);
    expression = NULL;
    if (node != TENON_NONE) {
      TENON_TRY(compose_node(chain, node, &expression));
    }
    if (expression == NULL) {
      return TENON_OK;
    }
    add_node(chain, node, expression);
  }
  return TENON_OK;
}

/* Can the kernel read operand `o` in the input's place: a tensor of its shape, at the point itself?
 */
static bool can_be_own(const chain_t* chain, const tenon__expression_t* expression, uint32_t o) {
  const tenon__value_node_t* values = chain->grouping->g->values;
  const tenon__type_t* own = &values[expression->program.operands[o].index].type;
  const tenon__type_t* type = &values[chain->value].type;
  return own->kind == TENON_ARGUMENT_TENSOR && own->dtype != TENON_DTYPE_STRING &&
         own->rank == type->rank && tenon__dims_equal(own->dims, type->dims, type->rank) &&
         tenon__grouping_is_identity(chain->grouping, expression, o);
}

/* Of those that can be, the first that varies from run to run and has the input's type; else one
 * that has at least one of both. TENON_NONE: there is none. */
static uint32_t own_value(const chain_t* chain, const tenon__expression_t* expression) {
  const tenon__value_node_t* values = chain->grouping->g->values;
  uint32_t best = TENON_NONE;
  uint32_t best_merit = 0;
  for (uint32_t o = 0; o < expression->program.operand_count; ++o) {
    const tenon__value_node_t* value = &values[expression->program.operands[o].index];
    const uint32_t merit = 1u + (value->weights == TENON_NONE ? 2u : 0u) +
                           (value->type.dtype == values[chain->value].type.dtype ? 1u : 0u);
    if (merit > best_merit && can_be_own(chain, expression, o)) {
      best = expression->program.operands[o].index;
      best_merit = merit;
    }
  }
  return best;
}

/* An epilogue, or the prologue of another input, has the slot already. */
static bool is_filled(const struct tenon_region_t* region, uint32_t slot) {
  bool filled = false;
  for (uint32_t k = 0; k < region->slot_count; ++k) {
    filled = filled || region->slots[k].slot == slot;
  }
  return filled;
}

/* The slots of that kind, one after the other, until a kernel takes the first `node_count` nodes.
 */
static tenon_status_t offer(const chain_t* chain, uint64_t numbers, uint32_t own, fusing_t* fusing,
                            struct tenon_region_t** out_region,
                            const tenon__candidates_t** out_found) {
  tenon__expression_t expression;
  TENON_TRY(tenon__fusion_slot_expression(
      chain->grouping, chain->expressions[fusing->node_count - 1], own, &expression));
  *out_found = NULL;
  for (uint32_t slot = 0; slot < 64; ++slot) {
    const tenon__slot_filling_t filling = {.slot = slot,
                                           .kind = TENON_SLOT_PROLOGUE,
                                           .index = chain->input,
                                           .expression = &expression,
                                           .value = own};
    if ((numbers >> slot & 1u) == 0 || is_filled(fusing->base, slot)) {
      continue;
    }
    fusing->fillings = &filling;
    fusing->filling_count = 1;
    TENON_TRY(tenon__fusion_offer(fusing, out_region, out_found));
    fusing->fillings = NULL;
    if (*out_found != NULL) {
      return TENON_OK;
    }
  }
  return TENON_OK;
}

/* Takes the longest that is taken and was not decided against. */
static tenon_status_t take_longest(const chain_t* chain, uint64_t numbers) {
  grouping_t* grouping = chain->grouping;
  const group_t* group = &grouping->groups[grouping->group_of[chain->root]];
  fusing_t fusing = {.grouping = grouping,
                     .root = chain->root,
                     .base = group->region,
                     .nodes = chain->nodes,
                     .has_to_prove = true};
  uint32_t fusion = TENON_NONE;
  for (fusing.node_count = chain->count; fusing.node_count > 0; --fusing.node_count) {
    const tenon__expression_t* expression = chain->expressions[fusing.node_count - 1];
    const fusion_rest_t rest = {expression, chain->value};
    const uint32_t own = own_value(chain, expression);
    struct tenon_region_t* region = NULL;
    const tenon__candidates_t* found = NULL;
    if (own == TENON_NONE || group->node_count + fusing.node_count > GROUP_MOST_NODES ||
        tenon__fusion_exceeds(grouping, fusion, fusing.node_count)) {
      continue;
    }
    TENON_TRY(offer(chain, numbers, own, &fusing, &region, &found));
    if (found != NULL && found->count == 0) {
      TENON_TRY(tenon__grouping_note(grouping, chain->root, group->node_count + fusing.node_count,
                                     found->refusals == NULL ? "" : found->refusals));
    }
    if (found == NULL || found->count == 0) {
      continue;
    }
    if (fusion == TENON_NONE) {
      TENON_TRY(tenon__fusion_find(&fusing, region, found, &rest, &fusion));
    }
    if (!tenon__fusion_exceeds(grouping, fusion, fusing.node_count)) {
      tenon__fusion_take(&fusing, region);
      return TENON_OK;
    }
  }
  return TENON_OK;
}

static tenon_status_t make_prologues(grouping_t* grouping, uint32_t root) {
  const tenon__node_t* node = &grouping->g->nodes[root];
  const uint64_t numbers = tenon__fusion_slots(grouping, root)->prologues;
  const uint32_t count = numbers == 0 ? 0 : node->input_count;
  for (uint32_t k = 0; k < count; ++k) {
    chain_t chain = {.grouping = grouping, .root = root, .input = k, .value = node->inputs[k]};
    if (chain.value != TENON_NONE &&
        grouping->g->values[chain.value].type.kind == TENON_ARGUMENT_TENSOR) {
      TENON_TRY(grow_chain(&chain));
      TENON_TRY(take_longest(&chain, numbers));
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__prologues_make(grouping_t* grouping) {
  for (uint32_t p = 0; p < grouping->order_count; ++p) {
    const uint32_t node = grouping->order[p];
    const uint32_t index = grouping->group_of[node];
    const struct tenon_region_t* region =
        index == TENON_NONE ? NULL : grouping->groups[index].region;
    if (region != NULL && grouping->groups[index].kind == TENON_UNIT_REGION &&
        region->kind == TENON_REGION_OPERATOR && region->node_count == 1 &&
        region->nodes[0] == node) {
      TENON_TRY(make_prologues(grouping, node));
    }
  }
  return TENON_OK;
}
