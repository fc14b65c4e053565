/*
 * Work in child processes, so that a crash or a hang is that of one job alone. A child does one
 * job, or several one after the other where that is asked for: it begins with what this process had
 * when it was forked, options included, and what its jobs leave in its memory the next ones find.
 * There must not be threads to miss: call this before there are any. A child dies with its parent,
 * writes no core, and takes an interrupt as nobody had caught it.
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
  double seconds; /* from its begin, of a child's first from the fork, to its end */
} tool_job_result_t;

/* Runs in the child: returns the code and fills the message, of `size` bytes with its NUL. The
 * parent does not see what it changes in memory. */
typedef char (*tool_job_t)(void* user, size_t index, char* out_message, size_t size);
/* Runs in the parent, in order of completion, one at a time. */
typedef void (*tool_job_done_t)(void* user, size_t index, const tool_job_result_t* result);

/* What is to be done. */
typedef struct tool_jobs_t {
  size_t count;
  uint32_t parallel; /* at a time; 0: one */
  /* Jobs that one child may do; 0: one. Only one whose job gave `good` is given another. */
  uint32_t each;
  char good;
  double timeout_seconds; /* of one job, which is killed then; 0: none */
  tool_job_t run;
  tool_job_done_t done;
  void* user;
} tool_jobs_t;

/* All jobs. False when no child can be made, or on an interrupt: those that run then are killed,
 * and `done` is not called for them.
 */
bool tool_children_run(const tool_jobs_t* jobs);

#endif
