/* Folding constants. */
#include "core/optimizer/test_world.h"

TENON_TEST(folds_expressions_of_constants) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const float a_data[] = {1, 2, 3, 4};
  const float b_data[] = {10, 20};
  const tenon_value_t a = test_floats(&world.fixture, "a", a_data, DIMS(2, 2));
  const tenon_value_t b = test_floats(&world.fixture, "b", b_data, DIMS(2));
  const tenon_value_t sum = test_binary(&world.fixture, "test.plus/1", "sum", a, b);
  const tenon_value_t exp = test_unary(&world.fixture, "test.exponential/1", "e", sum);
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2, 2));
  test_output(&world, test_binary(&world.fixture, "test.times/1", "y", x, sum), "y");
  test_output(&world, test_binary(&world.fixture, "test.times/1", "z", x, exp), "z");
  const char* text = test_optimized(&world);
  EXPECT_CONTAINS(text, "constant sum: f32[2, 2]");
  EXPECT_CONTAINS(text, "y: f32[2, 2] = test.times/1(x, sum)");
  EXPECT(strstr(text, "test.plus/1") == NULL && strstr(text, "constant a") == NULL);
  const float* data = test_floats_of(&world, "sum");
  REQUIRE(data != NULL);
  EXPECT_NEAR(data[0], 11, 0);
  EXPECT_NEAR(data[3], 24, 0);
  data = test_floats_of(&world, "e");
  REQUIRE(data != NULL);
  EXPECT_NEAR(data[0], 59874.14171519782, 0.01);
  test_world_close(&world);
}

TENON_TEST(folds_moves_of_constants) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const float data[] = {1, 2, 3, 4, 5, 6};
  const tenon_value_t w = test_floats(&world.fixture, "w", data, DIMS(2, 3));
  const tenon_value_t p = test_permute(&world.fixture, "p", w, DIMS(1, 0));
  const int64_t dims[] = {6};
  const tenon_value_t shape = test_vector(&world.fixture, "dims", dims, 1);
  const tenon_value_t r = test_binary(&world.fixture, "test.reshape/1", "r", p, shape);
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(6));
  test_output(&world, test_binary(&world.fixture, "test.times/1", "y", x, r), "y");
  const char* text = test_optimized(&world);
  EXPECT_TEXT(text,
              "graph main\n  input x: f32[6]\n  constant r: f32[6]\n"
              "  y: f32[6] = test.times/1(x, r)\n  output y: y\n");
  const float* r_data = test_floats_of(&world, "r");
  REQUIRE(r_data != NULL);
  EXPECT_NEAR(r_data[1], 4, 0);
  EXPECT_NEAR(r_data[2], 2, 0);
  test_world_close(&world);
}

TENON_TEST(folds_joins_of_constants) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const float data[] = {1, 2, 3, 4};
  const tenon_value_t a = test_floats(&world.fixture, "a", data, DIMS(1, 2));
  const tenon_value_t b = test_floats(&world.fixture, "b", data, DIMS(2, 2));
  tenon_value_t joined = {0};
  EXPECT_STATUS(world.fixture.build->begin(world.fixture.builder, "test.join/1", "j"), TENON_OK);
  EXPECT_STATUS(world.fixture.build->attribute_int(world.fixture.builder, "axis", 0), TENON_OK);
  EXPECT_STATUS(world.fixture.build->add_input(world.fixture.builder, a), TENON_OK);
  EXPECT_STATUS(world.fixture.build->add_input(world.fixture.builder, b), TENON_OK);
  EXPECT_STATUS(world.fixture.build->end(world.fixture.builder, &joined, 1), TENON_OK);
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(3, 2));
  test_output(&world, test_binary(&world.fixture, "test.times/1", "y", x, joined), "y");
  EXPECT_CONTAINS(test_optimized(&world), "constant j: f32[3, 2]");
  const float* j = test_floats_of(&world, "j");
  REQUIRE(j != NULL);
  EXPECT_NEAR(j[1], 2, 0);
  EXPECT_NEAR(j[2], 1, 0);
  EXPECT_NEAR(j[5], 4, 0);
  test_world_close(&world);
}

