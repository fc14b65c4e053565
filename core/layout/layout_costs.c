/*
 * Costs of layouts. Whoever wants a value in another order than it lies in needs a copy; whoever
 * takes it as it lies, though not as its own output does, reads out of order: that takes half of
 * what a copy would. Views cost nothing; who reads them reads what they are views of.
 */
#include "core/layout/layout_costs.h"

#include <math.h>
#include <string.h>

#include "core/base/status.h"
#include "core/layout/place_rules.h"
#include "core/tensor/layout.h"

enum { MOST_WANTED = 8 };
static const cost_t nothing = {0, 0};

static const tenon__candidate_t* picked(const tenon__unit_t* unit) {
  return unit->chosen.candidates == NULL || unit->chosen.candidates->count == 0
             ? NULL
             : &unit->chosen.candidates->items[unit->chosen.pick];
}

static const tenon__step_tactic_t* tactic_of(const tenon__unit_t* unit) {
  const tenon__candidate_t* c = picked(unit);
  return c == NULL ? NULL : &c->tactic;
}

/* ---- Rules and orders ---- */

static const tenon_argument_rule_t* input_rule(const tenon__unit_t* unit, uint32_t input) {
  const tenon__step_tactic_t* tactic = tactic_of(unit);
  return tactic == NULL ? NULL : tenon__rule_at(tactic->input_rules, input);
}

const tenon_argument_rule_t* tenon__layouts_output_rule(const tenon__unit_t* unit) {
  const tenon__step_tactic_t* tactic = tactic_of(unit);
  return tactic == NULL ? NULL : tenon__rule_at(tactic->output_rules, 0);
}

bool tenon__layouts_alike(const layouts_t* l, uint32_t value, const uint32_t* a,
                          const uint32_t* b) {
  return tenon__orders_alike(l->conversions->tuning->network->pool, &l->g->values[value].type, a,
                             b);
}

/* The order in which the picked tactic leaves output 0. */
static const uint32_t* output_order(const layouts_t* l, const tenon__unit_t* unit) {
  const tenon_argument_rule_t* rule = tenon__layouts_output_rule(unit);
  const struct tenon_region_t* region = unit->chosen.region;
  if (rule == NULL || region->output_count == 0 || region->outputs[0].value == TENON_NONE) {
    return NULL;
  }
  const uint32_t rank = l->g->values[region->outputs[0].value].type.rank;
  if (rule->kind == TENON_LAYOUT_EXACT) {
    return rule->layout->order;
  }
  if (rule->kind == TENON_LAYOUT_FOLLOWS && rule->argument < region->input_count) {
    const uint32_t value = region->inputs[rule->argument].value;
    return value != TENON_NONE && l->g->values[value].type.rank == rank ? l->lying.order_of[value]
                                                                        : NULL;
  }
  return rule->kind == TENON_LAYOUT_ANY ? unit->chosen.order : NULL;
}

static uint32_t view_value(const layouts_t* l, const tenon__unit_t* view) {
  return l->g->nodes[view->node].outputs[view->output];
}

/* Of what are views of a value. */
static void spread_order(layouts_t* l, uint32_t value) {
  const uint32_t* readers = tenon__lists_get(&l->readers, value);
  for (uint32_t r = 0; r < tenon__lists_count(&l->readers, value); ++r) {
    const tenon__unit_t* unit = &l->units->items[readers[r]];
    if (unit->kind == TENON_UNIT_VIEW && l->status == TENON_OK) {
      l->status = tenon__view_layouts_follow(&l->lying, unit);
      spread_order(l, view_value(l, unit));
    }
  }
}

tenon_status_t tenon__layouts_begin_views(layouts_t* l) {
  for (uint32_t u = 0; u < l->units->count; ++u) {
    if (l->units->items[u].kind == TENON_UNIT_VIEW) {
      TENON_TRY(tenon__view_layouts_follow(&l->lying, &l->units->items[u]));
    }
  }
  return TENON_OK;
}

/* Of a value and of what are views of it. */
static void spread_dtype(layouts_t* l, uint32_t value, tenon_dtype_t dtype) {
  const uint32_t* readers = tenon__lists_get(&l->readers, value);
  if (l->typing.dtype_of[value] == dtype) {
    return;
  }
  l->typing.dtype_of[value] = dtype;
  for (uint32_t r = 0; r < tenon__lists_count(&l->readers, value); ++r) {
    const tenon__unit_t* unit = &l->units->items[readers[r]];
    if (unit->kind == TENON_UNIT_VIEW) {
      spread_dtype(l, view_value(l, unit), dtype);
    }
  }
}

