/* See options.h. */
#include "text/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/console.h"
#include "text/help.h"
#include "text/memory.h"
#include "text/spelling.h"

enum { NAMES_MAX = 256, SMALL_BYTES = 1 << 20 };

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
  const char* names[NAMES_MAX];
  size_t count = 0;
  for (size_t g = 0; g < parsing->group_count; ++g) {
    for (size_t i = 0; i < parsing->groups[g].count && count < NAMES_MAX; ++i) {
      names[count++] = parsing->groups[g].options[i].name;
    }
  }
  char name[64];
  (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(argument, "="), argument);
  const char* foreign = tool_foreign_option(name);
  const char* nearest = foreign == NULL ? tool_nearest_word(name, names, count) : NULL;
  (void)tool_misuse("unknown option %s%s%s%s%s%s; see tenon %s --help-all", name,
                    foreign != NULL ? ": " : "", foreign != NULL ? foreign : "",
                    nearest != NULL ? ", did you mean " : "", nearest != NULL ? nearest : "",
                    nearest != NULL ? "?" : "", parsing->command->name);
  return false;
}

static bool bad_value(const tool_option_t* option, const char* text, const char* wanted) {
  (void)tool_misuse("%s wants %s, not \"%s\"", option->name, wanted, text);
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
  const bool is_amount = option->kind == TOOL_OPTION_AMOUNT;
  if (end == text || *end != '\0' || !isfinite(value) || value < 0 || (is_amount && value == 0)) {
    return bad_value(option, text, is_amount ? "a number above 0" : "a number");
  }
  *(double*)target = value;
  return true;
}

/* Other tools count mebibytes: a small number without a unit is more likely one of those. */
static bool store_size(const tool_option_t* option, const char* text, uint64_t* target) {
  uint64_t bytes = 0;
  if (!tool_parse_size(text, &bytes) || bytes == 0) {
    return bad_value(option, text, "a size such as 64M or 1.5G");
  }
  const bool has_unit = strspn(text, "0123456789.") < strlen(text);
  if (!has_unit && bytes < SMALL_BYTES) {
    char wanted[96];
    (void)snprintf(wanted, sizeof(wanted), "a unit: %.16sM are mebibytes, %.16sB are bytes", text,
                   text);
    return bad_value(option, text, wanted);
  }
  *target = bytes;
  return true;
}

static bool store_value(const tool_option_t* option, const char* text, void* target) {
  if (text[0] == '\0') {
    return bad_value(option, text, option->value);
  }
  switch (option->kind) {
    case TOOL_OPTION_TEXT:
      *(const char**)target = text;
      return true;
    case TOOL_OPTION_LIST:
      tool_list_add(target, text);
      return true;
    case TOOL_OPTION_SIZE:
      return store_size(option, text, target);
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

/* Keeps what is given. False when it was given before with another value. */
static bool note_given(tool_arguments_t* arguments, const tool_option_t* option,
                       const char* value) {
  if (option->kind != TOOL_OPTION_LIST) {
    for (size_t i = 0; i < arguments->given_count; ++i) {
      const tool_given_t* given = &arguments->given[i];
      if (given->option == option && value != NULL && strcmp(given->value, value) != 0) {
        (void)tool_misuse("%s is given twice: %s and %s", option->name, given->value, value);
        return false;
      }
    }
  }
  arguments->given = tool_grow(arguments->given, &arguments->given_capacity,
                               arguments->given_count + 1, sizeof(*arguments->given));
  arguments->given[arguments->given_count++] = (tool_given_t){option, value};
  return true;
}

static bool parse_option(parsing_t* parsing, tool_arguments_t* arguments) {
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
    return note_given(arguments, option, NULL) &&
           store_flag(option, argument + 1, is_long ? NULL : value, value, target);
  }
  if (value == NULL) {
    if (parsing->index + 1 >= parsing->argc) {
      (void)tool_misuse("%s wants %s after it", option->name, option->value);
      return false;
    }
    value = parsing->argv[++parsing->index];
  }
  return note_given(arguments, option, value) && store_value(option, value, target);
}

static bool check_operands(const tool_command_t* command, const tool_list_t* operands) {
  if (operands->count < command->operands_min) {
    (void)tool_misuse("%s is missing; see tenon %s --help", command->operands, command->name);
    return false;
  }
  if (operands->count > command->operands_max) {
    (void)tool_misuse("\"%s\" is too much; see tenon %s --help",
                      operands->items[command->operands_max], command->name);
    return false;
  }
  return true;
}

static bool is_help(const char* argument) {
  return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0 ||
         strcmp(argument, "--help-all") == 0;
}

bool tool_options_parse(const tool_command_t* command, const tool_option_group_t* groups,
                        size_t group_count, int argc, char** argv, tool_arguments_t* out_arguments,
                        int* out_exit) {
  parsing_t parsing = {command, groups, group_count, argc, argv, 0};
  bool only_operands = false;
  *out_exit = TOOL_EXIT_USAGE;
  for (; parsing.index < argc; ++parsing.index) {
    const char* argument = argv[parsing.index];
    if (only_operands || argument[0] != '-' || argument[1] == '\0') {
      tool_list_add(&out_arguments->operands, argument);
    } else if (strcmp(argument, "--") == 0) {
      only_operands = true;
    } else if (is_help(argument)) {
      tool_help_print(command, groups, group_count, strcmp(argument, "--help-all") == 0);
      *out_exit = TOOL_EXIT_OK;
      return false;
    } else if (!parse_option(&parsing, out_arguments)) {
      return false;
    }
  }
  return check_operands(command, &out_arguments->operands) &&
         tool_arguments_follow(out_arguments, groups, group_count);
}
