#include "core/base/lists.h"

#include "core/base/test.h"

TENON_TEST(a_list_holds_what_is_in_it) {
  static const uint32_t numbers[] = {3, 7, 3};
  EXPECT(tenon__list_holds(numbers, 3, 3));
  EXPECT(tenon__list_holds(numbers, 2, 7));
  EXPECT(!tenon__list_holds(numbers, 1, 7));
  EXPECT(!tenon__list_holds(NULL, 0, 0));
}

TENON_TEST(each_key_has_what_was_added_to_it_in_that_order) {
  static const uint32_t pairs[][2] = {{3, 7}, {0, 1}, {3, 5}, {3, 9}, {0, 2}, {4, 6}};
  const size_t count = sizeof pairs / sizeof *pairs;
  tenon__arena_t arena;
  tenon__lists_t lists;
  tenon__arena_initialize(&arena, tenon__allocator_default());
  EXPECT(tenon__lists_begin(&lists, 5, &arena));
  for (size_t k = 0; k < count; ++k) {
    tenon__lists_announce(&lists, pairs[k][0]);
  }
  EXPECT(tenon__lists_lay_out(&lists, &arena));
  for (size_t k = 0; k < count; ++k) {
    tenon__lists_add(&lists, pairs[k][0], pairs[k][1]);
  }
  EXPECT_INT(tenon__lists_count(&lists, 0), 2);
  EXPECT_INT(tenon__lists_get(&lists, 0)[0], 1);
  EXPECT_INT(tenon__lists_get(&lists, 0)[1], 2);
  EXPECT_INT(tenon__lists_count(&lists, 1), 0);
  EXPECT_INT(tenon__lists_count(&lists, 2), 0);
  EXPECT_INT(tenon__lists_count(&lists, 3), 3);
  EXPECT_INT(tenon__lists_get(&lists, 3)[0], 7);
  EXPECT_INT(tenon__lists_get(&lists, 3)[2], 9);
  EXPECT_INT(tenon__lists_count(&lists, 4), 1);
  EXPECT_INT(tenon__lists_get(&lists, 4)[0], 6);
  tenon__arena_deinitialize(&arena);
}

TENON_TEST(lists_without_items_are_empty) {
  tenon__arena_t arena;
  tenon__lists_t lists;
  tenon__arena_initialize(&arena, tenon__allocator_default());
  EXPECT(tenon__lists_begin(&lists, 0, &arena));
  EXPECT(tenon__lists_lay_out(&lists, &arena));
  EXPECT(tenon__lists_begin(&lists, 1, &arena));
  EXPECT(tenon__lists_lay_out(&lists, &arena));
  EXPECT_INT(tenon__lists_count(&lists, 0), 0);
  tenon__arena_deinitialize(&arena);
}
