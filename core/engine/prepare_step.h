/* A step of a plan finds its kernel, which confirms what it promised, and is prepared. */
#ifndef TENON_CORE_ENGINE_PREPARE_STEP_H_
#define TENON_CORE_ENGINE_PREPARE_STEP_H_

#include "core/engine/types.h"
#include "core/kernel/instance.h"
#include "core/plan/plan.h"

/* Finds and prepares a step's kernel. `inout_tactic`, when a plan is loaded: the step's, of which
 * the kernel is asked whether it has it, and what it needs; NULL afterwards. The kernel's own words
 * are passed on. INVALID_DATA too where it reads weights that the plan does not keep. */
tenon_status_t tenon__engine_prepare_step(tenon__engine_t* engine, const tenon__step_t* step,
                                          tenon__step_tactic_t* inout_tactic,
                                          tenon__instance_t** out_instance);

#endif
