/* tenon suite: all cases of a folder, each in a process of its own. */
#include <dirent.h>
#include <fnmatch.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/commands.h"
#include "data/file.h"
#include "session/children.h"
#include "session/common.h"
#include "session/session.h"
#include "text/console.h"
#include "text/json.h"
#include "text/memory.h"

enum { DEPTH_LIMIT = 12 };

/* How a case ended; the children say so with these letters. */
enum { PASSED = 'p', FAILED = 'f', SKIPPED = 's' };

typedef struct case_t {
  char* folder;
  const char* name; /* the folder below the suite's */
  char result;
  char* reason;
  bool expected; /* a failure that is known */
  double seconds;
} case_t;

typedef struct known_t {
  char* pattern;
  char* reason;
  uint32_t passed;
  uint32_t failed;
} known_t;

typedef struct suite_t {
  tool_common_t common;
  tool_building_t building;
  const char* known_path;
  const char* filter;
  uint32_t jobs;
  double timeout;
  double rtol;
  double atol;
  const char* root;
  case_t* cases;
  size_t case_count;
  size_t case_capacity;
  known_t* known;
  size_t known_count;
  size_t done_count;
} suite_t;

#define FIELD(name) offsetof(suite_t, name)

static const tool_option_t options[] = {
    {"--known", NULL, "FILE", TOOL_OPTION_TEXT, FIELD(known_path),
     "failures that are known: lines of a pattern (* and ?) and a reason"},
    {"--filter", NULL, "PATTERN", TOOL_OPTION_TEXT, FIELD(filter),
     "only cases whose name matches, such as '*test_conv_*'"},
    {"--jobs", "j", "N", TOOL_OPTION_POSITIVE, FIELD(jobs),
     "cases at a time; default: this machine's processors"},
    {"--timeout", NULL, "S", TOOL_OPTION_NUMBER, FIELD(timeout),
     "seconds for one case; default 120"},
    {"--rtol", NULL, "X", TOOL_OPTION_NUMBER, FIELD(rtol), "relative tolerance; default 1e-3"},
    {"--atol", NULL, "X", TOOL_OPTION_NUMBER, FIELD(atol),
     "absolute tolerance; default 1e-4 times the standard deviation of the recorded output"},
};

/* ---- Finding cases ---- */

static int is_visible(const struct dirent* entry) {
  return entry->d_name[0] != '.';
}

static bool is_data_set(const char* name) {
  return strncmp(name, "test_data_set_", 14) == 0;
}

static void find_cases(suite_t* suite, const char* folder, uint32_t depth) {
  struct dirent** entries = NULL;
  const int count = depth < DEPTH_LIMIT ? scandir(folder, &entries, is_visible, alphasort) : 0;
  char* model = tool_format("%s/model.onnx", folder);
  const bool has_model = tool_file_exists(model);
  bool has_data = false;
  for (int i = 0; i < count; ++i) {
    char* path = tool_format("%s/%s", folder, entries[i]->d_name);
    if (is_data_set(entries[i]->d_name)) {
      has_data = true;
    } else if (tool_folder_exists(path)) {
      find_cases(suite, path, depth + 1);
    }
    tool_free(path);
    free(entries[i]);
  }
  free(entries);
  tool_free(model);
  if (!has_model || !has_data) {
    return;
  }
  char* copy = tool_copy_text(folder);
  const size_t root = strlen(suite->root);
  const char* name = strlen(folder) > root ? copy + root + 1 : tool_path_base(copy);
  if (suite->filter != NULL && fnmatch(suite->filter, name, 0) != 0) {
    tool_free(copy);
    return;
  }
  suite->cases =
      tool_grow(suite->cases, &suite->case_capacity, suite->case_count + 1, sizeof(*suite->cases));
  suite->cases[suite->case_count++] = (case_t){.folder = copy, .name = name};
}

static int compare_names(const void* a, const void* b) {
  return strcmp(((const case_t*)a)->name, ((const case_t*)b)->name);
}

/* ---- Known failures ---- */

static tenon_status_t read_known(suite_t* suite) {
  uint8_t* text = NULL;
  size_t size = 0;
  size_t capacity = 0;
  if (suite->known_path == NULL) {
    return TENON_OK;
  }
  const tenon_status_t status = tool_file_read(suite->known_path, &text, &size);
  for (char* line = (char*)text; status == TENON_OK && *line != '\0';) {
    const size_t length = strcspn(line, "\n");
    char* next = line + length + (line[length] == '\n' ? 1 : 0);
    line[length] = '\0';
    const size_t pattern = strcspn(line, " \t");
    if (line[0] != '#' && pattern > 0) {
      const char* reason = line + pattern + strspn(line + pattern, " \t");
      suite->known =
          tool_grow(suite->known, &capacity, suite->known_count + 1, sizeof(*suite->known));
      suite->known[suite->known_count++] =
          (known_t){.pattern = tool_copy_bytes(line, pattern), .reason = tool_copy_text(reason)};
    }
    line = next;
  }
  tool_free(text);
  return status;
}

