/*
 * Which nodes together: what each node is (contents, view, move, control, operator, expression),
 * which values somebody reads, epilogues, prologues, runs, and an order in which the units can run.
 */
#include "core/fusion/regions.h"

#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/fusion/claims_take.h"
#include "core/fusion/devices.h"
#include "core/fusion/epilogues.h"
#include "core/fusion/fusions.h"
#include "core/fusion/prologues.h"
#include "core/fusion/runs.h"
#include "core/fusion/units.h"
#include "core/region/region_finish.h"

/* ---- Who is needed ---- */

/* Values whose numbers or extents a symbol reads while running. */
static void need_symbol_values(grouping_t* grouping) {
  const tenon__dim_pool_t* pool = grouping->tuning->network->pool;
  for (uint32_t k = 0; k < tenon__symbol_count(pool); ++k) {
    const tenon__symbol_t* symbol = tenon__symbol_get(pool, k);
    uint32_t graph = 0;
    uint32_t value = 0;
    uint32_t index = 0;
    const bool is_found = symbol->min != symbol->max && (symbol->kind == TENON_SYMBOL_CONTENT ||
                                                         symbol->kind == TENON_SYMBOL_EXTENT);
    if (is_found &&
        tenon__symbol_source(grouping->tuning->network, symbol, &graph, &value, &index) &&
        graph == grouping->graph && grouping->g->values[value].alive) {
      grouping->needed[value] = true;
      grouping->sizing[value] = grouping->sizing[value] || symbol->kind == TENON_SYMBOL_CONTENT;
      grouping->leaves[value] = true;
    }
  }
}

static bool mentions_input(const tenon__dim_pool_t* pool, tenon_dim_t dim, uint32_t input) {
  if (!tenon__dim_mentions(pool, dim, -1)) {
    return false;
  }
  const tenon__dim_view_t view = tenon__dim_get(pool, dim);
  if (view.kind == TENON_DIM_ELEMENT && view.index == input) {
    return true;
  }
  for (uint32_t k = 0; k < view.operand_count; ++k) {
    if (mentions_input(pool, view.operands[k], input)) {
      return true;
    }
  }
  return false;
}

static bool reads_elements(const tenon__network_t* network, const tenon__index_map_t* map,
                           uint32_t input) {
  for (uint32_t s = 0; s < map->source_count; ++s) {
    const tenon__map_source_t* source = &map->sources[s];
    const uint32_t rank = source->coordinates == NULL ? 0 : source->rank;
    for (uint32_t d = 0; d < rank; ++d) {
      if (mentions_input(network->pool, source->coordinates[d], input)) {
        return true;
      }
    }
  }
  return false;
}

static bool mentions_dim(const tenon__dim_pool_t* pool, tenon_dim_t dim, tenon_dim_t part) {
  if (tenon__dim_equal(dim, part)) {
    return true;
  }
  const tenon__dim_view_t view = tenon__dim_get(pool, dim);
  for (uint32_t k = 0; k < view.operand_count; ++k) {
    if (mentions_dim(pool, view.operands[k], part)) {
      return true;
    }
  }
  return false;
}

static bool map_mentions(const tenon__network_t* network, const tenon__index_map_t* map,
                         tenon_dim_t dim) {
  for (uint32_t s = 0; s < map->source_count; ++s) {
    const tenon__map_source_t* source = &map->sources[s];
    const uint32_t rank = source->coordinates == NULL ? 0 : source->rank;
    for (uint32_t d = 0; d < rank; ++d) {
      if (mentions_dim(network->pool, source->coordinates[d], dim)) {
        return true;
      }
    }
  }
  return false;
}

/* Does a move's coordinate depend on a number in the value, or one of its extents, from which a
 * coordinate may have to be computed? The number may be read there. */
