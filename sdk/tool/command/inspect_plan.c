/* See inspect.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command/inspect.h"
#include "session/io_text.h"
#include "session/network_facts.h"
#include "text/console.h"
#include "text/json.h"
#include "text/memory.h"
#include "text/table.h"
#include "text/units.h"

static void print_io_json(const char* what, const tenon_engine_t* engine, uint32_t index,
                          const tenon_io_info_t* info) {
  static const char* const points[] = {"min", "optimum", "max"};
  tool_json_t json;
  tool_json_begin(&json, stdout);
  tool_io_json(&json, what, info);
  if (info->kind == TENON_ARGUMENT_TENSOR) {
    for (uint32_t which = 0; which < 3; ++which) {
      const int64_t* dims = NULL;
      if (strcmp(what, "input") == 0 &&
          tenon_engine_get_profile(engine, index, which, &dims) == TENON_OK) {
        tool_json_integers(&json, points[which], dims, info->rank);
      }
    }
  }
  tool_json_end(&json);
}

static void print_io(const char* what, const tenon_engine_t* engine, uint32_t index,
                     const tenon_io_info_t* info) {
  if (tool_console_is_json()) {
    print_io_json(what, engine, index, info);
    return;
  }
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

static void print_info_json(const inspect_t* inspect, const tenon_engine_t* engine,
                            const tenon_engine_info_t* info) {
  tool_json_t json;
  tool_json_begin(&json, stdout);
  tool_json_text(&json, "model", inspect->model);
  tool_json_text(&json, "device", info->device);
  tool_json_text(&json, "fingerprint", info->fingerprint);
  tool_json_unsigned(&json, "threads", info->thread_count);
  tool_json_unsigned(&json, "steps", tenon_engine_step_count(engine));
  tool_json_unsigned(&json, "plan_bytes", info->plan_bytes);
  tool_json_unsigned(&json, "weights_bytes", info->weights_bytes);
  tool_json_unsigned(&json, "arena_bytes", info->arena_bytes);
  tool_json_unsigned(&json, "peak_alive_bytes", info->peak_alive_bytes);
  tool_json_unsigned(&json, "scratch_bytes", info->scratch_bytes);
  tool_json_unsigned(&json, "state_bytes", info->state_bytes);
  tool_json_bool(&json, "tuned_only", info->tuned_only != 0);
  tool_json_lines(&json, "plugins", info->plugins);
  tool_json_lines(&json, "patches", info->patches);
  tool_json_end(&json);
}

static void print_lines(const char* indent, const char* lines) {
  while (*lines != '\0') {
    const size_t length = strcspn(lines, "\n");
    tool_say("%s%.*s\n", indent, (int)length, lines);
    lines += length + (lines[length] == '\n' ? 1 : 0);
  }
}

tenon_status_t inspect_print_plan(const inspect_t* inspect, const tool_execution_t* execution) {
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  const tenon_status_t status = tenon_engine_get_info(execution->engine, &info);
  if (status != TENON_OK) {
    return status;
  }
  if (tool_console_is_json()) {
    print_info_json(inspect, execution->engine, &info);
  } else {
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
    if (inspect->common.verbose > 0 && info.patches[0] != '\0') {
      tool_say("optimiser\n");
      print_lines("        ", info.patches);
    }
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
  const tool_execution_t* execution;
  bool ran; /* now; else as the build measured */
  tenon_step_info_t* infos;
  double* seconds;
  uint32_t count;
  bool has_devices; /* others than the host: then each step's is told */
} steps_t;

/* Behind the name, where there is one. */
enum { DEVICE_COLUMN = 3 };

/* Of output 0, "" for what has none, and how it lies. */
typedef struct form_t {
  char type[16];
  const char* layout;
} form_t;

/* Does a text begin with the name of a type, and then with `end`? */
static bool begins_with(const char* text, tenon_dtype_t dtype, const char* end) {
  const char* name = tenon_dtype_name(dtype);
  const size_t length = strlen(name);
  return strncmp(text, name, length) == 0 && strncmp(text + length, end, strlen(end)) == 0;
}

/* The type in which it is stored, which the layout names where it is not the value's own: "bf16,
 * row-major" of "y f32[1,10] bf16, row-major". */
