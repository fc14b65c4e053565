/* Choices whose condition is known, and constants that bodies capture. */
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_arithmetic.h"
#include "core/dimension/dimension_pool.h"
#include "core/network/builder_values.h"
#include "core/network/node_forms.h"
#include "core/optimizer/test_world.h"

/* branch(condition, x, w): yes = (x + w) through a body of its own, no = compress(x). */
static tenon_value_t choice(test_world_t* world, tenon_value_t condition, tenon_value_t x,
                            tenon_value_t w) {
  test_fixture_t* fixture = &world->fixture;
  const tenon_builder_table_t* build = fixture->build;
  tenon_value_t a = {0};
  tenon_value_t b = {0};
  tenon_value_t y = {0};
  uint32_t yes = 0;
  uint32_t no = 0;
  EXPECT_STATUS(build->begin_body(fixture->builder, "yes"), TENON_OK);
  EXPECT_STATUS(build->body_parameter_like(fixture->builder, "a", x, &a), TENON_OK);
  EXPECT_STATUS(build->body_parameter_like(fixture->builder, "b", w, &b), TENON_OK);
  const tenon_value_t sum = test_binary(fixture, "test.plus/1", "sum", a, b);
  EXPECT_STATUS(
      build->body_result(fixture->builder, test_unary(fixture, "test.ramp/1", "ramp", sum)),
      TENON_OK);
  EXPECT_STATUS(build->end_body(fixture->builder, &yes), TENON_OK);
  EXPECT_STATUS(build->begin_body(fixture->builder, "no"), TENON_OK);
  EXPECT_STATUS(build->body_parameter_like(fixture->builder, "a", x, &a), TENON_OK);
  EXPECT_STATUS(build->body_parameter_like(fixture->builder, "b", w, &b), TENON_OK);
  EXPECT_STATUS(
      build->body_result(fixture->builder, test_unary(fixture, "test.compress/1", "fewer", a)),
      TENON_OK);
  EXPECT_STATUS(build->end_body(fixture->builder, &no), TENON_OK);
  EXPECT_STATUS(build->begin(fixture->builder, "test.branch/1", "choice"), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture->builder, condition), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture->builder, x), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture->builder, w), TENON_OK);
  EXPECT_STATUS(build->add_body(fixture->builder, yes), TENON_OK);
  EXPECT_STATUS(build->add_body(fixture->builder, no), TENON_OK);
  EXPECT_STATUS(build->end(fixture->builder, &y, 1), TENON_OK);
  return y;
}

static const float w_data[] = {1, 2, 3};

TENON_TEST(puts_the_taken_branch_in_its_place) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const bool data = true;
  const tenon_value_t condition =
      test_constant_of(&world.fixture, "condition", TENON_DTYPE_BOOL, &data, SCALAR);
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(3));
  const tenon_value_t w = test_floats(&world.fixture, "w", w_data, DIMS(3));
  const tenon_value_t y = choice(&world, condition, x, w);
  test_output(&world, test_unary(&world.fixture, "test.exponential/1", "e", y), "e");
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
      test_constant_of(&world.fixture, "condition", TENON_DTYPE_BOOL, &data, SCALAR);
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(3));
  const tenon_value_t w = test_floats(&world.fixture, "w", w_data, DIMS(3));
  test_output(&world, choice(&world, condition, x, w), "y");
  const char* text = test_optimized(&world);
  EXPECT_CONTAINS(text, "= test.compress/1(x)\n  output y: choice\n");
  EXPECT(strstr(text, "branch") == NULL);
  test_world_close(&world);
}

/* The branches differ, so the choice has an extent that nobody knows until it is taken. */
TENON_TEST(extents_that_rest_on_the_choice_are_those_of_the_branch) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const float data = 1;
  const tenon_value_t one = test_floats(&world.fixture, "one", &data, SCALAR);
  tenon_value_t condition = {0};
  const tenon_builder_table_t* build = world.fixture.build;
  const tenon_value_t e = test_unary(&world.fixture, "test.exponential/1", "e", one);
  EXPECT_STATUS(build->begin(world.fixture.builder, "test.convert/1", "condition"), TENON_OK);
  EXPECT_STATUS(build->attribute_dtype(world.fixture.builder, "to", TENON_DTYPE_BOOL), TENON_OK);
  EXPECT_STATUS(build->add_input(world.fixture.builder, e), TENON_OK);
  EXPECT_STATUS(build->end(world.fixture.builder, &condition, 1), TENON_OK);
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(3));
  const tenon_value_t w = test_floats(&world.fixture, "w", w_data, DIMS(3));
  const tenon_value_t y = choice(&world, condition, x, w);
  EXPECT_CONTAINS(test_type(&world.fixture, y), ".dim0]");
  test_output(&world, test_binary(&world.fixture, "test.plus/1", "z", y, y), "z");
  test_output(&world, test_unary(&world.fixture, "test.shape_of/1", "shape", y), "shape");
  EXPECT_CONTAINS(test_optimized(&world), "constant shape: i64[1]");
  const tenon__graph_t* graph = world.fixture.network->graphs[0];
  int64_t extent = 0;
  EXPECT(tenon__dim_known(world.fixture.network->pool,
                          graph->values[graph->outputs[0]].type.dims[0], &extent));
  EXPECT_INT(extent, 3);
  test_world_close(&world);
}

