/*
 * Steps and places from the choice. Views are places without memory. Outputs of the network are
 * written where they belong if their producer can.
 */
#include "core/schedule/schedule.h"

#include <string.h>

#include "core/base/status.h"
#include "core/layout/place_rules.h"
#include "core/plan/place_view.h"
#include "core/region/retype.h"
#include "core/schedule/schedule_parts.h"
#include "core/schedule/state_places.h"
#include "core/tensor/index_map_run.h"
#include "core/tensor/layout.h"

/* ---- Units ---- */

static tenon_status_t output_place(scheduling_t* s, uint32_t value, const output_form_t* form,
                                   uint32_t* out_place) {
  bool is_part = false;
  if (form->dtype == TENON_DTYPE_UNDEFINED || form->dtype == s->g->values[value].type.dtype) {
    TENON_TRY(tenon__scheduling_place_part(s, value, form->order, out_place, &is_part));
  }
  return is_part ? TENON_OK : tenon__scheduling_place_output(s, value, form, out_place);
}

/* What a rule that follows an input comes to, when that input has its place. */
static tenon_status_t follow(const scheduling_t* s, const struct tenon_region_t* region,
                             const uint32_t* inputs, const tenon_argument_rule_t* rule,
                             uint32_t rank, const uint32_t** out_order) {
  const uint32_t value = region->inputs[rule->argument].value;
  const uint32_t place = inputs[rule->argument];
  *out_order = NULL;
  return value == TENON_NONE || place == TENON_NONE || s->g->values[value].type.rank != rank
             ? TENON_OK
             : tenon__place_order(s->tuning, s->graph, &s->schedule, place, s->arena, out_order);
}

static uint32_t space_of(const struct tenon_region_t* region, const tenon_argument_rule_t* rule) {
  return tenon__rule_is_host(rule) ? 0 : region->device;
}

static tenon_status_t place_follower(scheduling_t* s, const struct tenon_region_t* region,
                                     const tenon_argument_rule_t* rule, uint32_t* inputs,
                                     uint32_t k) {
  const uint32_t value = region->inputs[k].value;
  const uint32_t rank = s->g->values[value].type.rank;
  const uint32_t* order = NULL;
  TENON_TRY(follow(s, region, inputs, rule, rank, &order));
  const tenon_layout_t layout = {.size = sizeof layout, .order = order, .rank = rank};
  const tenon_argument_rule_t wanted = {
      .kind = order == NULL ? TENON_LAYOUT_ROW_MAJOR : TENON_LAYOUT_EXACT,
      .layout = &layout,
      .dtype = tenon__region_input_dtype(region, k, rule),
      .alignment = rule->alignment};
  return tenon__scheduling_place_for(s, value, space_of(region, rule), &wanted, &inputs[k]);
}

/* Those that follow another come behind it. */
static tenon_status_t place_region_inputs(scheduling_t* s, const struct tenon_region_t* region,
                                          const tenon_argument_rule_t* rules, uint32_t* inputs) {
  static const tenon_argument_rule_t rows = {.kind = TENON_LAYOUT_ROW_MAJOR};
  for (uint32_t k = 0; k < region->input_count; ++k) {
    const tenon_argument_rule_t* rule = tenon__rule_at(rules, k);
    tenon_argument_rule_t wanted = rule == NULL ? rows : *rule;
    wanted.dtype = tenon__region_input_dtype(region, k, rule);
    inputs[k] = TENON_NONE;
    if (region->inputs[k].value != TENON_NONE && wanted.kind != TENON_LAYOUT_FOLLOWS) {
      TENON_TRY(tenon__scheduling_place_for(s, region->inputs[k].value, space_of(region, rule),
                                            &wanted, &inputs[k]));
    }
  }
  const uint32_t ruled_count = rules == NULL ? 0 : region->input_count;
  for (uint32_t k = 0; k < ruled_count; ++k) {
    if (region->inputs[k].value != TENON_NONE && rules[k].kind == TENON_LAYOUT_FOLLOWS) {
      TENON_TRY(place_follower(s, region, &rules[k], inputs, k));
    }
  }
  return TENON_OK;
}

