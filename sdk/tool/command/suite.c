/* tenon suite: all cases of a folder, and what is concluded. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/commands.h"
#include "command/suite.h"
#include "data/file.h"
#include "session/children.h"
#include "session/session.h"
#include "text/console.h"
#include "text/interrupt.h"
#include "text/json.h"
#include "text/memory.h"

#define FIELD(name) offsetof(tool_suite_t, name)

static const tool_option_t options[] = {
    {"--known", NULL, "FILE", TOOL_OPTION_TEXT, FIELD(known_path), 0,
     "read the cases that are known to fail or to be skipped: lines of a pattern (* and ?) and a "
     "reason; ~ before a pattern accepts a pass too"},
    {"--at-least", NULL, "N", TOOL_OPTION_COUNT, FIELD(at_least), 0,
     "fail if fewer than N cases pass, for instance because they are skipped (default: 0)"},
    {"--filter", NULL, "PATTERN", TOOL_OPTION_TEXT, FIELD(filter), 0,
     "run only cases whose name matches, such as '*test_conv_*'"},
    {"--no-input-constants", NULL, NULL, TOOL_OPTION_FLAG, FIELD(no_constants), 0,
     "count a case that needs the value of an input to be built as not passed; the last line "
     "counts these cases"},
    {"--jobs", "j", "N", TOOL_OPTION_POSITIVE, FIELD(jobs), 0,
     "run N cases at a time (default: the number of processors)"},
    {"--cases-a-process", NULL, "N", TOOL_OPTION_POSITIVE, FIELD(cases_a_process), 0,
     "run up to N cases in one process, one after the other, while they pass, so that a slow "
     "device starts once for them (default: 1)"},
    {"--timeout", NULL, "S", TOOL_OPTION_NUMBER, FIELD(timeout), 0,
     "stop a case after S seconds; 0: no limit (default: 120)"},
    {"--rtol", NULL, "X", TOOL_OPTION_NUMBER, FIELD(rtol), 0,
     "set the relative tolerance (default: 1e-3; f16: 2^-9; bf16: 2^-6)"},
    {"--atol", NULL, "X", TOOL_OPTION_NUMBER, FIELD(atol), 0,
     "set the absolute tolerance (default: 1e-4 of the standard deviation of the recorded output, "
     "at least 1e-7)"},
};

/* ---- Results ---- */

/* One line for one case: line ends and what indents the next line become one space. */
static char* copy_as_line(const char* message) {
  char* line = tool_copy_text(message);
  char* to = line;
  for (const char* from = message; *from != '\0'; ++from) {
    if (*from == '\n') {
      from += strspn(from, " \n") - 1;
      *to++ = ' ';
    } else {
      *to++ = *from;
    }
  }
  *to = '\0';
  return line;
}

static void on_done(void* user, size_t index, const tool_job_result_t* result) {
  tool_suite_t* suite = user;
  tool_case_t* c = &suite->cases.items[index];
  const bool ended = result->code != '!';
  const char* message = result->message;
  c->result = (char)(ended ? result->code : TOOL_CASE_FAILED);
  c->inputs = ended ? tool_take_line(&message) : tool_copy_text("");
  c->host_kernels = ended ? tool_take_line(&message) : tool_copy_text("");
  c->message = copy_as_line(message);
  c->seconds = result->seconds;
  ++suite->done_count;
  tool_progress(c->name, suite->done_count, suite->cases.count);
}

static const char* result_text(const tool_case_t* c) {
  return c->result == TOOL_CASE_PASSED    ? "passed"
         : c->result == TOOL_CASE_SKIPPED ? "skipped"
                                          : "failed";
}

