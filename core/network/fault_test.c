/* Branches that cannot run: what becomes of the choice, of the network, of the plan. */
#include "core/network/fault.h"
#include "core/network/judge.h"

#include "core/base/bytes.h"
#include "core/dimension/dimension_pool.h"
#include "core/network/copy.h"
#include "core/network/test_operators.h"
#include "core/network/verify_rules.h"
#include "core/plan_file/network_reader.h"
#include "core/plan_file/network_writer.h"

static bool open(test_fixture_t* fixture) {
  return test_fixture_open(fixture, tenon__allocator_default());
}

/* A body of one parameter like `like` whose result is `op` of it. */
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

/* One that failed after its parameter was made, and a node. */
static uint32_t failed_body(test_fixture_t* fixture, const char* name, const char* message,
                            tenon_value_t like) {
  tenon_value_t x = {0};
  uint32_t body = TENON_NONE;
  EXPECT_STATUS(fixture->build->begin_body(fixture->builder, name), TENON_OK);
  EXPECT_STATUS(fixture->build->body_parameter_like(fixture->builder, "x", like, &x), TENON_OK);
  const tenon_value_t y = test_unary(fixture, "test.ramp/1", "inner", x);
  EXPECT_STATUS(fixture->build->body_result(fixture->builder, y), TENON_OK);
  EXPECT_STATUS(
      fixture->build->fail_body(fixture->builder, TENON_ERROR_INVALID_DATA, message, &body),
      TENON_OK);
  return body;
}

static tenon_status_t branch(test_fixture_t* fixture, const char* name, tenon_value_t condition,
                             tenon_value_t captured, const uint32_t* bodies, tenon_value_t* out_y) {
  const tenon_builder_table_t* build = fixture->build;
  EXPECT_STATUS(build->begin(fixture->builder, "test.branch/1", name), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture->builder, condition), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture->builder, captured), TENON_OK);
  EXPECT_STATUS(build->add_body(fixture->builder, bodies[0]), TENON_OK);
  EXPECT_STATUS(build->add_body(fixture->builder, bodies[1]), TENON_OK);
  return build->end(fixture->builder, out_y, 1);
}

static tenon_value_t condition_of(test_fixture_t* fixture) {
  return test_input_of(fixture, "condition", TENON_DTYPE_BOOL, SCALAR);
}

TENON_TEST(the_other_branch_says_what_the_choice_gives) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  for (uint32_t failed = 0; failed < 2; ++failed) {
    const tenon_value_t condition = failed == 0 ? condition_of(&fixture) : NO_VALUE;
    const tenon_value_t x = test_input(&fixture, failed == 0 ? "x" : "z", DIMS(5, -1));
    uint32_t bodies[2];
    bodies[failed] = failed_body(&fixture, "bad", "it is bad", x);
    bodies[1 - failed] = unary_body(&fixture, "good", "test.shape_of/1", x);
    tenon_value_t y = {0};
    const tenon_value_t use =
        failed == 0 ? condition : (tenon_value_t){1}; /* the first input's handle */
    EXPECT_STATUS(branch(&fixture, "choice", use, x, bodies, &y), TENON_OK);
    REQUIRE(y.id != 0);
    EXPECT_TEXT(test_type(&fixture, y), "i64[2]");
  }
  EXPECT_STATUS(tenon__network_verify(fixture.network, &fixture.messages.sink), TENON_OK);
  EXPECT_TEXT(fixture.messages.text, "");
  test_text_t text;
  EXPECT_CONTAINS(test_print(fixture.network, &text),
                  "    body bad\n      cannot run: it is bad\n"
                  "      parameter x: f32[5, x:1]\n    body good\n");
  test_fixture_close(&fixture);
}

TENON_TEST(a_choice_of_two_such_branches_fails) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_value_t condition = condition_of(&fixture);
  const tenon_value_t x = test_input(&fixture, "x", DIMS(5));
  const uint32_t bodies[2] = {failed_body(&fixture, "one", "first reason", x),
                              failed_body(&fixture, "two", "second reason", x)};
  tenon_value_t y = {0};
  EXPECT_STATUS(branch(&fixture, "choice", condition, x, bodies, &y), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(fixture.messages.text,
                  "test.branch/1 'choice': none of its bodies can run: 'one': first reason; 'two': "
                  "second reason");
  test_fixture_close(&fixture);
}

