/* Versions in ascending order. */
#include "plugin_registry/version.h"

#include "core/base/test.h"

static void expect_order(const char* a, const char* b, int expected) {
  const int order = tenon__version_compare(a, b);
  const int sign = (order > 0) - (order < 0);
  if (sign != expected) {
    tenon__test_fail(__FILE__, __LINE__, "'%s' beside '%s': %d, expected %d", a, b, sign, expected);
  }
}

TENON_TEST(each_version_is_newer_than_all_before_it) {
  static const char* const versions[] = {"",
                                         "0.9",
                                         "1.0.0-alpha",
                                         "1.0.0-alpha.1",
                                         "1.0.0-alpha.2",
                                         "1.0.0-alpha.10",
                                         "1.0.0-beta",
                                         "1.0.0-rc.1",
                                         "1.0",
                                         "1.0.1-rc.1",
                                         "1.0.1",
                                         "1.2",
                                         "1.2.1",
                                         "1.10.0",
                                         "2.0.0",
                                         "2.0.0.1",
                                         "10.0.0",
                                         "10.18446744073709551616",
                                         "10.99999999999999999999"};
  const size_t count = sizeof(versions) / sizeof(versions[0]);
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < count; ++j) {
      expect_order(versions[i], versions[j], (i > j) - (i < j));
    }
  }
}

TENON_TEST(zeros_and_builds_do_not_count) {
  expect_order("1", "1.0.0", 0);
  expect_order("1.0.0", "1", 0);
  expect_order("01.002", "1.2", 0);
  expect_order("1.0+debug", "1.0+release", 0);
  expect_order("1.0-rc", "1.0-rc+1", 0);
  expect_order("1-rc", "1.0", -1);
}

TENON_TEST(other_characters_are_compared) {
  expect_order("1.0b", "1.0a", 1);
  expect_order("1.0a", "1.0", 1);
  expect_order("r12", "r9", 1);
}
