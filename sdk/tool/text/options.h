/*
 * The command line: tables of options that parse and explain themselves. A subcommand puts several
 * groups together; each group fills a structure of its own.
 *
 * `--name VALUE` and `--name=VALUE` are the same; `--` ends the options; what is no option is an
 * operand. Nothing is ignored: what cannot act, contradicts another option or stands there twice
 * with other values is refused.
 */
#ifndef TOOL_TEXT_OPTIONS_H_
#define TOOL_TEXT_OPTIONS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tenon/tenon.h"

typedef enum tool_option_kind_t {
  TOOL_OPTION_FLAG,     /* bool */
  TOOL_OPTION_TALLY,    /* uint32_t: how often it stands there */
  TOOL_OPTION_TEXT,     /* const char*, not empty */
  TOOL_OPTION_LIST,     /* tool_list_t: all of them */
  TOOL_OPTION_COUNT,    /* uint32_t */
  TOOL_OPTION_POSITIVE, /* uint32_t, from 1 on */
  TOOL_OPTION_NUMBER,   /* double, finite, not negative */
  TOOL_OPTION_AMOUNT,   /* double, finite, above 0 */
  TOOL_OPTION_SIZE      /* uint64_t bytes: 64M, 1.5G, 100B; large ones without a unit too */
} tool_option_kind_t;

/* What an option acts on; none of the first four: on everything. */
enum {
  TOOL_FOR_PARSING = 1,
  TOOL_FOR_BUILDING = 2,
  TOOL_FOR_PLANS = 4, /* looking at a plan */
  TOOL_FOR_RUNNING = 8,
  TOOL_FOR_MODELS = TOOL_FOR_PARSING | TOOL_FOR_BUILDING,
  TOOL_RARE = 16, /* --help leaves it out, --help-all does not */
};

/* One row of a group's table. Also what --help prints of it, in the order of the table. */
typedef struct tool_option_t {
  const char* name;   /* "--output" */
  const char* letter; /* "o" for -o, or NULL */
  const char* value;  /* "DIR"; NULL for flags */
  tool_option_kind_t kind;
  /* Of the field in the group's structure, whose type is that of the kind. */
  uint32_t offset;
  /* TOOL_FOR_..., TOOL_RARE; see tool_arguments_check. */
  uint32_t traits;
  /* NULL: works, but is not shown (another tool's name for it). */
  const char* help;
} tool_option_t;

/* What holds between options of one command, besides what the kinds say. Checked when all groups
 * are filled. */
typedef struct tool_option_rule_t {
  const char* name; /* when it is given */
  /* Names with blanks between, one of which must be given too; or NULL. */
  const char* needs;
  /* Likewise: none of them may be given; or NULL. */
  const char* against;
} tool_option_rule_t;

/* Texts, borrowed (from the command line, or whoever added them); NULL-terminated once it has an
 * item. */
typedef struct tool_list_t {
  const char** items;
  size_t count;
  size_t capacity;
} tool_list_t;

void tool_list_add(tool_list_t* list, const char* item);
void tool_list_free(tool_list_t* list);

/* A table with what it fills. Groups of one command have no name twice. */
typedef struct tool_option_group_t {
  const char* title;
  const tool_option_t* options;
  size_t count;
  /* The group's structure, holding the defaults. */
  void* target;
  const tool_option_rule_t* rules;
  size_t rule_count;
  /* Of the command: --help shows all of it, of other groups only what is not rare. */
  bool is_subject;
} tool_option_group_t;

#define TOOL_OPTION_GROUP(title, table, target) \
  { (title), (table), sizeof(table) / sizeof((table)[0]), (target), NULL, 0, true }
#define TOOL_OPTION_GROUP_RULED(title, table, rules, target)                 \
  {                                                                          \
    (title), (table), sizeof(table) / sizeof((table)[0]), (target), (rules), \
        sizeof(rules) / sizeof((rules)[0]), true                             \
  }

/* A subcommand; constant, one in each file of command/. */
typedef struct tool_command_t {
  const char* name;
  const char* operands; /* "MODEL|PLAN" */
  size_t operands_min;
  size_t operands_max;
  const char* summary;     /* one line */
  const char* description; /* paragraphs for --help, "" for none */
  const char* examples;    /* lines */
  /* Gets what stands behind its name on the command line; returns an exit status (console.h). */
  int (*run)(int argc, char** argv);
} tool_command_t;

/* One option as it stood there. */
typedef struct tool_given_t {
  const tool_option_t* option;
  const char* value; /* NULL for flags */
} tool_given_t;
/* What the command line holds; texts are borrowed from it. */
typedef struct tool_arguments_t {
  tool_list_t operands;
  tool_given_t* given; /* in their order */
  size_t given_count;
  size_t given_capacity;
} tool_arguments_t;

/* Fills the groups' structures and the arguments. False when the command is over: *out_exit is its
 * exit status (help was printed, or something is wrong and was said). */
bool tool_options_parse(const tool_command_t* command, const tool_option_group_t* groups,
                        size_t group_count, int argc, char** argv, tool_arguments_t* out_arguments,
                        int* out_exit);
void tool_arguments_free(tool_arguments_t* arguments);
/* What tool_options_parse checks last: the groups' rules. */
bool tool_arguments_follow(const tool_arguments_t* arguments, const tool_option_group_t* groups,
                           size_t group_count);
bool tool_arguments_have(const tool_arguments_t* arguments, const char* option);
/* Refuses (INVALID_ARGUMENT, a misuse) an option that acts on none of what `happens`
 * (TOOL_FOR_...): nothing that is asked for is left out in silence. `because`: "x.plan is a plan
 * already". */
tenon_status_t tool_arguments_check(const tool_arguments_t* arguments, uint32_t happens,
                                    const char* because);

/* "64M", "1.5G", "64MiB": bytes. False when it is no size. */
bool tool_parse_size(const char* text, uint64_t* out_bytes);

#endif
