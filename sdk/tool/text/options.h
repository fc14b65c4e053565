/*
 * The command line: tables of options that parse and explain themselves. A subcommand puts several
 * groups together; each group fills a structure of its own.
 *
 * `--name VALUE` and `--name=VALUE` are the same; `--` ends the options; what is no option is an
 * operand.
 */
#ifndef TOOL_TEXT_OPTIONS_H_
#define TOOL_TEXT_OPTIONS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum tool_option_kind_t {
  TOOL_OPTION_FLAG,     /* bool */
  TOOL_OPTION_TALLY,    /* uint32_t: how often it stands there */
  TOOL_OPTION_TEXT,     /* const char*; the last one counts */
  TOOL_OPTION_LIST,     /* tool_list_t: all of them */
  TOOL_OPTION_COUNT,    /* uint32_t */
  TOOL_OPTION_POSITIVE, /* uint32_t, from 1 on */
  TOOL_OPTION_NUMBER,   /* double, finite, not negative */
  TOOL_OPTION_SIZE      /* uint64_t bytes: 64M, 1.5G, 4096 */
} tool_option_kind_t;

typedef struct tool_option_t {
  const char* name;   /* "--output" */
  const char* letter; /* "o" for -o, or NULL */
  const char* value;  /* "DIR"; NULL for flags */
  tool_option_kind_t kind;
  size_t offset;    /* of the field in the group's structure */
  const char* help; /* NULL: works, but is not shown (another tool's name for it) */
} tool_option_t;

/* NULL-terminated once it has an item. */
typedef struct tool_list_t {
  const char** items;
  size_t count;
  size_t capacity;
} tool_list_t;

void tool_list_add(tool_list_t* list, const char* item);
void tool_list_free(tool_list_t* list);

typedef struct tool_option_group_t {
  const char* title;
  const tool_option_t* options;
  size_t count;
  void* target;
} tool_option_group_t;

#define TOOL_OPTION_GROUP(title, table, target) \
  { (title), (table), sizeof(table) / sizeof((table)[0]), (target) }

/* A subcommand. */
typedef struct tool_command_t {
  const char* name;
  const char* operands; /* "MODEL|PLAN" */
  size_t operands_min;
  size_t operands_max;
  const char* summary;     /* one line */
  const char* description; /* paragraphs for --help, "" for none */
  const char* examples;    /* lines */
  int (*run)(int argc, char** argv);
} tool_command_t;

/* Fills the groups' structures and the operands. False when the command is over: *out_exit is its
 * exit status (help was printed, or something is wrong and was said). */
bool tool_options_parse(const tool_command_t* command, const tool_option_group_t* groups,
                        size_t group_count, int argc, char** argv, tool_list_t* out_operands,
                        int* out_exit);

/* "64M", "1.5G": bytes. False when it is no size. */
bool tool_parse_size(const char* text, uint64_t* out_bytes);
/* The nearest of `count` words by edit distance, NULL when none is near. */
const char* tool_nearest_word(const char* word, const char* const* words, size_t count);

#endif
