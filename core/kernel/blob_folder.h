/*
 * Blobs of kernels, compiled programs mostly, kept in a folder from one build to the next: a file
 * each, named by the digest of its key. A blob only saves time: what cannot be read or written,
 * or is damaged, is made again, and nobody fails. Who can write to the folder decides what runs.
 *
 * Thread safe, and several processes may use one folder at once.
 */
#ifndef TENON_CORE_KERNEL_BLOB_FOLDER_H_
#define TENON_CORE_KERNEL_BLOB_FOLDER_H_

#include "core/base/digest.h"
#include "tenon/plugin.h"

/* Bytes of all files that stay; those that were not used for longest go first, at the end. */
#define TENON_BLOB_FOLDER_LIMIT (UINT64_C(1) << 30)

typedef struct tenon__blob_folder_t tenon__blob_folder_t;

/* The path is copied; the folder is made when the first blob is kept, its parents are not.
 * OUT_OF_MEMORY only. `sink` hears once, as a warning, that nothing can be kept. */
tenon_status_t tenon__blob_folder_create(tenon_allocator_t allocator, const char* path,
                                         const tenon_sink_t* sink,
                                         tenon__blob_folder_t** out_folder);
/* Keeps to the limit where something was written. NULL: nothing happens. */
void tenon__blob_folder_destroy(tenon__blob_folder_t* folder);

/* NULL when it is not there. The bytes stay as long as the folder is open. `folder` may be NULL. */
const void* tenon__blob_folder_find(tenon__blob_folder_t* folder, const tenon__digest_t* key,
                                    size_t* out_size);
/* Nothing happens where one of that key is there, or `folder` is NULL. */
void tenon__blob_folder_keep(tenon__blob_folder_t* folder, const tenon__digest_t* key,
                             const void* data, size_t size_bytes);

/* ---- For its test alone ---- */

/* Removes the oldest files of blobs until so many bytes are left at most. */
void tenon__blob_folder_trim(tenon_allocator_t allocator, const char* path, uint64_t limit_bytes);

#endif