static const tenon_argument_rule_t* output_rule(const tenon__unit_t* unit, uint32_t k) {
  const tenon__candidate_t* c = &unit->chosen.candidates->items[unit->chosen.pick];
  return tenon__rule_at(c->tactic.output_rules, k);
}

static tenon_status_t output_order(const scheduling_t* s, const tenon__unit_t* unit,
                                   const uint32_t* inputs, uint32_t k, const uint32_t** out_order) {
  const struct tenon_region_t* region = unit->chosen.region;
  const tenon_argument_rule_t* rule = output_rule(unit, k);
  const uint32_t first = region->outputs[0].value;
  const uint32_t rank = s->g->values[region->outputs[k].value].type.rank;
  *out_order = NULL;
  if (rule == NULL || rule->kind == TENON_LAYOUT_ROW_MAJOR) {
    return TENON_OK;
  }
  if (rule->kind == TENON_LAYOUT_FOLLOWS) {
    return follow(s, region, inputs, rule, rank, out_order);
  }
  const bool same_rank = first != TENON_NONE && s->g->values[first].type.rank == rank;
  *out_order = rule->kind == TENON_LAYOUT_EXACT ? rule->layout->order
               : same_rank                      ? unit->chosen.order
                                                : NULL;
  return TENON_OK;
}

static tenon_status_t schedule_region(scheduling_t* s, const tenon__unit_t* unit) {
  const struct tenon_region_t* region = unit->chosen.region;
  const tenon__candidate_t* c = &unit->chosen.candidates->items[unit->chosen.pick];
  uint32_t* inputs =
      tenon__arena_allocate(s->tuning->arena, region->input_count + 1u, sizeof *inputs);
  uint32_t* outputs =
      tenon__arena_allocate(s->tuning->arena, region->output_count + 1u, sizeof *outputs);
  TENON_TRY_MEMORY(inputs != NULL && outputs != NULL);
  TENON_TRY(place_region_inputs(s, region, c->tactic.input_rules, inputs));
  for (uint32_t k = 0; k < region->output_count; ++k) {
    const uint32_t* order = NULL;
    outputs[k] = TENON_NONE;
    if (region->outputs[k].value != TENON_NONE) {
      TENON_TRY(output_order(s, unit, inputs, k, &order));
      const output_form_t form = {
          .rule = output_rule(unit, k),
          .order = order,
          .dtype = tenon__region_output_dtype(region, k, output_rule(unit, k)),
          .space = region->device};
      TENON_TRY(output_place(s, region->outputs[k].value, &form, &outputs[k]));
    }
  }
  return tenon__scheduling_add_kernel(s, &unit->chosen, inputs, outputs,
                                      s->g->nodes[region->covered[0]].name);
}

/* Does the view exist on the base at all of the profile's points? Where extents are unknown, a view
 * with others exists on rows alone. */
static bool view_fits(const scheduling_t* s, uint32_t base, const tenon__index_map_t* map) {
  const tenon_argument_rule_t rows = {.kind = TENON_LAYOUT_ROW_MAJOR,
                                      .dtype = s->schedule.places[base].dtype};
  const tenon__extents_t* const points[] = {&s->tuning->profile->optimum, &s->tuning->profile->min,
                                            &s->tuning->profile->max};
  for (int k = 0; k < 3; ++k) {
    int64_t dims[TENON_RANK_LIMIT];
    int64_t strides[TENON_RANK_LIMIT];
    int64_t own[TENON_RANK_LIMIT];
    int64_t offset = 0;
    int64_t shift = 0;
    const tenon__placement_t placement = {.network = s->tuning->network,
                                          .graph = s->graph,
                                          .schedule = &s->schedule,
                                          .extents = points[k]};
    if (tenon__place_strides(&placement, base, dims, strides, &offset) != TENON_OK ||
        !tenon__extents_shape(points[k], map->rank, map->dims, own)) {
      if (map->kind == TENON_MAP_LINEAR &&
          !tenon__place_suits(s->tuning, s->graph, &s->schedule, base, &rows)) {
        return false;
      }
      continue;
    }
    if (tenon__index_map_view(points[k], map, dims, strides, own, &shift) != TENON_OK) {
      return false;
    }
  }
  return true;
}

