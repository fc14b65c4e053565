/* Copies between the host and a device. */
#include "core/step/transfer.h"

#include "core/step/test_device.h"

TENON_TEST(inputs_and_outputs_are_copied_once_a_run_and_weights_once) {
  core_world_t world;
  if (aside_start(&world)) {
    const uint32_t weights = aside.to_device_count;
    EXPECT_INT(weights, 1);
    aside_run(&world, 1, 2);
    EXPECT_INT(aside.to_device_count, weights + 1);
    EXPECT_INT(aside.to_host_count, 1);
    aside_run(&world, 3, 4);
    EXPECT_INT(aside.to_device_count, weights + 2);
    EXPECT_INT(aside.to_host_count, 2);
  }
  aside_end(&world);
}

TENON_TEST(a_copy_that_fails_fails_the_run_and_not_the_next) {
  core_world_t world;
  if (aside_start(&world)) {
    aside_run(&world, 1, 2);
    aside.is_forgetful = true;
    EXPECT_STATUS(tenon__context_run(world.context), TENON_ERROR_DEVICE);
    EXPECT(tenon__context_get_output(world.context, 0)->kind == TENON_ARGUMENT_ABSENT);
    aside.is_forgetful = false;
    aside_run(&world, 3, 4);
  }
  aside_end(&world);
}
