/* Units of the groups, in an order in which they can run: the earliest in the network first. */
#include "core/fusion/units.h"

#include "core/base/heap.h"
#include "core/base/lists.h"
#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/fusion/grouping.h"
#include "core/program/normalise.h"
#include "core/region/region_finish.h"

typedef struct ordering_t {
  grouping_t* grouping;
  uint32_t* waiting;    /* per group: producers not yet out */
  tenon__heap_t ready;  /* groups by their last position */
  tenon__lists_t users; /* per group: groups that read what it makes */
  uint32_t* visited;    /* per dimension: the last round that looked at it */
  uint32_t round;
} ordering_t;

static void make_ready(ordering_t* o, uint32_t group) {
  tenon__heap_push(&o->ready, o->grouping->groups[group].last_position, group);
}

/* The group that makes a node's input; TENON_NONE for inputs of the graph, constants, and `own`. */
static uint32_t producer_group(const grouping_t* grouping, uint32_t value, uint32_t own) {
  const uint32_t producer = grouping->g->values[value].producer;
  const uint32_t group = producer == TENON_NONE ? TENON_NONE : grouping->group_of[producer];
  return group == own ? TENON_NONE : group;
}

static void note_edge(ordering_t* o, uint32_t from, uint32_t to, bool fill) {
  if (from == TENON_NONE) {
    return;
  }
  if (fill) {
    tenon__lists_add(&o->users, from, to);
    o->waiting[to] += 1;
  } else {
    tenon__lists_announce(&o->users, from);
  }
}

/* Symbols in `dim` may be found or read by a step. They are known once that step has run. Dimensions
 * share parts, so each is looked at once a round. */
static void note_makers(ordering_t* o, tenon_dim_t dim, uint32_t own, bool fill) {
  const grouping_t* grouping = o->grouping;
  const tenon__network_t* network = grouping->tuning->network;
  if ((!tenon__dim_mentions(network->pool, dim, TENON_SYMBOL_EXTENT) &&
       !tenon__dim_mentions(network->pool, dim, TENON_SYMBOL_CONTENT)) ||
      o->visited[dim.id] == o->round) {
    return;
  }
  o->visited[dim.id] = o->round;
  const tenon__dim_view_t view = tenon__dim_get(network->pool, dim);
  uint32_t graph = 0;
  uint32_t value = 0;
  uint32_t index = 0;
  if (view.kind == TENON_DIM_SYMBOL &&
      tenon__symbol_source(network, tenon__symbol_get(network->pool, view.index), &graph, &value,
                           &index) &&
      graph == grouping->graph) {
    note_edge(o, producer_group(grouping, value, own), own, fill);
  }
  const uint32_t count = view.kind == TENON_DIM_OPERATION ? view.operand_count : 0;
  for (uint32_t k = 0; k < count; ++k) {
    note_makers(o, view.operands[k], own, fill);
  }
}

/* Extents and contents of a value need not come through a node's inputs: the host computes them
 * from shapes without a step. */
static void note_makers_of(ordering_t* o, const tenon__type_t* type, uint32_t own, bool fill) {
  const uint32_t rank = type->rank == TENON_NONE ? 0 : type->rank;
  const uint32_t content_count = type->contents == NULL ? 0 : type->content_count;
  o->round += 1;
  for (uint32_t d = 0; d < rank; ++d) {
    note_makers(o, type->dims[d], own, fill);
  }
  for (uint32_t c = 0; c < content_count; ++c) {
    note_makers(o, type->contents[c], own, fill);
  }
}

/* Visits each edge producer group -> user group (with repeats). */
static void for_edges(ordering_t* o, bool fill) {
  const grouping_t* grouping = o->grouping;
  for (uint32_t i = 0; i < grouping->group_count; ++i) {
    const group_t* group = &grouping->groups[i];
    const uint32_t node_count = group->alive ? group->node_count : 0;
    for (uint32_t n = 0; n < node_count; ++n) {
      const tenon__node_t* node = &grouping->g->nodes[group->nodes[n]];
      TENON_EACH_INPUT(k, node) {
        note_edge(o, producer_group(grouping, node->inputs[k], i), i, fill);
      }
      TENON_EACH_OUTPUT(k, node) {
        note_makers_of(o, &grouping->g->values[node->outputs[k]].type, i, fill);
      }
    }
  }
}

static tenon_status_t emit_views(grouping_t* grouping, const group_t* group,
                                 tenon__units_t* units) {
  tenon__tuning_t* tuning = grouping->tuning;
  tenon__arena_t* arena = grouping->arena;
  const uint32_t node = group->nodes[0];
  const tenon__node_t* n = &grouping->g->nodes[node];
  TENON_EACH_OUTPUT(k, n) {
    tenon__unit_t unit = {
        .kind = TENON_UNIT_VIEW, .node = node, .output = k, .device = grouping->device_of[node]};
    if (!grouping->needed[n->outputs[k]]) {
      continue;
    }
    if (!tenon__index_map_is_view(tuning->network->pool, &n->maps[k])) {
      unit.kind = TENON_UNIT_REGION;
      unit.chosen.region = tenon__arena_allocate(arena, 1, sizeof *unit.chosen.region);
      TENON_TRY_MEMORY(unit.chosen.region != NULL);
      TENON_TRY(tenon__region_of_move(arena, tuning->network, grouping->graph, node, k,
                                      unit.chosen.region));
      unit.chosen.region->device = unit.device;
      TENON_TRY(tenon__region_finish(arena, tuning->profile, unit.chosen.region));
    }
    units->items[units->count++] = unit;
  }
  return TENON_OK;
}

