/* A crash names whose code it happened in, with --json as an object too, before the process ends as
 * it would have. */
#ifndef TOOL_TEXT_CRASH_H_
#define TOOL_TEXT_CRASH_H_

#include <stddef.h>

/* Where nobody else handles SIGSEGV and its like, such as a sanitizer. `note` gets the path of a
 * plugin whose code crashed while it was loaded or started, and returns the path of the list that it
 * added it to, or "". It must be async-signal-safe. */
void tool_crash_catch(const char* (*note)(const char* path));
/* In a child: the line goes into this memory, which the child shares with its parent, instead of to
 * standard error, and no plugin is set aside. SIGALRM, a time limit, is such an end too. NULL: to
 * standard error again. */
void tool_crash_redirect(char* text, size_t size_bytes);

#endif
