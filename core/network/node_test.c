/* Nodes: binding, types, shapes, contents, meaning, names. */
#include "core/network/node.h"

#include "core/dimension/dimension_pool.h"
#include "core/network/test_operators.h"
#include "core/network/verify_rules.h"

static bool open(test_fixture_t* fixture) {
  return test_fixture_open(fixture, tenon__allocator_default());
}

TENON_TEST(broadcasts_elementwise_operators) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_value_t a = test_input(&fixture, "a", DIMS(2, 1, 4));
  const tenon_value_t b = test_input(&fixture, "b", DIMS(3, 1));
  const tenon_value_t y = test_binary(&fixture, "test.plus/1", "sum", a, b);
  REQUIRE(y.id != 0);
  EXPECT_TEXT(test_type(&fixture, y), "f32[2, 3, 4]");
  EXPECT_TEXT(test_value(&fixture, y)->name, "sum");
  EXPECT(test_producer(&fixture, y)->expression != NULL);
  EXPECT_TEXT(fixture.messages.text, "");
  test_fixture_close(&fixture);
}

TENON_TEST(says_what_does_not_fit) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_value_t x = test_input(&fixture, "x", DIMS(8, 128));
  const float zeros[512] = {0};
  const tenon_value_t w = test_floats(&fixture, "w", zeros, DIMS(2, 256));
  EXPECT_INT(test_binary(&fixture, "test.dense/1", "layer4.1", x, w).id, 0);
  EXPECT_CONTAINS(fixture.messages.text,
                  "test.dense/1 'layer4.1': weights expect 256 channels, input has 128");
  EXPECT_INT(fixture.network->graphs[0]->node_count, 0);
  test_fixture_close(&fixture);
}

TENON_TEST(refuses_missing_and_surplus_inputs) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_value_t x = test_input(&fixture, "x", DIMS(2));
  EXPECT_INT(test_unary(&fixture, "test.plus/1", "p", x).id, 0);
  EXPECT_CONTAINS(fixture.messages.text, "test.plus/1 'p': input 'b' is missing");
  EXPECT_INT(test_binary(&fixture, "test.ramp/1", "r", x, x).id, 0);
  EXPECT_CONTAINS(fixture.messages.text, "test.ramp/1 'r': takes at most 1 inputs, has 2");
  EXPECT_INT(test_unary(&fixture, "test.absent/1", "q", x).id, 0);
  EXPECT_CONTAINS(fixture.messages.text, "no plugin offers operator test.absent/1");
  test_fixture_close(&fixture);
}

TENON_TEST(unifies_type_variables) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_value_t a = test_input_of(&fixture, "a", TENON_DTYPE_FLOAT32, DIMS(2));
  const tenon_value_t b = test_input_of(&fixture, "b", TENON_DTYPE_INT32, DIMS(2));
  const tenon_value_t s = test_input_of(&fixture, "s", TENON_DTYPE_STRING, DIMS(2));
  EXPECT_INT(test_binary(&fixture, "test.plus/1", "p", a, b).id, 0);
  EXPECT_CONTAINS(fixture.messages.text,
                  "test.plus/1 'p': input 'b' must be f32 as the node stands, 'b' is i32");
  EXPECT_INT(test_unary(&fixture, "test.ramp/1", "r", s).id, 0);
  EXPECT_CONTAINS(fixture.messages.text, "test.ramp/1 'r': input 'x' allows float, 's' is str");
  test_fixture_close(&fixture);
}

TENON_TEST(items_keep_their_rank_when_extents_are_open) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  tenon_value_t some = {0};
  tenon_value_t any = {0};
  EXPECT_STATUS(fixture.build->input_container(fixture.builder, "some", TENON_ARGUMENT_SEQUENCE,
                                               TENON_DTYPE_FLOAT32, 2, DIMS(3, -1), &some),
                TENON_OK);
  EXPECT_STATUS(fixture.build->input_container(fixture.builder, "any", TENON_ARGUMENT_SEQUENCE,
                                               TENON_DTYPE_FLOAT32, TENON_NONE, NULL, &any),
                TENON_OK);
  const tenon__value_node_t* value = test_value(&fixture, some);
  int64_t extent = 0;
  EXPECT_INT(value->type.rank, 2);
  EXPECT(tenon__dim_known(fixture.network->pool, value->type.dims[0], &extent) && extent == 3);
  EXPECT(!tenon__dim_known(fixture.network->pool, value->type.dims[1], &extent));
  EXPECT_INT(test_value(&fixture, any)->type.rank, TENON_NONE);
  test_fixture_close(&fixture);
}

