/* Nodes: binding, types, shapes, contents, meaning, names. */
#include "core/network/node.h"

#include "core/dimension/dimension_pool.h"
#include "core/network/test_operators.h"
#include "core/network/verify_rules.h"

static bool open(test_bench_t* bench) {
  return test_bench_open(bench, tenon__allocator_default());
}

TENON_TEST(broadcasts_elementwise_operators) {
  test_bench_t bench;
  REQUIRE(open(&bench));
  const tenon_value_t a = test_input(&bench, "a", DIMS(2, 1, 4));
  const tenon_value_t b = test_input(&bench, "b", DIMS(3, 1));
  const tenon_value_t y = test_binary(&bench, "test.plus/1", "sum", a, b);
  REQUIRE(y.id != 0);
  EXPECT_TEXT(test_type(&bench, y), "f32[2, 3, 4]");
  EXPECT_TEXT(test_value(&bench, y)->name, "sum");
  EXPECT(test_producer(&bench, y)->expression != NULL);
  EXPECT_TEXT(bench.messages.text, "");
  test_bench_close(&bench);
}

TENON_TEST(says_what_does_not_fit) {
  test_bench_t bench;
  REQUIRE(open(&bench));
  const tenon_value_t x = test_input(&bench, "x", DIMS(8, 128));
  const float zeros[512] = {0};
  const tenon_value_t w = test_floats(&bench, "w", zeros, DIMS(2, 256));
  EXPECT_INT(test_binary(&bench, "test.dense/1", "layer4.1", x, w).id, 0);
  EXPECT_CONTAINS(bench.messages.text,
                  "test.dense/1 'layer4.1': weights expect 256 channels, input has 128");
  EXPECT_INT(bench.network->graphs[0]->node_count, 0);
  test_bench_close(&bench);
}

TENON_TEST(refuses_missing_and_surplus_inputs) {
  test_bench_t bench;
  REQUIRE(open(&bench));
  const tenon_value_t x = test_input(&bench, "x", DIMS(2));
  EXPECT_INT(test_unary(&bench, "test.plus/1", "p", x).id, 0);
  EXPECT_CONTAINS(bench.messages.text, "test.plus/1 'p': input 'b' is missing");
  EXPECT_INT(test_binary(&bench, "test.ramp/1", "r", x, x).id, 0);
  EXPECT_CONTAINS(bench.messages.text, "test.ramp/1 'r': takes at most 1 inputs, has 2");
  EXPECT_INT(test_unary(&bench, "test.absent/1", "q", x).id, 0);
  EXPECT_CONTAINS(bench.messages.text, "no plugin offers operator test.absent/1");
  test_bench_close(&bench);
}

TENON_TEST(unifies_type_variables) {
  test_bench_t bench;
  REQUIRE(open(&bench));
  const tenon_value_t a = test_input_of(&bench, "a", TENON_DTYPE_FLOAT32, DIMS(2));
  const tenon_value_t b = test_input_of(&bench, "b", TENON_DTYPE_INT32, DIMS(2));
  const tenon_value_t s = test_input_of(&bench, "s", TENON_DTYPE_STRING, DIMS(2));
  EXPECT_INT(test_binary(&bench, "test.plus/1", "p", a, b).id, 0);
  EXPECT_CONTAINS(bench.messages.text,
                  "test.plus/1 'p': input 'b' must be f32 as the node stands, 'b' is i32");
  EXPECT_INT(test_unary(&bench, "test.ramp/1", "r", s).id, 0);
  EXPECT_CONTAINS(bench.messages.text, "test.ramp/1 'r': input 'x' allows float, 's' is str");
  test_bench_close(&bench);
}

TENON_TEST(items_keep_their_rank_when_extents_are_open) {
  test_bench_t bench;
  REQUIRE(open(&bench));
  tenon_value_t some = {0};
  tenon_value_t any = {0};
  EXPECT_STATUS(bench.build->input_container(bench.builder, "some", TENON_ARGUMENT_SEQUENCE,
                                             TENON_DTYPE_FLOAT32, 2, DIMS(3, -1), &some),
                TENON_OK);
  EXPECT_STATUS(bench.build->input_container(bench.builder, "any", TENON_ARGUMENT_SEQUENCE,
                                             TENON_DTYPE_FLOAT32, TENON_NONE, NULL, &any),
                TENON_OK);
  const tenon__value_node_t* value = test_value(&bench, some);
  int64_t extent = 0;
  EXPECT_INT(value->type.rank, 2);
  EXPECT(tenon__dim_known(bench.network->pool, value->type.dims[0], &extent) && extent == 3);
  EXPECT(!tenon__dim_known(bench.network->pool, value->type.dims[1], &extent));
  EXPECT_INT(test_value(&bench, any)->type.rank, TENON_NONE);
  test_bench_close(&bench);
}

