/* See steps.h. */
#include "session/steps.h"

#include <math.h>
#include <string.h>

#include "session/step_text.h"
#include "text/console.h"
#include "text/memory.h"
#include "text/table.h"

tenon_status_t tool_steps_collect(const tool_execution_t* execution, const tool_timing_t* timing,
                                  tool_steps_t* out_steps) {
  tool_steps_t steps = {.execution = execution,
                        .timing = timing,
                        .count = tenon_engine_step_count(execution->engine)};
  tenon_status_t status = TENON_OK;
  steps.infos = tool_allocate(steps.count, sizeof(*steps.infos));
  steps.seconds = tool_allocate(steps.count, sizeof(*steps.seconds));
  for (uint32_t i = 0; i < steps.count && status == TENON_OK; ++i) {
    tenon_step_info_t* info = &steps.infos[i];
    info->size = sizeof(*info);
    status = tenon_engine_get_step(execution->engine, i, info);
    steps.seconds[i] = timing != NULL               ? timing->steps[i].median
                       : info->measured_seconds > 0 ? info->measured_seconds
                                                    : NAN;
    /* A body's steps are a part of the step that they belong to. */
    steps.total_seconds += info->depth == 0 && !isnan(steps.seconds[i]) ? steps.seconds[i] : 0;
  }
  if (status != TENON_OK) {
    tool_steps_free(&steps);
    return status;
  }
  *out_steps = steps;
  return TENON_OK;
}

void tool_steps_free(tool_steps_t* steps) {
  tool_free(steps->infos);
  tool_free(steps->seconds);
  *steps = (tool_steps_t){0};
}

/* ---- The table ---- */

/* Behind the name, if some step runs on another device than the host. */
enum { DEVICE_COLUMN = 4 };

static bool has_devices(const tool_steps_t* steps) {
  bool found = false;
  for (uint32_t i = 0; i < steps->count; ++i) {
    found = found || strcmp(steps->infos[i].device, "cpu") != 0;
  }
  return found;
}

/* With the number of the stream behind it where that is not the context's own. */
static char* device_text(const tenon_step_info_t* step) {
  return step->stream == 0 ? tool_copy_text(step->device)
                           : tool_format("%s/%u", step->device, step->stream);
}

static void add_step(tool_table_t* table, const tool_steps_t* steps, uint32_t index,
                     bool shows_device) {
  const tenon_step_info_t* step = &steps->infos[index];
  const tool_step_form_t form = tool_step_form(step);
  const double seconds = steps->seconds[index];
  const bool is_known = !isnan(seconds);
  char* cells[] = {tool_format("%u", index),
                   is_known ? tool_format("%.2f", seconds * 1e6) : tool_copy_text("-"),
                   is_known && steps->total_seconds > 0
                       ? tool_format("%.1f", seconds / steps->total_seconds * 100)
                       : tool_copy_text("-"),
                   tool_format("%*s%s", (int)step->depth * 2, "", step->name),
                   device_text(step),
                   step->kernel[0] != '\0' ? tool_format("%s:%s", step->plugin, step->kernel)
                                           : tool_format("(%s)", step->kind),
                   tool_copy_text(form.type),
                   tool_copy_text(form.layout),
                   tool_format("%s%s%s", step->nodes, step->expression[0] != '\0' ? "; " : "",
                               step->expression)};
  for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); ++i) {
    if (i != DEVICE_COLUMN || shows_device) {
      tool_table_add(table, cells[i]);
    }
    tool_free(cells[i]);
  }
}

static void print_refusals(void* user, size_t row) {
  const tool_steps_t* steps = user;
  const char* lines = steps->infos[row].refusals;
  char* line = NULL;
  while ((line = tool_take_line(&lines)) != NULL) {
    tool_say("             not %s\n", line);
    tool_free(line);
  }
}

static void print_table(const tool_steps_t* steps, bool refusals) {
  const tool_column_t all[] = {{"step", true, 0},
                               {steps->timing != NULL ? "us" : "us, built", true, 0},
                               {"%", true, 0},
                               {"name", false, 12},
                               {"device", false, 4},
                               {"kernel", false, 8},
                               {"type", false, 4},
                               {"layout", false, 6},
                               {"nodes; fused expression", false, 0}};
  const bool shows_device = has_devices(steps);
  tool_column_t columns[sizeof(all) / sizeof(all[0])];
  size_t count = 0;
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i) {
    if (i != DEVICE_COLUMN || shows_device) {
      columns[count++] = all[i];
    }
  }
  tool_table_t table;
  tool_table_begin(&table, columns, count);
  for (uint32_t i = 0; i < steps->count; ++i) {
    add_step(&table, steps, i, shows_device);
  }
  tool_table_print(&table, stdout, tool_terminal_width(), refusals ? print_refusals : NULL,
                   (void*)steps);
  tool_table_free(&table);
}

void tool_steps_print(const tool_steps_t* steps, bool refusals) {
  if (steps->timing != NULL) {
    tool_say("times   medians of %u runs; all steps %.1f us\n", steps->timing->run_count,
             steps->total_seconds * 1e6);
  } else {
    tool_say("times   %s\n", steps->total_seconds > 0
                                 ? "as the build measured them; it is not run now"
                                 : "none: the plan was built without measuring");
  }
  print_table(steps, refusals);
}

tenon_status_t tool_steps_tell(const tool_execution_t* execution) {
  tool_timing_t timing;
  tool_steps_t steps = {0};
  TOOL_TRY(tool_timing_measure(execution, &timing));
  tenon_status_t status = tool_steps_collect(execution, &timing, &steps);
  if (status == TENON_OK && tool_console_is_json()) {
    status = tool_steps_write_json(stdout, &steps);
  } else if (status == TENON_OK) {
    tool_steps_print(&steps, false);
  }
  tool_steps_free(&steps);
  tool_timing_free(&timing);
  return status;
}