TENON_TEST(two_inputs_have_two_names) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  (void)test_input(&fixture, "x", DIMS(2));
  EXPECT_INT(test_input_of(&fixture, "x", TENON_DTYPE_INT32, DIMS(3)).id, 0);
  EXPECT_CONTAINS(fixture.messages.text, "two inputs are named 'x'");
  tenon_value_t list = {0};
  EXPECT_STATUS(fixture.build->input_container(fixture.builder, "x", TENON_ARGUMENT_SEQUENCE,
                                               TENON_DTYPE_FLOAT32, TENON_NONE, NULL, &list),
                TENON_ERROR_INVALID_DATA);
  EXPECT(test_input(&fixture, "z", DIMS(2)).id != 0);
  EXPECT_INT(fixture.network->graphs[0]->input_count, 2);
  test_fixture_close(&fixture);
}

TENON_TEST(an_input_with_a_value_given_is_a_constant) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const int64_t axes[] = {1, 0};
  const tenon_tensor_view_t view = {
      .data = tenon__drop_const(axes), .dims = DIMS(2), .rank = 1, .dtype = TENON_DTYPE_INT64};
  tenon__given_input_t given[] = {{"axes", &view, false}, {"other", &view, false}};
  tenon__builder_give_inputs(fixture.builder, given, 2);
  const tenon_value_t y = test_input_of(&fixture, "axes", TENON_DTYPE_INT64, DIMS(-1));
  REQUIRE(y.id != 0);
  EXPECT_INT(fixture.network->graphs[0]->input_count, 0);
  int64_t content = 0;
  EXPECT(fixture.build->content(fixture.builder, y, 0, &content) != 0);
  EXPECT_INT(content, 1);
  EXPECT(given[0].is_used);
  EXPECT(!given[1].is_used);
  test_fixture_close(&fixture);
}

TENON_TEST(a_value_given_must_be_of_its_inputs_type) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const int64_t axes[] = {1, 0};
  const tenon_tensor_view_t view = {
      .data = tenon__drop_const(axes), .dims = DIMS(2), .rank = 1, .dtype = TENON_DTYPE_INT64};
  tenon__given_input_t given = {"axes", &view, false};
  tenon__builder_give_inputs(fixture.builder, &given, 1);
  EXPECT_INT(test_input_of(&fixture, "axes", TENON_DTYPE_INT32, DIMS(2)).id, 0);
  EXPECT_CONTAINS(fixture.messages.text,
                  "input 'axes' is i32[2]; the value given for it is i64[2]");
  EXPECT_INT(test_input_of(&fixture, "axes", TENON_DTYPE_INT64, DIMS(-1, 3)).id, 0);
  EXPECT_CONTAINS(fixture.messages.text, "input 'axes' is i64[?, 3]; the value given");
  test_fixture_close(&fixture);
}

TENON_TEST(takes_output_types_from_attributes) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_builder_table_t* build = fixture.build;
  const tenon_value_t x = test_input(&fixture, "x", DIMS(2, 3));
  tenon_value_t y = {0};
  EXPECT_STATUS(build->begin(fixture.builder, "test.convert/1", "c"), TENON_OK);
  EXPECT_STATUS(build->attribute_dtype(fixture.builder, "to", TENON_DTYPE_INT64), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture.builder, x), TENON_OK);
  EXPECT_STATUS(build->end(fixture.builder, &y, 1), TENON_OK);
  REQUIRE(y.id != 0);
  EXPECT_TEXT(test_type(&fixture, y), "i64[2, 3]");
  test_fixture_close(&fixture);
}

static tenon_status_t try_scale(test_fixture_t* fixture, tenon_value_t x, const char* attribute,
                                const char* value) {
  tenon_value_t y = {0};
  EXPECT_STATUS(fixture->build->begin(fixture->builder, "test.scale/1", "s"), TENON_OK);
  EXPECT_STATUS(fixture->build->attribute_string(fixture->builder, attribute, value), TENON_OK);
  EXPECT_STATUS(fixture->build->add_input(fixture->builder, x), TENON_OK);
  return fixture->build->end(fixture->builder, &y, 1);
}

