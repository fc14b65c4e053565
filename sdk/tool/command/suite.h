/* tenon suite: what its two files share. */
#ifndef TOOL_COMMAND_SUITE_H_
#define TOOL_COMMAND_SUITE_H_

#include "session/building.h"
#include "session/cases.h"
#include "session/common.h"

typedef struct tool_suite_t {
  tool_common_t common;
  tool_building_t building;
  const char* known_path;
  const char* filter;
  uint32_t at_least;
  uint32_t jobs;
  double timeout;
  double rtol;
  double atol;
  bool no_constants;
  const char* root;
  tool_cases_t cases;
  tool_known_list_t known;
  size_t done_count;
} tool_suite_t;

/* A job of session/children.h, `user` a suite: runs case `index`, in a child. Gives TOOL_CASE_*;
 * the words are the inputs whose values it needs, an end of line, and why it did not pass. */
char tool_suite_run_case(void* user, size_t index, char* out_message, size_t size);

#endif
