/* tenon plugin new: copies a template and gives it a name. Templates are whole projects of a plugin
 * called `acme`; each "acme" in their files and in the files' names becomes the new name. */
#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/commands.h"
#include "data/file.h"
#include "session/task.h"
#include "text/console.h"
#include "text/json.h"
#include "text/memory.h"

static const char template_name[] = "acme";
enum { NAME_LIMIT = 64 };

static const char* const kinds[] = {"operator", "kernel",      "converter", "rewrite",
                                    "parser",   "cuda-kernel", "device"};
enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

typedef struct plugin_new_t {
  tool_task_t task;
  bool kinds[KIND_COUNT];
  const char* language;
  char* files; /* one a line */
} plugin_new_t;

#define FIELD(name) offsetof(plugin_new_t, name)

static const tool_option_t options[] = {
    {"--operator", NULL, NULL, TOOL_OPTION_FLAG, FIELD(kinds[0]), 0,
     "write an operator that is defined by an expression, without a kernel"},
    {"--kernel", NULL, NULL, TOOL_OPTION_FLAG, FIELD(kinds[1]), 0,
     "write an operator with a kernel for the CPU"},
    {"--converter", NULL, NULL, TOOL_OPTION_FLAG, FIELD(kinds[2]), 0,
     "write a converter for a node type of ONNX files"},
    {"--rewrite", NULL, NULL, TOOL_OPTION_FLAG, FIELD(kinds[3]), 0,
     "write a rewrite: a pattern of operators and its replacement"},
    {"--parser", NULL, NULL, TOOL_OPTION_FLAG, FIELD(kinds[4]), 0,
     "write a parser of a file format"},
    {"--cuda-kernel", NULL, NULL, TOOL_OPTION_FLAG, FIELD(kinds[5]), 0,
     "write a kernel for CUDA (this version has no template)"},
    {"--device", NULL, NULL, TOOL_OPTION_FLAG, FIELD(kinds[6]), 0,
     "write a device (this version has no template)"},
    {"--language", NULL, "LANGUAGE", TOOL_OPTION_TEXT, FIELD(language), 0,
     "write the source in c, c++ or rust (default: c)"},
};

/* The folder of the command's own installation: the parent of bin. */
static char* find_prefix(void) {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
  path[size > 0 ? size : 0] = '\0';
  for (int k = 0; k < 2; ++k) {
    char* slash = strrchr(path, '/');
    if (slash != NULL) {
      *slash = '\0';
    }
  }
  return tool_copy_text(path);
}

/* The text, which has no NUL, with the template's name replaced; freed by tool_free. */
static char* substitute(const char* text, const char* name) {
  char* result = tool_copy_text("");
  const char* found = NULL;
  while ((found = strstr(text, template_name)) != NULL) {
    tool_append(&result, "%.*s%s", (int)(found - text), text, name);
    text = found + strlen(template_name);
  }
  tool_append(&result, "%s", text);
  return result;
}

static tenon_status_t copy_file(plugin_new_t* self, const char* source, const char* target) {
  uint8_t* data = NULL;
  size_t size = 0;
  TOOL_TRY(tool_file_read(source, &data, &size));
  char* text = substitute((const char*)data, self->task.model);
  FILE* file = fopen(target, "wxe");
  bool good = file != NULL && fputs(text, file) >= 0;
  good = (file == NULL || fclose(file) == 0) && good;
  tool_free(text);
  tool_free(data);
  tool_append(&self->files, "%s\n", target);
  return good ? TENON_OK : tool_fail(TENON_ERROR_IO, "%s: %s", target, strerror(errno));
}

static tenon_status_t copy_folder(plugin_new_t* self, const char* source, const char* target) {
  struct dirent** entries = NULL;
  if (mkdir(target, 0777) != 0 && errno != EEXIST) {
    return tool_fail(TENON_ERROR_IO, "%s: %s", target, strerror(errno));
  }
  const int count = scandir(source, &entries, NULL, alphasort);
  tenon_status_t status =
      count >= 0 ? TENON_OK : tool_fail(TENON_ERROR_IO, "%s: %s", source, strerror(errno));
  for (int k = 0; k < count; ++k) {
    const char* entry = entries[k]->d_name;
    if (status == TENON_OK && strcmp(entry, ".") != 0 && strcmp(entry, "..") != 0) {
      char* name = substitute(entry, self->task.model);
      char* from = tool_format("%s/%s", source, entry);
      char* to = tool_format("%s/%s", target, name);
      status = tool_folder_exists(from) ? copy_folder(self, from, to) : copy_file(self, from, to);
      tool_free(name);
      tool_free(from);
      tool_free(to);
    }
    free(entries[k]);
  }
  free(entries);
  return status;
}

static tenon_status_t check_name(const char* name) {
  const size_t length = strlen(name);
  if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != length || name[0] < 'a' ||
      length > NAME_LIMIT) {
    return tool_misuse(
        "invalid name '%s': use up to %d lower-case letters, digits and _, beginning with a letter",
        name, NAME_LIMIT);
  }
  return TENON_OK;
}

