/* tenon run: once, on data; prints, writes and compares the outputs. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "command/commands.h"
#include "command/run.h"
#include "data/file.h"
#include "data/tensor_proto.h"
#include "session/steps.h"
#include "text/console.h"
#include "text/json.h"
#include "text/memory.h"

#define FIELD(name) offsetof(run_t, name)

static const tool_option_t options[] = {
    {"--output", "o", "DIR", TOOL_OPTION_TEXT, FIELD(output), 0,
     "write every output to DIR/output_<index>_<name>.npy"},
    {"--record", NULL, "DIR", TOOL_OPTION_TEXT, FIELD(record), 0,
     "write inputs and outputs as a data set: input_<i>.pb, output_<i>.pb"},
    {"--rtol", NULL, "X", TOOL_OPTION_NUMBER, FIELD(rtol), 0,
     "set the relative tolerance (default: 1e-3; f16: 2^-9; bf16: 2^-6)"},
    {"--atol", NULL, "X", TOOL_OPTION_NUMBER, FIELD(atol), 0,
     "set the absolute tolerance (default: 1e-4 of the standard deviation of the recorded output, "
     "at least 1e-7)"},
    {"--top", NULL, "K", TOOL_OPTION_POSITIVE, FIELD(top), 0,
     "print the K largest of each row of output 0 (default: 5 with --labels)"},
    {"--labels", NULL, "FILE", TOOL_OPTION_TEXT, FIELD(labels), 0,
     "read the names of the classes, one a line"},
    {"--picture", NULL, "FILE", TOOL_OPTION_TEXT, FIELD(picture), 0,
     "write output 0 as a picture (.pgm, .ppm, .png): values 0 to 1 as black to white, scores of "
     "classes as colours"},
    {"--overlay", NULL, "FILE", TOOL_OPTION_TEXT, FIELD(overlay), 0,
     "write input, mask and overlay side by side, if output 0 is a mask of an input picture"},
    {"--truth", NULL, "X", TOOL_OPTION_TEXT, FIELD(truth), 0,
     "compare output 0 with the right class (a number, or a .npy with one for each row) or with a "
     "picture of the right mask"},
    {"--truth-at-least", NULL, "X", TOOL_OPTION_NUMBER, FIELD(truth_at_least), 0,
     "exit with 1 if accuracy, or overlap of masks, is below X (default: 1 for one class, else 0)"},
    /* A device replays from the second or third time on what it recorded; states go on. */
    {"--repeat", NULL, "N", TOOL_OPTION_POSITIVE, FIELD(repeat), 0,
     "run N times with the same inputs, report the last (default: 1)"},
    {"--no-verify", NULL, NULL, TOOL_OPTION_FLAG, FIELD(no_verify), TOOL_RARE,
     "skip the check of a plan's weights, which takes 1 ms per MiB"},
    {"--profile-steps", NULL, NULL, TOOL_OPTION_FLAG, FIELD(profile_steps), 0,
     "print a table of steps and their times, medians of some runs"},
};

static const tool_option_rule_t rules[] = {
    {"--rtol", "--data-set", NULL},
    {"--atol", "--data-set", NULL},
    {"--overlay", "--input", NULL},
    {"--truth-at-least", "--truth", NULL},
};

/* ---- Recording and comparing ---- */

static tenon_status_t write_recorded(const char* folder, const char* what, uint32_t index,
                                     const char* name, tool_value_t* value) {
  char* path = tool_format("%s/%s_%u.pb", folder, what, index);
  char* own = value->name;
  value->name = (char*)name;
  const tenon_status_t status = tool_tensor_proto_write(path, value);
  value->name = own;
  tool_free(path);
  return status;
}

static tenon_status_t record(const char* folder, tool_execution_t* execution) {
  tenon_status_t status = tool_folder_make(folder);
  for (uint32_t i = 0; i < execution->input_count && status == TENON_OK; ++i) {
    status = write_recorded(folder, "input", i, execution->inputs[i].name, &execution->values[i]);
  }
  for (uint32_t i = 0; i < execution->output_count && status == TENON_OK; ++i) {
    tool_value_t value;
    status = tool_execution_get(execution, i, &value);
    if (status == TENON_OK) {
      status = write_recorded(folder, "output", i, execution->outputs[i].name, &value);
      tool_value_free(&value);
    }
  }
  return status;
}

static void print_verdict(const char* folder, const tool_verdict_t* verdict) {
  const tool_difference_t* d = &verdict->difference;
  const bool compared = d->equal || d->count > 0; /* element by element */
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_text(&json, "data_set", folder);
    tool_json_text(&json, "output", verdict->name);
    tool_json_bool(&json, "equal", d->equal);
    tool_json_number(&json, "max_absolute", compared ? d->max_absolute : NAN);
    tool_json_number(&json, "max_relative", compared ? d->max_relative : NAN);
    tool_json_number(&json, "atol", compared ? d->atol : NAN);
    tool_json_text(&json, "reason", d->reason);
    tool_json_end(&json);
    return;
  }
  if (!compared) {
    tool_say("%s: output %s DIFFERS: %s\n", folder, verdict->name, d->reason);
    return;
  }
  tool_say("%s: output %s %s; largest difference %.3g absolute, %.3g relative (atol %.3g)%s%s\n",
           folder, verdict->name, d->equal ? "agrees" : "DIFFERS", d->max_absolute, d->max_relative,
           d->atol, d->equal ? "" : ": ", d->reason);
}

