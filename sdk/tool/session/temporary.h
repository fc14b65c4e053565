/*
 * Temporary files: each process has a folder tenon-PID-XXXXXX of its own below a parent ($TMPDIR,
 * the cache, memory), and holds a lock on it while it lives. What has no such lock any more was left by a
 * process that was killed, and is removed by the next that makes one there. At its end, interrupted
 * or not, the process removes its own.
 */
#ifndef TOOL_SESSION_TEMPORARY_H_
#define TOOL_SESSION_TEMPORARY_H_

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "tenon/tenon.h"

/* $TMPDIR or /tmp. */
const char* tool_temporary_parent(void);
/* The parent for files that the other one does not take. */
#define TOOL_TEMPORARY_MEMORY "/dev/shm"
/* Makes this process's folder below `parent`, unless there is one: children that are forked later
 * share it. */
tenon_status_t tool_temporary_begin(const char* parent);
/* A name for a file in it that is not there yet; freed by tool_free. */
tenon_status_t tool_temporary_name(const char* parent, char** out_path);
/* Removes what a child left that ended badly. */
void tool_temporary_remove_of(pid_t child);
/* Removes the folders that this process made. */
void tool_temporary_end(void);

/* Is a file of this name (its first `length` letters) one that the command writes there? */
typedef bool (*tool_temporary_is_ours_t)(const char* name, size_t length);

/* Removes what dead processes left below `parent`, and nothing of anybody else's: the folders that
 * tool_temporary_begin made there and that have no lock any more, with the plans in them; and files
 * being written (NAME.tmp-PID) whose process is gone for a minute, where `is_ours` says so of NAME.
 * NULL: no files. */
void tool_temporary_collect(const char* parent, tool_temporary_is_ours_t is_ours);

#endif
