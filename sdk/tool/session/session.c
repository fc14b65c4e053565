/* See session.h. */
#include "session/session.h"

#include "session/common.h"
#include "text/console.h"
#include "text/interrupt.h"
#include "text/json.h"
#include "text/memory.h"

static void say_where_from(const char* model, const tool_session_t* session) {
  const double load_ms = session->execution.load_seconds * 1e3;
  switch (session->file.use) {
    case TOOL_CACHE_PLAN:
      tool_say("%s: a plan, loaded in %.1f ms\n", model, load_ms);
      break;
    case TOOL_CACHE_HIT:
      tool_say("%s: plan found in the cache (hit), loaded in %.1f ms\n", model, load_ms);
      break;
    case TOOL_CACHE_MISS:
    case TOOL_CACHE_OFF:
    default:
      tool_say("%s: built in %.2f s (cache: %s), loaded in %.1f ms\n", model,
               session->file.build_seconds, tool_cache_use_text(session->file.use), load_ms);
  }
}

tenon_status_t tool_session_open(tenon_registry_t* registry, const char* model,
                                 const tool_building_t* building, const tool_feed_t* feed,
                                 tool_session_t* out_session) {
  tool_session_t session = {0};
  tenon_status_t status =
      tool_plan_file_obtain(registry, model, building, feed, false, &session.file);
  if (status != TENON_OK) {
    return status;
  }
  const bool from_cache = session.file.use == TOOL_CACHE_HIT;
  tool_console_soften(from_cache);
  status = tool_execution_open(registry, session.file.path, building->threads, &session.execution);
  tool_console_soften(false);
  if (status != TENON_OK && from_cache) {
    tool_warn("the cached plan cannot be loaded and is built again");
    tool_plan_file_free(&session.file);
    status = tool_plan_file_obtain(registry, model, building, feed, true, &session.file);
    if (status == TENON_OK) {
      status =
          tool_execution_open(registry, session.file.path, building->threads, &session.execution);
    }
  }
  if (status != TENON_OK) {
    tool_plan_file_free(&session.file);
    return status;
  }
  say_where_from(model, &session);
  *out_session = session;
  return TENON_OK;
}

void tool_session_close(tool_session_t* session) {
  tool_execution_close(&session->execution);
  tool_plan_file_free(&session->file);
}

/* ---- Steps ---- */

static void on_step(void* user, uint32_t step, double seconds) {
  tool_step_times_t* times = user;
  if (step < times->step_count) {
    times->seconds[step] += seconds;
  }
}

tenon_status_t tool_step_times_measure(tool_execution_t* execution, uint32_t run_count,
                                       tool_step_times_t* out_times) {
  tool_step_times_t times = {.step_count = tenon_engine_step_count(execution->engine),
                             .run_count = run_count};
  times.seconds = tool_allocate(times.step_count, sizeof(double));
  tenon_status_t status = tenon_context_set_profiler(execution->context, on_step, &times);
  for (uint32_t i = 0; i < run_count && status == TENON_OK; ++i) {
    tool_progress("timing the steps", i, run_count);
    status = tool_interrupted() ? TENON_ERROR_CANCELLED : tenon_context_run(execution->context);
  }
  tool_progress_end();
  (void)tenon_context_set_profiler(execution->context, NULL, NULL);
  if (status != TENON_OK) {
    tool_step_times_free(&times);
    return status;
  }
  *out_times = times;
  return TENON_OK;
}

static void print_json(uint32_t index, const tenon_step_info_t* step, double mean_us,
                       double share) {
  tool_json_t json;
  tool_json_begin(&json, stdout);
  tool_json_unsigned(&json, "step", index);
  tool_json_text(&json, "name", step->name);
  tool_json_text(&json, "kind", step->kind);
  tool_json_text(&json, "plugin", step->plugin);
  tool_json_text(&json, "kernel", step->kernel);
  tool_json_text(&json, "tactic", step->tactic);
  tool_json_text(&json, "nodes", step->nodes);
  tool_json_text(&json, "outputs", step->outputs);
  tool_json_number(&json, "mean_us", mean_us);
  tool_json_number(&json, "share", share);
  tool_json_unsigned(&json, "depth", step->depth);
  tool_json_end(&json);
}

tenon_status_t tool_step_times_print(const tool_execution_t* execution,
                                     const tool_step_times_t* times) {
  double total = 0;
  for (uint32_t i = 0; i < times->step_count; ++i) {
    tenon_step_info_t step;
    const tenon_status_t status = tenon_engine_get_step(execution->engine, i, &step);
    if (status != TENON_OK) {
      return status;
    }
    /* A body's steps are a part of the step that they belong to. */
    total += step.depth == 0 ? times->seconds[i] : 0;
  }
  tool_say("%5s %10s %6s  %-28s %-24s %s\n", "step", "us", "%", "name", "kernel", "output");
  for (uint32_t i = 0; i < times->step_count; ++i) {
    tenon_step_info_t step;
    const tenon_status_t status = tenon_engine_get_step(execution->engine, i, &step);
    if (status != TENON_OK) {
      return status;
    }
    const double mean_us = times->seconds[i] * 1e6 / times->run_count;
    const double share = total > 0 ? times->seconds[i] / total : 0;
    if (tool_console_is_json()) {
      print_json(i, &step, mean_us, share);
      continue;
    }
    char* kernel = step.kernel[0] != '\0' ? tool_format("%s:%s", step.plugin, step.kernel)
                                          : tool_format("(%s)", step.kind);
    tool_say("%5u %10.1f %6.1f  %*s%-*.*s %-24.24s %.60s\n", i, mean_us, share * 100,
             (int)step.depth * 2, "", 28 - (int)step.depth * 2, 28, step.name, kernel,
             step.outputs);
    tool_free(kernel);
  }
  tool_say("%5s %10.1f\n", "all", total * 1e6 / times->run_count);
  return TENON_OK;
}

void tool_step_times_free(tool_step_times_t* times) {
  tool_free(times->seconds);
  times->seconds = NULL;
}
