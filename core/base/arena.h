/*
 * An arena: many small allocations, freed together. Not thread-safe. Blocks double from 4 KiB to 1
 * MiB, so the overhead is small; large allocations get their own block. Nothing is freed before the
 * end, and pointers into it are valid until then. This makes it simple to free graphs, texts and
 * plans.
 */
#ifndef TENON_CORE_BASE_ARENA_H_
#define TENON_CORE_BASE_ARENA_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* A copy of the structure shares the blocks, so only one of both may allocate or be
 * deinitialised. */
typedef struct tenon__arena_t {
  tenon_allocator_t allocator;
  struct tenon__arena_block_t* blocks;
  size_t used_bytes; /* of the newest block */
  size_t total_bytes;
  /* an allocation failed; for callers of functions that do not report it */
  bool failed;
} tenon__arena_t;

/* Initialising allocates nothing. Deinitialising frees all blocks and leaves an empty, usable
 * arena. */
void tenon__arena_initialize(tenon__arena_t* out_arena, tenon_allocator_t allocator);
void tenon__arena_deinitialize(tenon__arena_t* arena);
/* Returns zero-filled memory, aligned to 16 bytes; NULL if out of memory or the product overflows.
 * A product of 0 gives a pointer, not NULL. */
void* tenon__arena_allocate(tenon__arena_t* arena, size_t count, size_t size_bytes);
/* Same for `size_bytes`, aligned to 64 bytes, as guaranteed to kernels. */
void* tenon__arena_allocate_aligned(tenon__arena_t* arena, size_t size_bytes);
/* Return copies that end with NUL; NULL if out of memory. The texts must not be NULL. */
char* tenon__arena_copy_string(tenon__arena_t* arena, const char* text);
char* tenon__arena_copy_text(tenon__arena_t* arena, const char* data, size_t size);
/* Returns a copy of bytes, aligned to 16 bytes. */
void* tenon__arena_copy(tenon__arena_t* arena, const void* data, size_t size_bytes);
/* Grows an array of the arena to at least `needed` elements. If it moves, its elements are copied,
 * its pointer and capacity are updated, and new elements are zero; the old array stays until the
 * arena ends. `inout_array` is the address of the pointer; NULL with capacity 0 begins an array.
 * Returns false if out of memory; nothing has changed then. */
bool tenon__arena_grow(tenon__arena_t* arena, void* inout_array, uint32_t* inout_capacity,
                       uint32_t needed, size_t element_size);
/* Of an array by its name; its elements may be pointers. */
#define TENON_ARENA_GROW(arena, array, capacity, needed)      \
  tenon__arena_grow((arena), &(array), &(capacity), (needed), \
                    sizeof *(array)) /* NOLINT(bugprone-sizeof-expression) */
/* Returns the formatted text; NULL if out of memory. */
char* tenon__arena_format(tenon__arena_t* arena, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
