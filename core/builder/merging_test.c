/* Siblings are merged where the network as a whole is faster so, and only where that was measured.
 */
#include "core/base/file.h"
#include "core/builder/refit.h"
#include "core/engine/refit.h"
#include "tests/support/tactics_world.h"

/* By the clock on the wall, as it is measured: what others do meanwhile does not count twice. */
static void wait_for(int64_t microseconds) {
  const double begin = tenon__seconds();
  while (tenon__seconds() - begin < (double)microseconds * 1e-6) {
  }
}

/* Each call takes as long, however much there is to do. */
static tenon_status_t run_by_calls(const tenon_enqueue_t* call) {
  wait_for(5000);
  return run_right(call);
}

/* Twice as many columns take four times as long. */
static tenon_status_t run_by_columns(const tenon_enqueue_t* call) {
  const int64_t columns = call->outputs[0].tensor.dims[1];
  wait_for(100 * columns * columns);
  return run_right(call);
}

/* y = x * w + x * v, of four columns each. */
static void make_siblings(test_fixture_t* b) {
  static float ones[64];
  for (size_t k = 0; k < 64; ++k) {
    ones[k] = k < 32 ? 1 : 2;
  }
  const tenon_value_t x = test_input(b, "x", DIMS(4, 8));
  const tenon_value_t left =
      test_binary(b, "test.dense/1", "left", x, test_floats(b, "w", ones, DIMS(4, 8)));
  const tenon_value_t right =
      test_binary(b, "test.dense/1", "right", x, test_floats(b, "v", ones + 32, DIMS(4, 8)));
  add_output(b, test_binary(b, "test.plus/1", "plus", left, right));
}

/* Whoever computes them, eight times the weights of both. */
static void expect_sum(core_world_t* world, float weights, int line) {
  float x[32];
  float expected[16];
  for (size_t k = 0; k < 32; ++k) {
    x[k] = 1;
    expected[k % 16] = 8 * weights;
  }
  EXPECT_STATUS(core_world_set(world, 0, TENON_DTYPE_FLOAT32, DIMS(4, 8), x), TENON_OK);
  core_world_expect_ran(world);
  core_world_expect(line, world, 0, expected, 16);
}

/* The steps, and whether the plan says it; other weights than it was built with are merged too. */
static void expect_steps(tenon_kernel_t kernel, bool measures, const char* steps, bool merges,
                         int line) {
  core_world_t world;
  char text[512];
  float fives[32];
  core_world_begin(&world, &kernel, 1);
  world.options.tuning.no_measuring = !measures;
  make_siblings(&world.fixture);
  const char* made = build_steps(&world, text);
  if (strcmp(made, steps) != 0) {
    tenon__test_fail(__FILE__, line, "%s: %s", kernel.name, made);
  }
  const tenon__plan_t* plan = tenon__engine_plan(world.engine);
  EXPECT_INT((plan->flags & TENON_PLAN_MERGES_SIBLINGS) != 0, merges);
  EXPECT_INT(strstr(plan->patches, "merge siblings: left") != NULL, merges);
  expect_sum(&world, 3, line);
  for (size_t k = 0; k < 32; ++k) {
    fives[k] = 5;
  }
  EXPECT_STATUS(tenon__engine_set_weights(world.engine, "v", fives, sizeof fives), TENON_OK);
  EXPECT_STATUS(tenon__refit_commit(world.catalog, world.engine), TENON_OK);
  expect_sum(&world, 6, line);
  core_world_end(&world);
}

TENON_TEST(merged_where_it_is_faster) {
  expect_steps(dense_of("calls", run_by_calls), true, "calls/default expressions/evaluator", true,
               __LINE__);
}

TENON_TEST(apart_where_it_is_slower) {
  expect_steps(dense_of("columns", run_by_columns), true,
               "columns/default columns/default expressions/evaluator", false, __LINE__);
}

TENON_TEST(apart_where_nothing_is_measured) {
  expect_steps(dense_of("calls", run_by_calls), false,
               "calls/default calls/default expressions/evaluator", false, __LINE__);
}
