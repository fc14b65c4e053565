/*
 * Checks of arguments and results that pass between graphs and their bodies. Both sides must be in
 * the same memory, because control steps lend and copy them there. Conditions, trip counts and
 * iteration numbers must be in the host's memory.
 */
#ifndef TENON_CORE_PLAN_FILE_CONTROL_CHECK_H_
#define TENON_CORE_PLAN_FILE_CONTROL_CHECK_H_

#include "core/plan/plan.h"

/* Called after each schedule was checked alone. Returns INVALID_DATA with a message. */
tenon_status_t tenon__control_check(const tenon__plan_t* plan, const tenon_sink_t* sink);

#endif
