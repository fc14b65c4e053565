/* Moving scales into weights. */
#include "core/optimizer/test_world.h"

TENON_TEST(moves_scales_into_weights) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const float w_data[] = {1, 2, 3, 4, 5, 6};
  const float b_data[] = {10, 20};
  const float scale_data[] = {2, -1};
  const float shift_data[] = {0.5F, 1};
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(7, 3));
  const tenon_value_t w = test_floats(&world.fixture, "w", w_data, DIMS(2, 3));
  const tenon_value_t b = test_floats(&world.fixture, "b", b_data, DIMS(2));
  const tenon_value_t scale = test_floats(&world.fixture, "scale", scale_data, DIMS(2));
  const tenon_value_t shift = test_floats(&world.fixture, "shift", shift_data, DIMS(2));
  const tenon_value_t d = test_node(&world.fixture, "test.dense/1", "dense", x, w, b);
  const tenon_value_t n = test_node(&world.fixture, "test.channel_norm/1", "norm", d, scale, shift);
  test_output(&world, test_unary(&world.fixture, "test.ramp/1", "y", n), "y");
  const char* text = test_optimized(&world);
  EXPECT_TEXT(text,
              "graph main\n  input x: f32[7, 3]\n  constant w_2: f32[2, 3]\n"
              "  constant b_2: f32[2]\n  norm: f32[7, 2] = test.dense/1(x, w_2, b_2)\n"
              "  y: f32[7, 2] = test.ramp/1(norm)\n  output y: y\n");
  const float* weights = test_floats_of(&world, "w_2");
  const float* bias = test_floats_of(&world, "b_2");
  REQUIRE(weights != NULL && bias != NULL);
  EXPECT_NEAR(weights[2], 6, 0);
  EXPECT_NEAR(weights[3], -4, 0);
  EXPECT_NEAR(bias[0], 20.5, 0);
  EXPECT_NEAR(bias[1], -19, 0);
  test_expect_patches(&world, "move scales", 1);
  test_world_close(&world);
}

TENON_TEST(adds_a_bias_that_was_not_there) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const float w_data[] = {1, 2, 3, 4, 5, 6};
  const float shift_data[] = {0.5F, 1};
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(7, 3));
  const tenon_value_t w = test_floats(&world.fixture, "w", w_data, DIMS(2, 3));
  const tenon_value_t shift = test_floats(&world.fixture, "shift", shift_data, DIMS(2));
  const tenon_value_t d = test_binary(&world.fixture, "test.dense/1", "dense", x, w);
  test_output(&world, test_binary(&world.fixture, "test.plus/1", "y", d, shift), "y");
  EXPECT_CONTAINS(test_optimized(&world), "y: f32[7, 2] = test.dense/1(x, w, shift)");
  const float* bias = test_floats_of(&world, "shift");
  REQUIRE(bias != NULL);
  EXPECT_NEAR(bias[0], 0.5, 0);
  test_world_close(&world);
}

TENON_TEST(leaves_scales_that_vary_elsewhere) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const float w_data[] = {1, 2, 3, 4};
  const float row_data[] = {3, 5};
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2, 2));
  const tenon_value_t w = test_floats(&world.fixture, "w", w_data, DIMS(2, 2));
  const tenon_value_t rows = test_floats(&world.fixture, "rows", row_data, DIMS(2, 1));
  const tenon_value_t d = test_binary(&world.fixture, "test.dense/1", "dense", x, w);
  test_output(&world, test_binary(&world.fixture, "test.times/1", "y", d, rows), "y");
  /* Read by another: its value must stay. */
  const tenon_value_t e = test_binary(&world.fixture, "test.dense/1", "e", x, x);
  (void)e;
  const tenon_value_t f = test_binary(&world.fixture, "test.dense/1", "f", d, w);
  const float two = 2;
  const tenon_value_t twice = test_floats(&world.fixture, "two", &two, SCALAR);
  test_output(&world, test_binary(&world.fixture, "test.times/1", "z", f, twice), "z");
  test_output(&world, f, "f");
  (void)test_optimized(&world);
  test_expect_patches(&world, "move scales", 0);
  test_world_close(&world);
}

TENON_TEST(keeps_roundings_when_strict) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  world.options.strict = true;
  const float w_data[] = {1, 2, 3, 4};
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2, 2));
  const tenon_value_t w = test_floats(&world.fixture, "w", w_data, DIMS(2, 2));
  const tenon_value_t d = test_binary(&world.fixture, "test.dense/1", "dense", x, w);
  const float two = 2;
  const tenon_value_t twice = test_floats(&world.fixture, "two", &two, SCALAR);
  test_output(&world, test_binary(&world.fixture, "test.times/1", "z", d, twice), "z");
  (void)test_optimized(&world);
  EXPECT_INT(world.report.patch_count, 0);
  test_world_close(&world);
}
