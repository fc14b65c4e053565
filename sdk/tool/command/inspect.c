/* tenon inspect: what a plan does, step by step, and why so. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/commands.h"
#include "command/inspect.h"
#include "data/file.h"
#include "data/npy.h"
#include "data/tensor_proto.h"
#include "data/value_file.h"
#include "session/network_facts.h"
#include "session/show.h"
#include "text/console.h"
#include "text/json.h"
#include "text/memory.h"

#define FIELD(name) offsetof(inspect_t, name)

static const tool_option_t options[] = {
    {"--html", NULL, "FILE", TOOL_OPTION_TEXT, FIELD(html), TOOL_FOR_PLANS,
     "write a page: the graph, steps, times, layouts, the reason for each tactic; - writes it to "
     "standard output, and nothing else"},
    {"--verify", NULL, NULL, TOOL_OPTION_FLAG, FIELD(verify), TOOL_FOR_PLANS,
     "check the digests of all weights and plugins"},
    {"--refusals", NULL, NULL, TOOL_OPTION_FLAG, FIELD(refusals), TOOL_FOR_PLANS,
     "print after each step why the other kernels and tactics were not chosen"},
    {"--no-build", NULL, NULL, TOOL_OPTION_FLAG, FIELD(no_build), TOOL_FOR_BUILDING,
     "print only the contents of the model: inputs, outputs, operators, weights"},
    {"--network", NULL, NULL, TOOL_OPTION_FLAG, FIELD(network), 0,
     "print the network: of a model as it was read, without building it, and of a plan as it is "
     "computed"},
    {"--no-run", NULL, NULL, TOOL_OPTION_FLAG, FIELD(no_run), TOOL_FOR_PLANS,
     "do not run the plan: times are those of the build, if there are any"},
};

static const tool_option_rule_t rules[] = {
    {"--refusals", NULL, "--no-refusals"},
};

/* ---- Running, for the times ---- */

static tenon_status_t measure(const inspect_t* inspect, tool_execution_t* execution,
                              tool_timing_t* out_timing) {
  TOOL_TRY(tool_execution_feed(execution, &inspect->task.feed, &inspect->task.building.fixed));
  TOOL_TRY(tool_execution_run(execution, "running"));
  return tool_timing_measure(execution, out_timing);
}

