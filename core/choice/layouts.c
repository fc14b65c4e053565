/*
 * Tactics and layouts of a whole graph. The cost is the sum of the steps' times and of the
 * conversions between them. Start: everybody's fastest tactic; then each unit in turn takes what is
 * cheapest given its neighbours, until nothing changes. Orders of dimensions travel through units
 * that take any.
 */
#include "core/choice/layouts.h"

#include <math.h>
#include <string.h>

#include "core/base/status.h"
#include "core/candidate/candidates.h"
#include "core/choice/layout_costs.h"
#include "core/choice/readers.h"

enum { MAX_ORDERS = 16, MOST_SWEEPS = 8 };
/* Others must be better than what there is, not equal. */
static const double better_factor = 0.999;

typedef struct choosing_t {
  layouts_t layouts;
  tenon__arena_t scratch;
  const uint32_t* orders[MAX_ORDERS]; /* all that some tactic asks for */
  uint32_t order_ranks[MAX_ORDERS];
  uint32_t order_count;
} choosing_t;

/* The best pick and order of one unit; true when it changed. */
static bool improve(choosing_t* c, tenon__unit_t* unit) {
  layouts_t* l = &c->layouts;
  const cost_t no_limit = {INFINITY, INFINITY};
  const tenon__chosen_t old = unit->chosen;
  tenon__chosen_t best = old;
  const tenon__candidates_t* candidates = unit->chosen.candidates;
  const uint32_t value = unit->chosen.region->outputs[0].value;
  cost_t least = tenon__layouts_unit_cost(l, unit, no_limit);
  least.seconds *= better_factor;
  for (uint32_t p = 0; p < candidates->pick_count; ++p) {
    unit->chosen.pick = candidates->picks[p];
    const tenon_argument_rule_t* rule = tenon__layouts_output_rule(unit);
    const bool any = rule != NULL && rule->kind == TENON_LAYOUT_ANY && value != TENON_NONE;
    for (uint32_t o = 0; o <= (any ? c->order_count : 0); ++o) {
      if (o > 0 && c->order_ranks[o - 1] != l->g->values[value].type.rank) {
        continue;
      }
      unit->chosen.order = o == 0 ? NULL : c->orders[o - 1];
      const cost_t cost = tenon__layouts_unit_cost(l, unit, least);
      if (tenon__cost_is_below(cost, least)) {
        least = cost;
        best = unit->chosen;
      }
    }
  }
  unit->chosen = best;
  tenon__layouts_publish(l, unit);
  return best.pick != old.pick ||
         !(value == TENON_NONE || tenon__layouts_alike(l, value, best.order, old.order));
}

static void collect_orders(choosing_t* c, const tenon__unit_t* unit) {
  for (uint32_t i = 0; i < unit->chosen.candidates->count; ++i) {
    const tenon__step_tactic_t* tactic = &unit->chosen.candidates->items[i].tactic;
    const tenon_argument_rule_t* rule = tactic->output_rules;
    if (rule == NULL || rule->kind != TENON_LAYOUT_EXACT || rule->layout == NULL ||
        rule->layout->order == NULL) {
      continue;
    }
    uint32_t k = 0;
    while (k < c->order_count && !(c->order_ranks[k] == rule->layout->rank &&
                                   memcmp(c->orders[k], rule->layout->order,
                                          rule->layout->rank * sizeof(uint32_t)) == 0)) {
      ++k;
    }
    if (k == c->order_count && k < MAX_ORDERS) {
      c->orders[k] = rule->layout->order;
      c->order_ranks[k] = rule->layout->rank;
      c->order_count += 1;
    }
  }
}

static tenon_status_t find_candidates(choosing_t* c) {
  tenon__tuning_t* tuning = c->layouts.conversions->tuning;
  const tenon__units_t* units = c->layouts.units;
  for (uint32_t u = 0; u < units->count; ++u) {
    tenon__unit_t* unit = &units->items[u];
    if (tenon__interrupt_tell(tuning->options.interrupt, "choose", u, units->count)) {
      return TENON_ERROR_CANCELLED;
    }
    if (unit->kind != TENON_UNIT_REGION) {
      continue;
    }
    TENON_TRY(
        unit->chosen.candidates != NULL
            ? tenon__candidates_renew(tuning, unit->chosen.candidates)
            : tenon__candidates_find(tuning, unit->chosen.region, NULL, &unit->chosen.candidates));
    collect_orders(c, unit);
  }
  return TENON_OK;
}

static tenon_status_t find_readers(choosing_t* c) {
  layouts_t* l = &c->layouts;
  l->order_of = tenon__arena_allocate(&c->scratch, l->g->value_count + 1u, sizeof *l->order_of);
  TENON_TRY_MEMORY(l->order_of != NULL);
  return tenon__units_readers(l->g, l->units, &c->scratch, &l->readers);
}

/* Each unit in turn; what follows from a pick is seen by those behind it. */
static tenon_status_t improve_all(choosing_t* c, bool* out_changed) {
  layouts_t* l = &c->layouts;
  *out_changed = false;
  for (uint32_t u = 0; u < l->units->count; ++u) {
    if (l->units->items[u].kind == TENON_UNIT_REGION) {
      *out_changed = improve(c, &l->units->items[u]) || *out_changed;
      TENON_TRY(l->status);
    }
  }
  return TENON_OK;
}

static tenon_status_t choose(choosing_t* c) {
  bool changed = true;
  TENON_TRY(find_readers(c));
  TENON_TRY(find_candidates(c));
  for (uint32_t sweep = 0; sweep < MOST_SWEEPS && changed; ++sweep) {
    TENON_TRY(improve_all(c, &changed));
  }
  return TENON_OK;
}

tenon_status_t tenon__layouts_choose(conversions_t* conversions, tenon__units_t* inout_units,
                                     tenon__copies_t* out_copies) {
  tenon__tuning_t* tuning = conversions->tuning;
  choosing_t c = {.layouts = {.conversions = conversions,
                              .g = tuning->network->graphs[conversions->graph],
                              .units = inout_units}};
  tenon__arena_initialize(&c.scratch, tuning->allocator);
  tenon_status_t status = choose(&c);
  if (status == TENON_OK) {
    tenon__layouts_count(&c.layouts, out_copies);
    status = c.layouts.status;
  }
  tenon__arena_deinitialize(&c.scratch);
  return status;
}