TENON_TEST(what_is_certainly_taken_must_run) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const bool yes = true;
  const tenon_value_t condition =
      test_constant_of(&fixture, "condition", TENON_DTYPE_BOOL, &yes, SCALAR);
  const tenon_value_t x = test_input(&fixture, "x", DIMS(5));
  const uint32_t sound = unary_body(&fixture, "sound", "test.ramp/1", x);
  const uint32_t bad[2] = {failed_body(&fixture, "bad", "it is bad", x), sound};
  tenon_value_t y = {0};
  EXPECT_STATUS(branch(&fixture, "choice", condition, x, bad, &y), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(fixture.messages.text,
                  "test.branch/1 'choice': its branch 'bad' is taken, which cannot run: it is bad");
  const uint32_t good[2] = {sound, bad[0]};
  EXPECT_STATUS(branch(&fixture, "choice", condition, x, good, &y), TENON_OK);
  EXPECT_TEXT(test_type(&fixture, y), "f32[5]");
  test_fixture_close(&fixture);
}

/* The body is built for columns that fit, and gets others. */
TENON_TEST(a_branch_that_does_not_infer_cannot_run) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_builder_table_t* build = fixture.build;
  const float numbers[6] = {0};
  const tenon_value_t condition = condition_of(&fixture);
  const tenon_value_t x = test_input(&fixture, "x", DIMS(5, 3));
  const tenon_value_t w = test_floats(&fixture, "w", numbers, DIMS(3, 2));
  tenon_value_t p = {0};
  tenon_value_t y = {0};
  uint32_t bodies[2] = {0};
  EXPECT_STATUS(build->begin_body(fixture.builder, "dense"), TENON_OK);
  EXPECT_STATUS(build->body_parameter(fixture.builder, "p", TENON_ARGUMENT_TENSOR,
                                      TENON_DTYPE_FLOAT32, 2, DIMS(5, 2), &p),
                TENON_OK);
  EXPECT_STATUS(
      build->body_result(fixture.builder, test_binary(&fixture, "test.dense/1", "product", p, w)),
      TENON_OK);
  EXPECT_STATUS(build->end_body(fixture.builder, &bodies[0]), TENON_OK);
  bodies[1] = unary_body(&fixture, "ramp", "test.ramp/1", x);
  EXPECT_STATUS(branch(&fixture, "choice", condition, x, bodies, &y), TENON_OK);
  REQUIRE(y.id != 0);
  EXPECT_TEXT(test_type(&fixture, y), "f32[5, 3]");
  EXPECT_TEXT(fixture.messages.text, "");
  const tenon__graph_t* dense = fixture.network->graphs[bodies[0]];
  REQUIRE(dense->fault != NULL);
  EXPECT_TEXT(dense->fault, "test.dense/1 'product': weights expect 2 channels, input has 3");
  EXPECT_INT(dense->fault_status, TENON_ERROR_INVALID_DATA);
  EXPECT_STATUS(tenon__network_verify(fixture.network, &fixture.messages.sink), TENON_OK);
  /* What it was made of goes when it is judged. */
  EXPECT_STATUS(tenon__network_judge(fixture.network, &fixture.messages.sink), TENON_OK);
  EXPECT_INT(dense->output_count, 0);
  EXPECT(!dense->nodes[0].alive);
  EXPECT_INT(dense->input_count, 1);
  EXPECT_STATUS(tenon__network_verify(fixture.network, &fixture.messages.sink), TENON_OK);
  tenon__network_warn_of_faults(fixture.network, &fixture.messages.sink);
  EXPECT_TEXT(fixture.messages.text,
              "'choice': its branch 'dense' cannot run, and a run that takes it fails: "
              "test.dense/1 'product': weights expect 2 channels, input has 3\n");
  test_fixture_close(&fixture);
}

