/* What every subcommand has: output, plugins; and the registry made of it. */
#ifndef TOOL_SESSION_COMMON_H_
#define TOOL_SESSION_COMMON_H_

#include "tenon/tenon.h"
#include "text/options.h"

typedef struct tool_common_t {
  bool json;
  uint32_t verbose;
  tool_list_t plugins; /* folders */
  bool only_plugins;
} tool_common_t;

enum { TOOL_COMMON_OPTION_COUNT = 4 };
extern const tool_option_t tool_common_options[TOOL_COMMON_OPTION_COUNT];
enum { TOOL_COMMON_RULE_COUNT = 1 };
extern const tool_option_rule_t tool_common_rules[TOOL_COMMON_RULE_COUNT];
#define TOOL_COMMON_GROUP(target) \
  TOOL_OPTION_GROUP_RULED("common", tool_common_options, tool_common_rules, target)

/* Sets the console up and finds the plugins. */
tenon_status_t tool_common_begin(const tool_common_t* common, tenon_registry_t** out_registry);

double tool_seconds(void); /* monotonic */

#endif
