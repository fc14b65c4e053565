/* Memory of the parameters and results of bodies, from inner to outer graphs: on the device of the
 * maker, else of the reader. Branches are visited twice, since a result may be a parameter. */
#include "core/schedule/body_spaces.h"

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/network/control.h"
#include "core/plan/place.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"

static const tenon__graph_t* graph_of(const tenon__body_spaces_t* s, uint32_t graph) {
  return s->tuning->network->graphs[graph];
}

/* ---- Control nodes ---- */

static bool layout_of(const tenon__body_spaces_t* s, uint32_t graph, uint32_t node,
                      tenon__control_layout_t* out_layout) {
  return s->tuning->device_count > 1 &&
         tenon__control_layout_of(s->tuning->network, graph, node, NULL, out_layout) == TENON_OK;
}

/* Results are those of a body that can run. */
static uint32_t sound_body(const tenon__body_spaces_t* s, uint32_t graph, uint32_t node) {
  const tenon__node_t* n = &graph_of(s, graph)->nodes[node];
  return n->body_count > 1 && graph_of(s, n->bodies[0])->fault != NULL ? n->bodies[1]
                                                                       : n->bodies[0];
}

uint32_t tenon__control_input_space(const tenon__body_spaces_t* spaces, uint32_t graph,
                                    uint32_t node, uint32_t input) {
  tenon__control_layout_t layout;
  if (!layout_of(spaces, graph, node, &layout) || input < layout.first_value) {
    return 0;
  }
  return spaces->parameters[sound_body(spaces, graph, node)]
                           [layout.first_parameter + input - layout.first_value];
}

uint32_t tenon__control_output_space(const tenon__body_spaces_t* spaces, uint32_t graph,
                                     uint32_t node, uint32_t output) {
  tenon__control_layout_t layout;
  return layout_of(spaces, graph, node, &layout)
             ? spaces->results[sound_body(spaces, graph, node)][layout.first_result + output]
             : 0;
}

/* ---- Who makes and who reads ---- */

static bool is_among(const uint32_t* values, uint32_t count, uint32_t value) {
  bool is = false;
  for (uint32_t k = 0; k < count && !is; ++k) {
    is = values[k] == value;
  }
  return is;
}

static uint32_t maker_in(const tenon__body_spaces_t* s, uint32_t graph, const tenon__unit_t* unit,
                         uint32_t value) {
  const tenon__node_t* node = &graph_of(s, graph)->nodes[unit->node];
  if (unit->kind == TENON_UNIT_REGION) {
    const struct tenon_region_t* region = unit->chosen.region;
    for (uint32_t k = 0; k < region->output_count; ++k) {
      if (region->outputs[k].value == value) {
        return region->device;
      }
    }
    return TENON_NONE;
  }
  if (unit->kind == TENON_UNIT_VIEW) {
    return node->outputs[unit->output] == value ? unit->device : TENON_NONE;
  }
  for (uint32_t k = 0; k < node->output_count; ++k) {
    if (node->outputs[k] == value) {
      return unit->kind == TENON_UNIT_CONTROL ? tenon__control_output_space(s, graph, unit->node, k)
                                              : 0;
    }
  }
  return TENON_NONE;
}

uint32_t tenon__maker_space(const tenon__body_spaces_t* spaces, uint32_t graph, uint32_t value) {
  uint32_t maker = TENON_NONE;
  for (uint32_t u = 0; u < spaces->units[graph].count && maker == TENON_NONE; ++u) {
    maker = maker_in(spaces, graph, &spaces->units[graph].items[u], value);
  }
  return maker;
}

/* Where the unit wants the value; TENON_NONE: it does not read it, or wherever it is. */
static uint32_t reader_in(const tenon__body_spaces_t* s, uint32_t graph, const tenon__unit_t* unit,
                          uint32_t value) {
  const tenon__node_t* node = &graph_of(s, graph)->nodes[unit->node];
  if (unit->kind == TENON_UNIT_REGION) {
    const struct tenon_region_t* region = unit->chosen.region;
    const tenon__candidate_t* c = &unit->chosen.candidates->items[unit->chosen.pick];
    for (uint32_t k = 0; k < region->input_count; ++k) {
      if (region->inputs[k].value == value) {
        const tenon_argument_rule_t* rule = tenon__rule_at(c->tactic.input_rules, k);
        return tenon__rule_is_host(rule) ? 0 : region->device;
      }
    }
    return TENON_NONE;
  }
  if (unit->kind == TENON_UNIT_VIEW) {
    return unit->device != 0 && is_among(node->inputs, node->input_count, value) ? unit->device
                                                                                 : TENON_NONE;
  }
  const uint32_t count = unit->kind == TENON_UNIT_CONTROL ? node->input_count : 0;
  for (uint32_t k = 0; k < count; ++k) {
    if (node->inputs[k] == value) {
      return tenon__control_input_space(s, graph, unit->node, k);
    }
  }
  return TENON_NONE;
}

/* Of a parameter: the first device that reads it, or whose result it is. The host, where that reads
 * it too: to wait for a device costs more than to give it a copy. */
