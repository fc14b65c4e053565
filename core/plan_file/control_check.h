/*
 * What crosses between graphs and their bodies lies in one memory on both sides: whoever runs a
 * control step lends and copies it there. Conditions, trip counts and numbers of iterations are the
 * host's.
 */
#ifndef TENON_CORE_PLAN_FILE_CONTROL_CHECK_H_
#define TENON_CORE_PLAN_FILE_CONTROL_CHECK_H_

#include "core/plan/plan.h"

/* When each schedule is known to be right by itself. INVALID_DATA, with words. */
tenon_status_t tenon__control_check(const tenon__plan_t* plan, const tenon_sink_t* sink);

#endif