tenon_status_t tenon__units_expression_region(grouping_t* grouping,
                                              const tenon__expression_t* expression,
                                              const uint32_t* values, const uint32_t* nodes,
                                              uint32_t node_count,
                                              struct tenon_region_t** out_region) {
  tenon__arena_t* arena = grouping->arena;
  tenon__expression_t normal;
  struct tenon_region_t* region = tenon__arena_allocate(arena, 1, sizeof *region);
  TENON_TRY_MEMORY(region != NULL);
  TENON_TRY(tenon__expression_normalise(expression, arena, &normal));
  const tenon__graph_expression_t source = {
      .expression = &normal, .values = values, .covered = nodes, .covered_count = node_count};
  TENON_TRY(tenon__region_of_expression(arena, grouping->tuning->network, grouping->graph, &source,
                                        region));
  region->device = grouping->device_of[nodes[0]];
  *out_region = region;
  return TENON_OK;
}

static tenon_status_t emit_group(grouping_t* grouping, const group_t* group,
                                 tenon__units_t* units) {
  tenon__unit_t unit = {.kind = group->kind,
                        .node = group->nodes[0],
                        .device = grouping->device_of[group->nodes[0]],
                        .fusions = group->fusions};
  if (group->kind == TENON_UNIT_VIEW) {
    return emit_views(grouping, group, units);
  }
  if (group->kind == TENON_UNIT_REGION && group->expression != NULL) {
    TENON_TRY(tenon__units_expression_region(grouping, group->expression, group->values,
                                             group->nodes, group->node_count, &unit.chosen.region));
    TENON_TRY(tenon__region_finish(grouping->arena, grouping->tuning->profile, unit.chosen.region));
  } else if (group->kind == TENON_UNIT_REGION) {
    unit.chosen.region = group->region;
    unit.chosen.candidates = group->candidates;
  }
  for (uint32_t k = 0; k < group->node_count; ++k) {
    const char* note = grouping->notes[group->nodes[k]];
    if (note != NULL) {
      unit.chosen.notes = tenon__arena_format(
          grouping->arena, "%s%s", unit.chosen.notes == NULL ? "" : unit.chosen.notes, note);
    }
  }
  units->items[units->count++] = unit;
  return TENON_OK;
}

static tenon_status_t find_users(ordering_t* o) {
  tenon__arena_t* arena = o->grouping->arena;
  const uint32_t groups = o->grouping->group_count;
  o->waiting = tenon__arena_allocate(arena, groups + 1u, sizeof(uint32_t));
  o->visited = tenon__arena_allocate(
      arena, tenon__dim_pool_count(o->grouping->tuning->network->pool) + 1u, sizeof(uint32_t));
  TENON_TRY_MEMORY(o->waiting != NULL && o->visited != NULL &&
                   tenon__heap_begin(&o->ready, groups, arena) &&
                   tenon__lists_begin(&o->users, groups, arena));
  for_edges(o, false);
  TENON_TRY_MEMORY(tenon__lists_lay_out(&o->users, arena));
  for_edges(o, true);
  return TENON_OK;
}

static void release_users(ordering_t* o, uint32_t group) {
  const uint32_t* users = tenon__lists_get(&o->users, group);
  for (uint32_t k = 0; k < tenon__lists_count(&o->users, group); ++k) {
    if (--o->waiting[users[k]] == 0) {
      make_ready(o, users[k]);
    }
  }
}

static tenon_status_t emit_all(ordering_t* o, tenon__units_t* units) {
  grouping_t* grouping = o->grouping;
  uint32_t alive = 0;
  uint32_t emitted = 0;
  for (uint32_t k = 0; k < grouping->group_count; ++k) {
    alive += grouping->groups[k].alive ? 1 : 0;
    if (grouping->groups[k].alive && o->waiting[k] == 0) {
      make_ready(o, k);
    }
  }
  while (o->ready.count > 0) {
    const uint32_t group = tenon__heap_pop(&o->ready);
    TENON_TRY(emit_group(grouping, &grouping->groups[group], units));
    emitted += 1;
    release_users(o, group);
  }
  return emitted == alive
             ? TENON_OK
             : tenon__fail(grouping->tuning->sink, TENON_ERROR_INTERNAL,
                           "fused steps of graph %u wait for each other", grouping->graph);
}

tenon_status_t tenon__units_order(grouping_t* grouping, tenon__units_t* out_units) {
  ordering_t o = {.grouping = grouping};
  tenon__units_t units = {0};
  size_t most = grouping->group_count;
  for (uint32_t p = 0; p < grouping->order_count; ++p) {
    most += grouping->g->nodes[grouping->order[p]].output_count; /* moves and views: a unit each */
  }
  units.items = tenon__arena_allocate(grouping->arena, most + 1, sizeof *units.items);
  TENON_TRY_MEMORY(units.items != NULL);
  TENON_TRY(find_users(&o));
  TENON_TRY(emit_all(&o, &units));
  *out_units = units;
  return TENON_OK;
}
