/* Work of the steps of a context's last run. */
#ifndef TENON_CORE_CONTEXT_WORK_H_
#define TENON_CORE_CONTEXT_WORK_H_

#include "core/context/context.h"
#include "core/plan/work.h"

/* Returns the work of that step at the extents of the last run, and whether a reference kernel did
 * it. `step` has the profiler's numbering. For reports only; nothing is measured here. Returns
 * INVALID_STATE before the first run. */
tenon_status_t tenon__context_step_work(const tenon__context_t* context, uint32_t step,
                                        tenon__work_t* out_work, bool* out_is_reference);

#endif
