/* Where time goes, step by step. See timing.h. */
#include <string.h>

#include "session/step_text.h"
#include "session/timing.h"
#include "text/console.h"
#include "text/json.h"
#include "text/memory.h"
#include "text/table.h"

static void print_json(uint32_t index, const tenon_step_info_t* step, double median_us,
                       double share) {
  tool_json_t json;
  tool_json_begin(&json, stdout);
  tool_step_json(&json, index, step);
  tool_json_number(&json, "median_us", median_us);
  tool_json_number(&json, "share", share);
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
                     double median_us, double share) {
  char* cells[] = {tool_format("%u", index),
                   tool_format("%.1f", median_us),
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

static void print_table(const tool_timing_t* timing, const tenon_step_info_t* infos,
                        double total_seconds) {
  static const tool_column_t columns[] = {{"step", true, 0},     {"us", true, 0},
                                          {"%", true, 0},        {"name", false, 12},
                                          {"kernel", false, 10}, {"output", false, 0}};
  tool_table_t table;
  tool_table_begin(&table, columns, sizeof(columns) / sizeof(columns[0]));
  for (uint32_t i = 0; i < timing->step_count; ++i) {
    const double seconds = timing->steps[i].median;
    add_step(&table, i, &infos[i], seconds * 1e6, total_seconds > 0 ? seconds / total_seconds : 0);
  }
  tool_table_print(&table, stdout, tool_terminal_width(), NULL, NULL);
  tool_table_free(&table);
  tool_say("all steps: %.1f us, medians of %u runs\n", total_seconds * 1e6, timing->run_count);
}

static tenon_status_t print_steps(const tool_execution_t* execution, const tool_timing_t* timing) {
  tenon_step_info_t* infos = tool_allocate(timing->step_count, sizeof(*infos));
  tenon_status_t status = TENON_OK;
  double total = 0;
  for (uint32_t i = 0; i < timing->step_count && status == TENON_OK; ++i) {
    infos[i].size = sizeof(infos[i]);
    status = tenon_engine_get_step(execution->engine, i, &infos[i]);
    /* A body's steps are a part of the step that they belong to. */
    total += infos[i].depth == 0 ? timing->steps[i].median : 0;
  }
  if (status == TENON_OK && tool_console_is_json()) {
    for (uint32_t i = 0; i < timing->step_count; ++i) {
      const double seconds = timing->steps[i].median;
      print_json(i, &infos[i], seconds * 1e6, total > 0 ? seconds / total : 0);
    }
  } else if (status == TENON_OK) {
    print_table(timing, infos, total);
  }
  tool_free(infos);
  return status;
}

tenon_status_t tool_timing_tell(const tool_execution_t* execution) {
  tool_timing_t timing;
  tenon_status_t status = tool_timing_measure(execution, &timing);
  if (status == TENON_OK) {
    status = print_steps(execution, &timing);
    tool_timing_free(&timing);
  }
  return status;
}
