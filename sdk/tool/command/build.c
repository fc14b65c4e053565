/* tenon build: a model in, a plan file out. */
#include <stddef.h>
#include <stdio.h>

#include "command/commands.h"
#include "data/file.h"
#include "session/devices.h"
#include "session/model.h"
#include "session/network_facts.h"
#include "session/task.h"
#include "text/console.h"
#include "text/json.h"
#include "text/memory.h"
#include "text/units.h"

typedef struct build_t {
  tool_task_t task;
  const char* output;
  uint32_t batch;
} build_t;

static const tool_option_t options[] = {
    {"--output", "o", "PLAN", TOOL_OPTION_TEXT, offsetof(build_t, output), 0,
     "write the plan to this file"},
    {"--batch", "b", "N", TOOL_OPTION_POSITIVE, offsetof(build_t, batch), 0,
     "set the extent of the first axis if it is dynamic and there is no profile (default: 1)"},
};

static const tool_option_rule_t rules[] = {
    {"--batch", NULL, "--profile --minShapes --optShapes --maxShapes"},
};

/* Loads what was built: it must be good, and it tells about itself. */
static tenon_status_t describe(const build_t* build, double build_seconds,
                               uint32_t timing_entries) {
  tenon_engine_t* engine = NULL;
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  const double begin = tool_seconds();
  tenon_status_t status =
      tenon_engine_create_from_file(build->task.registry, build->output, NULL, &engine);
  const double load_seconds = tool_seconds() - begin;
  if (status == TENON_OK) {
    status = tenon_engine_get_info(engine, &info);
  }
  if (status == TENON_OK && tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_text(&json, "plan", build->output);
    tool_json_number(&json, "build_ms", build_seconds * 1e3);
    tool_json_number(&json, "load_ms", load_seconds * 1e3);
    tool_json_unsigned(&json, "plan_bytes", info.plan_bytes);
    tool_json_unsigned(&json, "weights_bytes", info.weights_bytes);
    tool_json_unsigned(&json, "arena_bytes", info.arena_bytes);
    tool_json_unsigned(&json, "scratch_bytes", info.scratch_bytes);
    tool_json_unsigned(&json, "steps", tenon_engine_step_count(engine));
    tool_json_unsigned(&json, "threads", info.thread_count);
    tool_json_text(&json, "device", info.device);
    tool_json_unsigned(&json, "timings", timing_entries);
    tool_json_end(&json);
  } else if (status == TENON_OK) {
    char* weights = tool_weights_text(&info);
    tool_say("%s: built in %.2f s: %u steps on %s, %u threads\n", build->output, build_seconds,
             tenon_engine_step_count(engine), tool_devices_used(engine, &info), info.thread_count);
    tool_say("plan %.2f MiB; %s; activations %.2f; workspace %.2f\n", tool_mib(info.plan_bytes),
             weights, tool_mib(info.arena_bytes), tool_mib(info.scratch_bytes));
    tool_free(weights);
  }
  tenon_engine_release(engine);
  return status;
}

/* A plan is for the profile or for the shapes. */
static tenon_status_t check_shapes(const tool_building_t* building) {
  for (size_t i = 0; i < building->fixed.count; ++i) {
    const char* name = building->fixed.items[i].name;
    if (tool_named_shapes_find(&building->ranges, name) != NULL) {
      return tool_misuse("--shapes gives '%s' a shape, and the profile gives it a range", name);
    }
  }
  return TENON_OK;
}

static tenon_status_t build_model(void* user) {
  build_t* build = user;
  const char* model = build->task.model;
  const tool_feed_t feed = {.batch = build->batch};
  tenon_network_t* network = NULL;
  tenon_plan_t* plan = NULL;
  char* notes = NULL;
  uint32_t timing_entries = 0;
  bool is_plan = false;
  if (build->output == NULL) {
    return tool_misuse("-o PLAN is missing; see tenon build --help");
  }
  TOOL_TRY(tool_building_prepare(&build->task.building));
  TOOL_TRY(tool_common_begin(&build->task.common, &build->task.registry));
  TOOL_TRY(tool_file_is_plan(model, &is_plan));
  if (is_plan) {
    return tool_misuse("%s: is a plan already", model);
  }
  TOOL_TRY(check_shapes(&build->task.building));
  TOOL_TRY(tool_output_check("-o", build->output, model, &build->task.building, &feed));
  const double begin = tool_seconds();
  tenon_status_t status = tool_network_open(build->task.registry, model, &build->task.building,
                                            &feed, &network, &notes);
  if (status == TENON_OK) {
    status = tool_build_plan(build->task.registry, network, &build->task.building, &plan,
                             &timing_entries);
  }
  if (status == TENON_OK) {
    status = tool_plan_write(plan, build->output);
  }
  const double seconds = tool_seconds() - begin;
  tenon_plan_destroy(plan);
  tenon_network_destroy(network);
  tool_free(notes);
  return status == TENON_OK ? describe(build, seconds, timing_entries) : status;
}

static int build_command(int argc, char** argv) {
  build_t build = {0};
  const tool_option_group_t groups[] = {TOOL_OPTION_GROUP_RULED("output", options, rules, &build),
                                        TOOL_BUILDING_GROUP(&build.task.building, true),
                                        TOOL_COMMON_GROUP(&build.task.common)};
  const tool_subcommand_t subcommand = {&tool_command_build, groups,      3,
                                        &build.task,         build_model, &build};
  return tool_task_run(&subcommand, argc, argv);
}

const tool_command_t tool_command_build = {
    .name = "build",
    .operands = "MODEL",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "builds a model into a plan: parses, optimises, measures, chooses, writes",
    .description =
        "The plan is tuned for this machine and for the shapes of the profile. Kernels are "
        "measured. The\ntiming cache keeps the times, so that the next build is faster and "
        "repeatable.",
    .examples =
        "  tenon build model.onnx -o model.plan\n"
        "  tenon build model.onnx -o model.plan --profile image:1x1x8x8:4x1x8x8:8x1x8x8\n"
        "  tenon build model.onnx -o model.plan --minShapes=image:1x1x8x8 "
        "--optShapes=image:4x1x8x8 --maxShapes=image:8x1x8x8\n"
        "  tenon build model.onnx -o model.plan --batch 16 --threads 1 --workspace 64M\n",
    .run = build_command,
};
