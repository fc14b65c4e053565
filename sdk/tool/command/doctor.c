/* tenon doctor: the machine, libraries, devices, caches, search path, and what is missing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "command/commands.h"
#include "data/file.h"
#include "data/picture.h"
#include "session/cache.h"
#include "session/devices.h"
#include "session/task.h"
#include "text/console.h"
#include "text/json.h"
#include "text/memory.h"

/* Findings: what is missing makes the exit status 1. */
typedef struct doctor_t {
  tool_task_t task;
} doctor_t;

static void tell_finding(const char* topic, const char* text, bool is_missing) {
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_text(&json, "topic", topic);
    tool_json_text(&json, is_missing ? "missing" : "is", text);
    tool_json_end(&json);
  } else {
    tool_say("%-14s %s%s\n", topic, is_missing ? "MISSING: " : "", text);
  }
}

static void tell(const char* topic, const char* text) {
  tell_finding(topic, text, false);
}

static void tell_missing(doctor_t* doctor, const char* topic, const char* text) {
  doctor->task.different = true;
  tell_finding(topic, text, true);
}

/* The value of the first line "key : value" of a file under /proc; "" when there is none. */
static void find_proc_line(const char* path, const char* key, char* out_value, size_t size) {
  char* line = NULL;
  size_t capacity = 0;
  FILE* file = fopen(path, "re");
  out_value[0] = '\0';
  while (file != NULL && out_value[0] == '\0' && getline(&line, &capacity, file) > 0) {
    const char* colon = strchr(line, ':');
    if (strncmp(line, key, strlen(key)) == 0 && colon != NULL) {
      const char* value = colon + 1 + strspn(colon + 1, " \t");
      (void)snprintf(out_value, size, "%.*s", (int)strcspn(value, "\n"), value);
    }
  }
  free(line);
  if (file != NULL) {
    (void)fclose(file);
  }
}

static void check_machine(doctor_t* doctor) {
  static const char* const sets[] = {"sse4_2",   "avx2",        "fma",         "f16c",
                                     "avx512f",  "avx512_vnni", "avx512_bf16", "amx_tile",
                                     "amx_bf16", "amx_int8"};
  char value[8192];
  struct utsname names;
  if (uname(&names) == 0) {
    char text[256];
    (void)snprintf(text, sizeof(text), "%.60s %.60s %.60s", names.sysname, names.release,
                   names.machine);
    tell("system", text);
  }
  if (access("/proc/self/fd", R_OK) != 0) {
    tell_missing(doctor, "/proc", "is not mounted: plugins are loaded through it, none can be");
  }
  find_proc_line("/proc/cpuinfo", "model name", value, sizeof(value));
  char* processor = tool_format("%s, %ld processors", value[0] != '\0' ? value : "unknown",
                                sysconf(_SC_NPROCESSORS_ONLN));
  tell("processor", processor);
  tool_free(processor);
  find_proc_line("/proc/cpuinfo", "flags", value, sizeof(value));
  char found[256] = "";
  for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); ++i) {
    char wanted[32];
    (void)snprintf(wanted, sizeof(wanted), " %s", sets[i]);
    const char* at = strstr(value, wanted);
    if (at != NULL && strchr(" ", at[strlen(wanted)]) != NULL) {
      (void)snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s",
                     found[0] != '\0' ? " " : "", sets[i]);
    }
  }
  tell("instructions", found[0] != '\0' ? found : "none of those that are looked for");
  find_proc_line("/proc/meminfo", "MemAvailable", value, sizeof(value));
  tell("memory", value[0] != '\0' ? value : "unknown");
}

static void check_libraries(doctor_t* doctor) {
  char text[64];
  (void)snprintf(text, sizeof(text), "%s", tenon_version());
  tell("tenon", text);
  if (tool_png_library()[0] == '\0') {
    tell_missing(doctor, "libpng", "this command was built without it: no PNG pictures");
  } else {
    tell("libpng", tool_png_library());
  }
  if (tool_jpeg_library()[0] == '\0') {
    tell_missing(doctor, "libjpeg", "this command was built without it: no JPEG pictures");
  } else {
    tell("libjpeg", tool_jpeg_library());
  }
}

