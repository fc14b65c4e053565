/* The cheapest pick, order and type of one unit, given all others: every pick in every order, then in
 * every type. A type changes what readers of the unit's results cost, so their times count too. */
#include "core/layout/choosing.h"

#include <math.h>

#include "core/base/noise.h"
#include "core/base/status.h"

/* The pick as it is, its result in that order. */
static void try_order(choosing_t* c, tenon__unit_t* unit, const uint32_t* order,
                      cost_t* inout_least, tenon__chosen_t* inout_best) {
  unit->chosen.order = order;
  const cost_t cost = tenon__layouts_unit_cost(&c->layouts, unit, *inout_least);
  if (tenon__cost_is_below(cost, *inout_least)) {
    *inout_least = cost;
    *inout_best = unit->chosen;
  }
}

/* Orders that a pick could leave its result in: those that tactics ask for, and those in which its
 * inputs lie, views among them. */
static void try_orders(choosing_t* c, tenon__unit_t* unit, cost_t* inout_least,
                       tenon__chosen_t* inout_best) {
  layouts_t* l = &c->layouts;
  const struct tenon_region_t* region = unit->chosen.region;
  const uint32_t value = region->outputs[0].value;
  const tenon_argument_rule_t* rule = tenon__layouts_output_rule(unit);
  try_order(c, unit, NULL, inout_least, inout_best);
  if (rule == NULL || rule->kind != TENON_LAYOUT_ANY || value == TENON_NONE) {
    return;
  }
  const uint32_t rank = l->g->values[value].type.rank;
  for (uint32_t o = 0; o < c->order_count; ++o) {
    if (c->order_ranks[o] == rank) {
      try_order(c, unit, c->orders[o], inout_least, inout_best);
    }
  }
  TENON_EACH_REGION_INPUT(k, region) {
    const uint32_t input = region->inputs[k].value;
    const uint32_t* order = l->lying.order_of[input];
    if (order != NULL && l->g->values[input].type.rank == rank) {
      try_order(c, unit, order, inout_least, inout_best);
    }
  }
}

/* Tactics of the region that the unit has now. */
static void try_picks(choosing_t* c, tenon__unit_t* unit, cost_t* inout_least,
                      tenon__chosen_t* inout_best) {
  const tenon__candidates_t* candidates = unit->chosen.candidates;
  for (uint32_t p = 0; p < candidates->pick_count; ++p) {
    unit->chosen.pick = candidates->picks[p];
    if (c->layouts.conversions->tuning->options.permits == 0 ||
        tenon__typing_allows(&c->layouts.typing, unit->chosen.region,
                             &candidates->items[unit->chosen.pick].tactic)) {
      unit->chosen.is_forbidden = false;
      try_orders(c, unit, inout_least, inout_best);
    }
  }
}

/* A unit, in the types in which what it reads is now. What a move makes is in that type too: it
 * costs what others pay for that besides. */
static tenon_status_t add_follower(choosing_t* c, tenon__unit_t* follower, double* inout_seconds) {
  layouts_t* l = &c->layouts;
  const cost_t no_limit = {INFINITY, INFINITY};
  tenon__unit_t unit = *follower;
  TENON_TRY(tenon__typing_set(&l->typing, &unit, unit.dtype));
  if (unit.chosen.candidates->count == 0) {
    return TENON_OK;
  }
  if (unit.plain->kind == TENON_REGION_MOVE) {
    *inout_seconds += tenon__layouts_unit_cost(l, &unit, no_limit).seconds;
    tenon__layouts_publish(l, follower);
  } else {
    *inout_seconds += unit.chosen.candidates->items[unit.chosen.pick].time.seconds;
  }
  return l->status;
}

/* How long those take that convert what they read of the value on the way, in the type in which it
 * is now: what they gain or lose by that is the producer's to consider. */
