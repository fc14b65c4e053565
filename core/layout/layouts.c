/*
 * Tactics and layouts of a whole graph. The cost is the sum of the steps' times and of the
 * conversions between them. Start: each unit's fastest tactic. Then each unit in turn takes the tactic
 * that is cheapest given its neighbours, until nothing changes. Orders of dimensions travel through
 * units that take any. Where types may be narrowed each unit is then tried together with its
 * neighbours.
 */
#include "core/layout/layouts.h"

#include <string.h>

#include "core/base/status.h"
#include "core/candidate/candidates.h"
#include "core/layout/choosing.h"
#include "core/layout/layout_types.h"
#include "core/layout/readers.h"

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
    if (k == c->order_count && k < TENON_ORDER_LIMIT) {
      c->orders[k] = rule->layout->order;
      c->order_ranks[k] = rule->layout->rank;
      c->order_count += 1;
    }
  }
}

/* All that will be asked of: while one is timed, others' kernels are made. */
static tenon_status_t expect_candidates(const choosing_t* c) {
  const tenon__units_t* units = c->layouts.units;
  for (uint32_t u = 0; u < units->count; ++u) {
    const tenon__unit_t* unit = &units->items[u];
    if (unit->kind == TENON_UNIT_REGION && unit->chosen.candidates == NULL) {
      TENON_TRY(tenon__candidates_expect(c->layouts.conversions->tuning, unit->chosen.region));
    }
  }
  return TENON_OK;
}

static tenon_status_t find_candidates(choosing_t* c) {
  tenon__tuning_t* tuning = c->layouts.conversions->tuning;
  const tenon__units_t* units = c->layouts.units;
  TENON_TRY(expect_candidates(c));
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
    unit->plain = unit->chosen.region;
    unit->plain_candidates = unit->chosen.candidates;
    if (tuning->options.permits != 0) {
      tenon__typing_pick(&c->layouts.typing, TENON_DTYPE_UNDEFINED, &unit->chosen);
    }
    collect_orders(c, unit);
  }
  return TENON_OK;
}

static tenon_status_t begin(choosing_t* c, tenon__arena_t* arena) {
  layouts_t* l = &c->layouts;
  tenon__tuning_t* tuning = l->conversions->tuning;
  const uint32_t graph = l->conversions->graph;
  TENON_TRY(tenon__units_readers(l->g, l->units, &c->scratch, &l->readers));
  TENON_TRY(tenon__view_layouts_begin(tuning, graph, &c->scratch, arena, &l->lying));
  TENON_TRY(tenon__layouts_begin_views(l));
  return tenon__typing_begin(tuning, graph, &c->scratch, arena, &l->typing);
}

static tenon_status_t choose(choosing_t* c, tenon__arena_t* arena, tenon__copies_t* out_copies) {
  layouts_t* l = &c->layouts;
  tenon__tuning_t* tuning = l->conversions->tuning;
  TENON_TRY(begin(c, arena));
  TENON_TRY(find_candidates(c));
  TENON_TRY(tenon__choosing_settle(c));
  tenon__layouts_count(l, out_copies);
  TENON_TRY(l->status);
  return tuning->options.permits == 0 ? TENON_OK : tenon__choosing_types(c, out_copies);
}

tenon_status_t tenon__layouts_choose(conversions_t* conversions, tenon__arena_t* arena,
                                     tenon__units_t* inout_units, tenon__copies_t* out_copies) {
  tenon__tuning_t* tuning = conversions->tuning;
  choosing_t c = {.layouts = {.conversions = conversions,
                              .g = tuning->network->graphs[conversions->graph],
                              .units = inout_units}};
  tenon__arena_initialize(&c.scratch, tuning->allocator);
  const tenon_status_t status = choose(&c, arena, out_copies);
  tenon__arena_deinitialize(&c.scratch);
  return status;
}
