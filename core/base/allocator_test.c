#include "core/base/allocator.h"

#include "core/base/test.h"

TENON_TEST(blocks_are_aligned_and_zero) {
  const tenon_allocator_t allocator = tenon__allocator_default();
  for (size_t size = 0; size < 300; size += 7) {
    uint8_t* block = tenon__allocate(allocator, size, 3);
    REQUIRE(block != NULL);
    EXPECT_INT((uintptr_t)block % 64, 0);
    for (size_t i = 0; i < size * 3; ++i) {
      EXPECT(block[i] == 0);
    }
    memset(block, 0xff, size * 3);
    tenon__free(allocator, block, size * 3);
  }
}

TENON_TEST(a_product_that_overflows_is_refused) {
  tenon__test_allocator_t state = {0};
  const tenon_allocator_t allocator = tenon__test_allocator(&state);
  EXPECT(tenon__allocate(allocator, SIZE_MAX / 2, 3) == NULL);
  EXPECT(tenon__allocate(allocator, SIZE_MAX, 1) == NULL);
  uint64_t* array = NULL;
  size_t capacity = 0;
  EXPECT(!tenon__grow(allocator, (void**)&array, &capacity, SIZE_MAX / 4, sizeof(*array)));
  EXPECT(array == NULL && capacity == 0);
  EXPECT_INT(state.live_blocks, 0);
}

TENON_TEST(growing_keeps_what_was_there) {
  tenon__test_allocator_t state = {0};
  const tenon_allocator_t allocator = tenon__test_allocator(&state);
  uint32_t* array = NULL;
  size_t capacity = 0;
  for (uint32_t i = 0; i < 1000; ++i) {
    REQUIRE(tenon__grow(allocator, (void**)&array, &capacity, i + 1, sizeof(*array)));
    array[i] = i;
  }
  for (uint32_t i = 0; i < 1000; ++i) {
    EXPECT_INT(array[i], i);
  }
  EXPECT(state.allocation_count < 10);
  EXPECT_INT(state.live_bytes, capacity * sizeof(*array));
  tenon__free(allocator, array, capacity * sizeof(*array));
  EXPECT_INT(state.live_bytes, 0);
  EXPECT_INT(state.live_blocks, 0);
}

TENON_TEST(a_failed_growth_changes_nothing) {
  tenon__test_allocator_t state = {.fail_at = 2};
  const tenon_allocator_t allocator = tenon__test_allocator(&state);
  uint8_t* array = NULL;
  size_t capacity = 0;
  REQUIRE(tenon__grow(allocator, (void**)&array, &capacity, 5, 1));
  array[4] = 42;
  const uint8_t* before = array;
  EXPECT(!tenon__grow(allocator, (void**)&array, &capacity, 500, 1));
  EXPECT(array == before && array[4] == 42);
  EXPECT_INT(capacity, 8);
  tenon__free(allocator, array, capacity);
  EXPECT_INT(state.live_blocks, 0);
}

TENON_TEST(counts_what_is_live) {
  tenon__test_allocator_t state = {0};
  const tenon_allocator_t allocator = tenon__test_allocator(&state);
  void* empty = tenon__allocate(allocator, 0, 8);
  void* block = tenon__allocate(allocator, 10, 10);
  REQUIRE(empty != NULL && block != NULL);
  EXPECT_INT(state.live_blocks, 2);
  EXPECT_INT(state.live_bytes, 101);
  EXPECT_INT(state.allocation_count, 2);
  tenon__free(allocator, empty, 0);
  tenon__free(allocator, block, 100);
  tenon__free(allocator, NULL, 77);
  EXPECT_INT(state.live_blocks, 0);
  EXPECT_INT(state.live_bytes, 0);
}

TENON_TEST(checked_arithmetic_finds_overflow) {
  size_t size = 7;
  EXPECT(tenon__add_size(SIZE_MAX - 1, 1, &size) && size == SIZE_MAX);
  EXPECT(!tenon__add_size(SIZE_MAX, 1, &size) && size == SIZE_MAX);
  EXPECT(tenon__multiply_size(6, 7, &size) && size == 42);
  EXPECT(!tenon__multiply_size(SIZE_MAX / 2 + 1, 2, &size) && size == 42);
  int64_t number = 7;
  EXPECT(tenon__add_int64(INT64_MAX, -1, &number) && number == INT64_MAX - 1);
  EXPECT(!tenon__add_int64(INT64_MIN, -1, &number) && number == INT64_MAX - 1);
  EXPECT(tenon__multiply_int64(-6, 7, &number) && number == -42);
  EXPECT(!tenon__multiply_int64(INT64_MIN, -1, &number) && number == -42);
}