static void print_case(const tool_suite_t* suite, const tool_case_t* c, const tool_known_t* known) {
  const bool passed = c->result == TOOL_CASE_PASSED;
  const char* needs = c->inputs[0] == '\0' ? ""
                      : passed             ? ", built with the value of "
                                           : "; it passes when built with the value of ";
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_text(&json, "case", c->name);
    tool_json_text(&json, "result", result_text(c));
    tool_json_bool(&json, "known", c->is_known);
    tool_json_text(&json, "reason", c->message);
    tool_json_text(&json, "input_constants", c->inputs);
    if (suite->task.building.device != NULL) {
      tool_json_text(&json, "on_host", c->host_kernels);
    }
    tool_json_number(&json, "seconds", c->seconds);
    tool_json_end(&json);
  } else if (!passed) {
    tool_say("%s %s: %s%s%s%s%s%s\n", c->result == TOOL_CASE_SKIPPED ? "skipped" : "FAILED ",
             c->name, c->message, needs, c->inputs, known != NULL ? " [known: " : "",
             known != NULL ? known->reason : "", known != NULL ? "]" : "");
  } else if (suite->task.common.verbose > 0) {
    tool_say("passed  %s (%.2f s)%s%s%s%s\n", c->name, c->seconds, needs, c->inputs,
             c->host_kernels[0] == '\0' ? "" : ", on the host: ", c->host_kernels);
  }
}

/* One case against what is known of it. False: it is not as known. */
static bool judge_case(const tool_suite_t* suite, tool_case_t* c) {
  tool_known_t* known = tool_known_find(&suite->known, c->name);
  if (known != NULL) {
    ++known->match_count;
    c->is_known = c->result != TOOL_CASE_PASSED;
  }
  print_case(suite, c, c->is_known ? known : NULL);
  if (known != NULL && c->result == TOOL_CASE_PASSED && !known->may_pass) {
    tool_warn("unexpected pass: %s is known to fail (%s)", c->name, known->reason);
    return false;
  }
  return c->result != TOOL_CASE_FAILED || c->is_known;
}

static bool patterns_match(const tool_suite_t* suite) {
  bool all = true;
  if (suite->filter == NULL) {
    for (size_t i = 0; i < suite->known.count; ++i) {
      if (suite->known.items[i].match_count == 0) {
        tool_warn("'%s' in %s names no case", suite->known.items[i].pattern, suite->known_path);
        all = false;
      }
    }
  }
  return all;
}

/* How many cases of each result there are, and how many of them need the values of inputs. */
typedef struct counts_t {
  size_t passed;
  size_t failed;
  size_t skipped;
  size_t passed_with_inputs;
  size_t others_with_inputs; /* would pass with them */
} counts_t;

static counts_t count_cases(const tool_cases_t* cases) {
  counts_t counts = {0};
  for (size_t i = 0; i < cases->count; ++i) {
    const tool_case_t* c = &cases->items[i];
    const bool passed = c->result == TOOL_CASE_PASSED;
    const size_t needs = c->inputs[0] != '\0' ? 1 : 0;
    counts.passed += passed ? 1 : 0;
    counts.failed += c->result == TOOL_CASE_FAILED ? 1 : 0;
    counts.skipped += c->result == TOOL_CASE_SKIPPED ? 1 : 0;
    counts.passed_with_inputs += passed ? needs : 0;
    counts.others_with_inputs += passed ? 0 : needs;
  }
  return counts;
}

static void print_counts(const counts_t* counts) {
  char apart[128] = "";
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_unsigned(&json, "passed", counts->passed);
    tool_json_unsigned(&json, "failed", counts->failed);
    tool_json_unsigned(&json, "skipped", counts->skipped);
    tool_json_unsigned(&json, "passed_with_input_constants", counts->passed_with_inputs);
    tool_json_unsigned(&json, "would_pass_with_input_constants", counts->others_with_inputs);
    tool_json_end(&json);
  }
  if (counts->passed_with_inputs > 0) {
    (void)snprintf(apart, sizeof(apart), " (%zu of those passed with an input's value at build)",
                   counts->passed_with_inputs);
  } else if (counts->others_with_inputs > 0) {
    (void)snprintf(apart, sizeof(apart), " (%zu more pass with an input's value at build)",
                   counts->others_with_inputs);
  }
  tool_say("%zu passed, %zu failed, %zu skipped%s\n", counts->passed, counts->failed,
           counts->skipped, apart);
}

