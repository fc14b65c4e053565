/* Units of the groups, in an order in which they can run: the earliest in the network first. */
#include "core/choice/units.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/choice/grouping.h"
#include "core/program/normalise.h"
#include "core/region/region_finish.h"

typedef struct ordering_t {
  grouping_t* grouping;
  uint32_t* waiting; /* per group: producers not yet out */
  uint32_t* heap;    /* ready groups, smallest last position first */
  uint32_t heap_count;
  uint32_t* user_begin; /* per group: users */
  uint32_t* users;
} ordering_t;

static bool heap_less(const ordering_t* o, uint32_t a, uint32_t b) {
  return o->grouping->groups[a].last_position < o->grouping->groups[b].last_position;
}

static void heap_push(ordering_t* o, uint32_t group) {
  uint32_t at = o->heap_count++;
  o->heap[at] = group;
  while (at > 0 && heap_less(o, o->heap[at], o->heap[(at - 1) / 2])) {
    const uint32_t above = (at - 1) / 2;
    const uint32_t swap = o->heap[above];
    o->heap[above] = o->heap[at];
    o->heap[at] = swap;
    at = above;
  }
}

static uint32_t heap_pop(ordering_t* o) {
  const uint32_t top = o->heap[0];
  o->heap[0] = o->heap[--o->heap_count];
  uint32_t at = 0;
  for (;;) {
    uint32_t least = at;
    for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < o->heap_count; ++child) {
      least = heap_less(o, o->heap[child], o->heap[least]) ? child : least;
    }
    if (least == at) {
      return top;
    }
    const uint32_t swap = o->heap[least];
    o->heap[least] = o->heap[at];
    o->heap[at] = swap;
    at = least;
  }
}

/* The group that makes a node's input; TENON_NONE for inputs of the graph, constants, and `own`. */
static uint32_t producer_group(const grouping_t* grouping, uint32_t value, uint32_t own) {
  const uint32_t producer = value == TENON_NONE ? TENON_NONE : grouping->g->values[value].producer;
  const uint32_t group = producer == TENON_NONE ? TENON_NONE : grouping->group_of[producer];
  return group == own ? TENON_NONE : group;
}

static void note_edge(ordering_t* o, uint32_t from, uint32_t to, bool fill) {
  if (from == TENON_NONE) {
    return;
  }
  if (fill) {
    o->users[--o->user_begin[from + 1]] = to;
    o->waiting[to] += 1;
  } else {
    o->user_begin[from + 1] += 1;
  }
}

