/*
 * Work in child processes: each job runs in one of its own, so that a crash or a hang is that job's
 * alone. A child is forked from this process, so it has all that the parent had then, options
 * included, and must not have threads to miss: call this before there are any. A child dies with
 * its parent, writes no core, and takes an interrupt as nobody had caught it.
 */
#ifndef TOOL_SESSION_CHILDREN_H_
#define TOOL_SESSION_CHILDREN_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a job says at its end: one character for a program, then words for a person. */
typedef struct tool_job_result_t {
  /* The job's own; '!' when the child crashed, was killed for time, or ended without a word. */
  char code;
  /* The job's, or why the child did not end well. Only until the call-back returns. */
  char* message;
  double seconds; /* from fork to end */
} tool_job_result_t;

/* Runs in the child: returns the code and fills the message, of `size` bytes with its NUL. What
 * it changes in memory the parent does not see; files in the shared temporary folder it does. */
typedef char (*tool_job_t)(void* user, size_t index, char* out_message, size_t size);
/* Runs in the parent, in order of completion, one at a time. */
typedef void (*tool_job_done_t)(void* user, size_t index, const tool_job_result_t* result);

/* All jobs, `parallel` (0: one) at a time, each killed after `timeout_seconds` (0: never). False
 * when no child can be made, or on an interrupt: those that run then are killed, and `done` is
 * not called for them. What a killed child left in the temporary folder is removed. */
bool tool_children_run(size_t job_count, uint32_t parallel, double timeout_seconds, tool_job_t job,
                       tool_job_done_t done, void* user);

#endif