static tenon_status_t schedule_view(scheduling_t* s, const tenon__unit_t* unit) {
  const tenon__node_t* node = &s->g->nodes[unit->node];
  tenon__index_map_t* map = tenon__arena_copy(s->arena, &node->maps[unit->output], sizeof *map);
  uint32_t place = 0;
  TENON_TRY_MEMORY(map != NULL);
  map->fill = TENON_FILL_NONE; /* a view needs none: every element is in range */
  const uint32_t source = node->inputs[map->sources[0].input];
  uint32_t base = 0;
  if (s->home[source] == TENON_NONE) {
    return tenon__fail(s->tuning->sink, TENON_ERROR_INTERNAL,
                       "value '%s' is read before it is made", s->g->values[source].name);
  }
  TENON_TRY(tenon__scheduling_bring(s, source, unit->device, &base));
  if (!view_fits(s, base, map)) {
    /* In the type in which it is kept: whoever reads the view wants that, or converts. */
    const tenon_argument_rule_t rows = {.kind = TENON_LAYOUT_ROW_MAJOR,
                                        .dtype = s->schedule.places[base].dtype};
    TENON_TRY(tenon__scheduling_place_for(s, source, unit->device, &rows, &base));
  }
  const tenon__place_t view = {.value = node->outputs[unit->output],
                               .storage = TENON_STORAGE_VIEW,
                               .base = base,
                               .map = map,
                               .dtype = s->schedule.places[base].dtype,
                               .space = unit->device};
  return tenon__scheduling_add_place(s, &view, &place);
}

/* Control. On a device a body's kernels may ask for alignment of what is lent to it. */
static tenon_status_t place_inputs(scheduling_t* s, uint32_t number, uint32_t* out_places) {
  const tenon__node_t* node = &s->g->nodes[number];
  for (uint32_t k = 0; k < node->input_count; ++k) {
    out_places[k] = TENON_NONE;
    if (node->inputs[k] != TENON_NONE) {
      const uint32_t space = tenon__control_input_space(s->spaces, s->graph, number, k);
      const tenon_argument_rule_t rows = {.kind = TENON_LAYOUT_ROW_MAJOR,
                                          .alignment = space == 0 ? 0 : TENON_RULE_MOST_ALIGNMENT};
      TENON_TRY(tenon__scheduling_place_for(s, node->inputs[k], space, &rows, &out_places[k]));
    }
  }
  return TENON_OK;
}

static tenon_status_t schedule_node(scheduling_t* s, const tenon__unit_t* unit) {
  const tenon__node_t* node = &s->g->nodes[unit->node];
  const bool is_contents = unit->kind == TENON_UNIT_CONTENTS;
  tenon__step_t step = {.kind = TENON_STEP_CONTENTS, .name = node->name, .node = unit->node};
  uint32_t* inputs = tenon__arena_allocate(s->arena, node->input_count + 1u, sizeof *inputs);
  uint32_t* outputs = tenon__arena_allocate(s->arena, node->output_count + 1u, sizeof *outputs);
  TENON_TRY_MEMORY(inputs != NULL && outputs != NULL);
  if (!is_contents) {
    const uint32_t form = node->op->descriptor.control->form;
    step.kind = form == TENON_CONTROL_CHOOSE   ? TENON_STEP_CHOOSE
                : form == TENON_CONTROL_REPEAT ? TENON_STEP_REPEAT
                                               : TENON_STEP_MAP;
    step.input_count = node->input_count;
    TENON_TRY(place_inputs(s, unit->node, inputs));
  }
  step.output_count = node->output_count;
  for (uint32_t k = 0; k < node->output_count; ++k) {
    outputs[k] = TENON_NONE;
    if (node->outputs[k] != TENON_NONE) {
      const output_form_t rows = {
          .space =
              is_contents ? 0 : tenon__control_output_space(s->spaces, s->graph, unit->node, k)};
      TENON_TRY(output_place(s, node->outputs[k], &rows, &outputs[k]));
    }
  }
  step.inputs = inputs;
  step.outputs = outputs;
  return tenon__scheduling_add_step(s, &step);
}

/* ---- The graph's border ---- */

