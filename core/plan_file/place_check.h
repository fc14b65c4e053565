/* Places of a plan that was read. */
#ifndef TENON_CORE_PLAN_FILE_PLACE_CHECK_H_
#define TENON_CORE_PLAN_FILE_PLACE_CHECK_H_

#include "core/plan/plan.h"

/* Checks all places of one graph, whose steps' regions were read, and derives is_dynamic. The
 * numbers of inputs and parameters are derived from their values too. `arena` is for scratch. */
tenon_status_t tenon__places_check(tenon__plan_t* plan, uint32_t graph, tenon__arena_t* arena,
                                   const tenon_sink_t* sink);

#endif
