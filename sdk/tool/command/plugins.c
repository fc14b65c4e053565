/* tenon plugins: everything found, used or not, and why; and everything on offer. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "command/commands.h"
#include "session/devices.h"
#include "session/task.h"
#include "text/console.h"
#include "text/escape.h"
#include "text/json.h"
#include "text/memory.h"

typedef struct plugins_t {
  tool_task_t task;
  bool offers;
  bool index;
} plugins_t;

static const tool_option_t options[] = {
    {"--offers", NULL, NULL, TOOL_OPTION_FLAG, offsetof(plugins_t, offers), 0,
     "print each plugin's offers too, from its manifest"},
    {"--index", NULL, NULL, TOOL_OPTION_FLAG, offsetof(plugins_t, index), 0,
     "load all plugins and list every operator (its attributes and ports too), kernel, converter, "
     "device ..., one JSON object a line"},
};

static const tool_option_rule_t rules[] = {
    {"--index", NULL, "--offers"},
};

static const char* state_text(uint32_t state) {
  static const char* const texts[] = {"available", "loaded", "refused"};
  return state < 3 ? texts[state] : "unknown";
}

static void print_json(const tenon_plugin_info_t* info) {
  tool_json_t json;
  tool_json_begin(&json, stdout);
  tool_json_text(&json, "name", info->name);
  tool_json_text(&json, "version", info->version);
  tool_json_text(&json, "state", state_text(info->state));
  tool_json_text(&json, "path", info->path);
  tool_json_text(&json, "vendor", info->vendor);
  tool_json_text(&json, "licence", info->licence);
  tool_json_text(&json, "reason", info->reason);
  tool_json_lines(&json, "offers", info->offers);
  tool_json_lines(&json, "left_out", info->left_out);
  tool_json_end(&json);
}

static void print_lines(const char* word, const char* lines) {
  char* line = NULL;
  while ((line = tool_take_line(&lines)) != NULL) {
    tool_say("           %s %s\n", word, line);
    tool_free(line);
  }
}

static uint32_t count_lines(const char* lines) {
  uint32_t count = 0;
  for (; *lines != '\0'; ++lines) {
    count += *lines == '\n' ? 1 : 0;
  }
  return count;
}

static void print_text(const plugins_t* plugins, const tenon_plugin_info_t* info) {
  char* path = tool_escape(info->path, false); /* a name of a file forges no line */
  tool_say("%-10s %-20s %-10s %s%s%s\n", state_text(info->state),
           info->name[0] != '\0' ? info->name : "?", info->version, path,
           info->licence[0] != '\0' ? ", " : "", info->licence);
  tool_free(path);
  if (info->reason[0] != '\0') {
    tool_say("           %s\n", info->reason);
  }
  print_lines("left out:", info->left_out);
  if (plugins->offers) {
    print_lines("offers", info->offers);
  }
}

static void tell_device(const char* sentence) {
  tool_say("%s\n", sentence);
}

static tenon_status_t list_plugins(const plugins_t* plugins, uint32_t* out_unusable) {
  tenon_registry_t* registry = plugins->task.registry;
  const uint32_t count = tenon_registry_plugin_count(registry);
  uint32_t refused = 0;
  uint32_t left_out = 0;
  for (uint32_t i = 0; i < count; ++i) {
    tenon_plugin_info_t info = {.size = sizeof(info)};
    TOOL_TRY(tenon_registry_get_plugin(registry, i, &info));
    refused += info.state == TENON_PLUGIN_REFUSED ? 1 : 0;
    left_out += count_lines(info.left_out);
    if (tool_console_is_json()) {
      print_json(&info);
    } else {
      print_text(plugins, &info);
    }
  }
  tool_say("%u plugins, %u refused", count, refused);
  if (left_out > 0) {
    tool_say(", %u offer%s left out", left_out, left_out == 1 ? "" : "s");
  }
  tool_say("\n");
  if (!tool_console_is_json()) {
    tool_say("devices:\n");
    (void)tool_devices_tell(registry, tell_device);
    tool_say("searched:\n");
    tenon_registry_print_paths(registry, tool_write_file, stdout);
  }
  *out_unusable = refused + left_out;
  return TENON_OK;
}

/* The index comes in pieces: a field's name is one. */
static void write_and_count(void* user, const char* text) {
  uint32_t* disabled = user;
  *disabled += strcmp(text, "disabled") == 0 ? 1 : 0;
  tool_write_file(stdout, text);
}

static tenon_status_t run_plugins(void* user) {
  plugins_t* plugins = user;
  uint32_t unusable = 0;
  TOOL_TRY(tool_common_begin(&plugins->task.common, &plugins->task.registry));
  TOOL_TRY(plugins->index
               ? tenon_registry_print_index(plugins->task.registry, write_and_count, &unusable)
               : list_plugins(plugins, &unusable));
  plugins->task.different = unusable > 0;
  return TENON_OK;
}

static int plugins_command(int argc, char** argv) {
  plugins_t plugins = {0};
  const tool_option_group_t groups[] = {
      TOOL_OPTION_GROUP_RULED("listing", options, rules, &plugins),
      TOOL_COMMON_GROUP(&plugins.task.common)};
  const tool_subcommand_t subcommand = {&tool_command_plugins, groups,      2,
                                        &plugins.task,         run_plugins, &plugins};
  return tool_task_run(&subcommand, argc, argv);
}

const tool_command_t tool_command_plugins = {
    .name = "plugins",
    .operands = "",
    .operands_min = 0,
    .operands_max = 0,
    .summary = "lists every plugin that was found, used or not, and why",
    .description = "",
    .examples =
        "  tenon plugins --offers\n"
        "  tenon plugins --plugins ./my-plugins --json\n"
        "  tenon plugins --index | grep '\"kind\": \"kernel\"'\n",
    .run = plugins_command,
};
