/*
 * Plugins that are set aside: their files ended an earlier process while they were loaded or
 * started. One such file would end every command, whatever the command is about. The file
 * "set_aside" of the cache folder has a line for each, the stamp of tool_file_stamp: a file that
 * has changed since is used again.
 */
#ifndef TOOL_SESSION_SET_ASIDE_H_
#define TOOL_SESSION_SET_ASIDE_H_

#include "text/options.h"

/* Once, before tool_set_aside_note may be called. */
void tool_set_aside_prepare(void);
/* Sets the file aside. Async-signal-safe. Returns the path of the list, "" if the file could not be
 * added to it. */
const char* tool_set_aside_note(const char* path);
/* Adds the paths that are set aside and unchanged. The list owns its items: free them. */
void tool_set_aside_list(tool_list_t* out_paths);

#endif
