/* What epilogues and runs of expressions both need: localised expressions, identity tests,
 * reachability. */
#include "core/fusion/grouping.h"

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/rehearsal/node_expression.h"

tenon_status_t tenon__grouping_expression(grouping_t* grouping, uint32_t node,
                                          const tenon__expression_t** out_expression) {
  const tenon__node_t* n = &grouping->g->nodes[node];
  const bool has_one = n->expression != NULL || (n->maps != NULL && n->output_count == 1);
  if (has_one && grouping->expressions[node] == NULL) {
    const tenon__expression_t* whole = NULL;
    const uint32_t* values = NULL;
    tenon__arena_t* arena = grouping->tuning->arena;
    tenon__expression_t* wanted = tenon__arena_allocate(arena, 1, sizeof *wanted);
    TENON_TRY_MEMORY(wanted != NULL);
    TENON_TRY(tenon__node_expression(grouping->tuning, grouping->graph, node, 0, &whole));
    if (whole != NULL) {
      TENON_TRY(tenon__expression_drop_absent(arena, whole, n->outputs, wanted, &values));
    }
    grouping->expressions[node] = whole == NULL ? NULL : wanted;
  }
  *out_expression = grouping->expressions[node];
  return TENON_OK;
}

uint32_t tenon__node_values(const tenon__node_t* node, uint32_t out_values[GROUP_MOST_NODES]) {
  uint32_t count = 0;
  TENON_EACH_OUTPUT(k, node) {
    if (count < GROUP_MOST_NODES) {
      out_values[count] = node->outputs[k];
    }
    ++count;
  }
  return count;
}

/* Can the numbers of all needed outputs be written from dimensions alone? A number that only a run
 * knows is made by whoever computes it, but where the node says extents: then it was made before.
 */
bool tenon__node_is_contents(const tenon__network_t* network, const tenon__graph_t* g,
                             const tenon__node_t* node) {
  if (node->body_count > 0) {
    return false;
  }
  TENON_EACH_OUTPUT(k, node) {
    const tenon__value_node_t* v = &g->values[node->outputs[k]];
    const char class = tenon__dtype_class(v->type.dtype);
    if (v->type.contents == NULL || (class != 'i' && class != 'u' && class != 'b')) {
      return false;
    }
    for (uint32_t c = 0; c < v->type.content_count; ++c) {
      const tenon__dim_view_t dim = tenon__dim_get(network->pool, v->type.contents[c]);
      if (v->type.contents[c].id == TENON_NONE ||
          (dim.kind == TENON_DIM_SYMBOL && !node->contents_only &&
           tenon__symbol_get(network->pool, dim.index)->kind == TENON_SYMBOL_CONTENT)) {
        return false;
      }
    }
  }
  return true;
}

bool tenon__grouping_is_needed(const grouping_t* grouping, const tenon__node_t* node) {
  bool is_needed = false;
  TENON_EACH_OUTPUT(k, node) {
    is_needed = is_needed || grouping->needed[node->outputs[k]];
  }
  return is_needed;
}

bool tenon__grouping_read_outside(const grouping_t* grouping, uint32_t value, const uint32_t* nodes,
                                  uint32_t node_count) {
  const uint32_t* users = tenon__lists_get(&grouping->uses, value);
  bool outside = grouping->leaves[value];
  for (uint32_t k = 0; !outside && k < tenon__lists_count(&grouping->uses, value); ++k) {
    outside = !tenon__list_holds(nodes, node_count, users[k]);
  }
  return outside;
}

