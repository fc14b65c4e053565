/* tenon suite: all cases of a folder, each in a process of its own. */
#include <dirent.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/commands.h"
#include "data/file.h"
#include "session/cases.h"
#include "session/children.h"
#include "session/common.h"
#include "session/session.h"
#include "text/console.h"
#include "text/interrupt.h"
#include "text/json.h"
#include "text/memory.h"

/* Inputs that a build may want to know hold axes, extents, scales: they are short. */
enum { CONSTANT_ELEMENTS = 64 };

typedef struct suite_t {
  tool_common_t common;
  tool_building_t building;
  const char* known_path;
  const char* filter;
  uint32_t at_least;
  uint32_t jobs;
  double timeout;
  double rtol;
  double atol;
  bool no_constants;
  const char* root;
  tool_cases_t cases;
  tool_known_list_t known;
  size_t done_count;
} suite_t;

#define FIELD(name) offsetof(suite_t, name)

static const tool_option_t options[] = {
    {"--known", NULL, "FILE", TOOL_OPTION_TEXT, FIELD(known_path), 0,
     "failures that are known: lines of a pattern (* and ?) and a reason; ~ before a pattern: may "
     "also pass"},
    {"--at-least", NULL, "N", TOOL_OPTION_COUNT, FIELD(at_least), 0,
     "fail when fewer cases pass, for instance because they are skipped now"},
    {"--filter", NULL, "PATTERN", TOOL_OPTION_TEXT, FIELD(filter), 0,
     "only cases whose name matches, such as '*test_conv_*'"},
    {"--no-input-constants", NULL, NULL, TOOL_OPTION_FLAG, FIELD(no_constants), 0,
     "what cannot be built without the value of an input is skipped, not built again with it"},
    {"--jobs", "j", "N", TOOL_OPTION_POSITIVE, FIELD(jobs), 0,
     "cases at a time; default: this machine's processors"},
    {"--timeout", NULL, "S", TOOL_OPTION_NUMBER, FIELD(timeout), 0,
     "seconds for one case, 0 for no limit; default 120"},
    {"--rtol", NULL, "X", TOOL_OPTION_NUMBER, FIELD(rtol), 0, "relative tolerance; default 1e-3"},
    {"--atol", NULL, "X", TOOL_OPTION_NUMBER, FIELD(atol), 0,
     "absolute tolerance; default 1e-4 times the standard deviation of the recorded output"},
};

/* ---- One case, in a child ---- */

typedef struct attempt_t {
  const suite_t* suite;
  tenon_registry_t* registry;
  const char* model;
  const char* data_set;
  bool was_opened; /* built and loaded */
  bool is_equal;
  char* words;
  size_t words_size;
} attempt_t;

/* The child ends soon, and its memory goes with it. */
static tenon_status_t compare_session(attempt_t* attempt, tool_session_t* session,
                                      const tool_feed_t* feed) {
  const tool_tolerance_t tolerance = {attempt->suite->rtol, attempt->suite->atol};
  tool_verdicts_t verdicts;
  tenon_status_t status = tool_execution_feed(&session->execution, feed, NULL);
  if (status == TENON_OK) {
    status = tenon_context_run(session->execution.context);
  }
  if (status == TENON_OK) {
    status =
        tool_execution_compare(&session->execution, attempt->data_set, &tolerance, 0, &verdicts);
  }
  attempt->is_equal = true;
  for (size_t i = 0; status == TENON_OK && i < verdicts.count && attempt->is_equal; ++i) {
    if (!verdicts.items[i].difference.equal) {
      attempt->is_equal = false;
      (void)snprintf(attempt->words, attempt->words_size, "output '%s' %s", verdicts.items[i].name,
                     verdicts.items[i].difference.reason);
    }
  }
  return status;
}

static tenon_status_t try_building(attempt_t* attempt, const tool_building_t* building) {
  const tool_feeding_t feeding = {0};
  tool_feed_t feed;
  tool_session_t session;
  attempt->was_opened = false;
  tenon_status_t status = tool_feed_load(&feeding, attempt->data_set, &building->constants, &feed);
  if (status != TENON_OK) {
    return status;
  }
  status = tool_session_open(attempt->registry, attempt->model, building, &feed, &session);
  if (status == TENON_OK) {
    attempt->was_opened = true;
    status = compare_session(attempt, &session, &feed);
    tool_session_close(&session);
  }
  tool_feed_free(&feed);
  return status;
}

