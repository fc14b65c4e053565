/* Does a kernel take a region? Asked when candidates are sought, and again when a plan is loaded:
 * kernels rely on what they accepted. */
#ifndef TENON_CORE_PLAN_KERNEL_MATCH_H_
#define TENON_CORE_PLAN_KERNEL_MATCH_H_

#include "core/plan/instance.h"

/* What the kernel's descriptor says, then its `match`. Constants whose bytes the network does not
 * hold are zeros for it. False with a reason; `detail` lives as long as the region. */
bool tenon__kernel_takes(const tenon__kernel_binding_t* kernel, const struct tenon_region_t* region,
                         tenon_refusal_t* out_refusal);
/* The words of a TENON_REFUSAL_*. */
const char* tenon__refusal_text(uint32_t reason);

#endif