/* Prints everything; true when the failures are those that are known. */
static bool conclude(const tool_suite_t* suite) {
  const counts_t counts = count_cases(&suite->cases);
  bool as_known = true;
  for (size_t i = 0; i < suite->cases.count; ++i) {
    as_known = judge_case(suite, &suite->cases.items[i]) && as_known;
  }
  as_known = patterns_match(suite) && as_known;
  if (counts.passed < suite->at_least) {
    tool_warn("only %zu cases passed, at least %u should", counts.passed, suite->at_least);
    as_known = false;
  }
  tool_suite_print_devices(suite);
  print_counts(&counts);
  return as_known;
}

static tenon_status_t run_suite(void* user) {
  tool_suite_t* suite = user;
  tool_task_t* task = &suite->task;
  tool_console_configure(task->common.json, task->common.verbose);
  if (!tool_folder_exists(task->model)) {
    return tool_fail(TENON_ERROR_NOT_FOUND, "%s: there is no such folder", task->model);
  }
  task->building.no_timing_cache = task->building.timing_cache == NULL;
  tool_building_keep_f32(&task->building);
  TOOL_TRY(tool_building_prepare(&task->building));
  if (suite->known_path != NULL) {
    TOOL_TRY(tool_known_read(suite->known_path, &suite->known));
  }
  tool_cases_find(task->model, suite->filter, &suite->cases);
  if (suite->cases.count == 0) {
    return tool_fail(TENON_ERROR_NOT_FOUND,
                     "%s: no case (a folder with model.onnx and test_data_set_*)%s", task->model,
                     suite->filter != NULL ? " matches" : "");
  }
  const tool_jobs_t jobs = {.count = suite->cases.count,
                            .parallel = suite->jobs,
                            .each = suite->cases_a_process,
                            .good = TOOL_CASE_PASSED,
                            .timeout_seconds = suite->timeout,
                            .run = tool_suite_run_case,
                            .done = on_done,
                            .user = suite};
  if (!tool_children_run(&jobs)) {
    return tool_interrupted() ? TENON_ERROR_CANCELLED
                              : tool_fail(TENON_ERROR_IO, "a child process cannot be made");
  }
  tool_progress_end();
  task->different = !conclude(suite);
  return TENON_OK;
}

static int suite_command(int argc, char** argv) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  tool_suite_t suite = {.rtol = -1,
                        .atol = -1,
                        .timeout = 120,
                        .jobs = processors > 0 ? (uint32_t)processors : 1,
                        .task = {.building = {.threads = 1, .no_cache = true}}};
  const tool_option_group_t groups[] = {TOOL_OPTION_GROUP("cases", options, &suite),
                                        TOOL_BUILDING_GROUP(&suite.task.building, false),
                                        TOOL_COMMON_GROUP(&suite.task.common)};
  const tool_subcommand_t subcommand = {&tool_command_suite, groups,    3,
                                        &suite.task,         run_suite, &suite};
  const int exit_status = tool_task_run(&subcommand, argc, argv);
  tool_cases_free(&suite.cases);
  tool_known_free(&suite.known);
  return exit_status;
}

const tool_command_t tool_command_suite = {
    .name = "suite",
    .operands = "DIR",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "runs every recorded case below a folder and counts the cases that pass",
    .description =
        "A case is a folder with model.onnx and test_data_set_*. Each runs in its own process"
        " (see\n--cases-a-process), so a crash or a hang is a failure of this case. "
        "Unsupported cases are skipped,\nand the reason is printed. If a case needs the value"
        " of an input (such as the axes of a reduction)\nin the build, it is built again with"
        " the recorded value as --input-constant. The last line is `N\npassed, N failed, N "
        "skipped`, with the number of cases that passed by this way, or "
        "(with\n--no-input-constants) would pass. With --device, the line before counts the "
        "cases with every step on\nthe devices; copies, control and values of shapes do not "
        "count. --verbose prints the kernels of the\nother steps on the host. The exit status"
        " is 0 if --known lists all failures.",
    .examples =
        "  tenon suite cases --known known.txt\n"
        "  tenon suite cases --filter '*test_conv*' --verbose\n",
    .run = suite_command,
};