/* Short tensors whose file says which input they are, as NAME=FILE. */
static void find_candidates(const attempt_t* attempt, tool_list_t* candidates) {
  const tool_feeding_t feeding = {0};
  const tool_constants_t none = {0};
  tool_feed_t feed;
  if (tool_feed_load(&feeding, attempt->data_set, &none, &feed) != TENON_OK) {
    return;
  }
  for (size_t i = 0; i < feed.count; ++i) {
    const tool_feed_item_t* item = &feed.items[i];
    const bool is_short =
        item->has_shape &&
        (item->rank == 0 || (item->rank == 1 && item->dims[0] <= CONSTANT_ELEMENTS));
    if (is_short && item->own_name != NULL && item->own_name[0] != '\0') {
      tool_list_add(candidates, tool_format("%s=%s", item->own_name, item->path));
    }
  }
  tool_feed_free(&feed);
}

/* Builds with the values of these inputs; on success says so. */
static tenon_status_t try_constants(attempt_t* attempt, const char* const* texts, size_t count) {
  tool_building_t building = attempt->suite->building;
  const tool_list_t list = {(const char**)texts, count, count};
  building.constants = (tool_constants_t){0};
  tenon_status_t status = tool_constants_add(&list, &building.constants);
  if (status == TENON_OK) {
    status = try_building(attempt, &building);
  }
  if (status == TENON_OK && attempt->is_equal) {
    size_t used = 0;
    for (size_t i = 0; i < count && used < attempt->words_size; ++i) {
      used += (size_t)snprintf(attempt->words + used, attempt->words_size - used, "%s%s",
                               i == 0 ? "" : ", ", building.constants.items[i].input);
    }
  }
  tool_constants_free(&building.constants);
  return status;
}

/* As the case is. Where it cannot be built: with the recorded value of one short input, then of all
 * of them, as --input-constant gives them. The first attempt's words are those that count. */
static tenon_status_t run_data_set(attempt_t* attempt) {
  const tenon_status_t status = try_building(attempt, &attempt->suite->building);
  const bool is_refused = status == TENON_ERROR_UNSUPPORTED || status == TENON_ERROR_INVALID_DATA;
  if (attempt->was_opened || !is_refused || attempt->suite->no_constants) {
    return status;
  }
  char* words = tool_copy_text(tool_console_last_error());
  tool_list_t texts = {0};
  tenon_status_t again = status;
  find_candidates(attempt, &texts);
  for (size_t i = 0; i < texts.count && again != TENON_OK; ++i) {
    again = try_constants(attempt, &texts.items[i], 1);
  }
  if (texts.count > 1 && again != TENON_OK) {
    again = try_constants(attempt, texts.items, texts.count);
  }
  if (again != TENON_OK) {
    tool_console_forget_error();
    (void)tool_fail(status, "%s", words);
  }
  tool_free(words);
  return again == TENON_OK ? TENON_OK : status;
}

static int is_data_set(const struct dirent* entry) {
  return tool_case_is_data_set(entry->d_name) ? 1 : 0;
}

static char run_case(void* user, size_t index, char* out_words, size_t size) {
  const suite_t* suite = user;
  const tool_case_t* c = &suite->cases.items[index];
  struct dirent** entries = NULL;
  attempt_t attempt = {.suite = suite, .is_equal = true, .words = out_words, .words_size = size};
  tool_console_silence(true);
  char* model = tool_format("%s/model.onnx", c->folder);
  attempt.model = model;
  const int count = scandir(c->folder, &entries, is_data_set, alphasort);
  tenon_status_t status = count > 0 ? tool_common_begin(&suite->common, &attempt.registry)
                                    : tool_fail(TENON_ERROR_IO, "its data sets cannot be listed");
  for (int i = 0; i < count && status == TENON_OK && attempt.is_equal; ++i) {
    attempt.data_set = tool_format("%s/%s", c->folder, entries[i]->d_name);
    status = run_data_set(&attempt);
  }
  if (status != TENON_OK) {
    const char* words = tool_console_last_error();
    const size_t prefix = strlen(model);
    /* The case's name says which file it is. */
    words += strncmp(words, model, prefix) == 0 && words[prefix] == ':' ? prefix + 2 : 0;
    (void)snprintf(out_words, size, "%s", words[0] != '\0' ? words : tenon_status_text(status));
    return status == TENON_ERROR_UNSUPPORTED ? TOOL_CASE_SKIPPED : TOOL_CASE_FAILED;
  }
  return (char)(attempt.is_equal ? TOOL_CASE_PASSED : TOOL_CASE_FAILED);
}

