/* Does a kernel take a region? Asked when candidates are sought, and again when a plan is loaded:
 * kernels rely on what they accepted. */
#ifndef TENON_CORE_KERNEL_KERNEL_MATCH_H_
#define TENON_CORE_KERNEL_KERNEL_MATCH_H_

#include "core/kernel/kernel_binding.h"
#include "core/plan/plan.h"

/* What the kernel's descriptor says, then its `match`. Constants whose bytes the network does not
 * hold are zeros for it. False with a reason; `detail` lives as long as the region. Operator,
 * types, ranks, slots and constants as the descriptor demands them come first, so that most kernels
 * refuse without being called. */
bool tenon__kernel_takes(const tenon__kernel_binding_t* kernel, const struct tenon_region_t* region,
                         tenon_refusal_t* out_refusal);
/* And does it have this tactic still, by name, configuration and rules? A plan may say what no
 * kernel ever said. What the tactic needs (memory, numerics, flags) becomes what the kernel says
 * now. NULL: not asked. inout_tactic is changed on success alone. */
bool tenon__kernel_confirms(const tenon__kernel_binding_t* kernel,
                            const struct tenon_region_t* region, tenon__step_tactic_t* inout_tactic,
                            tenon_refusal_t* out_refusal);
/* What the kernel says that its tactics depend on; "" for nothing. Lives as long as its plugin. */
const char* tenon__kernel_validity(const tenon__kernel_binding_t* kernel);
/* The words of a TENON_REFUSAL_*. */
const char* tenon__refusal_text(uint32_t reason);

/* A kernel's rule as a plan holds it: a layout only with EXACT, and none that is rows. */
tenon_argument_rule_t tenon__rule_in_plan(const tenon_argument_rule_t* rule);

/* Calls `take` with each tactic that the kernel has for the region, of this version's size, its
 * numerics too, which are never NULL; NULL for one that is none, or whose sizes are none; with one
 * called "default" when it does not list any.
 */
typedef tenon_status_t (*tenon__take_tactic_t)(void* user, const tenon_tactic_t* tactic);
tenon_status_t tenon__kernel_tactics(const tenon__kernel_binding_t* kernel,
                                     const struct tenon_region_t* region, tenon__take_tactic_t take,
                                     void* user);

#endif
