/*
 * Costs of the layouts of a covering's values: each unit's step by its picked tactic, and the
 * conversions around it. For this module only.
 */
#ifndef TENON_CORE_LAYOUT_LAYOUT_COSTS_H_
#define TENON_CORE_LAYOUT_LAYOUT_COSTS_H_

#include "core/base/lists.h"
#include "core/candidate/conversions.h"
#include "core/fusion/unit.h"
#include "core/layout/typing.h"
#include "core/layout/view_layouts.h"

/* Costs are compared by the number of unknown times first, then by seconds. So a layout with known
 * copies is preferred to one with unmeasured copies. A unit that may be slower by half of such a
 * conversion counts half. */
typedef struct cost_t {
  double unknown_count;
  double seconds;
} cost_t;

static inline bool tenon__cost_is_below(cost_t a, cost_t b) {
  return a.unknown_count != b.unknown_count ? a.unknown_count < b.unknown_count
                                            : a.seconds < b.seconds;
}

static inline cost_t tenon__cost_sum(cost_t a, cost_t b) {
  return (cost_t){a.unknown_count + b.unknown_count, a.seconds + b.seconds};
}

/* State while layouts of one covering are chosen. tenon__layouts_publish sets the current layout of
 * each value. Orders are borrowed from tactics or views. */
typedef struct layouts_t {
  conversions_t* conversions;
  const tenon__graph_t* g;
  tenon__units_t* units;
  typing_t typing;        /* types of values */
  view_layouts_t lying;   /* current orders of values */
  tenon__lists_t readers; /* per value: its reading units, once for each use */
  tenon_status_t status;  /* failure of a requested conversion; costs are then invalid */
} layouts_t;

/* Cost of a unit whose tactic requires forbidden types: worse than any other. */
static inline double tenon__layouts_unknown_count(const tenon__unit_t* unit) {
  return unit->chosen.is_forbidden ? 1e9 : 0;
}
/* Returns true if two orders give a value's elements the same addresses. Axes of extent 1 are
 * ignored. */
bool tenon__layouts_alike(const layouts_t* layouts, uint32_t value, const uint32_t* a,
                          const uint32_t* b);
/* Sets the orders of all views from their sources. */
tenon_status_t tenon__layouts_begin_views(layouts_t* layouts);
/* Returns the rule of the picked tactic for output 0; NULL: row-major, or no tactic. */
const tenon_argument_rule_t* tenon__layouts_output_rule(const tenon__unit_t* unit);
/* Sets the orders and types of a unit's outputs, and of its views, from its pick, its chosen order
 * and its inputs. */
void tenon__layouts_publish(layouts_t* layouts, tenon__unit_t* unit);
/* Returns the cost of a unit's pick: its step, and the conversions of its inputs and outputs. Stops
 * early if the cost reaches the limit. The unit stays published with this pick, so a caller that
 * tries several publishes the best at the end. */
cost_t tenon__layouts_unit_cost(layouts_t* layouts, tenon__unit_t* unit, cost_t limit);
/* Computes the total cost: for each unit its step and the copies around it, for the graph each copy
 * once. Sets own_seconds and copies_seconds of each unit. */
void tenon__layouts_count(layouts_t* layouts, tenon__copies_t* out_copies);

#endif
