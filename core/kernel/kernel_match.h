/* Decides whether a kernel accepts a region. Called in the search for candidates, and again when a
 * plan is loaded, because kernels rely on regions that they have accepted. */
#ifndef TENON_CORE_KERNEL_KERNEL_MATCH_H_
#define TENON_CORE_KERNEL_KERNEL_MATCH_H_

#include "core/kernel/kernel_binding.h"
#include "core/plan/plan.h"

/* Checks the kernel's descriptor, then calls its `match`. The descriptor's operators, types, ranks,
 * slots and constants are checked first, so that most kernels are refused without a call. Constants
 * without bytes in the network are zeros for `match`. Returns false with a reason; `detail` lives
 * as long as the region. */
bool tenon__kernel_takes(const tenon__kernel_binding_t* kernel, const struct tenon_region_t* region,
                         tenon_refusal_t* out_refusal);
/* Also checks that the kernel still has this tactic, by name, configuration and rules, because a
 * plan is untrusted. The tactic's requirements (memory, numerics, flags) are updated to the
 * kernel's current ones. `inout_tactic` may be NULL and is changed only on success. */
bool tenon__kernel_confirms(const tenon__kernel_binding_t* kernel,
                            const struct tenon_region_t* region, tenon__step_tactic_t* inout_tactic,
                            tenon_refusal_t* out_refusal);
/* Returns the kernel's declaration of the dependencies of its tactics; "" for none. Lives as long
 * as its plugin. */
const char* tenon__kernel_validity(const tenon__kernel_binding_t* kernel);
/* Returns the text of a TENON_REFUSAL_*. */
const char* tenon__refusal_text(uint32_t reason);

/* Converts a kernel's rule to a plan's form: a layout only with EXACT, and never the row-major
 * one. */
tenon_argument_rule_t tenon__rule_in_plan(const tenon_argument_rule_t* rule);

/* Calls `take` with each tactic of the kernel for the region, in structures of this version's size;
 * numerics are never NULL. An invalid tactic, or one with invalid sizes, is passed as NULL. If the
 * kernel lists no tactics, `take` gets one named "default". */
typedef tenon_status_t (*tenon__take_tactic_t)(void* user, const tenon_tactic_t* tactic);
tenon_status_t tenon__kernel_tactics(const tenon__kernel_binding_t* kernel,
                                     const struct tenon_region_t* region, tenon__take_tactic_t take,
                                     void* user);

#endif