/* Constants, inputs (parameters, in a body) and states have their places from the start. */
static tenon_status_t place_sources(scheduling_t* s) {
  uint32_t place = 0;
  for (uint32_t v = 0; v < s->g->value_count; ++v) {
    if (s->g->values[v].alive && s->g->values[v].weights != TENON_NONE) {
      const tenon__place_t p = {
          .value = v, .storage = TENON_STORAGE_WEIGHTS, .index = s->g->values[v].weights};
      TENON_TRY(tenon__scheduling_add_place(s, &p, &place));
    } else if (s->g->values[v].alive && s->g->values[v].state != TENON_NONE) {
      const uint32_t state = s->g->values[v].state;
      const tenon__place_t p = {.value = v,
                                .storage = TENON_STORAGE_STATE,
                                .index = state,
                                .space = s->state_spaces[state]};
      TENON_TRY(tenon__scheduling_add_place(s, &p, &place));
    }
  }
  s->schedule.input_count = s->g->input_count;
  s->schedule.inputs =
      tenon__arena_allocate(s->arena, s->g->input_count + 1u, sizeof *s->schedule.inputs);
  TENON_TRY_MEMORY(s->schedule.inputs != NULL);
  for (uint32_t k = 0; k < s->g->input_count; ++k) {
    const tenon__place_t p = {
        .value = s->g->inputs[k],
        .storage = s->graph == 0 ? TENON_STORAGE_INPUT : TENON_STORAGE_PARAMETER,
        .index = k,
        .space = s->spaces->parameters[s->graph][k]};
    if (s->home[p.value] == TENON_NONE) {
      TENON_TRY(tenon__scheduling_add_place(s, &p, &place));
    }
    s->schedule.inputs[k] = s->home[p.value];
  }
  return TENON_OK;
}

static bool reads_on_device(const scheduling_t* s, const tenon__unit_t* unit, uint32_t value) {
  bool reads = false;
  if (unit->kind == TENON_UNIT_VIEW) {
    const tenon__node_t* node = &s->g->nodes[unit->node];
    return unit->device != 0 && node->inputs[node->maps[unit->output].sources[0].input] == value;
  }
  if (unit->kind != TENON_UNIT_REGION) {
    return false;
  }
  const struct tenon_region_t* region = unit->chosen.region;
  const tenon__candidate_t* c = &unit->chosen.candidates->items[unit->chosen.pick];
  for (uint32_t k = 0; k < region->input_count && !reads; ++k) {
    reads = region->inputs[k].value == value &&
            space_of(region, tenon__rule_at(c->tactic.input_rules, k)) != 0;
  }
  return reads;
}

static tenon_status_t bring_input(scheduling_t* s, uint32_t value) {
  uint32_t place = 0;
  for (uint32_t u = 0; u < s->units->count; ++u) {
    const tenon__unit_t* unit = &s->units->items[u];
    if (reads_on_device(s, unit, value)) {
      const bool is_view = unit->kind == TENON_UNIT_VIEW;
      const uint32_t device = is_view ? unit->device : unit->chosen.region->device;
      TENON_TRY(tenon__scheduling_bring(s, value, device, &place));
    }
  }
  return TENON_OK;
}

/* Before all other steps, so that none of those stands between steps that are recorded together. */
static tenon_status_t bring_inputs(scheduling_t* s) {
  const uint32_t count = s->graph == 0 && s->tuning->device_count > 1 ? s->g->input_count : 0;
  for (uint32_t k = 0; k < count; ++k) {
    TENON_TRY(bring_input(s, s->g->inputs[k]));
  }
  return TENON_OK;
}

/* Main graph: each output has a place of its own, row-major. A body's results are rows in the
 * memory where its control step has them. */