TENON_TEST(two_inputs_have_two_names) {
  test_bench_t bench;
  REQUIRE(open(&bench));
  (void)test_input(&bench, "x", DIMS(2));
  EXPECT_INT(test_input_of(&bench, "x", TENON_DTYPE_INT32, DIMS(3)).id, 0);
  EXPECT_CONTAINS(bench.messages.text, "two inputs are named 'x'");
  tenon_value_t list = {0};
  EXPECT_STATUS(bench.build->input_container(bench.builder, "x", TENON_ARGUMENT_SEQUENCE,
                                             TENON_DTYPE_FLOAT32, TENON_NONE, NULL, &list),
                TENON_ERROR_INVALID_DATA);
  EXPECT(test_input(&bench, "z", DIMS(2)).id != 0);
  EXPECT_INT(bench.network->graphs[0]->input_count, 2);
  test_bench_close(&bench);
}

TENON_TEST(an_input_with_a_value_given_is_a_constant) {
  test_bench_t bench;
  REQUIRE(open(&bench));
  const int64_t axes[] = {1, 0};
  const tenon_tensor_view_t view = {
      .data = tenon__drop_const(axes), .dims = DIMS(2), .rank = 1, .dtype = TENON_DTYPE_INT64};
  tenon__given_input_t given[] = {{"axes", &view, false}, {"other", &view, false}};
  tenon__builder_give_inputs(bench.builder, given, 2);
  const tenon_value_t y = test_input_of(&bench, "axes", TENON_DTYPE_INT64, DIMS(-1));
  REQUIRE(y.id != 0);
  EXPECT_INT(bench.network->graphs[0]->input_count, 0);
  int64_t content = 0;
  EXPECT(bench.build->content(bench.builder, y, 0, &content) != 0);
  EXPECT_INT(content, 1);
  EXPECT(given[0].is_used);
  EXPECT(!given[1].is_used);
  test_bench_close(&bench);
}

TENON_TEST(a_value_given_must_be_of_its_inputs_type) {
  test_bench_t bench;
  REQUIRE(open(&bench));
  const int64_t axes[] = {1, 0};
  const tenon_tensor_view_t view = {
      .data = tenon__drop_const(axes), .dims = DIMS(2), .rank = 1, .dtype = TENON_DTYPE_INT64};
  tenon__given_input_t given = {"axes", &view, false};
  tenon__builder_give_inputs(bench.builder, &given, 1);
  EXPECT_INT(test_input_of(&bench, "axes", TENON_DTYPE_INT32, DIMS(2)).id, 0);
  EXPECT_CONTAINS(bench.messages.text, "input 'axes' is i32[2]; the value given for it is i64[2]");
  EXPECT_INT(test_input_of(&bench, "axes", TENON_DTYPE_INT64, DIMS(-1, 3)).id, 0);
  EXPECT_CONTAINS(bench.messages.text, "input 'axes' is i64[?, 3]; the value given");
  test_bench_close(&bench);
}

TENON_TEST(takes_output_types_from_attributes) {
  test_bench_t bench;
  REQUIRE(open(&bench));
  const tenon_builder_table_t* build = bench.build;
  const tenon_value_t x = test_input(&bench, "x", DIMS(2, 3));
  tenon_value_t y = {0};
  EXPECT_STATUS(build->begin(bench.builder, "test.convert/1", "c"), TENON_OK);
  EXPECT_STATUS(build->attribute_dtype(bench.builder, "to", TENON_DTYPE_INT64), TENON_OK);
  EXPECT_STATUS(build->add_input(bench.builder, x), TENON_OK);
  EXPECT_STATUS(build->end(bench.builder, &y, 1), TENON_OK);
  REQUIRE(y.id != 0);
  EXPECT_TEXT(test_type(&bench, y), "i64[2, 3]");
  test_bench_close(&bench);
}

