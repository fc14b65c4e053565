/* Names, order and inputs of a graph, seen through what gets built. */
#include "testing/graph.h"

TENON_TEST(builds_inputs_nodes_outputs) {
  tenon__message_t m = begin(13);
  input(&m, "x");
  node(&m, "Relu", "act", "x", "y");
  output(&m, "y");
  tenon__message_end_model(&m);
  EXPECT_STATUS(parse(&m), TENON_OK);
  EXPECT_TEXT(fake.log,
              "input x %1: f32[2]\n"
              "node standard.relu/1 'act' %1 -> %2\n"
              "name %2 y\n"
              "output y %2\n");
  release();
}

static tenon__message_t begin_leaky_relu(uint64_t opset, const char* attribute) {
  tenon__message_t m = begin(opset);
  input(&m, "x");
  tenon__message_begin_node(&m, 1, "LeakyRelu", "leak", "x", "y");
  begin_attribute(&m, attribute, 1);
  tenon__message_float(&m, 2, 0.5F);
  tenon__message_end(&m);
  tenon__message_end(&m);
  output(&m, "y");
  tenon__message_end_model(&m);
  return m;
}

TENON_TEST(names_attributes_that_no_version_has) {
  tenon__message_t m = begin_leaky_relu(16, "alpha");
  EXPECT_STATUS(parse(&m), TENON_OK);
  EXPECT_TEXT(fake.messages, "");
  release();
  m = begin_leaky_relu(16, "negative_slope");
  EXPECT_STATUS(parse(&m), TENON_OK);
  EXPECT_CONTAINS(fake.messages,
                  "the attribute 'negative_slope' is ignored: no version of LeakyRelu has it");
  release();
}

static tenon__message_t begin_two_sets(uint64_t first, uint64_t second) {
  tenon__message_t m = {.size = 0};
  tenon__message_begin(&m, 8);
  tenon__message_text(&m, 1, "ai.onnx");
  tenon__message_varint(&m, 2, first);
  tenon__message_end(&m);
  tenon__message_begin_model(&m, second);
  tenon__message_text(&m, 2, "graph");
  input(&m, "x");
  node(&m, "Clip", "c", "x", "y");
  output(&m, "y");
  tenon__message_end_model(&m);
  return m;
}

TENON_TEST(versions_of_operator_sets) {
  tenon__message_t m = begin_two_sets(13, 0);
  expect_refused(&m, TENON_ERROR_INVALID_DATA,
                 "imports version 0 of operator set 'ai.onnx': versions begin with 1");
  m = begin_two_sets(13, (uint64_t)-2);
  expect_refused(&m, TENON_ERROR_INVALID_DATA, "imports version -2 of operator set 'ai.onnx'");
  m = begin_two_sets(6, 13);
  EXPECT_STATUS(parse(&m), TENON_OK);
  EXPECT_CONTAINS(fake.messages,
                  "imports versions 6 and 13 of operator set 'ai.onnx': the higher one is taken");
  release();
  m = begin_two_sets(13, 13);
  EXPECT_STATUS(parse(&m), TENON_OK);
  EXPECT_TEXT(fake.messages, "");
  release();
}

TENON_TEST(nodes_out_of_order_are_sorted) {
  tenon__message_t m = begin(13);
  input(&m, "x");
  node(&m, "Exp", "second", "t", "y");
  node(&m, "Log", "first", "x", "t");
  output(&m, "y");
  tenon__message_end_model(&m);
  EXPECT_STATUS(parse(&m), TENON_OK);
  EXPECT_CONTAINS(fake.log,
                  "node standard.log/1 'first' %1 -> %2\nname %2 t\n"
                  "node standard.exp/1 'second' %2 -> %3\n");
  release();
}

TENON_TEST(cycles_are_refused) {
  tenon__message_t m = begin(13);
  input(&m, "x");
  node(&m, "Add", "a", "x u", "t");
  node(&m, "Add", "b", "x t", "u");
  output(&m, "t");
  tenon__message_end_model(&m);
  expect_refused(&m, TENON_ERROR_INVALID_DATA, "Add 'a' needs its own output");
}