/* Two plugins of one name exclude each other. */
static tenon_status_t check_unused(plugin_new_t* self) {
  const char* name = self->task.model;
  struct stat entry;
  if (lstat(name, &entry) == 0) {
    return tool_misuse("%s exists: choose another name or remove it", name);
  }
  TOOL_TRY(tool_common_begin(&self->task.common, &self->task.registry));
  for (uint32_t k = 0; k < tenon_registry_plugin_count(self->task.registry); ++k) {
    tenon_plugin_info_t info = {.size = offsetof(tenon_plugin_info_t, left_out)};
    TOOL_TRY(tenon_registry_get_plugin(self->task.registry, k, &info));
    if (strcmp(info.name, name) == 0) {
      return tool_misuse("%s is a plugin called '%s': choose another name", info.path, name);
    }
  }
  return TENON_OK;
}

/* *out_kind: of the one kind that is given. */
static tenon_status_t find_kind(const plugin_new_t* self, const char** out_kind) {
  size_t count = 0;
  for (size_t k = 0; k < KIND_COUNT; ++k) {
    if (self->kinds[k]) {
      *out_kind = kinds[k];
      ++count;
    }
  }
  return count == 1 ? TENON_OK
                    : tool_misuse(
                          "%s kind is given: use one of --operator, --kernel, --converter, "
                          "--rewrite, --parser",
                          count == 0 ? "no" : "more than one");
}

/* The template's folder below `templates`: "kernel", or "kernel-rust"; freed by tool_free. */
static tenon_status_t find_template(const plugin_new_t* self, const char* templates,
                                    const char* kind, char** out_folder) {
  const char* language = self->language;
  if (strcmp(language, "c") != 0 && strcmp(language, "c++") != 0 && strcmp(language, "rust") != 0) {
    return tool_misuse("--language wants c, c++ or rust, not \"%s\"", language);
  }
  if (!tool_folder_exists(templates)) {
    return tool_fail(TENON_ERROR_NOT_FOUND, "%s: there are no templates: install Tenon again",
                     templates);
  }
  const bool is_c = strcmp(language, "c") == 0;
  char* folder = tool_format("%s/%s%s%s", templates, kind, is_c ? "" : "-", is_c ? "" : language);
  if (!tool_folder_exists(folder)) {
    tool_free(folder);
    return tool_misuse(
        "this version has no template for --%s in %s: c has --operator, --kernel, --converter, "
        "--rewrite and --parser, c++ and rust have --kernel",
        kind, language);
  }
  *out_folder = folder;
  return TENON_OK;
}

static void report(const plugin_new_t* self, const char* prefix) {
  const char* name = self->task.model;
  char* next = tool_format(
      "cmake -S %s -B %s/build -G Ninja -DCMAKE_PREFIX_PATH=%s\n"
      "cmake --build %s/build\n"
      "ctest --test-dir %s/build --output-on-failure\n",
      name, name, prefix, name, name);
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_text(&json, "project", name);
    tool_json_lines(&json, "files", self->files);
    tool_json_lines(&json, "next", next);
    tool_json_end(&json);
  }
  tool_say(
      "wrote these files:\n%s\nNext, build it and run its tests:\n%s\n%s/README.md says more.\n",
      self->files, next, name);
  tool_free(next);
}

static tenon_status_t write_project(plugin_new_t* self, const char* prefix) {
  const char* kind = NULL;
  char* folder = NULL;
  tool_console_configure(self->task.common.json, self->task.common.verbose);
  TOOL_TRY(check_name(self->task.model));
  TOOL_TRY(find_kind(self, &kind));
  char* templates = tool_format("%s/share/tenon/templates", prefix);
  char* common = tool_format("%s/common", templates);
  tenon_status_t status = find_template(self, templates, kind, &folder);
  status = status == TENON_OK ? check_unused(self) : status;
  status = status == TENON_OK ? copy_folder(self, common, self->task.model) : status;
  status = status == TENON_OK ? copy_folder(self, folder, self->task.model) : status;
  tool_free(templates);
  tool_free(common);
  tool_free(folder);
  return status;
}

static tenon_status_t run_plugin_new(void* user) {
  plugin_new_t* self = user;
  char* prefix = find_prefix();
  const tenon_status_t status = write_project(self, prefix);
  if (status == TENON_OK) {
    report(self, prefix);
  } else if (self->files != NULL) {
    tool_warn("%s is incomplete: remove it", self->task.model);
  }
  tool_free(self->files);
  tool_free(prefix);
  return status;
}

static int plugin_new_command(int argc, char** argv) {
  plugin_new_t self = {.language = "c"};
  const tool_option_group_t groups[] = {TOOL_OPTION_GROUP("kind", options, &self),
                                        TOOL_COMMON_GROUP(&self.task.common)};
  const tool_subcommand_t subcommand = {&tool_command_plugin_new, groups, 2, &self.task,
                                        run_plugin_new,           &self};
  return tool_task_run(&subcommand, argc, argv);
}

const tool_command_t tool_command_plugin_new = {
    .name = "plugin new",
    .operands = "NAME",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "writes the project of a new plugin",
    .description =
        "The project is the folder NAME: CMakeLists.txt, source, README, a network, tests and a\n"
        "workflow for continuous integration. It builds against this installation, and its tests "
        "pass.",
    .examples =
        "  tenon plugin new fastnorm --kernel\n"
        "  tenon plugin new fastnorm_rs --kernel --language rust\n",
    .run = plugin_new_command,
};
