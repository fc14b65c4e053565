/* Refit: weights replaced in a loaded engine, and everything prepared from them made again. */
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/runtime/frame.h"

static uint32_t find_weights(const tenon__network_t* network, const char* name) {
  for (uint32_t k = 0; k < network->weights_count; ++k) {
    if (network->weights[k].name != NULL && strcmp(network->weights[k].name, name) == 0) {
      return k;
    }
  }
  return TENON_NONE;
}

void tenon__engine_free_retired(tenon__engine_t* engine) {
  while (engine->retired != NULL) {
    tenon__retired_t* retired = engine->retired;
    engine->retired = retired->next;
    tenon__free(engine->allocator, retired->data, retired->size_bytes);
    tenon__free(engine->allocator, retired, sizeof *retired);
  }
}

static bool retire(tenon__engine_t* engine, const tenon__weights_t* weights) {
  tenon__retired_t* retired = tenon__allocate(engine->allocator, 1, sizeof *retired);
  if (retired == NULL) {
    return false;
  }
  *retired = (tenon__retired_t){.next = engine->retired,
                                .data = tenon__drop_const(weights->data),
                                .size_bytes = weights->size_bytes};
  engine->retired = retired;
  return true;
}

tenon_status_t tenon__engine_set_weights(tenon__engine_t* engine, const char* name,
                                         const void* data, size_t size_bytes) {
  tenon__network_t* network = engine->plan->network;
  const tenon_sink_t* sink = engine->options.sink;
  const uint32_t index = find_weights(network, name);
  if (index == TENON_NONE) {
    return tenon__fail(sink, TENON_ERROR_NOT_FOUND,
                       "the plan has no weights '%s': they were folded into others or are not used",
                       name);
  }
  tenon__weights_t* weights = &network->weights[index];
  if (weights->derivation != NULL) {
    return tenon__fail(sink, TENON_ERROR_UNSUPPORTED,
                       "weights '%s' were derived when the plan was built (%s); replace what they "
                       "were made of in the model and build again",
                       name, weights->derivation);
  }
  if (weights->data == NULL) {
    return tenon__fail(
        sink, TENON_ERROR_UNSUPPORTED,
        "the plan holds weights '%s' as the kernels packed them alone (tuned_only), or "
        "does not need them: build it without that to replace them",
        name);
  }
  if (weights->size_bytes != size_bytes) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                       "weights '%s' have %zu bytes, %zu were given", name, weights->size_bytes,
                       size_bytes);
  }
  void* copy = tenon__allocate(network->allocator, size_bytes, 1);
  if (copy == NULL || (weights->owned && !retire(engine, weights))) {
    tenon__free(network->allocator, copy, size_bytes);
    return tenon__fail_memory(sink);
  }
  memcpy(copy, data, size_bytes);
  weights->data = copy;
  weights->owned = true;
  weights->digest_known = false;
  return TENON_OK;
}

tenon_status_t tenon__engine_commit_weights(tenon__engine_t* engine) {
  tenon__plan_t* plan = engine->plan;
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    for (uint32_t k = 0; k < plan->schedules[g].step_count; ++k) {
      const tenon__step_t* step = &plan->schedules[g].steps[k];
      if (step->kind != TENON_STEP_KERNEL) {
        continue;
      }
      tenon__instance_t* fresh = NULL;
      TENON_TRY(
          tenon__region_finish(&plan->arena, &plan->profile, tenon__drop_const(step->region)));
      TENON_TRY(tenon__engine_prepare_step(engine, step, &fresh));
      tenon__instance_release(engine->steps[g][k].instance);
      engine->steps[g][k].instance = fresh;
    }
  }
  engine->generation += 1;
  tenon__engine_free_retired(engine);
  return TENON_OK;
}
