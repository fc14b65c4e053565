/* tenon suite --device: where the steps of the cases ran. */
#include <stdio.h>
#include <string.h>

#include "command/suite.h"
#include "text/console.h"
#include "text/json.h"
#include "text/memory.h"

/* Is `word` one of the words of the text? */
static bool has_word(const char* text, const char* word) {
  const size_t length = strlen(word);
  for (const char* at = text; *at != '\0';) {
    const size_t here = strcspn(at, " ");
    if (here == length && strncmp(at, word, length) == 0) {
      return true;
    }
    at += here + (at[here] == ' ' ? 1 : 0);
  }
  return false;
}

static void add_word(const char* word, char* inout_words, size_t size) {
  const size_t used = strlen(inout_words);
  if (!has_word(inout_words, word)) {
    (void)snprintf(inout_words + used, size - used, "%s%s", used == 0 ? "" : " ", word);
  }
}

/* Is it the host's, although it is work for a device? */
static bool is_left(const tenon_step_info_t* info, const tenon_step_work_t* work) {
  return strcmp(info->kind, "kernel") == 0 && strcmp(info->device, "cpu") == 0 &&
         (work->flags & (TENON_STEP_IS_COPY | TENON_STEP_IS_SHAPE)) == 0;
}

tenon_status_t tool_suite_list_host(const tool_execution_t* execution, char* inout_kernels,
                                    size_t size) {
  tenon_status_t status = TENON_OK;
  const uint32_t count = tenon_engine_step_count(execution->engine);
  for (uint32_t i = 0; i < count && status == TENON_OK; ++i) {
    tenon_step_info_t info = {.size = sizeof(info)};
    tenon_step_work_t work = TENON_OPTIONS(tenon_step_work_t);
    status = tenon_engine_get_step(execution->engine, i, &info);
    if (status == TENON_OK) {
      status = tenon_context_get_step_work(execution->context, i, &work);
    }
    if (status == TENON_OK && is_left(&info, &work)) {
      char* name = tool_format("%s:%s", info.plugin, info.kernel);
      add_word(name, inout_kernels, size);
      tool_free(name);
    }
  }
  return status;
}

/* ---- All cases ---- */

typedef struct tally_t {
  char* kernel;
  size_t cases;
} tally_t;

typedef struct tallies_t {
  tally_t* items;
  size_t count;
  size_t capacity;
} tallies_t;

static void count_kernel(tallies_t* tallies, const char* kernel, size_t length) {
  size_t k = 0;
  while (k < tallies->count && (strlen(tallies->items[k].kernel) != length ||
                                strncmp(tallies->items[k].kernel, kernel, length) != 0)) {
    ++k;
  }
  if (k == tallies->count) {
    tallies->items =
        tool_grow(tallies->items, &tallies->capacity, tallies->count + 1, sizeof(*tallies->items));
    tallies->items[tallies->count++] = (tally_t){.kernel = tool_copy_bytes(kernel, length)};
  }
  ++tallies->items[k].cases;
}

static void count_kernels(const tool_suite_t* suite, tallies_t* tallies) {
  for (size_t i = 0; i < suite->cases.count; ++i) {
    const tool_case_t* c = &suite->cases.items[i];
    for (const char* at = c->result == TOOL_CASE_PASSED ? c->host_kernels : ""; *at != '\0';) {
      const size_t length = strcspn(at, " ");
      count_kernel(tallies, at, length);
      at += length + (at[length] == ' ' ? 1 : 0);
    }
  }
}

static void print_kernels(const tool_suite_t* suite) {
  tallies_t tallies = {0};
  count_kernels(suite, &tallies);
  for (size_t k = 0; k < tallies.count; ++k) {
    tool_say("on the host  %s in %zu cases\n", tallies.items[k].kernel, tallies.items[k].cases);
    tool_free(tallies.items[k].kernel);
  }
  tool_free(tallies.items);
}

void tool_suite_print_devices(const tool_suite_t* suite) {
  size_t passed = 0;
  size_t whole = 0;
  if (suite->task.building.device == NULL) {
    return;
  }
  for (size_t i = 0; i < suite->cases.count; ++i) {
    const tool_case_t* c = &suite->cases.items[i];
    passed += c->result == TOOL_CASE_PASSED ? 1 : 0;
    whole += c->result == TOOL_CASE_PASSED && c->host_kernels[0] == '\0' ? 1 : 0;
  }
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_text(&json, "device", suite->task.building.device);
    tool_json_unsigned(&json, "passed", passed);
    tool_json_unsigned(&json, "every_step_there", whole);
    tool_json_end(&json);
  } else if (suite->task.common.verbose > 0) {
    print_kernels(suite);
  }
  tool_say("%s: every step of %zu of %zu cases that passed, %.1f %%\n", suite->task.building.device,
           whole, passed, passed == 0 ? 0.0 : 100.0 * (double)whole / (double)passed);
}
