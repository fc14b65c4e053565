/* Trials of kernels whose outputs have no elements. */
#include "tests/support/tactics_world.h"

static uint32_t calls;

/* plugin.h: enqueue is not called if no output has elements. */
static tenon_status_t count_calls(const tenon_enqueue_t* call) {
  ++calls;
  return core_write_zeros(call);
}

static uint32_t calls_of(int64_t rows) {
  const tenon_kernel_t kernels[] = {dense_of("one", count_calls), dense_of("two", count_calls)};
  static const float nothing[8] = {0};
  core_world_t world;
  calls = 0;
  measuring_world(&world, kernels, 2);
  test_fixture_t* b = &world.fixture;
  add_output(b, add_dense(b, "dense", test_input(b, "x", DIMS(rows, 8))));
  if (core_world_start(&world)) {
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(rows, 8), nothing), TENON_OK);
    core_world_expect_ran(&world);
  }
  core_world_end(&world);
  return calls;
}

TENON_TEST(kernels_are_not_called_for_outputs_without_elements) {
  EXPECT(calls_of(1) > 2);
  EXPECT_INT(calls_of(0), 0);
}
