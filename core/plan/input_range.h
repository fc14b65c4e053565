/*
 * The range of an input's valid values, from the operators' declarations, so that a plan can run
 * with made-up data. Indices stay inside the indexed tensor, also after casts, moves and the
 * addition of a constant.
 */
#ifndef TENON_CORE_PLAN_INPUT_RANGE_H_
#define TENON_CORE_PLAN_INPUT_RANGE_H_

#include "core/plan/plan.h"

/* Both ends are included. Not limited: -INFINITY, INFINITY. */
typedef struct tenon__input_range_t {
  double min;
  double max;
} tenon__input_range_t;

/* Finds the range of input `input` of the main graph, for all known extents of the profile. The
 * arena is for the search. A range that contradicts the others is ignored. Returns OUT_OF_MEMORY
 * only. */
tenon_status_t tenon__input_range_find(const tenon__plan_t* plan, uint32_t input,
                                       tenon__arena_t* arena, tenon__input_range_t* out_range);

#endif