TENON_TEST(checks_attributes) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_value_t x = test_input(&fixture, "x", DIMS(2));
  EXPECT_STATUS(try_scale(&fixture, x, "mood", "good"), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(fixture.messages.text,
                  "test.scale/1 's': there is no attribute 'mood'; near it: 'mode'");
  EXPECT_STATUS(try_scale(&fixture, x, "factor", "big"), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(fixture.messages.text, "attribute 'factor' is of kind float, string is given");
  EXPECT_STATUS(try_scale(&fixture, x, "mode", "plus"), TENON_OK);
  EXPECT_STATUS(try_scale(&fixture, x, "mode", "minus"), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(fixture.messages.text, "none of the operator's cases fits");
  test_fixture_close(&fixture);
}

TENON_TEST(fills_in_defaults) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_value_t x = test_input(&fixture, "x", DIMS(2));
  const tenon_value_t y = test_unary(&fixture, "test.scale/1", "s", x);
  REQUIRE(y.id != 0);
  const tenon__scope_attribute_t* factor =
      tenon__node_attribute(test_producer(&fixture, y), "factor");
  REQUIRE(factor != NULL);
  EXPECT_NEAR(factor->number, 2, 0);
  EXPECT(!factor->defined);
  test_fixture_close(&fixture);
}

TENON_TEST(keeps_symbols_through_shapes) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  tenon_value_t x = {0};
  const char* const symbols[] = {"batch", NULL, NULL};
  EXPECT_STATUS(fixture.build->input(fixture.builder, "x", TENON_DTYPE_FLOAT32, 3, DIMS(-1, 3, 4),
                                     symbols, &x),
                TENON_OK);
  const tenon_value_t y = test_permute(&fixture, "p", x, DIMS(2, 0, 1));
  REQUIRE(y.id != 0);
  EXPECT_TEXT(test_type(&fixture, y), "f32[4, batch, 3]");
  const tenon__node_t* node = test_producer(&fixture, y);
  REQUIRE(node->maps != NULL);
  EXPECT(tenon__index_map_is_view(fixture.network->pool, &node->maps[0]));
  test_fixture_close(&fixture);
}

TENON_TEST(follows_contents_from_shape_to_reshape) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const char* const symbols[] = {"batch", NULL, NULL};
  tenon_value_t x = {0};
  EXPECT_STATUS(fixture.build->input(fixture.builder, "x", TENON_DTYPE_FLOAT32, 3, DIMS(-1, 3, 4),
                                     symbols, &x),
                TENON_OK);
  const tenon_value_t shape = test_unary(&fixture, "test.shape_of/1", "shape", x);
  REQUIRE(shape.id != 0);
  EXPECT(test_producer(&fixture, shape)->contents_only);
  /* Through an expression, element by element: [batch, 3, 4] * [2, 1, -1] is no shape; [2, 1, 1]
   * is. */
  const int64_t factors[] = {2, 1, 1};
  const tenon_value_t factor = test_vector(&fixture, "factors", factors, 3);
  const tenon_value_t dims = test_binary(&fixture, "test.times/1", "dims", shape, factor);
  REQUIRE(dims.id != 0);
  const tenon_value_t big = test_input(&fixture, "big", DIMS(-1));
  const tenon_value_t y = test_binary(&fixture, "test.reshape/1", "r", big, dims);
  REQUIRE(y.id != 0);
  EXPECT_TEXT(test_type(&fixture, y), "f32[2*batch, 3, 4]");
  int64_t number = 0;
  EXPECT_INT(fixture.build->content(fixture.builder, dims, 1, &number), 1);
  EXPECT_INT(number, 3);
  EXPECT_INT(fixture.build->content(fixture.builder, dims, 0, &number), 0);
  test_fixture_close(&fixture);
}

TENON_TEST(makes_symbols_for_contents_that_only_the_run_knows) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_value_t x = test_input(&fixture, "x", DIMS(6, 4));
  const tenon_value_t dims = test_input_of(&fixture, "dims", TENON_DTYPE_INT64, DIMS(2));
  const tenon_value_t y = test_binary(&fixture, "test.reshape/1", "r", x, dims);
  REQUIRE(y.id != 0);
  const tenon__value_node_t* value = test_value(&fixture, dims);
  REQUIRE(value->type.contents != NULL && value->handle != TENON_NONE);
  const tenon__dim_view_t view = tenon__dim_get(fixture.network->pool, value->type.contents[1]);
  REQUIRE(view.kind == TENON_DIM_SYMBOL);
  uint32_t graph = 9;
  uint32_t index = 9;
  uint32_t element = 9;
  EXPECT(tenon__symbol_source(fixture.network, tenon__symbol_get(fixture.network->pool, view.index),
                              &graph, &index, &element));
  EXPECT_INT(graph, 0);
  EXPECT_INT(index, test_value_index(&fixture, dims));
  EXPECT_INT(element, 1);
  test_fixture_close(&fixture);
}

