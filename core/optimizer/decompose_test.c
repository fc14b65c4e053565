/* Decomposing what nobody computes. */
#include "core/optimizer/test_world.h"

static bool is_computed(void* user, const tenon__operator_t* op) {
  const char* const* computed = user;
  return computed != NULL && strcmp(op->name, *computed) == 0;
}

static bool open(test_world_t* world) {
  const bool good = test_world_open(world);
  world->options.is_computed = is_computed;
  return good;
}

TENON_TEST(decomposes_what_nobody_computes) {
  test_world_t world;
  REQUIRE(open(&world));
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(3));
  test_output(&world, test_unary(&world.fixture, "test.growth/1", "y", x), "y");
  EXPECT_TEXT(test_optimized(&world),
              "graph main\n  input x: f32[3]\n"
              "  exponential_0: f32[3] = test.exponential/1(x)\n"
              "  y: f32[3] = test.times/1(x, exponential_0)\n  output y: y\n");
  test_expect_patches(&world, "decompose", 1);
  test_world_close(&world);
}

TENON_TEST(leaves_what_somebody_computes) {
  static const char* const computed = "test.growth/1";
  test_world_t world;
  REQUIRE(open(&world));
  world.options.computed_user = tenon__drop_const(&computed);
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(3));
  test_output(&world, test_unary(&world.fixture, "test.growth/1", "y", x), "y");
  EXPECT_CONTAINS(test_optimized(&world), "y: f32[3] = test.growth/1(x)");
  test_world_close(&world);
}

TENON_TEST(leaves_what_no_text_fits) {
  /* No case for three axes; the one for two gives another shape; a text cannot give many outputs.
   */
  test_world_t world;
  REQUIRE(open(&world));
  const tenon_builder_table_t* build = world.fixture.build;
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(3, 4, 5));
  const tenon_value_t w = test_input(&world.fixture, "w", DIMS(3, 4));
  test_output(&world, test_unary(&world.fixture, "test.growth/1", "y", x), "y");
  test_output(&world, test_unary(&world.fixture, "test.growth/1", "z", w), "z");
  tenon_value_t copies[3] = {{0}};
  EXPECT_STATUS(build->begin(world.fixture.builder, "test.copies/1", "copies"), TENON_OK);
  EXPECT_STATUS(build->add_input(world.fixture.builder, x), TENON_OK);
  EXPECT_STATUS(build->output_count(world.fixture.builder, 3), TENON_OK);
  EXPECT_STATUS(build->end(world.fixture.builder, copies, 3), TENON_OK);
  for (uint32_t i = 0; i < 3; ++i) {
    test_output(&world, copies[i], NULL);
  }
  const char* text = test_optimized(&world);
  EXPECT_CONTAINS(text, "y: f32[3, 4, 5] = test.growth/1(x)");
  EXPECT_CONTAINS(text, "z: f32[3, 4] = test.growth/1(w)");
  EXPECT_CONTAINS(text, " = test.copies/1(x)");
  test_expect_patches(&world, "decompose", 0);
  test_world_close(&world);
}
