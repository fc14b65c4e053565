/*
 * Which values an input takes, as far as the operators declare it: data made for a plan is then
 * data that the plan can run with. Indices stay inside of the tensor that they index, also behind
 * casts, moves and the addition of a constant.
 */
#ifndef TENON_CORE_PLAN_INPUT_RANGE_H_
#define TENON_CORE_PLAN_INPUT_RANGE_H_

#include "core/plan/plan.h"

/* Both ends are included. Not limited: -INFINITY, INFINITY. */
typedef struct tenon__input_range_t {
  double min;
  double max;
} tenon__input_range_t;

/* Of input `input` of the main graph, for all extents of the profile that are known. The arena is
 * for the search. A range that contradicts the others is left out. OUT_OF_MEMORY only. */
tenon_status_t tenon__input_range_find(const tenon__plan_t* plan, uint32_t input,
                                       tenon__arena_t* arena, tenon__input_range_t* out_range);

#endif
