/* Cancelling and joining moves. */
#include "core/optimizer/test_world.h"

TENON_TEST(cancels_inverse_moves) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2, 3, 4));
  const tenon_value_t p = test_permute(&world.fixture, "p", x, DIMS(2, 0, 1));
  const tenon_value_t q = test_permute(&world.fixture, "q", p, DIMS(1, 2, 0));
  test_output(&world, test_unary(&world.fixture, "test.ramp/1", "y", q), "y");
  EXPECT_TEXT(test_optimized(&world),
              "graph main\n  input x: f32[2, 3, 4]\n  y: f32[2, 3, 4] = test.ramp/1(x)\n"
              "  output y: y\n");
  test_world_close(&world);
}

TENON_TEST(joins_moves_of_moves) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2, 3, 4));
  const tenon_value_t p = test_permute(&world.fixture, "p", x, DIMS(2, 0, 1));
  const tenon_value_t q = test_permute(&world.fixture, "q", p, DIMS(0, 2, 1));
  test_output(&world, q, "q");
  EXPECT_TEXT(test_optimized(&world),
              "graph main\n  input x: f32[2, 3, 4]\n  q: f32[4, 3, 2] = move(x) affine\n"
              "  output q: q\n");
  EXPECT_TEXT(world.fixture.network->graphs[0]->nodes[2].name, "q");
  test_world_close(&world);
}

TENON_TEST(removes_what_changes_nothing) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2, 3));
  const tenon_value_t a = test_unary(&world.fixture, "test.same/1", "a", x);
  const tenon_value_t p = test_permute(&world.fixture, "p", a, DIMS(0, 1));
  const tenon_value_t y = test_unary(&world.fixture, "test.ramp/1", "y", p);
  test_output(&world, test_unary(&world.fixture, "test.same/1", "z", y), "z");
  test_output(&world, test_unary(&world.fixture, "test.same/1", "copy", x), "copy");
  const char* text = test_optimized(&world);
  EXPECT_CONTAINS(text, "y: f32[2, 3] = test.ramp/1(x)\n");
  EXPECT_CONTAINS(text, "output z: y\n");
  /* An output is never the input itself. */
  EXPECT_CONTAINS(text, "a: f32[2, 3] = test.same/1(x)\n");
  EXPECT_CONTAINS(text, "output copy: a\n");
  test_world_close(&world);
}
