/* Choices whose condition is known, and constants that bodies capture. */
#include "core/optimizer/test_world.h"

/* branch(condition, x, w): yes = (x + w) through a body of its own, no = compress(x). */
static tenon_value_t choice(test_world_t* world, tenon_value_t condition, tenon_value_t x,
                            tenon_value_t w) {
  test_bench_t* bench = &world->bench;
  const tenon_builder_table_t* build = bench->build;
  tenon_value_t a = {0};
  tenon_value_t b = {0};
  tenon_value_t y = {0};
  uint32_t yes = 0;
  uint32_t no = 0;
  EXPECT_STATUS(build->begin_body(bench->builder, "yes"), TENON_OK);
  EXPECT_STATUS(build->body_parameter_like(bench->builder, "a", x, &a), TENON_OK);
  EXPECT_STATUS(build->body_parameter_like(bench->builder, "b", w, &b), TENON_OK);
  const tenon_value_t sum = test_binary(bench, "test.plus/1", "sum", a, b);
  EXPECT_STATUS(build->body_result(bench->builder, test_unary(bench, "test.ramp/1", "ramp", sum)),
                TENON_OK);
  EXPECT_STATUS(build->end_body(bench->builder, &yes), TENON_OK);
  EXPECT_STATUS(build->begin_body(bench->builder, "no"), TENON_OK);
  EXPECT_STATUS(build->body_parameter_like(bench->builder, "a", x, &a), TENON_OK);
  EXPECT_STATUS(build->body_parameter_like(bench->builder, "b", w, &b), TENON_OK);
  EXPECT_STATUS(
      build->body_result(bench->builder, test_unary(bench, "test.compress/1", "fewer", a)),
      TENON_OK);
  EXPECT_STATUS(build->end_body(bench->builder, &no), TENON_OK);
  EXPECT_STATUS(build->begin(bench->builder, "test.branch/1", "choice"), TENON_OK);
  EXPECT_STATUS(build->add_input(bench->builder, condition), TENON_OK);
  EXPECT_STATUS(build->add_input(bench->builder, x), TENON_OK);
  EXPECT_STATUS(build->add_input(bench->builder, w), TENON_OK);
  EXPECT_STATUS(build->add_body(bench->builder, yes), TENON_OK);
  EXPECT_STATUS(build->add_body(bench->builder, no), TENON_OK);
  EXPECT_STATUS(build->end(bench->builder, &y, 1), TENON_OK);
  return y;
}

static const float w_data[] = {1, 2, 3};

TENON_TEST(puts_the_taken_branch_in_its_place) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const bool data = true;
  const tenon_value_t condition =
      test_constant_of(&world.bench, "condition", TENON_DTYPE_BOOL, &data, SCALAR);
  const tenon_value_t x = test_input(&world.bench, "x", DIMS(3));
  const tenon_value_t w = test_floats(&world.bench, "w", w_data, DIMS(3));
  const tenon_value_t y = choice(&world, condition, x, w);
  test_output(&world, test_unary(&world.bench, "test.exponential/1", "e", y), "e");
  EXPECT_TEXT(test_optimized(&world),
              "graph main\n  input x: f32[3]\n  constant b: f32[3]\n"
              "  sum: f32[3] = test.plus/1(x, b)\n  choice: f32[3] = test.ramp/1(sum)\n"
              "  e: f32[3] = test.exponential/1(choice)\n  output e: e\n");
  test_world_close(&world);
}

TENON_TEST(takes_the_other_branch_and_its_extents) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const bool data = false;
  const tenon_value_t condition =
      test_constant_of(&world.bench, "condition", TENON_DTYPE_BOOL, &data, SCALAR);
  const tenon_value_t x = test_input(&world.bench, "x", DIMS(3));
  const tenon_value_t w = test_floats(&world.bench, "w", w_data, DIMS(3));
  test_output(&world, choice(&world, condition, x, w), "y");
  const char* text = test_optimized(&world);
  EXPECT_CONTAINS(text, "= test.compress/1(x)\n  output y: choice\n");
  EXPECT(strstr(text, "branch") == NULL);
  test_world_close(&world);
}

