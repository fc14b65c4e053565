/* Finds, confirms and prepares the kernel of a plan's step. */
#ifndef TENON_CORE_ENGINE_PREPARE_STEP_H_
#define TENON_CORE_ENGINE_PREPARE_STEP_H_

#include "core/engine/types.h"
#include "core/kernel/instance.h"
#include "core/plan/plan.h"

/* Finds and prepares a step's kernel. When a plan is loaded, `inout_tactic` is the step's tactic.
 * The kernel must confirm it, and its requirements are updated. NULL afterwards. The kernel's
 * messages are passed on. Returns INVALID_DATA also if it reads weights that the plan does not
 * keep. */
tenon_status_t tenon__engine_prepare_step(tenon__engine_t* engine, const tenon__step_t* step,
                                          tenon__step_tactic_t* inout_tactic,
                                          tenon__instance_t** out_instance);

#endif