void tenon__layouts_publish(layouts_t* l, tenon__unit_t* unit) {
  const struct tenon_region_t* region = unit->chosen.region;
  const tenon__step_tactic_t* tactic = tactic_of(unit);
  const uint32_t* order = output_order(l, unit);
  unit->chosen.order = order;
  TENON_EACH_REGION_OUTPUT(k, region) {
    const uint32_t value = region->outputs[k].value;
    const tenon_argument_rule_t* rule =
        tactic == NULL ? NULL : tenon__rule_at(tactic->output_rules, k);
    const uint32_t* own = NULL;
    const bool is_exact = rule != NULL && rule->kind == TENON_LAYOUT_EXACT;
    const bool follows =
        rule != NULL && rule->kind != TENON_LAYOUT_ROW_MAJOR && order != NULL &&
        region->outputs[0].value != TENON_NONE &&
        l->g->values[value].type.rank == l->g->values[region->outputs[0].value].type.rank;
    if (k > 0 && is_exact) {
      own = rule->layout->order;
    } else if (k == 0 || follows) {
      own = order;
    }
    if (!tenon__layouts_alike(l, value, l->lying.order_of[value], own)) {
      l->lying.order_of[value] = own;
      spread_order(l, value);
    }
    l->lying.order_of[value] = own;
    spread_dtype(l, value, tenon__typing_made(&l->typing, region, k, tactic));
  }
}

/* ---- Costs ---- */

/* A copy of the value from the order and type in which it lies to others. */
static cost_t copy_cost(layouts_t* l, uint32_t value, orders_t orders) {
  tenon__time_t time = {0};
  const tenon_status_t status = l->status == TENON_OK
                                    ? tenon__conversions_time(l->conversions, value, orders, &time)
                                    : l->status;
  l->status = status;
  return (cost_t){time.figure == TENON_FIGURE_NONE ? 1 : 0, time.seconds};
}

/* Does it lie in that order, without gaps? */
static bool lies_in(const layouts_t* l, uint32_t value, const uint32_t* order) {
  return !l->lying.has_gaps[value] &&
         tenon__layouts_alike(l, value, l->lying.order_of[value], order);
}

/* The copy is from where it lies. */
static cost_t copy_cost_unless_alike(layouts_t* l, uint32_t value, orders_t orders) {
  return orders.from_dtype == orders.to_dtype && lies_in(l, value, orders.to)
             ? nothing
             : copy_cost(l, value, orders);
}

/* From where it lies, in the type in which it is kept. */
static orders_t from_place(const layouts_t* l, uint32_t value, const uint32_t* to,
                           tenon_dtype_t to_dtype) {
  return (orders_t){.from = l->lying.order_of[value],
                    .to = to,
                    .from_dtype = l->typing.dtype_of[value],
                    .to_dtype = to_dtype};
}

static double own_seconds(const tenon__unit_t* unit) {
  const tenon__candidate_t* c = picked(unit);
  return c == NULL ? 0 : c->time.seconds;
}

static bool is_given_as_is(const layouts_t* l, uint32_t value, const tenon_argument_rule_t* rule) {
  return l->g->values[value].weights != TENON_NONE && tenon__rule_takes_rows(rule) &&
         (rule == NULL || rule->dtype == TENON_DTYPE_UNDEFINED ||
          rule->dtype == l->g->values[value].type.dtype);
}

/* Of who asks for no order: does the rule want it copied into rows, unless it lies so? */
static bool wants_rows(const layouts_t* l, uint32_t value, const tenon_argument_rule_t* rule) {
  const uint32_t kind = rule == NULL ? TENON_LAYOUT_ROW_MAJOR : rule->kind;
  return !tenon__rule_is_strided(rule) &&
         (kind == TENON_LAYOUT_ROW_MAJOR || l->lying.has_gaps[value]);
}

/* In which type the unit, as it is, takes its input k. */
static tenon_dtype_t taken_dtype(const layouts_t* l, const tenon__unit_t* unit, uint32_t k) {
  return tenon__typing_wanted(&l->typing, unit->chosen.region, k, tactic_of(unit));
}

/* In which type the unit wants its input k. Who converts takes it as it comes, unless its tactic
 * asks for one. */
static tenon_dtype_t wanted_dtype(const layouts_t* l, const tenon__unit_t* unit, uint32_t k) {
  const tenon_argument_rule_t* rule = input_rule(unit, k);
  const bool is_asked = rule != NULL && rule->dtype != TENON_DTYPE_UNDEFINED &&
                        unit->chosen.region->inputs[k].dtype == TENON_DTYPE_UNDEFINED;
  return !is_asked && tenon__typing_follows(&l->typing, unit, k)
             ? l->typing.dtype_of[unit->chosen.region->inputs[k].value]
             : taken_dtype(l, unit, k);
}

