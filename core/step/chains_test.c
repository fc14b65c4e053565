/* Steps that a device records together: enqueued once, then recorded, then replayed. */
#include "core/step/chains.h"

#include "core/step/test_device.h"

TENON_TEST(the_first_run_enqueues_the_second_records_the_third_replays) {
  core_world_t world;
  if (aside_start(&world)) {
    aside_run(&world, 1, 2);
    EXPECT_INT(aside.kernel_count, 3);
    EXPECT_INT(aside.record_count, 0);
    aside_run(&world, 3, 4);
    EXPECT_INT(aside.kernel_count, 6);
    EXPECT_INT(aside.record_count, 1);
    EXPECT_INT(aside.replay_count, 1);
    aside_run(&world, 5, 6);
    EXPECT_INT(aside.kernel_count, 6); /* none is called */
    EXPECT_INT(aside.record_count, 1);
    EXPECT_INT(aside.replay_count, 2);
  }
  aside_end(&world);
}

TENON_TEST(a_context_of_its_own_has_recordings_of_its_own) {
  core_world_t world;
  tenon__context_t* second = NULL;
  if (aside_start(&world)) {
    aside_run(&world, 1, 2);
    aside_run(&world, 1, 2);
    EXPECT_INT(aside.live_recordings, 1);
    tenon__context_t* first = world.context;
    EXPECT_STATUS(tenon__context_create(world.engine, 0, NULL, &second), TENON_OK);
    world.context = second;
    aside_run(&world, 3, 4);
    aside_run(&world, 3, 4);
    EXPECT_INT(aside.live_recordings, 2);
    tenon__context_destroy(first);
    EXPECT_INT(aside.live_recordings, 1);
    aside_run(&world, 5, 6);
  }
  aside_end(&world);
}

TENON_TEST(steps_that_cannot_be_recorded_are_enqueued_with_one_warning) {
  core_world_t world;
  if (aside_start(&world)) {
    aside.cannot_record = true;
    for (uint32_t k = 0; k < 4; ++k) {
      aside_run(&world, (float)k, 2);
    }
    EXPECT_INT(aside.record_count, 1); /* it is not tried again */
    EXPECT_INT(aside.replay_count, 0);
    EXPECT_INT(aside.kernel_count, 15); /* 3 each, and 3 that were recorded in vain */
    EXPECT_CONTAINS(world.fixture.messages.text, "cannot be recorded");
  }
  aside_end(&world);
}
