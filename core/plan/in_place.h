/* Outputs that reuse the memory of an input. */
#ifndef TENON_CORE_PLAN_IN_PLACE_H_
#define TENON_CORE_PLAN_IN_PLACE_H_

#include "core/plan/plan.h"

/* Returns true if the output of a kernel's step can have the memory of the input element by
 * element, and both are present and in the arena. The caller checks that the kernel's rule allows
 * it, and that the input is not needed later. An element may be overwritten only by the element
 * that is computed from it. Equal shapes, equal orders and an identity access ensure this. */
bool tenon__fits_in_place(const tenon__plan_t* plan, uint32_t graph, const tenon__step_t* step,
                          uint32_t input, uint32_t output);

#endif