static tenon_status_t try_scale(test_bench_t* bench, tenon_value_t x, const char* attribute,
                                const char* value) {
  tenon_value_t y = {0};
  EXPECT_STATUS(bench->build->begin(bench->builder, "test.scale/1", "s"), TENON_OK);
  EXPECT_STATUS(bench->build->attribute_string(bench->builder, attribute, value), TENON_OK);
  EXPECT_STATUS(bench->build->add_input(bench->builder, x), TENON_OK);
  return bench->build->end(bench->builder, &y, 1);
}

TENON_TEST(checks_attributes) {
  test_bench_t bench;
  REQUIRE(open(&bench));
  const tenon_value_t x = test_input(&bench, "x", DIMS(2));
  EXPECT_STATUS(try_scale(&bench, x, "mood", "good"), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(bench.messages.text,
                  "test.scale/1 's': there is no attribute 'mood'; near it: 'mode'");
  EXPECT_STATUS(try_scale(&bench, x, "factor", "big"), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(bench.messages.text, "attribute 'factor' is of kind float, string is given");
  EXPECT_STATUS(try_scale(&bench, x, "mode", "plus"), TENON_OK);
  EXPECT_STATUS(try_scale(&bench, x, "mode", "minus"), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(bench.messages.text, "none of the operator's cases fits");
  test_bench_close(&bench);
}

TENON_TEST(fills_in_defaults) {
  test_bench_t bench;
  REQUIRE(open(&bench));
  const tenon_value_t x = test_input(&bench, "x", DIMS(2));
  const tenon_value_t y = test_unary(&bench, "test.scale/1", "s", x);
  REQUIRE(y.id != 0);
  const tenon__scope_attribute_t* factor =
      tenon__node_attribute(test_producer(&bench, y), "factor");
  REQUIRE(factor != NULL);
  EXPECT_NEAR(factor->number, 2, 0);
  EXPECT(!factor->defined);
  test_bench_close(&bench);
}

TENON_TEST(keeps_symbols_through_shapes) {
  test_bench_t bench;
  REQUIRE(open(&bench));
  tenon_value_t x = {0};
  const char* const symbols[] = {"batch", NULL, NULL};
  EXPECT_STATUS(
      bench.build->input(bench.builder, "x", TENON_DTYPE_FLOAT32, 3, DIMS(-1, 3, 4), symbols, &x),
      TENON_OK);
  const tenon_value_t y = test_permute(&bench, "p", x, DIMS(2, 0, 1));
  REQUIRE(y.id != 0);
  EXPECT_TEXT(test_type(&bench, y), "f32[4, batch, 3]");
  const tenon__node_t* node = test_producer(&bench, y);
  REQUIRE(node->maps != NULL);
  EXPECT(tenon__index_map_is_view(bench.network->pool, &node->maps[0]));
  test_bench_close(&bench);
}

TENON_TEST(follows_contents_from_shape_to_reshape) {
  test_bench_t bench;
  REQUIRE(open(&bench));
  const char* const symbols[] = {"batch", NULL, NULL};
  tenon_value_t x = {0};
  EXPECT_STATUS(
      bench.build->input(bench.builder, "x", TENON_DTYPE_FLOAT32, 3, DIMS(-1, 3, 4), symbols, &x),
      TENON_OK);
  const tenon_value_t shape = test_unary(&bench, "test.shape_of/1", "shape", x);
  REQUIRE(shape.id != 0);
  EXPECT(test_producer(&bench, shape)->contents_only);
  /* Through an expression, element by element: [batch, 3, 4] * [2, 1, -1] is no shape; [2, 1, 1]
   * is. */
  const int64_t factors[] = {2, 1, 1};
  const tenon_value_t factor = test_vector(&bench, "factors", factors, 3);
  const tenon_value_t dims = test_binary(&bench, "test.times/1", "dims", shape, factor);
  REQUIRE(dims.id != 0);
  const tenon_value_t big = test_input(&bench, "big", DIMS(-1));
  const tenon_value_t y = test_binary(&bench, "test.reshape/1", "r", big, dims);
  REQUIRE(y.id != 0);
  EXPECT_TEXT(test_type(&bench, y), "f32[2*batch, 3, 4]");
  int64_t number = 0;
  EXPECT_INT(bench.build->content(bench.builder, dims, 1, &number), 1);
  EXPECT_INT(number, 3);
  EXPECT_INT(bench.build->content(bench.builder, dims, 0, &number), 0);
  test_bench_close(&bench);
}

TENON_TEST(makes_symbols_for_contents_that_only_the_run_knows) {
  test_bench_t bench;
  REQUIRE(open(&bench));
  const tenon_value_t x = test_input(&bench, "x", DIMS(6, 4));
  const tenon_value_t dims = test_input_of(&bench, "dims", TENON_DTYPE_INT64, DIMS(2));
  const tenon_value_t y = test_binary(&bench, "test.reshape/1", "r", x, dims);
  REQUIRE(y.id != 0);
  const tenon__value_node_t* value = test_value(&bench, dims);
  REQUIRE(value->type.contents != NULL && value->number != TENON_NONE);
  const tenon__dim_view_t view = tenon__dim_get(bench.network->pool, value->type.contents[1]);
  REQUIRE(view.kind == TENON_DIM_SYMBOL);
  uint32_t graph = 9;
  uint32_t index = 9;
  uint32_t element = 9;
  EXPECT(tenon__symbol_source(bench.network, tenon__symbol_get(bench.network->pool, view.index),
                              &graph, &index, &element));
  EXPECT_INT(graph, 0);
  EXPECT_INT(index, tenon__builder_value(bench.builder, dims));
  EXPECT_INT(element, 1);
  test_bench_close(&bench);
}

static void expect_own_extent(test_bench_t* bench, tenon_value_t handle, uint32_t axis,
                              int64_t bound) {
  const tenon__value_node_t* value = test_value(bench, handle);
  const tenon__dim_view_t view = tenon__dim_get(bench->network->pool, value->type.dims[axis]);
  REQUIRE(view.kind == TENON_DIM_SYMBOL);
  const tenon__symbol_t* symbol = tenon__symbol_get(bench->network->pool, view.index);
  uint32_t graph = 9;
  uint32_t index = 9;
  uint32_t found_axis = 9;
  EXPECT_INT(symbol->kind, TENON_SYMBOL_EXTENT);
  EXPECT(tenon__symbol_source(bench->network, symbol, &graph, &index, &found_axis));
  EXPECT_INT(index, tenon__builder_value(bench->builder, handle));
  EXPECT_INT(found_axis, axis);
  EXPECT_INT(symbol->max, bound);
}

TENON_TEST(makes_symbols_for_extents_that_only_the_run_knows) {
  test_bench_t bench;
  REQUIRE(open(&bench));
  const tenon_value_t x = test_input(&bench, "x", DIMS(3, 4));
  const tenon_value_t y = test_unary(&bench, "test.find/1", "f", x);
  REQUIRE(y.id != 0);
  expect_own_extent(&bench, y, 1, 12);
  const tenon_value_t v = test_input(&bench, "v", DIMS(7));
  const tenon_value_t z = test_unary(&bench, "test.compress/1", "c", v);
  REQUIRE(z.id != 0);
  EXPECT_INT(test_value(&bench, z)->type.dtype, TENON_DTYPE_FLOAT32);
  expect_own_extent(&bench, z, 0, 7);
  EXPECT_INT(test_unary(&bench, "test.compress/1", "c2", x).id, 0);
  EXPECT_CONTAINS(bench.messages.text, "test.compress/1 'c2': x must be a vector");
  EXPECT_STATUS(tenon__network_verify(bench.network, &bench.messages.sink), TENON_OK);
  test_bench_close(&bench);
}

TENON_TEST(takes_variadic_inputs_and_outputs) {
  test_bench_t bench;
  REQUIRE(open(&bench));
  const tenon_builder_table_t* build = bench.build;
  const tenon_value_t x = test_input(&bench, "x", DIMS(2, 6));
  tenon_value_t parts[3] = {{0}};
  EXPECT_STATUS(build->begin(bench.builder, "test.part/1", "parts"), TENON_OK);
  EXPECT_STATUS(build->attribute_int(bench.builder, "axis", 1), TENON_OK);
  EXPECT_STATUS(build->add_input(bench.builder, x), TENON_OK);
  EXPECT_STATUS(build->output_count(bench.builder, 3), TENON_OK);
  EXPECT_STATUS(build->end(bench.builder, parts, 3), TENON_OK);
  REQUIRE(parts[2].id != 0);
  EXPECT_TEXT(test_type(&bench, parts[2]), "f32[2, 2]");
  EXPECT_TEXT(test_value(&bench, parts[2])->name, "parts:2");
  tenon_value_t joined = {0};
  EXPECT_STATUS(build->begin(bench.builder, "test.join/1", "joined"), TENON_OK);
  EXPECT_STATUS(build->attribute_int(bench.builder, "axis", 1), TENON_OK);
  EXPECT_STATUS(build->add_input(bench.builder, parts[2]), TENON_OK);
  EXPECT_STATUS(build->add_input(bench.builder, x), TENON_OK);
  EXPECT_STATUS(build->end(bench.builder, &joined, 1), TENON_OK);
  REQUIRE(joined.id != 0);
  EXPECT_TEXT(test_type(&bench, joined), "f32[2, 8]");
  EXPECT_INT(test_producer(&bench, joined)->maps[0].source_count, 2);
  test_bench_close(&bench);
}

TENON_TEST(makes_optional_outputs_when_wanted) {
  test_bench_t bench;
  REQUIRE(open(&bench));
  const tenon_value_t x = test_input(&bench, "x", DIMS(2));
  const tenon_value_t y = test_unary(&bench, "test.top/1", "one", x);
  REQUIRE(y.id != 0);
  EXPECT_INT(test_producer(&bench, y)->output_count, 2);
  EXPECT_INT(test_producer(&bench, y)->outputs[1], TENON_NONE);
  tenon_value_t both[2] = {{0}};
  EXPECT_STATUS(bench.build->begin(bench.builder, "test.top/1", "two"), TENON_OK);
  EXPECT_STATUS(bench.build->add_input(bench.builder, x), TENON_OK);
  EXPECT_STATUS(bench.build->end(bench.builder, both, 2), TENON_OK);
  EXPECT(both[1].id != 0);
  test_bench_close(&bench);
}

TENON_TEST(gives_text_expressions_the_type_of_their_operands) {
  test_bench_t bench;
  REQUIRE(open(&bench));
  const tenon_value_t inputs[] = {test_input_of(&bench, "x", TENON_DTYPE_FLOAT16, DIMS(2, 3)),
                                  test_input_of(&bench, "z", TENON_DTYPE_FLOAT16, DIMS(3))};
  const char* const names[] = {"a", "b"};
  tenon_value_t y = {0};
  EXPECT_STATUS(
      bench.build->expression(bench.builder, "y = max(a, 0) * b", names, inputs, 2, "e", &y),
      TENON_OK);
  REQUIRE(y.id != 0);
  EXPECT_TEXT(test_type(&bench, y), "f16[2, 3]");
  EXPECT_STATUS(bench.build->expression(bench.builder, "less = a < b", names, inputs, 2, "l", &y),
                TENON_OK);
  EXPECT_TEXT(test_type(&bench, y), "bool[2, 3]");
  EXPECT_STATUS(bench.build->expression(bench.builder, "y = c", names, inputs, 2, "bad", &y),
                TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(bench.messages.text, "'bad'");
  test_bench_close(&bench);
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
  test_bench_t bench;
  REQUIRE(open(&bench));
  const uint32_t x = tenon__builder_value(bench.builder, test_input(&bench, "x", DIMS(3)));
  void* const states[] = {NULL, &bench};
  for (int i = 0; i < 2; ++i) {
    const tenon__operator_t* op = NULL;
    const tenon_sink_t* sink = &bench.messages.sink;
    REQUIRE(tenon__operator_admit(&bench.arena, &wrong, "tests", states[i], sink, &op) == TENON_OK);
    const tenon__node_request_t request = {.op = op, .input_count = 1, .inputs = &x};
    uint32_t node = 0;
    EXPECT(tenon__graph_add_node(bench.network, 0, &request, sink, &node) != TENON_OK);
    EXPECT_CONTAINS(bench.messages.text, "the shape function of plugin 'tests'");
  }
  test_bench_close(&bench);
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
    test_bench_t bench;
    REQUIRE(open(&bench));
    const uint32_t x = tenon__builder_value(bench.builder, test_input(&bench, "x", DIMS(3)));
    const tenon_sink_t* sink = &bench.messages.sink;
    const tenon__operator_t* op = NULL;
    uint32_t node = 0;
    REQUIRE(tenon__operator_admit(&bench.arena, &wrong, "acme", NULL, sink, &op) == TENON_OK);
    const tenon__node_request_t request = {.op = op, .input_count = 1, .inputs = &x};
    EXPECT(tenon__graph_add_node(bench.network, 0, &request, sink, &node) != TENON_OK);
    EXPECT_CONTAINS(bench.messages.text, "the shape function of plugin 'acme' ");
    EXPECT_CONTAINS(bench.messages.text, words[fault]);
    EXPECT_INT(bench.messages.count, 1);
    test_bench_close(&bench);
  }
}

TENON_TEST(keeps_names_unique) {
  test_bench_t bench;
  REQUIRE(open(&bench));
  const tenon_value_t x = test_input(&bench, "x", DIMS(2));
  const tenon_value_t a = test_unary(&bench, "test.ramp/1", "x", x);
  const tenon_value_t b = test_unary(&bench, "test.ramp/1", "x", a);
  const tenon_value_t c = test_unary(&bench, "test.ramp/1", NULL, b);
  REQUIRE(c.id != 0);
  EXPECT_TEXT(test_value(&bench, a)->name, "x_2");
  EXPECT_TEXT(test_producer(&bench, a)->name, "x");
  EXPECT_TEXT(test_producer(&bench, b)->name, "x_2");
  EXPECT_CONTAINS(test_producer(&bench, c)->name, "ramp_");
  test_bench_close(&bench);
}

/* A small network with everything in it; NULL handles pass on failures. */
static bool build_small(test_bench_t* bench) {
  const char* const symbols[] = {"batch", NULL};
  tenon_value_t x = {0};
  (void)bench->build->input(bench->builder, "x", TENON_DTYPE_FLOAT32, 2, DIMS(-1, 3), symbols, &x);
  const float numbers[] = {1, 2, 3, 4, 5, 6};
  const tenon_value_t w = test_floats(bench, "w", numbers, DIMS(2, 3));
  const tenon_value_t y = test_binary(bench, "test.dense/1", "dense", x, w);
  const tenon_value_t r = test_unary(bench, "test.ramp/1", "ramp", y);
  const tenon_value_t s = test_unary(bench, "test.shape_of/1", "shape", r);
  const tenon_value_t p = test_permute(bench, "permute", r, DIMS(1, 0));
  const tenon_value_t q = test_binary(bench, "test.reshape/1", "reshape", p, s);
  const tenon_value_t inputs[] = {q};
  const char* const names[] = {"q"};
  tenon_value_t e = {0};
  (void)bench->build->expression(bench->builder, "y = q + 1", names, inputs, 1, "more", &e);
  return bench->build->output(bench->builder, e, "result") == TENON_OK &&
         tenon__builder_finish(bench->builder) == TENON_OK;
}

static bool build_and_close(tenon_allocator_t allocator, void* user) {
  (void)user;
  test_bench_t bench;
  if (!test_bench_open(&bench, allocator)) {
    return false;
  }
  const bool good = build_small(&bench);
  test_bench_close(&bench);
  return good;
}

TENON_TEST(survives_each_failing_allocation) {
  tenon__test_each_allocation(build_and_close, NULL);
}

TENON_TEST(prints_what_it_built) {
  test_bench_t bench;
  REQUIRE(open(&bench));
  REQUIRE(build_small(&bench));
  test_text_t text;
  const char* printed = test_print(bench.network, &text);
  EXPECT_CONTAINS(printed, "  input x: f32[batch, 3]\n");
  EXPECT_CONTAINS(printed, "  constant w: f32[2, 3]\n");
  EXPECT_CONTAINS(printed, "  dense: f32[batch, 2] = test.dense/1(x, w)\n");
  EXPECT_CONTAINS(printed, "  permute: f32[2, batch] = test.permute/1(ramp) {perm=[1, 0]}\n");
  EXPECT_CONTAINS(printed, "  output result: more\n");
  EXPECT_STATUS(tenon__network_verify(bench.network, &bench.messages.sink), TENON_OK);
  EXPECT_TEXT(bench.messages.text, "");
  test_bench_close(&bench);
}
