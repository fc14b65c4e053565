/* tenon suite: what its files share. suite.c finds the cases, runs each in a child, and concludes;
 * suite_case.c is the child's side: one case, from model.onnx to the comparison; suite_devices.c is
 * where its steps ran. */
#ifndef TOOL_COMMAND_SUITE_H_
#define TOOL_COMMAND_SUITE_H_

#include "session/cases.h"
#include "session/session.h"
#include "session/task.h"

/* On the subcommand's stack. Children have a copy of it, as it was when they were forked. */
typedef struct tool_suite_t {
  /* `model`: a folder of cases. `registry`: in a child. */
  tool_task_t task;
  /* --known: cases that do not pass, with reasons; `known` is what it holds. */
  const char* known_path;
  /* A pattern of names; NULL: all. */
  const char* filter;
  /* Fewer that pass are a failure: skipped cases would otherwise go unseen. */
  uint32_t at_least;
  /* Cases at a time; the machine's processors where it is not given. */
  uint32_t jobs;
  /* Cases that one child runs while they pass; 0: one. */
  uint32_t cases_a_process;
  /* Seconds for one case; 0: no limit. */
  double timeout;
  double rtol;
  double atol;
  /* A case that cannot be built without the value of an input does not pass. It is built with
   * the recorded value as a constant all the same, to tell how many would. */
  bool no_constants;
  tool_cases_t cases;
  tool_known_list_t known;
  size_t done_count; /* for the bar */
  /* In a child. What it runs next begins before what it ran last goes, so that the devices that
   * both need stay open. */
  tool_session_t* last;
} tool_suite_t;

/* A job of session/children.h, `user` a suite: runs case `index`, in a child. Gives TOOL_CASE_*;
 * the message holds the inputs whose values it needs, an end of line, the kernels that ran on the
 * host, an end of line, and why it did not pass. */
char tool_suite_run_case(void* user, size_t index, char* out_message, size_t size);

/* After a run: adds "plugin:kernel" of each step that the host computed, each once, separated by
 * blanks. What makes shapes, copies and control are no work for a device. */
tenon_status_t tool_suite_list_host(const tool_execution_t* execution, char* inout_kernels,
                                    size_t size);
/* In how many of the cases that passed every step ran on the devices; with --verbose the kernels
 * of the host's steps, and in how many cases. Says nothing where no device was asked for. */
void tool_suite_print_devices(const tool_suite_t* suite);

#endif
