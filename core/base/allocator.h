/*
 * Memory: the default allocator and checked helpers. An allocator is passed by value to the
 * allocating code and kept by the freeing code. All blocks are aligned to 64 bytes. The caller
 * passes the requested size when it frees a block, so that an application's allocator needs no
 * headers.
 */
#ifndef TENON_CORE_BASE_ALLOCATOR_H_
#define TENON_CORE_BASE_ALLOCATOR_H_

#include <stdbool.h>
#include <string.h>

#include "tenon/plugin.h"

/* Returns the C library's allocator. It has no state, so all copies are the same allocator. */
tenon_allocator_t tenon__allocator_default(void);

/* For tests: fails the `fail_at`-th allocation (0: never) and counts live blocks. The state must
 * outlive the blocks; several threads may allocate. fail_at k with k = 1, 2, ... makes each
 * allocation of a test fail in turn; live_blocks 0 at its end shows that nothing leaked. */
typedef struct tenon__test_allocator_t {
  uint64_t fail_at;
  uint64_t allocation_count;
  uint64_t live_bytes;
  uint64_t live_blocks;
} tenon__test_allocator_t;
tenon_allocator_t tenon__test_allocator(tenon__test_allocator_t* state);

/* Returns zero-filled memory; NULL if count * size overflows or out of memory. If count or size is
 * 0, the result is not NULL. */
void* tenon__allocate(tenon_allocator_t allocator, size_t count, size_t size_bytes);
/* Grows an array of elements of `element_size` to at least `needed` and at least 8 elements, by
 * doubling. `inout_array` is the address of the array's pointer. New elements are not initialised.
 * Free it with capacity * element_size. Returns false on failure; array and capacity are then
 * unchanged. */
bool tenon__grow(tenon_allocator_t allocator, void* inout_array, size_t* inout_capacity,
                 size_t needed, size_t element_size);
/* Same for an array by its name; its elements may be pointers. */
#define TENON_GROW(allocator, array, capacity, needed)      \
  tenon__grow((allocator), &(array), &(capacity), (needed), \
              sizeof *(array)) /* NOLINT(bugprone-sizeof-expression) */
/* Frees a block of `size_bytes`, the allocated size (count * size). NULL is accepted. */
void tenon__free(tenon_allocator_t allocator, void* block, size_t size_bytes);

/* Returns the pointer without const, to free it, and for types that readers and writers share. */
static inline void* tenon__drop_const(const void* pointer) {
  void* result = NULL;
  memcpy(&result, &pointer, sizeof(result));
  return result;
}

/* Return true and the result, or false on overflow; the result is then unchanged. Use them for
 * sizes from files and callers. */
bool tenon__add_size(size_t a, size_t b, size_t* out_sum);
bool tenon__multiply_size(size_t a, size_t b, size_t* out_product);
bool tenon__multiply_int64(int64_t a, int64_t b, int64_t* out_product);
bool tenon__add_int64(int64_t a, int64_t b, int64_t* out_sum);

#endif
