/* The subcommands, one file each. */
#ifndef TOOL_COMMAND_COMMANDS_H_
#define TOOL_COMMAND_COMMANDS_H_

#include "text/options.h"

extern const tool_command_t tool_command_run;
extern const tool_command_t tool_command_build;
extern const tool_command_t tool_command_bench;
extern const tool_command_t tool_command_inspect;
extern const tool_command_t tool_command_compare;
extern const tool_command_t tool_command_convert;
extern const tool_command_t tool_command_suite;
extern const tool_command_t tool_command_plugins;
extern const tool_command_t tool_command_doctor;

#endif
