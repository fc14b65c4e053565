/* Consistency checks of an external plan's schedules. */
#ifndef TENON_CORE_PLAN_FILE_SCHEDULE_CHECK_H_
#define TENON_CORE_PLAN_FILE_SCHEDULE_CHECK_H_

#include "core/plan/plan.h"

tenon_status_t tenon__schedules_check(tenon__plan_t* plan, const tenon_sink_t* sink);

#endif
