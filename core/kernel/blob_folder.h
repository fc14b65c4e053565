/*
 * Blobs of kernels, mostly compiled programs, kept in a folder between builds. Each is a file named
 * by the digest of its key. A blob only saves time: if a file cannot be read or written, or is
 * damaged, the blob is rebuilt, and no call fails. Users with write access to the folder can run
 * code, so protect it.
 *
 * Thread-safe. Several processes may use one folder at once.
 */
#ifndef TENON_CORE_KERNEL_BLOB_FOLDER_H_
#define TENON_CORE_KERNEL_BLOB_FOLDER_H_

#include "core/base/digest.h"
#include "tenon/plugin.h"

/* Maximum bytes of all files. The least recently used ones are deleted when the folder is
 * closed. */
#define TENON_BLOB_FOLDER_LIMIT (UINT64_C(1) << 30)

typedef struct tenon__blob_folder_t tenon__blob_folder_t;

/* The path is copied. The folder, but not its parents, is created when the first blob is kept.
 * `sink` gets one warning if blobs cannot be kept. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__blob_folder_create(tenon_allocator_t allocator, const char* path,
                                         const tenon_sink_t* sink,
                                         tenon__blob_folder_t** out_folder);
/* Deletes files above the limit if something was written. NULL is accepted. */
void tenon__blob_folder_destroy(tenon__blob_folder_t* folder);

/* Returns NULL if there is no such blob. The bytes are valid while the folder is open. `folder` may
 * be NULL. */
const void* tenon__blob_folder_find(tenon__blob_folder_t* folder, const tenon__digest_t* key,
                                    size_t* out_size);
/* Does nothing if the key exists, or `folder` is NULL. */
void tenon__blob_folder_keep(tenon__blob_folder_t* folder, const tenon__digest_t* key,
                             const void* data, size_t size_bytes);

/* ---- For its test only ---- */

/* Removes the oldest files of blobs until at most `limit_bytes` remain. */
void tenon__blob_folder_trim(tenon_allocator_t allocator, const char* path, uint64_t limit_bytes);

#endif