static tenon_status_t add_followers(choosing_t* c, uint32_t value, double* inout_seconds) {
  layouts_t* l = &c->layouts;
  const uint32_t* readers = tenon__lists_get(&l->readers, value);
  for (uint32_t r = 0; r < tenon__lists_count(&l->readers, value); ++r) {
    tenon__unit_t* unit = &l->units->items[readers[r]];
    bool follows = false;
    if (unit->kind == TENON_UNIT_VIEW) {
      TENON_TRY(add_followers(c, l->g->nodes[unit->node].outputs[unit->output], inout_seconds));
    }
    if (unit->kind != TENON_UNIT_REGION || (r > 0 && readers[r] == readers[r - 1])) {
      continue;
    }
    for (uint32_t k = 0; k < unit->plain->input_count && !follows; ++k) {
      follows = unit->plain->inputs[k].value == value && tenon__typing_follows(&l->typing, unit, k);
    }
    TENON_TRY(follows ? add_follower(c, unit, inout_seconds) : TENON_OK);
  }
  return TENON_OK;
}

/* Of all that the unit makes, as it is picked. */
static tenon_status_t followers_seconds(choosing_t* c, tenon__unit_t* unit, double* out_seconds) {
  const struct tenon_region_t* region = unit->chosen.region;
  *out_seconds = 0;
  tenon__layouts_publish(&c->layouts, unit);
  TENON_EACH_REGION_OUTPUT(k, region) {
    TENON_TRY(add_followers(c, region->outputs[k].value, out_seconds));
  }
  return TENON_OK;
}

/* In the other types than the one that its results are in, where that is better. */
static tenon_status_t try_types(choosing_t* c, tenon__unit_t* unit, cost_t least,
                                tenon__chosen_t* inout_best) {
  typing_t* typing = &c->layouts.typing;
  const tenon_dtype_t now = unit->dtype;
  tenon_dtype_t best = now;
  double own = 0; /* of followers, as the unit is */
  TENON_TRY(followers_seconds(c, unit, &own));
  for (uint32_t t = 0; t <= typing->type_count; ++t) {
    const tenon_dtype_t other = t == 0 ? TENON_DTYPE_UNDEFINED : typing->types[t - 1];
    const struct tenon_region_t* before = inout_best->region;
    double others = 0;
    if (other == now) {
      continue;
    }
    TENON_TRY(tenon__typing_set(typing, unit, other));
    TENON_TRY(followers_seconds(c, unit, &others));
    least.seconds += own - others;
    try_picks(c, unit, &least, inout_best);
    least.seconds -= own - others;
    best = inout_best->region != before ? other : best;
  }
  unit->dtype = best;
  return TENON_OK;
}

tenon_status_t tenon__choosing_improve(choosing_t* c, tenon__unit_t* unit, bool* out_changed) {
  layouts_t* l = &c->layouts;
  const cost_t no_limit = {INFINITY, INFINITY};
  const tenon__chosen_t old = unit->chosen;
  TENON_TRY(l->typing.type_count == 0 ? TENON_OK
                                      : tenon__typing_set(&l->typing, unit, unit->dtype));
  tenon__chosen_t best = unit->chosen;
  const tenon__chosen_t first = best;
  const uint32_t value = unit->chosen.region->outputs[0].value;
  cost_t least = tenon__layouts_unit_cost(l, unit, no_limit);
  least.seconds *= TENON_NOISE_BETTER_SHARE;
  try_picks(c, unit, &least, &best);
  if (tenon__typing_may_narrow(&l->typing, unit)) {
    unit->chosen = first;
    TENON_TRY(try_types(c, unit, least, &best));
  }
  unit->chosen = best;
  tenon__layouts_publish(l, unit);
  *out_changed = best.pick != old.pick || best.region != old.region ||
                 !(value == TENON_NONE || tenon__layouts_alike(l, value, best.order, old.order));
  return l->status;
}

/* Each unit in turn; what follows from a pick is seen by those behind it. */
static tenon_status_t improve_all(choosing_t* c, bool* out_changed) {
  layouts_t* l = &c->layouts;
  *out_changed = false;
  for (uint32_t u = 0; u < l->units->count; ++u) {
    if (l->units->items[u].kind == TENON_UNIT_REGION) {
      bool changed = false;
      TENON_TRY(tenon__choosing_improve(c, &l->units->items[u], &changed));
      *out_changed = changed || *out_changed;
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__choosing_settle(choosing_t* c) {
  bool changed = true;
  for (uint32_t sweep = 0; sweep < TENON_SWEEP_LIMIT && changed; ++sweep) {
    TENON_TRY(improve_all(c, &changed));
  }
  return TENON_OK;
}