/* Rows interleave; one piece is empty, one comes twice, a last one is of something else. */
TENON_TEST(folds_joins_along_any_axis) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const float data[] = {1, 2, 3, 4, 5, 6};
  const tenon_value_t pieces[] = {
      test_floats(&world.fixture, "none", data, DIMS(2, 0)),
      test_floats(&world.fixture, "a", data, DIMS(2, 1)),
      test_floats(&world.fixture, "b", data, DIMS(2, 3)),
      test_floats(&world.fixture, "none_again", data, DIMS(2, 0)),
  };
  static const uint32_t order[] = {0, 1, 2, 3, 1};
  tenon_value_t joined = {0};
  EXPECT_STATUS(world.fixture.build->begin(world.fixture.builder, "test.join/1", "j"), TENON_OK);
  EXPECT_STATUS(world.fixture.build->attribute_int(world.fixture.builder, "axis", 1), TENON_OK);
  for (uint32_t i = 0; i < 5; ++i) {
    EXPECT_STATUS(world.fixture.build->add_input(world.fixture.builder, pieces[order[i]]),
                  TENON_OK);
  }
  EXPECT_STATUS(world.fixture.build->end(world.fixture.builder, &joined, 1), TENON_OK);
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2, 5));
  test_output(&world, test_binary(&world.fixture, "test.times/1", "y", x, joined), "y");
  EXPECT_CONTAINS(test_optimized(&world), "constant j: f32[2, 5]");
  const float* j = test_floats_of(&world, "j");
  REQUIRE(j != NULL);
  static const float expected[] = {1, 1, 2, 3, 1, 2, 4, 5, 6, 2};
  for (uint32_t i = 0; i < 10; ++i) {
    EXPECT_NEAR(j[i], expected[i], 0);
  }
  test_world_close(&world);
}

static tenon_status_t fold_dense(void* user, const tenon__network_t* network, uint32_t graph,
                                 uint32_t node, const tenon_tensor_view_t* outputs) {
  (void)user;
  (void)network;
  (void)graph;
  (void)node;
  float* data = outputs[0].data;
  data[0] = 42;
  return TENON_OK;
}

TENON_TEST(folds_closed_operators_by_the_callback) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  world.options.fold = fold_dense;
  const float data[] = {1, 2, 3};
  const tenon_value_t a = test_floats(&world.fixture, "a", data, DIMS(1, 3));
  const tenon_value_t d = test_binary(&world.fixture, "test.dense/1", "d", a, a);
  const tenon_value_t dice = test_unary(&world.fixture, "test.dice/1", "dice", a);
  test_output(&world, d, "d");
  test_output(&world, dice, "dice");
  const char* text = test_optimized(&world);
  EXPECT_CONTAINS(text, "constant d: f32[1, 1]");
  EXPECT_CONTAINS(text, "= test.dice/1(a)");
  const float* d_data = test_floats_of(&world, "d");
  REQUIRE(d_data != NULL);
  EXPECT_NEAR(d_data[0], 42, 0);
  test_world_close(&world);
}

TENON_TEST(an_output_that_is_absent_is_not_folded) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const tenon_builder_table_t* build = world.fixture.build;
  tenon_builder_t* builder = world.fixture.builder;
  const float data[] = {1, 2, 6};
  tenon_value_t both[2] = {{0}};
  tenon_value_t y = {0};
  const tenon_value_t a = test_floats(&world.fixture, "a", data, DIMS(3));
  EXPECT_STATUS(build->begin(builder, "test.centre/1", "one"), TENON_OK);
  EXPECT_STATUS(build->output_count(builder, 1), TENON_OK);
  EXPECT_STATUS(build->add_input(builder, a), TENON_OK);
  EXPECT_STATUS(build->end(builder, &y, 1), TENON_OK);
  const tenon_value_t twice = test_binary(&world.fixture, "test.plus/1", "twice", a, a);
  EXPECT_STATUS(build->begin(builder, "test.centre/1", "two"), TENON_OK);
  EXPECT_STATUS(build->add_input(builder, twice), TENON_OK);
  EXPECT_STATUS(build->end(builder, both, 2), TENON_OK);
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(3));
  test_output(&world, test_binary(&world.fixture, "test.plus/1", "p", x, y), "p");
  test_output(&world, test_binary(&world.fixture, "test.plus/1", "q", x, both[1]), "q");
  EXPECT(strstr(test_optimized(&world), "test.centre/1") == NULL);
  const float* found = test_floats_of(&world, "one:0");
  REQUIRE(found != NULL);
  EXPECT_NEAR(found[0], -2, 0);
  EXPECT_NEAR(found[2], 3, 0);
  test_world_close(&world);
}