static void expect_own_extent(test_fixture_t* fixture, tenon_value_t handle, uint32_t axis,
                              int64_t bound) {
  const tenon__value_node_t* value = test_value(fixture, handle);
  const tenon__dim_view_t view = tenon__dim_get(fixture->network->pool, value->type.dims[axis]);
  REQUIRE(view.kind == TENON_DIM_SYMBOL);
  const tenon__symbol_t* symbol = tenon__symbol_get(fixture->network->pool, view.index);
  uint32_t graph = 9;
  uint32_t index = 9;
  uint32_t found_axis = 9;
  EXPECT_INT(symbol->kind, TENON_SYMBOL_EXTENT);
  EXPECT(tenon__symbol_source(fixture->network, symbol, &graph, &index, &found_axis));
  EXPECT_INT(index, test_value_index(fixture, handle));
  EXPECT_INT(found_axis, axis);
  EXPECT_INT(symbol->max, bound);
}

TENON_TEST(makes_symbols_for_extents_that_only_the_run_knows) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_value_t x = test_input(&fixture, "x", DIMS(3, 4));
  const tenon_value_t y = test_unary(&fixture, "test.find/1", "f", x);
  REQUIRE(y.id != 0);
  expect_own_extent(&fixture, y, 1, 12);
  const tenon_value_t v = test_input(&fixture, "v", DIMS(7));
  const tenon_value_t z = test_unary(&fixture, "test.compress/1", "c", v);
  REQUIRE(z.id != 0);
  EXPECT_INT(test_value(&fixture, z)->type.dtype, TENON_DTYPE_FLOAT32);
  expect_own_extent(&fixture, z, 0, 7);
  EXPECT_INT(test_unary(&fixture, "test.compress/1", "c2", x).id, 0);
  EXPECT_CONTAINS(fixture.messages.text, "test.compress/1 'c2': x must be a vector");
  EXPECT_STATUS(tenon__network_verify(fixture.network, &fixture.messages.sink), TENON_OK);
  test_fixture_close(&fixture);
}

TENON_TEST(takes_variadic_inputs_and_outputs) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_builder_table_t* build = fixture.build;
  const tenon_value_t x = test_input(&fixture, "x", DIMS(2, 6));
  tenon_value_t parts[3] = {{0}};
  EXPECT_STATUS(build->begin(fixture.builder, "test.part/1", "parts"), TENON_OK);
  EXPECT_STATUS(build->attribute_int(fixture.builder, "axis", 1), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture.builder, x), TENON_OK);
  EXPECT_STATUS(build->output_count(fixture.builder, 3), TENON_OK);
  EXPECT_STATUS(build->end(fixture.builder, parts, 3), TENON_OK);
  REQUIRE(parts[2].id != 0);
  EXPECT_TEXT(test_type(&fixture, parts[2]), "f32[2, 2]");
  EXPECT_TEXT(test_value(&fixture, parts[2])->name, "parts:2");
  tenon_value_t joined = {0};
  EXPECT_STATUS(build->begin(fixture.builder, "test.join/1", "joined"), TENON_OK);
  EXPECT_STATUS(build->attribute_int(fixture.builder, "axis", 1), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture.builder, parts[2]), TENON_OK);
  EXPECT_STATUS(build->add_input(fixture.builder, x), TENON_OK);
  EXPECT_STATUS(build->end(fixture.builder, &joined, 1), TENON_OK);
  REQUIRE(joined.id != 0);
  EXPECT_TEXT(test_type(&fixture, joined), "f32[2, 8]");
  EXPECT_INT(test_producer(&fixture, joined)->maps[0].source_count, 2);
  test_fixture_close(&fixture);
}

TENON_TEST(makes_optional_outputs_when_wanted) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_value_t x = test_input(&fixture, "x", DIMS(2));
  const tenon_value_t y = test_unary(&fixture, "test.top/1", "one", x);
  REQUIRE(y.id != 0);
  EXPECT_INT(test_producer(&fixture, y)->output_count, 2);
  EXPECT_INT(test_producer(&fixture, y)->outputs[1], TENON_NONE);
  tenon_value_t both[2] = {{0}};
  EXPECT_STATUS(fixture.build->begin(fixture.builder, "test.top/1", "two"), TENON_OK);
  EXPECT_STATUS(fixture.build->add_input(fixture.builder, x), TENON_OK);
  EXPECT_STATUS(fixture.build->end(fixture.builder, both, 2), TENON_OK);
  EXPECT(both[1].id != 0);
  test_fixture_close(&fixture);
}

