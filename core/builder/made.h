/* The bytes of a plan built here, until they pass to the caller or are freed. */
#ifndef TENON_CORE_BUILDER_MADE_H_
#define TENON_CORE_BUILDER_MADE_H_

#include "core/base/allocator.h"

typedef struct tenon__made_t {
  tenon_allocator_t allocator;
  void* data;
  size_t size_bytes;
} tenon__made_t;

/* Frees the bytes, if any. The structure can then be used again. */
static inline void tenon__made_free(tenon__made_t* made) {
  tenon__free(made->allocator, made->data, made->size_bytes);
  made->data = NULL;
  made->size_bytes = 0;
}

#endif
