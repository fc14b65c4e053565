/* Percentiles, and memory that is counted once. */
#include "session/usage.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/test.h"

TENON_TEST(interpolates_percentiles) {
  tool_times_t times = {0};
  EXPECT_NEAR(tool_times_percentile(&times, 0.5), 0, 0);
  const double seconds[] = {5, 1, 4, 2, 3};
  for (int i = 0; i < 5; ++i) {
    tool_times_add(&times, seconds[i]);
  }
  tool_times_sort(&times);
  EXPECT_NEAR(tool_times_percentile(&times, 0), 1, 0);
  EXPECT_NEAR(tool_times_percentile(&times, 0.5), 3, 0);
  EXPECT_NEAR(tool_times_percentile(&times, 0.1), 1.4, 1e-12);
  EXPECT_NEAR(tool_times_percentile(&times, 1), 5, 0);
  EXPECT_NEAR(tool_times_mean(&times), 3, 1e-12);
  tool_times_free(&times);
}

/* Of few runs too: the 10th percentile is not the least. */
TENON_TEST(spreads_are_percentiles) {
  tool_times_t times = {0};
  const double seconds[] = {30, 10, 20};
  for (int i = 0; i < 3; ++i) {
    tool_times_add(&times, seconds[i]);
  }
  const tool_spread_t spread = tool_times_spread(&times);
  EXPECT_NEAR(spread.low, 12, 1e-12); /* sums of two rounded products */
  EXPECT_NEAR(spread.median, 20, 0);
  EXPECT_NEAR(spread.high, 28, 1e-12);
  tool_times_free(&times);
}

TENON_TEST(sees_memory_that_is_used) {
  enum { SIZE = 32 << 20 };
  const uint64_t begin = tool_memory_begin();
  char* memory = malloc(SIZE);
  volatile char* block = memory;
  REQUIRE(block != NULL);
  for (int i = 0; i < SIZE; i += 1024) {
    block[i] = 1; /* volatile: memory that nobody reads may be left out */
  }
  const uint64_t added = tool_memory_added(begin);
  free(memory);
  EXPECT(added >= SIZE * 9 / 10);
}
