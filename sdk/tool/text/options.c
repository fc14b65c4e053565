/* See options.h. */
#include "text/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/console.h"
#include "text/memory.h"

enum { HELP_COLUMN = 30, HELP_WIDTH = 100, WORDS_MAX = 256 };

void tool_list_add(tool_list_t* list, const char* item) {
  list->items = tool_grow((void*)list->items, &list->capacity, list->count + 2, sizeof(char*));
  list->items[list->count++] = item;
  list->items[list->count] = NULL;
}

void tool_list_free(tool_list_t* list) {
  tool_free((void*)list->items);
  *list = (tool_list_t){0};
}

bool tool_parse_size(const char* text, uint64_t* out_bytes) {
  static const char units[] = "KMGT";
  char* end = NULL;
  const double number = strtod(text, &end);
  if (end == text || !isfinite(number) || number < 0) {
    return false;
  }
  double factor = 1;
  if (*end != '\0' && *end != 'B') {
    const char* unit = strchr(units, *end >= 'a' && *end <= 'z' ? *end - 'a' + 'A' : *end);
    if (unit == NULL) {
      return false;
    }
    factor = ldexp(1, 10 * (int)(unit - units + 1));
    ++end;
    end += *end == 'i' ? 1 : 0;
  }
  end += *end == 'B' ? 1 : 0;
  if (*end != '\0' || number * factor >= 9e18) {
    return false;
  }
  *out_bytes = (uint64_t)(number * factor);
  return true;
}

static size_t edit_distance(const char* a, const char* b) {
  enum { LONGEST = 40 };
  size_t row[LONGEST + 1];
  const size_t length_a = strlen(a);
  const size_t length_b = strlen(b);
  if (length_a > LONGEST || length_b > LONGEST) {
    return LONGEST;
  }
  for (size_t j = 0; j <= length_b; ++j) {
    row[j] = j;
  }
  for (size_t i = 1; i <= length_a; ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= length_b; ++j) {
      const size_t above = row[j];
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      const size_t shifted = (above < row[j - 1] ? above : row[j - 1]) + 1;
      row[j] = replaced < shifted ? replaced : shifted;
      diagonal = above;
    }
  }
  return row[length_b];
}

const char* tool_nearest_word(const char* word, const char* const* words, size_t count) {
  const char* nearest = NULL;
  const size_t length = strlen(word) - strspn(word, "-");
  size_t least = length < 5 ? 2 : length / 3 + 2;
  for (size_t i = 0; i < count; ++i) {
    const size_t distance = edit_distance(word, words[i]);
    if (distance < least) {
      least = distance;
      nearest = words[i];
    }
  }
  return nearest;
}

/* ---- Help ---- */

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

static void print_help(const tool_command_t* command, const tool_option_group_t* groups,
                       size_t group_count) {
  (void)printf("usage: tenon %s%s%s [options]\n\n%s\n", command->name,
               command->operands[0] != '\0' ? " " : "", command->operands, command->summary);
  if (command->description[0] != '\0') {
    (void)printf("\n%s\n", command->description);
  }
  for (size_t g = 0; g < group_count; ++g) {
    (void)printf("\n%s\n", groups[g].title);
    for (size_t i = 0; i < groups[g].count; ++i) {
      if (groups[g].options[i].help != NULL) {
        print_option(&groups[g].options[i]);
      }
    }
  }
  (void)printf("\nexamples\n%s", command->examples);
  (void)printf(
      "\nexit status\n  0 done   1 results differ, cases failed or something is missing   2 wrong "
      "usage\n  3 could not be done: the message says why   130 interrupted\n");
}

/* ---- Parsing ---- */

typedef struct parsing_t {
  const tool_command_t* command;
  const tool_option_group_t* groups;
  size_t group_count;
  int argc;
  char** argv;
  int index; /* of the argument looked at */
} parsing_t;

static const tool_option_t* find_option(const parsing_t* parsing, const char* name, size_t length,
                                        const char* letter, void** out_target) {
  for (size_t g = 0; g < parsing->group_count; ++g) {
    const tool_option_group_t* group = &parsing->groups[g];
    for (size_t i = 0; i < group->count; ++i) {
      const tool_option_t* option = &group->options[i];
      const bool same =
          letter != NULL ? option->letter != NULL && option->letter[0] == letter[0]
                         : strncmp(option->name, name, length) == 0 && option->name[length] == '\0';
      if (same) {
        *out_target = (char*)group->target + option->offset;
        return option;
      }
    }
  }
  return NULL;
}

static bool unknown_option(const parsing_t* parsing, const char* argument) {
  const char* words[WORDS_MAX];
  size_t count = 0;
  for (size_t g = 0; g < parsing->group_count; ++g) {
    for (size_t i = 0; i < parsing->groups[g].count && count < WORDS_MAX; ++i) {
      words[count++] = parsing->groups[g].options[i].name;
    }
  }
  char name[64];
  (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(argument, "="), argument);
  const char* nearest = tool_nearest_word(name, words, count);
  (void)tool_fail(TENON_ERROR_INVALID_ARGUMENT, "unknown option %s%s%s%s; see tenon %s --help",
                  name, nearest != NULL ? ", did you mean " : "", nearest != NULL ? nearest : "",
                  nearest != NULL ? "?" : "", parsing->command->name);
  return false;
}

