#include "core/timing/trial_memory.h"

#include <string.h>

#include "core/base/test.h"

TENON_TEST(what_holds_both_patterns_in_turn_was_not_written) {
  static const tenon_dtype_t dtypes[] = {TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT16,
                                         TENON_DTYPE_FLOAT64, TENON_DTYPE_COMPLEX128,
                                         TENON_DTYPE_UINT8};
  for (size_t t = 0; t < sizeof dtypes / sizeof *dtypes; ++t) {
    uint8_t data[320];
    uint8_t marks[320];
    const uint64_t count = tenon__pattern_elements(dtypes[t], sizeof data);
    const size_t width = sizeof data / count;
    memset(marks, 1, sizeof marks);
    for (uint32_t pattern = 0; pattern < TENON_PATTERN_COUNT; ++pattern) {
      tenon__pattern_fill(data, dtypes[t], sizeof data, pattern);
      memset(data + 3 * width, 7, width); /* element 3 is written */
      EXPECT_INT(tenon__pattern_count(data, dtypes[t], sizeof data, pattern, marks), count - 1);
    }
    EXPECT(marks[2] == 1 && marks[3] == 0 && marks[4] == 1);
  }
}

/* A kernel may well write the very bytes of one pattern, not of both. */
TENON_TEST(who_writes_the_first_pattern_is_not_taken_for_silent) {
  float data[5];
  uint8_t marks[5] = {1, 1, 1, 1, 1};
  tenon__pattern_fill(data, TENON_DTYPE_FLOAT32, sizeof data, TENON_PATTERN_FIRST);
  EXPECT_INT(
      tenon__pattern_count(data, TENON_DTYPE_FLOAT32, sizeof data, TENON_PATTERN_FIRST, marks), 5);
  EXPECT_INT(
      tenon__pattern_count(data, TENON_DTYPE_FLOAT32, sizeof data, TENON_PATTERN_SECOND, marks), 0);
}

TENON_TEST(a_checksum_sees_each_byte) {
  uint8_t data[77] = {0};
  const uint64_t sum = tenon__memory_checksum(data, sizeof data);
  for (size_t k = 0; k < sizeof data; ++k) {
    data[k] = 1;
    EXPECT(tenon__memory_checksum(data, sizeof data) != sum);
    data[k] = 0;
  }
  EXPECT(tenon__memory_checksum(data, sizeof data) == sum);
  EXPECT(tenon__memory_checksum(data, sizeof data - 1) != sum);
}