static known_t* find_known(const suite_t* suite, const char* name) {
  for (size_t i = 0; i < suite->known_count; ++i) {
    if (fnmatch(suite->known[i].pattern, name, 0) == 0) {
      return &suite->known[i];
    }
  }
  return NULL;
}

/* ---- One case, in a child ---- */

static tenon_status_t run_data_set(const suite_t* suite, tenon_registry_t* registry,
                                   const char* model, const char* data_set, char* out_words,
                                   size_t size, bool* out_equal) {
  const tool_feeding_t feeding = {0};
  const tool_tolerance_t tolerance = {suite->rtol, suite->atol};
  tool_feed_t feed;
  tool_session_t session;
  tool_verdicts_t verdicts;
  tenon_status_t status = tool_feed_load(&feeding, data_set, &feed);
  if (status != TENON_OK) {
    return status;
  }
  status = tool_session_open(registry, model, &suite->building, &feed, &session);
  if (status == TENON_OK) {
    status = tool_execution_feed(&session.execution, &feed, NULL);
  }
  if (status == TENON_OK) {
    status = tenon_context_run(session.execution.context);
  }
  if (status == TENON_OK) {
    status = tool_execution_compare(&session.execution, data_set, &tolerance, 0, &verdicts);
  }
  for (size_t i = 0; status == TENON_OK && i < verdicts.count && *out_equal; ++i) {
    if (!verdicts.items[i].difference.equal) {
      *out_equal = false;
      (void)snprintf(out_words, size, "output '%s' %s", verdicts.items[i].name,
                     verdicts.items[i].difference.reason);
    }
  }
  return status; /* the child ends: its memory goes with it */
}

static char run_case(void* user, size_t index, char* out_words, size_t size) {
  const suite_t* suite = user;
  const case_t* c = &suite->cases[index];
  tenon_registry_t* registry = NULL;
  struct dirent** entries = NULL;
  bool equal = true;
  tool_console_silence(true);
  char* model = tool_format("%s/model.onnx", c->folder);
  const int count = scandir(c->folder, &entries, is_visible, alphasort);
  tenon_status_t status = tool_common_begin(&suite->common, &registry);
  for (int i = 0; i < count && status == TENON_OK && equal; ++i) {
    if (is_data_set(entries[i]->d_name)) {
      char* data_set = tool_format("%s/%s", c->folder, entries[i]->d_name);
      status = run_data_set(suite, registry, model, data_set, out_words, size, &equal);
    }
  }
  if (status != TENON_OK) {
    const char* words = tool_console_last_error();
    const size_t prefix = strlen(model);
    /* The case's name says which file it is. */
    words += strncmp(words, model, prefix) == 0 && words[prefix] == ':' ? prefix + 2 : 0;
    (void)snprintf(out_words, size, "%s", words[0] != '\0' ? words : tenon_status_text(status));
    return status == TENON_ERROR_UNSUPPORTED ? SKIPPED : FAILED;
  }
  return (char)(equal ? PASSED : FAILED);
}

/* ---- Results ---- */

static void on_done(void* user, size_t index, const tool_job_result_t* result) {
  suite_t* suite = user;
  case_t* c = &suite->cases[index];
  c->result = (char)(result->code == '!' ? FAILED : result->code);
  c->reason = tool_copy_text(result->words);
  c->seconds = result->seconds;
  known_t* known = find_known(suite, c->name);
  if (known != NULL) {
    known->passed += c->result == PASSED ? 1 : 0;
    known->failed += c->result == FAILED ? 1 : 0;
    c->expected = c->result == FAILED;
  }
  ++suite->done_count;
  tool_progress(c->name, suite->done_count, suite->case_count);
}

static const char* result_text(const case_t* c) {
  return c->result == PASSED ? "passed" : c->result == SKIPPED ? "skipped" : "failed";
}

