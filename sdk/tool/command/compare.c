/* tenon compare: the plan as it is built against the reference kernels, value by value. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/commands.h"
#include "session/session.h"
#include "session/step_text.h"
#include "session/task.h"
#include "text/console.h"
#include "text/json.h"
#include "text/memory.h"

/* Values looked at in one pass: all of them are outputs of one plan. Rewrites that are named. */
enum { PASS_VALUES = 400, MOST_REWRITES = 20 };

typedef struct compare_t {
  tool_task_t task;
  double rtol;
  double atol;
  bool outputs_only;
  tool_list_t names; /* of all values, in an order in which they can be computed */
  size_t compared;
  size_t diverging;
  char* first;    /* that diverges */
  char* rewrites; /* lines: what plugins' rewrites changed in the plan that diverges first */
} compare_t;

#define FIELD(name) offsetof(compare_t, name)

static const tool_option_t options[] = {
    {"--rtol", NULL, "X", TOOL_OPTION_NUMBER, FIELD(rtol), 0,
     "set the relative tolerance (default: 1e-3; f16: 2^-9; bf16: 2^-6)"},
    {"--atol", NULL, "X", TOOL_OPTION_NUMBER, FIELD(atol), 0,
     "set the absolute tolerance (default: 1e-4 of the standard deviation of the reference's "
     "value, at least 1e-7)"},
    {"--outputs-only", NULL, NULL, TOOL_OPTION_FLAG, FIELD(outputs_only), 0,
     "compare the model's outputs only, not the values inside"},
};

/* ---- One plan, run ---- */

/* The network with the values [begin, end) as its outputs; its own outputs where the range is
 * empty. */
static tenon_status_t open_network(const compare_t* compare, size_t begin, size_t end,
                                   tenon_network_t** out_network) {
  char* notes = NULL;
  tenon_network_t* network = NULL;
  tenon_status_t status =
      tool_network_open(compare->task.registry, compare->task.model, &compare->task.building,
                        &compare->task.feed, &network, &notes);
  tool_free(notes);
  if (status == TENON_OK && begin < end) {
    status = tenon_network_clear_outputs(network);
  }
  for (size_t i = begin; i < end && status == TENON_OK; ++i) {
    status = tenon_network_mark_output(network, compare->names.items[i]);
  }
  if (status != TENON_OK) {
    tenon_network_destroy(network);
    return status;
  }
  *out_network = network;
  return TENON_OK;
}

static tenon_status_t build_and_run(const compare_t* compare, tenon_network_t* network,
                                    const tool_building_t* building, bool is_second,
                                    tool_execution_t* out_execution) {
  tool_plan_file_t file = {0};
  tenon_status_t status =
      tool_build_plan(compare->task.registry, network, building, &file.plan, NULL);
  if (status == TENON_OK) {
    status = tool_execution_open(compare->task.registry, &file, building->threads,
                                 TENON_VERIFY_NONE, out_execution);
  }
  tool_plan_file_free(&file);
  if (status != TENON_OK) {
    return status;
  }
  /* What is said of the inputs is the same for both. */
  const bool was_quiet = tool_console_is_quiet();
  tool_console_quieten(is_second || was_quiet);
  status = tool_execution_feed(out_execution, &compare->task.feed, &compare->task.building.fixed);
  tool_console_quieten(was_quiet);
  if (status == TENON_OK) {
    status =
        tool_execution_run(out_execution, is_second ? "running the plan" : "running the reference");
  }
  if (status != TENON_OK) {
    tool_execution_close(out_execution);
  }
  return status;
}

/* ---- Results ---- */

/* The step that writes the value: "plugin:kernel". */
static char* find_step(const tool_execution_t* execution, const char* name) {
  const uint32_t count = tenon_engine_step_count(execution->engine);
  for (uint32_t i = 0; i < count; ++i) {
    tenon_step_info_t step = {.size = sizeof(step)};
    if (tenon_engine_get_step(execution->engine, i, &step) == TENON_OK && step.depth == 0 &&
        tool_step_list_has(step.outputs, name)) {
      return tool_format("step %u '%s', %s:%s, nodes %s", i, step.name, step.plugin, step.kernel,
                         step.nodes);
    }
  }
  return tool_copy_text("");
}

