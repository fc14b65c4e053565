/* From the choice to a schedule: steps in order, and a place for every value. */
#ifndef TENON_CORE_SCHEDULE_SCHEDULE_H_
#define TENON_CORE_SCHEDULE_SCHEDULE_H_

#include "core/schedule/body_spaces.h"
#include "core/timing/tuning.h"

/* Steps and places of one graph, of the units of which the spaces were found, in the plan's arena;
 * copies between orders are made where a reader wants them, once for each order. Memory is not
 * planned yet: places have no offsets (plan_memory.h). UNSUPPORTED names a value that no kernel
 * copies from one layout to another. */
tenon_status_t tenon__schedule_make(tenon__tuning_t* tuning, uint32_t graph,
                                    const tenon__body_spaces_t* spaces, tenon__plan_t* plan,
                                    tenon__schedule_t* out_schedule);

#endif