static void check_caches(doctor_t* doctor, tenon_registry_t* registry) {
  const char* reason = "";
  char* folder = tool_cache_folder(&reason);
  if (folder == NULL) {
    tell_missing(doctor, "cache", reason);
    return;
  }
  size_t count = 0;
  uint64_t bytes = 0;
  tool_cache_count(folder, &count, &bytes);
  char* text = tool_format("%s: %zu plans, %.1f MiB", folder, count, (double)bytes / 1048576);
  tell("cache", text);
  tool_free(text);
  char* path = tool_format("%s/timings", folder);
  tenon_timing_cache_t* timings = NULL;
  if (tool_file_exists(path) && tenon_timing_cache_create(registry, path, &timings) == TENON_OK) {
    text = tool_format("%s: %u entries", path, tenon_timing_cache_entry_count(timings));
    tell("timing cache", text);
    tool_free(text);
    tenon_timing_cache_destroy(timings);
  } else {
    tell("timing cache", "empty");
  }
  tool_free(path);
  tool_free(folder);
}

static void tell_lines(const char* topic, const char* lines) {
  char* line = NULL;
  while ((line = tool_take_line(&lines)) != NULL) {
    tell(topic, line);
    tool_free(line);
  }
}

static void tell_left_out(doctor_t* doctor, const tenon_plugin_info_t* info) {
  const char* lines = info->left_out;
  char* line = NULL;
  while ((line = tool_take_line(&lines)) != NULL) {
    char* text = tool_format("%s %s: left out: %s", info->name, info->version, line);
    tell_missing(doctor, "offer", text);
    tool_free(text);
    tool_free(line);
  }
}

static void check_plugins(doctor_t* doctor, tenon_registry_t* registry) {
  tool_text_t printed = {0};
  tenon_registry_print_paths(registry, tool_text_add, &printed);
  char* paths = tool_text_take(&printed);
  if (paths[0] == '\0') {
    tell_missing(doctor, "search path", "is empty: set TENON_PLUGIN_PATH or use --plugins");
  }
  tell_lines("search path", paths);
  tool_free(paths);
  bool parser = false;
  uint32_t usable = 0;
  const uint32_t count = tenon_registry_plugin_count(registry);
  for (uint32_t i = 0; i < count; ++i) {
    tenon_plugin_info_t info = {.size = sizeof(info)};
    if (tenon_registry_get_plugin(registry, i, &info) != TENON_OK) {
      continue;
    }
    char* text = tool_format("%s %s%s%s", info.name[0] != '\0' ? info.name : info.path,
                             info.version, info.reason[0] != '\0' ? ": " : "", info.reason);
    if (info.state == TENON_PLUGIN_REFUSED) {
      tell_missing(doctor, "plugin", text);
    } else {
      ++usable;
      parser = parser || strstr(info.offers, "parser ") != NULL;
      tell("plugin", text);
    }
    tell_left_out(doctor, &info);
    tool_free(text);
  }
  if (usable == 0) {
    tell_missing(doctor, "plugins", "none can be used: there are no operators and no devices");
  } else if (!parser) {
    tell_missing(doctor, "parser", "no plugin offers one: no model file can be read");
  }
}

static void tell_device(const char* sentence) {
  tell("device", sentence);
}

static void check_devices(doctor_t* doctor, tenon_registry_t* registry) {
  if (!tool_devices_tell(registry, tell_device)) {
    tell_missing(doctor, "device", "none that works: nothing can be built or run");
  }
}

static tenon_status_t run_doctor(void* user) {
  doctor_t* doctor = user;
  TOOL_TRY(tool_common_begin(&doctor->task.common, &doctor->task.registry));
  check_machine(doctor);
  check_libraries(doctor);
  check_plugins(doctor, doctor->task.registry);
  check_devices(doctor, doctor->task.registry);
  check_caches(doctor, doctor->task.registry);
  tool_say("%s\n", doctor->task.different ? "something is missing" : "nothing is missing");
  return TENON_OK;
}

static int doctor_command(int argc, char** argv) {
  doctor_t doctor = {0};
  const tool_option_group_t groups[] = {TOOL_COMMON_GROUP(&doctor.task.common)};
  const tool_subcommand_t subcommand = {&tool_command_doctor, groups,     1,
                                        &doctor.task,         run_doctor, &doctor};
  return tool_task_run(&subcommand, argc, argv);
}

const tool_command_t tool_command_doctor = {
    .name = "doctor",
    .operands = "",
    .operands_min = 0,
    .operands_max = 0,
    .summary = "looks at the machine, libraries, devices, plugins and caches; lists missing parts",
    .description = "",
    .examples = "  tenon doctor\n  tenon doctor --json\n",
    .run = doctor_command,
};
