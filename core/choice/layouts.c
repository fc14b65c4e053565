/*
 * Tactics and layouts of a whole graph. The cost is the sum of the steps' times and of the
 * conversions between them. Start: everybody's fastest tactic; then each unit in turn takes what is
 * cheapest given its neighbours, until nothing changes. Orders of dimensions travel through units
 * that take any.
 */
#include "core/choice/layouts.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/candidate/candidates.h"
#include "core/candidate/tuning.h"
#include "core/dimension/dimension_pool.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"

enum { MAX_ORDERS = 16, MAX_RANK = 64, MOST_SWEEPS = 8, MOST_WANTED = 8 };
static const double copy_rate = 3e9; /* bytes a second, read and written, out of order */
static const double copy_start = 2e-6;

typedef struct layouts_t {
  tenon__tuning_t* tuning;
  uint32_t graph;
  const tenon__graph_t* g;
  tenon__units_t* units;
  const uint32_t** order_of; /* per value */
  uint32_t* reader_begin;    /* per value: units that read it */
  uint32_t* readers;
  const uint32_t* orders[MAX_ORDERS]; /* all that some tactic asks for */
  uint32_t order_ranks[MAX_ORDERS];
  uint32_t order_count;
  tenon__arena_t scratch;
} layouts_t;

static const tenon__candidate_t* picked(const tenon__unit_t* unit) {
  return unit->chosen.candidates == NULL || unit->chosen.candidates->count == 0
             ? NULL
             : &unit->chosen.candidates->items[unit->chosen.pick];
}

static const tenon_argument_rule_t* input_rule(const tenon__unit_t* unit, uint32_t input) {
  const tenon__candidate_t* c = picked(unit);
  return c == NULL || c->tactic.input_rules == NULL ? NULL : &c->tactic.input_rules[input];
}

static const tenon_argument_rule_t* output_rule(const tenon__unit_t* unit) {
  const tenon__candidate_t* c = picked(unit);
  return c == NULL || c->tactic.output_rules == NULL ? NULL : &c->tactic.output_rules[0];
}

/* Do two orders give the same places at the optimum? */
static bool same_order(const layouts_t* l, uint32_t value, const uint32_t* a, const uint32_t* b) {
  const tenon__value_node_t* v = &l->g->values[value];
  int64_t dims[MAX_RANK];
  uint32_t left[MAX_RANK];
  uint32_t right[MAX_RANK];
  uint32_t count[2] = {0, 0};
  if (a == b || v->type.rank > MAX_RANK || v->type.rank == TENON_NONE) {
    return true;
  }
  (void)tenon__extents_shape(&l->tuning->profile->optimum, v->type.rank, v->type.dims, dims);
  for (uint32_t k = 0; k < v->type.rank; ++k) {
    int64_t known = 0;
    const uint32_t x = a == NULL ? k : a[k];
    const uint32_t y = b == NULL ? k : b[k];
    if (!tenon__dim_known(l->tuning->network->pool, v->type.dims[x], &known) || known != 1) {
      left[count[0]++] = x;
    }
    if (!tenon__dim_known(l->tuning->network->pool, v->type.dims[y], &known) || known != 1) {
      right[count[1]++] = y;
    }
  }
  return memcmp(left, right, count[0] * sizeof *left) == 0;
}

static double bytes_of(const layouts_t* l, uint32_t value) {
  const tenon__value_node_t* v = &l->g->values[value];
  int64_t dims[MAX_RANK];
  double bytes = tenon__dtype_bits(v->type.dtype) / 8.0;
  if (v->type.rank == TENON_NONE || v->type.rank > MAX_RANK) {
    return 0;
  }
  (void)tenon__extents_shape(&l->tuning->profile->optimum, v->type.rank, v->type.dims, dims);
  for (uint32_t k = 0; k < v->type.rank; ++k) {
    bytes *= (double)(dims[k] < 1 ? 1 : dims[k]);
  }
  return bytes;
}

static double copy_cost(const layouts_t* l, uint32_t value) {
  return copy_start + 2 * bytes_of(l, value) / copy_rate;
}

/* Moves that one kernel alone can do are not timed. */
static double own_cost(const layouts_t* l, const tenon__unit_t* unit) {
  const tenon__candidate_t* c = picked(unit);
  const struct tenon_region_t* region = unit->chosen.region;
  const bool is_untimed = c != NULL && c->time.figure == TENON_FIGURE_NONE &&
                          region->kind == TENON_REGION_MOVE && region->output_count > 0 &&
                          region->outputs[0].value != TENON_NONE;
  return is_untimed ? copy_cost(l, region->outputs[0].value) : c == NULL ? 0 : c->time.seconds;
}