/* A parameter of another type is a mistake of who made the choice. */
TENON_TEST(a_branch_that_takes_something_else_is_refused) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_value_t condition = condition_of(&fixture);
  const tenon_value_t x = test_input(&fixture, "x", DIMS(5));
  const uint32_t bodies[2] = {unary_body(&fixture, "of a bool", "test.same/1", x),
                              unary_body(&fixture, "sound", "test.same/1", x)};
  tenon_value_t y = {0};
  EXPECT_STATUS(branch(&fixture, "choice", condition, condition, bodies, &y),
                TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(fixture.messages.text, "parameter 'x' is f32[5], value 'condition' is bool[]");
  test_fixture_close(&fixture);
}

/* x [n, 3] through weights for `columns` columns, or as it is. */
static uint32_t columns_body(test_fixture_t* fixture, const char* name, const char* bound,
                             tenon_value_t x, int64_t columns) {
  static const float numbers[8] = {0};
  tenon_value_t p = {0};
  uint32_t body = TENON_NONE;
  const tenon_value_t w = test_floats(fixture, bound, numbers, DIMS(2, columns));
  EXPECT_STATUS(fixture->build->begin_body(fixture->builder, name), TENON_OK);
  EXPECT_STATUS(fixture->build->body_parameter_like(fixture->builder, "p", x, &p), TENON_OK);
  EXPECT_STATUS(fixture->build->body_result(fixture->builder,
                                            test_binary(fixture, "test.dense/1", "product", p, w)),
                TENON_OK);
  EXPECT_STATUS(fixture->build->end_body(fixture->builder, &body), TENON_OK);
  return body;
}

static void narrow(test_fixture_t* fixture, tenon_value_t x, uint32_t axis, int64_t extent) {
  tenon__dim_pool_t* pool = fixture->network->pool;
  const tenon_dim_t dim = test_value(fixture, x)->type.dims[axis];
  tenon__symbol_set_range(pool, tenon__dim_get(pool, dim).index, extent, extent);
}

TENON_TEST(a_branch_is_judged_by_what_is_known) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_value_t condition = condition_of(&fixture);
  const tenon_value_t x = test_input(&fixture, "x", DIMS(5, -1));
  const uint32_t bodies[2] = {columns_body(&fixture, "two", "w2", x, 2),
                              columns_body(&fixture, "three", "w3", x, 3)};
  tenon_value_t y = {0};
  EXPECT_STATUS(branch(&fixture, "choice", condition, x, bodies, &y), TENON_OK);
  REQUIRE(y.id != 0);
  EXPECT_STATUS(tenon__network_judge(fixture.network, &fixture.messages.sink), TENON_OK);
  EXPECT(fixture.network->graphs[bodies[0]]->fault == NULL);
  EXPECT(fixture.network->graphs[bodies[1]]->fault == NULL);
  narrow(&fixture, x, 1, 3);
  EXPECT_STATUS(tenon__network_judge(fixture.network, &fixture.messages.sink), TENON_OK);
  EXPECT(fixture.network->graphs[bodies[0]]->fault != NULL);
  EXPECT(fixture.network->graphs[bodies[1]]->fault == NULL);
  EXPECT_STATUS(tenon__network_verify(fixture.network, &fixture.messages.sink), TENON_OK);
  EXPECT_TEXT(fixture.messages.text, "");
  test_fixture_close(&fixture);
}

TENON_TEST(a_network_of_which_no_branch_can_run_fails) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_value_t condition = condition_of(&fixture);
  const tenon_value_t x = test_input(&fixture, "x", DIMS(5, -1));
  const uint32_t bodies[2] = {columns_body(&fixture, "two", "w2", x, 2),
                              columns_body(&fixture, "three", "w3", x, 3)};
  tenon_value_t y = {0};
  EXPECT_STATUS(branch(&fixture, "choice", condition, x, bodies, &y), TENON_OK);
  narrow(&fixture, x, 1, 4);
  EXPECT_STATUS(tenon__network_judge(fixture.network, &fixture.messages.sink),
                TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(fixture.messages.text,
                  "test.branch/1 'choice': none of its bodies can run: 'two': test.dense/1 "
                  "'product': weights expect 2 channels, input has x:1; 'three': test.dense/1 "
                  "'product': weights expect 3 channels, input has x:1");
  test_fixture_close(&fixture);
}

