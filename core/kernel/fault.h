/* Data errors that a kernel's work on a device has found, reported when the host reads them. */
#ifndef TENON_CORE_KERNEL_FAULT_H_
#define TENON_CORE_KERNEL_FAULT_H_

#include "core/kernel/instance.h"

/* Returns true if its kernel may report data errors, and thus needs an entry in each context's
 * status block. */
bool tenon__instance_has_faults(const tenon__instance_t* instance);
/* Reports a data error with step, operator, plugin, kernel and the kernel's text, and returns
 * INVALID_DATA. Returns INTERNAL if the kernel has no text for the code. The code of `fault` is not
 * 0. */
tenon_status_t tenon__instance_tell_fault(const tenon__instance_t* instance,
                                          const tenon_fault_t* fault, const tenon_sink_t* sink);

#endif
