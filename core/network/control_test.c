/* Control forms: branches and repetitions, their types and shapes. */

#include "core/dimension/dimension_pool.h"
#include "core/network/test_operators.h"
#include "core/network/verify_rules.h"

static bool open(test_fixture_t* fixture) {
  return test_fixture_open(fixture, tenon__allocator_default());
}

/* A body of one parameter like `like` whose result is `op` of it, and of `other` if that is given.
 */
static uint32_t unary_body(test_fixture_t* fixture, const char* name, const char* op,
                           tenon_value_t like) {
  tenon_value_t x = {0};
  uint32_t body = TENON_NONE;
  EXPECT_STATUS(fixture->build->begin_body(fixture->builder, name), TENON_OK);
  EXPECT_STATUS(fixture->build->body_parameter_like(fixture->builder, "x", like, &x), TENON_OK);
  const tenon_value_t y = test_unary(fixture, op, "inner", x);
  EXPECT_STATUS(fixture->build->body_result(fixture->builder, y), TENON_OK);
  EXPECT_STATUS(fixture->build->end_body(fixture->builder, &body), TENON_OK);
  return body;
}

static tenon_status_t branch(test_fixture_t* fixture, tenon_value_t condition,
                             tenon_value_t captured, uint32_t yes, uint32_t no,
                             tenon_value_t* out_y) {
  const tenon_builder_table_t* build = fixture->build;
  EXPECT_STATUS(build->begin(fixture->builder, "test.branch/1", "choice"), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture->builder, condition), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture->builder, captured), TENON_OK);
  EXPECT_STATUS(build->add_body(fixture->builder, yes), TENON_OK);
  EXPECT_STATUS(build->add_body(fixture->builder, no), TENON_OK);
  return build->end(fixture->builder, out_y, 1);
}

TENON_TEST(unifies_branches) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_value_t condition = test_input_of(&fixture, "condition", TENON_DTYPE_BOOL, SCALAR);
  const tenon_value_t x = test_input(&fixture, "x", DIMS(5));
  const uint32_t same = unary_body(&fixture, "same", "test.ramp/1", x);
  const uint32_t fewer = unary_body(&fixture, "fewer", "test.compress/1", x);
  const uint32_t other = unary_body(&fixture, "other", "test.exponential/1", x);
  tenon_value_t y = {0};
  EXPECT_STATUS(branch(&fixture, condition, x, same, other, &y), TENON_OK);
  REQUIRE(y.id != 0);
  EXPECT_TEXT(test_type(&fixture, y), "f32[5]");
  const uint32_t again = unary_body(&fixture, "again", "test.ramp/1", x);
  EXPECT_STATUS(branch(&fixture, condition, x, again, fewer, &y), TENON_OK);
  const tenon__value_node_t* value = test_value(&fixture, y);
  const tenon__dim_view_t view = tenon__dim_get(fixture.network->pool, value->type.dims[0]);
  REQUIRE(view.kind == TENON_DIM_SYMBOL);
  EXPECT_INT(tenon__symbol_get(fixture.network->pool, view.index)->max, 5);
  EXPECT_STATUS(tenon__network_verify(fixture.network, &fixture.messages.sink), TENON_OK);
  EXPECT_TEXT(fixture.messages.text, "");
  test_fixture_close(&fixture);
}

TENON_TEST(refuses_branches_of_different_types) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_value_t condition = test_input_of(&fixture, "condition", TENON_DTYPE_BOOL, SCALAR);
  const tenon_value_t x = test_input(&fixture, "x", DIMS(5));
  const uint32_t yes = unary_body(&fixture, "yes", "test.ramp/1", x);
  const uint32_t no = unary_body(&fixture, "no", "test.shape_of/1", x);
  tenon_value_t y = {0};
  EXPECT_STATUS(branch(&fixture, condition, x, yes, no, &y), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(fixture.messages.text,
                  "test.branch/1 'choice': output 0 is f32[5] from branch 'yes' and i64[1] from "
                  "branch 'no', and only a run knows which is taken: give what its condition");
  test_fixture_close(&fixture);
}

TENON_TEST(refuses_branches_of_different_ranks) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_value_t condition = test_input_of(&fixture, "condition", TENON_DTYPE_BOOL, SCALAR);
  const tenon_value_t x = test_input_of(&fixture, "x", TENON_DTYPE_INT64, DIMS(5));
  const uint32_t yes = unary_body(&fixture, "yes", "test.find/1", x);
  const uint32_t no = unary_body(&fixture, "no", "test.compress/1", x);
  tenon_value_t y = {0};
  EXPECT_STATUS(branch(&fixture, condition, x, yes, no, &y), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(fixture.messages.text, "] from branch 'yes' and i64[");
  test_fixture_close(&fixture);
}

