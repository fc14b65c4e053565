/* tenon inspect: what a plan does, step by step, and why so. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "command/commands.h"
#include "data/file.h"
#include "page/page.h"
#include "page/timing.h"
#include "session/common.h"
#include "session/session.h"
#include "text/console.h"
#include "text/json.h"
#include "text/memory.h"

typedef struct inspect_t {
  tool_common_t common;
  tool_building_t building;
  tool_feeding_t feeding;
  const char* html;
  bool verify;
  bool no_run;
  bool refusals;
  bool network;
  const char* model;
} inspect_t;

#define FIELD(name) offsetof(inspect_t, name)

static const tool_option_t options[] = {
    {"--html", NULL, "FILE", TOOL_OPTION_TEXT, FIELD(html),
     "write a page: the graph as drawn, steps, times, layouts, why each tactic was chosen"},
    {"--verify", NULL, NULL, TOOL_OPTION_FLAG, FIELD(verify),
     "check the digests of all weights and plugins"},
    {"--refusals", NULL, NULL, TOOL_OPTION_FLAG, FIELD(refusals),
     "after each step: why the other kernels and tactics were not chosen"},
    {"--network", NULL, NULL, TOOL_OPTION_FLAG, FIELD(network),
     "print the network that it computes"},
    {"--no-run", NULL, NULL, TOOL_OPTION_FLAG, FIELD(no_run),
     "do not run it: times are those of the build, as far as there are any"},
};

/* ---- Printing ---- */

static void print_io(const char* what, const tenon_engine_t* engine, uint32_t index,
                     const tenon_io_info_t* info) {
  char shape[512] = "";
  const bool tensor = info->kind == TENON_ARGUMENT_TENSOR;
  if (tensor) {
    tool_shape_print(info->rank, info->dims, shape, sizeof(shape));
  }
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_text(&json, what, info->name);
    tool_json_text(&json, "kind",
                   tensor                                  ? "tensor"
                   : info->kind == TENON_ARGUMENT_SEQUENCE ? "sequence"
                                                           : "optional");
    tool_json_text(&json, "dtype", tool_dtype_name(info->dtype));
    tool_json_integers(&json, "shape", info->dims, tensor ? info->rank : 0);
    static const char* const points[] = {"min", "optimum", "max"};
    for (uint32_t which = 0; tensor && which < 3 && strcmp(what, "input") == 0; ++which) {
      const int64_t* dims = NULL;
      if (tenon_engine_get_profile(engine, index, which, &dims) == TENON_OK) {
        tool_json_integers(&json, points[which], dims, info->rank);
      }
    }
    tool_json_end(&json);
    return;
  }
  tool_say("%-7s %s: %s %s", what, info->name, tensor ? tool_dtype_name(info->dtype) : "container",
           shape);
  const bool open = strchr(shape, '?') != NULL && strcmp(what, "input") == 0;
  for (uint32_t which = 0; open && which < 3; ++which) {
    const int64_t* dims = NULL;
    if (tenon_engine_get_profile(engine, index, which, &dims) == TENON_OK) {
      tool_shape_print(info->rank, dims, shape, sizeof(shape));
      tool_say("%s%s", which == 0 ? ", profile " : " : ", shape);
    }
  }
  tool_say("\n");
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

