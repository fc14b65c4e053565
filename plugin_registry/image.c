/* The process's table of images. Entries and descriptors are kept until the process ends, on
 * purpose. */
#include "plugin_registry/image.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base/allocator.h"

static pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER;
static tenon__image_t* table = NULL;

static const tenon__image_t* find(const tenon__file_identity_t* identity) {
  const tenon__image_t* image = table;
  /* A descriptor is open on each, so no other file can have got its number. */
  while (image != NULL &&
         (image->identity.device != identity->device || image->identity.inode != identity->inode)) {
    image = image->next;
  }
  return image;
}

/* The name must lead to the file: /proc may be missing, or be that of another namespace of
 * processes. */
static tenon__finding_t load(tenon__arena_t* arena, int descriptor,
                             const tenon__file_identity_t* identity, void** out_handle) {
  char name[64];
  struct stat status;
  (void)snprintf(name, sizeof(name), "/proc/%ld/fd/%d", (long)getpid(), descriptor);
  if (stat(name, &status) != 0 || status.st_dev != identity->device ||
      status.st_ino != identity->inode) {
    return (tenon__finding_t){TENON_PLUGIN_REASON_NO_PROC, "mount it, as every Linux system does"};
  }
  void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    const char* message = dlerror();
    const char* detail = tenon__arena_copy_string(arena, message == NULL ? "" : message);
    return tenon__finding(TENON_PLUGIN_REASON_LOAD_FAILED, detail);
  }
  *out_handle = handle;
  return TENON_FINDING_NONE;
}

/* Under the lock. Keeps the descriptor only when it makes an entry. */
static tenon__finding_t find_or_load(tenon__arena_t* arena, int descriptor,
                                     const tenon__file_identity_t* identity, bool* out_kept,
                                     const tenon__image_t** out_image) {
  const tenon__image_t* known = find(identity);
  if (known != NULL) {
    if (!tenon__same_contents(&known->identity, identity)) {
      return (tenon__finding_t){TENON_PLUGIN_REASON_CHANGED,
                                "it was loaded and then written in place: start the program anew"};
    }
    *out_image = known;
    return TENON_FINDING_NONE;
  }
  tenon__image_t* image = tenon__allocate(tenon__allocator_default(), 1, sizeof(*image));
  if (image == NULL) {
    return TENON_FINDING_MEMORY;
  }
  const tenon__finding_t finding = load(arena, descriptor, identity, &image->handle);
  if (finding.reason != TENON_PLUGIN_REASON_NONE) {
    tenon__free(tenon__allocator_default(), image, sizeof(*image));
    return finding;
  }
  image->descriptor = descriptor;
  image->identity = *identity;
  image->next = table;
  table = image;
  *out_kept = true;
  *out_image = image;
  return TENON_FINDING_NONE;
}

tenon__finding_t tenon__image_open(tenon__arena_t* arena, int descriptor,
                                   const tenon__file_identity_t* identity,
                                   const tenon__image_t** out_image) {
  bool kept = false;
  (void)pthread_mutex_lock(&table_mutex);
  const tenon__finding_t finding = find_or_load(arena, descriptor, identity, &kept, out_image);
  (void)pthread_mutex_unlock(&table_mutex);
  if (!kept) {
    (void)close(descriptor);
  }
  return finding;
}