static tenon_status_t place_outputs(scheduling_t* s) {
  const tenon_argument_rule_t rows = {.kind = TENON_LAYOUT_ROW_MAJOR};
  s->schedule.output_count = s->g->output_count;
  s->schedule.outputs =
      tenon__arena_allocate(s->arena, s->g->output_count + 1u, sizeof *s->schedule.outputs);
  TENON_TRY_MEMORY(s->schedule.outputs != NULL);
  for (uint32_t k = 0; k < s->g->output_count; ++k) {
    uint32_t place = s->home[s->g->outputs[k]];
    if (place >= s->schedule.place_count) {
      return tenon__fail(s->tuning->sink, TENON_ERROR_INTERNAL, "output '%s' is never made",
                         s->g->values[s->g->outputs[k]].name);
    }
    const bool is_tensor = s->g->values[s->g->outputs[k]].type.kind == TENON_ARGUMENT_TENSOR;
    const bool in_place = s->schedule.places[place].storage == TENON_STORAGE_OUTPUT &&
                          s->schedule.places[place].index == k;
    if (s->graph == 0 && is_tensor && !in_place &&
        s->g->values[s->g->outputs[k]].type.dtype != TENON_DTYPE_STRING) {
      const uint32_t space = s->schedule.places[place].space;
      TENON_TRY(space != 0
                    ? tenon__scheduling_cross(s, place, 0, TENON_STORAGE_OUTPUT, k, &place)
                    : tenon__scheduling_copy(s, place, NULL, TENON_STORAGE_OUTPUT, k, &place));
    } else if (s->graph != 0) {
      TENON_TRY(tenon__scheduling_place_for(s, s->g->outputs[k], s->spaces->results[s->graph][k],
                                            &rows, &place));
    }
    s->schedule.outputs[k] = place;
  }
  return TENON_OK;
}

/* Before there are places. */
static tenon_status_t find_state_spaces(scheduling_t* s) {
  const uint32_t count = s->graph == 0 ? s->tuning->network->state_count : 0;
  s->state_spaces = tenon__arena_allocate(s->tuning->arena, count + 1u, sizeof(uint32_t));
  TENON_TRY_MEMORY(s->state_spaces != NULL);
  for (uint32_t k = 0; k < count; ++k) {
    s->state_spaces[k] = tenon__scheduling_state_space(s, k);
  }
  return TENON_OK;
}

static tenon_status_t prepare(scheduling_t* s) {
  const size_t values = s->g->value_count + 1u;
  s->home = tenon__arena_allocate(s->tuning->arena, values, sizeof *s->home);
  s->output_of = tenon__arena_allocate(s->tuning->arena, values, sizeof *s->output_of);
  TENON_TRY_MEMORY(s->home != NULL && s->output_of != NULL);
  memset(s->home, 0xff, values * sizeof *s->home);
  memset(s->output_of, 0xff, values * sizeof *s->output_of);
  for (uint32_t k = s->graph == 0 ? s->g->output_count : 0; k-- > 0;) {
    s->output_of[s->g->outputs[k]] = k; /* the first of several */
  }
  TENON_TRY(find_state_spaces(s));
  return place_sources(s);
}

tenon_status_t tenon__schedule_make(tenon__tuning_t* tuning, uint32_t graph,
                                    const tenon__body_spaces_t* spaces, tenon__plan_t* plan,
                                    tenon__schedule_t* out_schedule) {
  const tenon__units_t* units = &spaces->units[graph];
  scheduling_t s = {.tuning = tuning,
                    .plan = plan,
                    .arena = &plan->arena,
                    .graph = graph,
                    .g = tuning->network->graphs[graph],
                    .units = units,
                    .spaces = spaces};
  TENON_TRY(tenon__joins_choose(tuning, graph, units, &s.joins));
  TENON_TRY(prepare(&s));
  TENON_TRY(bring_inputs(&s));
  for (uint32_t u = 0; u < units->count; ++u) {
    const tenon__unit_t* unit = &units->items[u];
    switch (unit->kind) {
      case TENON_UNIT_REGION:
        TENON_TRY(tenon__scheduling_joins(&s, u) ? tenon__scheduling_join(&s, u)
                                                 : schedule_region(&s, unit));
        break;
      case TENON_UNIT_VIEW:
        TENON_TRY(schedule_view(&s, unit));
        break;
      default:
        TENON_TRY(schedule_node(&s, unit));
        break;
    }
  }
  TENON_TRY(place_outputs(&s));
  TENON_TRY(tenon__scheduling_place_updates(&s));
  *out_schedule = s.schedule;
  return TENON_OK;
}
