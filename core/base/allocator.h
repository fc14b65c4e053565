/*
 * Memory: the default allocator and checked helpers. An allocator is passed by value to whatever
 * allocates and kept by whatever frees. All blocks are aligned to 64 bytes. Whoever frees says how
 * large a block was, so that an allocator of the application needs no headers; the size is the one
 * that was asked for.
 */
#ifndef TENON_CORE_BASE_ALLOCATOR_H_
#define TENON_CORE_BASE_ALLOCATOR_H_

#include <stdbool.h>
#include <string.h>

#include "tenon/plugin.h"

/* The C library's memory. Its blocks have no state behind them: two copies of it are the same
 * allocator. */
tenon_allocator_t tenon__allocator_default(void);

/* For tests: fails the `fail_at`-th allocation (0: never) and counts what is live. The state
 * outlives what is allocated with it; several threads may allocate. fail_at k with k = 1, 2, ...
 * makes each allocation of a test fail in turn, and live_blocks 0 at its end says that nothing
 * leaked. */
typedef struct tenon__test_allocator_t {
  uint64_t fail_at;
  uint64_t allocation_count;
  uint64_t live_bytes;
  uint64_t live_blocks;
} tenon__test_allocator_t;
tenon_allocator_t tenon__test_allocator(tenon__test_allocator_t* state);

/* NULL when count * size overflows or memory is out. Zero-filled. count or size 0: NULL is not
 * returned. */
void* tenon__allocate(tenon_allocator_t allocator, size_t count, size_t size_bytes);
/* Grows the array that the pointer at `inout_array` leads to, of elements of `element_size`, to at
 * least `needed` and 8, doubling; true on success. What is new is not zero; on failure array and
 * capacity are as they were. Free it with capacity * element_size. */
bool tenon__grow(tenon_allocator_t allocator, void* inout_array, size_t* inout_capacity,
                 size_t needed, size_t element_size);
/* Of an array by its name; its elements may be pointers. */
#define TENON_GROW(allocator, array, capacity, needed)      \
  tenon__grow((allocator), &(array), &(capacity), (needed), \
              sizeof *(array)) /* NOLINT(bugprone-sizeof-expression) */
/* `size_bytes` as it was allocated (count * size). NULL is fine. */
void tenon__free(tenon_allocator_t allocator, void* block, size_t size_bytes);

/* The same pointer without const: for what is freed, and for types that serve readers and writers
 * alike. */
static inline void* tenon__drop_const(const void* pointer) {
  void* result = NULL;
  memcpy(&result, &pointer, sizeof(result));
  return result;
}

/* True and the result unless it overflows. On overflow the result is untouched. Sizes that come
 * from a file or a caller go through these. */
bool tenon__add_size(size_t a, size_t b, size_t* out_sum);
bool tenon__multiply_size(size_t a, size_t b, size_t* out_product);
bool tenon__multiply_int64(int64_t a, int64_t b, int64_t* out_product);
bool tenon__add_int64(int64_t a, int64_t b, int64_t* out_sum);

#endif
