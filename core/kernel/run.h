/* The call of a bound kernel, and what it may call while it runs. */
#ifndef TENON_CORE_KERNEL_RUN_H_
#define TENON_CORE_KERNEL_RUN_H_

#include "core/kernel/bind.h"

/* Computes. Allocates, locks and logs nothing unless it fails or an output is growing. The
 * arguments' data are those of this call; dims and strides must be those that it was bound for. On
 * failure the first words that the kernel said, or that it said nothing, are told with step,
 * operator, plugin and kernel. INTERNAL where it forgot to allocate an output, INVALID_STATE where
 * it nested `parallel`. One thread for each run. */
tenon_status_t tenon__bound_run(tenon__bound_t* bound, struct tenon_run_t* run,
                                const tenon_argument_t* inputs, const tenon_argument_t* outputs);

#endif
