/*
 * An arena: many small allocations, freed together. Not thread safe. Blocks double from 4 KiB to 1
 * MiB, so that an arena costs what it holds; what is large gets a block of its own. Nothing is
 * freed before the end, and pointers into it hold until then: that is what makes graphs, texts and
 * plans simple to take apart.
 */
#ifndef TENON_CORE_BASE_ARENA_H_
#define TENON_CORE_BASE_ARENA_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* A copy of the struct shares the blocks: only one of both may go on allocating, or be ended. */
typedef struct tenon__arena_t {
  tenon_allocator_t allocator;
  struct tenon__arena_block_t* blocks;
  size_t used_bytes; /* of the newest block */
  size_t total_bytes;
  /* an allocation did; for who calls what says nothing of memory */
  bool failed;
} tenon__arena_t;

/* Allocates nothing; ending frees every block, and leaves an empty arena that can be used again. */
void tenon__arena_initialize(tenon__arena_t* out_arena, tenon_allocator_t allocator);
void tenon__arena_deinitialize(tenon__arena_t* arena);
/* Zero-filled, aligned to 16; NULL when memory is out or the product overflows. A product of 0
 * gives a pointer, not NULL. */
void* tenon__arena_allocate(tenon__arena_t* arena, size_t count, size_t size_bytes);
/* So many bytes, likewise, aligned to 64: what kernels are promised. */
void* tenon__arena_allocate_aligned(tenon__arena_t* arena, size_t size_bytes);
/* Copies; both end with NUL. NULL when memory is out. The texts are not NULL. */
char* tenon__arena_copy_string(tenon__arena_t* arena, const char* text);
char* tenon__arena_copy_text(tenon__arena_t* arena, const char* data, size_t size);
/* Bytes as they are, aligned to 16. */
void* tenon__arena_copy(tenon__arena_t* arena, const void* data, size_t size_bytes);
/* Room for `needed` elements in an array of the arena. Where it moves, its elements are copied, its
 * pointer and capacity changed, and new places are zero; the old ones stay until the arena goes.
 * False when memory is out: nothing has changed. `inout_array`: where the pointer is; NULL with
 * capacity 0 begins an array. */
bool tenon__arena_grow(tenon__arena_t* arena, void* inout_array, uint32_t* inout_capacity,
                       uint32_t needed, size_t element_size);
/* Of an array by its name; its elements may be pointers. */
#define TENON_ARENA_GROW(arena, array, capacity, needed)      \
  tenon__arena_grow((arena), &(array), &(capacity), (needed), \
                    sizeof *(array)) /* NOLINT(bugprone-sizeof-expression) */
/* The formatted text; NULL when memory is out. */
char* tenon__arena_format(tenon__arena_t* arena, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
