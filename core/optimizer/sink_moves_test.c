/* Moving permutations behind arithmetic. */
#include "core/optimizer/test_world.h"

TENON_TEST(sinks_moves_that_cancel_behind_arithmetic) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const float data[] = {1, 2, 3};
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2, 3, 4, 5));
  const tenon_value_t p = test_permute(&world.fixture, "p", x, DIMS(0, 2, 3, 1));
  const tenon_value_t w = test_floats(&world.fixture, "w", data, DIMS(3));
  const tenon_value_t a = test_binary(&world.fixture, "test.plus/1", "a", p, w);
  const tenon_value_t r = test_unary(&world.fixture, "test.ramp/1", "r", a);
  const tenon_value_t q = test_permute(&world.fixture, "q", r, DIMS(0, 3, 1, 2));
  test_output(&world, test_unary(&world.fixture, "test.exponential/1", "y", q), "y");
  const char* text = test_optimized(&world);
  EXPECT(strstr(text, "permute") == NULL && strstr(text, "move") == NULL);
  EXPECT_CONTAINS(text, "a_2: f32[2, 3, 4, 5] = test.plus/1(x, w_2)");
  EXPECT_CONTAINS(text, "constant w_2: f32[1, 3, 1, 1]");
  test_world_close(&world);
}

TENON_TEST(sinks_moves_that_are_alike) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2, 3));
  const tenon_value_t z = test_input(&world.fixture, "z", DIMS(2, 3));
  const tenon_value_t p = test_permute(&world.fixture, "p", x, DIMS(1, 0));
  const tenon_value_t q = test_permute(&world.fixture, "q", z, DIMS(1, 0));
  test_output(&world, test_binary(&world.fixture, "test.minus/1", "y", p, q), "y");
  EXPECT_TEXT(test_optimized(&world),
              "graph main\n  input x: f32[2, 3]\n  input z: f32[2, 3]\n"
              "  y_2: f32[2, 3] = test.minus/1(x, z)\n"
              "  y: f32[3, 2] = test.permute/1(y_2) {perm=[1, 0]}\n  output y: y\n");
  test_world_close(&world);
}

TENON_TEST(leaves_moves_that_sinking_does_not_help) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2, 3));
  const tenon_value_t p = test_permute(&world.fixture, "p", x, DIMS(1, 0));
  const tenon_value_t r = test_unary(&world.fixture, "test.ramp/1", "r", p);
  const tenon_value_t s = test_unary(&world.fixture, "test.row_sum/1", "s", r);
  test_output(&world, s, "s");
  (void)test_optimized(&world);
  EXPECT_INT(world.report.patch_count, 0);
  test_world_close(&world);
}
