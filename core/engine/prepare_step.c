/* Preparation of a step: find its kernel, ask it for the tactic of the plan, check that the plan
 * keeps the weights that it reads, and prepare it. */
#include "core/engine/prepare_step.h"

#include <string.h>

#include "core/base/status.h"
#include "core/engine/engine_state.h"
#include "core/engine/provision.h"
#include "core/kernel/kernel_match.h"
#include "core/plan/place.h"

/* Weights that the plan does not keep are those that a kernel has packed. */
static tenon_status_t check_weights(const tenon__engine_t* engine, const tenon__step_t* step,
                                    const tenon__instance_t* instance) {
  const tenon__plan_t* plan = engine->plan;
  const tenon__schedule_t* schedule = &plan->schedules[step->region->graph];
  for (uint32_t k = 0; k < step->input_count; ++k) {
    const tenon__place_t* place =
        step->inputs[k] == TENON_NONE
            ? NULL
            : &schedule->places[tenon__place_root(schedule, step->inputs[k])];
    const tenon__weights_t* weights = place != NULL && place->storage == TENON_STORAGE_WEIGHTS
                                          ? &plan->network->weights[place->index]
                                          : NULL;
    if (weights != NULL && weights->data == NULL && weights->size_bytes > 0 &&
        tenon__instance_reads(instance, k)) {
      return tenon__fail(engine->options.sink, TENON_ERROR_INVALID_DATA,
                         "the plan is broken: step '%s' reads weights '%s', which it does not keep",
                         step->name, weights->name);
    }
  }
  return TENON_OK;
}

/* "library 7" in words, also where it is nothing. */
static const char* told(const char* validity) {
  return validity[0] == '\0' ? "nothing else" : validity;
}

static tenon_status_t check_validity(tenon__engine_t* engine, const tenon__step_t* step,
                                     const tenon__kernel_binding_t* kernel) {
  const char* now = tenon__kernel_validity(kernel);
  return strcmp(now, step->validity) == 0
             ? TENON_OK
             : tenon__engine_lacks(engine, TENON_ERROR_NOT_FOUND,
                                   "step '%s': kernel '%s' of plugin '%s' was chosen with %s, here "
                                   "it is with %s",
                                   step->name, step->kernel, step->plugin, told(step->validity),
                                   told(now));
}

tenon_status_t tenon__engine_prepare_step(tenon__engine_t* engine, const tenon__step_t* step,
                                          tenon__step_tactic_t* inout_tactic,
                                          tenon__instance_t** out_instance) {
  const tenon__kernel_entry_t* entry = tenon__engine_find_kernel(engine, step);
  if (entry == NULL) {
    return TENON_ERROR_NOT_FOUND;
  }
  const tenon__kernel_binding_t binding = {.kernel = &entry->kernel,
                                           .state = entry->owner->state,
                                           .plugin = entry->owner->plugin,
                                           .known = tenon__known_values_of(entry->owner->built),
                                           .device = &engine->devices[step->device]};
  tenon_refusal_t refusal;
  TENON_TRY(check_validity(engine, step, &binding));
  if (!tenon__kernel_confirms(&binding, step->region, inout_tactic, &refusal)) {
    const char* detail = refusal.detail == NULL ? "" : refusal.detail;
    /* On another machine a kernel may well do otherwise; on this one nobody built such a plan. */
    return engine->is_elsewhere
               ? tenon__engine_lacks(
                     engine, TENON_ERROR_UNSUPPORTED,
                     "step '%s': kernel '%s' of plugin '%s' does not take it here: %s%s%s",
                     step->name, step->kernel, step->plugin, tenon__refusal_text(refusal.reason),
                     detail[0] == '\0' ? "" : ": ", detail)
               : tenon__fail(engine->options.sink, TENON_ERROR_INVALID_DATA,
                             "step '%s': kernel '%s' of plugin '%s' does not take it: %s%s%s",
                             step->name, step->kernel, step->plugin,
                             tenon__refusal_text(refusal.reason), detail[0] == '\0' ? "" : ": ",
                             detail);
  }
  const tenon__instance_request_t request = {.kernel = &binding,
                                             .region = step->region,
                                             .tactic = &step->tactic,
                                             .step_name = step->name,
                                             .store = engine->store};
  const tenon_status_t status =
      tenon__instance_create(engine->allocator, &request, engine->options.sink, out_instance);
  if (status != TENON_OK) {
    return tenon__fail(engine->options.sink, status,
                       "step '%s': kernel '%s' of plugin '%s' cannot be prepared", step->name,
                       step->kernel, step->plugin);
  }
  return check_weights(engine, step, *out_instance);
}
