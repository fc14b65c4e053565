/*
 * Checks whether a file is still the one that was inspected. A name can be given to another file
 * between inspection and loading. Device and inode cannot while a descriptor is open. Times reveal
 * a file that was written in place.
 */
#ifndef TENON_PLUGIN_REGISTRY_FILE_IDENTITY_H_
#define TENON_PLUGIN_REGISTRY_FILE_IDENTITY_H_

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Result of one fstat. */
typedef struct tenon__file_identity_t {
  dev_t device;
  ino_t inode;
  uint64_t size_bytes;
  struct timespec modified; /* contents */
  struct timespec changed;  /* contents, owner, mode, names */
} tenon__file_identity_t;

static inline tenon__file_identity_t tenon__file_identity(const struct stat* status) {
  return (tenon__file_identity_t){status->st_dev, status->st_ino, (uint64_t)status->st_size,
                                  status->st_mtim, status->st_ctim};
}

static inline bool tenon__same_time(struct timespec a, struct timespec b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* Returns true for the same inode with the same bytes, regardless of name and permissions. For a
 * loaded image: it is not refused after its file was renamed or its mode changed. */
static inline bool tenon__same_contents(const tenon__file_identity_t* a,
                                        const tenon__file_identity_t* b) {
  return a->device == b->device && a->inode == b->inode && a->size_bytes == b->size_bytes &&
         tenon__same_time(a->modified, b->modified);
}

/* Returns true if nothing about it has changed. For a file between scan and load: a changed mode
 * may remove the reason of a refusal. */
static inline bool tenon__same_file(const tenon__file_identity_t* a,
                                    const tenon__file_identity_t* b) {
  return tenon__same_contents(a, b) && tenon__same_time(a->changed, b->changed);
}

#endif