static uint32_t reader_space(const tenon__body_spaces_t* s, uint32_t graph, uint32_t value) {
  const tenon__graph_t* g = graph_of(s, graph);
  uint32_t device = 0;
  for (uint32_t u = 0; u < s->units[graph].count; ++u) {
    const uint32_t reader = reader_in(s, graph, &s->units[graph].items[u], value);
    if (reader == 0) {
      return 0;
    }
    device = device == 0 && reader != TENON_NONE ? reader : device;
  }
  for (uint32_t k = 0; k < g->output_count && device == 0; ++k) {
    device = g->outputs[k] == value ? s->results[graph][k] : 0;
  }
  return device;
}

bool tenon__value_is_looked_at(const tenon__network_t* network, uint32_t graph, uint32_t value) {
  bool is = false;
  for (uint32_t k = 0; k < tenon__symbol_count(network->pool) && !is; ++k) {
    const tenon__symbol_t* symbol = tenon__symbol_get(network->pool, k);
    uint32_t its_graph = 0;
    uint32_t its_value = 0;
    uint32_t index = 0;
    is = symbol->kind == TENON_SYMBOL_CONTENT && symbol->min != symbol->max &&
         tenon__symbol_source(network, symbol, &its_graph, &its_value, &index) &&
         its_graph == graph && its_value == value;
  }
  return is;
}

/* ---- What may leave the host ---- */

/* Of a control node: whatever its extents are. TENON_NONE: an output that nobody wants. */
static bool may_cross(const tenon__body_spaces_t* s, uint32_t graph, uint32_t value) {
  if (value == TENON_NONE) {
    return true;
  }
  const tenon__type_t* type = &graph_of(s, graph)->values[value].type;
  return tenon__type_is_plain(type) && tenon__dtype_bits(type->dtype) % 8 == 0 &&
         !tenon__value_is_looked_at(s->tuning->network, graph, value);
}

/* Of a body: extents that a run finds stay with the host. */
static bool may_leave(const tenon__body_spaces_t* s, uint32_t body, uint32_t value) {
  return may_cross(s, body, value) &&
         !tenon__value_is_dynamic(s->tuning->network, body, value, &s->tuning->profile->max);
}

static uint32_t parameter_number(const tenon__graph_t* body, uint32_t value) {
  uint32_t k = 0;
  while (k < body->input_count && body->inputs[k] != value) {
    ++k;
  }
  return k < body->input_count ? k : TENON_NONE;
}

/* Where a result is made; a parameter's own place where it is one. */
static uint32_t result_space(const tenon__body_spaces_t* s, uint32_t body, uint32_t value) {
  const uint32_t maker = tenon__maker_space(s, body, value);
  const uint32_t parameter = parameter_number(graph_of(s, body), value);
  return maker != TENON_NONE ? maker : parameter != TENON_NONE ? s->parameters[body][parameter] : 0;
}

/* ---- Repeated bodies ---- */

/* Parameter and result take turns in one memory. True where that is another one than before. */
static bool place_carried(const tenon__body_spaces_t* s, uint32_t graph, const tenon__node_t* node,
                          const tenon__control_layout_t* layout, uint32_t k) {
  const uint32_t body = node->bodies[0];
  const tenon__graph_t* b = graph_of(s, body);
  uint32_t* parameter = &s->parameters[body][layout->first_parameter + k];
  uint32_t* result = &s->results[body][layout->first_result + k];
  const uint32_t from = b->inputs[layout->first_parameter + k];
  const uint32_t to = b->outputs[layout->first_result + k];
  const uint32_t outer = node->inputs[layout->first_value + k];
  const uint32_t maker = tenon__maker_space(s, body, to);
  const uint32_t before = *parameter;
  if (outer == TENON_NONE || !tenon__type_is_plain(&graph_of(s, graph)->values[outer].type) ||
      !may_cross(s, graph, node->outputs[k]) || !may_leave(s, body, from) ||
      !may_leave(s, body, to)) {
    return false;
  }
  const uint32_t reader = maker == TENON_NONE ? reader_space(s, body, from) : 0;
  const uint32_t source = maker == TENON_NONE && reader == 0 ? result_space(s, body, to) : 0;
  *parameter = maker != TENON_NONE ? maker : reader != 0 ? reader : source;
  *result = *parameter;
  return *parameter != before;
}

static void place_repeated(const tenon__body_spaces_t* s, uint32_t graph, const tenon__node_t* node,
                           const tenon__control_layout_t* layout) {
  const uint32_t body = node->bodies[0];
  const tenon__graph_t* b = graph_of(s, body);
  bool changed = true;
  /* Values that change places with one another follow one another. */
  for (uint32_t round = 0; round <= layout->carried_count && changed; ++round) {
    changed = false;
    for (uint32_t k = 0; k < layout->carried_count; ++k) {
      changed = place_carried(s, graph, node, layout, k) || changed;
    }
  }
  for (uint32_t k = 0; k < layout->scanned_count + layout->captured_count; ++k) {
    const uint32_t number = layout->carried_count + k;
    const uint32_t outer = node->inputs[layout->first_value + number];
    const uint32_t value = b->inputs[layout->first_parameter + number];
    if (outer != TENON_NONE && tenon__type_is_plain(&graph_of(s, graph)->values[outer].type) &&
        may_leave(s, body, value)) {
      s->parameters[body][layout->first_parameter + number] = reader_space(s, body, value);
    }
  }
  for (uint32_t k = 0; k < layout->collected_count; ++k) {
    const uint32_t number = layout->carried_count + k;
    const uint32_t value = b->outputs[layout->first_result + number];
    if (may_cross(s, graph, node->outputs[number]) && may_leave(s, body, value)) {
      s->results[body][layout->first_result + number] = result_space(s, body, value);
    }
  }
}