/* The outer branch `yes` holds a choice of its own. */
static void build_nested(test_fixture_t* fixture, tenon_value_t condition, tenon_value_t x,
                         uint32_t* out_inner, uint32_t* out_outer) {
  const tenon_builder_table_t* build = fixture->build;
  tenon_value_t c = {0};
  tenon_value_t p = {0};
  tenon_value_t y = {0};
  EXPECT_STATUS(build->begin_body(fixture->builder, "yes"), TENON_OK);
  EXPECT_STATUS(build->body_parameter_like(fixture->builder, "c", condition, &c), TENON_OK);
  EXPECT_STATUS(build->body_parameter_like(fixture->builder, "p", x, &p), TENON_OK);
  out_inner[0] = columns_body(fixture, "two", "w2", p, 2);
  out_inner[1] = columns_body(fixture, "three", "w3", p, 3);
  EXPECT_STATUS(branch(fixture, "inner", c, p, out_inner, &y), TENON_OK);
  EXPECT_STATUS(build->body_result(fixture->builder, y), TENON_OK);
  EXPECT_STATUS(build->end_body(fixture->builder, &out_outer[0]), TENON_OK);
  EXPECT_STATUS(build->begin_body(fixture->builder, "no"), TENON_OK);
  EXPECT_STATUS(build->body_parameter_like(fixture->builder, "c", condition, &c), TENON_OK);
  EXPECT_STATUS(build->body_parameter_like(fixture->builder, "p", x, &p), TENON_OK);
  EXPECT_STATUS(build->body_result(fixture->builder, p), TENON_OK);
  EXPECT_STATUS(build->end_body(fixture->builder, &out_outer[1]), TENON_OK);
  EXPECT_STATUS(build->begin(fixture->builder, "test.branch/1", "outer"), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture->builder, condition), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture->builder, condition), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture->builder, x), TENON_OK);
  EXPECT_STATUS(build->add_body(fixture->builder, out_outer[0]), TENON_OK);
  EXPECT_STATUS(build->add_body(fixture->builder, out_outer[1]), TENON_OK);
  EXPECT_STATUS(build->end(fixture->builder, &y, 1), TENON_OK);
  EXPECT_STATUS(build->output(fixture->builder, y, "y"), TENON_OK);
}

TENON_TEST(the_innermost_branch_fails_and_what_is_around_it_when_both_do) {
  for (int64_t columns = 3; columns <= 4; ++columns) {
    test_fixture_t fixture;
    uint32_t inner[2];
    uint32_t outer[2];
    REQUIRE(open(&fixture));
    const tenon_value_t condition = condition_of(&fixture);
    const tenon_value_t x = test_input(&fixture, "x", DIMS(5, -1));
    build_nested(&fixture, condition, x, inner, outer);
    narrow(&fixture, x, 1, columns);
    EXPECT_STATUS(tenon__network_judge(fixture.network, &fixture.messages.sink), TENON_OK);
    EXPECT_TEXT(fixture.messages.text, "");
    EXPECT(fixture.network->graphs[inner[0]]->fault != NULL);
    EXPECT((fixture.network->graphs[inner[1]]->fault != NULL) == (columns == 4));
    EXPECT((fixture.network->graphs[outer[0]]->fault != NULL) == (columns == 4));
    EXPECT(fixture.network->graphs[outer[1]]->fault == NULL);
    EXPECT_STATUS(tenon__network_verify(fixture.network, &fixture.messages.sink), TENON_OK);
    /* One warning: what lies in a branch that cannot run is not spoken of. */
    tenon__network_warn_of_faults(fixture.network, &fixture.messages.sink);
    const char* first = strstr(fixture.messages.text, "cannot run, and");
    REQUIRE(first != NULL);
    EXPECT(strstr(first + 1, "cannot run, and") == NULL);
    EXPECT_CONTAINS(fixture.messages.text, columns == 4 ? "'outer': its branch 'yes' cannot run"
                                                        : "'inner': its branch 'two' cannot run");
    test_fixture_close(&fixture);
  }
}

