/* Branches on streams: is the whole faster with them? Which steps are on which stream follows from
 * their times alone (plan/branches.h); whether the device has room for two of them at once, only a
 * run can tell. */
#ifndef TENON_CORE_BUILDER_STREAMS_H_
#define TENON_CORE_BUILDER_STREAMS_H_

#include "core/builder/building.h"
#include "core/builder/made.h"

/* `made`: the plan, written; freed and written again where it is not faster than with all steps in
 * a row, which then it has, and says. The timing cache knows both ways' times afterwards, and the
 * plan is run where it does not yet. Nothing changes where nothing may be measured, or where the
 * plan cannot be run by itself on numbers made up: then the steps' times have decided. */
tenon_status_t tenon__building_judge_streams(tenon__building_t* building, tenon__made_t* made);

#endif