static bool bad_value(const tool_option_t* option, const char* text, const char* wanted) {
  (void)tool_fail(TENON_ERROR_INVALID_ARGUMENT, "%s wants %s, not \"%s\"", option->name, wanted,
                  text);
  return false;
}

static bool store_number(const tool_option_t* option, const char* text, void* target) {
  char* end = NULL;
  errno = 0;
  if (option->kind == TOOL_OPTION_COUNT || option->kind == TOOL_OPTION_POSITIVE) {
    const unsigned long least = option->kind == TOOL_OPTION_POSITIVE ? 1 : 0;
    const unsigned long value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value >= UINT32_MAX ||
        value < least) {
      return bad_value(option, text, least > 0 ? "a whole number, 1 or more" : "a whole number");
    }
    *(uint32_t*)target = (uint32_t)value;
    return true;
  }
  const double value = strtod(text, &end);
  if (end == text || *end != '\0' || !isfinite(value) || value < 0) {
    return bad_value(option, text, "a number");
  }
  *(double*)target = value;
  return true;
}

static bool store_value(const tool_option_t* option, const char* text, void* target) {
  switch (option->kind) {
    case TOOL_OPTION_TEXT:
      *(const char**)target = text;
      return true;
    case TOOL_OPTION_LIST:
      tool_list_add(target, text);
      return true;
    case TOOL_OPTION_SIZE:
      return tool_parse_size(text, target) || bad_value(option, text, "a size such as 64M or 1.5G");
    default:
      return store_number(option, text, target);
  }
}

/* `more`: what follows a letter; -vv is -v twice. */
static bool store_flag(const tool_option_t* option, const char* letters, const char* more,
                       const char* value, void* target) {
  const bool repeats = more != NULL && option->kind == TOOL_OPTION_TALLY &&
                       strspn(letters, option->letter) == strlen(letters);
  if (value != NULL && !repeats) {
    return bad_value(option, value, "no value");
  }
  if (option->kind == TOOL_OPTION_FLAG) {
    *(bool*)target = true;
  } else {
    *(uint32_t*)target += 1 + (repeats ? (uint32_t)strlen(more) : 0);
  }
  return true;
}

static bool parse_option(parsing_t* parsing) {
  const char* argument = parsing->argv[parsing->index];
  const bool is_long = argument[1] == '-';
  const size_t length = is_long ? strcspn(argument, "=") : 2;
  void* target = NULL;
  const tool_option_t* option =
      find_option(parsing, argument, length, is_long ? NULL : argument + 1, &target);
  if (option == NULL) {
    return unknown_option(parsing, argument);
  }
  const char* value = argument[length] == '\0'  ? NULL
                      : argument[length] == '=' ? argument + length + 1
                                                : argument + length;
  if (option->kind == TOOL_OPTION_FLAG || option->kind == TOOL_OPTION_TALLY) {
    return store_flag(option, argument + 1, is_long ? NULL : value, value, target);
  }
  if (value == NULL) {
    if (parsing->index + 1 >= parsing->argc) {
      (void)tool_fail(TENON_ERROR_INVALID_ARGUMENT, "%s wants %s after it", option->name,
                      option->value);
      return false;
    }
    value = parsing->argv[++parsing->index];
  }
  return store_value(option, value, target);
}

static bool check_operands(const tool_command_t* command, const tool_list_t* operands) {
  if (operands->count < command->operands_min) {
    (void)tool_fail(TENON_ERROR_INVALID_ARGUMENT, "%s is missing; see tenon %s --help",
                    command->operands, command->name);
    return false;
  }
  if (operands->count > command->operands_max) {
    (void)tool_fail(TENON_ERROR_INVALID_ARGUMENT, "\"%s\" is too much; see tenon %s --help",
                    operands->items[command->operands_max], command->name);
    return false;
  }
  return true;
}

bool tool_options_parse(const tool_command_t* command, const tool_option_group_t* groups,
                        size_t group_count, int argc, char** argv, tool_list_t* out_operands,
                        int* out_exit) {
  parsing_t parsing = {command, groups, group_count, argc, argv, 0};
  bool only_operands = false;
  *out_exit = TOOL_EXIT_USAGE;
  for (; parsing.index < argc; ++parsing.index) {
    const char* argument = argv[parsing.index];
    if (only_operands || argument[0] != '-' || argument[1] == '\0') {
      tool_list_add(out_operands, argument);
    } else if (strcmp(argument, "--") == 0) {
      only_operands = true;
    } else if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
      print_help(command, groups, group_count);
      *out_exit = TOOL_EXIT_OK;
      return false;
    } else if (!parse_option(&parsing)) {
      return false;
    }
  }
  return check_operands(command, out_operands);
}