TENON_TEST(does_not_fold_what_grows) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const float one = 1;
  const tenon_value_t small = test_floats(&world.fixture, "small", &one, DIMS(1, 1));
  float* column = calloc(300, sizeof(*column));
  REQUIRE(column != NULL);
  const tenon_value_t a = test_floats(&world.fixture, "a", column, DIMS(300, 1));
  const tenon_value_t b = test_floats(&world.fixture, "b", column, DIMS(1, 300));
  free(column);
  const tenon_value_t table = test_binary(&world.fixture, "test.plus/1", "table", a, b);
  test_output(&world, table, "table");
  test_output(&world, test_binary(&world.fixture, "test.plus/1", "few", small, small), "few");
  const char* text = test_optimized(&world);
  EXPECT_CONTAINS(text, "table: f32[300, 300] = test.plus/1(a, b)");
  EXPECT_CONTAINS(text, "constant few: f32[1, 1]");
  test_world_close(&world);
}

TENON_TEST(folds_what_is_known_by_its_contents) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2, 5));
  const tenon_value_t s = test_unary(&world.fixture, "test.shape_of/1", "s", x);
  test_output(&world, test_binary(&world.fixture, "test.plus/1", "t", s, s), "t");
  EXPECT_TEXT(test_optimized(&world),
              "graph main\n  input x: f32[2, 5]\n  constant t: i64[2]\n  output t: t\n");
  test_world_close(&world);
}

static tenon_value_t column_sum(test_world_t* world, const char* name, tenon_value_t x,
                                int64_t keepdims) {
  const tenon_builder_table_t* build = world->fixture.build;
  tenon_builder_t* builder = world->fixture.builder;
  const int64_t axis = 0;
  tenon_value_t y = {0};
  EXPECT_STATUS(build->begin(builder, "test.row_sum/1", name), TENON_OK);
  EXPECT_STATUS(build->attribute_ints(builder, "axes", &axis, 1), TENON_OK);
  EXPECT_STATUS(build->attribute_int(builder, "keepdims", keepdims), TENON_OK);
  EXPECT_STATUS(build->add_input(builder, x), TENON_OK);
  EXPECT_STATUS(build->end(builder, &y, 1), TENON_OK);
  return y;
}

/* Each sum alone is above the limit; both together are smaller than what they read. */
TENON_TEST(folds_all_who_read_a_large_constant_when_that_makes_it_smaller) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  float* data = calloc(60000, sizeof(*data));
  REQUIRE(data != NULL);
  const tenon_value_t w = test_floats(&world.fixture, "w", data, DIMS(3, 20000));
  const tenon_value_t v = test_floats(&world.fixture, "v", data, DIMS(3, 20000));
  free(data);
  test_output(&world, column_sum(&world, "flat", w, 0), "flat");
  test_output(&world, column_sum(&world, "kept", w, 1), "kept");
  test_output(&world, test_permute(&world.fixture, "turned", v, DIMS(1, 0)), "turned");
  test_output(&world, test_unary(&world.fixture, "test.exponential/1", "e", v), "e");
  const char* text = test_optimized(&world);
  EXPECT_CONTAINS(text, "constant flat: f32[20000]");
  EXPECT_CONTAINS(text, "constant kept: f32[1, 20000]");
  EXPECT(strstr(text, "constant w") == NULL);
  EXPECT_CONTAINS(text, "constant v");
  EXPECT_CONTAINS(text, "test.exponential/1(v)");
  test_world_close(&world);
}

