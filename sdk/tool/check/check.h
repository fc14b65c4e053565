/*
 * Checks of one plugin file. Each check is done by a child process, so that a crash or an endless
 * loop ends that check alone. The parent loads no code of the plugin and has no registry.
 */
#ifndef TOOL_CHECK_CHECK_H_
#define TOOL_CHECK_CHECK_H_

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "check/text.h"
#include "session/common.h"

/* Of the text about the case at hand. */
enum { CHECK_NOTE_BYTES = 1024 };

typedef struct check_t {
  const tool_common_t* common;
  char* path; /* of the file, absolute */
  uint64_t seed;
  uint32_t cases; /* that are drawn for each operator of a kernel */
  double seconds; /* limit of one check */
  uint32_t jobs;  /* checks at a time */
  regex_t* only;  /* NULL: all checks */
  /* In a child: the plugin, loaded at the first check of phase 2, and the case at hand, in memory
   * that the parent reads after a crash. */
  struct check_plugin_t* plugin;
  char* note;
} check_t;

/* The outcome of a check. */
enum { CHECK_OK = '.', CHECK_FAILED = 'F', CHECK_SKIPPED = 's' };

/* One kind of check. */
typedef struct check_kind_t {
  const char* name;
  uint32_t phase;
  /* In a child: its subjects, one line each. NULL: the file is the only one. */
  void (*list)(const check_t* check, check_text_t* text);
  /* In a child. Returns CHECK_*, and writes the details. Of the file, or NULL: by cases, as `plan`
   * says it. */
  char (*run)(check_t* check, check_text_t* text);
  const struct check_plan_t* plan;
} check_kind_t;

/* Returns the number of failed checks. A failure: the checks could not be done. */
tenon_status_t tool_check_run(check_t* check, uint32_t* out_failed);

#endif