static void print_value(const char* name, const tool_difference_t* d, const char* step) {
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_text(&json, "value", name);
    tool_json_bool(&json, "equal", d->equal);
    tool_json_number(&json, "max_absolute", d->max_absolute);
    tool_json_number(&json, "max_relative", d->max_relative);
    tool_json_number(&json, "deviation", d->deviation);
    tool_json_text(&json, "reason", d->reason);
    tool_json_text(&json, "step", step);
    tool_json_end(&json);
    return;
  }
  tool_say("%s %s: largest difference %.3g absolute, %.3g relative (standard deviation %.3g)%s%s\n",
           d->equal ? "agrees  " : "DIVERGES", name, d->max_absolute, d->max_relative, d->deviation,
           d->equal ? "" : ": ", d->reason);
  if (!d->equal && step[0] != '\0') {
    tool_say("         computed by %s\n", step);
  }
}

static tenon_status_t compare_outputs(compare_t* compare, const tool_execution_t* ours,
                                      const tool_execution_t* reference, bool show_all) {
  const tool_tolerance_t tolerance = {compare->rtol, compare->atol};
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0; i < ours->output_count && status == TENON_OK; ++i) {
    tool_value_t a = {0};
    tool_value_t b = {0};
    tool_difference_t difference;
    const char* name = ours->outputs[i].name;
    status = tool_execution_get(ours, i, &a);
    if (status == TENON_OK) {
      status = tool_execution_get(reference, i, &b);
    }
    if (status == TENON_OK) {
      tool_difference_find(&a, &b, &tolerance, &difference);
      ++compare->compared;
      compare->diverging += difference.equal ? 0 : 1;
      if (!difference.equal && compare->first == NULL) {
        compare->first = tool_copy_text(name);
      }
      if (show_all || !difference.equal) {
        char* step = difference.equal ? tool_copy_text("") : find_step(ours, name);
        print_value(name, &difference, step);
        tool_free(step);
      }
    }
    tool_value_free(&a);
    tool_value_free(&b);
  }
  return status;
}

/* The lines of the plan's patches that are plugins' rewrites. */
static char* list_rewrites(const tool_execution_t* execution) {
  static const char begin[] = "rewrite ";
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  char* lines = tool_copy_text("");
  uint32_t count = 0;
  if (tenon_engine_get_info(execution->engine, &info) != TENON_OK) {
    return lines;
  }
  const char* patches = info.patches;
  char* line = NULL;
  while ((line = tool_take_line(&patches)) != NULL) {
    if (strncmp(line, begin, sizeof(begin) - 1) == 0 && count++ < MOST_REWRITES) {
      tool_append(&lines, "%s\n", line);
    }
    tool_free(line);
  }
  if (count > MOST_REWRITES) {
    tool_append(&lines, "and %u more\n", count - MOST_REWRITES);
  }
  return lines;
}

/* Both plans for the values [begin, end). */
static tenon_status_t run_pass(compare_t* compare, size_t begin, size_t end, bool show_all) {
  tenon_network_t* network = NULL;
  tool_execution_t ours;
  tool_execution_t reference;
  tool_building_t by_reference = compare->task.building;
  by_reference.reference = true;
  by_reference.no_fusion = true;
  by_reference.no_measuring = true;
  by_reference.no_rewrites = true; /* a rewrite may be what is wrong */
  tenon_status_t status = open_network(compare, begin, end, &network);
  if (status != TENON_OK) {
    return status;
  }
  status = build_and_run(compare, network, &by_reference, false, &reference);
  if (status == TENON_OK) {
    status = build_and_run(compare, network, &compare->task.building, true, &ours);
    if (status == TENON_OK) {
      status = compare_outputs(compare, &ours, &reference, show_all);
      if (compare->first != NULL && compare->rewrites == NULL) {
        compare->rewrites = list_rewrites(&ours);
      }
      tool_execution_close(&ours);
    }
    tool_execution_close(&reference);
  }
  tenon_network_destroy(network);
  return status;
}

/* ---- All values ---- */

/* A name, then the end of its line: a name may hold line ends itself. */
typedef struct listing_t {
  tool_list_t* names;
  bool ends;
} listing_t;

static void list_name(void* user, const char* piece) {
  listing_t* listing = user;
  if (!listing->ends) {
    tool_list_add(listing->names, tool_copy_text(piece));
  }
  listing->ends = !listing->ends;
}

static tenon_status_t list_values(compare_t* compare) {
  tenon_network_t* network = NULL;
  listing_t listing = {.names = &compare->names};
  const tenon_status_t status = open_network(compare, 0, 0, &network);
  if (status != TENON_OK) {
    return status;
  }
  tenon_network_print_values(network, list_name, &listing);
  tenon_network_destroy(network);
  return TENON_OK;
}

