/* Making regions: from a node, from several, from an expression, from a move; filling slots. What
 * is derived for a profile: region_finish.c. */
#include "core/region/region.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/lists.h"
#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/program/normalise.h"

static void* copy_array(tenon__arena_t* arena, const void* data, size_t count, size_t size) {
  if (count == 0) {
    return tenon__arena_allocate(arena, 1, size);
  }
  return tenon__arena_copy(arena, data, count * size);
}

tenon_status_t tenon__region_of_nodes(tenon__arena_t* arena, const tenon__network_t* network,
                                      uint32_t graph, const tenon__node_group_t* group,
                                      struct tenon_region_t* out_region) {
  tenon__region_input_t* own_inputs =
      tenon__arena_allocate(arena, group->input_count + 1u, sizeof *own_inputs);
  tenon__region_output_t* own_outputs =
      tenon__arena_allocate(arena, group->output_count + 1u, sizeof *own_outputs);
  const uint32_t* own_nodes =
      tenon__arena_copy(arena, group->nodes, group->node_count * sizeof *own_nodes);
  TENON_TRY_MEMORY(own_inputs != NULL && own_outputs != NULL && own_nodes != NULL);
  for (uint32_t i = 0; i < group->input_count; ++i) {
    own_inputs[i].value = group->inputs[i];
  }
  for (uint32_t i = 0; i < group->output_count; ++i) {
    own_outputs[i].value = group->outputs[i];
  }
  *out_region = (struct tenon_region_t){
      .network = network,
      .graph = graph,
      .kind = TENON_REGION_OPERATOR,
      .node_count = group->node_count,
      .nodes = own_nodes,
      .covered_count = group->node_count,
      .covered = own_nodes,
      .input_count = group->input_count,
      .inputs = own_inputs,
      .output_count = group->output_count,
      .outputs = own_outputs,
  };
  return TENON_OK;
}

tenon_status_t tenon__region_of_node(tenon__arena_t* arena, const tenon__network_t* network,
                                     uint32_t graph, uint32_t node,
                                     struct tenon_region_t* out_region) {
  const tenon__node_t* n = &network->graphs[graph]->nodes[node];
  const tenon__node_group_t group = {&node,          1,          n->inputs,
                                     n->input_count, n->outputs, n->output_count};
  return tenon__region_of_nodes(arena, network, graph, &group, out_region);
}

bool tenon__region_reads(const tenon__graph_t* graph, const uint32_t* nodes, uint32_t node_count,
                         uint32_t out_values[TENON_REGION_MOST_PROPOSED], uint32_t* out_count) {
  *out_count = 0;
  for (uint32_t n = 0; n < node_count; ++n) {
    const tenon__node_t* node = &graph->nodes[nodes[n]];
    TENON_EACH_INPUT(k, node) {
      const uint32_t value = node->inputs[k];
      const uint32_t producer = graph->values[value].producer;
      if (tenon__list_holds(out_values, *out_count, value) ||
          (producer != TENON_NONE && tenon__list_holds(nodes, node_count, producer))) {
        continue;
      }
      if (*out_count == TENON_REGION_MOST_PROPOSED) {
        return false;
      }
      out_values[(*out_count)++] = value;
    }
  }
  return true;
}

static bool access_equal(const tenon__access_t* a, const tenon__access_t* b) {
  return a->rank == b->rank &&
         (a->rank == TENON_NONE || tenon__dims_equal(a->coordinates, b->coordinates, a->rank));
}

/* Appends the operands of an expression to a region's inputs (equal ones merge) and renumbers them.
 */
