/* Tactic, layout and types of each unit of a covering, and what the whole graph then costs. */
#ifndef TENON_CORE_LAYOUT_LAYOUTS_H_
#define TENON_CORE_LAYOUT_LAYOUTS_H_

#include "core/candidate/conversions.h"
#include "core/fusion/unit.h"

/* Picks tactics, orders and types for these units, whose regions are finished; where types change
 * regions, others are made in the arena, which lives as long as the units. Types are narrowed only
 * where the build permits it, and the whole gets faster. A unit that nobody computes
 * has no candidates then. Each unit in turn takes what is cheapest given its neighbours, until
 * nothing changes, eight sweeps at most: a local optimum, which is why choice.c tries kernels'
 * layouts everywhere at once. Candidates are looked for here, so it may measure, and be CANCELLED.
 */
tenon_status_t tenon__layouts_choose(conversions_t* conversions, tenon__arena_t* arena,
                                     tenon__units_t* inout_units, tenon__copies_t* out_copies);

#endif