TENON_TEST(gives_text_expressions_the_type_of_their_operands) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_value_t inputs[] = {test_input_of(&fixture, "x", TENON_DTYPE_FLOAT16, DIMS(2, 3)),
                                  test_input_of(&fixture, "z", TENON_DTYPE_FLOAT16, DIMS(3))};
  const char* const names[] = {"a", "b"};
  tenon_value_t y = {0};
  EXPECT_STATUS(
      fixture.build->expression(fixture.builder, "y = max(a, 0) * b", names, inputs, 2, "e", &y),
      TENON_OK);
  REQUIRE(y.id != 0);
  EXPECT_TEXT(test_type(&fixture, y), "f16[2, 3]");
  EXPECT_STATUS(
      fixture.build->expression(fixture.builder, "less = a < b", names, inputs, 2, "l", &y),
      TENON_OK);
  EXPECT_TEXT(test_type(&fixture, y), "bool[2, 3]");
  EXPECT_STATUS(fixture.build->expression(fixture.builder, "y = c", names, inputs, 2, "bad", &y),
                TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(fixture.messages.text, "'bad'");
  test_fixture_close(&fixture);
}

static tenon_status_t infer_from_nowhere(void* state, tenon_shape_builder_t* builder,
                                         const tenon_shape_table_t* table) {
  const tenon_dim_t nowhere = {123456};
  const tenon_dim_t extent = state == NULL ? nowhere : table->fresh(builder, nowhere);
  return table->set_output(builder, 0, TENON_DTYPE_UNDEFINED, 1, &extent) == TENON_OK
             ? TENON_OK
             : TENON_ERROR_INVALID_ARGUMENT;
}

TENON_TEST(refuses_extents_that_a_plugin_made_up) {
  const tenon_operator_t wrong = {OPERATOR("test.wrong/1"), FLOATS, INPUTS(PORT("x", "T", 0)),
                                  OUTPUTS(PORT("y", "T", 0)), .infer = infer_from_nowhere};
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const uint32_t x = test_value_index(&fixture, test_input(&fixture, "x", DIMS(3)));
  void* const states[] = {NULL, &fixture};
  for (int i = 0; i < 2; ++i) {
    const tenon__operator_t* op = NULL;
    const tenon_sink_t* sink = &fixture.messages.sink;
    REQUIRE(tenon__operator_admit(&fixture.arena, &wrong, "tests", states[i], sink, &op) ==
            TENON_OK);
    const tenon__node_request_t request = {.op = op, .input_count = 1, .inputs = &x};
    uint32_t node = 0;
    EXPECT(tenon__graph_add_node(fixture.network, 0, &request, sink, &node) != TENON_OK);
    EXPECT_CONTAINS(fixture.messages.text, "the shape function of plugin 'tests'");
  }
  test_fixture_close(&fixture);
}

static int fault; /* which one */

static tenon_status_t infer_wrongly(void* state, tenon_shape_builder_t* builder,
                                    const tenon_shape_table_t* table) {
  const tenon_dim_t dims[2] = {table->dim(builder, 0, 0), {123456}};
  (void)state;
  switch (fault) {
    case 0:
      return table->set_output(builder, 0, TENON_DTYPE_UNDEFINED, 100, dims);
    case 1:
      return table->set_output(builder, 0, TENON_DTYPE_INT32, 1, dims);
    case 2:
      return table->set_output(builder, 7, TENON_DTYPE_UNDEFINED, 1, dims);
    case 3:
      return table->set_output(builder, 0, TENON_DTYPE_UNDEFINED, 2, dims);
    default:
      return TENON_OK; /* says that all is well, and set nothing */
  }
}