static void print_case(const suite_t* suite, const case_t* c) {
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_text(&json, "case", c->name);
    tool_json_text(&json, "result", result_text(c));
    tool_json_bool(&json, "known", c->expected);
    tool_json_text(&json, "reason", c->reason);
    tool_json_number(&json, "seconds", c->seconds);
    tool_json_end(&json);
  } else if (c->result != PASSED) {
    const known_t* known = c->expected ? find_known(suite, c->name) : NULL;
    tool_say("%s %s: %s%s%s%s\n", c->result == SKIPPED ? "skipped" : "FAILED ", c->name, c->reason,
             known != NULL ? " [known: " : "", known != NULL ? known->reason : "",
             known != NULL ? "]" : "");
  } else if (suite->common.verbose > 0) {
    tool_say("passed  %s (%.2f s)\n", c->name, c->seconds);
  }
}

/* Prints everything; true when the failures are those that are known. */
static bool conclude(const suite_t* suite) {
  size_t counts[3] = {0, 0, 0};
  bool as_known = true;
  for (size_t i = 0; i < suite->case_count; ++i) {
    const case_t* c = &suite->cases[i];
    print_case(suite, c);
    ++counts[c->result == PASSED ? 0 : c->result == FAILED ? 1 : 2];
    as_known = as_known && (c->result != FAILED || c->expected);
  }
  for (size_t i = 0; i < suite->known_count; ++i) {
    if (suite->known[i].passed > 0 && suite->known[i].failed == 0) {
      tool_warn("unexpected pass: '%s' is known to fail (%s)", suite->known[i].pattern,
                suite->known[i].reason);
      as_known = false;
    }
  }
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_unsigned(&json, "passed", counts[0]);
    tool_json_unsigned(&json, "failed", counts[1]);
    tool_json_unsigned(&json, "skipped", counts[2]);
    tool_json_end(&json);
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
  if (status == TENON_OK) {
    status = read_known(suite);
  }
  if (status != TENON_OK) {
    return tool_exit_status(status);
  }
  find_cases(suite, suite->root, 0);
  if (suite->case_count == 0) {
    return tool_exit_status(tool_fail(
        TENON_ERROR_NOT_FOUND, "%s: no case (a folder with model.onnx and test_data_set_*)%s",
        suite->root, suite->filter != NULL ? " matches" : ""));
  }
  qsort(suite->cases, suite->case_count, sizeof(*suite->cases), compare_names);
  if (!tool_children_run(suite->case_count, suite->jobs, suite->timeout, run_case, on_done,
                         suite)) {
    return tool_console_interrupted()
               ? TOOL_EXIT_CANCELLED
               : tool_exit_status(tool_fail(TENON_ERROR_IO, "a child process cannot be made"));
  }
  tool_progress_end();
  return conclude(suite) ? TOOL_EXIT_OK : TOOL_EXIT_DIFFERENT;
}

static void free_suite(suite_t* suite) {
  for (size_t i = 0; i < suite->case_count; ++i) {
    tool_free(suite->cases[i].folder);
    tool_free(suite->cases[i].reason);
  }
  for (size_t i = 0; i < suite->known_count; ++i) {
    tool_free(suite->known[i].pattern);
    tool_free(suite->known[i].reason);
  }
  tool_free(suite->cases);
  tool_free(suite->known);
  tool_building_free(&suite->building);
  tool_list_free(&suite->common.plugins);
}

static int suite_command(int argc, char** argv) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  suite_t suite = {.rtol = -1,
                   .atol = -1,
                   .timeout = 120,
                   .jobs = processors > 0 ? (uint32_t)processors : 1,
                   .building = {.threads = 1, .no_cache = true, .no_timing_cache = true}};
  tool_list_t operands = {0};
  int exit_status = TOOL_EXIT_OK;
  const tool_option_group_t groups[] = {TOOL_OPTION_GROUP("cases", options, &suite),
                                        TOOL_BUILDING_GROUP(&suite.building),
                                        TOOL_COMMON_GROUP(&suite.common)};
  if (tool_options_parse(&tool_command_suite, groups, 3, argc, argv, &operands, &exit_status)) {
    char* root = tool_copy_text(operands.items[0]);
    for (size_t length = strlen(root); length > 1 && root[length - 1] == '/'; --length) {
      root[length - 1] = '\0';
    }
    suite.root = root;
    exit_status = run_suite(&suite);
    tool_free(root);
  }
  free_suite(&suite);
  tool_list_free(&operands);
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
        "own, so "
        "that a crash\nor a hang is that case's failure. What nobody here can do is skipped, with "
        "the "
        "reason. The last line is\n`N passed, N failed, N skipped`; the exit status is 0 when the "
        "failures are those of --known.",
    .examples =
        "  tenon suite onnx/backend/test/data/node --known known.txt\n"
        "  tenon suite cases --filter '*test_conv*' --verbose\n",
    .run = suite_command,
};
