/*
 * Types of a whole graph. Each unit in turn takes what is best given its neighbours (layouts.c),
 * then each is tried together with its neighbours: from where all is in its own type, and from
 * where all is in another one.
 */
#include "core/layout/layout_types.h"

#include <math.h>

#include "core/base/noise.h"
#include "core/base/status.h"
#include "core/layout/readers.h"

/* ---- Starts ---- */

/* Regions as the types are in the end, whatever was left when the sweeps were over. */
static tenon_status_t settle(choosing_t* c) {
  layouts_t* l = &c->layouts;
  for (uint32_t u = 0; u < l->units->count; ++u) {
    tenon__unit_t* unit = &l->units->items[u];
    if (unit->kind == TENON_UNIT_REGION) {
      TENON_TRY(tenon__typing_set(&l->typing, unit, unit->dtype));
      tenon__layouts_publish(l, unit);
    }
  }
  return TENON_OK;
}

static cost_t total_of(const layouts_t* l, const tenon__copies_t* copies) {
  cost_t total = {copies->time.figure == TENON_FIGURE_NONE ? 1 : 0, copies->time.seconds};
  for (uint32_t u = 0; u < l->units->count; ++u) {
    total.seconds += l->units->items[u].own_seconds;
    total.unknown_count += tenon__layouts_unknown_count(&l->units->items[u]);
  }
  return total;
}

/* What a program makes; operators' results follow their tactics' rules. */
static tenon_status_t leave_in(choosing_t* c, tenon__unit_t* unit, tenon_dtype_t dtype) {
  typing_t* t = &c->layouts.typing;
  return tenon__typing_set(
      t, unit, tenon__typing_may_narrow(t, unit) ? dtype : (tenon_dtype_t)TENON_DTYPE_UNDEFINED);
}

/* Everybody's fastest tactic of those in their own type or in this one, programs in between in it:
 * of a chain none may gain where it alone is converted, and all of them together. */
static tenon_status_t narrow_all(choosing_t* c, tenon_dtype_t dtype) {
  layouts_t* l = &c->layouts;
  for (uint32_t u = 0; u < l->units->count; ++u) {
    tenon__unit_t* unit = &l->units->items[u];
    if (unit->kind != TENON_UNIT_REGION) {
      continue;
    }
    TENON_TRY(leave_in(c, unit, dtype));
    tenon__typing_pick(&l->typing, dtype, &unit->chosen);
    tenon__layouts_publish(l, unit);
  }
  return TENON_OK;
}

static tenon_status_t expect_narrow(choosing_t* c) {
  layouts_t* l = &c->layouts;
  for (uint32_t u = 0; u < l->units->count; ++u) {
    const tenon__unit_t* unit = &l->units->items[u];
    const bool may =
        unit->kind == TENON_UNIT_REGION &&
        (unit->plain->kind == TENON_REGION_MOVE || tenon__typing_may_narrow(&l->typing, unit));
    const uint32_t count = may ? l->typing.type_count : 0;
    for (uint32_t t = 0; t < count; ++t) {
      TENON_TRY(tenon__typing_expect(&l->typing, unit, l->typing.types[t]));
    }
  }
  return TENON_OK;
}

/* ---- Several at once ---- */

enum { MOST_NEIGHBOURS = 12 };

/* A unit, and those that make what it reads and read what it makes; as they were. */
typedef struct neighbours_t {
  uint32_t count;
  tenon__unit_t* units[MOST_NEIGHBOURS];
  tenon__unit_t before[MOST_NEIGHBOURS];
} neighbours_t;

static void add_neighbour(neighbours_t* n, tenon__unit_t* unit) {
  bool is_new = unit->kind == TENON_UNIT_REGION && n->count < MOST_NEIGHBOURS;
  for (uint32_t k = 0; k < n->count && is_new; ++k) {
    is_new = n->units[k] != unit;
  }
  if (is_new) {
    n->before[n->count] = *unit;
    n->units[n->count++] = unit;
  }
}

static void add_readers(const choosing_t* c, neighbours_t* n, uint32_t value) {
  const layouts_t* l = &c->layouts;
  const uint32_t* readers = tenon__lists_get(&l->readers, value);
  for (uint32_t r = 0; r < tenon__lists_count(&l->readers, value); ++r) {
    add_neighbour(n, &l->units->items[readers[r]]);
  }
}

static void find_neighbours(const choosing_t* c, tenon__unit_t* unit, neighbours_t* out_n) {
  const struct tenon_region_t* region = unit->plain;
  *out_n = (neighbours_t){0};
  add_neighbour(out_n, unit);
  TENON_EACH_REGION_OUTPUT(k, region) {
    add_readers(c, out_n, region->outputs[k].value);
  }
  TENON_EACH_REGION_INPUT(k, region) {
    const uint32_t value = region->inputs[k].value;
    if (c->maker_of[value] != TENON_NONE) {
      add_neighbour(out_n, &c->layouts.units->items[c->maker_of[value]]);
    }
  }
}

/* Copies between them count twice, before as well as after. */
static cost_t cost_of(choosing_t* c, const neighbours_t* n) {
  const cost_t no_limit = {INFINITY, INFINITY};
  cost_t sum = {0, 0};
  for (uint32_t k = 0; k < n->count; ++k) {
    sum = tenon__cost_sum(sum, tenon__layouts_unit_cost(&c->layouts, n->units[k], no_limit));
  }
  return sum;
}

