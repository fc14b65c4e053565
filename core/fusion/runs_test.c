/* Nodes around an expression of which some outputs are absent become one step with it. An output
 * that no node reads does not count as a value that the step makes for others. */
#include "core/network/builder.h"
#include "tests/support/core_world.h"

enum { COUNT = 4 };

/* y = relu(centre(relu(x))). `reads_mean`: the mean is an output of the network too. */
static bool make_chain(core_world_t* w, bool reads_mean) {
  test_fixture_t* b = &w->fixture;
  tenon_value_t outputs[2] = {0};
  const tenon_value_t x = test_input(b, "x", DIMS(COUNT));
  const tenon_value_t before = test_unary(b, "test.ramp/1", "before", x);
  EXPECT_STATUS(b->build->begin(b->builder, "test.centre/1", "centre"), TENON_OK);
  EXPECT_STATUS(b->build->add_input(b->builder, before), TENON_OK);
  EXPECT_STATUS(b->build->end(b->builder, outputs, reads_mean ? 2 : 1), TENON_OK);
  EXPECT_STATUS(
      b->build->output(b->builder, test_unary(b, "test.ramp/1", "after", outputs[0]), "y"),
      TENON_OK);
  if (reads_mean) {
    EXPECT_STATUS(b->build->output(b->builder, outputs[1], "mean"), TENON_OK);
  }
  return core_world_start(w);
}

static void run_chain(core_world_t* w, bool reads_mean) {
  static const float x[COUNT] = {-2, 1, 3, 4};
  core_world_begin(w, NULL, 0);
  if (make_chain(w, reads_mean)) {
    EXPECT_STATUS(core_world_set(w, 0, TENON_DTYPE_FLOAT32, DIMS(COUNT), x), TENON_OK);
    core_world_expect_ran(w);
    EXPECT_FLOATS(w, 0, 0, 0, 1, 2);
  }
}

TENON_TEST(an_absent_output_prevents_no_fusion) {
  core_world_t w;
  run_chain(&w, false);
  EXPECT_INT(w.engine == NULL ? 0 : w.engine->plan->schedules[0].step_count, 1);
  core_world_end(&w);
}

TENON_TEST(an_output_that_leaves_stays_an_output) {
  core_world_t w;
  run_chain(&w, true);
  EXPECT_FLOATS(&w, 1, 2);
  core_world_end(&w);
}
