/* Work in child processes: each job runs in one of its own, so that a crash or a hang is that job's
 * alone. */
#ifndef TOOL_SESSION_CHILDREN_H_
#define TOOL_SESSION_CHILDREN_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a job says at its end: one character for a program, then words for a person. */
typedef struct tool_job_result_t {
  char code;     /* the job's own; '!' when the child did not end well */
  char* message; /* why, then */
  double seconds;
} tool_job_result_t;

/* Runs in the child: returns the code and fills the words. */
typedef char (*tool_job_t)(void* user, size_t index, char* out_message, size_t size);
/* Runs in the parent, in order of completion. */
typedef void (*tool_job_done_t)(void* user, size_t index, const tool_job_result_t* result);

/* All jobs, `parallel` at a time, each killed after `timeout_seconds` (0: never). False when no
 * child can be made, or on an interrupt. */
bool tool_children_run(size_t job_count, uint32_t parallel, double timeout_seconds, tool_job_t job,
                       tool_job_done_t done, void* user);

#endif
