/* Files, mapped for reading, or written completely through a temporary name. Monotonic time. */
#ifndef TENON_CORE_BASE_FILE_H_
#define TENON_CORE_BASE_FILE_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* `data` is never NULL while it is mapped. The contents change if another process writes to the
 * file in place; tenon__file_write does not do that. */
typedef struct tenon__mapped_file_t {
  const void* data;
  size_t size;
  int descriptor; /* -1: closed */
} tenon__mapped_file_t;

/* Maps a regular file. An empty file gives size 0. Never waits, not even for a pipe. Returns
 * NOT_FOUND, DENIED, OUT_OF_MEMORY or IO from errno, or INVALID_ARGUMENT for other kinds of files,
 * with path and errno's text. */
tenon_status_t tenon__file_map(const char* path, const tenon_sink_t* sink,
                               tenon__mapped_file_t* out_file);
/* Maps a file inside a folder: `path` is relative to the directory `folder`. Returns DENIED, with
 * the reason, for "..", an absolute path, or a symbolic link that leads outside. */
tenon_status_t tenon__file_map_inside(const char* folder, const char* path,
                                      const tenon_sink_t* sink, tenon__mapped_file_t* out_file);
/* Marks a part of a mapped file that will be read rarely. The kernel then maps small pages there,
 * so that neighbouring data are not loaded. It only saves memory and cannot fail. */
void tenon__file_expect_rare_reads(const tenon__mapped_file_t* file, const void* data, size_t size);
/* Unmaps a file; call it once for each mapping. Pointers into it become invalid. The structure is
 * empty afterwards. */
void tenon__file_unmap(tenon__mapped_file_t* file);
/* Returns read-only zeros, which use no memory until they are read. NULL if there is no address
 * space. */
const void* tenon__zeros_map(size_t size_bytes);
void tenon__zeros_unmap(const void* zeros, size_t size_bytes);
/* Writes to `path`.tmp-PID, syncs, renames. If `path` is a symbolic link, it stays, and its target
 * is replaced. Readers see the old or the new file, never a part. On failure the old file is
 * unchanged and the temporary one is removed. Returns INVALID_ARGUMENT if the target is not a
 * regular file (a device, a pipe, a folder). */
tenon_status_t tenon__file_write(const char* path, const void* data, size_t size_bytes,
                                 const tenon_sink_t* sink);
/* Same for a file whose data from `rare_offset` on are read sparsely by readers that map it. These
 * data are written in small parts, because Linux caches each part in one block and maps whole
 * blocks. */
tenon_status_t tenon__file_write_rare(const char* path, const void* data, size_t size_bytes,
                                      size_t rare_offset, const tenon_sink_t* sink);
double tenon__seconds(void); /* monotonic clock */

/* ---- For this file and its test only ----
 *
 * A model contains the names of its weight files. A name must not lead outside of the model's
 * folder, even if a link changes between check and opening. Therefore the opening itself is
 * confined. */

/* Returns true if the path is not empty, not absolute and has no "..". */
bool tenon__path_stays_inside(const char* path);

/* Both open `path` (tenon__path_stays_inside) for reading and return a descriptor, or -1 and errno:
 * EXDEV or ELOOP if a link leads outside. If the kernel cannot confine look-ups, the first calls
 * the second, which opens the folders one by one and follows no links. The caller closes the
 * descriptor; `folder` stays open. */
int tenon__open_inside(int folder, const char* path);
int tenon__open_inside_by_steps(int folder, const char* path);

#endif