TENON_TEST(keeps_the_sign_of_zero) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const float minus_data = -0.0F;
  const float zero_data = 0;
  const float factor_data = -3;
  const tenon_value_t minus = test_floats(&world.fixture, "minus", &minus_data, SCALAR);
  const tenon_value_t zero = test_floats(&world.fixture, "zero", &zero_data, SCALAR);
  const tenon_value_t factor = test_floats(&world.fixture, "factor", &factor_data, SCALAR);
  const tenon_value_t same = test_binary(&world.fixture, "test.plus/1", "same", minus, minus);
  const tenon_value_t product =
      test_binary(&world.fixture, "test.times/1", "product", zero, factor);
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2));
  test_output(&world, test_binary(&world.fixture, "test.times/1", "y", x, same), "y");
  test_output(&world, test_binary(&world.fixture, "test.plus/1", "z", x, product), "z");
  (void)test_optimized(&world);
  const float* found = NULL;
  for (uint32_t i = 0; i < world.fixture.network->weights_count; ++i) {
    const tenon__weights_t* weights = &world.fixture.network->weights[i];
    if (weights->derivation != NULL) {
      found = weights->data;
      EXPECT(found[0] == 0 && signbit(found[0]));
    }
  }
  EXPECT(found != NULL);
  test_world_close(&world);
}

/* Three tenths of ten are no quotient of small numbers: only the bytes tell the extents. */
TENON_TEST(extents_that_rest_on_a_folded_value_are_known) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const float part_data[] = {0.3F, 0.6F};
  const float ten_data[] = {10, 10};
  const tenon_value_t part = test_floats(&world.fixture, "part", part_data, DIMS(2));
  const tenon_value_t ten = test_floats(&world.fixture, "ten", ten_data, DIMS(2));
  const tenon_value_t product = test_binary(&world.fixture, "test.times/1", "product", part, ten);
  tenon_value_t dims = {0};
  const tenon_builder_table_t* build = world.fixture.build;
  EXPECT_STATUS(build->begin(world.fixture.builder, "test.convert/1", "dims"), TENON_OK);
  EXPECT_STATUS(build->attribute_dtype(world.fixture.builder, "to", TENON_DTYPE_INT64), TENON_OK);
  EXPECT_STATUS(build->add_input(world.fixture.builder, product), TENON_OK);
  EXPECT_STATUS(build->end(world.fixture.builder, &dims, 1), TENON_OK);
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(18));
  const tenon_value_t y = test_binary(&world.fixture, "test.reshape/1", "y", x, dims);
  const tenon_value_t twice = test_binary(&world.fixture, "test.plus/1", "twice", y, y);
  test_output(&world, test_unary(&world.fixture, "test.shape_of/1", "shape", twice), "shape");
  EXPECT(strstr(test_type(&world.fixture, y), "f32[v") != NULL);
  EXPECT_CONTAINS(test_optimized(&world), "constant shape: i64[2]\n  output shape: shape\n");
  const tenon__network_t* network = world.fixture.network;
  const tenon__weights_t* weights = &network->weights[network->weights_count - 1];
  EXPECT_INT(((const int64_t*)weights->data)[0], 3);
  EXPECT_INT(((const int64_t*)weights->data)[1], 6);
  test_world_close(&world);
}

TENON_TEST(rounds_to_the_type_that_is_stored) {
  /* In half precision 2048 + 1 is 2048. */
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const uint16_t large_bits = 0x6800;
  const uint16_t one_bits = 0x3c00;
  const tenon_value_t large =
      test_constant_of(&world.fixture, "large", TENON_DTYPE_FLOAT16, &large_bits, SCALAR);
  const tenon_value_t one =
      test_constant_of(&world.fixture, "one", TENON_DTYPE_FLOAT16, &one_bits, SCALAR);
  const tenon_value_t sum = test_binary(&world.fixture, "test.plus/1", "sum", large, one);
  const tenon_value_t rest = test_binary(&world.fixture, "test.minus/1", "rest", sum, large);
  const tenon_value_t x = test_input_of(&world.fixture, "x", TENON_DTYPE_FLOAT16, DIMS(2));
  test_output(&world, test_binary(&world.fixture, "test.plus/1", "y", x, rest), "y");
  EXPECT_CONTAINS(test_optimized(&world), "constant rest: f16[]");
  const tenon__weights_t* weights =
      &world.fixture.network->weights[world.fixture.network->weights_count - 1];
  EXPECT_TEXT(weights->derivation, "fold of test.minus/1 'rest'");
  EXPECT_INT(*(const uint16_t*)weights->data, 0);
  test_world_close(&world);
}