/* ---- Results ---- */

/* One line for one case: line ends and what indents the next line become one space. */
static char* copy_as_line(const char* words) {
  char* line = tool_copy_text(words);
  char* to = line;
  for (const char* from = words; *from != '\0'; ++from) {
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
  suite_t* suite = user;
  tool_case_t* c = &suite->cases.items[index];
  c->result = (char)(result->code == '!' ? TOOL_CASE_FAILED : result->code);
  c->words = copy_as_line(result->words);
  c->seconds = result->seconds;
  ++suite->done_count;
  tool_progress(c->name, suite->done_count, suite->cases.count);
}

static const char* result_text(const tool_case_t* c) {
  return c->result == TOOL_CASE_PASSED    ? "passed"
         : c->result == TOOL_CASE_SKIPPED ? "skipped"
                                          : "failed";
}

static void print_case(const suite_t* suite, const tool_case_t* c, const tool_known_t* known) {
  const bool passed = c->result == TOOL_CASE_PASSED;
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_text(&json, "case", c->name);
    tool_json_text(&json, "result", result_text(c));
    tool_json_bool(&json, "known", c->is_known);
    tool_json_text(&json, "reason", passed ? "" : c->words);
    tool_json_text(&json, "input_constants", passed ? c->words : "");
    tool_json_number(&json, "seconds", c->seconds);
    tool_json_end(&json);
  } else if (!passed) {
    tool_say("%s %s: %s%s%s%s\n", c->result == TOOL_CASE_SKIPPED ? "skipped" : "FAILED ", c->name,
             c->words, known != NULL ? " [known: " : "", known != NULL ? known->reason : "",
             known != NULL ? "]" : "");
  } else if (suite->common.verbose > 0) {
    tool_say("passed  %s (%.2f s)%s%s\n", c->name, c->seconds,
             c->words[0] != '\0' ? ", built with the value of " : "", c->words);
  }
}

/* One case against what is known of it. False: it is not as known. */
static bool judge_case(const suite_t* suite, tool_case_t* c) {
  tool_known_t* known = tool_known_find(&suite->known, c->name);
  if (known != NULL) {
    ++known->match_count;
    c->is_known = c->result == TOOL_CASE_FAILED;
  }
  print_case(suite, c, c->is_known ? known : NULL);
  if (known != NULL && c->result == TOOL_CASE_PASSED && !known->may_pass) {
    tool_warn("unexpected pass: %s is known to fail (%s)", c->name, known->reason);
    return false;
  }
  return c->result != TOOL_CASE_FAILED || c->is_known;
}

static bool patterns_match(const suite_t* suite) {
  bool all = true;
  for (size_t i = 0; i < suite->known.count && suite->filter == NULL; ++i) {
    if (suite->known.items[i].match_count == 0) {
      tool_warn("'%s' in %s names no case", suite->known.items[i].pattern, suite->known_path);
      all = false;
    }
  }
  return all;
}

/* Prints everything; true when the failures are those that are known. */
static bool conclude(const suite_t* suite) {
  size_t counts[3] = {0, 0, 0};
  size_t constants = 0;
  bool as_known = true;
  for (size_t i = 0; i < suite->cases.count; ++i) {
    tool_case_t* c = &suite->cases.items[i];
    const bool passed = c->result == TOOL_CASE_PASSED;
    as_known = judge_case(suite, c) && as_known;
    ++counts[passed ? 0 : c->result == TOOL_CASE_FAILED ? 1 : 2];
    constants += passed && c->words[0] != '\0' ? 1 : 0;
  }
  as_known = patterns_match(suite) && as_known;
  if (counts[0] < suite->at_least) {
    tool_warn("only %zu cases passed, at least %u should", counts[0], suite->at_least);
    as_known = false;
  }
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_unsigned(&json, "passed", counts[0]);
    tool_json_unsigned(&json, "failed", counts[1]);
    tool_json_unsigned(&json, "skipped", counts[2]);
    tool_json_unsigned(&json, "passed_with_input_constants", constants);
    tool_json_end(&json);
  }
  if (constants > 0) {
    tool_say(
        "%zu of those that passed were built with the recorded value of an input "
        "(--verbose names them)\n",
        constants);
  }
  tool_say("%zu passed, %zu failed, %zu skipped\n", counts[0], counts[1], counts[2]);
  return as_known;
}