TENON_TEST(says_what_is_wrong_with_a_shape_that_a_plugin_gives) {
  static const char* const words[] = {
      "sets output 0, 'y', to rank 100, at most 64",
      "sets output 0, 'y', to type i32, its port says f32",
      "sets output 7 of 1",
      "sets dimension 1 of output 0, 'y', to one that it did not get",
      "sets no shape of output 0, 'y'",
  };
  const tenon_operator_t wrong = {OPERATOR("test.wrong/1"), FLOATS, INPUTS(PORT("x", "T", 0)),
                                  OUTPUTS(PORT("y", "T", 0)), .infer = infer_wrongly};
  for (fault = 0; fault < 5; ++fault) {
    test_fixture_t fixture;
    REQUIRE(open(&fixture));
    const uint32_t x = test_value_index(&fixture, test_input(&fixture, "x", DIMS(3)));
    const tenon_sink_t* sink = &fixture.messages.sink;
    const tenon__operator_t* op = NULL;
    uint32_t node = 0;
    REQUIRE(tenon__operator_admit(&fixture.arena, &wrong, "acme", NULL, sink, &op) == TENON_OK);
    const tenon__node_request_t request = {.op = op, .input_count = 1, .inputs = &x};
    EXPECT(tenon__graph_add_node(fixture.network, 0, &request, sink, &node) != TENON_OK);
    EXPECT_CONTAINS(fixture.messages.text, "the shape function of plugin 'acme' ");
    EXPECT_CONTAINS(fixture.messages.text, words[fault]);
    EXPECT_INT(fixture.messages.count, 1);
    test_fixture_close(&fixture);
  }
}

TENON_TEST(keeps_names_unique) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  const tenon_value_t x = test_input(&fixture, "x", DIMS(2));
  const tenon_value_t a = test_unary(&fixture, "test.ramp/1", "x", x);
  const tenon_value_t b = test_unary(&fixture, "test.ramp/1", "x", a);
  const tenon_value_t c = test_unary(&fixture, "test.ramp/1", NULL, b);
  REQUIRE(c.id != 0);
  EXPECT_TEXT(test_value(&fixture, a)->name, "x_2");
  EXPECT_TEXT(test_producer(&fixture, a)->name, "x");
  EXPECT_TEXT(test_producer(&fixture, b)->name, "x_2");
  EXPECT_CONTAINS(test_producer(&fixture, c)->name, "ramp_");
  test_fixture_close(&fixture);
}

/* A small network with everything in it; NULL handles pass on failures. */
static bool build_small(test_fixture_t* fixture) {
  const char* const symbols[] = {"batch", NULL};
  tenon_value_t x = {0};
  (void)fixture->build->input(fixture->builder, "x", TENON_DTYPE_FLOAT32, 2, DIMS(-1, 3), symbols,
                              &x);
  const float numbers[] = {1, 2, 3, 4, 5, 6};
  const tenon_value_t w = test_floats(fixture, "w", numbers, DIMS(2, 3));
  const tenon_value_t y = test_binary(fixture, "test.dense/1", "dense", x, w);
  const tenon_value_t r = test_unary(fixture, "test.ramp/1", "ramp", y);
  const tenon_value_t s = test_unary(fixture, "test.shape_of/1", "shape", r);
  const tenon_value_t p = test_permute(fixture, "permute", r, DIMS(1, 0));
  const tenon_value_t q = test_binary(fixture, "test.reshape/1", "reshape", p, s);
  const tenon_value_t inputs[] = {q};
  const char* const names[] = {"q"};
  tenon_value_t e = {0};
  (void)fixture->build->expression(fixture->builder, "y = q + 1", names, inputs, 1, "more", &e);
  return fixture->build->output(fixture->builder, e, "result") == TENON_OK &&
         tenon__builder_finish(fixture->builder) == TENON_OK;
}

static bool build_and_close(tenon_allocator_t allocator, void* user) {
  (void)user;
  test_fixture_t fixture;
  if (!test_fixture_open(&fixture, allocator)) {
    return false;
  }
  const bool good = build_small(&fixture);
  test_fixture_close(&fixture);
  return good;
}

TENON_TEST(survives_each_failing_allocation) {
  tenon__test_each_allocation(build_and_close, NULL);
}

TENON_TEST(prints_what_it_built) {
  test_fixture_t fixture;
  REQUIRE(open(&fixture));
  REQUIRE(build_small(&fixture));
  test_text_t text;
  const char* printed = test_print(fixture.network, &text);
  EXPECT_CONTAINS(printed, "  input x: f32[batch, 3]\n");
  EXPECT_CONTAINS(printed, "  constant w: f32[2, 3]\n");
  EXPECT_CONTAINS(printed, "  dense: f32[batch, 2] = test.dense/1(x, w)\n");
  EXPECT_CONTAINS(printed, "  permute: f32[2, batch] = test.permute/1(ramp) {perm=[1, 0]}\n");
  EXPECT_CONTAINS(printed, "  output result: more\n");
  EXPECT_STATUS(tenon__network_verify(fixture.network, &fixture.messages.sink), TENON_OK);
  EXPECT_TEXT(fixture.messages.text, "");
  test_fixture_close(&fixture);
}
