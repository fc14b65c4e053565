/* Removing what nobody reads. */
#include "core/optimizer/test_world.h"

TENON_TEST(removes_what_nobody_reads) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2));
  const tenon_value_t a = test_unary(&world.fixture, "test.exponential/1", "a", x);
  (void)test_unary(&world.fixture, "test.ramp/1", "b", a);
  (void)test_unary(&world.fixture, "test.dice/1", "dice", a);
  test_output(&world, test_unary(&world.fixture, "test.ramp/1", "y", x), "y");
  EXPECT_TEXT(test_optimized(&world),
              "graph main\n  input x: f32[2]\n  y: f32[2] = test.ramp/1(x)\n  output y: y\n");
  test_expect_patches(&world, "remove unused", 3);
  test_world_close(&world);
}

TENON_TEST(drops_optional_outputs_that_nobody_reads) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2));
  tenon_value_t both[2] = {{0}};
  EXPECT_STATUS(world.fixture.build->begin(world.fixture.builder, "test.top/1", "top"), TENON_OK);
  EXPECT_STATUS(world.fixture.build->add_input(world.fixture.builder, x), TENON_OK);
  EXPECT_STATUS(world.fixture.build->end(world.fixture.builder, both, 2), TENON_OK);
  test_output(&world, both[0], "y");
  EXPECT_CONTAINS(test_optimized(&world), "top:0: f32[2], _ = test.top/1(x)");
  test_world_close(&world);
}

TENON_TEST(keeps_what_shapes_are_read_from) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  /* The output's extent is found by a node whose value nobody reads. */
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(7));
  const tenon_value_t found = test_unary(&world.fixture, "test.compress/1", "found", x);
  const tenon_value_t shape = test_unary(&world.fixture, "test.shape_of/1", "shape", found);
  test_output(&world, shape, "shape");
  EXPECT_CONTAINS(test_optimized(&world), "= test.compress/1(x)");
  test_world_close(&world);
  REQUIRE(test_world_open(&world));
  const tenon_value_t z = test_input(&world.fixture, "x", DIMS(7));
  (void)test_unary(&world.fixture, "test.compress/1", "found", z);
  test_output(&world, test_unary(&world.fixture, "test.ramp/1", "y", z), "y");
  EXPECT(strstr(test_optimized(&world), "test.compress/1") == NULL);
  test_world_close(&world);
}
