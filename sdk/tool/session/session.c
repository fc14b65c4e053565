/* See session.h. */
#include "session/session.h"

#include <string.h>

#include "session/common.h"
#include "text/console.h"
#include "text/interrupt.h"
#include "text/json.h"
#include "text/memory.h"
#include "text/table.h"

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

/* Outputs that nobody uses tell nothing. */
static char* without_absent(const char* outputs) {
  static const char absent[] = ", absent";
  char* copy = tool_copy_text(outputs);
  for (char* at = copy; (at = strstr(at, absent)) != NULL;) {
    memmove(at, at + sizeof(absent) - 1, strlen(at + sizeof(absent) - 1) + 1);
  }
  return copy;
}

static void add_step(tool_table_t* table, uint32_t index, const tenon_step_info_t* step,
                     double mean_us, double share) {
  char* cells[] = {tool_format("%u", index),
                   tool_format("%.1f", mean_us),
                   tool_format("%.1f", share * 100),
                   tool_format("%*s%s", (int)step->depth * 2, "", step->name),
                   step->kernel[0] != '\0' ? tool_format("%s:%s", step->plugin, step->kernel)
                                           : tool_format("(%s)", step->kind),
                   without_absent(step->outputs)};
  for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); ++i) {
    tool_table_add(table, cells[i]);
    tool_free(cells[i]);
  }
}

tenon_status_t tool_step_times_print(const tool_execution_t* execution,
                                     const tool_step_times_t* times) {
  static const tool_column_t columns[] = {{"step", true, 0},     {"us", true, 0},
                                          {"%", true, 0},        {"name", false, 12},
                                          {"kernel", false, 10}, {"output", false, 0}};
  tool_table_t table;
  tool_table_begin(&table, columns, sizeof(columns) / sizeof(columns[0]));
  double total = 0;
  for (uint32_t i = 0; i < times->step_count; ++i) {
    tenon_step_info_t step;
    const tenon_status_t status = tenon_engine_get_step(execution->engine, i, &step);
    if (status != TENON_OK) {
      tool_table_free(&table);
      return status;
    }
    /* A body's steps are a part of the step that they belong to. */
    total += step.depth == 0 ? times->seconds[i] : 0;
  }
  for (uint32_t i = 0; i < times->step_count; ++i) {
    tenon_step_info_t step;
    const tenon_status_t status = tenon_engine_get_step(execution->engine, i, &step);
    if (status != TENON_OK) {
      tool_table_free(&table);
      return status;
    }
    const double mean_us = times->seconds[i] * 1e6 / times->run_count;
    const double share = total > 0 ? times->seconds[i] / total : 0;
    if (tool_console_is_json()) {
      print_json(i, &step, mean_us, share);
    } else {
      add_step(&table, i, &step, mean_us, share);
    }
  }
  if (!tool_console_is_json()) {
    tool_table_print(&table, stdout, tool_terminal_width(), NULL, NULL);
    tool_say("all steps: %.1f us, means of %u runs\n", total * 1e6 / times->run_count,
             times->run_count);
  }
  tool_table_free(&table);
  return TENON_OK;
}

void tool_step_times_free(tool_step_times_t* times) {
  tool_free(times->seconds);
  times->seconds = NULL;
}
