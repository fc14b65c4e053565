/* What every subcommand has: output, plugins; and the registry made of it. */
#ifndef TOOL_SESSION_COMMON_H_
#define TOOL_SESSION_COMMON_H_

#include "tenon/tenon.h"
#include "text/options.h"

/* The group's structure. */
typedef struct tool_common_t {
  /* Results as objects, one a line, on standard output; messages stay text on standard error. */
  bool json;
  /* How often --verbose stands there: 1 says what is decided, 2 everything. */
  uint32_t verbose;
  tool_list_t plugins; /* folders, searched first */
  /* No others: neither TENON_PLUGIN_PATH nor those installed. */
  bool only_plugins;
  tool_list_t prefer; /* names of plugins */
} tool_common_t;

/* The group: the table stands in common.c. */
enum { TOOL_COMMON_OPTION_COUNT = 5 };
extern const tool_option_t tool_common_options[TOOL_COMMON_OPTION_COUNT];
enum { TOOL_COMMON_RULE_COUNT = 1 };
extern const tool_option_rule_t tool_common_rules[TOOL_COMMON_RULE_COUNT];
#define TOOL_COMMON_GROUP(target) \
  TOOL_OPTION_GROUP_RULED("common", tool_common_options, tool_common_rules, target)

/* Sets the console up and finds the plugins; nothing is loaded yet. NOT_FOUND for a folder that
 * is not there, and for a preferred plugin that is not used. The caller releases the registry. */
tenon_status_t tool_common_begin(const tool_common_t* common, tenon_registry_t** out_registry);

/* On a clock that only goes forward, from some moment on. */
double tool_seconds(void);

#endif
