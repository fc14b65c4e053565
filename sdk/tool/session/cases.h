/* The cases of a suite: folders with model.onnx and test_data_set_*, as ONNX's own suite has
 * them; and those that are known not to pass. */
#ifndef TOOL_SESSION_CASES_H_
#define TOOL_SESSION_CASES_H_

#include <stdbool.h>

#include "tenon/tenon.h"

/* How a case ended; the children say so with these letters. */
enum { TOOL_CASE_PASSED = 'p', TOOL_CASE_FAILED = 'f', TOOL_CASE_SKIPPED = 's' };

/* One case, and how it ended once it has run; texts are freed with the list. */
typedef struct tool_case_t {
  char* folder;
  /* The folder below the suite's: it points into `folder`. */
  const char* name;
  /* TOOL_CASE_*; 0 before. */
  char result;
  /* Why it did not pass, in one line; "" where it did. */
  char* message;
  /* Those whose values must be known when building for it to pass; "" for none. */
  char* inputs;
  /* Kernels of its steps that ran on the host although a device was asked for, separated by
   * blanks; "" for none. */
  char* host_kernels;
  bool is_known; /* it does not pass, as a pattern says */
  double seconds;
} tool_case_t;

typedef struct tool_cases_t {
  tool_case_t* items;
  size_t count;
  size_t capacity;
} tool_cases_t;

/* In order of their names. `filter` (a pattern of * and ?, also across '/') may be NULL. Folders
 * are searched 12 deep, hidden ones not. None found is no failure here. */
void tool_cases_find(const char* root, const char* filter, tool_cases_t* out_cases);
void tool_cases_free(tool_cases_t* cases);
/* By the name of the folder alone, without its path. */
bool tool_case_is_data_set(const char* name);

/* A pattern and why the cases that it names do not pass. */
typedef struct tool_known_t {
  char* pattern;
  char* reason;
  /* By chance: its numbers are random, say. Otherwise a case that passes is a failure of the
   * list. */
  bool may_pass;
  /* Cases that it named in this run: a pattern that names none is out of date. */
  uint32_t match_count;
} tool_known_t;

typedef struct tool_known_list_t {
  tool_known_t* items;
  size_t count;
  size_t capacity;
} tool_known_list_t;

/* Lines of a pattern, white space and a reason; # begins a comment, and ~ a pattern whose cases
 * may also pass. INVALID_DATA, with the line, for a pattern without a reason. */
tenon_status_t tool_known_read(const char* path, tool_known_list_t* out_known);
void tool_known_free(tool_known_list_t* known);
/* The first in the file that names the case, by * and ? as `filter` does; NULL: none. The caller
 * counts the match. */
tool_known_t* tool_known_find(const tool_known_list_t* known, const char* name);

#endif