/* ---- Choices ---- */

typedef struct branches_t {
  const tenon__body_spaces_t* s;
  uint32_t count; /* that can run */
  uint32_t bodies[2];
} branches_t;

static void place_captured(const branches_t* b, uint32_t k) {
  uint32_t space = 0;
  bool may = true;
  for (uint32_t i = 0; i < b->count; ++i) {
    const uint32_t value = graph_of(b->s, b->bodies[i])->inputs[k];
    may = may && may_leave(b->s, b->bodies[i], value);
    space = space == 0 && may ? reader_space(b->s, b->bodies[i], value) : space;
  }
  for (uint32_t i = 0; i < b->count; ++i) {
    b->s->parameters[b->bodies[i]][k] = may ? space : 0;
  }
}

/* A device's, if any branch has it there. */
static void place_chosen(const branches_t* b, uint32_t k) {
  uint32_t space = 0;
  bool may = true;
  for (uint32_t i = 0; i < b->count; ++i) {
    const uint32_t value = graph_of(b->s, b->bodies[i])->outputs[k];
    may = may && may_leave(b->s, b->bodies[i], value);
    space = space == 0 && may ? result_space(b->s, b->bodies[i], value) : space;
  }
  for (uint32_t i = 0; i < b->count; ++i) {
    b->s->results[b->bodies[i]][k] = may ? space : 0;
  }
}

static void place_branches(const tenon__body_spaces_t* s, uint32_t graph, const tenon__node_t* node,
                           const tenon__control_layout_t* layout) {
  enum { ROUNDS = 2 }; /* parameters that are results */
  branches_t branches = {.s = s};
  for (uint32_t i = 0; i < node->body_count; ++i) {
    if (graph_of(s, node->bodies[i])->fault == NULL) {
      branches.bodies[branches.count++] = node->bodies[i];
    }
  }
  for (int round = 0; round < ROUNDS; ++round) {
    for (uint32_t k = 0; k < layout->captured_count; ++k) {
      const uint32_t outer = node->inputs[layout->first_value + k];
      if (outer != TENON_NONE && tenon__type_is_plain(&graph_of(s, graph)->values[outer].type)) {
        place_captured(&branches, k);
      }
    }
    for (uint32_t k = 0; k < layout->output_count; ++k) {
      if (node->outputs[k] == TENON_NONE || may_leave(s, graph, node->outputs[k])) {
        place_chosen(&branches, k);
      }
    }
  }
}

/* ---- All ---- */

static tenon_status_t make_lists(tenon__body_spaces_t* s, uint32_t graph_count) {
  tenon__arena_t* arena = s->tuning->arena;
  s->parameters = tenon__arena_allocate(arena, graph_count + 1u, sizeof *s->parameters);
  s->results = tenon__arena_allocate(arena, graph_count + 1u, sizeof *s->results);
  TENON_TRY_MEMORY(s->parameters != NULL && s->results != NULL);
  for (uint32_t g = 0; g < graph_count; ++g) {
    const tenon__graph_t* graph = graph_of(s, g);
    s->parameters[g] = tenon__arena_allocate(arena, graph->input_count + 1u, sizeof(uint32_t));
    s->results[g] = tenon__arena_allocate(arena, graph->output_count + 1u, sizeof(uint32_t));
    TENON_TRY_MEMORY(s->parameters[g] != NULL && s->results[g] != NULL);
  }
  return TENON_OK;
}

tenon_status_t tenon__body_spaces_find(const tenon__tuning_t* tuning, const tenon__units_t* units,
                                       uint32_t graph_count, tenon__body_spaces_t* out_spaces) {
  *out_spaces = (tenon__body_spaces_t){.tuning = tuning, .units = units};
  TENON_TRY(make_lists(out_spaces, graph_count));
  for (uint32_t g = graph_count; g-- > 0;) {
    const tenon__units_t* own = &units[g];
    const uint32_t count = tuning->device_count > 1 ? own->count : 0;
    for (uint32_t u = 0; u < count; ++u) {
      const tenon__node_t* node = &graph_of(out_spaces, g)->nodes[own->items[u].node];
      tenon__control_layout_t layout;
      if (own->items[u].kind != TENON_UNIT_CONTROL ||
          !layout_of(out_spaces, g, own->items[u].node, &layout)) {
        continue;
      }
      if (layout.form == TENON_CONTROL_CHOOSE) {
        place_branches(out_spaces, g, node, &layout);
      } else {
        place_repeated(out_spaces, g, node, &layout);
      }
    }
  }
  return TENON_OK;
}