TENON_TEST(copies_a_branch_that_hands_its_parameter_out) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  const tenon_builder_table_t* build = world.fixture.build;
  const bool data = true;
  const tenon_value_t condition =
      test_constant_of(&world.fixture, "condition", TENON_DTYPE_BOOL, &data, SCALAR);
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(3));
  uint32_t bodies[2] = {0};
  for (uint32_t i = 0; i < 2; ++i) {
    tenon_value_t a = {0};
    EXPECT_STATUS(build->begin_body(world.fixture.builder, "body"), TENON_OK);
    EXPECT_STATUS(build->body_parameter_like(world.fixture.builder, "a", x, &a), TENON_OK);
    EXPECT_STATUS(build->body_result(world.fixture.builder, a), TENON_OK);
    EXPECT_STATUS(build->end_body(world.fixture.builder, &bodies[i]), TENON_OK);
  }
  tenon_value_t y = {0};
  EXPECT_STATUS(build->begin(world.fixture.builder, "test.branch/1", "choice"), TENON_OK);
  EXPECT_STATUS(build->add_input(world.fixture.builder, condition), TENON_OK);
  EXPECT_STATUS(build->add_input(world.fixture.builder, x), TENON_OK);
  EXPECT_STATUS(build->add_body(world.fixture.builder, bodies[0]), TENON_OK);
  EXPECT_STATUS(build->add_body(world.fixture.builder, bodies[1]), TENON_OK);
  EXPECT_STATUS(build->end(world.fixture.builder, &y, 1), TENON_OK);
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
  test_fixture_t* fixture = &world.fixture;
  const tenon_builder_table_t* build = fixture->build;
  const bool data = true;
  const tenon_value_t known = test_constant_of(fixture, "known", TENON_DTYPE_BOOL, &data, SCALAR);
  const tenon_value_t open = test_input_of(fixture, "open", TENON_DTYPE_BOOL, SCALAR);
  const tenon_value_t x = test_input(fixture, "x", DIMS(3));
  const tenon_value_t w = test_floats(fixture, "w", w_data, DIMS(3));
  uint32_t bodies[2] = {0};
  for (uint32_t i = 0; i < 2; ++i) {
    tenon_value_t c = {0};
    tenon_value_t a = {0};
    EXPECT_STATUS(build->begin_body(fixture->builder, i == 0 ? "outer yes" : "outer no"), TENON_OK);
    EXPECT_STATUS(build->body_parameter_like(fixture->builder, "c", open, &c), TENON_OK);
    EXPECT_STATUS(build->body_parameter_like(fixture->builder, "a", x, &a), TENON_OK);
    const tenon_value_t y = i == 0 ? choice(&world, c, a, w) : a;
    EXPECT_STATUS(build->body_result(fixture->builder, y), TENON_OK);
    EXPECT_STATUS(build->end_body(fixture->builder, &bodies[i]), TENON_OK);
  }
  tenon_value_t y = {0};
  EXPECT_STATUS(build->begin(fixture->builder, "test.branch/1", "outer"), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture->builder, known), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture->builder, open), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture->builder, x), TENON_OK);
  EXPECT_STATUS(build->add_body(fixture->builder, bodies[0]), TENON_OK);
  EXPECT_STATUS(build->add_body(fixture->builder, bodies[1]), TENON_OK);
  EXPECT_STATUS(build->end(fixture->builder, &y, 1), TENON_OK);
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
      test_input_of(&world.fixture, "condition", TENON_DTYPE_BOOL, SCALAR);
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(3));
  const tenon_value_t w = test_floats(&world.fixture, "w", w_data, DIMS(3));
  test_output(&world, choice(&world, condition, x, w), "y");
  const char* text = test_optimized(&world);
  EXPECT_CONTAINS(text, "= test.branch/1(condition, x)\n");
  EXPECT_CONTAINS(text, "    body yes\n      parameter a: f32[3]\n      constant b: f32[3]\n");
  EXPECT(strstr(text, "  constant w") == NULL);
  test_expect_patches(&world, "enter bodies", 2);
  test_world_close(&world);
}

