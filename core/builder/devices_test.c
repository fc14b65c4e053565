/* Which device a build is for, and whose kernels count: a plugin that is merely there changes
 * nothing. */
#include "tests/support/tactics_world.h"

/* Another machine's memory; named so that it comes before every other. */
static tenon_device_descriptor_t far_device(uint32_t flags) {
  tenon_device_descriptor_t device = core_device;
  device.name = "far";
  device.flags = flags | TENON_DEVICE_INLINE_STREAM;
  return device;
}

static tenon_status_t no_copy(tenon_device_t* device, tenon_stream_t* stream, int32_t direction,
                              void* target, const void* source, size_t size_bytes) {
  (void)device;
  (void)stream;
  (void)direction;
  (void)target;
  (void)source;
  (void)size_bytes;
  return TENON_ERROR_DEVICE;
}

static tenon_status_t no_fill(tenon_device_t* device, tenon_stream_t* stream, void* target,
                              int32_t byte, size_t size_bytes) {
  (void)device;
  (void)stream;
  (void)target;
  (void)byte;
  (void)size_bytes;
  return TENON_ERROR_DEVICE;
}

static const tenon__owner_t stranger = {.plugin = "aaa", .version = "1.0.0", .path = ""};

static void offer_far(core_world_t* world, uint32_t flags) {
  tenon_device_descriptor_t device = far_device(flags);
  device.copy = no_copy;
  device.fill = no_fill;
  core_world_offer(world, &stranger, "device/1", &device, 1, sizeof(device));
}

TENON_TEST(a_build_is_for_the_host_unless_it_says_otherwise) {
  const tenon_kernel_t kernel = dense_of("right", run_right);
  char text[512];
  core_world_t world;
  core_world_begin(&world, &kernel, 1);
  offer_far(&world, 0);
  make_ones(&world.fixture, 4, 16);
  EXPECT_TEXT(build_steps(&world, text), "right/default");
  EXPECT_TEXT(tenon__engine_plan(world.engine)->device, "cpu");
  core_world_end(&world);
  core_world_begin(&world, &kernel, 1);
  offer_far(&world, 0);
  make_ones(&world.fixture, 4, 16);
  world.options.device = "far";
  EXPECT_TEXT(build_steps(&world, text), "right/default");
  EXPECT_TEXT(tenon__engine_plan(world.engine)->device, "far:0");
  core_world_end(&world);
  core_world_begin(&world, &kernel, 1);
  offer_far(&world, TENON_DEVICE_HOST_MEMORY);
  make_ones(&world.fixture, 4, 16);
  world.options.device = "far";
  EXPECT_STATUS(core_world_build(&world), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(world.fixture.messages.text, "no kernel on device 'far' takes it");
  core_world_end(&world);
}

/* Two that are the host's memory: one is taken, and the user is told how to say which. */
TENON_TEST(of_two_that_are_the_host_the_user_is_told) {
  const tenon_kernel_t kernel = dense_of("right", run_right);
  core_world_t world;
  core_world_begin(&world, &kernel, 1);
  offer_far(&world, TENON_DEVICE_HOST_MEMORY | TENON_DEVICE_INLINE_STREAM);
  make_ones(&world.fixture, 4, 16);
  (void)core_world_build(&world);
  EXPECT_CONTAINS(world.fixture.messages.text,
                  "devices 'far' (plugin aaa) and 'cpu' (plugin tests) are both the host's memory");
  core_world_end(&world);
}

/* test.growth/1 of a vector decomposes; its only kernel is another device's, or excluded. */
TENON_TEST(a_kernel_that_nobody_asks_does_not_keep_an_operator_closed) {
  static const char* const takes_growth[] = {"test.growth/1", NULL};
  static const char* const exclude[] = {"tests:growth", NULL};
  for (int k = 0; k < 3; ++k) {
    tenon_kernel_t kernel = dense_of("growth", core_write_zeros);
    char text[512];
    core_world_t world;
    kernel.operators = takes_growth;
    kernel.device = k == 0 ? "far" : "cpu";
    core_world_begin(&world, &kernel, 1);
    offer_far(&world, 0);
    world.options.tuning.exclude = k == 1 ? exclude : NULL;
    test_fixture_t* b = &world.fixture;
    const tenon_value_t x = test_input(b, "x", DIMS(8));
    add_output(b, test_unary(b, "test.growth/1", "growth", x));
    EXPECT_TEXT(build_steps(&world, text), k == 2 ? "growth/default" : "expressions/evaluator");
    core_world_end(&world);
  }
}
