/*
 * Refit. The plan holds the network as it was before the optimiser. With the new weights in it the
 * same passes do the same again, as the signature of the result tells, and leave the same weights
 * under the same numbers, with other bytes.
 */
#include "core/builder/refit.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/builder/building.h"
#include "core/builder/keep_original.h"
#include "core/builder/original.h"
#include "core/engine/engine.h"
#include "core/engine/refit.h"
#include "core/network/node.h"

typedef struct refit_t {
  tenon__engine_t* engine;
  const tenon__plan_t* plan; /* the engine's */
  tenon_allocator_t allocator;
  tenon__catalog_t* catalog;
  const tenon_sink_t* sink;
  tenon__original_t original; /* its network, until a building has it */
  void** fresh;               /* for each of the plan's weights: new bytes, or NULL */
} refit_t;

/* What was set, in place of the plan's. */
static void give_weights(const refit_t* r) {
  for (uint32_t k = 0; k < r->original.network->weights_count; ++k) {
    const void* set = tenon__engine_pending_weights(r->engine, k);
    if (set != NULL) {
      r->original.network->weights[k].data = set;
    }
  }
}

/* Numbers that shapes and the like were made from are part of the structure. */
static tenon_status_t check_contents(const refit_t* r, const tenon__graph_t* graph) {
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    const tenon__value_node_t* value = &graph->values[v];
    if (!value->alive || value->weights == TENON_NONE || value->type.contents == NULL) {
      continue;
    }
    const tenon__weights_t* known = &r->plan->network->weights[value->weights];
    const void* set = tenon__engine_pending_weights(r->engine, value->weights);
    if (set != NULL && tenon__dtype_class(value->type.dtype) != 'f' &&
        (known->data == NULL || memcmp(set, known->data, known->size_bytes) != 0)) {
      return tenon__fail(r->sink, TENON_ERROR_UNSUPPORTED,
                         "weights '%s' are numbers that the plan was built for: build again with "
                         "the new ones",
                         known->name);
    }
  }
  return TENON_OK;
}

/* Whole numbers in floats are followed too: those of weights that were set are forgotten, and with
 * them what was concluded. */
static tenon_status_t forget_contents(const refit_t* r, tenon__graph_t* graph, uint32_t index) {
  bool changed = false;
  TENON_TRY(check_contents(r, graph));
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    tenon__value_node_t* value = &graph->values[v];
    if (value->alive && value->weights != TENON_NONE && value->type.contents != NULL &&
        tenon__engine_pending_weights(r->engine, value->weights) != NULL &&
        tenon__dtype_class(value->type.dtype) == 'f') {
      value->type.contents = NULL;
      value->type.content_count = 0;
      changed = true;
    }
  }
  return changed ? tenon__graph_infer(r->original.network, index, r->sink) : TENON_OK;
}

/* The optimiser, as the build ran it. */
static tenon_status_t optimise(const refit_t* r, tenon__building_t* b, bool* out_same) {
  tenon__digest_t digest;
  TENON_TRY(tenon__building_begin(b));
  TENON_TRY(tenon__building_optimise(b));
  TENON_TRY(tenon__network_signature(b->plan->network, &digest));
  *out_same = memcmp(&digest, &r->plan->original.optimised, sizeof digest) == 0 &&
              b->plan->network->weights_count <= r->plan->network->weights_count;
  return TENON_OK;
}

static bool differs(const refit_t* r, const tenon__network_t* made, uint32_t k) {
  const tenon__weights_t* now = &r->plan->network->weights[k];
  const tenon__weights_t* then = &made->weights[k];
  if (then->data == NULL || then->dtype == TENON_DTYPE_STRING ||
      then->size_bytes != now->size_bytes) {
    return false;
  }
  if (now->data != NULL) {
    return memcmp(then->data, now->data, now->size_bytes) != 0;
  }
  const tenon__digest_t digest = *tenon__weights_digest((tenon__network_t*)made, k);
  return memcmp(&digest, &now->digest, sizeof digest) != 0;
}

static tenon_status_t collect_fresh(refit_t* r, const tenon__network_t* made) {
  for (uint32_t k = 0; k < made->weights_count; ++k) {
    if (!differs(r, made, k)) {
      continue;
    }
    const size_t size = made->weights[k].size_bytes;
    r->fresh[k] = tenon__allocate(r->plan->network->allocator, size, 1);
    TENON_TRY_MEMORY(r->fresh[k] != NULL);
    memcpy(r->fresh[k], made->weights[k].data, size);
  }
  return TENON_OK;
}

static tenon_status_t derive(refit_t* r, tenon__building_t* b) {
  bool same = false;
  TENON_TRY(tenon__plan_create(r->allocator, &b->plan));
  TENON_TRY(tenon__original_read(r->plan, r->catalog, r->sink, &r->original));
  give_weights(r);
  for (uint32_t g = 0; g < r->original.network->graph_count; ++g) {
    TENON_TRY(forget_contents(r, r->original.network->graphs[g], g));
  }
  b->plan->network = r->original.network;
  r->original.network = NULL;
  TENON_TRY(optimise(r, b, &same));
  if (!same) {
    return tenon__fail(r->sink, TENON_ERROR_UNSUPPORTED,
                       "with the new weights the optimiser makes another network (equal weights "
                       "may have been merged, or other plugins are here): build again");
  }
  return collect_fresh(r, b->plan->network);
}

static tenon_status_t commit(refit_t* r) {
  tenon__build_options_t options = tenon__original_options(r->plan, r->allocator, r->sink);
  options.rewrites = r->plan->patches;
  tenon__building_t b = {.allocator = r->allocator, .catalog = r->catalog, .options = &options};
  tenon_status_t status = derive(r, &b);
  tenon__building_end(&b);
  tenon__original_deinitialize(&r->original);
  if (status != TENON_OK) {
    return status;
  }
  return tenon__engine_exchange_weights(r->engine, r->fresh);
}

/* What nobody took over. */
static void free_fresh(const refit_t* r, uint32_t count) {
  for (uint32_t k = 0; k < count; ++k) {
    tenon__free(r->plan->network->allocator, r->fresh[k], r->plan->network->weights[k].size_bytes);
  }
}

tenon_status_t tenon__refit_commit(tenon__catalog_t* catalog, tenon__engine_t* engine) {
  const tenon__plan_t* plan = tenon__engine_plan(engine);
  const uint32_t count = plan->network->weights_count;
  refit_t r = {.engine = engine,
               .plan = plan,
               .allocator = plan->allocator,
               .catalog = catalog,
               .sink = tenon__engine_sink(engine)};
  bool is_set = false;
  for (uint32_t k = 0; k < count; ++k) {
    is_set = is_set || tenon__engine_pending_weights(engine, k) != NULL;
  }
  if (!is_set) {
    return TENON_OK;
  }
  r.fresh = tenon__allocate(r.allocator, count, sizeof(void*));
  tenon_status_t status = r.fresh == NULL ? TENON_ERROR_OUT_OF_MEMORY : commit(&r);
  if (status != TENON_OK && r.fresh != NULL) {
    free_fresh(&r, count);
  }
  tenon__free(r.allocator, r.fresh, count * sizeof(void*));
  tenon__engine_drop_pending(engine);
  return status;
}