static form_t form_of(const tenon_step_info_t* step) {
  form_t form = {.type = "", .layout = step->layout};
  for (tenon_dtype_t dtype = 1; dtype < TENON_DTYPE_COUNT; ++dtype) {
    if (begins_with(step->layout, dtype, ", ")) {
      (void)snprintf(form.type, sizeof(form.type), "%s", tenon_dtype_name(dtype));
      form.layout = step->layout + strlen(form.type) + 2;
      return form;
    }
  }
  for (const char* at = strchr(step->outputs, ' '); at != NULL; at = strchr(at + 1, ' ')) {
    for (tenon_dtype_t dtype = 1; dtype < TENON_DTYPE_COUNT; ++dtype) {
      if (begins_with(at + 1, dtype, "[")) {
        (void)snprintf(form.type, sizeof(form.type), "%s", tenon_dtype_name(dtype));
        return form;
      }
    }
  }
  return form;
}

static void print_step_json(const steps_t* steps, uint32_t index) {
  const tenon_step_info_t* step = &steps->infos[index];
  const double measured = step->measured_seconds > 0 ? step->measured_seconds : NAN;
  tool_json_t json;
  tool_json_begin(&json, stdout);
  tool_json_unsigned(&json, "step", index);
  tool_json_text(&json, "name", step->name);
  tool_json_text(&json, "kind", step->kind);
  tool_json_text(&json, "plugin", step->plugin);
  tool_json_text(&json, "kernel", step->kernel);
  tool_json_text(&json, "tactic", step->tactic);
  tool_json_text(&json, "nodes", step->nodes);
  tool_json_text(&json, "expression", step->expression);
  tool_json_text(&json, "inputs", step->inputs);
  tool_json_text(&json, "outputs", step->outputs);
  tool_json_text(&json, "type", form_of(step).type);
  tool_json_text(&json, "layout", step->layout);
  tool_json_text(&json, "device", step->device);
  tool_json_unsigned(&json, "stream", step->stream);
  tool_json_number(&json, "measured_us", measured * 1e6);
  tool_json_number(&json, "median_us", steps->ran ? steps->seconds[index] * 1e6 : NAN);
  tool_json_unsigned(&json, "depth", step->depth);
  tool_json_lines(&json, "refusals", step->refusals);
  tool_json_end(&json);
}

/* With the number of the stream behind it where that is not the context's own. */
static void add_device(tool_table_t* table, const tenon_step_info_t* step) {
  char* text = step->stream == 0 ? tool_copy_text(step->device)
                                 : tool_format("%s/%u", step->device, step->stream);
  tool_table_add(table, text);
  tool_free(text);
}

static void add_step(tool_table_t* table, const steps_t* steps, uint32_t index) {
  const tenon_step_info_t* step = &steps->infos[index];
  const form_t form = form_of(step);
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

/* Where the times come from, and whether there is what was asked for. */
static void print_source(const steps_t* steps, const tool_timing_t* timing) {
  bool any_time = false;
  bool any_refusal = false;
  for (uint32_t i = 0; i < steps->count; ++i) {
    any_time = any_time || !isnan(steps->seconds[i]);
    any_refusal = any_refusal || steps->infos[i].refusals[0] != '\0';
  }
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_text(&json, "times", timing != NULL ? "runs" : any_time ? "build" : "none");
    tool_json_unsigned(&json, "runs", timing != NULL ? timing->run_count : 0);
    tool_json_end(&json);
  } else if (timing != NULL) {
    tool_say("times   medians of %u runs\n", timing->run_count);
  } else {
    tool_say("times   %s\n", any_time ? "as the build measured them; it is not run now"
                                      : "none: the plan was built without measuring");
  }
  if (steps->inspect->refusals && !any_refusal) {
    tool_warn("--refusals: the plan keeps none");
  }
}

tenon_status_t inspect_print_steps(const inspect_t* inspect, const tool_execution_t* execution,
                                   const tool_timing_t* timing) {
  steps_t steps = {.inspect = inspect,
                   .execution = execution,
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
  }
  if (status == TENON_OK && tool_console_is_json()) {
    for (uint32_t i = 0; i < steps.count; ++i) {
      print_step_json(&steps, i);
    }
  } else if (status == TENON_OK) {
    print_table(&steps);
  }
  tool_free(steps.infos);
  tool_free(steps.seconds);
  return status;
}