static tenon_status_t compare_values(compare_t* compare) {
  tool_console_quieten(true); /* what the first pass said is not said again */
  tenon_status_t status = list_values(compare);
  const size_t count = compare->names.count;
  for (size_t begin = 0; begin < count && status == TENON_OK; begin += PASS_VALUES) {
    const size_t end = begin + PASS_VALUES < count ? begin + PASS_VALUES : count;
    status = run_pass(compare, begin, end, compare->task.common.verbose > 0);
    if (compare->first != NULL) {
      break; /* what comes later follows from it */
    }
  }
  tool_progress_end();
  tool_console_quieten(false);
  return status;
}

static void conclude(const compare_t* compare, bool outputs_agree) {
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_text(&json, "model", compare->task.model);
    tool_json_unsigned(&json, "compared", compare->compared);
    tool_json_unsigned(&json, "diverging", compare->diverging);
    tool_json_text(&json, "first", compare->first);
    tool_json_lines(&json, "rewrites", compare->rewrites == NULL ? "" : compare->rewrites);
    tool_json_end(&json);
  } else if (compare->first == NULL) {
    tool_say("%zu values compared, all agree with the reference\n", compare->compared);
  } else {
    tool_say("the first value that diverges is '%s'%s\n", compare->first,
             outputs_agree ? "; the outputs agree all the same" : "");
    if (compare->rewrites != NULL && compare->rewrites[0] != '\0') {
      tool_say("rewrites of plugins were applied (--exclude PLUGIN:NAME leaves one out):\n%s",
               compare->rewrites);
    }
  }
}

/* The values inside come first, and in their order; the outputs are among them. */
static tenon_status_t compare_inside(compare_t* compare) {
  char* output = compare->first;
  const size_t diverging = compare->diverging;
  compare->first = NULL;
  compare->compared = 0;
  compare->diverging = 0;
  const tenon_status_t status = compare_values(compare);
  if (compare->first == NULL) {
    compare->first = output;
    compare->diverging = diverging;
  } else {
    tool_free(output);
  }
  return status;
}

static tenon_status_t run_compare(void* user) {
  compare_t* compare = user;
  tool_task_t* task = &compare->task;
  const char* data_set = NULL;
  bool is_plan = false;
  tool_building_keep_f32(&task->building);
  TOOL_TRY(tool_building_prepare(&task->building));
  TOOL_TRY(tool_common_begin(&task->common, &task->registry));
  TOOL_TRY(tool_file_is_plan(task->model, &is_plan));
  if (is_plan) {
    return tool_misuse("%s: is a plan; comparing needs the model that it was built from",
                       task->model);
  }
  TOOL_TRY(tool_feeding_data_set(&task->feeding, &data_set));
  TOOL_TRY(tool_feed_load(&task->feeding, data_set, &task->building.constants, &task->feed));
  TOOL_TRY(run_pass(compare, 0, 0, true));
  const bool outputs_agree = compare->first == NULL;
  if (!compare->outputs_only) {
    TOOL_TRY(compare_inside(compare));
  }
  conclude(compare, outputs_agree);
  task->different = compare->diverging > 0;
  return TENON_OK;
}

static int compare_command(int argc, char** argv) {
  compare_t compare = {.rtol = -1, .atol = -1};
  const tool_option_group_t groups[] = {
      TOOL_OPTION_GROUP("comparing", options, &compare), TOOL_FEEDING_GROUP(&compare.task.feeding),
      TOOL_BUILDING_GROUP(&compare.task.building, false), TOOL_COMMON_GROUP(&compare.task.common)};
  const tool_subcommand_t subcommand = {&tool_command_compare, groups,      4,
                                        &compare.task,         run_compare, &compare};
  const int exit_status = tool_task_run(&subcommand, argc, argv);
  for (size_t i = 0; i < compare.names.count; ++i) {
    tool_free((void*)compare.names.items[i]);
  }
  tool_list_free(&compare.names);
  tool_free(compare.first);
  tool_free(compare.rewrites);
  return exit_status;
}

const tool_command_t tool_command_compare = {
    .name = "compare",
    .operands = "MODEL",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "compares with the reference kernels, value by value; names the first that diverges",
    .description =
        "The model is built twice: as usual, and with reference kernels, one node per step, "
        "without the\nrewrites of plugins. First its outputs are compared, then every value "
        "of the main graph, each as an\nadditional output.",
    .examples =
        "  tenon compare model.onnx --data-set test_data_set_0\n"
        "  tenon compare model.onnx --exclude cpu:convolution --verbose\n"
        "  tenon compare model.onnx --exclude 'standard:power of 2'    # without a rewrite\n",
    .run = compare_command,
};