/* Taken as it lies; slower where it does not lie as the output does. */
static cost_t reading_cost(layouts_t* l, const tenon__unit_t* unit,
                           const tenon__region_input_t* in) {
  const uint32_t output = unit->chosen.region->outputs[0].value;
  if (output == TENON_NONE || !in->aligned ||
      l->g->values[output].type.rank != l->g->values[in->value].type.rank) {
    return nothing;
  }
  const orders_t orders =
      from_place(l, in->value, unit->chosen.order, l->typing.dtype_of[in->value]);
  const cost_t copy = tenon__layouts_alike(l, in->value, orders.from, orders.to)
                          ? nothing
                          : copy_cost(l, in->value, orders);
  return (cost_t){copy.unknown_count / 2, copy.seconds / 2};
}

/* What it costs `unit`, which wants it in that type, that input `k` lies as it does. */
static cost_t input_cost(layouts_t* l, const tenon__unit_t* unit, uint32_t k, tenon_dtype_t dtype) {
  const tenon__region_input_t* in = &unit->chosen.region->inputs[k];
  const tenon_argument_rule_t* rule = input_rule(unit, k);
  const uint32_t kind = rule == NULL ? TENON_LAYOUT_ROW_MAJOR : rule->kind;
  if (in->value == TENON_NONE || is_given_as_is(l, in->value, rule)) {
    return nothing;
  }
  if (kind == TENON_LAYOUT_EXACT) {
    return copy_cost_unless_alike(l, in->value,
                                  from_place(l, in->value, rule->layout->order, dtype));
  }
  if (wants_rows(l, in->value, rule) || dtype != l->typing.dtype_of[in->value]) {
    return copy_cost_unless_alike(l, in->value, from_place(l, in->value, NULL, dtype));
  }
  return reading_cost(l, unit, in);
}

/* The application, or the next run, takes it in rows and in its own type. */
static bool leaves_in_rows(const layouts_t* l, uint32_t value) {
  return (l->g->values[value].flags & TENON_VALUE_IS_OUTPUT) != 0 ||
         tenon__value_is_update(l->conversions->tuning->network, l->conversions->graph, value);
}

static cost_t readers_cost(layouts_t* l, uint32_t value, cost_t so_far, cost_t limit);

/* What it costs one of the units that read the value. Control wants rows, and a view where it does
 * not exist on the value as it lies; then come those that read the view. */
static cost_t reader_cost(layouts_t* l, const tenon__unit_t* unit, uint32_t value) {
  const cost_t no_limit = {INFINITY, INFINITY};
  cost_t cost = nothing;
  if (unit->kind == TENON_UNIT_VIEW) {
    const uint32_t view = view_value(l, unit);
    if (l->lying.is_on_copy[view]) {
      cost = copy_cost(l, value, from_place(l, value, NULL, l->typing.dtype_of[value]));
    }
    return readers_cost(l, view, cost, no_limit);
  }
  if (unit->kind != TENON_UNIT_REGION) {
    return copy_cost_unless_alike(l, value, from_place(l, value, NULL, TENON_DTYPE_UNDEFINED));
  }
  for (uint32_t k = 0; k < unit->chosen.region->input_count; ++k) {
    if (unit->chosen.region->inputs[k].value == value) {
      cost = tenon__cost_sum(cost, input_cost(l, unit, k, wanted_dtype(l, unit, k)));
    }
  }
  return cost;
}

static cost_t readers_cost(layouts_t* l, uint32_t value, cost_t so_far, cost_t limit) {
  cost_t cost = so_far;
  const uint32_t* readers = tenon__lists_get(&l->readers, value);
  const uint32_t count = tenon__lists_count(&l->readers, value);
  for (uint32_t r = 0; r < count && tenon__cost_is_below(cost, limit); ++r) {
    cost = tenon__cost_sum(cost, reader_cost(l, &l->units->items[readers[r]], value));
  }
  if (leaves_in_rows(l, value)) {
    cost = tenon__cost_sum(
        cost, copy_cost_unless_alike(l, value, from_place(l, value, NULL, TENON_DTYPE_UNDEFINED)));
  }
  return cost;
}

cost_t tenon__layouts_unit_cost(layouts_t* l, tenon__unit_t* unit, cost_t limit) {
  const struct tenon_region_t* region = unit->chosen.region;
  tenon__layouts_publish(l, unit);
  cost_t cost = {tenon__layouts_unknown_count(unit), own_seconds(unit)};
  for (uint32_t k = 0; k < region->input_count && tenon__cost_is_below(cost, limit); ++k) {
    if (region->inputs[k].value != TENON_NONE) {
      /* A move takes all in one type, or in their own. */
      const tenon_dtype_t dtype =
          region->kind == TENON_REGION_MOVE ? taken_dtype(l, unit, k) : wanted_dtype(l, unit, k);
      cost = tenon__cost_sum(cost, input_cost(l, unit, k, dtype));
    }
  }
  for (uint32_t k = 0; k < region->output_count && tenon__cost_is_below(cost, limit); ++k) {
    if (region->outputs[k].value != TENON_NONE) {
      cost = readers_cost(l, region->outputs[k].value, cost, limit);
    }
  }
  return cost;
}

