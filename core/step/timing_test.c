/* Times of runs and copies by the device's clock. */
#include "core/step/timing.h"

#include "core/context/run_times.h"
#include "core/step/test_device.h"

TENON_TEST(runs_and_copies_are_timed_by_events) {
  core_world_t world;
  tenon__run_times_t times;
  if (aside_start(&world)) {
    EXPECT_STATUS(tenon__context_set_timing(world.context, TENON_TIMING_EACH_RUN), TENON_OK);
    aside_run(&world, 1, 2);
    EXPECT_STATUS(tenon__context_get_times(world.context, &times), TENON_OK);
    /* The clock goes on by one with each event: around the run, and around the two copies. */
    EXPECT_INT(times.run_count, 1);
    EXPECT_NEAR(times.transfer_in_seconds, 1, 0);
    EXPECT_NEAR(times.transfer_out_seconds, 1, 0);
    EXPECT_NEAR(times.seconds, 5, 0);
    aside_run(&world, 3, 4);
    EXPECT_STATUS(tenon__context_get_times(world.context, &times), TENON_OK);
    EXPECT_INT(times.run_count, 1); /* those before the host's last wait do not count */
  }
  aside_end(&world);
}

TENON_TEST(there_are_no_times_before_a_run_after_a_failure_and_without_a_request) {
  core_world_t world;
  tenon__run_times_t times;
  if (aside_start(&world)) {
    EXPECT_STATUS(tenon__context_get_times(world.context, &times), TENON_ERROR_INVALID_STATE);
    EXPECT_CONTAINS(world.fixture.messages.text, "timing was not asked for");
    EXPECT_STATUS(tenon__context_set_timing(world.context, TENON_TIMING_EACH_RUN), TENON_OK);
    EXPECT_STATUS(tenon__context_get_times(world.context, &times), TENON_ERROR_INVALID_STATE);
    aside_run(&world, 1, 2);
    EXPECT_STATUS(tenon__context_get_times(world.context, &times), TENON_OK);
    aside.is_forgetful = true;
    EXPECT_STATUS(tenon__context_run(world.context), TENON_ERROR_DEVICE);
    EXPECT_STATUS(tenon__context_get_times(world.context, &times), TENON_ERROR_INVALID_STATE);
    aside.is_forgetful = false;
    EXPECT_STATUS(tenon__context_set_timing(world.context, TENON_TIMING_OFF), TENON_OK);
    EXPECT_INT(aside.event_count, 0);
  }
  aside_end(&world);
}
