/* Which counts make a machine a busy one. */
#include "session/busy.h"

#include <math.h>

#include "core/base/test.h"

static const tool_load_t begin = {
    .seconds = 100, .waited = 1, .busy = 50, .own = 2, .preemptions = 7, .processors = 2};

/* Ten seconds later, with one thread at work, these added. */
static tool_busy_t find(double waited, double others, double stolen) {
  tool_busy_t busy;
  tool_load_t end = begin;
  end.seconds += 10;
  end.waited += waited;
  end.own += 10;
  end.busy += 10 + others;
  end.stolen += stolen;
  end.preemptions += 3;
  tool_busy_find(&begin, &end, 1, &busy);
  return busy;
}

TENON_TEST(an_idle_machine_is_not_busy) {
  const tool_busy_t busy = find(0.1, 0.2, 0);
  EXPECT(!busy.is_busy);
  EXPECT_TEXT(busy.message, "");
  EXPECT_NEAR(busy.waited_share, 0.01, 1e-12);
  EXPECT_NEAR(busy.others, 0.02, 1e-12);
  EXPECT_INT(busy.preemptions, 3);
}

TENON_TEST(waiting_for_a_processor_is_told) {
  const tool_busy_t busy = find(1.2, 0, 0);
  EXPECT(busy.is_busy);
  EXPECT_TEXT(busy.message, "its threads waited 12 % of the time for a processor");
}

TENON_TEST(others_and_the_hypervisor_are_told) {
  const tool_busy_t busy = find(0, 12, 4);
  EXPECT(busy.is_busy);
  EXPECT_TEXT(busy.message, "the hypervisor took 20 %, others used 1.2 of 2 processors");
}

TENON_TEST(others_do_not_matter_where_there_is_room) {
  EXPECT(!find(0, 8, 0).is_busy); /* 0.8 and our one thread on two */
  EXPECT(find(0, 10.5, 0).is_busy);
}

TENON_TEST(what_is_not_known_says_nothing) {
  tool_busy_t busy;
  tool_load_t end = begin;
  end.seconds += 10;
  end.waited = NAN;
  end.busy = NAN;
  end.stolen = NAN;
  tool_busy_find(&begin, &end, 1, &busy);
  EXPECT(!busy.is_busy);
  EXPECT(isnan(busy.waited_share) && isnan(busy.others));
}