static bool reads_contents(const tenon__network_t* network, const tenon__index_map_t* map,
                           const tenon__value_node_t* value) {
  int64_t number = 0;
  bool is_open = false;
  for (uint32_t d = 0; d < map->rank; ++d) {
    is_open = is_open || !tenon__dim_known(network->pool, map->dims[d], &number);
  }
  const uint32_t content_count = value->type.contents == NULL ? 0 : value->type.content_count;
  for (uint32_t c = 0; c < content_count; ++c) {
    if (tenon__dim_known(network->pool, value->type.contents[c], &number)) {
      continue;
    }
    if (is_open ||
        (tenon__dim_get(network->pool, value->type.contents[c]).kind == TENON_DIM_SYMBOL &&
         map_mentions(network, map, value->type.contents[c]))) {
      return true;
    }
  }
  return false;
}

static void need_map_inputs(grouping_t* grouping, const tenon__node_t* node,
                            const tenon__index_map_t* map) {
  for (uint32_t s = 0; s < map->source_count; ++s) {
    grouping->needed[node->inputs[map->sources[s].input]] = true;
  }
  if (map->fill == TENON_FILL_INPUT) {
    grouping->needed[node->inputs[map->fill_input]] = true;
  }
  if (map->kind != TENON_MAP_GENERAL) {
    return;
  }
  TENON_EACH_INPUT(i, node) { /* elements of others */
    if (reads_elements(grouping->tuning->network, map, i) ||
        reads_contents(grouping->tuning->network, map, &grouping->g->values[node->inputs[i]])) {
      grouping->needed[node->inputs[i]] = true;
    }
  }
}

/* Marks what a needed node reads. Operands that only shape it are read through contents. */
static void need_inputs(grouping_t* grouping, const tenon__node_t* node) {
  if (tenon__node_is_contents(grouping->tuning->network, grouping->g, node)) {
    return;
  }
  if (node->expression != NULL) {
    for (uint32_t o = 0; o < node->expression->program.operand_count; ++o) {
      grouping->needed[node->inputs[node->expression->program.operands[o].index]] = true;
    }
    return;
  }
  if (node->maps != NULL) {
    TENON_EACH_OUTPUT(k, node) {
      need_map_inputs(grouping, node, &node->maps[k]);
    }
    return;
  }
  TENON_EACH_INPUT(k, node) {
    grouping->needed[node->inputs[k]] = true;
  }
}

static void find_needed(grouping_t* grouping) {
  for (uint32_t k = 0; k < grouping->g->output_count; ++k) {
    grouping->needed[grouping->g->outputs[k]] = true;
    grouping->leaves[grouping->g->outputs[k]] = true;
  }
  const uint32_t state_count = grouping->graph == 0 ? grouping->tuning->network->state_count : 0;
  for (uint32_t k = 0; k < state_count; ++k) {
    const uint32_t update = grouping->tuning->network->states[k].update;
    if (update != TENON_NONE) {
      grouping->needed[update] = true;
      grouping->leaves[update] = true;
    }
  }
  need_symbol_values(grouping);
  for (uint32_t p = grouping->order_count; p-- > 0;) {
    const tenon__node_t* node = &grouping->g->nodes[grouping->order[p]];
    if (tenon__grouping_is_needed(grouping, node)) {
      need_inputs(grouping, node);
    }
  }
}

/* ---- What each node is ---- */

static group_t* add_group(grouping_t* grouping, uint32_t node, tenon__unit_kind_t kind) {
  group_t* group = &grouping->groups[grouping->group_count];
  *group = (group_t){
      .alive = true, .kind = kind, .node_count = 1, .last_position = grouping->position[node]};
  group->nodes[0] = node;
  grouping->group_of[node] = grouping->group_count++;
  return group;
}

static bool all_views(const grouping_t* grouping, const tenon__node_t* node) {
  TENON_EACH_OUTPUT(k, node) {
    if (!tenon__index_map_is_view(grouping->tuning->network->pool, &node->maps[k])) {
      return false;
    }
  }
  return true;
}

/* A run's first form: the node alone. */
static tenon_status_t start_run(grouping_t* grouping, uint32_t node,
                                const tenon__expression_t* expression) {
  const tenon__node_t* n = &grouping->g->nodes[node];
  group_t* group = add_group(grouping, node, TENON_UNIT_REGION);
  group->expression = expression;
  group->value_count = tenon__node_values(n, group->values);
  return group->value_count <= GROUP_MOST_NODES
             ? TENON_OK
             : tenon__fail(
                   grouping->tuning->sink, TENON_ERROR_UNSUPPORTED,
                   "node '%s': its expressions have %u outputs, at most %d are computed at once",
                   n->name, group->value_count, GROUP_MOST_NODES);
}

