/*
 * The cache folder, $XDG_CACHE_HOME/tenon or ~/.cache/tenon: plans that were built on the way, and
 * the timing cache.
 *
 * An entry is two files: NAME.plan, and NAME.key, a text with everything that the plan depends on.
 * NAME is a hash of the key; the whole key is compared before a plan is used. Entries that were not
 * used for longest go first when the folder grows beyond its limit. The folder is the user's own:
 * whoever can write there can change what the user runs.
 */
#ifndef TOOL_SESSION_CACHE_H_
#define TOOL_SESSION_CACHE_H_

#include <limits.h>
#include <stdbool.h>

#include "tenon/tenon.h"

#define TOOL_CACHE_LIMIT_BYTES (UINT64_C(4) << 30)

/* The folder, which need not exist; NULL: neither variable holds an absolute path. Freed by
 * tool_free. */
char* tool_cache_path(void);
/* NULL, and a reason in *out_message, when there is no folder that can be written. Freed by
 * tool_free. */
char* tool_cache_folder(const char** out_message);

typedef struct tool_cache_entry_t {
  char* folder; /* of the plans */
  char* plan_path;
  char* key_path;
  char* key;
} tool_cache_entry_t;

/* Adopts the key. */
void tool_cache_entry_make(const char* folder, char* key, tool_cache_entry_t* out_entry);
void tool_cache_entry_free(tool_cache_entry_t* entry);

/* True when the plan is there, its key is the same and the files that it came from besides
 * (external weights) have not changed. Prints the warnings that were kept with it. */
bool tool_cache_find(const tool_cache_entry_t* entry);
/* Keeps the key for a plan that was written to entry->plan_path. `files`: paths whose size and time
 * count; `notes`: lines that are warnings. */
tenon_status_t tool_cache_keep(const tool_cache_entry_t* entry, const char* const* files,
                               size_t file_count, const char* notes);
/* The plan is not found any more. Its file stays until another is renamed over it: a process that
 * built the same may be about to open it. */
void tool_cache_drop(const tool_cache_entry_t* entry);
/* Removes the entries that were not used for longest until the limit is kept; `keep` stays. */
void tool_cache_trim(const char* folder, uint64_t limit_bytes, const char* keep);

/* Removes what processes that were killed left half written. */
void tool_cache_collect(const char* folder);

void tool_cache_count(const char* folder, size_t* out_plans, uint64_t* out_bytes);

enum { TOOL_STAMP_BYTES = PATH_MAX + 64 };
/* "PATH SIZE SECONDS.NANOSECONDS\n" identifies a file without reading it; "" if there is no such
 * file. Async-signal-safe. */
void tool_file_stamp(const char* path, char out_stamp[TOOL_STAMP_BYTES]);
/* The path in a stamp, which may lack its line's end, if the file is unchanged; else NULL. Freed by
 * tool_free. */
char* tool_file_stamp_path(const char* stamp);
/* SHA-256 of a file. That of a file of 64 KiB or more is remembered by its stamp. */
tenon_status_t tool_cache_digest(const char* folder, const char* path, char out_digest[65]);

#endif
