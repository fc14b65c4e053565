/* See inspect.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command/inspect.h"
#include "session/io_text.h"
#include "session/network_facts.h"
#include "session/step_text.h"
#include "text/console.h"
#include "text/memory.h"
#include "text/table.h"
#include "text/units.h"

static void print_io(const char* what, const tenon_engine_t* engine, uint32_t index,
                     const tenon_io_info_t* info) {
  char* text = tool_io_text(info);
  tool_say("%-7s %s", what, text);
  const bool open = tool_io_is_open(info) && strcmp(what, "input") == 0;
  if (open) {
    for (uint32_t which = 0; which < 3; ++which) {
      const int64_t* dims = NULL;
      char shape[512];
      if (tenon_engine_get_profile(engine, index, which, &dims) == TENON_OK) {
        tool_shape_print(info->rank, dims, shape, sizeof(shape));
        tool_say("%s%s", which == 0 ? ", profile " : " : ", shape);
      }
    }
  }
  tool_say("\n");
  tool_free(text);
}

static void print_lines(const char* indent, const char* lines) {
  char* line = NULL;
  while ((line = tool_take_line(&lines)) != NULL) {
    tool_say("%s%s\n", indent, line);
    tool_free(line);
  }
}

tenon_status_t inspect_print_plan(const inspect_t* inspect, const tool_execution_t* execution) {
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  TOOL_TRY(tenon_engine_get_info(execution->engine, &info));
  char* weights = tool_weights_text(&info);
  tool_say("device  %s, tuned for %s, %u threads\n", info.device, info.fingerprint,
           info.thread_count);
  tool_say("bytes   plan %.2f MiB; %s; activations %.2f (at least %.2f); workspace %.2f",
           tool_mib(info.plan_bytes), weights, tool_mib(info.arena_bytes),
           tool_mib(info.peak_alive_bytes), tool_mib(info.scratch_bytes));
  if (info.state_bytes > 0) {
    tool_say("; states %.2f", tool_mib(info.state_bytes));
  }
  tool_say("\n");
  tool_free(weights);
  tool_say("plugins\n");
  print_lines("        ", info.plugins);
  if (inspect->task.common.verbose > 0 && info.patches[0] != '\0') {
    tool_say("optimiser\n");
    print_lines("        ", info.patches);
  }
  for (uint32_t i = 0; i < execution->input_count; ++i) {
    print_io("input", execution->engine, i, &execution->inputs[i]);
  }
  for (uint32_t i = 0; i < execution->output_count; ++i) {
    print_io("output", execution->engine, i, &execution->outputs[i]);
  }
  return TENON_OK;
}

/* ---- Steps ---- */

/* Seconds that nobody measured are NAN. */
typedef struct steps_t {
  const inspect_t* inspect;
  bool ran; /* now; else as the build measured */
  tenon_step_info_t* infos;
  double* seconds;
  uint32_t count;
  bool has_devices; /* others than the host: then each step's is told */
} steps_t;

/* Behind the name, where there is one. */
enum { DEVICE_COLUMN = 3 };

/* With the number of the stream behind it where that is not the context's own. */
static void add_device(tool_table_t* table, const tenon_step_info_t* step) {
  char* text = step->stream == 0 ? tool_copy_text(step->device)
                                 : tool_format("%s/%u", step->device, step->stream);
  tool_table_add(table, text);
  tool_free(text);
}

static void add_step(tool_table_t* table, const steps_t* steps, uint32_t index) {
  const tenon_step_info_t* step = &steps->infos[index];
  const tool_step_form_t form = tool_step_form(step);
  char* cells[] = {tool_format("%u", index),
                   isnan(steps->seconds[index]) ? tool_copy_text("-")
                                                : tool_format("%.2f", steps->seconds[index] * 1e6),
                   tool_format("%*s%s", (int)step->depth * 2, "", step->name),
                   step->kernel[0] != '\0' ? tool_format("%s:%s", step->plugin, step->kernel)
                                           : tool_format("(%s)", step->kind),
                   tool_copy_text(form.type),
                   tool_copy_text(form.layout),
                   tool_format("%s%s%s", step->nodes, step->expression[0] != '\0' ? "; " : "",
                               step->expression)};
  for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); ++i) {
    if (i == DEVICE_COLUMN && steps->has_devices) {
      add_device(table, step);
    }
    tool_table_add(table, cells[i]);
    tool_free(cells[i]);
  }
}

static void print_refusals(void* user, size_t row) {
  const steps_t* steps = user;
  print_lines("             not ", steps->infos[row].refusals);
}

static void print_table(const steps_t* steps) {
  const tool_column_t all[] = {{"step", true, 0},     {steps->ran ? "us" : "us, built", true, 0},
                               {"name", false, 12},   {"device", false, 4},
                               {"kernel", false, 10}, {"type", false, 4},
                               {"layout", false, 9},  {"nodes; fused expression", false, 0}};
  tool_column_t columns[sizeof(all) / sizeof(all[0])];
  size_t count = 0;
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i) {
    if (i != DEVICE_COLUMN || steps->has_devices) {
      columns[count++] = all[i];
    }
  }
  tool_table_t table;
  tool_table_begin(&table, columns, count);
  for (uint32_t i = 0; i < steps->count; ++i) {
    add_step(&table, steps, i);
  }
  tool_table_print(&table, stdout, tool_terminal_width(),
                   steps->inspect->refusals ? print_refusals : NULL, (void*)steps);
  tool_table_free(&table);
}

/* Source of the times. */
static void print_source(const steps_t* steps, const tool_timing_t* timing) {
  bool any_time = false;
  for (uint32_t i = 0; i < steps->count; ++i) {
    any_time = any_time || !isnan(steps->seconds[i]);
  }
  if (timing != NULL) {
    tool_say("times   medians of %u runs\n", timing->run_count);
  } else {
    tool_say("times   %s\n", any_time ? "as the build measured them; it is not run now"
                                      : "none: the plan was built without measuring");
  }
}

tenon_status_t inspect_print_steps(const inspect_t* inspect, const tool_execution_t* execution,
                                   const tool_timing_t* timing) {
  steps_t steps = {.inspect = inspect,
                   .ran = timing != NULL,
                   .count = tenon_engine_step_count(execution->engine)};
  tenon_status_t status = TENON_OK;
  steps.infos = tool_allocate(steps.count, sizeof(*steps.infos));
  steps.seconds = tool_allocate(steps.count, sizeof(*steps.seconds));
  for (uint32_t i = 0; i < steps.count && status == TENON_OK; ++i) {
    steps.infos[i].size = sizeof(steps.infos[i]);
    status = tenon_engine_get_step(execution->engine, i, &steps.infos[i]);
    steps.has_devices =
        steps.has_devices || (status == TENON_OK && strcmp(steps.infos[i].device, "cpu") != 0);
    const double built = status == TENON_OK ? steps.infos[i].measured_seconds : 0;
    steps.seconds[i] = timing != NULL ? timing->steps[i].median : built > 0 ? built : NAN;
  }
  if (status == TENON_OK) {
    print_source(&steps, timing);
    print_table(&steps);
  }
  tool_free(steps.infos);
  tool_free(steps.seconds);
  return status;
}
