/* What a kernel's work on a device found wrong in data, told when the host reads it. */
#ifndef TENON_CORE_KERNEL_FAULT_H_
#define TENON_CORE_KERNEL_FAULT_H_

#include "core/kernel/instance.h"

/* Has its kernel faults to tell, and so a word for them in each context? */
bool tenon__instance_has_faults(const tenon__instance_t* instance);
/* INVALID_DATA, told with step, operator, plugin and kernel, in the kernel's words; INTERNAL where
 * it has none for the code. `fault` is one: its code is not 0. */
tenon_status_t tenon__instance_tell_fault(const tenon__instance_t* instance,
                                          const tenon_fault_t* fault, const tenon_sink_t* sink);

#endif
