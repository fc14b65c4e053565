#include "core/base/heap.h"

#include "core/base/test.h"

TENON_TEST(the_least_rank_comes_first_and_of_equals_the_smaller_number) {
  enum { COUNT = 100 };
  tenon__arena_t arena;
  tenon__heap_t heap;
  tenon__arena_initialize(&arena, tenon__allocator_default());
  EXPECT(tenon__heap_begin(&heap, COUNT, &arena));
  for (uint32_t k = 0; k < COUNT; ++k) {
    const uint32_t number = k * 37 % COUNT; /* each once, in no order */
    tenon__heap_push(&heap, number / 10, number);
  }
  for (uint32_t k = 0; k < COUNT; ++k) {
    EXPECT_INT(tenon__heap_pop(&heap), k);
  }
  EXPECT_INT(heap.count, 0);
  tenon__arena_deinitialize(&arena);
}

TENON_TEST(what_is_pushed_between_takes_its_place) {
  tenon__arena_t arena;
  tenon__heap_t heap;
  tenon__arena_initialize(&arena, tenon__allocator_default());
  EXPECT(tenon__heap_begin(&heap, 3, &arena));
  tenon__heap_push(&heap, UINT32_MAX, 0);
  tenon__heap_push(&heap, 5, 1);
  EXPECT_INT(tenon__heap_pop(&heap), 1);
  tenon__heap_push(&heap, 4, 2);
  tenon__heap_push(&heap, 6, 3);
  EXPECT_INT(tenon__heap_pop(&heap), 2);
  EXPECT_INT(tenon__heap_pop(&heap), 3);
  EXPECT_INT(tenon__heap_pop(&heap), 0);
  tenon__arena_deinitialize(&arena);
}
