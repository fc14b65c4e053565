/* Files: mapped for reading, written whole through a temporary name. Monotonic time. */
#ifndef TENON_CORE_BASE_FILE_H_
#define TENON_CORE_BASE_FILE_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* `data` is never NULL while it is mapped. What it shows changes if somebody writes to the file
 * meanwhile; who replaces files through tenon__file_write does not. */
typedef struct tenon__mapped_file_t {
  const void* data;
  size_t size;
  int descriptor; /* -1 once closed */
} tenon__mapped_file_t;

/* Regular files only; the message names the path and errno's words. An empty file gives size 0.
 * NOT_FOUND, DENIED, OUT_OF_MEMORY or IO as errno says; INVALID_ARGUMENT for what is no regular
 * file. Never waits, not for a pipe either. */
tenon_status_t tenon__file_map(const char* path, const tenon_sink_t* sink,
                               tenon__mapped_file_t* out_file);
/* Confined: `path` is relative to the open directory `folder`; no "..", no absolute path, no
 * symbolic link that leads outside of it. DENIED says which. */
tenon_status_t tenon__file_map_inside(const char* folder, const char* path,
                                      const tenon_sink_t* sink, tenon__mapped_file_t* out_file);
/* A part of a mapped file of which little will be read: the kernel maps small pages there, so that
 * what lies beside them does not count. Only saves memory; cannot fail. */
void tenon__file_expect_rare_reads(const tenon__mapped_file_t* file, const void* data, size_t size);
/* Once for each mapping; what points into it is void. The struct is empty afterwards. */
void tenon__file_unmap(tenon__mapped_file_t* file);
/* Zeros to read, which take no memory until they are read. NULL when there is no room. */
const void* tenon__zeros_map(size_t size_bytes);
void tenon__zeros_unmap(const void* zeros, size_t size_bytes);
/* Writes to `path`.tmp-PID, syncs, renames. A symbolic link stays, and the file that it leads to is
 * replaced; anything but a regular file (a device, a pipe, a folder) is not: INVALID_ARGUMENT.
 * Readers see the old file or the new one, never a part. On failure the old one is as it was, and
 * the temporary one is gone. */
tenon_status_t tenon__file_write(const char* path, const void* data, size_t size_bytes,
                                 const tenon_sink_t* sink);
/* Of what begins at `rare_offset` readers that map the file will read little here and there. It is
 * written in small pieces: Linux caches a piece in one block, and maps whole blocks. */
tenon_status_t tenon__file_write_rare(const char* path, const void* data, size_t size_bytes,
                                      size_t rare_offset, const tenon_sink_t* sink);
double tenon__seconds(void); /* monotonic clock */

/* ---- For this file and its test alone ----
 *
 * A model names the files of its weights: a name must not reach what the model's folder does not
 * hold, also when a link is changed between a check and the opening. So the opening itself is
 * confined. */

/* Not empty, not absolute, no "..". */
bool tenon__path_stays_inside(const char* path);

/* Both open `path`, which stays inside, for reading, and give a descriptor or -1 and errno: EXDEV
 * or ELOOP when a link leads outside. Where the kernel cannot confine a look-up itself, the first
 * falls back on the second, which walks the folders one by one and follows no links at all. The
 * descriptor is the caller's to close; `folder` stays open. */
int tenon__open_inside(int folder, const char* path);
int tenon__open_inside_by_steps(int folder, const char* path);

#endif