static bool is_given_as_is(const layouts_t* l, uint32_t value, const tenon_argument_rule_t* rule) {
  return l->g->values[value].weights != TENON_NONE && tenon__rule_takes_rows(rule);
}

/* What it costs `unit` that input `k` lies in `order`. */
static double input_cost(const layouts_t* l, const tenon__unit_t* unit, uint32_t k,
                         const uint32_t* order) {
  const tenon__region_input_t* in = &unit->chosen.region->inputs[k];
  const tenon_argument_rule_t* rule = input_rule(unit, k);
  const uint32_t kind = rule == NULL ? TENON_LAYOUT_ROW_MAJOR : rule->kind;
  if (in->value == TENON_NONE) {
    return 0;
  }
  if (is_given_as_is(l, in->value, rule)) {
    return 0;
  }
  const double copy = copy_cost(l, in->value);
  if (kind == TENON_LAYOUT_EXACT) {
    return same_order(l, in->value, order, rule->layout->order) ? 0 : copy;
  }
  if (kind == TENON_LAYOUT_ROW_MAJOR && (rule == NULL || rule->strided == 0)) {
    return same_order(l, in->value, order, NULL) ? 0 : copy;
  }
  /* Taken as it lies; slower where it does not lie as the output does. */
  const uint32_t output = unit->chosen.region->outputs[0].value;
  const bool comparable = output != TENON_NONE && in->aligned &&
                          l->g->values[output].type.rank == l->g->values[in->value].type.rank;
  return !comparable || same_order(l, in->value, order, unit->chosen.order) ? 0 : copy / 2;
}

static double readers_cost(const layouts_t* l, uint32_t value, const uint32_t* order) {
  double cost = 0;
  for (uint32_t r = l->reader_begin[value]; r < l->reader_begin[value + 1]; ++r) {
    const tenon__unit_t* unit = &l->units->items[l->readers[r]];
    if (unit->kind == TENON_UNIT_REGION) {
      for (uint32_t k = 0; k < unit->chosen.region->input_count; ++k) {
        cost += unit->chosen.region->inputs[k].value == value ? input_cost(l, unit, k, order) : 0;
      }
    } else if (!same_order(l, value, order, NULL)) {
      cost += copy_cost(l, value); /* views and control want rows */
    }
  }
  if ((l->g->values[value].flags & TENON_VALUE_IS_OUTPUT) != 0 &&
      !same_order(l, value, order, NULL)) {
    cost += copy_cost(l, value);
  }
  return cost;
}

/* The order in which the picked tactic leaves output 0. */
static const uint32_t* output_order(const layouts_t* l, const tenon__unit_t* unit) {
  const tenon_argument_rule_t* rule = output_rule(unit);
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
    return value != TENON_NONE && l->g->values[value].type.rank == rank ? l->order_of[value] : NULL;
  }
  return rule->kind == TENON_LAYOUT_ANY ? unit->chosen.order : NULL;
}

static void publish(layouts_t* l, tenon__unit_t* unit) {
  const struct tenon_region_t* region = unit->chosen.region;
  const uint32_t* order = output_order(l, unit);
  unit->chosen.order = order;
  for (uint32_t k = 0; k < region->output_count; ++k) {
    const uint32_t value = region->outputs[k].value;
    if (value == TENON_NONE) {
      continue;
    }
    const tenon__candidate_t* c = picked(unit);
    const tenon_argument_rule_t* rule =
        c == NULL || c->tactic.output_rules == NULL ? NULL : &c->tactic.output_rules[k];
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
    l->order_of[value] = own;
  }
}

static double unit_cost(layouts_t* l, tenon__unit_t* unit) {
  const struct tenon_region_t* region = unit->chosen.region;
  publish(l, unit);
  double cost = own_cost(l, unit);
  for (uint32_t k = 0; k < region->input_count; ++k) {
    if (region->inputs[k].value != TENON_NONE) {
      cost += input_cost(l, unit, k, l->order_of[region->inputs[k].value]);
    }
  }
  for (uint32_t k = 0; k < region->output_count; ++k) {
    const uint32_t value = region->outputs[k].value;
    cost += value == TENON_NONE ? 0 : readers_cost(l, value, l->order_of[value]);
  }
  return cost;
}