TENON_TEST(takes_the_types_of_the_branch_that_is_known) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const bool yes_data = true;
  const tenon_value_t condition =
      test_constant_of(&fixture, "condition", TENON_DTYPE_BOOL, &yes_data, SCALAR);
  const tenon_value_t x = test_input(&fixture, "x", DIMS(5));
  const uint32_t yes = unary_body(&fixture, "yes", "test.ramp/1", x);
  const uint32_t no = unary_body(&fixture, "no", "test.shape_of/1", x);
  tenon_value_t y = {0};
  EXPECT_STATUS(branch(&fixture, condition, x, yes, no, &y), TENON_OK);
  REQUIRE(y.id != 0);
  EXPECT_TEXT(test_type(&fixture, y), "f32[5]");
  EXPECT_STATUS(tenon__network_verify(fixture.network, &fixture.messages.sink), TENON_OK);
  test_fixture_close(&fixture);
}

TENON_TEST(refuses_to_reach_out_of_a_body) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_value_t x = test_input(&fixture, "x", DIMS(5));
  const float numbers[] = {1, 2, 3, 4, 5};
  const tenon_value_t w = test_floats(&fixture, "w", numbers, DIMS(5));
  EXPECT_STATUS(fixture.build->begin_body(fixture.builder, "body"), TENON_OK);
  EXPECT_INT(test_unary(&fixture, "test.ramp/1", "inner", x).id, 0);
  EXPECT_CONTAINS(fixture.messages.text, "'x' belongs to graph 'main'; graph 'body' must take it");
  /* A constant is repeated. */
  EXPECT(test_unary(&fixture, "test.ramp/1", "inner", w).id != 0);
  EXPECT_INT(fixture.network->weights_count, 1);
  EXPECT_STATUS(tenon__builder_finish(fixture.builder), TENON_ERROR_INVALID_STATE);
  fixture.build->cancel_body(fixture.builder);
  EXPECT_STATUS(tenon__builder_finish(fixture.builder), TENON_OK);
  test_fixture_close(&fixture);
}

typedef struct loop_t {
  tenon_value_t iteration;
  tenon_value_t condition;
  tenon_value_t carried;
} loop_t;

static void begin_loop(test_fixture_t* fixture, tenon_value_t like, loop_t* loop) {
  const tenon_builder_table_t* build = fixture->build;
  EXPECT_STATUS(build->begin_body(fixture->builder, "body"), TENON_OK);
  EXPECT_STATUS(build->body_parameter(fixture->builder, "i", TENON_ARGUMENT_TENSOR,
                                      TENON_DTYPE_INT64, 0, NULL, &loop->iteration),
                TENON_OK);
  EXPECT_STATUS(build->body_parameter(fixture->builder, "go", TENON_ARGUMENT_TENSOR,
                                      TENON_DTYPE_BOOL, 0, NULL, &loop->condition),
                TENON_OK);
  EXPECT_STATUS(build->body_parameter_like(fixture->builder, "x", like, &loop->carried), TENON_OK);
}

/* A repetition of one carried value; results: the condition, the carried value, what is collected.
 */
static tenon_status_t end_loop(test_fixture_t* fixture, tenon_value_t trips, tenon_value_t initial,
                               tenon_value_t condition, tenon_value_t carried,
                               tenon_value_t collected, tenon_value_t* out_values) {
  const tenon_builder_table_t* build = fixture->build;
  uint32_t body = 0;
  EXPECT_STATUS(build->body_result(fixture->builder, condition), TENON_OK);
  EXPECT_STATUS(build->body_result(fixture->builder, carried), TENON_OK);
  EXPECT_STATUS(build->body_result(fixture->builder, collected), TENON_OK);
  EXPECT_STATUS(build->end_body(fixture->builder, &body), TENON_OK);
  EXPECT_STATUS(build->begin(fixture->builder, "test.repeat/1", "loop"), TENON_OK);
  EXPECT_STATUS(build->attribute_int(fixture->builder, "carried_count", 1), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture->builder, trips), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture->builder, NO_VALUE), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture->builder, initial), TENON_OK);
  EXPECT_STATUS(build->add_body(fixture->builder, body), TENON_OK);
  return build->end(fixture->builder, out_values, 2);
}

TENON_TEST(collects_a_known_number_of_iterations) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const int64_t seven = 7;
  const tenon_value_t trips =
      test_constant_of(&fixture, "trips", TENON_DTYPE_INT64, &seven, SCALAR);
  const tenon_value_t x = test_input(&fixture, "x", DIMS(2, 3));
  loop_t loop;
  begin_loop(&fixture, x, &loop);
  const tenon_value_t y = test_unary(&fixture, "test.ramp/1", "inner", loop.carried);
  tenon_value_t out[2] = {{0}};
  EXPECT_STATUS(end_loop(&fixture, trips, x, loop.condition, y, y, out), TENON_OK);
  REQUIRE(out[1].id != 0);
  EXPECT_TEXT(test_type(&fixture, out[0]), "f32[2, 3]");
  EXPECT_TEXT(test_type(&fixture, out[1]), "f32[7, 2, 3]");
  EXPECT_STATUS(tenon__network_verify(fixture.network, &fixture.messages.sink), TENON_OK);
  EXPECT_TEXT(fixture.messages.text, "");
  test_fixture_close(&fixture);
}

