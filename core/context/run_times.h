/* How long a context's runs take by the clock of the plan's device, and what of their inputs and
 * outputs was copied by way of the host. */
#ifndef TENON_CORE_CONTEXT_RUN_TIMES_H_
#define TENON_CORE_CONTEXT_RUN_TIMES_H_

#include "core/context/context.h"
#include "core/step/timing.h"

/* From the next run on, or no more. No run is under way. INVALID_STATE where the plan has no
 * device but the host. */
tenon_status_t tenon__context_set_timing(tenon__context_t* context, bool is_wanted);
/* INVALID_STATE where there is nothing to tell: no run, one that failed, or one under way. */
tenon_status_t tenon__context_get_times(tenon__context_t* context, tenon__run_times_t* out_times);

#endif
