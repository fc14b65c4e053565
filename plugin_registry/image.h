/*
 * The shared objects of this process.
 *
 * An image is loaded once, through the checked descriptor, for the life of the process. Its
 * descriptor stays open, because the loader identifies images by name, and the name is
 * /proc/PID/fd/N. It is never unloaded, because its code may run in a thread or in a handler at
 * exit. All registries share one table of the process.
 */
#ifndef TENON_PLUGIN_REGISTRY_IMAGE_H_
#define TENON_PLUGIN_REGISTRY_IMAGE_H_

#include "core/base/arena.h"
#include "plugin_registry/file_identity.h"
#include "plugin_registry/reason.h"

/* Never changed or freed after it was added to the table. */
typedef struct tenon__image_t {
  struct tenon__image_t* next;
  void* handle; /* dlopen's */
  int descriptor;
  tenon__file_identity_t identity;
} tenon__image_t;

/* Adopts the descriptor and loads the image with RTLD_NOW and RTLD_LOCAL. The first time,
 * constructors run in this thread under the table's lock. If the same file is opened again, the
 * same image is returned and the descriptor is closed. Details are in the arena. Reasons: NO_PROC,
 * LOAD_FAILED with the loader's message, CHANGED if the file was loaded before and then written in
 * place, MEMORY. [any] */
tenon__finding_t tenon__image_open(tenon__arena_t* arena, int descriptor,
                                   const tenon__file_identity_t* identity,
                                   const tenon__image_t** out_image);

#endif
