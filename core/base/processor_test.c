#include "core/base/processor.h"

#include <sched.h>

#include "core/base/test.h"

TENON_TEST(respects_the_affinity) {
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof(before), &before) == 0);
  const uint32_t all = tenon__processor_count();
  EXPECT(all >= 1 && (int)all <= CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i) {
    if (CPU_ISSET(i, &before)) {
      CPU_SET(i, &one);
    }
  }
  REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
  EXPECT_INT(tenon__processor_count(), 1);
  EXPECT_INT(sched_setaffinity(0, sizeof(before), &before), 0);
}

/* What it says is not ours to decide: no less than nothing, and never less than before. */
TENON_TEST(waiting_only_grows) {
  const double before = tenon__waited_seconds();
  const double after = tenon__waited_seconds();
  EXPECT(before >= 0 && after >= before);
}