static tenon_status_t classify_operator(grouping_t* grouping, uint32_t node) {
  tenon__tuning_t* tuning = grouping->tuning;
  group_t* group = add_group(grouping, node, TENON_UNIT_REGION);
  group->region = tenon__arena_allocate(tuning->arena, 1, sizeof *group->region);
  TENON_TRY_MEMORY(group->region != NULL);
  TENON_TRY(
      tenon__region_of_node(tuning->arena, tuning->network, grouping->graph, node, group->region));
  group->region->device = grouping->device_of[node];
  return tenon__region_finish(tuning->arena, tuning->profile, group->region);
}

/* Expression nodes get their groups last, after epilogues and prologues took theirs. */
static tenon_status_t classify(grouping_t* grouping, uint32_t node) {
  const tenon__node_t* n = &grouping->g->nodes[node];
  if (!tenon__grouping_is_needed(grouping, n)) {
    return TENON_OK;
  }
  if (tenon__node_is_contents(grouping->tuning->network, grouping->g, n)) {
    (void)add_group(grouping, node, TENON_UNIT_CONTENTS);
  } else if (n->body_count > 0) {
    (void)add_group(grouping, node, TENON_UNIT_CONTROL);
  } else if (n->expression != NULL && !grouping->by_name[node]) {
    return TENON_OK;
  } else if (n->maps != NULL && !grouping->by_name[node]) {
    if (n->maps[0].kind != TENON_MAP_GENERAL || all_views(grouping, n)) {
      (void)add_group(grouping, node, TENON_UNIT_VIEW); /* views, or boxes: told apart at the end */
    }
  } else {
    return classify_operator(grouping, node);
  }
  return TENON_OK;
}

static tenon_status_t classify_rest(grouping_t* grouping) {
  for (uint32_t p = 0; p < grouping->order_count; ++p) {
    const uint32_t node = grouping->order[p];
    const tenon__expression_t* expression = NULL;
    if (grouping->group_of[node] != TENON_NONE ||
        !tenon__grouping_is_needed(grouping, &grouping->g->nodes[node])) {
      continue;
    }
    TENON_TRY(tenon__grouping_expression(grouping, node, &expression));
    if (expression == NULL) {
      return tenon__fail(grouping->tuning->sink, TENON_ERROR_UNSUPPORTED,
                         "node '%s': its move cannot be computed", grouping->g->nodes[node].name);
    }
    TENON_TRY(start_run(grouping, node, expression));
  }
  return TENON_OK;
}

