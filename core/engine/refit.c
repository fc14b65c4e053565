/*
 * Refit, the engine's part: new bytes of weights are kept until they are committed; then they are
 * exchanged, every step is prepared again, and contexts forget what they were bound to. All or
 * nothing: when a step cannot be prepared, everything is as before.
 */
#include "core/engine/refit.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/engine/engine_state.h"
#include "core/engine/prepare_step.h"
#include "core/engine/uploads.h"
#include "core/kernel/instance.h"
#include "core/region/region_finish.h"

/* ---- New bytes ---- */

bool tenon__engine_can_set_weights(const tenon__engine_t* engine, uint32_t index) {
  const tenon__plan_t* plan = engine->plan;
  const tenon__weights_t* weights = &plan->network->weights[index];
  return plan->original.data != NULL && weights->derivation == NULL && weights->name != NULL &&
         weights->name[0] != '\0' && weights->data != NULL && weights->dtype != TENON_DTYPE_STRING;
}

static bool is_named(const tenon__engine_t* engine, uint32_t index, const char* name) {
  return tenon__engine_can_set_weights(engine, index) &&
         strcmp(engine->plan->network->weights[index].name, name) == 0;
}

static bool are_same(const tenon__weights_t* a, const tenon__weights_t* b) {
  return a->dtype == b->dtype && a->rank == b->rank && a->size_bytes == b->size_bytes &&
         (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0) &&
         memcmp(a->data, b->data, a->size_bytes) == 0;
}

/* The first of the name. A weight that bodies read has one entry in each graph that reads it: all
 * of them are meant. Others of the same name are another weight, and the name tells them not apart.
 */
static tenon_status_t find_weights(const tenon__engine_t* engine, const char* name,
                                   uint32_t* out_index) {
  const tenon__network_t* network = engine->plan->network;
  const tenon_sink_t* sink = engine->options.sink;
  uint32_t first = TENON_NONE;
  if (engine->plan->original.data == NULL) {
    return tenon__fail(sink, TENON_ERROR_UNSUPPORTED,
                       "the plan was built with tuned_only: its weights cannot be replaced");
  }
  for (uint32_t k = 0; k < network->weights_count; ++k) {
    if (!is_named(engine, k, name)) {
      continue;
    }
    if (first == TENON_NONE) {
      first = k;
    } else if (!are_same(&network->weights[first], &network->weights[k])) {
      return tenon__fail(sink, TENON_ERROR_UNSUPPORTED,
                         "several weights that differ are named '%s' in different bodies: give "
                         "them names of their own in the model, or build again",
                         name);
    }
  }
  *out_index = first;
  return first != TENON_NONE
             ? TENON_OK
             : tenon__fail(sink, TENON_ERROR_NOT_FOUND,
                           "the plan has no weights '%s' that its outputs depend on", name);
}

static bool has_room(tenon__engine_t* engine, uint32_t index, size_t size_bytes) {
  if (engine->pending[index] == NULL) {
    engine->pending[index] = tenon__allocate(engine->allocator, size_bytes, 1);
  }
  return engine->pending[index] != NULL;
}

tenon_status_t tenon__engine_set_weights(tenon__engine_t* engine, const char* name,
                                         const void* data, size_t size_bytes) {
  const tenon_sink_t* sink = engine->options.sink;
  const tenon__network_t* network = engine->plan->network;
  uint32_t index = 0;
  TENON_TRY(find_weights(engine, name, &index));
  const size_t expected = network->weights[index].size_bytes;
  if (expected != size_bytes) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                       "weights '%s' have %zu bytes, %zu were given", name, expected, size_bytes);
  }
  if (engine->pending == NULL) {
    engine->pending = tenon__allocate(engine->allocator, network->weights_count, sizeof(void*));
  }
  TENON_TRY_MEMORY(engine->pending != NULL);
  for (uint32_t k = index; k < network->weights_count; ++k) {
    if (is_named(engine, k, name)) {
      TENON_TRY_MEMORY(has_room(engine, k, size_bytes));
      memcpy(engine->pending[k], data, size_bytes);
    }
  }
  return TENON_OK;
}

const void* tenon__engine_pending_weights(const tenon__engine_t* engine, uint32_t index) {
  return engine->pending == NULL ? NULL : engine->pending[index];
}

void tenon__engine_drop_pending(tenon__engine_t* engine) {
  const tenon__network_t* network = engine->plan->network;
  if (engine->pending == NULL) {
    return;
  }
  for (uint32_t k = 0; k < network->weights_count; ++k) {
    tenon__free(engine->allocator, engine->pending[k], network->weights[k].size_bytes);
  }
  tenon__free(engine->allocator, engine->pending, network->weights_count * sizeof(void*));
  engine->pending = NULL;
}

/* ---- Exchange ---- */

/* What the exchange replaces, and what comes instead. */
typedef struct exchange_t {
  tenon__engine_t* engine;
  tenon__arena_t arena;
  tenon__weights_t* weights; /* the others of each of the network's */
  tenon__instance_t*** instances;
  tenon__packed_store_t* store;
} exchange_t;