/* The best pick and order of one unit; true when it changed. */
static bool improve(layouts_t* l, tenon__unit_t* unit) {
  const uint32_t old_pick = unit->chosen.pick;
  const uint32_t* old_order = unit->chosen.order;
  uint32_t best_pick = old_pick;
  const uint32_t* best_order = old_order;
  double best = unit_cost(l, unit) * 0.999; /* others must be better, not equal */
  const tenon__candidates_t* candidates = unit->chosen.candidates;
  const uint32_t value = unit->chosen.region->outputs[0].value;
  for (uint32_t p = 0; p < candidates->pick_count; ++p) {
    const uint32_t pick = candidates->picks[p];
    unit->chosen.pick = pick;
    const tenon_argument_rule_t* rule = output_rule(unit);
    const bool any = rule != NULL && rule->kind == TENON_LAYOUT_ANY && value != TENON_NONE;
    for (uint32_t o = 0; o <= (any ? l->order_count : 0); ++o) {
      if (o > 0 && l->order_ranks[o - 1] != l->g->values[value].type.rank) {
        continue;
      }
      unit->chosen.order = o == 0 ? NULL : l->orders[o - 1];
      const double cost = unit_cost(l, unit);
      if (cost < best) {
        best = cost;
        best_pick = pick;
        best_order = unit->chosen.order;
      }
    }
  }
  unit->chosen.pick = best_pick;
  unit->chosen.order = best_order;
  publish(l, unit);
  return best_pick != old_pick ||
         !(value == TENON_NONE || same_order(l, value, best_order, old_order));
}

static void collect_orders(layouts_t* l, const tenon__unit_t* unit) {
  for (uint32_t c = 0; c < unit->chosen.candidates->count; ++c) {
    const tenon__step_tactic_t* tactic = &unit->chosen.candidates->items[c].tactic;
    const tenon_argument_rule_t* rule = tactic->output_rules;
    if (rule == NULL || rule->kind != TENON_LAYOUT_EXACT || rule->layout == NULL ||
        rule->layout->order == NULL) {
      continue;
    }
    uint32_t k = 0;
    while (k < l->order_count && !(l->order_ranks[k] == rule->layout->rank &&
                                   memcmp(l->orders[k], rule->layout->order,
                                          rule->layout->rank * sizeof(uint32_t)) == 0)) {
      ++k;
    }
    if (k == l->order_count && k < MAX_ORDERS) {
      l->orders[k] = rule->layout->order;
      l->order_ranks[k] = rule->layout->rank;
      l->order_count += 1;
    }
  }
}

static tenon_status_t find_candidates(layouts_t* l) {
  for (uint32_t u = 0; u < l->units->count; ++u) {
    tenon__unit_t* unit = &l->units->items[u];
    if (tenon__interrupt_tell(l->tuning->options.interrupt, "choose", u, l->units->count)) {
      return TENON_ERROR_CANCELLED;
    }
    if (unit->kind != TENON_UNIT_REGION) {
      continue;
    }
    TENON_TRY(tenon__candidates_find(l->tuning, unit->chosen.region, &unit->chosen.candidates));
    collect_orders(l, unit);
  }
  return TENON_OK;
}

static void for_reads(layouts_t* l, uint32_t u, bool fill) {
  const tenon__unit_t* unit = &l->units->items[u];
  const tenon__node_t* node = &l->g->nodes[unit->node];
  const uint32_t count =
      unit->kind == TENON_UNIT_REGION ? unit->chosen.region->input_count : node->input_count;
  for (uint32_t k = 0; k < count; ++k) {
    const uint32_t value =
        unit->kind == TENON_UNIT_REGION ? unit->chosen.region->inputs[k].value : node->inputs[k];
    if (value == TENON_NONE || unit->kind == TENON_UNIT_CONTENTS) {
      continue;
    }
    if (fill) {
      l->readers[--l->reader_begin[value + 1]] = u;
    } else {
      l->reader_begin[value + 2] += 1;
    }
  }
}

