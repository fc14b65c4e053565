/* An arena: many small allocations, freed together. Not thread safe. */
#ifndef TENON_CORE_BASE_ARENA_H_
#define TENON_CORE_BASE_ARENA_H_

#include <stdbool.h>

#include "tenon/plugin.h"

typedef struct tenon__arena_t {
  tenon_allocator_t allocator;
  struct tenon__arena_block_t* blocks;
  size_t used_bytes; /* of the newest block */
  size_t total_bytes;
  bool failed; /* an allocation did; for who calls what says nothing of memory */
} tenon__arena_t;

void tenon__arena_initialize(tenon__arena_t* out_arena, tenon_allocator_t allocator);
void tenon__arena_deinitialize(tenon__arena_t* arena);
/* Zero-filled, aligned to 16; NULL when memory is out or the product overflows. */
void* tenon__arena_allocate(tenon__arena_t* arena, size_t count, size_t size_bytes);
/* So many bytes, likewise, aligned to 64: what kernels are promised. */
void* tenon__arena_allocate_aligned(tenon__arena_t* arena, size_t size_bytes);
/* Copies; both end with NUL. NULL when memory is out. */
char* tenon__arena_copy_string(tenon__arena_t* arena, const char* text);
char* tenon__arena_copy_text(tenon__arena_t* arena, const char* data, size_t size);
void* tenon__arena_copy(tenon__arena_t* arena, const void* data, size_t size_bytes);
char* tenon__arena_format(tenon__arena_t* arena, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
