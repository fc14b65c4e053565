/*
 * Temporary files: each process has a folder tenon-PID-XXXXXX of its own below a parent ($TMPDIR,
 * the cache), and holds a lock on it while it lives. What has no such lock any more was left by a
 * process that was killed, and is removed by the next that makes one there. At its end, interrupted
 * or not, the process removes its own.
 */
#ifndef TOOL_SESSION_TEMPORARY_H_
#define TOOL_SESSION_TEMPORARY_H_

#include <sys/types.h>

#include "tenon/tenon.h"

/* $TMPDIR or /tmp. */
const char* tool_temporary_parent(void);
/* Makes this process's folder below `parent`, unless there is one: children that are forked later
 * share it. */
tenon_status_t tool_temporary_begin(const char* parent);
/* A name for a file in it that is not there yet; freed by tool_free. */
tenon_status_t tool_temporary_name(const char* parent, char** out_path);
/* Removes what a child left that ended badly. */
void tool_temporary_remove_of(pid_t child);
/* Removes the folders that this process made. */
void tool_temporary_end(void);

/* Removes what dead processes left below `parent`: folders without a lock, and files being written
 * there (NAME.tmp-PID) whose process is gone for a minute. */
void tool_temporary_collect(const char* parent);

#endif