/* In the body being built: `x` read backwards, by a move that was not inferred from a text. */
static tenon_value_t reversed(test_fixture_t* fixture, tenon_value_t x) {
  tenon_value_t result = {0};
  uint32_t graph = 0;
  uint32_t value = 0;
  uint32_t node = 0;
  tenon__dim_pool_t* pool = fixture->network->pool;
  EXPECT(tenon__builder_look_up(fixture->builder, x, &graph, &value));
  const tenon_dim_t extent = fixture->network->graphs[graph]->values[value].type.dims[0];
  const tenon_dim_t last = tenon__dim_add(pool, extent, tenon__dim_constant(pool, -1));
  const tenon_dim_t coordinate =
      tenon__dim_combine(pool, TENON_OPCODE_SUB, last, tenon__dim_coordinate(pool, 0, extent));
  const tenon__map_source_t source = {.rank = 1, .dims = &extent, .coordinates = &coordinate};
  const tenon__index_map_t map = {
      .kind = TENON_MAP_AFFINE, .rank = 1, .dims = &extent, .source_count = 1, .sources = &source};
  const tenon__form_request_t request = {.name = "reversed",
                                         .inputs = &value,
                                         .input_count = 1,
                                         .map = &map,
                                         .dtype = TENON_DTYPE_FLOAT32};
  EXPECT_STATUS(tenon__graph_add_form(fixture->network, graph, &request, NULL, &node), TENON_OK);
  value = fixture->network->graphs[graph]->nodes[node].outputs[0];
  EXPECT_STATUS(tenon__builder_handle(fixture->builder, graph, value, &result), TENON_OK);
  return result;
}

/* Is all that the dimension is read from in the main graph? */
static bool stays_in_main(const tenon__network_t* network, tenon_dim_t dim) {
  const tenon__dim_view_t view = tenon__dim_get(network->pool, dim);
  uint32_t graph = 0;
  uint32_t value = 0;
  uint32_t index = 0;
  bool stays = view.kind != TENON_DIM_SYMBOL ||
               (tenon__symbol_source(network, tenon__symbol_get(network->pool, view.index), &graph,
                                     &value, &index) &&
                graph == 0);
  for (uint32_t i = 0; i < view.operand_count; ++i) {
    stays = stays_in_main(network, view.operands[i]) && stays;
  }
  return stays;
}

TENON_TEST(reads_extents_from_what_the_branch_captured) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  test_fixture_t* fixture = &world.fixture;
  const tenon_builder_table_t* build = fixture->build;
  const bool data = true;
  const tenon_value_t condition =
      test_constant_of(fixture, "condition", TENON_DTYPE_BOOL, &data, SCALAR);
  const tenon_value_t x = test_input(fixture, "x", DIMS(3, 4));
  const tenon_value_t n = test_input_of(fixture, "n", TENON_DTYPE_INT64, DIMS(1));
  uint32_t bodies[2] = {0};
  for (uint32_t i = 0; i < 2; ++i) {
    tenon_value_t a = {0};
    tenon_value_t b = {0};
    EXPECT_STATUS(build->begin_body(fixture->builder, i == 0 ? "yes" : "no"), TENON_OK);
    EXPECT_STATUS(build->body_parameter_like(fixture->builder, "a", x, &a), TENON_OK);
    EXPECT_STATUS(build->body_parameter_like(fixture->builder, "b", n, &b), TENON_OK);
    const tenon_value_t flat = test_binary(fixture, "test.reshape/1", "flat", a, b);
    EXPECT_STATUS(build->body_result(fixture->builder, i == 0 ? reversed(fixture, flat) : flat),
                  TENON_OK);
    EXPECT_STATUS(build->end_body(fixture->builder, &bodies[i]), TENON_OK);
  }
  tenon_value_t y = {0};
  EXPECT_STATUS(build->begin(fixture->builder, "test.branch/1", "choice"), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture->builder, condition), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture->builder, x), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture->builder, n), TENON_OK);
  EXPECT_STATUS(build->add_body(fixture->builder, bodies[0]), TENON_OK);
  EXPECT_STATUS(build->add_body(fixture->builder, bodies[1]), TENON_OK);
  EXPECT_STATUS(build->end(fixture->builder, &y, 1), TENON_OK);
  test_output(&world, y, "y");
  EXPECT_CONTAINS(test_optimized(&world), "= move(flat)");
  const tenon__network_t* network = fixture->network;
  const tenon__graph_t* graph = network->graphs[0];
  EXPECT(stays_in_main(network, graph->values[graph->outputs[0]].type.dims[0]));
  test_world_close(&world);
}
