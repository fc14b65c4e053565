/* Times of a context's runs by the clock of the plan's device, and the number of inputs and outputs
 * that were copied through the host. */
#ifndef TENON_CORE_CONTEXT_RUN_TIMES_H_
#define TENON_CORE_CONTEXT_RUN_TIMES_H_

#include "core/context/context.h"
#include "core/step/timing.h"

/* Starts or stops timing from the next run on. No run may be in progress. Returns INVALID_STATE if
 * the host is the plan's only device. */
tenon_status_t tenon__context_set_timing(tenon__context_t* context, tenon__timing_mode_t mode);
/* Returns INVALID_STATE if there are no times: no run, a failed run, or one in progress. */
tenon_status_t tenon__context_get_times(tenon__context_t* context, tenon__run_times_t* out_times);

#endif
