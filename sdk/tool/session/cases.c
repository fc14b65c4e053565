/* See cases.h. */
#include "session/cases.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "data/file.h"
#include "text/console.h"
#include "text/memory.h"

enum { DEPTH_LIMIT = 12 };

typedef struct finding_t {
  const char* root;
  const char* filter;
  tool_cases_t* cases;
} finding_t;

static int is_visible(const struct dirent* entry) {
  return entry->d_name[0] != '.';
}

bool tool_case_is_data_set(const char* name) {
  return strncmp(name, "test_data_set_", 14) == 0;
}

static void add_case(const finding_t* finding, const char* folder) {
  tool_cases_t* cases = finding->cases;
  const size_t root = strlen(finding->root);
  const bool is_below = strlen(folder) > root;
  const char* name = is_below ? folder + root + 1 : tool_path_base(folder);
  if (finding->filter != NULL && fnmatch(finding->filter, name, 0) != 0) {
    return;
  }
  char* copy = tool_copy_text(folder);
  cases->items = tool_grow(cases->items, &cases->capacity, cases->count + 1, sizeof(*cases->items));
  cases->items[cases->count++] =
      (tool_case_t){.folder = copy, .name = is_below ? copy + root + 1 : tool_path_base(copy)};
}

static void find_below(const finding_t* finding, const char* folder, uint32_t depth) {
  struct dirent** entries = NULL;
  const int count = depth < DEPTH_LIMIT ? scandir(folder, &entries, is_visible, alphasort) : 0;
  char* model = tool_format("%s/model.onnx", folder);
  const bool has_model = tool_file_exists(model);
  bool has_data = false;
  for (int i = 0; i < count; ++i) {
    char* path = tool_format("%s/%s", folder, entries[i]->d_name);
    if (tool_case_is_data_set(entries[i]->d_name)) {
      has_data = true;
    } else if (tool_folder_exists(path)) {
      find_below(finding, path, depth + 1);
    }
    tool_free(path);
    free(entries[i]);
  }
  free(entries);
  tool_free(model);
  if (has_model && has_data) {
    add_case(finding, folder);
  }
}

static int compare_names(const void* a, const void* b) {
  return strcmp(((const tool_case_t*)a)->name, ((const tool_case_t*)b)->name);
}

void tool_cases_find(const char* root, const char* filter, tool_cases_t* out_cases) {
  tool_cases_t cases = {0};
  char* folder = tool_path_copy_trimmed(root);
  const finding_t finding = {folder, filter, &cases};
  find_below(&finding, folder, 0);
  tool_free(folder);
  if (cases.count > 0) {
    qsort(cases.items, cases.count, sizeof(*cases.items), compare_names);
  }
  *out_cases = cases;
}

void tool_cases_free(tool_cases_t* cases) {
  for (size_t i = 0; i < cases->count; ++i) {
    tool_free(cases->items[i].folder);
    tool_free(cases->items[i].message);
    tool_free(cases->items[i].inputs);
    tool_free(cases->items[i].host_kernels);
  }
  tool_free(cases->items);
  *cases = (tool_cases_t){0};
}

/* ---- Known failures ---- */

static tenon_status_t add_known(const char* path, uint32_t line_number, const char* line,
                                tool_known_list_t* known) {
  const bool may_pass = line[0] == '~';
  line += may_pass ? 1 : 0;
  const size_t length = strcspn(line, " \t");
  const char* reason = line + length + strspn(line + length, " \t");
  if (line[0] == '#' || line[strspn(line, " \t")] == '\0') {
    return TENON_OK;
  }
  if (length == 0 || reason[0] == '\0') {
    return tool_fail(TENON_ERROR_INVALID_DATA, "%s:%u: a line is a pattern, a space and a reason",
                     path, line_number);
  }
  known->items = tool_grow(known->items, &known->capacity, known->count + 1, sizeof(*known->items));
  known->items[known->count++] = (tool_known_t){.pattern = tool_copy_bytes(line, length),
                                                .reason = tool_copy_text(reason),
                                                .may_pass = may_pass};
  return TENON_OK;
}

tenon_status_t tool_known_read(const char* path, tool_known_list_t* out_known) {
  uint8_t* text = NULL;
  size_t size = 0;
  tool_known_list_t known = {0};
  tenon_status_t status = tool_file_read(path, &text, &size);
  uint32_t number = 1;
  for (char* line = (char*)text; status == TENON_OK && *line != '\0'; ++number) {
    const size_t length = strcspn(line, "\n");
    char* next = line + length + (line[length] == '\n' ? 1 : 0);
    line[length] = '\0';
    status = add_known(path, number, line, &known);
    line = next;
  }
  tool_free(text);
  if (status != TENON_OK) {
    tool_known_free(&known);
    return status;
  }
  *out_known = known;
  return TENON_OK;
}

void tool_known_free(tool_known_list_t* known) {
  for (size_t i = 0; i < known->count; ++i) {
    tool_free(known->items[i].pattern);
    tool_free(known->items[i].reason);
  }
  tool_free(known->items);
  *known = (tool_known_list_t){0};
}

tool_known_t* tool_known_find(const tool_known_list_t* known, const char* name) {
  for (size_t i = 0; i < known->count; ++i) {
    if (fnmatch(known->items[i].pattern, name, 0) == 0) {
      return &known->items[i];
    }
  }
  return NULL;
}
