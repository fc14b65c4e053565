/* Memory of the C library behind the one-function interface, the checked helpers, and the allocator
 * of tests that fails on demand. */
#include "core/base/allocator.h"

#include <stdlib.h>
#include <string.h>

enum { TENON_ALLOCATOR_ALIGNMENT = 64 };

static void* resize_block(void* user, void* block, size_t old_size_bytes, size_t new_size_bytes) {
  (void)user;
  if (new_size_bytes == 0) {
    free(block);
    return NULL;
  }
  if (new_size_bytes > PTRDIFF_MAX - TENON_ALLOCATOR_ALIGNMENT) {
    return NULL;
  }
  const size_t mask = TENON_ALLOCATOR_ALIGNMENT - 1;
  void* moved = aligned_alloc(TENON_ALLOCATOR_ALIGNMENT, (new_size_bytes + mask) & ~mask);
  if (moved != NULL && block != NULL) {
    memcpy(moved, block, old_size_bytes < new_size_bytes ? old_size_bytes : new_size_bytes);
    free(block);
  }
  return moved;
}

tenon_allocator_t tenon__allocator_default(void) {
  return (tenon_allocator_t){.user = NULL, .resize = resize_block};
}

static void* resize_counted(void* user, void* block, size_t old_size_bytes, size_t new_size_bytes) {
  tenon__test_allocator_t* state = user;
  if (new_size_bytes > 0) {
    const uint64_t number = __atomic_add_fetch(&state->allocation_count, 1, __ATOMIC_RELAXED);
    if (number == state->fail_at) {
      return NULL;
    }
  }
  void* moved = resize_block(NULL, block, old_size_bytes, new_size_bytes);
  if (moved == NULL && new_size_bytes > 0) {
    return NULL;
  }
  if (block != NULL) {
    (void)__atomic_sub_fetch(&state->live_bytes, old_size_bytes, __ATOMIC_RELAXED);
    (void)__atomic_sub_fetch(&state->live_blocks, 1, __ATOMIC_RELAXED);
  }
  if (moved != NULL) {
    (void)__atomic_add_fetch(&state->live_bytes, new_size_bytes, __ATOMIC_RELAXED);
    (void)__atomic_add_fetch(&state->live_blocks, 1, __ATOMIC_RELAXED);
  }
  return moved;
}

tenon_allocator_t tenon__test_allocator(tenon__test_allocator_t* state) {
  return (tenon_allocator_t){.user = state, .resize = resize_counted};
}

/* An allocator never sees size 0 for a block that lives. */
static size_t block_size(size_t size_bytes) {
  return size_bytes > 0 ? size_bytes : 1;
}

void* tenon__allocate(tenon_allocator_t allocator, size_t count, size_t size_bytes) {
  size_t total = 0;
  if (!tenon__multiply_size(count, size_bytes, &total)) {
    return NULL;
  }
  total = block_size(total);
  void* block = allocator.resize(allocator.user, NULL, 0, total);
  if (block != NULL) {
    memset(block, 0, total);
  }
  return block;
}

bool tenon__grow(tenon_allocator_t allocator, void* inout_array, size_t* inout_capacity,
                 size_t needed, size_t element_size) {
  const size_t capacity = *inout_capacity;
  if (needed <= capacity) {
    return true;
  }
  size_t grown = capacity > SIZE_MAX / 2 ? needed : capacity * 2;
  grown = grown < 8 ? 8 : grown;
  grown = grown < needed ? needed : grown;
  size_t new_size_bytes = 0;
  if (!tenon__multiply_size(grown, element_size, &new_size_bytes)) {
    return false;
  }
  /* The caller's variable is a pointer to its element; memcpy reads and writes it as what it is. */
  void* array = NULL;
  memcpy(&array, inout_array, sizeof(array));
  array = allocator.resize(allocator.user, array, capacity * element_size, new_size_bytes);
  if (array == NULL) {
    return false;
  }
  memcpy(inout_array, &array, sizeof(array));
  *inout_capacity = grown;
  return true;
}

void tenon__free(tenon_allocator_t allocator, void* block, size_t size_bytes) {
  if (block != NULL) {
    (void)allocator.resize(allocator.user, block, block_size(size_bytes), 0);
  }
}

bool tenon__add_size(size_t a, size_t b, size_t* out_sum) {
  size_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    return false;
  }
  *out_sum = sum;
  return true;
}

bool tenon__multiply_size(size_t a, size_t b, size_t* out_product) {
  size_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    return false;
  }
  *out_product = product;
  return true;
}

bool tenon__multiply_int64(int64_t a, int64_t b, int64_t* out_product) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    return false;
  }
  *out_product = product;
  return true;
}

bool tenon__add_int64(int64_t a, int64_t b, int64_t* out_sum) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    return false;
  }
  *out_sum = sum;
  return true;
}
