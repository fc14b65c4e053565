/* Engines: a plan read, its kernels found and prepared. */
#include "core/engine/engine.h"

#include <stdatomic.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/catalog/catalog.h"
#include "core/dimension/dimension_pool.h"
#include "core/engine/prepare_step.h"
#include "core/engine/provision.h"
#include "core/engine/refit.h"
#include "core/engine/uploads.h"
#include "core/plan/plan_memory.h"
#include "core/plan_file/reader.h"

typedef struct finder_t {
  tenon__catalog_t* catalog;
} finder_t;

static const tenon__operator_t* find_operator(void* user, const char* name) {
  /* A plan runs without the plugin that declared an operator: its meaning is in the plan. */
  return tenon__catalog_operator(((finder_t*)user)->catalog, name, NULL);
}

static tenon_status_t prepare_graph(tenon__engine_t* engine, uint32_t graph) {
  tenon__schedule_t* schedule = &engine->plan->schedules[graph];
  tenon__engine_step_t* steps =
      tenon__allocate(engine->allocator, schedule->step_count + 1u, sizeof *steps);
  TENON_TRY_MEMORY(steps != NULL);
  engine->steps[graph] = steps;
  for (uint32_t k = 0; k < schedule->step_count; ++k) {
    steps[k].number = engine->step_count++;
    tenon__step_t* step = &schedule->steps[k];
    if (step->kind == TENON_STEP_KERNEL) {
      TENON_TRY(tenon__engine_prepare_step(engine, step, &step->tactic, &steps[k].instance));
    }
  }
  return TENON_OK;
}

static tenon_status_t prepare_steps(tenon__engine_t* engine) {
  const tenon__plan_t* plan = engine->plan;
  for (uint32_t k = 0; k < plan->packed_count; ++k) {
    TENON_TRY(tenon__packed_store_add_mapped(engine->store, &plan->packed[k]));
  }
  engine->steps = tenon__allocate(engine->allocator, plan->schedule_count + 1u, sizeof(void*));
  TENON_TRY_MEMORY(engine->steps != NULL);
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    TENON_TRY(prepare_graph(engine, g));
  }
  return tenon__plan_workspaces(engine->plan, engine->options.sink);
}

static tenon_status_t find_contents(tenon__engine_t* engine) {
  const tenon__dim_pool_t* pool = engine->plan->network->pool;
  engine->reads_contents =
      tenon__allocate(engine->allocator, engine->plan->network->handle_count + 1u, 1);
  TENON_TRY_MEMORY(engine->reads_contents != NULL);
  for (uint32_t k = 0; k < tenon__symbol_count(pool); ++k) {
    const tenon__symbol_t* symbol = tenon__symbol_get(pool, k);
    if (symbol->kind == TENON_SYMBOL_CONTENT && symbol->a < engine->plan->network->handle_count) {
      engine->reads_contents[symbol->a] = 1;
    }
  }
  return TENON_OK;
}

static void destroy(tenon__engine_t* engine) {
  const tenon_allocator_t allocator = engine->allocator;
  const uint32_t graph_count = engine->steps == NULL ? 0 : engine->plan->schedule_count;
  for (uint32_t g = 0; g < graph_count; ++g) {
    const uint32_t count = engine->plan->schedules[g].step_count;
    const uint32_t made_count = engine->steps[g] == NULL ? 0 : count;
    for (uint32_t k = 0; k < made_count; ++k) {
      tenon__instance_release(engine->steps[g][k].instance);
    }
    tenon__free(allocator, engine->steps[g], (count + 1u) * sizeof **engine->steps);
  }
  if (engine->plan != NULL) {
    tenon__engine_drop_pending(engine);
    tenon__free(allocator, engine->steps, (engine->plan->schedule_count + 1u) * sizeof(void*));
    tenon__free(allocator, engine->reads_contents, engine->plan->network->handle_count + 1u);
  }
  tenon__engine_drop_uploads(engine);
  tenon__packed_store_destroy(engine->store);
  tenon__engine_close_devices(engine);
  tenon__plan_destroy(engine->plan);
  if (engine->options.release_data != NULL) {
    engine->options.release_data(engine->options.release_user);
  }
  tenon__free(allocator, engine, sizeof *engine);
}

static tenon_status_t initialize(tenon__engine_t* engine, const void* data, size_t size_bytes) {
  finder_t finder = {.catalog = engine->catalog};
  const tenon__plan_source_t source = {
      .data = data, .size_bytes = size_bytes, .find = find_operator, .find_user = &finder};
  TENON_TRY(tenon__plan_read(engine->allocator, &source, engine->options.sink, &engine->plan));
  if (engine->options.verify || engine->options.verify_read) {
    TENON_TRY(tenon__plan_verify(engine->plan, !engine->options.verify, engine->options.sink));
  }
  TENON_TRY(tenon__packed_store_create(engine->allocator, &engine->store));
  TENON_TRY(tenon__engine_open_devices(engine));
  TENON_TRY(tenon__engine_check_plugins(engine));
  TENON_TRY(find_contents(engine));
  TENON_TRY(prepare_steps(engine));
  return tenon__engine_upload_weights(engine);
}

tenon_status_t tenon__engine_create(tenon__catalog_t* catalog, const void* data, size_t size_bytes,
                                    const tenon__engine_options_t* options,
                                    tenon__engine_t** out_engine) {
  tenon__engine_t* engine = tenon__allocate(options->allocator, 1, sizeof *engine);
  if (engine == NULL) {
    if (options->release_data != NULL) {
      options->release_data(options->release_user);
    }
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  engine->allocator = options->allocator;
  engine->options = *options;
  engine->catalog = catalog;
  atomic_init(&engine->reference_count, 1);
  const tenon_status_t status = initialize(engine, data, size_bytes);
  if (status != TENON_OK) {
    destroy(engine);
    return status;
  }
  engine->options.out_is_stale = NULL; /* the caller's, for this call */
  *out_engine = engine;
  return TENON_OK;
}

void tenon__engine_retain(tenon__engine_t* engine) {
  atomic_fetch_add_explicit(&engine->reference_count, 1, memory_order_relaxed);
}

void tenon__engine_release(tenon__engine_t* engine) {
  if (engine != NULL &&
      atomic_fetch_sub_explicit(&engine->reference_count, 1, memory_order_acq_rel) == 1) {
    destroy(engine);
  }
}

const tenon__plan_t* tenon__engine_plan(const tenon__engine_t* engine) {
  return engine->plan;
}

const tenon_sink_t* tenon__engine_sink(const tenon__engine_t* engine) {
  return engine->options.sink;
}

tenon_status_t tenon__engine_verify(const tenon__engine_t* engine) {
  TENON_TRY(tenon__plan_verify(engine->plan, false, engine->options.sink));
  return tenon__engine_compare_plugins(engine);
}
