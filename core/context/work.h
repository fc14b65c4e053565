/* What the steps of a context's last run did. */
#ifndef TENON_CORE_CONTEXT_WORK_H_
#define TENON_CORE_CONTEXT_WORK_H_

#include "core/context/context.h"
#include "core/plan/work.h"

/* What that step did at the extents of the last run, and whether by a reference kernel.
 * INVALID_STATE before the first run. `step` is counted as the profiler counts. For reports alone:
 * nothing is measured here. */
tenon_status_t tenon__context_step_work(const tenon__context_t* context, uint32_t step,
                                        tenon__work_t* out_work, bool* out_is_reference);

#endif
