/* Units that suit the number, and numbers that can be read. */
#include "text/units.h"

#include "core/base/test.h"

TENON_TEST(times_are_told_in_units_that_suit_them) {
  EXPECT_TEXT(tool_time_unit(8.3e-6).name, "us");
  EXPECT_TEXT(tool_time_unit(0.99996e-3).name, "ms");
  EXPECT_TEXT(tool_time_unit(0.25).name, "ms");
  EXPECT_TEXT(tool_time_unit(2).name, "s");
  EXPECT_NEAR(8.3e-6 * tool_time_unit(8.3e-6).factor, 8.3, 1e-12);
}

TENON_TEST(large_numbers_have_no_exponent) {
  EXPECT_TEXT(tool_number(20100.4).text, "20100");
  EXPECT_TEXT(tool_number(9999.4).text, "9999");
  EXPECT_TEXT(tool_number(8.64612).text, "8.646");
  EXPECT_TEXT(tool_number(0).text, "0");
}