/* ---- What it costs in the end ---- */

/* The orders and types, other than its own, in which a value is read. */
typedef struct wanted_t {
  orders_t ways[MOST_WANTED];
  uint32_t count;
} wanted_t;

static void want(const layouts_t* l, uint32_t value, const uint32_t* order, tenon_dtype_t dtype,
                 wanted_t* wanted) {
  const orders_t way = from_place(l, value, order, dtype);
  if (way.from_dtype == dtype && lies_in(l, value, order)) {
    return;
  }
  for (uint32_t k = 0; k < wanted->count; ++k) {
    if (wanted->ways[k].to_dtype == dtype &&
        tenon__layouts_alike(l, value, wanted->ways[k].to, order)) {
      return;
    }
  }
  if (wanted->count < MOST_WANTED) {
    wanted->ways[wanted->count++] = way;
  }
}

/* Who takes a value as it lies wants nothing. */
static void want_input(const layouts_t* l, const tenon__unit_t* unit, uint32_t k,
                       wanted_t* wanted) {
  const tenon_argument_rule_t* rule = input_rule(unit, k);
  const uint32_t value = unit->chosen.region->inputs[k].value;
  if (is_given_as_is(l, value, rule)) {
    return;
  }
  const tenon_dtype_t dtype = taken_dtype(l, unit, k);
  if (rule != NULL && rule->kind == TENON_LAYOUT_EXACT) {
    want(l, value, rule->layout->order, dtype, wanted);
  } else if (wants_rows(l, value, rule) || dtype != l->typing.dtype_of[value]) {
    want(l, value, NULL, dtype, wanted);
  }
}

static void want_of(const layouts_t* l, const tenon__unit_t* unit, uint32_t value,
                    wanted_t* wanted) {
  if (unit->kind == TENON_UNIT_VIEW) {
    if (l->lying.is_on_copy[view_value(l, unit)]) {
      want(l, value, NULL, l->typing.dtype_of[value], wanted);
    }
    return;
  }
  if (unit->kind != TENON_UNIT_REGION) { /* control: rows, in its own type */
    want(l, value, NULL, TENON_DTYPE_UNDEFINED, wanted);
    return;
  }
  for (uint32_t k = 0; k < unit->chosen.region->input_count; ++k) {
    if (unit->chosen.region->inputs[k].value == value) {
      want_input(l, unit, k, wanted);
    }
  }
}

/* A copy that several want is made once. */
static void count_copies(layouts_t* l, uint32_t value, tenon__copies_t* copies) {
  wanted_t wanted = {.count = 0};
  const uint32_t* readers = tenon__lists_get(&l->readers, value);
  for (uint32_t r = 0; r < tenon__lists_count(&l->readers, value); ++r) {
    want_of(l, &l->units->items[readers[r]], value, &wanted);
  }
  if (leaves_in_rows(l, value)) {
    want(l, value, NULL, TENON_DTYPE_UNDEFINED, &wanted);
  }
  copies->count += wanted.count;
  for (uint32_t k = 0; k < wanted.count; ++k) {
    tenon__time_t time = {0};
    if (l->status == TENON_OK) {
      l->status = tenon__conversions_time(l->conversions, value, wanted.ways[k], &time);
    }
    copies->time = tenon__time_sum(copies->time, time);
  }
}

/* What is read as it lies, but slower than it could be. */
static double slow_seconds(layouts_t* l, const tenon__unit_t* unit) {
  double seconds = 0;
  TENON_EACH_REGION_INPUT(k, unit->chosen.region) {
    wanted_t wanted = {.count = 0};
    want_input(l, unit, k, &wanted);
    seconds += wanted.count == 0 ? input_cost(l, unit, k, wanted_dtype(l, unit, k)).seconds : 0;
  }
  return seconds;
}

void tenon__layouts_count(layouts_t* l, tenon__copies_t* out_copies) {
  const cost_t no_limit = {INFINITY, INFINITY};
  *out_copies = (tenon__copies_t){.time.figure = TENON_FIGURE_MEASURED};
  for (uint32_t u = 0; u < l->units->count; ++u) {
    tenon__unit_t* unit = &l->units->items[u];
    if (unit->kind == TENON_UNIT_REGION) {
      unit->own_seconds = own_seconds(unit);
      unit->copies_seconds =
          tenon__layouts_unit_cost(l, unit, no_limit).seconds - unit->own_seconds;
      out_copies->time.seconds += slow_seconds(l, unit);
    }
  }
  for (uint32_t v = 0; v < l->g->value_count; ++v) {
    count_copies(l, v, out_copies);
  }
}