TENON_TEST(leaves_the_count_open_when_a_condition_ends_it) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const int64_t seven = 7;
  const tenon_value_t trips =
      test_constant_of(&fixture, "trips", TENON_DTYPE_INT64, &seven, SCALAR);
  const tenon_value_t x = test_input(&fixture, "x", SCALAR);
  loop_t loop;
  begin_loop(&fixture, x, &loop);
  const tenon_value_t inputs[] = {loop.carried};
  const char* const names[] = {"x"};
  tenon_value_t go = {0};
  EXPECT_STATUS(
      fixture.build->expression(fixture.builder, "y = x < 3.0", names, inputs, 1, "less", &go),
      TENON_OK);
  const tenon_value_t y = test_unary(&fixture, "test.scale/1", "inner", loop.carried);
  tenon_value_t out[2] = {{0}};
  EXPECT_STATUS(end_loop(&fixture, trips, x, go, y, y, out), TENON_OK);
  REQUIRE(out[1].id != 0);
  const tenon__value_node_t* value = test_value(&fixture, out[1]);
  const tenon__dim_view_t view = tenon__dim_get(fixture.network->pool, value->type.dims[0]);
  REQUIRE(view.kind == TENON_DIM_SYMBOL);
  EXPECT_INT(tenon__symbol_get(fixture.network->pool, view.index)->max, 7);
  test_fixture_close(&fixture);
}

TENON_TEST(widens_extents_that_grow_from_iteration_to_iteration) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_builder_table_t* build = fixture.build;
  const tenon_value_t trips = test_input_of(&fixture, "trips", TENON_DTYPE_INT64, SCALAR);
  const tenon_value_t x = test_input(&fixture, "x", DIMS(1, 3));
  loop_t loop;
  begin_loop(&fixture, x, &loop);
  /* y = join(x, row): one row more each time. */
  const float row_data[] = {1, 2, 3};
  const tenon_value_t row = test_floats(&fixture, "row", row_data, DIMS(1, 3));
  tenon_value_t y = {0};
  EXPECT_STATUS(build->begin(fixture.builder, "test.join/1", "inner"), TENON_OK);
  EXPECT_STATUS(build->attribute_int(fixture.builder, "axis", 0), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture.builder, loop.carried), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture.builder, row), TENON_OK);
  EXPECT_STATUS(build->end(fixture.builder, &y, 1), TENON_OK);
  tenon_value_t out[2] = {{0}};
  EXPECT_STATUS(end_loop(&fixture, trips, x, loop.condition, y, loop.iteration, out), TENON_OK);
  REQUIRE(out[0].id != 0);
  const tenon__value_node_t* value = test_value(&fixture, out[0]);
  int64_t known = 0;
  EXPECT(!tenon__dim_known(fixture.network->pool, value->type.dims[0], &known));
  EXPECT(tenon__dim_known(fixture.network->pool, value->type.dims[1], &known) && known == 3);
  /* The trip count is read when running: an extent over its contents. */
  EXPECT_CONTAINS(test_type(&fixture, out[1]), "i64[max(");
  EXPECT_STATUS(tenon__network_verify(fixture.network, &fixture.messages.sink), TENON_OK);
  EXPECT_TEXT(fixture.messages.text, "");
  test_fixture_close(&fixture);
}

TENON_TEST(does_not_take_a_counter_for_a_constant) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const int64_t zero = 0;
  const int64_t two = 2;
  const tenon_value_t trips = test_constant_of(&fixture, "trips", TENON_DTYPE_INT64, &two, SCALAR);
  const tenon_value_t start = test_constant_of(&fixture, "start", TENON_DTYPE_INT64, &zero, SCALAR);
  loop_t loop;
  begin_loop(&fixture, start, &loop);
  const int64_t one = 1;
  const tenon_value_t step = test_constant_of(&fixture, "step", TENON_DTYPE_INT64, &one, SCALAR);
  const tenon_value_t next = test_binary(&fixture, "test.plus/1", "next", loop.carried, step);
  tenon_value_t out[2] = {{0}};
  EXPECT_STATUS(end_loop(&fixture, trips, start, loop.condition, next, next, out), TENON_OK);
  REQUIRE(out[0].id != 0);
  EXPECT(test_value(&fixture, out[0])->type.contents == NULL);
  const tenon__graph_t* body = fixture.network->graphs[1];
  EXPECT(body->values[body->outputs[1]].type.contents == NULL);
  test_fixture_close(&fixture);
}

