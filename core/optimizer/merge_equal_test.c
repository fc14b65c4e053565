/* Merging equal nodes and constants. */
#include "core/optimizer/test_world.h"

TENON_TEST(merges_equal_nodes) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2));
  const tenon_value_t z = test_input(&world.fixture, "z", DIMS(2));
  const tenon_value_t a = test_binary(&world.fixture, "test.plus/1", "a", x, z);
  const tenon_value_t b = test_binary(&world.fixture, "test.plus/1", "b", z, x);
  const tenon_value_t c = test_binary(&world.fixture, "test.minus/1", "c", a, b);
  const tenon_value_t d = test_binary(&world.fixture, "test.minus/1", "d", z, x);
  const tenon_value_t e = test_binary(&world.fixture, "test.minus/1", "e", x, z);
  const tenon_value_t r1 = test_unary(&world.fixture, "test.dice/1", "r1", x);
  const tenon_value_t r2 = test_unary(&world.fixture, "test.dice/1", "r2", x);
  test_output(&world, c, "c");
  test_output(&world, d, "d");
  test_output(&world, e, "e");
  test_output(&world, r1, "r1");
  test_output(&world, r2, "r2");
  const char* text = test_optimized(&world);
  EXPECT_CONTAINS(text, "c: f32[2] = test.minus/1(a, a)");
  EXPECT_CONTAINS(text, "d: f32[2] = test.minus/1(z, x)");
  EXPECT_CONTAINS(text, "r1: f32[2] = test.dice/1(x)");
  EXPECT_CONTAINS(text, "r2: f32[2] = test.dice/1(x)");
  test_expect_patches(&world, "merge equal", 1);
  test_world_close(&world);
}

TENON_TEST(merges_equal_constants) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const float data[] = {1, 2};
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2));
  const tenon_value_t a = test_floats(&world.fixture, "a", data, DIMS(2));
  const tenon_value_t b = test_floats(&world.fixture, "b", data, DIMS(2));
  test_output(&world, test_binary(&world.fixture, "test.plus/1", "y", x, a), "y");
  const tenon_value_t z = test_binary(&world.fixture, "test.plus/1", "z", x, b);
  test_output(&world, test_unary(&world.fixture, "test.ramp/1", "w", z), "w");
  const char* text = test_optimized(&world);
  EXPECT_CONTAINS(text, "w: f32[2] = test.ramp/1(y)");
  EXPECT(strstr(text, "constant b") == NULL);
  test_world_close(&world);
}

/* The bound on patches allows as many as there are constants, and each is looked at once. */
TENON_TEST(merges_many_equal_constants_of_a_node) {
  enum { COUNT = 400 };
  test_world_t world;
  REQUIRE(test_world_open(&world));
  world.options.verifies = false;
  const float data[] = {1, 2};
  const tenon_builder_table_t* build = world.fixture.build;
  tenon_value_t y = {0};
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2));
  tenon_value_t constants[COUNT];
  for (uint32_t i = 0; i < COUNT; ++i) {
    constants[i] = test_floats(&world.fixture, i == 0 ? "first" : "other", data, DIMS(2));
  }
  EXPECT_STATUS(build->begin(world.fixture.builder, "test.join/1", "y"), TENON_OK);
  EXPECT_STATUS(build->attribute_int(world.fixture.builder, "axis", 0), TENON_OK);
  EXPECT_STATUS(build->add_input(world.fixture.builder, x), TENON_OK);
  for (uint32_t i = 0; i < COUNT; ++i) {
    EXPECT_STATUS(build->add_input(world.fixture.builder, constants[i]), TENON_OK);
  }
  EXPECT_STATUS(build->end(world.fixture.builder, &y, 1), TENON_OK);
  test_output(&world, y, "y");
  const char* text = test_optimized(&world);
  EXPECT(strstr(text, "constant other") == NULL);
  test_expect_patches(&world, "merge equal", COUNT - 1);
  EXPECT(world.report.visit_count < COUNT);
  test_world_close(&world);
}

TENON_TEST(tells_operands_apart_that_run_along_different_axes) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(3));
  const tenon_value_t z = test_input(&world.fixture, "z", DIMS(3));
  const tenon_value_t a = test_binary(&world.fixture, "test.outer_sum/1", "a", x, z);
  const tenon_value_t b = test_binary(&world.fixture, "test.outer_sum/1", "b", z, x);
  test_output(&world, test_binary(&world.fixture, "test.minus/1", "y", a, b), "y");
  EXPECT_CONTAINS(test_optimized(&world), "y: f32[3, 3] = test.minus/1(a, b)");
  test_world_close(&world);
}
