/* Checks of the memory that steps of an external plan read and write, and of its size. */
#ifndef TENON_CORE_PLAN_FILE_MEMORY_CHECK_H_
#define TENON_CORE_PLAN_FILE_MEMORY_CHECK_H_

#include "core/plan/plan.h"

/* Checks one graph, whose places and steps were checked one by one. Steps write only writable
 * memory and read only memory that still holds their value. No two arguments of a step overlap
 * unless a kernel's rule allows it. The graph's memory is no larger than the sum of its places and
 * bodies. Scratch memory is from the arena. Returns INVALID_DATA with a message. */
tenon_status_t tenon__memory_check(const tenon__plan_t* plan, uint32_t graph, tenon__arena_t* arena,
                                   const tenon_sink_t* sink);
/* Checks that the plan's workspaces are no larger than its steps' requirements. */
tenon_status_t tenon__workspaces_check(const tenon__plan_t* plan, const tenon_sink_t* sink);

#endif
