/* The call of a bound kernel, and the functions that it may call while it runs. */
#ifndef TENON_CORE_KERNEL_RUN_H_
#define TENON_CORE_KERNEL_RUN_H_

#include "core/kernel/bind.h"

/* Runs the kernel, unless no output has elements. Does not allocate, lock or log unless it fails or an output grows. Data
 * addresses are those of this call; dims and strides must be those of the binding. On failure, the
 * kernel's first message, or a note that it sent none, is reported with step, operator, plugin and
 * kernel. Returns INTERNAL if the kernel did not allocate an output, and INVALID_STATE if it nested
 * `parallel`. One thread for each run. */
tenon_status_t tenon__bound_run(tenon__bound_t* bound, struct tenon_run_t* run,
                                const tenon_argument_t* inputs, const tenon_argument_t* outputs);

#endif