/* The unit's fastest pick that makes its first result in that type; false: none does. */
static bool pick_maker(const choosing_t* c, tenon__unit_t* unit, tenon_dtype_t dtype) {
  const tenon__candidates_t* candidates = unit->chosen.candidates;
  const typing_t* t = &c->layouts.typing;
  for (uint32_t p = 0; p < candidates->pick_count; ++p) {
    const tenon__step_tactic_t* tactic = &candidates->items[candidates->picks[p]].tactic;
    if (tenon__typing_allows(t, unit->chosen.region, tactic) &&
        tenon__typing_made(t, unit->chosen.region, 0, tactic) == dtype) {
      unit->chosen.pick = candidates->picks[p];
      unit->chosen.order = NULL;
      unit->chosen.is_forbidden = false;
      return true;
    }
  }
  return false;
}

static void put_back(choosing_t* c, const neighbours_t* n) {
  for (uint32_t k = 0; k < n->count; ++k) {
    *n->units[k] = n->before[k];
    tenon__layouts_publish(&c->layouts, n->units[k]);
  }
}

/* Leaves the unit's result in that type, lets its neighbours do what is best then, and keeps that
 * where all of them together get faster. */
static tenon_status_t try_together(choosing_t* c, tenon__unit_t* unit, tenon_dtype_t dtype,
                                   bool* inout_changed) {
  layouts_t* l = &c->layouts;
  neighbours_t n;
  find_neighbours(c, unit, &n);
  cost_t before = cost_of(c, &n);
  before.seconds *= TENON_NOISE_BETTER_SHARE;
  TENON_TRY(leave_in(c, unit, dtype));
  bool is_better = pick_maker(c, unit, dtype);
  if (is_better) {
    tenon__layouts_publish(l, unit);
    for (uint32_t k = 1; k < n.count; ++k) {
      bool changed = false;
      TENON_TRY(tenon__choosing_improve(c, n.units[k], &changed));
    }
    is_better = tenon__cost_is_below(cost_of(c, &n), before);
  }
  if (!is_better) {
    put_back(c, &n);
  }
  *inout_changed = *inout_changed || is_better;
  return l->status;
}

/* In all types in which its first result is not. */
static tenon_status_t try_all_together(choosing_t* c, tenon__unit_t* unit, bool* inout_changed) {
  const typing_t* t = &c->layouts.typing;
  const uint32_t value =
      unit->plain->output_count == 0 ? TENON_NONE : unit->plain->outputs[0].value;
  const uint32_t type_count = value != TENON_NONE && t->may_be_kept[value] ? t->type_count + 1 : 0;
  for (uint32_t k = 0; k < type_count; ++k) {
    const tenon_dtype_t dtype = k == 0 ? TENON_DTYPE_UNDEFINED : t->types[k - 1];
    if (t->dtype_of[value] != dtype) {
      TENON_TRY(try_together(c, unit, dtype, inout_changed));
    }
  }
  return TENON_OK;
}

/* Two neighbours may gain by a type, their own or another, where neither gains alone. */
static tenon_status_t improve_together(choosing_t* c, bool* out_changed) {
  const tenon__units_t* units = c->layouts.units;
  *out_changed = false;
  for (uint32_t u = 0; u < units->count; ++u) {
    if (units->items[u].kind == TENON_UNIT_REGION) {
      TENON_TRY(try_all_together(c, &units->items[u], out_changed));
    }
  }
  return TENON_OK;
}

/* ---- The whole ---- */

/* What is best so far; all lie in scratch. */
typedef struct best_t {
  tenon__unit_t* units;
  tenon__copies_t copies;
  cost_t cost;
} best_t;

/* Goes on from where the units are, and keeps that where the whole gets faster. */
static tenon_status_t settle_types(choosing_t* c, best_t* inout_best) {
  layouts_t* l = &c->layouts;
  tenon__copies_t copies;
  bool changed = true;
  TENON_TRY(tenon__choosing_settle(c));
  for (uint32_t sweep = 0; sweep < TENON_SWEEP_LIMIT && changed; ++sweep) {
    TENON_TRY(improve_together(c, &changed));
    TENON_TRY(changed ? tenon__choosing_settle(c) : TENON_OK);
  }
  TENON_TRY(settle(c));
  tenon__layouts_count(l, &copies);
  TENON_TRY(l->status);
  const cost_t cost = total_of(l, &copies);
  if (tenon__cost_is_below(cost, inout_best->cost)) {
    memcpy(inout_best->units, l->units->items, l->units->count * sizeof *l->units->items);
    inout_best->copies = copies;
    inout_best->cost = cost;
  }
  return TENON_OK;
}

tenon_status_t tenon__choosing_types(choosing_t* c, tenon__copies_t* inout_copies) {
  layouts_t* l = &c->layouts;
  const size_t size = l->units->count * sizeof *l->units->items;
  best_t best = {.units = tenon__arena_copy(&c->scratch, l->units->items, size),
                 .copies = *inout_copies,
                 .cost = total_of(l, inout_copies)};
  tenon__unit_t* plain = tenon__arena_copy(&c->scratch, l->units->items, size);
  TENON_TRY_MEMORY(best.units != NULL && plain != NULL);
  if (!tenon__typing_permit(&l->typing)) {
    return TENON_OK;
  }
  TENON_TRY(tenon__units_makers(c->layouts.g, c->layouts.units, &c->scratch, &c->maker_of));
  TENON_TRY(expect_narrow(c));
  best.cost.seconds *= 1 - TENON_NOISE_NARROW_SHARE;
  TENON_TRY(settle_types(c, &best));
  for (uint32_t t = 0; t < l->typing.type_count; ++t) {
    memcpy(l->units->items, plain, size);
    TENON_TRY(narrow_all(c, l->typing.types[t]));
    TENON_TRY(settle_types(c, &best));
  }
  memcpy(l->units->items, best.units, size);
  *inout_copies = best.copies;
  return TENON_OK;
}