TENON_TEST(copies_a_branch_that_hands_its_parameter_out) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const tenon_builder_table_t* build = world.bench.build;
  const bool data = true;
  const tenon_value_t condition =
      test_constant_of(&world.bench, "condition", TENON_DTYPE_BOOL, &data, SCALAR);
  const tenon_value_t x = test_input(&world.bench, "x", DIMS(3));
  uint32_t bodies[2] = {0};
  for (uint32_t i = 0; i < 2; ++i) {
    tenon_value_t a = {0};
    EXPECT_STATUS(build->begin_body(world.bench.builder, "body"), TENON_OK);
    EXPECT_STATUS(build->body_parameter_like(world.bench.builder, "a", x, &a), TENON_OK);
    EXPECT_STATUS(build->body_result(world.bench.builder, a), TENON_OK);
    EXPECT_STATUS(build->end_body(world.bench.builder, &bodies[i]), TENON_OK);
  }
  tenon_value_t y = {0};
  EXPECT_STATUS(build->begin(world.bench.builder, "test.branch/1", "choice"), TENON_OK);
  EXPECT_STATUS(build->add_input(world.bench.builder, condition), TENON_OK);
  EXPECT_STATUS(build->add_input(world.bench.builder, x), TENON_OK);
  EXPECT_STATUS(build->add_body(world.bench.builder, bodies[0]), TENON_OK);
  EXPECT_STATUS(build->add_body(world.bench.builder, bodies[1]), TENON_OK);
  EXPECT_STATUS(build->end(world.bench.builder, &y, 1), TENON_OK);
  test_output(&world, y, "y");
  const char* text = test_optimized(&world);
  EXPECT_CONTAINS(text, "choice: f32[3] = expression(x): ");
  EXPECT_CONTAINS(text, "output y: choice");
  test_world_close(&world);
}

TENON_TEST(takes_bodies_along) {
  /* A choice inside a choice: the inner one stays, its bodies move out. */
  test_world_t world;
  REQUIRE(test_world_open(&world));
  test_bench_t* bench = &world.bench;
  const tenon_builder_table_t* build = bench->build;
  const bool data = true;
  const tenon_value_t known = test_constant_of(bench, "known", TENON_DTYPE_BOOL, &data, SCALAR);
  const tenon_value_t open = test_input_of(bench, "open", TENON_DTYPE_BOOL, SCALAR);
  const tenon_value_t x = test_input(bench, "x", DIMS(3));
  const tenon_value_t w = test_floats(bench, "w", w_data, DIMS(3));
  uint32_t bodies[2] = {0};
  for (uint32_t i = 0; i < 2; ++i) {
    tenon_value_t c = {0};
    tenon_value_t a = {0};
    EXPECT_STATUS(build->begin_body(bench->builder, i == 0 ? "outer yes" : "outer no"), TENON_OK);
    EXPECT_STATUS(build->body_parameter_like(bench->builder, "c", open, &c), TENON_OK);
    EXPECT_STATUS(build->body_parameter_like(bench->builder, "a", x, &a), TENON_OK);
    const tenon_value_t y = i == 0 ? choice(&world, c, a, w) : a;
    EXPECT_STATUS(build->body_result(bench->builder, y), TENON_OK);
    EXPECT_STATUS(build->end_body(bench->builder, &bodies[i]), TENON_OK);
  }
  tenon_value_t y = {0};
  EXPECT_STATUS(build->begin(bench->builder, "test.branch/1", "outer"), TENON_OK);
  EXPECT_STATUS(build->add_input(bench->builder, known), TENON_OK);
  EXPECT_STATUS(build->add_input(bench->builder, open), TENON_OK);
  EXPECT_STATUS(build->add_input(bench->builder, x), TENON_OK);
  EXPECT_STATUS(build->add_body(bench->builder, bodies[0]), TENON_OK);
  EXPECT_STATUS(build->add_body(bench->builder, bodies[1]), TENON_OK);
  EXPECT_STATUS(build->end(bench->builder, &y, 1), TENON_OK);
  test_output(&world, y, "y");
  const char* text = test_optimized(&world);
  EXPECT_CONTAINS(text,
                  "= test.branch/1(open, x)\n    body yes\n      parameter a: f32[3]\n"
                  "      constant ");
  EXPECT(strstr(text, "outer yes") == NULL);
  test_world_close(&world);
}

TENON_TEST(lets_constants_enter_bodies) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const tenon_value_t condition =
      test_input_of(&world.bench, "condition", TENON_DTYPE_BOOL, SCALAR);
  const tenon_value_t x = test_input(&world.bench, "x", DIMS(3));
  const tenon_value_t w = test_floats(&world.bench, "w", w_data, DIMS(3));
  test_output(&world, choice(&world, condition, x, w), "y");
  const char* text = test_optimized(&world);
  EXPECT_CONTAINS(text, "= test.branch/1(condition, x)\n");
  EXPECT_CONTAINS(text, "    body yes\n      parameter a: f32[3]\n      constant b: f32[3]\n");
  EXPECT(strstr(text, "  constant w") == NULL);
  test_expect_patches(&world, "enter bodies", 2);
  test_world_close(&world);
}