static int run_suite(suite_t* suite) {
  tool_console_configure(suite->common.json, suite->common.verbose);
  if (!tool_folder_exists(suite->root)) {
    return tool_exit_status(
        tool_fail(TENON_ERROR_NOT_FOUND, "%s: there is no such folder", suite->root));
  }
  tenon_status_t status = tool_building_prepare(&suite->building);
  if (status == TENON_OK && suite->known_path != NULL) {
    status = tool_known_read(suite->known_path, &suite->known);
  }
  if (status != TENON_OK) {
    return tool_exit_status(status);
  }
  tool_cases_find(suite->root, suite->filter, &suite->cases);
  if (suite->cases.count == 0) {
    return tool_exit_status(tool_fail(
        TENON_ERROR_NOT_FOUND, "%s: no case (a folder with model.onnx and test_data_set_*)%s",
        suite->root, suite->filter != NULL ? " matches" : ""));
  }
  if (!tool_children_run(suite->cases.count, suite->jobs, suite->timeout, run_case, on_done,
                         suite)) {
    return tool_exit_status(tool_interrupted()
                                ? TENON_ERROR_CANCELLED
                                : tool_fail(TENON_ERROR_IO, "a child process cannot be made"));
  }
  tool_progress_end();
  return conclude(suite) ? TOOL_EXIT_OK : TOOL_EXIT_DIFFERENT;
}

static int suite_command(int argc, char** argv) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  suite_t suite = {.rtol = -1,
                   .atol = -1,
                   .timeout = 120,
                   .jobs = processors > 0 ? (uint32_t)processors : 1,
                   .building = {.threads = 1, .no_cache = true, .no_timing_cache = true}};
  tool_arguments_t arguments = {0};
  int exit_status = TOOL_EXIT_OK;
  const tool_option_group_t groups[] = {TOOL_OPTION_GROUP("cases", options, &suite),
                                        TOOL_BUILDING_GROUP(&suite.building, false),
                                        TOOL_COMMON_GROUP(&suite.common)};
  if (tool_options_parse(&tool_command_suite, groups, 3, argc, argv, &arguments, &exit_status)) {
    suite.building.no_timing_cache = suite.building.timing_cache == NULL;
    char* root = tool_copy_text(arguments.operands.items[0]);
    for (size_t length = strlen(root); length > 1 && root[length - 1] == '/'; --length) {
      root[length - 1] = '\0';
    }
    suite.root = root;
    exit_status = run_suite(&suite);
    tool_free(root);
  }
  tool_cases_free(&suite.cases);
  tool_known_free(&suite.known);
  tool_building_free(&suite.building);
  tool_list_free(&suite.common.plugins);
  tool_arguments_free(&arguments);
  return exit_status;
}

const tool_command_t tool_command_suite = {
    .name = "suite",
    .operands = "DIR",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "runs every recorded case below a folder and counts what passes",
    .description =
        "A case is a folder with model.onnx and test_data_set_*. Each runs in a process of its "
        "own, so that a crash\nor a hang is that case's failure. What nobody here can do is "
        "skipped, with the reason. What can only be built\nwhen the value of an input is known "
        "(the axes of a reduction, say) is built again with the recorded value,\nas "
        "--input-constant gives it, and counted. The last line is\n`N passed, N failed, N "
        "skipped`; "
        "the exit status is 0 when the failures are those of --known.",
    .examples =
        "  tenon suite cases --known known.txt\n"
        "  tenon suite cases --filter '*test_conv*' --verbose\n",
    .run = suite_command,
};