tenon_status_t tenon__grouping_note(grouping_t* grouping, uint32_t node, uint32_t node_count,
                                    const char* refusals) {
  const char** note = &grouping->notes[node];
  if (!grouping->tuning->options.keep_refusals) {
    return TENON_OK;
  }
  *note =
      tenon__arena_format(grouping->arena, "%s%u node%s at once: %s", *note == NULL ? "" : *note,
                          node_count, node_count == 1 ? "" : "s", refusals);
  return *note == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

bool tenon__expression_reduces(const tenon__expression_t* expression) {
  for (uint32_t k = 0; k < expression->program.instruction_count; ++k) {
    const uint16_t opcode = expression->program.instructions[k].opcode;
    if (opcode >= TENON_OPCODE_SUM && opcode <= TENON_OPCODE_MEAN) {
      return true;
    }
  }
  return false;
}

bool tenon__expression_same_space(const grouping_t* grouping, const tenon__expression_t* expression,
                                  uint32_t value) {
  const tenon__value_node_t* v = &grouping->g->values[value];
  return v->type.rank == expression->program.rank &&
         tenon__dims_equal(v->type.dims, expression->space, v->type.rank);
}

bool tenon__grouping_is_identity(const grouping_t* grouping, const tenon__expression_t* expression,
                                 uint32_t operand) {
  const tenon__access_t* access = &expression->accesses[operand];
  if (expression->program.operands[operand].indexed != 0 ||
      access->rank != expression->program.rank) {
    return false;
  }
  for (uint32_t k = 0; k < access->rank; ++k) {
    int64_t extent = 0;
    int64_t at = 0;
    const tenon_dim_t own =
        tenon__dim_coordinate(grouping->tuning->network->pool, k, expression->space[k]);
    const bool is_one =
        tenon__dim_known(grouping->tuning->network->pool, expression->space[k], &extent) &&
        extent == 1;
    const bool at_zero =
        tenon__dim_known(grouping->tuning->network->pool, access->coordinates[k], &at) && at == 0;
    if (!tenon__dim_equal(access->coordinates[k], own) && !(is_one && at_zero)) {
      return false;
    }
  }
  return true;
}

/* ---- Walks ---- */

void tenon__grouping_walk_begin(grouping_t* grouping) {
  grouping->stamp += 1;
  grouping->stack_depth = 0;
}

void tenon__grouping_walk_from(grouping_t* grouping, uint32_t value) {
  const uint32_t producer = grouping->g->values[value].producer;
  if (producer == TENON_NONE) {
    return;
  }
  const uint32_t index = grouping->group_of[producer];
  const uint32_t* nodes = index == TENON_NONE ? &producer : grouping->groups[index].nodes;
  const uint32_t count = index == TENON_NONE ? 1 : grouping->groups[index].node_count;
  for (uint32_t k = 0; k < count; ++k) {
    if (grouping->stamps[nodes[k]] != grouping->stamp) {
      grouping->stamps[nodes[k]] = grouping->stamp;
      grouping->stack[grouping->stack_depth++] = nodes[k];
    }
  }
}

/* Returns the last position up to `position` that no group spans. Shortens the way to it. */
static uint32_t find_cut(const grouping_t* grouping, uint32_t position) {
  uint32_t* cuts = grouping->cuts;
  while (cuts[position] != position) {
    cuts[position] = cuts[cuts[position]];
    position = cuts[position];
  }
  return position;
}

void tenon__grouping_span(grouping_t* grouping, const group_t* group) {
  uint32_t first = UINT32_MAX;
  uint32_t last = 0;
  for (uint32_t k = 0; k < group->node_count; ++k) {
    const uint32_t position = grouping->position[group->nodes[k]];
    first = position < first ? position : first;
    last = position > last ? position : last;
  }
  while (last > first && (last = find_cut(grouping, last)) > first) {
    grouping->cuts[last] = last - 1;
  }
}

bool tenon__grouping_walk_meets(grouping_t* grouping, const uint32_t* nodes, uint32_t node_count) {
  uint32_t first = node_count == 0 ? 0 : grouping->position[nodes[0]];
  for (uint32_t k = 1; k < node_count; ++k) {
    const uint32_t position = grouping->position[nodes[k]];
    first = position < first ? position : first;
  }
  const uint32_t cut = find_cut(grouping, first);
  while (grouping->stack_depth > 0) {
    const uint32_t at = grouping->stack[--grouping->stack_depth];
    const tenon__node_t* node = &grouping->g->nodes[at];
    if (grouping->position[at] < cut) {
      continue;
    }
    for (uint32_t k = 0; k < node_count; ++k) {
      if (nodes[k] == at) {
        return true;
      }
    }
    TENON_EACH_INPUT(k, node) {
      tenon__grouping_walk_from(grouping, node->inputs[k]);
    }
  }
  return false;
}
