/*
 * The subcommands: main.c finds one by its name, and prints the usage from the same list. Each
 * fills its groups' structures, checks what can be checked before a build, and returns an exit
 * status (text/console.h).
 */
#ifndef TOOL_COMMAND_COMMANDS_H_
#define TOOL_COMMAND_COMMANDS_H_

#include "text/options.h"

/* In the order in which the usage names them: tool_command_NAME, in command/NAME.c. A subcommand
 * is one line here and one file. A name may have two words: `plugin_check` is "plugin check". */
#define TOOL_COMMANDS(X) \
  X(run)                 \
  X(build)               \
  X(bench)               \
  X(inspect)             \
  X(compare)             \
  X(convert)             \
  X(suite)               \
  X(plugins)             \
  X(plugin_new)          \
  X(plugin_check)        \
  X(doctor)

#define TOOL_COMMAND_DECLARE(name) extern const tool_command_t tool_command_##name;
TOOL_COMMANDS(TOOL_COMMAND_DECLARE)
#undef TOOL_COMMAND_DECLARE

#endif
