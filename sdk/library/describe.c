/* What an engine says of itself. The lists are made when they are first asked for: loading stays fast. */
#include <stdio.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/plan/report.h"
#include "sdk/library/library.h"

static uint32_t depth_of(const tenon__network_t* network, uint32_t graph) {
  uint32_t depth = 0;
  while (network->graphs[graph]->parent != TENON_NONE) {
    graph = network->graphs[graph]->parent;
    ++depth;
  }
  return depth;
}

static tenon_status_t describe_step(tenon_engine_t* engine, uint32_t graph, uint32_t index,
                                    tenon_step_info_t* out_info) {
  const tenon__plan_t* plan = tenon__engine_plan(engine->engine);
  const tenon__step_t* step = &plan->schedules[graph].steps[index];
  tenon__step_report_t report;
  TENON_TRY(tenon__step_describe(plan, graph, index, &engine->arena, &report));
  *out_info = (tenon_step_info_t){
      .name = step->name,
      .kind = report.kind,
      .kernel = step->kernel == NULL ? "" : step->kernel,
      .plugin = step->plugin == NULL ? "" : step->plugin,
      .tactic = step->tactic.name == NULL ? "" : step->tactic.name,
      .nodes = report.nodes,
      .expression = report.expression,
      .inputs = report.inputs,
      .outputs = report.outputs,
      .layout = report.layout,
      .measured_seconds = step->measured_seconds,
      .refusals = step->refusals == NULL ? "" : step->refusals,
      .depth = depth_of(plan->network, graph),
  };
  return TENON_OK;
}

tenon_status_t tenon__engine_describe_steps(tenon_engine_t* engine) {
  const tenon__plan_t* plan = tenon__engine_plan(engine->engine);
  tenon_status_t status = TENON_OK;
  (void)pthread_mutex_lock(&engine->mutex);
  if (engine->steps == NULL) {
    tenon_step_info_t* steps =
        tenon__arena_allocate(&engine->arena, engine->step_count + 1u, sizeof *steps);
    uint32_t at = 0;
    status = steps == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
    for (uint32_t g = 0; g < plan->schedule_count && status == TENON_OK; ++g) {
      for (uint32_t k = 0; k < plan->schedules[g].step_count && status == TENON_OK; ++k) {
        status = describe_step(engine, g, k, &steps[at++]);
      }
    }
    if (status == TENON_OK) {
      engine->steps = steps;
    }
  }
  (void)pthread_mutex_unlock(&engine->mutex);
  return status;
}

static const char* plugin_lines(tenon_engine_t* engine) {
  const tenon__plan_t* plan = tenon__engine_plan(engine->engine);
  const char* lines = "";
  for (uint32_t k = 0; k < plan->plugin_count && lines != NULL; ++k) {
    char digest[65];
    tenon__digest_text(&plan->plugins[k].digest, digest);
    lines = tenon__arena_format(&engine->arena, "%s%s %s %s\n", lines, plan->plugins[k].name,
                                plan->plugins[k].version, digest);
  }
  return lines;
}

tenon_status_t tenon__engine_describe(tenon_engine_t* engine) {
  const tenon__plan_t* plan = tenon__engine_plan(engine->engine);
  uint64_t weights = 0;
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    engine->step_count += plan->schedules[g].step_count;
  }
  for (uint32_t k = 0; k < plan->network->weights_count; ++k) {
    weights += plan->network->weights[k].size_bytes;
  }
  engine->info = (tenon_engine_info_t){
      .size = sizeof engine->info,
      .device = plan->device,
      .fingerprint = plan->fingerprint,
      .plugins = plugin_lines(engine),
      .patches = plan->patches == NULL ? "" : plan->patches,
      .plan_bytes = engine->plan_bytes,
      .weights_bytes = weights,
      .arena_bytes = plan->schedules[0].memory_bytes,
      .scratch_bytes = plan->scratch_bytes,
      .peak_alive_bytes = plan->schedules[0].alive_bytes,
      .thread_count = plan->thread_count,
      .tuned_only = (plan->flags & TENON_PLAN_TUNED_ONLY) != 0 ? 1 : 0,
  };
  return engine->info.plugins == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}
