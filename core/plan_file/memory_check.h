/* Who writes and reads which memory in a plan from outside, and how much of it the plan asks for.
 */
#ifndef TENON_CORE_PLAN_FILE_MEMORY_CHECK_H_
#define TENON_CORE_PLAN_FILE_MEMORY_CHECK_H_

#include "core/plan/plan.h"

/* One graph, whose places and steps were checked each for itself: steps write what may be written,
 * read what holds its value still, and no argument of a step lies in the memory of another, unless
 * a kernel's rule lets it; its memory is no larger than what its places and bodies take together.
 * INVALID_DATA, reported. Scratch memory comes from the arena. */
tenon_status_t tenon__memory_check(const tenon__plan_t* plan, uint32_t graph, tenon__arena_t* arena,
                                   const tenon_sink_t* sink);
/* The plan's workspaces are no larger than what its steps ask for. */
tenon_status_t tenon__workspaces_check(const tenon__plan_t* plan, const tenon_sink_t* sink);

#endif
