/* An engine: a plan loaded on a device. Immutable (but for refit), shared, counted. */
#ifndef TENON_CORE_RUNTIME_ENGINE_H_
#define TENON_CORE_RUNTIME_ENGINE_H_

#include "core/catalog/catalog.h"
#include "core/kernel/instance.h"
#include "core/plan/plan.h"

typedef struct tenon__engine_t tenon__engine_t;

typedef struct tenon__engine_options_t {
  tenon_allocator_t allocator;
  uint32_t device_index;
  bool verify;
  bool accepts_others; /* plugins of other digests than the plan's: a warning, and they are used */
  /* Not NULL: set when plugins are others, or lack what the plan needs, and the plan holds what it
   * takes to make it again. It is then refused with warnings, no errors. For the call alone. */
  bool* out_is_stale;
  const tenon_sink_t* sink; /* must live as long as the engine */
  /* Called once when the engine goes: the plan's bytes may go too. May be NULL. */
  void (*release_data)(void* user);
  void* release_user;
} tenon__engine_options_t;

/* `data` stays valid until release_data is called (also called when this fails). */
tenon_status_t tenon__engine_create(tenon__catalog_t* catalog, const void* data, size_t size_bytes,
                                    const tenon__engine_options_t* options,
                                    tenon__engine_t** out_engine);
void tenon__engine_retain(tenon__engine_t* engine);
void tenon__engine_release(tenon__engine_t* engine);

const tenon__plan_t* tenon__engine_plan(const tenon__engine_t* engine);
const tenon_sink_t* tenon__engine_sink(const tenon__engine_t* engine);
/* Inputs and outputs are those of plan->network->graphs[0]; extents of an input at the profile's
 * points. */
tenon_status_t tenon__engine_verify(const tenon__engine_t* engine);

/* Finds and prepares a step's kernel. `inout_tactic`, when a plan is loaded: the step's, of which
 * the kernel is asked whether it has it, and what it needs; NULL afterwards. */
tenon_status_t tenon__engine_prepare_step(tenon__engine_t* engine, const tenon__step_t* step,
                                          tenon__step_tactic_t* inout_tactic,
                                          tenon__instance_t** out_instance);

#endif
