/* Steps and memory of values on two devices: the copies between them, and their number. */
#include "core/schedule/schedule.h"

#include "core/step/test_device.h"

/* Steps of the main graph of that kind. */
static uint32_t count_steps(const core_world_t* world, tenon__step_kind_t kind) {
  const tenon__schedule_t* schedule = &tenon__engine_plan(world->engine)->schedules[0];
  uint32_t count = 0;
  for (uint32_t k = 0; k < schedule->step_count; ++k) {
    count += schedule->steps[k].kind == kind ? 1 : 0;
  }
  return count;
}

static tenon_value_t dense(core_world_t* world, const char* name, tenon_value_t x,
                           tenon_value_t w) {
  return test_node(&world->fixture, "test.dense/1", name, x, w, NO_VALUE);
}

static void add_output(core_world_t* world, tenon_value_t value, const char* name) {
  EXPECT_STATUS(world->fixture.build->output(world->fixture.builder, value, name), TENON_OK);
}

static void run(core_world_t* world) {
  static const float x[] = {1, 2};
  EXPECT_STATUS(core_world_set(world, 0, TENON_DTYPE_FLOAT32, DIMS(1, 2), x), TENON_OK);
  core_world_expect_ran(world);
}

TENON_TEST(a_value_that_two_steps_of_a_device_read_is_copied_there_once) {
  core_world_t world;
  aside_begin(&world);
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(1, 2));
  const tenon_value_t w = aside_weights(&world);
  const tenon_value_t first = dense(&world, "first", x, w);
  const tenon_value_t second =
      dense(&world, "second", x, test_input(&world.fixture, "v", DIMS(2, 2)));
  add_output(&world, first, "first");
  add_output(&world, second, "second");
  if (core_world_start(&world)) {
    static const float v[] = {1, 0, 0, 1};
    EXPECT_INT(count_steps(&world, TENON_STEP_KERNEL), 2);
    EXPECT_INT(count_steps(&world, TENON_STEP_COPY), 4); /* x, v, and both results */
    EXPECT_STATUS(core_world_set(&world, 1, TENON_DTYPE_FLOAT32, DIMS(2, 2), v), TENON_OK);
    run(&world);
    EXPECT_FLOATS(&world, 0, 4, 1);
    EXPECT_FLOATS(&world, 1, 1, 2);
  }
  aside_end(&world);
}

TENON_TEST(values_between_steps_of_a_device_stay_there) {
  core_world_t world;
  if (aside_start(&world)) {
    const tenon__schedule_t* schedule = &tenon__engine_plan(world.engine)->schedules[0];
    EXPECT_INT(count_steps(&world, TENON_STEP_KERNEL), 3);
    EXPECT_INT(count_steps(&world, TENON_STEP_COPY), 2);
    EXPECT(schedule->steps[0].kind == TENON_STEP_COPY);
    EXPECT(schedule->steps[4].kind == TENON_STEP_COPY);
    EXPECT(schedule->memory_bytes[1] > 0);
    run(&world);
    EXPECT_FLOATS(&world, 0, 8, 2);
  }
  aside_end(&world);
}

TENON_TEST(what_a_device_does_not_compute_is_copied_to_the_host_and_back) {
  core_world_t world;
  aside_begin(&world);
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(1, 2));
  const tenon_value_t w = aside_weights(&world);
  const tenon_value_t first = dense(&world, "first", x, w);
  const tenon_value_t host = test_unary(&world.fixture, "test.ramp/1", "ramp", first);
  add_output(&world, dense(&world, "last", host, w), "y");
  if (core_world_start(&world)) {
    EXPECT_INT(count_steps(&world, TENON_STEP_KERNEL), 3);
    EXPECT_INT(count_steps(&world, TENON_STEP_COPY), 4);
    run(&world);
    EXPECT_FLOATS(&world, 0, 2, 4);
  }
  aside_end(&world);
}