static tenon_status_t compare(run_t* run, const tool_execution_t* execution, const char* folder) {
  const tool_tolerance_t tolerance = {run->rtol, run->atol};
  tool_verdicts_t verdicts;
  TOOL_TRY(
      tool_execution_compare(execution, folder, &tolerance, run->task.feeding.batch, &verdicts));
  for (size_t i = 0; i < verdicts.count; ++i) {
    print_verdict(folder, &verdicts.items[i]);
  }
  run->task.different = run->task.different || !verdicts.equal;
  tool_verdicts_free(&verdicts);
  return TENON_OK;
}

/* ---- One run ---- */

static void print_summary(const run_t* run, const tool_session_t* session, double run_seconds) {
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_text(&json, "model", run->task.model);
    tool_json_text(&json, "cache", tool_cache_use_text(session->file.use));
    tool_json_number(&json, "build_ms", session->file.build_seconds * 1e3);
    tool_json_number(&json, "load_ms", session->execution.load_seconds * 1e3);
    tool_json_number(&json, "run_ms", run_seconds * 1e3);
    tool_json_unsigned(&json, "steps", tenon_engine_step_count(session->execution.engine));
    tool_json_end(&json);
  }
}

static tenon_status_t write_results(const run_t* run, tool_execution_t* execution,
                                    const char* data_set) {
  tenon_status_t status = TENON_OK;
  if (run->output != NULL) {
    char* folder = run_result_folder(run, run->output, data_set);
    status = tool_execution_write(execution, folder);
    tool_free(folder);
  }
  if (status == TENON_OK && run->record != NULL) {
    char* folder = run_result_folder(run, run->record, data_set);
    status = record(folder, execution);
    tool_free(folder);
  }
  return status;
}

static tenon_status_t run_session(run_t* run, tool_session_t* session, const char* data_set) {
  tool_execution_t* execution = &session->execution;
  const tool_feed_t* feed = &run->task.feed;
  double begin = 0;
  TOOL_TRY(tool_execution_feed(execution, feed, &run->task.building.fixed));
  for (uint32_t k = 0; k == 0 || k < run->repeat; ++k) {
    begin = tool_seconds();
    TOOL_TRY(tool_execution_run(execution, NULL));
  }
  print_summary(run, session, tool_seconds() - begin);
  if (data_set != NULL) {
    TOOL_TRY(compare(run, execution, data_set));
  }
  if (data_set == NULL || run_asks_for_outputs(run)) {
    TOOL_TRY(run_show_outputs(run, execution, feed));
  }
  TOOL_TRY(write_results(run, execution, data_set));
  return run->profile_steps ? tool_steps_tell(execution) : TENON_OK;
}

static tenon_status_t run_once(run_t* run, const char* data_set) {
  tool_task_t* task = &run->task;
  tool_session_t session;
  tool_feed_free(&task->feed);
  TOOL_TRY(tool_feed_load(&task->feeding, data_set, &task->building.constants, &task->feed));
  TOOL_TRY(run_check_data(run, &task->feed));
  TOOL_TRY(tool_session_open(task->registry, task->model, &task->building, &task->feed,
                             run->no_verify ? TENON_VERIFY_NONE : TENON_VERIFY_READ, &session));
  const tenon_status_t status = run_session(run, &session, data_set);
  tool_session_close(&session);
  return status;
}

static tenon_status_t run_all(void* user) {
  run_t* run = user;
  const tool_list_t* sets = &run->task.feeding.data_sets;
  bool is_plan = false;
  TOOL_TRY(tool_operand_check(run->task.arguments, run->task.model, &is_plan));
  TOOL_TRY(tool_building_prepare(&run->task.building));
  TOOL_TRY(run_check_options(run));
  TOOL_TRY(tool_common_begin(&run->task.common, &run->task.registry));
  for (size_t i = 0; i < sets->count; ++i) {
    TOOL_TRY(run_once(run, sets->items[i]));
  }
  return sets->count == 0 ? run_once(run, NULL) : TENON_OK;
}

static int run_command(int argc, char** argv) {
  run_t run = {.rtol = -1, .atol = -1, .truth_at_least = -1};
  const tool_option_group_t groups[] = {TOOL_FEEDING_GROUP(&run.task.feeding),
                                        TOOL_OPTION_GROUP_RULED("results", options, rules, &run),
                                        TOOL_BUILDING_GROUP(&run.task.building, false),
                                        TOOL_COMMON_GROUP(&run.task.common)};
  const tool_subcommand_t subcommand = {&tool_command_run, groups, 4, &run.task, run_all, &run};
  return tool_task_run(&subcommand, argc, argv);
}

const tool_command_t tool_command_run = {
    .name = "run",
    .operands = "MODEL|PLAN",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "runs a model once, on data; prints, writes and compares its outputs",
    .description =
        "The command builds a model for the shapes of its data, or takes the plan from the "
        "plan cache. Inputs\nwithout data are filled with seeded random numbers. With "
        "--data-set, the outputs are compared with\nthe recorded ones, and the exit status is"
        " 1 if they differ.",
    .examples =
        "  tenon run model.onnx --data-set test_data_set_0\n"
        "  tenon run digits.onnx --input digit_7.pgm --scale 0.003921569 --labels labels.txt\n"
        "  tenon run model.plan --input image=photo.png --output out\n"
        "  tenon run unet.onnx --input coins.pgm --scale 0.003921569 --overlay overlay.png\n",
    .run = run_command,
};