TENON_TEST(dangling_names_are_refused) {
  tenon__message_t m = begin(13);
  input(&m, "x");
  node(&m, "Add", "a", "x nothing", "t");
  output(&m, "t");
  tenon__message_end_model(&m);
  expect_refused(&m, TENON_ERROR_INVALID_DATA, "Add 'a' reads 'nothing', which no node");
  m = begin(13);
  input(&m, "x");
  output(&m, "t");
  tenon__message_end_model(&m);
  expect_refused(&m, TENON_ERROR_INVALID_DATA, "output 't' is produced by no node");
}

/* An input whose type is these kinds (fields of TypeProto) around a tensor of floats. */
static void input_of_kinds(tenon__message_t* m, const char* name, const uint32_t* kinds,
                           uint32_t count) {
  enum { SEQUENCE_OR_OPTIONAL_ELEMENT = 1, TENSOR = 1, FLOAT = 1 };
  tenon__message_begin(m, 11);
  tenon__message_text(m, 1, name);
  tenon__message_begin(m, 2);
  for (uint32_t i = 0; i < count; ++i) {
    tenon__message_begin(m, kinds[i]);
    tenon__message_begin(m, SEQUENCE_OR_OPTIONAL_ELEMENT);
  }
  tenon__message_begin(m, TENSOR);
  tenon__message_varint(m, 1, FLOAT);
  for (uint32_t i = 0; i < 3 + 2 * count; ++i) {
    tenon__message_end(m);
  }
}

TENON_TEST(containers_hold_tensors_and_an_optional_a_sequence_of_them) {
  enum { SEQUENCE = 4, OPTIONAL_OF = 9 };
  tenon__message_t m = begin(18);
  input_of_kinds(&m, "s", (const uint32_t[]){SEQUENCE}, 1);
  input_of_kinds(&m, "o", (const uint32_t[]){OPTIONAL_OF}, 1);
  node(&m, "OptionalHasElement", "a", "o", "y");
  output(&m, "y");
  tenon__message_end_model(&m);
  EXPECT_STATUS(parse(&m), TENON_OK);
  release();
  m = begin(18);
  input_of_kinds(&m, "o", (const uint32_t[]){OPTIONAL_OF, SEQUENCE}, 2);
  node(&m, "OptionalGetElement", "a", "o", "y");
  output(&m, "y");
  tenon__message_end_model(&m);
  EXPECT_STATUS(parse(&m), TENON_OK);
  EXPECT_CONTAINS(fake.log, "standard.optional_get_sequence/1");
  release();
  static const uint32_t refused[3][2] = {
      {SEQUENCE, OPTIONAL_OF}, {SEQUENCE, SEQUENCE}, {OPTIONAL_OF, OPTIONAL_OF}};
  for (uint32_t i = 0; i < 3; ++i) {
    m = begin(18);
    input_of_kinds(&m, "o", refused[i], 2);
    node(&m, "Identity", "a", "o", "y");
    output(&m, "y");
    tenon__message_end_model(&m);
    expect_refused(&m, TENON_ERROR_UNSUPPORTED, "input 'o' is a container of containers");
  }
}

TENON_TEST(names_defined_twice_are_refused) {
  tenon__message_t m = begin(13);
  input(&m, "x");
  node(&m, "Exp", "a", "x", "t");
  node(&m, "Log", "b", "x", "t");
  output(&m, "t");
  tenon__message_end_model(&m);
  expect_refused(&m, TENON_ERROR_INVALID_DATA, "'t' is defined twice");
}

TENON_TEST(initialiser_of_an_input_is_a_constant) {
  tenon__message_t m = begin(13);
  input(&m, "x");
  input(&m, "w");
  initialiser(&m, "w");
  initialiser(&m, "unused");
  node(&m, "Add", "a", "x w", "y");
  output(&m, "y");
  tenon__message_end_model(&m);
  EXPECT_STATUS(parse(&m), TENON_OK);
  EXPECT(strstr(fake.log, "input w") == NULL && strstr(fake.log, "unused") == NULL);
  EXPECT_CONTAINS(fake.log, "%2: f32[2]\nnode standard.add/1 'a' %1 %2 -> %3\n");
  release();
}

