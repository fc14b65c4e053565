/* A crash names whose code it happened in, with --json as an object too, before the process ends as
 * it would have. */
#ifndef TOOL_TEXT_CRASH_H_
#define TOOL_TEXT_CRASH_H_

/* Where nobody else handles SIGSEGV and its like, such as a sanitizer. `note` gets the path of a
 * plugin whose code crashed while it was loaded or started, and returns the path of the list that it
 * added it to, or "". It must be async-signal-safe. */
void tool_crash_catch(const char* (*note)(const char* path));

#endif
