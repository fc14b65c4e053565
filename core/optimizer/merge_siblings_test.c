/* Merging siblings: products of one value become one. */
#include "core/optimizer/siblings.h"
#include "core/optimizer/test_world.h"

/* Two of two and one rows of weights, with biases if they are wanted. */
static void make_two(test_world_t* world, bool with_biases) {
  test_fixture_t* f = &world->fixture;
  const float w_data[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const tenon_value_t x = test_input(f, "x", DIMS(7, 3));
  const tenon_value_t none = {0};
  const tenon_value_t left =
      test_node(f, "test.dense/1", "left", x, test_floats(f, "w", w_data, DIMS(2, 3)),
                with_biases ? test_floats(f, "b", w_data, DIMS(2)) : none);
  const tenon_value_t right =
      test_node(f, "test.dense/1", "right", x, test_floats(f, "v", w_data + 6, DIMS(1, 3)),
                with_biases ? test_floats(f, "c", w_data + 3, DIMS(1)) : none);
  test_output(world, test_unary(f, "test.ramp/1", "p", left), "p");
  test_output(world, test_unary(f, "test.ramp/1", "q", right), "q");
}

static bool has_siblings(const test_world_t* world) {
  bool has = false;
  EXPECT(tenon__network_has_siblings(world->fixture.network, &has) == TENON_OK);
  return has;
}

TENON_TEST(merges_products_of_one_value) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  world.options.merges_siblings = true;
  make_two(&world, true);
  EXPECT(has_siblings(&world));
  const char* text = test_optimized(&world);
  EXPECT_CONTAINS(text, "f32[7, 3] = test.dense/1(x, w_2, b_2)");
  EXPECT_CONTAINS(text, "p: f32[7, 2] = test.ramp/1(left)");
  EXPECT_CONTAINS(text, "q: f32[7, 1] = test.ramp/1(right)");
  test_expect_patches(&world, "merge siblings", 1);
  const float* weights = test_floats_of(&world, "w_2");
  const float* bias = test_floats_of(&world, "b_2");
  REQUIRE(weights != NULL && bias != NULL);
  for (int k = 0; k < 9; ++k) {
    EXPECT_NEAR(weights[k], k + 1, 0);
  }
  EXPECT(bias[0] == 1 && bias[1] == 2 && bias[2] == 4);
  EXPECT(!has_siblings(&world));
  test_world_close(&world);
}

TENON_TEST(leaves_them_where_nobody_asks) {
  for (int strict = 0; strict < 2; ++strict) {
    test_world_t world;
    REQUIRE(test_world_open(&world));
    world.options.merges_siblings = strict == 1;
    world.options.strict = strict == 1;
    make_two(&world, false);
    (void)test_optimized(&world);
    test_expect_patches(&world, "merge siblings", 0);
    test_world_close(&world);
  }
}

/* What its trait says of one group is not believed of two. */
TENON_TEST(leaves_what_is_none_of_its_kind) {
  tenon__scope_attribute_t groups = {
      .name = "groups", .kind = TENON_ATTRIBUTE_INT, .defined = true, .integer = 1};
  const tenon__operator_t op = {.traits = {.concatenable = true, .concatenable_single = "groups"}};
  uint32_t inputs[] = {0, 1};
  const tenon__node_t node = {
      .op = &op, .attributes = &groups, .attribute_count = 1, .inputs = inputs, .input_count = 2};
  EXPECT(tenon__node_is_concatenable(&node));
  groups.integer = 2;
  EXPECT(!tenon__node_is_concatenable(&node));
}

/* A bias for one alone, weights that are no constant, another value. */
TENON_TEST(leaves_those_that_differ) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  test_fixture_t* f = &world.fixture;
  world.options.merges_siblings = true;
  const float w_data[] = {1, 2, 3, 4, 5, 6};
  const tenon_value_t x = test_input(f, "x", DIMS(7, 3));
  const tenon_value_t w = test_floats(f, "w", w_data, DIMS(2, 3));
  const tenon_value_t v = test_input(f, "v", DIMS(2, 3));
  test_output(&world, test_binary(f, "test.dense/1", "plain", x, w), "a");
  test_output(&world,
              test_node(f, "test.dense/1", "biased", x, w, test_floats(f, "b", w_data, DIMS(2))),
              "b");
  test_output(&world, test_binary(f, "test.dense/1", "open", x, v), "c");
  test_output(&world, test_binary(f, "test.dense/1", "other", v, w), "d");
  (void)test_optimized(&world);
  test_expect_patches(&world, "merge siblings", 0);
  test_world_close(&world);
}
