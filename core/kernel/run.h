/* The call of a bound kernel, and what it may call while it runs. */
#ifndef TENON_CORE_KERNEL_RUN_H_
#define TENON_CORE_KERNEL_RUN_H_

#include "core/kernel/instance.h"

/* Computes. Allocates, locks and logs nothing unless it fails or an output is growing. */
tenon_status_t tenon__bound_run(tenon__bound_t* bound, struct tenon_run_t* run,
                                const tenon_argument_t* inputs, const tenon_argument_t* outputs);

#endif
