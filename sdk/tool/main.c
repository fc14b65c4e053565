/* The `tenon` command: which subcommand. */
#include <stdio.h>
#include <string.h>

#include "command/commands.h"
#include "session/set_aside.h"
#include "tenon/tenon.h"
#include "text/console.h"
#include "text/crash.h"
#include "text/interrupt.h"
#include "text/spelling.h"

#define COMMAND(name) &tool_command_##name,
static const tool_command_t* const commands[] = {TOOL_COMMANDS(COMMAND)};
enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static void print_usage(FILE* file) {
  (void)fprintf(file, "usage: tenon COMMAND [options]\n\n");
  for (size_t i = 0; i < COMMAND_COUNT; ++i) {
    (void)fprintf(file, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
  }
  (void)fprintf(file,
                "\ntenon help COMMAND or tenon COMMAND --help explains one; tenon --version\n");
}

static const tool_command_t* find_command(const char* name) {
  for (size_t i = 0; i < COMMAND_COUNT; ++i) {
    if (strcmp(commands[i]->name, name) == 0) {
      return commands[i];
    }
  }
  return NULL;
}

static int fail_unknown(const char* name) {
  const char* names[COMMAND_COUNT];
  for (size_t i = 0; i < COMMAND_COUNT; ++i) {
    names[i] = commands[i]->name;
  }
  const char* nearest = tool_nearest_word(name, names, COMMAND_COUNT);
  if (name[0] == '-') {
    (void)tool_misuse("options stand after the command, as in tenon run %s; see tenon --help",
                      name);
  } else {
    (void)tool_misuse("there is no command %s%s%s%s; see tenon --help", name,
                      nearest != NULL ? ", did you mean " : "", nearest != NULL ? nearest : "",
                      nearest != NULL ? "?" : "");
  }
  return tool_console_finish(TOOL_EXIT_USAGE);
}

static int help(int argc, char** argv) {
  char help_option[] = "--help";
  char* arguments[] = {help_option, NULL};
  if (argc == 0) {
    print_usage(stdout);
    return tool_console_finish(TOOL_EXIT_OK);
  }
  const tool_command_t* command = find_command(argv[0]);
  return command == NULL ? fail_unknown(argv[0]) : tool_console_finish(command->run(1, arguments));
}

/* Known before the options are read, so that what is wrong with them is JSON too. */
static bool wants_json(int argc, char** argv) {
  bool wanted = false;
  for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; ++i) {
    wanted = wanted || strcmp(argv[i], "--json") == 0;
  }
  return wanted;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    print_usage(stderr);
    return TOOL_EXIT_USAGE;
  }
  const char* name = argv[1];
  if (strcmp(name, "--version") == 0) {
    (void)printf("tenon %s\n", tenon_version());
    return tool_console_finish(TOOL_EXIT_OK);
  }
  if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
    return help(argc - 2, argv + 2);
  }
  const tool_command_t* command = find_command(name);
  tool_console_configure(wants_json(argc, argv), 0);
  if (command == NULL) {
    return fail_unknown(name);
  }
  tool_set_aside_prepare();
  tool_crash_catch(tool_set_aside_note);
  tool_interrupts_catch();
  const int exit_status = command->run(argc - 2, argv + 2);
  return tool_console_finish(exit_status);
}
