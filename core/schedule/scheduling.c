/* Memory and copies while a schedule is made: a value has one place for each device and layout that
 * a step asks for. The first request adds the copy. */
#include "core/schedule/scheduling.h"

#include <string.h>

#include "core/base/status.h"
#include "core/candidate/candidates.h"
#include "core/candidate/conversions.h"
#include "core/kernel/kernel_match.h"
#include "core/layout/place_rules.h"
#include "core/plan/place.h"
#include "core/plan/report.h"
#include "core/tensor/layout.h"

/* ---- Places ---- */

static tenon_status_t grow_places(scheduling_t* s) {
  const size_t wanted = s->place_capacity == 0 ? 64 : 2 * s->place_capacity;
  tenon__place_t* places = tenon__arena_allocate(s->arena, wanted, sizeof *places);
  uint32_t* next = tenon__arena_allocate(s->tuning->arena, wanted, sizeof *next);
  TENON_TRY_MEMORY(places != NULL && next != NULL);
  if (s->place_capacity > 0) {
    memcpy(places, s->schedule.places, s->place_capacity * sizeof *places);
    memcpy(next, s->next_copy, s->place_capacity * sizeof *next);
  }
  s->schedule.places = places;
  s->next_copy = next;
  s->place_capacity = wanted;
  return TENON_OK;
}

tenon_status_t tenon__scheduling_add_place(scheduling_t* s, const tenon__place_t* place,
                                           uint32_t* out_place) {
  if (s->schedule.place_count == s->place_capacity) {
    TENON_TRY(grow_places(s));
  }
  const uint32_t index = s->schedule.place_count++;
  s->schedule.places[index] = *place;
  s->schedule.places[index].alias = TENON_NONE;
  s->next_copy[index] = s->home[place->value];
  if (s->home[place->value] == TENON_NONE) {
    s->home[place->value] = index;
  } else { /* behind the home, which stays first */
    s->next_copy[index] = s->next_copy[s->home[place->value]];
    s->next_copy[s->home[place->value]] = index;
  }
  *out_place = index;
  return TENON_OK;
}

tenon_status_t tenon__scheduling_add_step(scheduling_t* s, const tenon__step_t* step) {
  if (s->schedule.step_count == s->step_capacity) {
    const size_t wanted = s->step_capacity == 0 ? 64 : 2 * s->step_capacity;
    tenon__step_t* steps = tenon__arena_allocate(s->arena, wanted, sizeof *steps);
    TENON_TRY_MEMORY(steps != NULL);
    if (s->step_capacity > 0) {
      memcpy(steps, s->schedule.steps, s->step_capacity * sizeof *steps);
    }
    s->schedule.steps = steps;
    s->step_capacity = wanted;
  }
  s->schedule.steps[s->schedule.step_count++] = *step;
  return TENON_OK;
}

/* ---- Kernel steps ---- */

tenon_status_t tenon__scheduling_add_kernel(scheduling_t* s, const tenon__chosen_t* chosen,
                                            const uint32_t* inputs, const uint32_t* outputs,
                                            const char* name) {
  const tenon__candidate_t* c = &chosen->candidates->items[chosen->pick];
  const tenon__kernel_binding_t binding =
      tenon__tuning_binding(s->tuning, chosen->region, c->kernel);
  tenon__step_t step = {
      .kind = TENON_STEP_KERNEL,
      .name = name,
      .device = chosen->region->device,
      .plugin = c->kernel->owner->plugin,
      .kernel = c->kernel->kernel.name,
      .kernel_version = c->kernel->kernel.version,
      .validity = tenon__arena_copy_string(s->arena, tenon__kernel_validity(&binding)),
      .region = chosen->region,
      .tactic = c->tactic,
      .measured_seconds = c->time.figure == TENON_FIGURE_MEASURED ? c->time.seconds : 0,
      .refusals =
          tenon__candidates_reasons(s->tuning, chosen->candidates, chosen->pick, chosen->notes),
      .node = TENON_NONE,
      .input_count = chosen->region->input_count,
      .output_count = chosen->region->output_count,
  };
  step.inputs = tenon__arena_copy(s->arena, inputs, step.input_count * sizeof *inputs);
  step.outputs = tenon__arena_copy(s->arena, outputs, step.output_count * sizeof *outputs);
  TENON_TRY_MEMORY(step.inputs != NULL && step.outputs != NULL && step.validity != NULL);
  return tenon__scheduling_add_step(s, &step);
}

