/* What --help prints: what a command does, its options in groups, examples, exit statuses. All
 * of it from the tables that parse. */
#ifndef TOOL_TEXT_HELP_H_
#define TOOL_TEXT_HELP_H_

#include "text/options.h"

/* `all`: the rare options too. */
void tool_help_print(const tool_command_t* command, const tool_option_group_t* groups,
                     size_t group_count, bool all);

#endif