static tenon_status_t print_info(const inspect_t* inspect, const tool_execution_t* execution) {
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  const tenon_status_t status = tenon_engine_get_info(execution->engine, &info);
  if (status != TENON_OK) {
    return status;
  }
  if (tool_console_is_json()) {
    print_info_json(inspect, execution->engine, &info);
  } else {
    const double mib = 1048576;
    tool_say("device  %s, tuned for %s, %u threads\n", info.device, info.fingerprint,
             info.thread_count);
    tool_say(
        "bytes   plan %.2f MiB, weights %.2f, activations %.2f (at least %.2f), workspace "
        "%.2f%s\n",
        (double)info.plan_bytes / mib, (double)info.weights_bytes / mib,
        (double)info.arena_bytes / mib, (double)info.peak_alive_bytes / mib,
        (double)info.scratch_bytes / mib, info.tuned_only != 0 ? ", tuned part alone" : "");
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

static void print_step_json(uint32_t index, const tenon_step_info_t* step, double seconds) {
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
  tool_json_text(&json, "layout", step->layout);
  tool_json_number(&json, "measured_us", step->measured_seconds * 1e6);
  tool_json_number(&json, "median_us", seconds * 1e6);
  tool_json_unsigned(&json, "depth", step->depth);
  tool_json_lines(&json, "refusals", step->refusals);
  tool_json_end(&json);
}

static tenon_status_t print_steps(const inspect_t* inspect, const tool_execution_t* execution,
                                  const tool_timing_t* timing) {
  const uint32_t count = tenon_engine_step_count(execution->engine);
  tool_say("%5s %10s  %-28s %-26s %-16s %s\n", "step", "us", "name", "kernel", "layout",
           "nodes; what is fused");
  for (uint32_t i = 0; i < count; ++i) {
    tenon_step_info_t step;
    const tenon_status_t status = tenon_engine_get_step(execution->engine, i, &step);
    if (status != TENON_OK) {
      return status;
    }
    const double seconds = timing != NULL ? timing->steps[i].median : step.measured_seconds;
    if (tool_console_is_json()) {
      print_step_json(i, &step, seconds);
      continue;
    }
    char* kernel = step.kernel[0] != '\0' ? tool_format("%s:%s", step.plugin, step.kernel)
                                          : tool_format("(%s)", step.kind);
    tool_say("%5u %10.2f  %*s%-*.28s %-26.26s %-16.16s %.100s%s%.120s\n", i, seconds * 1e6,
             (int)step.depth * 2, "", 28 - (int)step.depth * 2, step.name, kernel, step.layout,
             step.nodes, step.expression[0] != '\0' ? "; " : "", step.expression);
    tool_free(kernel);
    if (inspect->refusals) {
      print_lines("                     not ", step.refusals);
    }
  }
  return TENON_OK;
}

/* ---- Running, for the times ---- */

static tenon_status_t measure(const inspect_t* inspect, tool_execution_t* execution,
                              const tool_feed_t* feed, tool_timing_t* out_timing) {
  const tenon_status_t status = tool_execution_feed(execution, feed, &inspect->building.fixed);
  return status == TENON_OK ? tool_timing_measure(execution, out_timing) : status;
}

static void print_verified(void) {
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_bool(&json, "verified", true);
    tool_json_end(&json);
  } else {
    tool_say("verified: weights and plugins are those that the plan was written with\n");
  }
}

/* The file's name with its folder's: many are called model.onnx. */
static const char* page_title(const char* path) {
  const char* base = tool_path_base(path);
  while (base > path + 1 && base[-2] != '/') {
    --base;
  }
  return base > path + 1 ? base - 1 : path;
}

static tenon_status_t write_page(const inspect_t* inspect, tenon_registry_t* registry,
                                 const tool_execution_t* execution, const tool_timing_t* timing) {
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  tool_peak_t peak = {0};
  tool_facts_t facts;
  tenon_status_t status = tenon_engine_get_info(execution->engine, &info);
  if (status == TENON_OK && timing != NULL) {
    peak = tool_peak_measure(registry, info.device, info.thread_count);
  }
  if (status == TENON_OK) {
    status = tool_facts_collect(execution, timing, &peak, &facts);
  }
  if (status == TENON_OK) {
    status = tool_page_write(inspect->html, page_title(inspect->model), execution, &facts);
    tool_facts_free(&facts);
  }
  if (status == TENON_OK) {
    tool_say("%s: written\n", inspect->html);
  }
  return status;
}

static tenon_status_t inspect_session(const inspect_t* inspect, tenon_registry_t* registry,
                                      tool_execution_t* execution, const tool_feed_t* feed) {
  tool_timing_t timing = {0};
  bool ran = false;
  tenon_status_t status = print_info(inspect, execution);
  if (status == TENON_OK && inspect->verify) {
    status = tenon_engine_verify(execution->engine);
    if (status == TENON_OK) {
      print_verified();
    }
  }
  if (status == TENON_OK && !inspect->no_run) {
    tool_console_soften(true);
    ran = measure(inspect, execution, feed, &timing) == TENON_OK;
    tool_console_soften(false);
  }
  if (status == TENON_OK) {
    status = print_steps(inspect, execution, ran ? &timing : NULL);
  }
  if (status == TENON_OK && inspect->network && !tool_console_is_json()) {
    tenon_engine_print_network(execution->engine, tool_write_file, stdout);
  }
  if (status == TENON_OK && inspect->html != NULL) {
    status = write_page(inspect, registry, execution, ran ? &timing : NULL);
  }
  tool_timing_free(&timing);
  return status;
}

static tenon_status_t run_inspect(inspect_t* inspect, tenon_registry_t** out_registry) {
  tool_feed_t feed;
  tool_session_t session;
  const char* data_set = NULL;
  tenon_status_t status = tool_building_prepare(&inspect->building);
  if (status == TENON_OK) {
    status = tool_common_begin(&inspect->common, out_registry);
  }
  if (status == TENON_OK) {
    status = tool_feeding_data_set(&inspect->feeding, &data_set);
  }
  if (status == TENON_OK) {
    status = tool_feed_load(&inspect->feeding, data_set, &inspect->building.constants, &feed);
  }
  if (status != TENON_OK) {
    return status;
  }
  status = tool_session_open(*out_registry, inspect->model, &inspect->building, &feed, &session);
  if (status == TENON_OK) {
    status = inspect_session(inspect, *out_registry, &session.execution, &feed);
    tool_session_close(&session);
  }
  tool_feed_free(&feed);
  return status;
}

static int inspect_command(int argc, char** argv) {
  inspect_t inspect = {0};
  tool_list_t operands = {0};
  tenon_registry_t* registry = NULL;
  int exit_status = TOOL_EXIT_OK;
  const tool_option_group_t groups[] = {
      TOOL_OPTION_GROUP("showing", options, &inspect), TOOL_FEEDING_GROUP(&inspect.feeding),
      TOOL_BUILDING_GROUP(&inspect.building), TOOL_COMMON_GROUP(&inspect.common)};
  if (tool_options_parse(&tool_command_inspect, groups, 4, argc, argv, &operands, &exit_status)) {
    inspect.model = operands.items[0];
    exit_status = tool_exit_status(run_inspect(&inspect, &registry));
  }
  tenon_registry_release(registry);
  tool_building_free(&inspect.building);
  tool_feeding_free(&inspect.feeding);
  tool_list_free(&inspect.common.plugins);
  tool_list_free(&operands);
  return exit_status;
}

const tool_command_t tool_command_inspect = {
    .name = "inspect",
    .operands = "MODEL|PLAN",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "shows a plan: steps, times, layouts, and why each tactic was chosen",
    .description =
        "A model is built first, or comes out of the cache. Steps are timed in a few runs, "
        "on the inputs given or on\nrandom numbers.",
    .examples =
        "  tenon inspect model.onnx --html model.html\n"
        "  tenon inspect model.plan --refusals --verify\n"
        "  tenon inspect model.plan --json --no-run\n",
    .run = inspect_command,
};
