/* See common.h. */
#include "session/common.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "session/set_aside.h"
#include "text/console.h"
#include "text/memory.h"

const tool_option_t tool_common_options[TOOL_COMMON_OPTION_COUNT] = {
    {"--json", NULL, NULL, TOOL_OPTION_FLAG, offsetof(tool_common_t, json), 0,
     "print results as JSON on standard output, one object a line"},
    {"--verbose", "v", NULL, TOOL_OPTION_TALLY, offsetof(tool_common_t, verbose), 0,
     "print decisions; -vv prints all messages"},
    {"--plugins", NULL, "DIR", TOOL_OPTION_LIST, offsetof(tool_common_t, plugins), 0,
     "search this folder for plugins first; then TENON_PLUGIN_PATH and the installed ones"},
    {"--only-plugins", NULL, NULL, TOOL_OPTION_FLAG, offsetof(tool_common_t, only_plugins), 0,
     "search the folders of --plugins and no others"},
    {"--prefer", NULL, "PLUGIN", TOOL_OPTION_LIST, offsetof(tool_common_t, prefer), 0,
     "use converters, parsers and devices of this plugin first"},
};

const tool_option_rule_t tool_common_rules[TOOL_COMMON_RULE_COUNT] = {
    {"--only-plugins", "--plugins", NULL},
};

static tenon_status_t make_absolute(const tool_list_t* folders, tool_list_t* out_paths) {
  for (size_t i = 0; i < folders->count; ++i) {
    char* path = realpath(folders->items[i], NULL);
    if (path == NULL) {
      return tool_fail(TENON_ERROR_NOT_FOUND, "--plugins %s: %s", folders->items[i],
                       strerror(errno));
    }
    tool_list_add(out_paths, path);
  }
  return TENON_OK;
}

tenon_status_t tool_common_begin(const tool_common_t* common, tenon_registry_t** out_registry) {
  tool_list_t paths = {0};
  tool_list_t set_aside = {0};
  tool_console_configure(common->json, common->verbose);
  tenon_status_t status = make_absolute(&common->plugins, &paths);
  if (status == TENON_OK) {
    tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
    options.paths = paths.items;
    options.only_paths = common->only_plugins ? 1 : 0;
    options.logger = tool_console_sink();
    tool_set_aside_list(&set_aside);
    options.set_aside = set_aside.items;
    options.prefer = common->prefer.items;
    status = tenon_registry_create(&options, out_registry);
  }
  for (size_t i = 0; i < paths.count; ++i) {
    free((void*)paths.items[i]);
  }
  for (size_t i = 0; i < set_aside.count; ++i) {
    tool_free((void*)set_aside.items[i]);
  }
  tool_list_free(&set_aside);
  tool_list_free(&paths);
  return status;
}

double tool_seconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
