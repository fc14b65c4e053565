#include "core/base/arena.h"

#include <string.h>

#include "core/base/test.h"

TENON_TEST(allocations_are_apart_aligned_and_zero) {
  tenon__test_allocator_t state = {0};
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, tenon__test_allocator(&state));
  static uint8_t* blocks[400];
  for (size_t i = 0; i < 400; ++i) {
    const size_t size = i * i % 5000;
    blocks[i] = tenon__arena_allocate(&arena, 1, size);
    REQUIRE(blocks[i] != NULL);
    EXPECT_INT((uintptr_t)blocks[i] % 16, 0);
    for (size_t k = 0; k < size; ++k) {
      EXPECT(blocks[i][k] == 0);
    }
    memset(blocks[i], (int)(i % 251), size);
  }
  for (size_t i = 0; i < 400; ++i) {
    for (size_t k = 0; k < i * i % 5000; ++k) {
      EXPECT(blocks[i][k] == i % 251);
    }
  }
  EXPECT_INT(arena.total_bytes, state.live_bytes);
  EXPECT(state.live_blocks < 60);
  tenon__arena_deinitialize(&arena);
  EXPECT_INT(state.live_blocks, 0);
  EXPECT_INT(state.live_bytes, 0);
}

TENON_TEST(a_large_block_does_not_waste_the_newest) {
  tenon__test_allocator_t state = {0};
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, tenon__test_allocator(&state));
  EXPECT(tenon__arena_allocate(&arena, 1, 8) != NULL);
  EXPECT(tenon__arena_allocate(&arena, 1, 1 << 20) != NULL);
  EXPECT(tenon__arena_allocate(&arena, 1, 8) != NULL);
  EXPECT_INT(state.live_blocks, 2);
  tenon__arena_deinitialize(&arena);
}

TENON_TEST(an_overflow_is_refused) {
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, tenon__allocator_default());
  EXPECT(tenon__arena_allocate(&arena, 1, 5) != NULL && !arena.failed);
  EXPECT(tenon__arena_allocate(&arena, SIZE_MAX / 2, 3) == NULL && arena.failed);
  EXPECT(tenon__arena_allocate(&arena, SIZE_MAX, 1) == NULL);
  EXPECT(tenon__arena_allocate(&arena, SIZE_MAX - 40, 1) == NULL);
  EXPECT(tenon__arena_copy_text(&arena, "", SIZE_MAX) == NULL);
  EXPECT(tenon__arena_allocate(&arena, 0, 5) != NULL && arena.failed);
  tenon__arena_deinitialize(&arena);
}

TENON_TEST(texts_are_copied_and_formatted) {
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, tenon__allocator_default());
  EXPECT_TEXT(tenon__arena_copy_string(&arena, "tenon"), "tenon");
  EXPECT_TEXT(tenon__arena_copy_string(&arena, ""), "");
  EXPECT_TEXT(tenon__arena_copy_text(&arena, "mortise", 3), "mor");
  EXPECT_TEXT(tenon__arena_format(&arena, "%s:%d", "axis", -3), "axis:-3");
  const char* wide = tenon__arena_format(&arena, "%10000d", 7);
  REQUIRE(wide != NULL);
  EXPECT_INT(strlen(wide), 10000);
  const int numbers[3] = {1, 2, 3};
  const int* copy = tenon__arena_copy(&arena, numbers, sizeof(numbers));
  REQUIRE(copy != NULL);
  EXPECT(copy != numbers && memcmp(copy, numbers, sizeof(numbers)) == 0);
  tenon__arena_deinitialize(&arena);
}

static bool fill(tenon_allocator_t allocator, void* user) {
  (void)user;
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, allocator);
  bool ok = true;
  for (size_t i = 0; i < 100 && ok; ++i) {
    ok = tenon__arena_allocate(&arena, i, 37) != NULL &&
         tenon__arena_format(&arena, "value %zu", i) != NULL;
  }
  tenon__arena_deinitialize(&arena);
  return ok;
}

TENON_TEST(survives_each_failed_allocation) {
  tenon__test_each_allocation(fill, NULL);
}

TENON_TEST(aligned_memory_is_on_a_line_of_its_own) {
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, tenon__allocator_default());
  for (size_t k = 1; k < 200; k += 7) {
    (void)tenon__arena_allocate(&arena, k, 1); /* whatever lies before */
    char* place = tenon__arena_allocate_aligned(&arena, k);
    REQUIRE(place != NULL);
    EXPECT((uintptr_t)place % 64 == 0);
    EXPECT(place[0] == 0 && place[k - 1] == 0);
    memset(place, 1, k);
  }
  EXPECT(tenon__arena_allocate_aligned(&arena, SIZE_MAX - 8) == NULL);
  tenon__arena_deinitialize(&arena);
}

TENON_TEST(an_array_of_the_arena_grows) {
  tenon__test_allocator_t state = {0};
  tenon__arena_t arena;
  uint32_t* numbers = NULL;
  uint32_t capacity = 0;
  tenon__arena_initialize(&arena, tenon__test_allocator(&state));
  for (uint32_t i = 0; i < 1000; ++i) {
    REQUIRE(TENON_ARENA_GROW(&arena, numbers, capacity, i + 1));
    numbers[i] = i * i;
  }
  for (uint32_t i = 0; i < 1000; ++i) {
    EXPECT_INT(numbers[i], i * i);
  }
  const uint32_t before = capacity;
  const uint32_t* old = numbers;
  EXPECT(TENON_ARENA_GROW(&arena, numbers, capacity, 1));
  state.fail_at = state.allocation_count + 1;
  EXPECT(!TENON_ARENA_GROW(&arena, numbers, capacity, 1u << 20));
  EXPECT(numbers == old);
  EXPECT_INT(capacity, before);
  REQUIRE(TENON_ARENA_GROW(&arena, numbers, capacity, 1u << 20));
  EXPECT_INT(numbers[999], 999 * 999);
  EXPECT_INT(numbers[(1u << 20) - 1], 0);
  tenon__arena_deinitialize(&arena);
  EXPECT_INT(state.live_bytes, 0);
}
