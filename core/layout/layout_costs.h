/*
 * What the layouts of a covering's values cost: each unit's step by its picked tactic, and the
 * conversions around it. For this room alone.
 */
#ifndef TENON_CORE_LAYOUT_LAYOUT_COSTS_H_
#define TENON_CORE_LAYOUT_LAYOUT_COSTS_H_

#include "core/base/lists.h"
#include "core/candidate/conversions.h"
#include "core/fusion/unit.h"
#include "core/layout/typing.h"
#include "core/layout/view_layouts.h"

/* Times without a figure stand before all others: fewer of them are better, whatever the rest is.
 * Half of one: what may be slower by half of such a conversion. So a layout whose copies are known
 * is preferred to one whose copies nobody has timed. */
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

/* While layouts of one covering are chosen. How each value lies is what tenon__layouts_publish last
 * said; orders are borrowed from tactics, or those of views. */
typedef struct layouts_t {
  conversions_t* conversions;
  const tenon__graph_t* g;
  tenon__units_t* units;
  typing_t typing;        /* in which types */
  view_layouts_t lying;   /* in which orders, as its unit leaves it now */
  tenon__lists_t readers; /* per value: units, as often as they read it */
  tenon_status_t
      status; /* what went wrong when a conversion was asked for; costs say nothing then */
} layouts_t;

/* Of a unit whose tactic wants what its values must not be in: worse than anything else. */
static inline double tenon__layouts_unknown_count(const tenon__unit_t* unit) {
  return unit->chosen.is_forbidden ? 1e9 : 0;
}
/* Do two orders put a value's elements to the same places? Axes of one element have no place. */
bool tenon__layouts_alike(const layouts_t* layouts, uint32_t value, const uint32_t* a,
                          const uint32_t* b);
/* Lets all views lie as what they are views of. */
tenon_status_t tenon__layouts_begin_views(layouts_t* layouts);
/* The rule of the picked tactic for output 0; NULL: rows, or no tactic. */
const tenon_argument_rule_t* tenon__layouts_output_rule(const tenon__unit_t* unit);
/* Sets the orders and types of what a unit makes, and of its views, from its pick, its chosen order
 * and its inputs. */
void tenon__layouts_publish(layouts_t* layouts, tenon__unit_t* unit);
/* What a unit costs as it is picked, published with that: its step, and the conversions of what it
 * reads and makes. What is not below the limit is not asked to the end. It leaves the unit
 * published as it was picked: who tries several publishes the best at the end. */
cost_t tenon__layouts_unit_cost(layouts_t* layouts, tenon__unit_t* unit, cost_t limit);
/* The whole: of each unit its step and the copies around it; of the graph the copies, each made
 * once. Also sets own_seconds and copies_seconds of each unit. */
void tenon__layouts_count(layouts_t* layouts, tenon__copies_t* out_copies);

#endif