TENON_TEST(refuses_carried_values_that_change_rank_or_type) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const int64_t two = 2;
  const tenon_value_t trips = test_constant_of(&fixture, "trips", TENON_DTYPE_INT64, &two, SCALAR);
  const tenon_value_t x = test_input(&fixture, "x", DIMS(2, 3));
  loop_t loop;
  begin_loop(&fixture, x, &loop);
  const int64_t six = 6;
  const tenon_value_t dims = test_vector(&fixture, "dims", &six, 1);
  const tenon_value_t y = test_binary(&fixture, "test.reshape/1", "inner", loop.carried, dims);
  tenon_value_t out[2] = {{0}};
  EXPECT_STATUS(end_loop(&fixture, trips, x, loop.condition, y, y, out), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(fixture.messages.text,
                  "test.repeat/1 'loop': carried value 'x' changes its rank from 2 to 1");
  begin_loop(&fixture, x, &loop);
  const tenon_value_t shape = test_unary(&fixture, "test.shape_of/1", "inner", loop.carried);
  EXPECT_STATUS(end_loop(&fixture, trips, x, loop.condition, shape, shape, out),
                TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(fixture.messages.text,
                  "result 'inner' is i64[2], carried value 'x' is f32[2, 3]");
  test_fixture_close(&fixture);
}

TENON_TEST(refuses_bodies_of_the_wrong_arity) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_value_t condition = test_input_of(&fixture, "condition", TENON_DTYPE_BOOL, SCALAR);
  const tenon_value_t x = test_input(&fixture, "x", DIMS(5));
  const uint32_t body = unary_body(&fixture, "yes", "test.ramp/1", x);
  tenon_value_t y = {0};
  EXPECT_STATUS(branch(&fixture, condition, x, body, body, &y), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(fixture.messages.text, "is used twice");
  EXPECT_STATUS(fixture.build->begin(fixture.builder, "test.branch/1", "choice"), TENON_OK);
  EXPECT_STATUS(fixture.build->add_input(fixture.builder, condition), TENON_OK);
  EXPECT_STATUS(fixture.build->add_body(fixture.builder, body), TENON_OK);
  EXPECT_STATUS(fixture.build->end(fixture.builder, &y, 1), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(fixture.messages.text, "needs 2 bodies, has 1");
  test_fixture_close(&fixture);
}

static bool build_loop(tenon_allocator_t allocator, void* user) {
  (void)user;
  test_fixture_t fixture;
  if (!test_fixture_open(&fixture, allocator)) {
    return false;
  }
  const tenon_builder_table_t* build = fixture.build;
  const tenon_value_t trips = test_input_of(&fixture, "trips", TENON_DTYPE_INT64, SCALAR);
  const tenon_value_t x = test_input(&fixture, "x", DIMS(4));
  tenon_value_t i = {0};
  tenon_value_t go = {0};
  tenon_value_t c = {0};
  uint32_t body = 0;
  tenon_value_t out[2] = {{0}};
  bool good = x.id != 0 && build->begin_body(fixture.builder, "body") == TENON_OK &&
              build->body_parameter(fixture.builder, "i", TENON_ARGUMENT_TENSOR, TENON_DTYPE_INT64,
                                    0, NULL, &i) == TENON_OK &&
              build->body_parameter(fixture.builder, "go", TENON_ARGUMENT_TENSOR, TENON_DTYPE_BOOL,
                                    0, NULL, &go) == TENON_OK &&
              build->body_parameter_like(fixture.builder, "x", x, &c) == TENON_OK;
  const tenon_value_t y = good ? test_unary(&fixture, "test.compress/1", "inner", c) : NO_VALUE;
  good = good && y.id != 0 && build->body_result(fixture.builder, go) == TENON_OK &&
         build->body_result(fixture.builder, y) == TENON_OK &&
         build->body_result(fixture.builder, i) == TENON_OK &&
         build->end_body(fixture.builder, &body) == TENON_OK &&
         build->begin(fixture.builder, "test.repeat/1", "loop") == TENON_OK &&
         build->attribute_int(fixture.builder, "carried_count", 1) == TENON_OK &&
         build->add_input(fixture.builder, trips) == TENON_OK &&
         build->add_input(fixture.builder, NO_VALUE) == TENON_OK &&
         build->add_input(fixture.builder, x) == TENON_OK &&
         build->add_body(fixture.builder, body) == TENON_OK &&
         build->end(fixture.builder, out, 2) == TENON_OK;
  test_fixture_close(&fixture);
  return good;
}

TENON_TEST(survives_each_failing_allocation) {
  tenon__test_each_allocation(build_loop, NULL);
}