TENON_TEST(everything_missing_is_told_at_once) {
  tenon__message_t m = begin(13);
  input(&m, "x");
  node(&m, "Strange", "a", "x", "t");
  node(&m, "Relu", "b", "t", "u");
  tenon__message_begin_node(&m, 1, "Stranger", "c", "u", "y");
  tenon__message_text(&m, 7, "acme");
  tenon__message_end(&m);
  output(&m, "y");
  tenon__message_end_model(&m);
  EXPECT_STATUS(parse(&m), TENON_ERROR_UNSUPPORTED);
  EXPECT_TEXT(fake.missing, ":Strange:13:a\nacme:Stranger:1:c\n");
  EXPECT_TEXT(fake.log, "");
  release();
}

/* Also by hosts that do not ask for it. */
TENON_TEST(what_the_file_holds_is_told_before_anything_fails) {
  static const int64_t open[2] = {-1, 4};
  tenon__message_t m = begin(13);
  initialiser(&m, "w");
  input(&m, "w"); /* has a default: a constant */
  tenon__message_value_info(&m, 11, "x", 1, 2, open);
  node(&m, "Strange", "", "x w", "t"); /* known by its output */
  node(&m, "Relu", "b", "t", "y");
  output(&m, "y");
  tenon__message_begin(&m, 12); /* an output without a type */
  tenon__message_text(&m, 1, "t");
  tenon__message_end(&m);
  tenon__message_end_model(&m);
  EXPECT_STATUS(parse(&m), TENON_ERROR_UNSUPPORTED);
  EXPECT_TEXT(fake.declared,
              "input x 1:12 -1 4\noutput y 1:12 2\noutput t 1:0 ?\n:Strange:13:t\n:Relu:13:b\n");
  EXPECT_TEXT(fake.messages, "");
  release();
  tenon__fake_initialize(&fake, &under_test);
  tenon__fake_add_part(&fake, m.bytes, m.size);
  fake.host.size = offsetof(tenon_parse_table_t, declare_value);
  EXPECT_STATUS(tenon__fake_parse(&fake), TENON_ERROR_UNSUPPORTED);
  EXPECT_TEXT(fake.declared, "");
  EXPECT_INT(fake.missing_count, 1);
  release();
}

TENON_TEST(unnamed_and_unwanted_things) {
  tenon__message_t m = begin(13);
  input(&m, "x");
  node(&m, "Clip", "", "x _ x", "y unused");
  output(&m, "y");
  tenon__message_end_model(&m);
  EXPECT_STATUS(parse(&m), TENON_OK);
  EXPECT_CONTAINS(fake.log, "node standard.clip/1 'Clip_y' %1 %0 %1 -> %2 %3\n");
  release();
}

TENON_TEST(attributes_of_a_wrong_kind_are_refused) {
  tenon__message_t m = begin(13);
  input(&m, "x");
  tenon__message_begin_node(&m, 1, "Gemm", "g", "x x", "y");
  begin_attribute(&m, "alpha", 2);
  tenon__message_varint(&m, 3, 1);
  tenon__message_end(&m);
  tenon__message_end(&m);
  output(&m, "y");
  tenon__message_end_model(&m);
  expect_refused(&m, TENON_ERROR_INVALID_DATA,
                 "Gemm 'g': attribute 'alpha' is an int, it must be a float");
}

TENON_TEST(constants_in_their_forms) {
  tenon__message_t m = begin(13);
  tenon__message_begin_node(&m, 1, "Constant", "a", "", "a");
  begin_attribute(&m, "value_float", 1);
  tenon__message_float(&m, 2, 0.5F);
  tenon__message_end(&m);
  tenon__message_end(&m);
  tenon__message_begin_node(&m, 1, "Constant", "b", "", "b");
  begin_attribute(&m, "value_ints", 7);
  tenon__message_varint(&m, 8, 5);
  tenon__message_varint(&m, 8, 6);
  tenon__message_end(&m);
  tenon__message_end(&m);
  tenon__message_begin_node(&m, 1, "Constant", "c", "", "c");
  begin_attribute(&m, "value_string", 3);
  tenon__message_text(&m, 4, "text");
  tenon__message_end(&m);
  tenon__message_end(&m);
  output(&m, "a");
  output(&m, "b");
  output(&m, "c");
  tenon__message_end_model(&m);
  EXPECT_STATUS(parse(&m), TENON_OK);
  EXPECT_CONTAINS(fake.log, "constant a %1: f32\n");
  EXPECT_CONTAINS(fake.log, "constant b %2: i64[2]\n");
  EXPECT_CONTAINS(fake.log, "constant c %3: str\n");
  release();
}

