/* One case of a suite, in a process of its own: as it is, and with the values of inputs given when
 * it is built. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "command/suite.h"
#include "session/session.h"
#include "text/console.h"
#include "text/memory.h"

/* Inputs that a build may want to know hold axes, extents, scales: they are short. */
enum { CONSTANT_ELEMENTS = 64, MESSAGE_SIZE = 512 };

typedef struct attempt_t {
  tool_suite_t* suite;
  const char* model;
  const char* data_set;
  bool was_opened; /* built and loaded */
  bool is_equal;
  char difference[MESSAGE_SIZE];
  char inputs[MESSAGE_SIZE]; /* whose values were given when it was built */
  char host_kernels[MESSAGE_SIZE];
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
  if (status == TENON_OK && attempt->suite->task.building.device != NULL) {
    status = tool_suite_list_host(&session->execution, attempt->host_kernels,
                                  sizeof(attempt->host_kernels));
  }
  if (status == TENON_OK) {
    status =
        tool_execution_compare(&session->execution, attempt->data_set, &tolerance, 0, &verdicts);
  }
  attempt->is_equal = true;
  if (status == TENON_OK) {
    for (size_t i = 0; i < verdicts.count && attempt->is_equal; ++i) {
      if (!verdicts.items[i].difference.equal) {
        attempt->is_equal = false;
        (void)snprintf(attempt->difference, sizeof(attempt->difference), "output '%s' %s",
                       verdicts.items[i].name, verdicts.items[i].difference.reason);
      }
    }
  }
  return status;
}

static void close_last(tool_suite_t* suite) {
  if (suite->last != NULL) {
    tool_session_close(suite->last);
    tool_free(suite->last);
    suite->last = NULL;
  }
}

static tenon_status_t try_building(attempt_t* attempt, const tool_building_t* building) {
  const tool_feeding_t feeding = {0};
  tool_feed_t feed;
  tool_session_t* session = tool_allocate(1, sizeof(*session));
  attempt->was_opened = false;
  tenon_status_t status = tool_feed_load(&feeding, attempt->data_set, &building->constants, &feed);
  if (status != TENON_OK) {
    tool_free(session);
    return status;
  }
  status = tool_session_open(attempt->suite->task.registry, attempt->model, building, &feed,
                             TENON_VERIFY_NONE, session);
  if (status == TENON_OK) {
    attempt->was_opened = true;
    status = compare_session(attempt, session, &feed);
    close_last(attempt->suite);
    attempt->suite->last = session;
  } else {
    tool_free(session);
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
  tool_building_t building = attempt->suite->task.building;
  const tool_list_t list = {(const char**)texts, count, count};
  building.constants = (tool_constants_t){0};
  tenon_status_t status = tool_constants_add(&list, &building.constants);
  if (status == TENON_OK) {
    status = try_building(attempt, &building);
  }
  if (status == TENON_OK && attempt->is_equal) {
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof(attempt->inputs); ++i) {
      used += (size_t)snprintf(attempt->inputs + used, sizeof(attempt->inputs) - used, "%s%s",
                               i == 0 ? "" : ", ", building.constants.items[i].input);
    }
  }
  tool_constants_free(&building.constants);
  return status;
}

static bool is_refusal(const attempt_t* attempt, tenon_status_t status) {
  return !attempt->was_opened &&
         (status == TENON_ERROR_UNSUPPORTED || status == TENON_ERROR_INVALID_DATA);
}

/* As the case is. Where it cannot be built: with the recorded value of one short input, then of all
 * of them, as --input-constant gives them. The first attempt's words are those that count. */
static tenon_status_t run_data_set(attempt_t* attempt, bool with_constants) {
  const tenon_status_t status = try_building(attempt, &attempt->suite->task.building);
  if (!with_constants || !is_refusal(attempt, status)) {
    return status;
  }
  char* message = tool_copy_text(tool_console_last_error());
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
    (void)tool_fail(status, "%s", message);
  }
  tool_free(message);
  return again == TENON_OK ? TENON_OK : status;
}

static int is_data_set(const struct dirent* entry) {
  return tool_case_is_data_set(entry->d_name) ? 1 : 0;
}

static tenon_status_t run_data_sets(attempt_t* attempt, const char* folder, bool with_constants) {
  struct dirent** entries = NULL;
  const int count = scandir(folder, &entries, is_data_set, alphasort);
  tenon_status_t status =
      count > 0 ? TENON_OK : tool_fail(TENON_ERROR_IO, "its data sets cannot be listed");
  attempt->is_equal = true;
  for (int i = 0; i < count; ++i) {
    attempt->data_set = tool_format("%s/%s", folder, entries[i]->d_name);
    status = run_data_set(attempt, with_constants);
    if (status != TENON_OK || !attempt->is_equal) {
      break;
    }
  }
  return status;
}

/* What was said of the model. The case's name says which file it is. */
static char* copy_message(const attempt_t* attempt, tenon_status_t status) {
  const char* message = tool_console_last_error();
  const size_t prefix = strlen(attempt->model);
  message +=
      strncmp(message, attempt->model, prefix) == 0 && message[prefix] == ':' ? prefix + 2 : 0;
  return tool_copy_text(message[0] != '\0' ? message : tenon_status_text(status));
}

char tool_suite_run_case(void* user, size_t index, char* out_message, size_t size) {
  tool_suite_t* suite = user;
  const tool_case_t* c = &suite->cases.items[index];
  attempt_t attempt = {.suite = suite, .is_equal = true};
  char result = TOOL_CASE_PASSED;
  char* message = NULL;
  tool_console_silence(true);
  char* model = tool_format("%s/model.onnx", c->folder);
  attempt.model = model;
  tool_console_forget_error();
  tenon_status_t status = suite->task.registry != NULL
                              ? TENON_OK
                              : tool_common_begin(&suite->task.common, &suite->task.registry);
  if (status == TENON_OK) {
    status = run_data_sets(&attempt, c->folder, !suite->no_constants);
  }
  if (status != TENON_OK) {
    result = status == TENON_ERROR_UNSUPPORTED ? TOOL_CASE_SKIPPED : TOOL_CASE_FAILED;
    message = copy_message(&attempt, status);
  } else if (!attempt.is_equal) {
    result = TOOL_CASE_FAILED;
    message = tool_copy_text(attempt.difference);
  }
  if (suite->no_constants && is_refusal(&attempt, status) &&
      (run_data_sets(&attempt, c->folder, true) != TENON_OK || !attempt.is_equal)) {
    attempt.inputs[0] = '\0';
  }
  if (suite->cases_a_process < 2) {
    close_last(suite);
  }
  (void)snprintf(out_message, size, "%s\n%s\n%s", attempt.inputs, attempt.host_kernels,
                 message == NULL ? "" : message);
  return result;
}