static void swap_weights(exchange_t* x) {
  tenon__network_t* network = x->engine->plan->network;
  for (uint32_t k = 0; k < network->weights_count; ++k) {
    const tenon__weights_t other = x->weights[k];
    x->weights[k] = network->weights[k];
    network->weights[k] = other;
  }
}

static void swap_instances(exchange_t* x) {
  tenon__engine_t* engine = x->engine;
  tenon__packed_store_t* store = engine->store;
  for (uint32_t g = 0; g < engine->plan->schedule_count; ++g) {
    for (uint32_t k = 0; k < engine->plan->schedules[g].step_count; ++k) {
      tenon__instance_t* other = x->instances[g][k];
      x->instances[g][k] = engine->steps[g][k].instance;
      engine->steps[g][k].instance = other;
    }
  }
  engine->store = x->store;
  x->store = store;
}

static void renew_regions(const tenon__plan_t* plan) {
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    for (uint32_t k = 0; k < plan->schedules[g].step_count; ++k) {
      const struct tenon_region_t* region = plan->schedules[g].steps[k].region;
      if (region != NULL) {
        tenon__region_renew(tenon__drop_const(region));
      }
    }
  }
}

static void swap_all(exchange_t* x) {
  swap_weights(x);
  swap_instances(x);
  renew_regions(x->engine->plan);
}

static tenon_status_t prepare_graph(tenon__engine_t* engine, uint32_t graph) {
  const tenon__schedule_t* schedule = &engine->plan->schedules[graph];
  for (uint32_t k = 0; k < schedule->step_count; ++k) {
    if (schedule->steps[k].kind == TENON_STEP_KERNEL) {
      TENON_TRY(tenon__engine_prepare_step(engine, &schedule->steps[k], NULL,
                                           &engine->steps[graph][k].instance));
    }
  }
  return TENON_OK;
}

static tenon_status_t begin_exchange(exchange_t* x, void** fresh) {
  tenon__engine_t* engine = x->engine;
  const tenon__plan_t* plan = engine->plan;
  const tenon__network_t* network = plan->network;
  tenon__arena_initialize(&x->arena, engine->allocator);
  x->weights = tenon__arena_allocate(&x->arena, network->weights_count + 1u, sizeof *x->weights);
  x->instances = tenon__arena_allocate(&x->arena, plan->schedule_count + 1u, sizeof *x->instances);
  TENON_TRY_MEMORY(x->weights != NULL && x->instances != NULL);
  for (uint32_t k = 0; k < network->weights_count; ++k) {
    x->weights[k] = network->weights[k];
    if (fresh[k] != NULL) {
      x->weights[k].data = fresh[k];
      x->weights[k].owned = true;
      x->weights[k].digest_known = false;
    }
  }
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    x->instances[g] =
        tenon__arena_allocate(&x->arena, plan->schedules[g].step_count + 1u, sizeof(void*));
    TENON_TRY_MEMORY(x->instances[g] != NULL);
  }
  TENON_TRY(tenon__packed_store_create(engine->allocator, &x->store));
  for (uint32_t k = 0; k < plan->packed_count; ++k) {
    TENON_TRY(tenon__packed_store_add_mapped(x->store, &plan->packed[k]));
  }
  return TENON_OK;
}

static void destroy_instances(const exchange_t* x) {
  const uint32_t graph_count = x->instances == NULL ? 0 : x->engine->plan->schedule_count;
  for (uint32_t g = 0; g < graph_count; ++g) {
    const uint32_t count = x->instances[g] == NULL ? 0 : x->engine->plan->schedules[g].step_count;
    for (uint32_t k = 0; k < count; ++k) {
      tenon__instance_release(x->instances[g][k]);
    }
  }
}

tenon_status_t tenon__engine_exchange_weights(tenon__engine_t* engine, void** fresh) {
  exchange_t x = {.engine = engine};
  const tenon__network_t* network = engine->plan->network;
  tenon_status_t status = begin_exchange(&x, fresh);
  if (status == TENON_OK) {
    swap_all(&x);
    for (uint32_t g = 0; g < engine->plan->schedule_count && status == TENON_OK; ++g) {
      status = prepare_graph(engine, g);
    }
    status = status == TENON_OK ? tenon__engine_upload_weights(engine) : status;
    if (status == TENON_OK) {
      engine->generation += 1; /* contexts look at it before they run */
    } else {
      swap_all(&x);
      (void)tenon__engine_upload_weights(engine);
    }
  }
  destroy_instances(&x);
  const uint32_t exchanged_count = status == TENON_OK ? network->weights_count : 0;
  for (uint32_t k = 0; k < exchanged_count; ++k) {
    if (fresh[k] != NULL && x.weights[k].owned) {
      tenon__free(network->allocator, tenon__drop_const(x.weights[k].data),
                  x.weights[k].size_bytes);
    }
  }
  tenon__packed_store_destroy(x.store);
  tenon__arena_deinitialize(&x.arena);
  return status;
}
