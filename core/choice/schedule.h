/* From the choice to a schedule: steps in order, and a place for every value. */
#ifndef TENON_CORE_CHOICE_SCHEDULE_H_
#define TENON_CORE_CHOICE_SCHEDULE_H_

#include "core/candidate/tuning.h"
#include "core/choice/unit.h"

/* Steps and places of one graph. */
tenon_status_t tenon__schedule_make(tenon__tuning_t* tuning, uint32_t graph,
                                    const tenon__units_t* units, tenon__plan_t* plan,
                                    tenon__schedule_t* out_schedule);

#endif
