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
    (void)fprintf(file, "  %-13s %s\n", commands[i]->name, commands[i]->summary);
  }
  (void)fprintf(file,
                "\ntenon help COMMAND or tenon COMMAND --help explains one; tenon --version\n");
}

/* Names have one word or two: "plugin check". *out_words: how many of argv they are. */
static const tool_command_t* find_command(int argc, char** argv, int* out_words) {
  for (size_t i = 0; i < COMMAND_COUNT; ++i) {
    const char* name = commands[i]->name;
    const char* blank = strchr(name, ' ');
    const size_t length = blank == NULL ? strlen(name) : (size_t)(blank - name);
    *out_words = blank == NULL ? 1 : 2;
    if (argc >= *out_words && strlen(argv[0]) == length && strncmp(argv[0], name, length) == 0 &&
        (blank == NULL || strcmp(argv[1], blank + 1) == 0)) {
      return commands[i];
    }
  }
  return NULL;
}

/* The second words of commands that begin with `name`: " check". */
static bool list_second_words(const char* name, char* out_text, size_t size) {
  const size_t length = strlen(name);
  size_t used = 0;
  out_text[0] = '\0';
  for (size_t i = 0; i < COMMAND_COUNT; ++i) {
    if (strncmp(commands[i]->name, name, length) == 0 && commands[i]->name[length] == ' ') {
      const int wrote = snprintf(out_text + used, size - used, "%s%s", used > 0 ? ", " : "",
                                 commands[i]->name + length + 1);
      used += wrote > 0 && (size_t)wrote < size - used ? (size_t)wrote : 0;
    }
  }
  return used > 0;
}

static int fail_unknown(const char* name) {
  const char* names[COMMAND_COUNT];
  char words[256];
  for (size_t i = 0; i < COMMAND_COUNT; ++i) {
    names[i] = commands[i]->name;
  }
  const char* nearest = tool_nearest_word(name, names, COMMAND_COUNT);
  if (name[0] == '-') {
    (void)tool_misuse("options stand after the command, as in tenon run %s; see tenon --help",
                      name);
  } else if (list_second_words(name, words, sizeof(words))) {
    (void)tool_misuse("after %s comes one of these words: %s; see tenon --help", name, words);
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
  int words = 0;
  const tool_command_t* command = find_command(argc, argv, &words);
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
  int words = 0;
  const tool_command_t* command = find_command(argc - 1, argv + 1, &words);
  tool_console_configure(wants_json(argc, argv), 0);
  if (command == NULL) {
    return fail_unknown(name);
  }
  tool_set_aside_prepare();
  tool_crash_catch(tool_set_aside_note);
  tool_interrupts_catch();
  const int exit_status = command->run(argc - 1 - words, argv + 1 + words);
  return tool_console_finish(exit_status);
}
