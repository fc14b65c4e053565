/* A covering is made by the modules below: units, then candidates and layouts. Two coverings are
 * compared by the units that only one of them has: both lists are sorted, and one walk finds the
 * differences. */
#include "core/choice/coverings.h"

#include <stdlib.h>

#include "core/base/noise.h"
#include "core/base/status.h"
#include "core/candidate/remeasure.h"
#include "core/fusion/regions.h"
#include "core/layout/layouts.h"

/* ---- Making ---- */

static int compare_parts(const void* a, const void* b) {
  const tenon__unit_t* left = *(const tenon__unit_t* const*)a;
  const tenon__unit_t* right = *(const tenon__unit_t* const*)b;
  const uint32_t x = left->chosen.candidates->serial;
  const uint32_t y = right->chosen.candidates->serial;
  return x != y
             ? (x < y ? -1 : 1)
             : (left->chosen.pick > right->chosen.pick) - (left->chosen.pick < right->chosen.pick);
}

tenon_status_t tenon__covering_make(grouping_t* grouping, tenon__arena_t* arena,
                                    covering_t* out_covering) {
  covering_t* c = out_covering;
  *c = (covering_t){.arena = arena};
  TENON_TRY(tenon__grouping_cover(grouping, arena, &c->units));
  TENON_TRY(tenon__layouts_choose(&grouping->conversions, arena, &c->units, &c->copies));
  c->parts = tenon__arena_allocate(arena, c->units.count + 1u, sizeof(void*));
  TENON_TRY_MEMORY(c->parts != NULL);
  c->seconds = c->copies.time.seconds;
  for (uint32_t u = 0; u < c->units.count; ++u) {
    const tenon__unit_t* unit = &c->units.items[u];
    if (unit->kind == TENON_UNIT_REGION) {
      c->seconds += unit->own_seconds;
      c->parts[c->part_count++] = unit;
    }
  }
  c->step_count = c->part_count + c->copies.count;
  qsort((void*)c->parts, c->part_count, sizeof(void*), compare_parts);
  return TENON_OK;
}

/* ---- Comparing ---- */

/* The parts of one that the other lacks. */
typedef struct side_t {
  uint32_t unknown_count; /* that nobody computes */
  tenon__figure_t figure; /* of the one that is known worst, copies included */
  double seconds;
  bool is_fresh;
  bool is_disturbed;
} side_t;

static void add_part(side_t* side, const tenon__unit_t* unit) {
  const tenon__candidates_t* candidates = unit->chosen.candidates;
  side->seconds += unit->own_seconds;
  if (candidates->count == 0 || unit->chosen.is_forbidden) {
    side->unknown_count += 1;
    return;
  }
  const tenon__figure_t figure = candidates->items[unit->chosen.pick].time.figure;
  if (figure < side->figure) {
    side->figure = figure;
  }
  side->is_disturbed = side->is_disturbed || candidates->items[unit->chosen.pick].is_disturbed;
  side->is_fresh = side->is_fresh || tenon__candidates_are_fresh(candidates);
}

typedef tenon_status_t (*visit_t)(void* user, bool is_other, const tenon__unit_t* unit);

/* Visits each part that only one of both has: both are sorted. */
static tenon_status_t visit_differences(const covering_t* own, const covering_t* other,
                                        visit_t visit, void* user) {
  uint32_t a = 0;
  uint32_t b = 0;
  while (a < own->part_count || b < other->part_count) {
    const int order = a == own->part_count     ? 1
                      : b == other->part_count ? -1
                                               : compare_parts(&own->parts[a], &other->parts[b]);
    if (order < 0) {
      TENON_TRY(visit(user, false, own->parts[a]));
    } else if (order > 0) {
      TENON_TRY(visit(user, true, other->parts[b]));
    }
    a += order <= 0 ? 1u : 0u;
    b += order >= 0 ? 1u : 0u;
  }
  return TENON_OK;
}

static tenon_status_t add_to_side(void* user, bool is_other, const tenon__unit_t* unit) {
  side_t* sides = user;
  add_part(&sides[is_other ? 1 : 0], unit);
  return TENON_OK;
}

opinion_t tenon__covering_compare(const covering_t* own, const covering_t* other,
                                  bool may_look_again) {
  side_t sides[2] = {{.figure = own->copies.time.figure}, {.figure = other->copies.time.figure}};
  (void)visit_differences(own, other, add_to_side, sides);
  if (sides[0].unknown_count != sides[1].unknown_count) {
    return sides[1].unknown_count < sides[0].unknown_count ? OPINION_CHANGE : OPINION_KEEP;
  }
  if (sides[0].figure != sides[1].figure) {
    return sides[1].figure > sides[0].figure ? OPINION_CHANGE : OPINION_KEEP;
  }
  const double saved =
      sides[0].seconds - sides[1].seconds + (own->copies.time.seconds - other->copies.time.seconds);
  const double affected = sides[0].seconds > sides[1].seconds ? sides[0].seconds : sides[1].seconds;
  const double rounding = TENON_NOISE_ROUNDING_SHARE * affected;
  const bool is_better = saved > TENON_NOISE_SHARE * affected ||
                         (other->step_count < own->step_count && saved >= -rounding);
  if (!is_better) {
    return OPINION_KEEP;
  }
  if (may_look_again && (sides[0].is_fresh || sides[1].is_fresh)) {
    return OPINION_LOOK_AGAIN;
  }
  const bool is_certain = sides[0].seconds > sides[1].seconds * TENON_NOISE_DISTURBED_RATIO;
  return sides[0].is_disturbed && !is_certain ? OPINION_KEEP : OPINION_CHANGE;
}

static tenon_status_t remeasure(void* user, bool is_other, const tenon__unit_t* unit) {
  tenon__tuning_t* tuning = user;
  (void)is_other;
  return tenon__candidates_are_fresh(unit->chosen.candidates)
             ? tenon__candidates_remeasure(tuning, unit->chosen.region, unit->chosen.candidates)
             : TENON_OK;
}

tenon_status_t tenon__covering_look_again(tenon__tuning_t* tuning, const covering_t* own,
                                          const covering_t* other) {
  return visit_differences(own, other, remeasure, tuning);
}