/* Visits each edge producer group -> user group (with repeats). */
static void for_edges(ordering_t* o, bool fill) {
  const grouping_t* grouping = o->grouping;
  for (uint32_t i = 0; i < grouping->group_count; ++i) {
    const group_t* group = &grouping->groups[i];
    for (uint32_t n = 0; group->alive && n < group->node_count; ++n) {
      const tenon__node_t* node = &grouping->g->nodes[group->nodes[n]];
      for (uint32_t k = 0; k < node->input_count; ++k) {
        note_edge(o, producer_group(grouping, node->inputs[k], i), i, fill);
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
  for (uint32_t k = 0; k < n->output_count; ++k) {
    tenon__unit_t unit = {
        .kind = TENON_UNIT_VIEW, .node = node, .output = k, .epilogue = TENON_NONE};
    if (n->outputs[k] == TENON_NONE || !grouping->needed[n->outputs[k]]) {
      continue;
    }
    if (!tenon__index_map_is_view(tuning->network->pool, &n->maps[k])) {
      unit.kind = TENON_UNIT_REGION;
      unit.chosen.region = tenon__arena_allocate(arena, 1, sizeof *unit.chosen.region);
      if (unit.chosen.region == NULL) {
        return TENON_ERROR_OUT_OF_MEMORY;
      }
      TENON_TRY(tenon__region_of_move(arena, tuning->network, grouping->graph, node, k,
                                      unit.chosen.region));
      TENON_TRY(tenon__region_finish(arena, tuning->profile, unit.chosen.region));
    }
    units->items[units->count++] = unit;
  }
  return TENON_OK;
}

static tenon_status_t expression_region(grouping_t* grouping, const group_t* group,
                                        struct tenon_region_t** out_region) {
  tenon__tuning_t* tuning = grouping->tuning;
  tenon__arena_t* arena = grouping->arena;
  tenon__expression_t normal;
  struct tenon_region_t* region = tenon__arena_allocate(arena, 1, sizeof *region);
  if (region == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *out_region = region;
  TENON_TRY(tenon__expression_normalise(group->expression, arena, &normal));
  TENON_TRY(tenon__region_of_expression(arena, tuning->network, grouping->graph, &normal,
                                        group->values, group->nodes, group->node_count, region));
  return tenon__region_finish(arena, tuning->profile, region);
}

static tenon_status_t emit_group(grouping_t* grouping, const group_t* group,
                                 tenon__units_t* units) {
  tenon__unit_t unit = {.kind = group->kind, .node = group->nodes[0], .epilogue = group->epilogue};
  if (group->kind == TENON_UNIT_VIEW) {
    return emit_views(grouping, group, units);
  }
  if (group->kind == TENON_UNIT_REGION && group->expression != NULL) {
    TENON_TRY(expression_region(grouping, group, &unit.chosen.region));
  } else if (group->kind == TENON_UNIT_REGION) {
    unit.chosen.region = group->region;
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

static tenon_status_t emit_all(ordering_t* o, tenon__units_t* units) {
  grouping_t* grouping = o->grouping;
  uint32_t alive = 0;
  uint32_t emitted = 0;
  for_edges(o, false);
  for (uint32_t k = 0; k < grouping->group_count; ++k) {
    o->user_begin[k + 1] += o->user_begin[k];
  }
  /* Filling runs each group's end down to its beginning, which then stands at [group + 1]. */
  o->user_begin[grouping->group_count + 1] = o->user_begin[grouping->group_count];
  for_edges(o, true);
  for (uint32_t k = 0; k < grouping->group_count; ++k) {
    alive += grouping->groups[k].alive ? 1 : 0;
    if (grouping->groups[k].alive && o->waiting[k] == 0) {
      heap_push(o, k);
    }
  }
  while (o->heap_count > 0) {
    const uint32_t group = heap_pop(o);
    const uint32_t begin = o->user_begin[group + 1];
    const uint32_t end = o->user_begin[group + 2];
    TENON_TRY(emit_group(grouping, &grouping->groups[group], units));
    emitted += 1;
    for (uint32_t k = begin; k < end; ++k) {
      if (--o->waiting[o->users[k]] == 0) {
        heap_push(o, o->users[k]);
      }
    }
  }
  return emitted == alive
             ? TENON_OK
             : tenon__fail(grouping->tuning->sink, TENON_ERROR_INTERNAL,
                           "fused steps of graph %u wait for each other", grouping->graph);
}

tenon_status_t tenon__units_order(grouping_t* grouping, tenon__units_t* out_units) {
  size_t edges = 1;
  size_t outputs = 1;
  for (uint32_t p = 0; p < grouping->order_count; ++p) {
    edges += grouping->g->nodes[grouping->order[p]].input_count;
    outputs += grouping->g->nodes[grouping->order[p]].output_count;
  }
  ordering_t o = {.grouping = grouping};
  const size_t groups = grouping->group_count;
  o.waiting = tenon__arena_allocate(grouping->arena, groups + 1, sizeof(uint32_t));
  o.heap = tenon__arena_allocate(grouping->arena, groups + 1, sizeof(uint32_t));
  o.user_begin = tenon__arena_allocate(grouping->arena, groups + 3, sizeof(uint32_t));
  o.users = tenon__arena_allocate(grouping->arena, edges, sizeof(uint32_t));
  tenon__units_t units = {0};
  units.items = tenon__arena_allocate(grouping->arena, outputs + groups, sizeof *units.items);
  if (o.waiting == NULL || o.heap == NULL || o.user_begin == NULL || o.users == NULL ||
      units.items == NULL) {
    return tenon__fail_memory(grouping->tuning->sink);
  }
  TENON_TRY(emit_all(&o, &units));
  *out_units = units;
  return TENON_OK;
}
