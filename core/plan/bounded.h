/*
 * Extents that stay on a device. A value whose extents only the run finds, but which have a bound,
 * lies at that bound in the arena when a kernel of the device writes its extents into device memory
 * (TENON_RULE_EXTENTS) and whoever reads it there can do with that: kernels that take such extents,
 * copies to the host, kernels that are bound when the host has read them. Its step, and those that
 * take it so, are bound once, at the bounds; nobody waits between them.
 */
#ifndef TENON_CORE_PLAN_BOUNDED_H_
#define TENON_CORE_PLAN_BOUNDED_H_

#include "core/plan/plan.h"

/* Finds those places among the schedule's GROWING ones, which become ARENA with `at_bound`, and the
 * steps that are `at_bound`. After
 * tenon__schedule_classify. Follows from the
 * plan alone, so that who reads a plan comes to the same. */
void tenon__schedule_bound(const tenon__plan_t* plan, uint32_t graph,
                           tenon__schedule_t* inout_schedule);
/* Is the extent, which only a run finds, a symbol with a bound that does not depend on the run? */
bool tenon__dim_has_bound(const tenon__dim_pool_t* pool, tenon_dim_t dim, tenon_dim_t* out_bound);
/* Words that the extents of the plan's values at their bound take on a device, 8 bytes each. */
uint64_t tenon__plan_extent_words(const tenon__plan_t* plan, uint32_t device);

#endif
