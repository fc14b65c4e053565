/*
 * Data-dependent extents that stay on a device. A value with data-dependent extents that have a
 * bound is stored in the arena with the size of its bound if two conditions hold. A kernel of the
 * device writes its extents to device memory (TENON_RULE_EXTENTS), and all its readers support
 * this: kernels that take such extents, copies to the host, and kernels that are bound after the
 * host has read the extents. Its step, and kernels that take such extents, are bound once, at the
 * bounds, and the host does not wait between them.
 */
#ifndef TENON_CORE_PLAN_BOUNDED_H_
#define TENON_CORE_PLAN_BOUNDED_H_

#include "core/plan/plan.h"

/* Finds these places among the schedule's GROWING ones. They become ARENA with `at_bound`, and
 * their steps get `at_bound`. Called after tenon__schedule_classify. The result depends on the plan
 * only, so a reader of the plan computes the same. */
void tenon__schedule_bound(const tenon__plan_t* plan, uint32_t graph,
                           tenon__schedule_t* inout_schedule);
/* Returns true if the data-dependent extent is a symbol with a bound that does not depend on the
 * run. */
bool tenon__dim_has_bound(const tenon__dim_pool_t* pool, tenon_dim_t dim, tenon_dim_t* out_bound);
/* Returns the number of words, 8 bytes each, for the extents of the plan's values at their bound on
 * a device. */
uint64_t tenon__plan_extent_words(const tenon__plan_t* plan, uint32_t device);

#endif