TENON_TEST(a_copy_and_a_file_hold_the_fault) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_value_t condition = condition_of(&fixture);
  const tenon_value_t x = test_input(&fixture, "x", DIMS(5));
  const uint32_t bodies[2] = {failed_body(&fixture, "bad", "it is \"bad\"", x),
                              unary_body(&fixture, "sound", "test.ramp/1", x)};
  tenon_value_t y = {0};
  EXPECT_STATUS(branch(&fixture, "choice", condition, x, bodies, &y), TENON_OK);
  EXPECT_STATUS(fixture.build->output(fixture.builder, y, "y"), TENON_OK);
  tenon__network_t* copy = NULL;
  tenon__network_t* read = NULL;
  EXPECT_STATUS(tenon__network_copy(fixture.network, &copy), TENON_OK);
  REQUIRE(copy != NULL);
  tenon__byte_writer_t writer;
  tenon__byte_reader_t reader;
  tenon__byte_writer_initialize(&writer, fixture.allocator);
  tenon__network_write(copy, &writer);
  tenon__byte_reader_initialize(&reader, writer.data, writer.size);
  EXPECT_STATUS(tenon__network_read(fixture.allocator, &reader, test_find, &fixture,
                                    &fixture.messages.sink, &read),
                TENON_OK);
  EXPECT_TEXT(fixture.messages.text, "");
  if (read != NULL) {
    static test_text_t before;
    static test_text_t after;
    EXPECT_TEXT(test_print(read, &after), test_print(fixture.network, &before));
    EXPECT_TEXT(read->graphs[bodies[0]]->fault, "it is \"bad\"");
    EXPECT_INT(read->graphs[bodies[0]]->fault_status, TENON_ERROR_INVALID_DATA);
  }
  tenon__network_destroy(read);
  tenon__byte_writer_deinitialize(&writer);
  tenon__network_destroy(copy);
  test_fixture_close(&fixture);
}

/* Whoever makes up a file: what cannot run is a branch and empty, and the other one can. */
TENON_TEST(refuses_files_whose_faults_make_no_sense) {
  enum { MAIN, BOTH, WITH_NODES, CASE_COUNT };
  for (int which = 0; which < CASE_COUNT; ++which) {
    test_fixture_t fixture;
    REQUIRE(open(&fixture));
    const tenon_value_t condition = condition_of(&fixture);
    const tenon_value_t x = test_input(&fixture, "x", DIMS(5));
    const uint32_t bodies[2] = {failed_body(&fixture, "bad", "it is bad", x),
                                unary_body(&fixture, "sound", "test.ramp/1", x)};
    tenon_value_t y = {0};
    EXPECT_STATUS(branch(&fixture, "choice", condition, x, bodies, &y), TENON_OK);
    EXPECT_STATUS(fixture.build->output(fixture.builder, y, "y"), TENON_OK);
    tenon__graph_t** graphs = fixture.network->graphs;
    const uint32_t changed = which == MAIN ? 0 : bodies[1];
    EXPECT_STATUS(tenon__graph_fail(fixture.network, changed, TENON_ERROR_UNSUPPORTED, "made up"),
                  TENON_OK);
    if (which == BOTH) {
      tenon__graph_empty(fixture.network, bodies[1]);
    } else if (which == WITH_NODES) {
      graphs[bodies[0]]->fault = NULL;
    }
    tenon__network_t* read = NULL;
    tenon__byte_writer_t writer;
    tenon__byte_reader_t reader;
    tenon__byte_writer_initialize(&writer, fixture.allocator);
    tenon__network_write(fixture.network, &writer);
    tenon__byte_reader_initialize(&reader, writer.data, writer.size);
    EXPECT_STATUS(tenon__network_read(fixture.allocator, &reader, test_find, &fixture,
                                      &fixture.messages.sink, &read),
                  TENON_ERROR_INVALID_DATA);
    tenon__byte_writer_deinitialize(&writer);
    test_fixture_close(&fixture);
  }
}