static tenon_status_t take_operands(tenon__arena_t* arena, const tenon__expression_t* expression,
                                    uint32_t space, struct tenon_region_t* inout_region,
                                    tenon__expression_t* out_expression) {
  const uint32_t old_count = inout_region->input_count;
  const uint32_t operand_count = expression->program.operand_count;
  tenon__region_input_t* inputs =
      tenon__arena_allocate(arena, (size_t)old_count + operand_count + 1u, sizeof *inputs);
  tenon_operand_t* operands =
      copy_array(arena, expression->program.operands, operand_count, sizeof *operands);
  TENON_TRY_MEMORY(inputs != NULL && operands != NULL);
  if (old_count > 0) {
    memcpy(inputs, inout_region->inputs, old_count * sizeof *inputs);
  }
  uint32_t count = old_count;
  for (uint32_t k = 0; k < operand_count; ++k) {
    if (operands[k].kind == TENON_OPERAND_SLOT_VALUE) {
      continue;
    }
    const bool aligned = operands[k].indexed == 0;
    uint32_t found = old_count;
    while (found < count &&
           !(inputs[found].value == operands[k].index && inputs[found].aligned == aligned &&
             (!aligned || access_equal(&inputs[found].access, &expression->accesses[k])))) {
      ++found;
    }
    if (found == count) {
      inputs[count].value = operands[k].index;
      inputs[count].aligned = aligned;
      inputs[count].space = space;
      if (aligned) {
        inputs[count].access = expression->accesses[k];
      }
      ++count;
    }
    operands[k].index = found;
  }
  inout_region->inputs = inputs;
  inout_region->input_count = count;
  *out_expression = *expression;
  out_expression->program.operands = operands;
  return TENON_OK;
}

