/*
 * The shared objects of this process.
 *
 * An image is loaded once, through the descriptor that was checked, for the life of the process:
 * its descriptor stays open (the loader knows images by their names, and the name is
 * /proc/PID/fd/N), and it is never unloaded, since code of it may be anywhere: in a thread, in a
 * handler at exit. The one table of the process that all registries share.
 */
#ifndef TENON_PLUGIN_REGISTRY_IMAGE_H_
#define TENON_PLUGIN_REGISTRY_IMAGE_H_

#include "core/base/arena.h"
#include "plugin_registry/file_identity.h"
#include "plugin_registry/reason.h"

/* Never changed or freed once it is in the table. */
typedef struct tenon__image_t {
  struct tenon__image_t* next;
  void* handle; /* dlopen's */
  int descriptor;
  tenon__file_identity_t identity;
} tenon__image_t;

/* Adopts the descriptor. RTLD_NOW | RTLD_LOCAL. Reasons: NO_PROC, LOAD_FAILED with the loader's
 * words, CHANGED when the file was loaded before and then written in place, MEMORY. [any] The same
 * file opened again gives the same image, and the descriptor is closed. The first time constructors
 * run, in this thread and under the table's lock. Details lie in the arena. */
tenon__finding_t tenon__image_open(tenon__arena_t* arena, int descriptor,
                                   const tenon__file_identity_t* identity,
                                   const tenon__image_t** out_image);

#endif