/* The preferred copy, of those that can write into a box where the place is one. */
static uint32_t pick_copy(const tenon__chosen_t* copy, tenon__storage_t storage,
                          tenon_dtype_t dtype) {
  const tenon__candidates_t* candidates = copy->candidates;
  uint32_t pick = 0;
  while (storage == TENON_STORAGE_PART && !copy->region->outputs[0].aligned &&
         pick < candidates->count &&
         !tenon__rule_takes_boxes(candidates->items[pick].tactic.output_rules, dtype)) {
    ++pick;
  }
  return pick;
}

tenon_status_t tenon__scheduling_copy_to(scheduling_t* s, uint32_t from, const tenon__place_t* to,
                                         uint32_t* out_place) {
  orders_t orders = {.to = to->order,
                     .from_dtype = tenon__place_dtype(s->g, &s->schedule.places[from]),
                     .to_dtype = tenon__place_dtype(s->g, to),
                     .device = to->space};
  tenon__chosen_t chosen;
  TENON_TRY(tenon__place_order(s->tuning, s->graph, &s->schedule, from, s->arena, &orders.from));
  TENON_TRY(tenon__conversion_choose(s->tuning, s->graph, to->value, orders, s->arena, &chosen));
  chosen.pick = pick_copy(&chosen, to->storage, orders.to_dtype);
  if (chosen.pick >= chosen.candidates->count) {
    return tenon__fail(s->tuning->sink, TENON_ERROR_UNSUPPORTED,
                       "no kernel on device '%s' copies '%s' from one layout or type to another",
                       s->plan->devices[orders.device].name, s->g->values[to->value].name);
  }
  TENON_TRY(tenon__scheduling_add_place(s, to, out_place));
  return tenon__scheduling_add_kernel(
      s, &chosen, &from, out_place,
      tenon__arena_format(s->arena, "%s (copy)", s->g->values[to->value].name));
}

tenon_status_t tenon__scheduling_copy(scheduling_t* s, uint32_t from, const uint32_t* order,
                                      tenon__storage_t storage, uint32_t index,
                                      uint32_t* out_place) {
  const tenon__place_t place = {.value = s->schedule.places[from].value,
                                .storage = storage,
                                .index = index,
                                .order = order,
                                .space = s->schedule.places[from].space};
  return tenon__scheduling_copy_to(s, from, &place, out_place);
}

/* ---- From one memory into another ---- */

/* As it lies: what is a view is made whole before. */
tenon_status_t tenon__scheduling_cross(scheduling_t* s, uint32_t from, uint32_t space,
                                       tenon__storage_t storage, uint32_t index,
                                       uint32_t* out_place) {
  const tenon__place_t* source = &s->schedule.places[from];
  const bool is_view =
      source->storage == TENON_STORAGE_VIEW || source->storage == TENON_STORAGE_PART;
  const bool is_output = storage == TENON_STORAGE_OUTPUT;
  if (is_view || (is_output && (source->order != NULL || source->dtype != 0))) {
    const tenon__place_t whole = {.value = source->value,
                                  .storage = TENON_STORAGE_ARENA,
                                  .dtype = is_output ? TENON_DTYPE_UNDEFINED : source->dtype,
                                  .space = source->space};
    TENON_TRY(tenon__scheduling_copy_to(s, from, &whole, &from));
    source = &s->schedule.places[from];
  }
  const char* name = s->g->values[source->value].name;
  const tenon__place_t place = {.value = source->value,
                                .storage = storage,
                                .index = index,
                                .order = source->order,
                                .dtype = source->dtype,
                                .space = space};
  tenon__step_t step = {.kind = TENON_STEP_COPY,
                        .device = space == 0 ? source->space : space,
                        .node = TENON_NONE,
                        .input_count = 1,
                        .output_count = 1};
  const char* to = tenon__plan_device_text(s->plan, space, s->arena);
  step.name = to == NULL ? NULL : tenon__arena_format(s->arena, "%s (to %s)", name, to);
  TENON_TRY(tenon__scheduling_add_place(s, &place, out_place));
  step.inputs = tenon__arena_copy(s->arena, &from, sizeof from);
  step.outputs = tenon__arena_copy(s->arena, out_place, sizeof *out_place);
  TENON_TRY_MEMORY(step.name != NULL && step.inputs != NULL && step.outputs != NULL);
  return tenon__scheduling_add_step(s, &step);
}

