/* Decides whether a plan is faster with branches on streams. The steps' times alone decide the
 * stream of each step (plan/branches.h). Only a run shows whether the device has room for two of
 * them at once. */
#ifndef TENON_CORE_BUILDER_STREAMS_H_
#define TENON_CORE_BUILDER_STREAMS_H_

#include "core/builder/building.h"
#include "core/builder/made.h"

/* `made` is the serialised plan. If it is not faster than with all steps on one stream, it is freed
 * and written again with one stream, which the plan records. The timing cache then knows both
 * times; the plan is run only if the cache lacks them. Nothing changes if the build may not
 * measure, or if the plan cannot be run on made-up data. Then the steps' times decide. */
tenon_status_t tenon__building_judge_streams(tenon__building_t* building, tenon__made_t* made);

#endif