static tenon_status_t prepare_grouping(grouping_t* grouping) {
  tenon__arena_t* scratch = &grouping->scratch;
  TENON_TRY(tenon__graph_order(grouping->tuning->network, grouping->graph, scratch,
                               grouping->tuning->sink, &grouping->order, &grouping->order_count));
  TENON_TRY(
      tenon__graph_uses(grouping->tuning->network, grouping->graph, scratch, &grouping->uses));
  const size_t nodes = grouping->g->node_count + 1u;
  grouping->position = tenon__arena_allocate(scratch, nodes, sizeof(uint32_t));
  grouping->group_of = tenon__arena_allocate(scratch, nodes, sizeof(uint32_t));
  grouping->device_of = tenon__arena_allocate(scratch, nodes, sizeof(uint32_t));
  grouping->by_name = tenon__arena_allocate(scratch, nodes, sizeof(bool));
  grouping->needed = tenon__arena_allocate(scratch, grouping->g->value_count + 1u, sizeof(bool));
  grouping->sizing = tenon__arena_allocate(scratch, grouping->g->value_count + 1u, sizeof(bool));
  grouping->leaves = tenon__arena_allocate(scratch, grouping->g->value_count + 1u, sizeof(bool));
  grouping->notes = tenon__arena_allocate(scratch, nodes, sizeof *grouping->notes);
  grouping->groups =
      tenon__arena_allocate(scratch, grouping->order_count + 1u, sizeof *grouping->groups);
  grouping->expressions = tenon__arena_allocate(scratch, nodes, sizeof(void*));
  grouping->slots = tenon__arena_allocate(scratch, nodes, sizeof *grouping->slots);
  grouping->cuts = tenon__arena_allocate(scratch, nodes, sizeof(uint32_t));
  grouping->stamps = tenon__arena_allocate(scratch, nodes, sizeof(uint32_t));
  grouping->stack = tenon__arena_allocate(scratch, nodes, sizeof(uint32_t));
  TENON_TRY_MEMORY(
      grouping->position != NULL && grouping->group_of != NULL && grouping->needed != NULL &&
      grouping->groups != NULL && grouping->cuts != NULL && grouping->stamps != NULL &&
      grouping->stack != NULL && grouping->sizing != NULL && grouping->leaves != NULL &&
      grouping->notes != NULL && grouping->expressions != NULL && grouping->by_name != NULL &&
      grouping->device_of != NULL && grouping->slots != NULL);
  memset(grouping->group_of, 0xff, nodes * sizeof(uint32_t));
  for (uint32_t p = 0; p < grouping->order_count; ++p) {
    grouping->position[grouping->order[p]] = p;
  }
  return TENON_OK;
}

static tenon_status_t keep_first_groups(grouping_t* grouping) {
  const size_t nodes = grouping->g->node_count + 1u;
  grouping->first_group_count = grouping->group_count;
  grouping->first_groups = tenon__arena_copy(&grouping->scratch, grouping->groups,
                                             grouping->group_count * sizeof *grouping->groups);
  grouping->first_group_of =
      tenon__arena_copy(&grouping->scratch, grouping->group_of, nodes * sizeof(uint32_t));
  return grouping->first_groups == NULL || grouping->first_group_of == NULL
             ? TENON_ERROR_OUT_OF_MEMORY
             : TENON_OK;
}

tenon_status_t tenon__grouping_begin(tenon__tuning_t* tuning, uint32_t graph,
                                     grouping_t* out_grouping) {
  grouping_t* grouping = out_grouping;
  *grouping = (grouping_t){.tuning = tuning,
                           .arena = tuning->arena,
                           .graph = graph,
                           .g = tuning->network->graphs[graph]};
  tenon__arena_initialize(&grouping->scratch, tuning->allocator);
  TENON_TRY(prepare_grouping(grouping));
  TENON_TRY(tenon__conversions_begin(tuning, graph, &grouping->scratch, &grouping->conversions));
  find_needed(grouping);
  TENON_TRY(tenon__grouping_place_nodes(grouping));
  for (uint32_t p = 0; p < grouping->order_count; ++p) {
    TENON_TRY(classify(grouping, grouping->order[p]));
  }
  return keep_first_groups(grouping);
}

void tenon__grouping_end(grouping_t* grouping) {
  tenon__arena_deinitialize(&grouping->scratch);
}

tenon_status_t tenon__grouping_cover(grouping_t* grouping, tenon__arena_t* arena,
                                     tenon__units_t* out_units) {
  const size_t nodes = grouping->g->node_count + 1u;
  grouping->arena = arena;
  grouping->group_count = grouping->first_group_count;
  memcpy(grouping->groups, grouping->first_groups,
         grouping->group_count * sizeof *grouping->groups);
  memcpy(grouping->group_of, grouping->first_group_of, nodes * sizeof(uint32_t));
  memset(grouping->notes, 0, nodes * sizeof *grouping->notes);
  for (uint32_t p = 0; p < grouping->order_count; ++p) {
    grouping->cuts[p] = p; /* the first groups have one node each */
  }
  tenon__claims_take(grouping);
  if (!grouping->tuning->options.no_fusion) {
    TENON_TRY(tenon__epilogues_make(grouping));
    TENON_TRY(tenon__prologues_make(grouping));
  }
  TENON_TRY(classify_rest(grouping));
  TENON_TRY(tenon__runs_make(grouping));
  return tenon__units_order(grouping, out_units);
}