static bool to_standard_output(const inspect_t* inspect) {
  return inspect->html != NULL && strcmp(inspect->html, "-") == 0;
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

/* --refusals asks for text that a plan may lack. */
static void check_refusals(const tool_steps_t* steps) {
  bool found = false;
  for (uint32_t i = 0; i < steps->count; ++i) {
    found = found || steps->infos[i].refusals[0] != '\0';
  }
  if (!found) {
    tool_warn("--refusals: the plan keeps none");
  }
}

static tenon_status_t show(const inspect_t* inspect, const tool_steps_t* steps) {
  if (tool_console_is_json()) {
    TOOL_TRY(inspect_write_json(stdout, inspect, steps));
  } else {
    TOOL_TRY(inspect_print_plan(inspect, steps->execution));
    tool_steps_print(steps, inspect->refusals);
  }
  if (inspect->refusals) {
    check_refusals(steps);
  }
  if (inspect->network) {
    char* text = tool_engine_text(steps->execution->engine);
    inspect_print_text(text);
    tool_free(text);
  }
  return TENON_OK;
}

/* First all that can fail, then what is shown: a failure is not followed by older figures. */
static tenon_status_t inspect_session(const inspect_t* inspect, tool_execution_t* execution) {
  tool_timing_t timing = {0};
  tool_steps_t steps = {0};
  tenon_status_t status = TENON_OK;
  if (inspect->verify) {
    TOOL_TRY(tenon_engine_verify(execution->engine));
    print_verified();
  }
  if (!inspect->no_run) {
    status = measure(inspect, execution, &timing);
    if (status != TENON_OK && status != TENON_ERROR_CANCELLED) {
      tool_warn("--no-run shows the plan without running it");
    }
  }
  if (status == TENON_OK) {
    status = tool_steps_collect(execution, inspect->no_run ? NULL : &timing, &steps);
  }
  if (status == TENON_OK && !to_standard_output(inspect)) {
    status = show(inspect, &steps);
  }
  if (status == TENON_OK && inspect->html != NULL) {
    status = inspect_write_page(inspect, &steps);
  }
  tool_steps_free(&steps);
  tool_timing_free(&timing);
  return status;
}

/* ---- Which of it ---- */

/* Options must act on what there is. */
static tenon_status_t check_options(const inspect_t* inspect, bool is_plan) {
  const uint32_t all = is_plan ? TOOL_FOR_PLANS | TOOL_FOR_RUNNING
                               : TOOL_FOR_MODELS | TOOL_FOR_PLANS | TOOL_FOR_RUNNING;
  if (to_standard_output(inspect) && (inspect->task.common.json || inspect->network)) {
    return tool_misuse("--html - writes the page to standard output, where %s writes too",
                       inspect->task.common.json ? "--json" : "--network");
  }
  if (inspect->no_build) {
    return tool_arguments_check(inspect->task.arguments, TOOL_FOR_PARSING | TOOL_FOR_BUILDING,
                                "--no-build builds nothing");
  }
  if (inspect->network && !is_plan) {
    return tool_arguments_check(inspect->task.arguments, TOOL_FOR_PARSING,
                                "--network builds nothing of a model");
  }
  return inspect->no_run
             ? tool_arguments_check(inspect->task.arguments, all & ~(uint32_t)TOOL_FOR_RUNNING,
                                    "--no-run runs nothing")
             : TENON_OK;
}

static tenon_status_t inspect_built(const inspect_t* inspect) {
  const tool_task_t* task = &inspect->task;
  tool_session_t session;
  tool_console_mute(to_standard_output(inspect));
  TOOL_TRY(tool_session_open(task->registry, task->model, &task->building, &task->feed,
                             TENON_VERIFY_NONE, &session));
  const tenon_status_t status = inspect_session(inspect, &session.execution);
  tool_session_close(&session);
  return status;
}

/* ---- Data ---- */

/* Does a file's beginning say that it is an array or a recorded tensor? */
static bool holds_data(const uint8_t* bytes, size_t size) {
  char* name = NULL;
  tenon_dtype_t dtype = TENON_DTYPE_UNDEFINED;
  uint32_t rank = 0;
  int64_t dims[64];
  if (tool_npy_is_one(bytes, size)) {
    return true;
  }
  const bool tensor = tool_tensor_proto_peek(bytes, size, &name, &dtype, &rank, dims);
  tool_free(name);
  return tensor && dtype != TENON_DTYPE_UNDEFINED;
}

static bool is_data(const char* path) {
  uint8_t* bytes = NULL;
  size_t size = 0;
  const bool named = tool_path_has_suffix(path, ".npy") || tool_path_has_suffix(path, ".pb");
  if (!named || access(path, R_OK) != 0 || !tool_file_exists(path) ||
      tool_file_read(path, &bytes, &size) != TENON_OK) {
    return false;
  }
  const bool data = holds_data(bytes, size);
  tool_free(bytes);
  return data;
}

static tenon_status_t inspect_data(const inspect_t* inspect) {
  tool_value_t value;
  char* because = tool_format("%s holds data", inspect->task.model);
  const tenon_status_t status = tool_arguments_check(inspect->task.arguments, 0, because);
  tool_free(because);
  TOOL_TRY(status);
  TOOL_TRY(tool_value_read(inspect->task.model, TENON_ARGUMENT_TENSOR, &value));
  tool_console_configure(inspect->task.common.json, inspect->task.common.verbose);
  tool_value_print("file", inspect->task.model, 0, &value, false);
  tool_value_free(&value);
  return TENON_OK;
}

static tenon_status_t run_inspect(void* user) {
  inspect_t* inspect = user;
  tool_task_t* task = &inspect->task;
  const char* data_set = NULL;
  bool is_plan = false;
  if (is_data(task->model)) {
    return inspect_data(inspect);
  }
  TOOL_TRY(tool_operand_check(task->arguments, task->model, &is_plan));
  TOOL_TRY(check_options(inspect, is_plan));
  TOOL_TRY(tool_building_prepare(&task->building));
  TOOL_TRY(tool_common_begin(&task->common, &task->registry));
  TOOL_TRY(tool_feeding_data_set(&task->feeding, &data_set));
  TOOL_TRY(tool_feed_load(&task->feeding, data_set, &task->building.constants, &task->feed));
  if (inspect->html != NULL && !to_standard_output(inspect)) {
    TOOL_TRY(tool_output_check("--html", inspect->html, task->model, &task->building, &task->feed));
  }
  return inspect->no_build || (inspect->network && !is_plan) ? inspect_read_model(inspect)
                                                             : inspect_built(inspect);
}

static int inspect_command(int argc, char** argv) {
  inspect_t inspect = {0};
  const tool_option_group_t groups[] = {
      TOOL_OPTION_GROUP_RULED("showing", options, rules, &inspect),
      TOOL_FEEDING_GROUP(&inspect.task.feeding), TOOL_BUILDING_GROUP(&inspect.task.building, false),
      TOOL_COMMON_GROUP(&inspect.task.common)};
  const tool_subcommand_t subcommand = {&tool_command_inspect, groups,      4,
                                        &inspect.task,         run_inspect, &inspect};
  return tool_task_run(&subcommand, argc, argv);
}

const tool_command_t tool_command_inspect = {
    .name = "inspect",
    .operands = "MODEL|PLAN|DATA",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "shows a plan: steps, times, layouts, and why each tactic was chosen; or a model",
    .description =
        "A model is built first, or its plan is taken from the plan cache, unless --no-build "
        "or --network is\ngiven. Steps are timed in a few runs, on the given inputs or on "
        "random numbers. For a .npy or .pb\nfile, the command prints its type, shape and "
        "first numbers.",
    .examples =
        "  tenon inspect model.onnx --no-build\n"
        "  tenon inspect model.onnx --html model.html\n"
        "  tenon inspect model.plan --refusals --verify\n"
        "  tenon inspect model.plan --json --no-run\n"
        "  tenon inspect test_data_set_0/input_0.pb\n",
    .run = inspect_command,
};
