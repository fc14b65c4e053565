/* Makes a schedule from the choice: steps in order, and a place for each value. */
#ifndef TENON_CORE_SCHEDULE_SCHEDULE_H_
#define TENON_CORE_SCHEDULE_SCHEDULE_H_

#include "core/schedule/body_spaces.h"
#include "core/timing/tuning.h"

/* Makes steps and places of one graph from the units of `spaces`, in the plan's arena. Copies
 * between orders are added for readers that need them, once for each order. Memory is not planned
 * yet: places have no offsets (plan_memory.h). Returns UNSUPPORTED with the name of a value that no
 * kernel can copy between layouts. */
tenon_status_t tenon__schedule_make(tenon__tuning_t* tuning, uint32_t graph,
                                    const tenon__body_spaces_t* spaces, tenon__plan_t* plan,
                                    tenon__schedule_t* out_schedule);

#endif
