/* A file holds the digest of what follows, then that. */
#include "core/kernel/blob_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/allocator.h"
#include "core/base/file.h"
#include "core/base/status.h"

enum { NAME_LENGTH = 64 }; /* hexadecimal digits */

/* One that was found: as it lies in its file. */
typedef struct found_t {
  struct found_t* next;
  tenon__digest_t key;
  tenon__mapped_file_t file;
} found_t;

struct tenon__blob_folder_t {
  tenon_allocator_t allocator;
  const tenon_sink_t* sink;
  pthread_mutex_t mutex;
  char* path;
  found_t* found;
  bool has_written;
  bool has_failed;
};

tenon_status_t tenon__blob_folder_create(tenon_allocator_t allocator, const char* path,
                                         const tenon_sink_t* sink,
                                         tenon__blob_folder_t** out_folder) {
  const size_t size = strlen(path) + 1;
  tenon__blob_folder_t* folder = tenon__allocate(allocator, 1, sizeof *folder);
  TENON_TRY_MEMORY(folder != NULL);
  folder->allocator = allocator;
  folder->sink = sink;
  folder->path = tenon__allocate(allocator, size, 1);
  if (folder->path == NULL || pthread_mutex_init(&folder->mutex, NULL) != 0) {
    tenon__free(allocator, folder->path, size);
    tenon__free(allocator, folder, sizeof *folder);
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  memcpy(folder->path, path, size);
  *out_folder = folder;
  return TENON_OK;
}

void tenon__blob_folder_destroy(tenon__blob_folder_t* folder) {
  if (folder == NULL) {
    return;
  }
  const tenon_allocator_t allocator = folder->allocator;
  while (folder->found != NULL) {
    found_t* found = folder->found;
    folder->found = found->next;
    tenon__file_unmap(&found->file);
    tenon__free(allocator, found, sizeof *found);
  }
  if (folder->has_written) {
    tenon__blob_folder_trim(allocator, folder->path, TENON_BLOB_FOLDER_LIMIT);
  }
  (void)pthread_mutex_destroy(&folder->mutex);
  tenon__free(allocator, folder->path, strlen(folder->path) + 1);
  tenon__free(allocator, folder, sizeof *folder);
}

/* "FOLDER/DIGITS"; NULL: memory is out. */
static char* path_of(const tenon__blob_folder_t* folder, const tenon__digest_t* key,
                     size_t* out_size) {
  char digits[NAME_LENGTH + 1];
  tenon__digest_text(key, digits);
  *out_size = strlen(folder->path) + 1 + sizeof(digits);
  char* path = tenon__allocate(folder->allocator, *out_size, 1);
  if (path != NULL) {
    (void)snprintf(path, *out_size, "%s/%s", folder->path, digits);
  }
  return path;
}

static bool is_whole(const tenon__mapped_file_t* file) {
  tenon__digest_t own;
  if (file->size <= sizeof own) {
    return false;
  }
  own = tenon__digest_of((const uint8_t*)file->data + sizeof own, file->size - sizeof own);
  return memcmp(&own, file->data, sizeof own) == 0;
}

/* Maps a blob's file, whose time then says that it was used. The caller holds the mutex. */
static found_t* look_for(tenon__blob_folder_t* folder, const tenon__digest_t* key) {
  size_t size = 0;
  char* path = path_of(folder, key, &size);
  found_t* found = tenon__allocate(folder->allocator, 1, sizeof *found);
  const bool is_there = path != NULL && found != NULL && access(path, R_OK) == 0 &&
                        tenon__file_map(path, NULL, &found->file) == TENON_OK;
  if (is_there && is_whole(&found->file)) {
    (void)utimensat(AT_FDCWD, path, NULL, 0);
    found->key = *key;
    found->next = folder->found;
    folder->found = found;
  } else {
    if (is_there) {
      tenon__file_unmap(&found->file);
      (void)unlink(path); /* damaged */
    }
    tenon__free(folder->allocator, found, sizeof *found);
    found = NULL;
  }
  tenon__free(folder->allocator, path, size);
  return found;
}

static found_t* find(tenon__blob_folder_t* folder, const tenon__digest_t* key) {
  found_t* found = folder->found;
  while (found != NULL && memcmp(&found->key, key, sizeof *key) != 0) {
    found = found->next;
  }
  return found != NULL ? found : look_for(folder, key);
}

const void* tenon__blob_folder_find(tenon__blob_folder_t* folder, const tenon__digest_t* key,
                                    size_t* out_size) {
  *out_size = 0;
  if (folder == NULL) {
    return NULL;
  }
  (void)pthread_mutex_lock(&folder->mutex);
  const found_t* found = find(folder, key);
  (void)pthread_mutex_unlock(&folder->mutex);
  if (found == NULL) {
    return NULL;
  }
  *out_size = found->file.size - sizeof(tenon__digest_t);
  return (const uint8_t*)found->file.data + sizeof(tenon__digest_t);
}

static tenon_status_t write_blob(const tenon__blob_folder_t* folder, const char* path,
                                 const void* data, size_t size_bytes) {
  const tenon__digest_t own = tenon__digest_of(data, size_bytes);
  const size_t size = sizeof own + size_bytes;
  uint8_t* whole = tenon__allocate(folder->allocator, size, 1);
  TENON_TRY_MEMORY(whole != NULL);
  memcpy(whole, &own, sizeof own);
  memcpy(whole + sizeof own, data, size_bytes);
  (void)mkdir(folder->path, 0700);
  const tenon_status_t status = tenon__file_write(path, whole, size, NULL);
  tenon__free(folder->allocator, whole, size);
  return status;
}

void tenon__blob_folder_keep(tenon__blob_folder_t* folder, const tenon__digest_t* key,
                             const void* data, size_t size_bytes) {
  size_t size = 0;
  if (folder == NULL || size_bytes == 0) {
    return;
  }
  (void)pthread_mutex_lock(&folder->mutex);
  char* path = path_of(folder, key, &size);
  if (path != NULL && !folder->has_failed && access(path, F_OK) != 0) {
    folder->has_written = true;
    folder->has_failed = write_blob(folder, path, data, size_bytes) != TENON_OK;
    if (folder->has_failed) {
      tenon__report(
          folder->sink, TENON_SEVERITY_WARNING,
          "compiled kernels cannot be kept in '%s', and are compiled again in each build: "
          "check the folder's permissions and the disk's free space",
          folder->path);
    }
  }
  tenon__free(folder->allocator, path, size);
  (void)pthread_mutex_unlock(&folder->mutex);
}

/* ---- The limit ---- */

typedef struct kept_t {
  struct timespec used;
  uint64_t bytes;
  char name[NAME_LENGTH + 1];
} kept_t;

static int compare_age(const void* left, const void* right) {
  const kept_t* a = left;
  const kept_t* b = right;
  if (a->used.tv_sec != b->used.tv_sec) {
    return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
  }
  return a->used.tv_nsec < b->used.tv_nsec ? -1 : a->used.tv_nsec > b->used.tv_nsec;
}

static bool is_blob_name(const char* name) {
  return strlen(name) == NAME_LENGTH && strspn(name, "0123456789abcdef") == NAME_LENGTH;
}

/* The blobs of an open folder; *out_count of them in an array of *out_capacity. */
static kept_t* list_blobs(tenon_allocator_t allocator, DIR* folder, size_t* out_count,
                          size_t* out_capacity, uint64_t* out_bytes) {
  kept_t* items = NULL;
  struct dirent* entry = NULL;
  while ((entry = readdir(folder)) != NULL) {
    struct stat about;
    if (!is_blob_name(entry->d_name) ||
        fstatat(dirfd(folder), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(about.st_mode) || !TENON_GROW(allocator, items, *out_capacity, *out_count + 1)) {
      continue;
    }
    kept_t* item = &items[(*out_count)++];
    *item = (kept_t){.used = about.st_mtim, .bytes = (uint64_t)about.st_size};
    memcpy(item->name, entry->d_name, NAME_LENGTH);
    *out_bytes += item->bytes;
  }
  return items;
}

void tenon__blob_folder_trim(tenon_allocator_t allocator, const char* path, uint64_t limit_bytes) {
  size_t count = 0;
  size_t capacity = 0;
  uint64_t bytes = 0;
  DIR* folder = opendir(path);
  if (folder == NULL) {
    return;
  }
  kept_t* items = list_blobs(allocator, folder, &count, &capacity, &bytes);
  if (bytes > limit_bytes) {
    qsort(items, count, sizeof *items, compare_age);
  }
  for (size_t k = 0; k < count && bytes > limit_bytes; ++k) {
    if (unlinkat(dirfd(folder), items[k].name, 0) == 0) {
      bytes -= items[k].bytes;
    }
  }
  tenon__free(allocator, items, capacity * sizeof *items);
  (void)closedir(folder);
}
