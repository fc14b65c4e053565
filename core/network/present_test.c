/* Walks over lists of values never meet an absent one. */
#include "core/network/present.h"

#include "core/base/test.h"

TENON_TEST(absent_values_are_skipped_wherever_they_are) {
  static const uint32_t values[] = {TENON_NONE, TENON_NONE, 7, TENON_NONE, 0, 9, TENON_NONE};
  static const uint32_t expected[] = {2, 4, 5};
  uint32_t count = 0;
  TENON_EACH_PRESENT(k, values, sizeof values / sizeof *values) {
    EXPECT(count < 3);
    EXPECT_INT(k, expected[count < 3 ? count : 2]);
    ++count;
  }
  EXPECT_INT(count, 3);
}

TENON_TEST(lists_without_a_value_have_nothing_to_walk) {
  static const uint32_t absent[] = {TENON_NONE, TENON_NONE};
  uint32_t count = 0;
  TENON_EACH_PRESENT(k, absent, count) {
    ++count;
  }
  TENON_EACH_PRESENT(k, absent, 2) {
    ++count;
  }
  EXPECT_INT(count, 0);
}
