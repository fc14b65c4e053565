/* Tactic, layout and types of each unit of a covering, and the cost of the whole graph. */
#ifndef TENON_CORE_LAYOUT_LAYOUTS_H_
#define TENON_CORE_LAYOUT_LAYOUTS_H_

#include "core/candidate/conversions.h"
#include "core/fusion/unit.h"

/* Picks tactics, orders and types for these units, whose regions are finished. If types change
 * regions, new ones are made in the arena, which lives as long as the units. Lower precision is
 * used only if the build permits it and the whole graph becomes faster. A unit that no kernel
 * computes has no candidates. Each unit in turn takes the cheapest pick given its neighbours, until
 * nothing changes, at most 8 sweeps. The result is a local optimum, so choice.c also tries a
 * kernel's layout everywhere at once. Candidates are searched here, so it may measure, and return
 * CANCELLED. */
tenon_status_t tenon__layouts_choose(conversions_t* conversions, tenon__arena_t* arena,
                                     tenon__units_t* inout_units, tenon__copies_t* out_copies);

#endif
