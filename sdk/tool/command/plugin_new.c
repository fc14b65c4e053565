/* tenon plugin new: writes a project of three folders of templates, `common`, KIND and KIND-LANGUAGE.
 * Their files make the project of a plugin called `acme`. Each "acme" in the files and in their names
 * becomes the new name, and "acme.source" the name of the source. A line <<PART>> becomes the file
 * parts/PART of the last of the three folders that has one. */
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
static const char source_suffix[] = ".source";
static const char parts_folder[] = "parts";
enum { NAME_LIMIT = 64, DEPTH_LIMIT = 4, FOLDER_COUNT = 3 };

static const char* const kinds[] = {"operator", "kernel",      "converter", "rewrite",
                                    "parser",   "cuda-kernel", "device"};
enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

typedef struct language_t {
  const char* name;
  const char* suffix; /* of a source */
} language_t;

static const language_t languages[] = {{"c", ".c"}, {"c++", ".cpp"}, {"rust", ".rs"}};

typedef struct plugin_new_t {
  tool_task_t task;
  bool kinds[KIND_COUNT];
  const char* language;
  const char* suffix;          /* of the language */
  char* folders[FOLDER_COUNT]; /* common, KIND, KIND-LANGUAGE */
  char* files;                 /* one a line */
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
static char* substitute(const plugin_new_t* self, const char* text) {
  char* result = tool_copy_text("");
  const char* found = NULL;
  while ((found = strstr(text, template_name)) != NULL) {
    tool_append(&result, "%.*s%s", (int)(found - text), text, self->task.model);
    text = found + strlen(template_name);
    if (strncmp(text, source_suffix, strlen(source_suffix)) == 0) {
      tool_append(&result, "%s", self->suffix);
      text += strlen(source_suffix);
    }
  }
  tool_append(&result, "%s", text);
  return result;
}

/* The text of a part; freed by tool_free. */
static tenon_status_t read_part(const plugin_new_t* self, const char* name, char** out_text) {
  for (int k = FOLDER_COUNT; k-- > 0;) {
    uint8_t* data = NULL;
    size_t size = 0;
    char* path = tool_format("%s/%s/%s", self->folders[k], parts_folder, name);
    const bool is_there = access(path, F_OK) == 0;
    const tenon_status_t status = is_there ? tool_file_read(path, &data, &size) : TENON_OK;
    tool_free(path);
    if (is_there) {
      *out_text = (char*)data;
      return status;
    }
  }
  return tool_fail(TENON_ERROR_NOT_FOUND, "%s: there is no part '%s': install Tenon again",
                   self->folders[FOLDER_COUNT - 1], name);
}

/* Appends the text with its parts and with the new name. */
static tenon_status_t expand(const plugin_new_t* self, const char* text, int depth,
                             char** inout_result) {
  tenon_status_t status = TENON_OK;
  while (*text != '\0' && status == TENON_OK) {
    const size_t length = strcspn(text, "\n");
    const bool is_part = length > 4 && depth < DEPTH_LIMIT && strncmp(text, "<<", 2) == 0 &&
                         strncmp(text + length - 2, ">>", 2) == 0;
    char* line = is_part ? tool_format("%.*s", (int)length - 4, text + 2)
                         : tool_format("%.*s", (int)length, text);
    char* made = NULL;
    if (is_part) {
      status = read_part(self, line, &made);
      status = status == TENON_OK ? expand(self, made, depth + 1, inout_result) : status;
    } else {
      made = substitute(self, line);
      tool_append(inout_result, "%s%s", made, text[length] == '\n' ? "\n" : "");
    }
    tool_free(made);
    tool_free(line);
    text += length + (text[length] == '\n' ? 1 : 0);
  }
  return status;
}

static tenon_status_t copy_file(plugin_new_t* self, const char* source, const char* target) {
  uint8_t* data = NULL;
  size_t size = 0;
  TOOL_TRY(tool_file_read(source, &data, &size));
  char* text = tool_copy_text("");
  tenon_status_t status = expand(self, (const char*)data, 0, &text);
  if (status == TENON_OK) {
    FILE* file = fopen(target, "wxe");
    bool good = file != NULL && fputs(text, file) >= 0;
    good = (file == NULL || fclose(file) == 0) && good;
    status = good ? TENON_OK : tool_fail(TENON_ERROR_IO, "%s: %s", target, strerror(errno));
    tool_append(&self->files, "%s\n", target);
  }
  tool_free(text);
  tool_free(data);
  return status;
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
    if (status == TENON_OK && strcmp(entry, ".") != 0 && strcmp(entry, "..") != 0 &&
        strcmp(entry, parts_folder) != 0) {
      char* name = substitute(self, entry);
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

/* Sets the suffix and the folders, which are freed with `self`. */
static tenon_status_t find_template(plugin_new_t* self, const char* templates, const char* kind) {
  const char* language = self->language;
  for (size_t k = 0; k < sizeof(languages) / sizeof(languages[0]); ++k) {
    if (strcmp(language, languages[k].name) == 0) {
      self->suffix = languages[k].suffix;
    }
  }
  if (self->suffix == NULL) {
    return tool_misuse("--language wants c, c++ or rust, not \"%s\"", language);
  }
  if (!tool_folder_exists(templates)) {
    return tool_fail(TENON_ERROR_NOT_FOUND, "%s: there are no templates: install Tenon again",
                     templates);
  }
  self->folders[0] = tool_format("%s/common", templates);
  self->folders[1] = tool_format("%s/%s", templates, kind);
  self->folders[2] = tool_format("%s/%s-%s", templates, kind, language);
  if (!tool_folder_exists(self->folders[2])) {
    return tool_misuse(
        "this version has no template for --%s in %s: c has --operator, --kernel, --converter, "
        "--rewrite and --parser, c++ and rust have --kernel",
        kind, language);
  }
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
  tool_console_configure(self->task.common.json, self->task.common.verbose);
  TOOL_TRY(check_name(self->task.model));
  TOOL_TRY(find_kind(self, &kind));
  char* templates = tool_format("%s/share/tenon/templates", prefix);
  tenon_status_t status = find_template(self, templates, kind);
  status = status == TENON_OK ? check_unused(self) : status;
  for (int k = 0; k < FOLDER_COUNT && status == TENON_OK; ++k) {
    status = copy_folder(self, self->folders[k], self->task.model);
  }
  tool_free(templates);
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
  for (int k = 0; k < FOLDER_COUNT; ++k) {
    tool_free(self->folders[k]);
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
