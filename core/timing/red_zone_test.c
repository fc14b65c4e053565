#include "core/timing/red_zone.h"

#include <stdlib.h>

#include "core/base/test.h"

enum { SIZE = 100, CAPACITY = 200 };

/* The overrun after a write of one byte at `offset` of the data. */
static tenon__overrun_t overrun_at(size_t size_bytes, long offset) {
  unsigned char* block = malloc(tenon__red_zone_block_bytes(CAPACITY));
  tenon__overrun_t overrun = TENON_OVERRUN_NONE;
  if (block != NULL) {
    const tenon__zoned_t zoned = {tenon__red_zone_data(block), size_bytes, CAPACITY};
    tenon__red_zones_fill(&zoned);
    ((unsigned char*)zoned.data)[offset] ^= 1;
    overrun = tenon__red_zones_check(&zoned);
    EXPECT(tenon__red_zone_block(zoned.data) == block);
  }
  free(block);
  return overrun;
}

TENON_TEST(writes_inside_are_no_overrun) {
  EXPECT_INT(overrun_at(SIZE, 0), TENON_OVERRUN_NONE);
  EXPECT_INT(overrun_at(SIZE, SIZE - 1), TENON_OVERRUN_NONE);
}

TENON_TEST(each_byte_of_the_zones_counts) {
  EXPECT_INT(overrun_at(SIZE, -1), TENON_OVERRUN_FRONT);
  EXPECT_INT(overrun_at(SIZE, -TENON_RED_ZONE_BYTES), TENON_OVERRUN_FRONT);
  EXPECT_INT(overrun_at(SIZE, SIZE), TENON_OVERRUN_BEHIND);
  EXPECT_INT(overrun_at(SIZE, CAPACITY - 1), TENON_OVERRUN_BEHIND);
  EXPECT_INT(overrun_at(SIZE, CAPACITY + TENON_RED_ZONE_BYTES - 1), TENON_OVERRUN_BEHIND);
  EXPECT_INT(overrun_at(0, 0), TENON_OVERRUN_BEHIND);
}
