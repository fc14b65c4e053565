/* See help.h. */
#include "text/help.h"

#include <stdio.h>
#include <string.h>

enum { HELP_COLUMN = 30, HELP_WIDTH = 100 };

/* Words of `text` wrapped between HELP_COLUMN and HELP_WIDTH. */
static void print_wrapped(const char* text) {
  size_t column = HELP_COLUMN;
  while (*text != '\0') {
    const size_t length = strcspn(text, " ");
    if (column > HELP_COLUMN && column + 1 + length > HELP_WIDTH) {
      (void)printf("\n%*s", HELP_COLUMN, "");
      column = HELP_COLUMN;
    } else if (column > HELP_COLUMN) {
      (void)putchar(' ');
      ++column;
    }
    (void)printf("%.*s", (int)length, text);
    column += length;
    text += length + (text[length] == ' ' ? 1 : 0);
  }
  (void)putchar('\n');
}

static void print_option(const tool_option_t* option) {
  char left[96];
  (void)snprintf(left, sizeof(left), "  %s%s%s%s%s%s%s", option->letter != NULL ? "-" : "",
                 option->letter != NULL ? option->letter : " ",
                 option->letter != NULL ? ", " : "   ", option->name,
                 option->value != NULL ? " " : "", option->value != NULL ? option->value : "",
                 option->kind == TOOL_OPTION_LIST ? " ..." : "");
  size_t column = strlen(left);
  (void)fputs(left, stdout);
  if (column + 2 > HELP_COLUMN) {
    (void)putchar('\n');
    column = 0;
  }
  (void)printf("%*s", (int)(HELP_COLUMN - column), "");
  print_wrapped(option->help);
}

static void print_group(const tool_option_group_t* group, bool all) {
  size_t hidden = 0;
  (void)printf("\n%s\n", group->title);
  for (size_t i = 0; i < group->count; ++i) {
    const tool_option_t* option = &group->options[i];
    const bool shown = option->help != NULL && (all || (option->traits & TOOL_RARE) == 0);
    hidden += option->help != NULL && !shown ? 1 : 0;
    if (shown) {
      print_option(option);
    }
  }
  if (hidden > 0) {
    (void)printf("  and %zu more, shown by --help-all\n", hidden);
  }
}

void tool_help_print(const tool_command_t* command, const tool_option_group_t* groups,
                     size_t group_count, bool all) {
  (void)printf("usage: tenon %s%s%s [options]\n\n%s\n", command->name,
               command->operands[0] != '\0' ? " " : "", command->operands, command->summary);
  if (command->description[0] != '\0') {
    (void)printf("\n%s\n", command->description);
  }
  for (size_t g = 0; g < group_count; ++g) {
    print_group(&groups[g], all || groups[g].is_subject);
  }
  (void)printf("\nexamples\n%s", command->examples);
  (void)printf(
      "\nexit status\n  0 done   1 results differ, cases failed or something is missing   2 wrong "
      "usage\n  3 could not be done: the message says why   129, 130, 143 interrupted\n");
}
