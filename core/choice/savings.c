/* What an alternative could save at best, from what a covering costs where it would change it. */
#include "core/choice/savings.h"

#include <string.h>

#include "core/base/lists.h"
#include "core/base/status.h"

tenon_status_t tenon__covering_by_nodes(const covering_t* covering, uint32_t node_count,
                                        tenon__arena_t* arena, covered_t* out_covered) {
  uint32_t* unit_of = tenon__arena_allocate(arena, node_count + 1u, sizeof(*unit_of));
  TENON_TRY_MEMORY(unit_of != NULL);
  memset(unit_of, 0xff, node_count * sizeof(*unit_of));
  for (uint32_t u = 0; u < covering->units.count; ++u) {
    const tenon__unit_t* unit = &covering->units.items[u];
    const uint32_t count = unit->kind == TENON_UNIT_REGION ? unit->chosen.region->covered_count : 0;
    for (uint32_t k = 0; k < count; ++k) {
      unit_of[unit->chosen.region->covered[k]] = u;
    }
  }
  *out_covered = (covered_t){covering, node_count, unit_of};
  return TENON_OK;
}

typedef struct reach_t {
  double seconds;         /* of all units that are touched, and copies around them */
  tenon__figure_t figure; /* of the one that is known worst */
  uint32_t place_count;
} reach_t;

static void touch(const covering_t* best, uint32_t unit_index, uint8_t* touched, reach_t* reach) {
  const tenon__unit_t* unit = &best->units.items[unit_index];
  const tenon__candidates_t* candidates = unit->chosen.candidates;
  if (touched[unit_index] != 0) {
    return;
  }
  touched[unit_index] = 1;
  reach->seconds += unit->own_seconds + unit->copies_seconds;
  const tenon__figure_t figure =
      candidates->count == 0 ? TENON_FIGURE_NONE : candidates->items[unit->chosen.pick].time.figure;
  if (figure < reach->figure) {
    reach->figure = figure;
  }
}

static double saving_of(const reach_t* reach, tenon__time_t time) {
  if (time.figure != reach->figure) {
    return time.figure > reach->figure ? TENON_CERTAIN_SAVING : -TENON_CERTAIN_SAVING;
  }
  const double saving = reach->seconds - reach->place_count * time.seconds;
  /* Where nobody knows any time, fewer steps are better. */
  return time.figure == TENON_FIGURE_NONE ? TENON_CERTAIN_SAVING : saving;
}

/* All that the places' units cost, less the claims: their other nodes for nothing. */
tenon_status_t tenon__saving_of_class(const alternatives_t* a, const covered_t* best,
                                      uint32_t class_index, tenon__arena_t* arena,
                                      double* out_saving) {
  reach_t reach = {.figure = TENON_FIGURE_MEASURED};
  uint8_t* touched = tenon__arena_allocate(arena, best->covering->units.count + 1u, 1);
  uint8_t* used = tenon__arena_allocate(arena, best->node_count + 1u, 1);
  TENON_TRY_MEMORY(touched != NULL && used != NULL);
  for (uint32_t k = 0; k < a->claim_count; ++k) {
    const claim_t* claim = &a->claims[k];
    bool is_free = claim->class_index == class_index;
    for (uint32_t n = 0; n < claim->node_count && is_free; ++n) {
      is_free = used[claim->nodes[n]] == 0;
    }
    const uint32_t taken_count = is_free ? claim->node_count : 0;
    for (uint32_t n = 0; n < taken_count; ++n) {
      used[claim->nodes[n]] = 1;
      if (best->unit_of[claim->nodes[n]] != TENON_NONE) {
        touch(best->covering, best->unit_of[claim->nodes[n]], touched, &reach);
      }
    }
    reach.place_count += is_free ? 1 : 0;
  }
  *out_saving = saving_of(&reach, a->classes[class_index].candidates->items[0].time);
  return TENON_OK;
}

/* Of one that is made in some place; nothing where it is in none. */
tenon_status_t tenon__saving_of_fusion(const alternatives_t* a, const covering_t* best,
                                       uint32_t index, tenon__arena_t* arena, double* out_saving) {
  reach_t reach = {.figure = TENON_FIGURE_MEASURED};
  uint8_t* touched = tenon__arena_allocate(arena, best->units.count + 1u, 1);
  *out_saving = 0;
  TENON_TRY_MEMORY(touched != NULL);
  for (uint32_t u = 0; u < best->units.count; ++u) {
    const tenon__unit_t* unit = &best->units.items[u];
    if (unit->kind == TENON_UNIT_REGION && unit->chosen.region->slot_count > 0 &&
        tenon__list_holds(unit->fusions.items, unit->fusions.count, index)) {
      touch(best, u, touched, &reach);
      reach.place_count += 1;
    }
  }
  if (reach.place_count > 0) {
    *out_saving = saving_of(&reach, a->fusions[index].apart);
  }
  return TENON_OK;
}