/* Who reads each value: counted, then filled from the end of each value's part. */
static tenon_status_t find_readers(layouts_t* l) {
  const size_t values = l->g->value_count;
  l->reader_begin = tenon__arena_allocate(&l->scratch, values + 3, sizeof(uint32_t));
  l->order_of = tenon__arena_allocate(&l->scratch, values + 1, sizeof *l->order_of);
  if (l->reader_begin == NULL || l->order_of == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t u = 0; u < l->units->count; ++u) {
    for_reads(l, u, false);
  }
  for (size_t v = 0; v + 2 < values + 3; ++v) {
    l->reader_begin[v + 2] += l->reader_begin[v + 1];
  }
  l->readers =
      tenon__arena_allocate(&l->scratch, l->reader_begin[values + 1] + 1u, sizeof *l->readers);
  if (l->readers == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  /* begin[v + 1] is now where v begins; shift so that filling can run it down from its end. */
  memmove(l->reader_begin + 1, l->reader_begin + 2, (values + 1) * sizeof(uint32_t));
  for (uint32_t u = 0; u < l->units->count; ++u) {
    for_reads(l, u, true);
  }
  memmove(l->reader_begin, l->reader_begin + 1, (values + 1) * sizeof(uint32_t));
  return TENON_OK;
}

static tenon_status_t choose(layouts_t* l) {
  TENON_TRY(find_readers(l));
  TENON_TRY(find_candidates(l));
  for (uint32_t sweep = 0; sweep < MOST_SWEEPS; ++sweep) {
    bool changed = false;
    for (uint32_t u = 0; u < l->units->count; ++u) {
      if (l->units->items[u].kind == TENON_UNIT_REGION) {
        changed = improve(l, &l->units->items[u]) || changed;
      }
    }
    if (!changed) {
      break;
    }
  }
  return TENON_OK;
}

/* ---- What it costs in the end ---- */

/* The orders, other than its own, in which a value is read. */
typedef struct wanted_t {
  const uint32_t* orders[MOST_WANTED];
  uint32_t count;
} wanted_t;

static void want(const layouts_t* l, uint32_t value, const uint32_t* order, wanted_t* wanted) {
  if (same_order(l, value, l->order_of[value], order)) {
    return;
  }
  for (uint32_t k = 0; k < wanted->count; ++k) {
    if (same_order(l, value, wanted->orders[k], order)) {
      return;
    }
  }
  if (wanted->count < MOST_WANTED) {
    wanted->orders[wanted->count++] = order;
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
  if (rule != NULL && rule->kind == TENON_LAYOUT_EXACT) {
    want(l, value, rule->layout->order, wanted);
  } else if (rule == NULL || (rule->kind == TENON_LAYOUT_ROW_MAJOR && rule->strided == 0)) {
    want(l, value, NULL, wanted);
  }
}

/* A copy that several want is made once. */
static void count_copies(const layouts_t* l, uint32_t value, tenon__copies_t* copies) {
  wanted_t wanted = {.count = 0};
  for (uint32_t r = l->reader_begin[value]; r < l->reader_begin[value + 1]; ++r) {
    const tenon__unit_t* unit = &l->units->items[l->readers[r]];
    for (uint32_t k = 0; unit->kind == TENON_UNIT_REGION && k < unit->chosen.region->input_count;
         ++k) {
      if (unit->chosen.region->inputs[k].value == value) {
        want_input(l, unit, k, &wanted);
      }
    }
    if (unit->kind != TENON_UNIT_REGION) {
      want(l, value, NULL, &wanted); /* views and control: rows */
    }
  }
  if ((l->g->values[value].flags & TENON_VALUE_IS_OUTPUT) != 0) {
    want(l, value, NULL, &wanted);
  }
  copies->count += wanted.count;
  copies->seconds += wanted.count * copy_cost(l, value);
}

static void count_costs(layouts_t* l, tenon__copies_t* out_copies) {
  *out_copies = (tenon__copies_t){0};
  for (uint32_t u = 0; u < l->units->count; ++u) {
    tenon__unit_t* unit = &l->units->items[u];
    if (unit->kind == TENON_UNIT_REGION) {
      unit->own_seconds = own_cost(l, unit);
      unit->copies_seconds = unit_cost(l, unit) - unit->own_seconds;
    }
  }
  for (uint32_t v = 0; v < l->g->value_count; ++v) {
    count_copies(l, v, out_copies);
  }
  /* What is read as it lies, but slower than it could be. */
  for (uint32_t u = 0; u < l->units->count; ++u) {
    const tenon__unit_t* unit = &l->units->items[u];
    for (uint32_t k = 0; unit->kind == TENON_UNIT_REGION && k < unit->chosen.region->input_count;
         ++k) {
      const uint32_t value = unit->chosen.region->inputs[k].value;
      wanted_t wanted = {.count = 0};
      if (value != TENON_NONE) {
        want_input(l, unit, k, &wanted);
        out_copies->seconds += wanted.count == 0 ? input_cost(l, unit, k, l->order_of[value]) : 0;
      }
    }
  }
}

tenon_status_t tenon__layouts_choose(tenon__tuning_t* tuning, uint32_t graph,
                                     tenon__units_t* inout_units, tenon__copies_t* out_copies) {
  layouts_t l = {
      .tuning = tuning, .graph = graph, .g = tuning->network->graphs[graph], .units = inout_units};
  tenon__arena_initialize(&l.scratch, tuning->allocator);
  const tenon_status_t status = choose(&l);
  if (status == TENON_OK) {
    count_costs(&l, out_copies);
  }
  tenon__arena_deinitialize(&l.scratch);
  return status;
}
