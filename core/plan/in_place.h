/* Outputs that take over the memory of an input. */
#ifndef TENON_CORE_PLAN_IN_PLACE_H_
#define TENON_CORE_PLAN_IN_PLACE_H_

#include "core/plan/plan.h"

/* Would the output of a kernel's step lie in the memory of the input element for element, both
 * present and in the arena? Whether the kernel's rule allows it, and whether the input is needed
 * later, the caller asks. An element may be overwritten only by the one that is computed from it:
 * that is what equal shapes, orders and an access that is the identity ensure. */
bool tenon__fits_in_place(const tenon__plan_t* plan, uint32_t graph, const tenon__step_t* step,
                          uint32_t input, uint32_t output);

#endif