TENON_TEST(constant_without_value_is_refused) {
  tenon__message_t m = begin(13);
  node(&m, "Constant", "a", "", "a");
  output(&m, "a");
  tenon__message_end_model(&m);
  expect_refused(&m, TENON_ERROR_INVALID_DATA, "Constant 'a' has 0 values");
}

/* An input of unknown rank. */
static tenon__message_t without_shape(void) {
  tenon__message_t m = begin(13);
  tenon__message_begin(&m, 11);
  tenon__message_text(&m, 1, "x");
  tenon__message_begin(&m, 2);
  tenon__message_begin(&m, 1);
  tenon__message_varint(&m, 1, 1);
  for (int i = 0; i < 3; ++i) {
    tenon__message_end(&m);
  }
  node(&m, "Relu", "a", "x", "y");
  output(&m, "y");
  tenon__message_end_model(&m);
  return m;
}

TENON_TEST(rank_that_the_file_leaves_open_must_be_given) {
  const tenon__message_t m = without_shape();
  expect_refused(&m, TENON_ERROR_INVALID_ARGUMENT, "input 'x' (f32) has no shape in the file");
  static const int64_t dims[2] = {1, -1};
  tenon__fake_initialize(&fake, &under_test);
  tenon__fake_add_part(&fake, m.bytes, m.size);
  fake.shape_input = "x";
  fake.shape_rank = 2;
  fake.shape_dims = dims;
  EXPECT_STATUS(tenon__fake_parse(&fake), TENON_OK);
  EXPECT_CONTAINS(fake.log, "input x %1: f32[1,-1]\n");
  release();
}

TENON_TEST(given_shape_must_agree_with_the_file) {
  static const int64_t open[2] = {3, -1};
  static const int64_t dims[2] = {4, 5};
  tenon__message_t m = begin(13);
  tenon__message_value_info(&m, 11, "x", 1, 2, open);
  node(&m, "Relu", "a", "x", "y");
  output(&m, "y");
  tenon__message_end_model(&m);
  tenon__fake_initialize(&fake, &under_test);
  tenon__fake_add_part(&fake, m.bytes, m.size);
  fake.shape_input = "x";
  fake.shape_rank = 2;
  fake.shape_dims = dims;
  EXPECT_STATUS(tenon__fake_parse(&fake), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(fake.messages, "dimension 0 is 3 in the file, the shape given says 4");
  release();
}

TENON_TEST(a_gradient_names_the_node_whose_derivative_is_not_known) {
  enum { NAME = 1, TEXT = 4, TEXTS = 9, KIND = 20, IS_TEXT = 3, IS_TEXTS = 8 };
  tenon__message_t m = begin(13);
  input(&m, "x");
  node(&m, "Ceil", "up", "x", "y");
  tenon__message_begin_node(&m, 1, "Gradient", "g", "x", "dx");
  tenon__message_text(&m, 7, "ai.onnx.preview.training");
  tenon__message_begin(&m, 5);
  tenon__message_text(&m, NAME, "xs");
  tenon__message_text(&m, TEXTS, "x");
  tenon__message_varint(&m, KIND, IS_TEXTS);
  tenon__message_end(&m);
  tenon__message_begin(&m, 5);
  tenon__message_text(&m, NAME, "y");
  tenon__message_text(&m, TEXT, "y");
  tenon__message_varint(&m, KIND, IS_TEXT);
  tenon__message_end(&m);
  tenon__message_end(&m);
  output(&m, "dx");
  tenon__message_end(&m);
  tenon__message_begin(&m, 8);
  tenon__message_text(&m, 1, "ai.onnx.preview.training");
  tenon__message_varint(&m, 2, 1);
  tenon__message_end_model(&m);
  expect_refused(&m, TENON_ERROR_UNSUPPORTED, "the derivative of Ceil 'up' is not known");
}