static tenon_status_t output_of(tenon__arena_t* arena, const tenon__expression_t* expression,
                                uint32_t output, uint32_t value,
                                tenon__region_output_t* out_output) {
  *out_output = (tenon__region_output_t){
      .value = value,
      .aligned = true,
      .axis_count = expression->output_ranks[output],
      .axes = copy_array(arena, expression->output_axes[output], expression->output_ranks[output],
                         sizeof(uint32_t)),
  };
  return out_output->axes == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

static tenon_status_t number_outputs(tenon__arena_t* arena, uint32_t base,
                                     tenon__expression_t* inout_expression) {
  const uint32_t count = inout_expression->program.output_count;
  tenon_program_output_t* outputs =
      copy_array(arena, inout_expression->program.outputs, count, sizeof *outputs);
  TENON_TRY_MEMORY(outputs != NULL);
  for (uint32_t k = 0; k < count; ++k) {
    outputs[k].index = base + k;
  }
  inout_expression->program.outputs = outputs;
  return TENON_OK;
}

/* Where the slot's result goes, and what that is from now on; inputs and outputs are the region's
 * own. */
static uint32_t place_filling(const tenon__slot_filling_t* filling,
                              struct tenon_region_t* inout_region) {
  tenon__region_input_t* inputs = tenon__drop_const(inout_region->inputs);
  tenon__region_output_t* outputs = tenon__drop_const(inout_region->outputs);
  switch (filling->kind) {
    case TENON_SLOT_PROLOGUE:
      inputs[filling->index].value = filling->value;
      return filling->index;
    case TENON_SLOT_SIDE:
      outputs[inout_region->output_count] = (tenon__region_output_t){.value = filling->value};
      return inout_region->output_count++;
    default:
      outputs[filling->index].value = filling->value;
      return filling->index;
  }
}

tenon_status_t tenon__region_fill_slot(tenon__arena_t* arena, struct tenon_region_t* inout_region,
                                       const tenon__slot_filling_t* filling) {
  struct tenon_region_t region = *inout_region;
  tenon__region_slot_t* slots = tenon__arena_allocate(arena, region.slot_count + 1u, sizeof *slots);
  tenon__region_output_t* outputs =
      tenon__arena_allocate(arena, region.output_count + 1u, sizeof *outputs);
  TENON_TRY_MEMORY(slots != NULL && outputs != NULL);
  if (region.slot_count > 0) {
    memcpy(slots, region.slots, region.slot_count * sizeof *slots);
  }
  if (region.output_count > 0) {
    memcpy(outputs, region.outputs, region.output_count * sizeof *outputs);
  }
  tenon__region_slot_t* filled = &slots[region.slot_count++];
  *filled =
      (tenon__region_slot_t){.slot = filling->slot, .kind = filling->kind, .index = filling->index};
  TENON_TRY(take_operands(arena, filling->expression, filling->slot, &region, &filled->expression));
  region.outputs = outputs;
  region.slots = slots;
  TENON_TRY(number_outputs(arena, place_filling(filling, &region), &filled->expression));
  *inout_region = region;
  return TENON_OK;
}

tenon_status_t tenon__expression_drop_absent(tenon__arena_t* arena,
                                             const tenon__expression_t* expression,
                                             const uint32_t* values,
                                             tenon__expression_t* out_expression,
                                             const uint32_t** out_values) {
  const uint32_t count = expression->program.output_count;
  tenon__expression_t kept = *expression;
  tenon_program_output_t* outputs = copy_array(arena, kept.program.outputs, count, sizeof *outputs);
  const uint32_t** axes = copy_array(arena, kept.output_axes, count, sizeof *axes);
  uint32_t* ranks = copy_array(arena, kept.output_ranks, count, sizeof *ranks);
  uint32_t* own_values = copy_array(arena, values, count, sizeof *own_values);
  uint32_t kept_count = 0;
  TENON_TRY_MEMORY(outputs != NULL && axes != NULL && ranks != NULL && own_values != NULL);
  TENON_EACH_PRESENT(k, values, count) {
    outputs[kept_count] = outputs[k];
    axes[kept_count] = axes[k];
    ranks[kept_count] = ranks[k];
    own_values[kept_count++] = values[k];
  }
  kept.program.outputs = outputs;
  kept.program.output_count = kept_count;
  kept.output_axes = axes;
  kept.output_ranks = ranks;
  *out_values = own_values;
  *out_expression = kept;
  return kept_count == count ? TENON_OK : tenon__expression_normalise(&kept, arena, out_expression);
}

tenon_status_t tenon__region_of_expression(tenon__arena_t* arena, const tenon__network_t* network,
                                           uint32_t graph, const tenon__graph_expression_t* source,
                                           struct tenon_region_t* out_region) {
  tenon__expression_t wanted;
  const uint32_t* values = NULL;
  TENON_TRY(
      tenon__expression_drop_absent(arena, source->expression, source->values, &wanted, &values));
  const uint32_t output_count = wanted.program.output_count;
  tenon__region_output_t* outputs =
      tenon__arena_allocate(arena, output_count + 1u, sizeof *outputs);
  tenon__expression_t* own = tenon__arena_allocate(arena, 1, sizeof *own);
  const uint32_t* nodes = copy_array(arena, source->covered, source->covered_count, sizeof *nodes);
  TENON_TRY_MEMORY(outputs != NULL && own != NULL && nodes != NULL);
  struct tenon_region_t region = {
      .network = network,
      .graph = graph,
      .kind = TENON_REGION_EXPRESSION,
      .covered_count = source->covered_count,
      .covered = nodes,
      .output_count = output_count,
      .outputs = outputs,
      .expression = own,
  };
  TENON_TRY(take_operands(arena, &wanted, TENON_SPACE_PROGRAM, &region, own));
  TENON_TRY(number_outputs(arena, 0, own));
  for (uint32_t k = 0; k < output_count; ++k) {
    TENON_TRY(output_of(arena, &wanted, k, values[k], &outputs[k]));
  }
  *out_region = region;
  return TENON_OK;
}

tenon_status_t tenon__region_of_move(tenon__arena_t* arena, const tenon__network_t* network,
                                     uint32_t graph, uint32_t node, uint32_t output,
                                     struct tenon_region_t* out_region) {
  const tenon__node_t* n = &network->graphs[graph]->nodes[node];
  const tenon__index_map_t* map = &n->maps[output];
  tenon__index_map_t* own = tenon__arena_copy(arena, map, sizeof *own);
  tenon__map_source_t* sources =
      copy_array(arena, map->sources, map->source_count, sizeof *sources);
  tenon__region_input_t* inputs =
      tenon__arena_allocate(arena, map->source_count + 1u, sizeof *inputs);
  tenon__region_output_t* outputs = tenon__arena_allocate(arena, 1, sizeof *outputs);
  const uint32_t* nodes = tenon__arena_copy(arena, &node, sizeof node);
  TENON_TRY_MEMORY(own != NULL && sources != NULL && inputs != NULL && outputs != NULL &&
                   nodes != NULL);
  uint32_t count = 0;
  for (uint32_t k = 0; k < map->source_count; ++k) {
    inputs[count].value = n->inputs[map->sources[k].input];
    sources[k].input = count++;
  }
  if (map->fill == TENON_FILL_INPUT) {
    inputs[count].value = n->inputs[map->fill_input];
    own->fill_input = count++;
  }
  own->sources = sources;
  outputs[0].value = n->outputs[output];
  *out_region = (struct tenon_region_t){
      .network = network,
      .graph = graph,
      .kind = TENON_REGION_MOVE,
      .covered_count = 1,
      .covered = nodes,
      .input_count = count,
      .inputs = inputs,
      .output_count = 1,
      .outputs = outputs,
      .map = own,
  };
  return TENON_OK;
}

tenon_status_t tenon__region_of_copy(tenon__arena_t* arena, const tenon__network_t* network,
                                     uint32_t graph, uint32_t value,
                                     struct tenon_region_t* out_region) {
  const tenon__value_node_t* v = &network->graphs[graph]->values[value];
  tenon__index_map_t* map = tenon__arena_allocate(arena, 1, sizeof *map);
  tenon__map_source_t* source = tenon__arena_allocate(arena, 1, sizeof *source);
  tenon_dim_t* coordinates = tenon__arena_allocate(arena, v->type.rank + 1u, sizeof *coordinates);
  tenon__region_input_t* inputs = tenon__arena_allocate(arena, 1, sizeof *inputs);
  tenon__region_output_t* outputs = tenon__arena_allocate(arena, 1, sizeof *outputs);
  TENON_TRY_MEMORY(map != NULL && source != NULL && coordinates != NULL && inputs != NULL &&
                   outputs != NULL);
  for (uint32_t k = 0; k < v->type.rank; ++k) {
    coordinates[k] = tenon__dim_coordinate(network->pool, k, v->type.dims[k]);
  }
  *source = (tenon__map_source_t){
      .input = 0, .rank = v->type.rank, .dims = v->type.dims, .coordinates = coordinates};
  *map = (tenon__index_map_t){.kind = TENON_MAP_AFFINE,
                              .rank = v->type.rank,
                              .dims = v->type.dims,
                              .source_count = 1,
                              .sources = source};
  inputs[0].value = value;
  outputs[0].value = value;
  *out_region = (struct tenon_region_t){.network = network,
                                        .graph = graph,
                                        .kind = TENON_REGION_MOVE,
                                        .input_count = 1,
                                        .inputs = inputs,
                                        .output_count = 1,
                                        .outputs = outputs,
                                        .map = map};
  return tenon__dim_pool_failed(network->pool) ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

uint32_t tenon__region_slot_value(const struct tenon_region_t* region,
                                  const tenon__region_slot_t* slot) {
  return slot->kind == TENON_SLOT_PROLOGUE
             ? region->inputs[slot->index].value
             : region->outputs[slot->expression.program.outputs[0].index].value;
}

const tenon_dim_t* tenon__region_space(const struct tenon_region_t* region, uint32_t space,
                                       uint32_t* out_rank) {
  if (space == TENON_SPACE_PROGRAM) {
    *out_rank = region->expression == NULL ? 0 : region->expression->program.rank;
    return region->expression == NULL ? NULL : region->expression->space;
  }
  for (uint32_t k = 0; k < region->slot_count; ++k) {
    if (region->slots[k].slot == space) {
      *out_rank = region->slots[k].expression.program.rank;
      return region->slots[k].expression.space;
    }
  }
  *out_rank = 0;
  return NULL;
}