/* Some place of the value in that memory; TENON_NONE. */
static uint32_t find_place(const scheduling_t* s, uint32_t value, uint32_t space) {
  uint32_t place = s->home[value];
  while (place != TENON_NONE && s->schedule.places[place].space != space) {
    place = s->next_copy[place];
  }
  return place;
}

/* A place of the value in that memory, whatever its layout: constants have one in each, what else
 * is elsewhere is brought, by way of the host. */
tenon_status_t tenon__scheduling_bring(scheduling_t* s, uint32_t value, uint32_t space,
                                       uint32_t* out_place) {
  const tenon__value_node_t* v = &s->g->values[value];
  const uint32_t host = find_place(s, value, 0);
  uint32_t from = host != TENON_NONE ? host : s->home[value];
  *out_place = find_place(s, value, space);
  if (*out_place != TENON_NONE) {
    return TENON_OK;
  }
  if (v->weights != TENON_NONE) {
    const tenon__place_t place = {
        .value = value, .storage = TENON_STORAGE_WEIGHTS, .index = v->weights, .space = space};
    return tenon__scheduling_add_place(s, &place, out_place);
  }
  if (space != 0 && s->schedule.places[from].space != 0) {
    TENON_TRY(tenon__scheduling_cross(s, from, 0, TENON_STORAGE_ARENA, 0, &from));
  }
  return tenon__scheduling_cross(s, from, space, TENON_STORAGE_ARENA, 0, out_place);
}

/* Where the region's input finds the value, in the memory of its device. */
tenon_status_t tenon__scheduling_place_for(scheduling_t* s, uint32_t value, uint32_t space,
                                           const tenon_argument_rule_t* rule, uint32_t* out_place) {
  const tenon__value_node_t* v = &s->g->values[value];
  uint32_t any = 0;
  if (s->home[value] == TENON_NONE) {
    return tenon__fail(s->tuning->sink, TENON_ERROR_INTERNAL,
                       "value '%s' is read before it is made", v->name);
  }
  TENON_TRY(tenon__scheduling_bring(s, value, space, &any));
  for (uint32_t p = s->home[value]; p != TENON_NONE; p = s->next_copy[p]) {
    const bool is_given_as_is = s->schedule.places[p].storage == TENON_STORAGE_WEIGHTS &&
                                tenon__rule_takes_rows(rule) &&
                                tenon__place_is_of_type(&s->schedule, p, v, rule) &&
                                tenon__place_is_aligned(s->tuning, s->graph, &s->schedule, p, rule);
    if (s->schedule.places[p].space == space &&
        (is_given_as_is || tenon__place_suits(s->tuning, s->graph, &s->schedule, p, rule))) {
      *out_place = p;
      return TENON_OK;
    }
  }
  const tenon_dtype_t dtype = rule == NULL ? TENON_DTYPE_UNDEFINED : rule->dtype;
  const tenon__place_t wanted = {
      .value = value,
      .storage = TENON_STORAGE_ARENA,
      .order = rule != NULL && rule->kind == TENON_LAYOUT_EXACT ? rule->layout->order : NULL,
      .dtype = dtype == v->type.dtype ? TENON_DTYPE_UNDEFINED : dtype,
      .space = space};
  return tenon__scheduling_copy_to(s, any, &wanted, out_place);
}
