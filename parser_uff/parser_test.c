#include "parser.h"

#include "testing/graph_text.h"
#include "tests/support/message.h"

/* ---- Frozen graphs, as text ---- */

TENON_TEST(finds_inputs_and_outputs) {
  EXPECT_STATUS(parse(X NODE("a", "Relu", "input: 'x'") NODE("b", "Neg", "input: 'a'")
                          NODE("c", "Neg", "input: 'a' input: '^b'") NODE("n", "NoOp", "")),
                TENON_OK);
  EXPECT_TEXT(fake.messages, "");
  EXPECT_INT(fake.output_count, 2);
  EXPECT_INT(fake.values[1].dims[1], -1);
}

TENON_TEST(converts_what_outputs_depend_on_alone) {
  static const char text[] = X NODE("a", "Relu", "input: 'x'") NODE("b", "Strange", "input: 'a'");
  EXPECT_STATUS(parse_bytes(text, sizeof(text) - 1, "a"), TENON_OK);
  EXPECT_INT(fake.output_count, 1);
  EXPECT_STATUS(parse_bytes(text, sizeof(text) - 1, NULL), TENON_ERROR_UNSUPPORTED);
  EXPECT_TEXT(fake.missing, "tensorflow:Strange:1:b\n");
  EXPECT_TEXT(fake.messages, "");
  EXPECT_STATUS(parse_bytes(text, sizeof(text) - 1, "a,nowhere"), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(fake.messages, "there is no node 'nowhere'");
}

TENON_TEST(follows_names_to_outputs) {
  EXPECT_STATUS(parse(X INTS("k", "int_val: 3") NODE("t", "TopKV2", "input: 'x' input: 'k:0'")
                          NODE("a", "Neg", "input: 't:1'")),
                TENON_OK);
  EXPECT_INT(fake.output_count, 1);
  expect_refused(X NODE("a", "Neg", "input: 'nowhere:1'"), TENON_ERROR_INVALID_DATA,
                 "Neg 'a' (line 3, column 6): its input 0 is 'nowhere:1', which no node defines");
  expect_refused(X NODE("a", "Neg", "input: 'x:3'"), TENON_ERROR_UNSUPPORTED,
                 "is an output that Placeholder 'x' does not give");
  expect_refused(X X NODE("a", "Neg", "input: 'x'"), TENON_ERROR_INVALID_DATA,
                 "there are two nodes of that name");
  expect_refused(X NODE("a", "AddV2", "input: 'x' input: 'b'") NODE("b", "Neg", "input: 'a'")
                     NODE("c", "Neg", "input: 'b'"),
                 TENON_ERROR_UNSUPPORTED, "it depends on itself");
  expect_refused(X, TENON_ERROR_INVALID_DATA, "it has no outputs");
  expect_refused(X NODE("", "Neg", "input: 'x'"), TENON_ERROR_INVALID_DATA, "without a name");
}

TENON_TEST(names_attributes_that_nobody_reads) {
  EXPECT_STATUS(
      parse(X "node { name: 'a' op: 'Relu' input: 'x'\n"
              " attr { key: 'T' value { type: DT_FLOAT } }\n"
              " attr { key: '_class' value { list { s: 'y' } } }\n"
              " attr { key: 'leak' value { f: 0.5 } } }\n"
              "node { name: 'b' op: 'Relu' input: 'a' attr { key: 'leak' value { f: 1 } } }"),
      TENON_OK);
  EXPECT_TEXT(fake.messages,
              "Relu 'a' (line 3, column 6): its attribute 'leak' is not known and ignored\n");
}

TENON_TEST(refuses_attributes_of_a_wrong_kind) {
  expect_refused(X "node { name: 'a' op: 'LRN' input: 'x' attr { key: 'alpha' value { s: 'a' } } }",
                 TENON_ERROR_INVALID_DATA, "its attribute 'alpha' is a text, it must be a number");
  expect_refused(X "node { name: 'a' op: 'Mean' input: 'x' input: 'x' }", TENON_ERROR_UNSUPPORTED,
                 "its list of axes must be constant (input 1, 'x')");
  expect_refused(X "node { name: 'a' op: 'MatMul' input: 'x' }", TENON_ERROR_INVALID_DATA,
                 "it has 1 inputs, 2 are needed");
  expect_refused("node { name: 'x' op: 'Placeholder' } " NODE("a", "Neg", "input: 'x'"),
                 TENON_ERROR_INVALID_ARGUMENT,
                 "input 'x' has no rank in the file: give its extents");
}

/* Up to version 21 a graph has an empty shape for what may have any. */
TENON_TEST(empty_shapes_of_old_graphs_say_nothing) {
#define SCALAR "node { name: 'x' op: 'Placeholder' attr { key: 'shape' value { shape { } } } }\n"
  static const char expected[] = "input 'x' has no rank in the file: give its extents";
  expect_refused(SCALAR NODE("a", "Neg", "input: 'x'"), TENON_ERROR_INVALID_ARGUMENT, expected);
  expect_refused("versions { producer: 21 min_consumer: 0 }" SCALAR NODE("a", "Neg", "input: 'x'"),
                 TENON_ERROR_INVALID_ARGUMENT, expected);
  EXPECT_STATUS(
      parse("versions { producer: 22 bad_consumers: 3 }" SCALAR NODE("a", "Neg", "input: 'x'")),
      TENON_OK);
  EXPECT_TEXT(fake.messages, "");
}

TENON_TEST(reads_tensors_in_every_encoding) {
  static const char* const good[] = {"int_val: 7", "int_val: [7]",
                                     "tensor_content: '\\007\\000\\000\\000'", ""};
  for (size_t i = 0; i < sizeof(good) / sizeof(*good); ++i) {
    char text[512];
    (void)snprintf(text, sizeof(text), INTS("k", "%s") NODE("a", "Identity", "input: 'k'"),
                   good[i]);
    EXPECT_STATUS(parse(text), TENON_OK);
    EXPECT_INT(fake.values[1].type.dtype, TENON_DTYPE_INT32);
    EXPECT_INT(fake.values[1].contents[0], i + 1 < sizeof(good) / sizeof(*good) ? 7 : 0);
  }
  expect_refused(INTS("k", "tensor_content: 'abc'") NODE("a", "Identity", "input: 'k'"),
                 TENON_ERROR_INVALID_DATA,
                 "node 'k': its tensor has 1 elements of 4 bytes and 3 bytes of content");
  expect_refused(INTS("k", "int_val: 1 int_val: 2") NODE("a", "Identity", "input: 'k'"),
                 TENON_ERROR_INVALID_DATA, "more numbers than elements");
  expect_refused(INTS("k", "tensor_shape { dim { size: -2 } }") NODE("a", "Identity", "input: 'k'"),
                 TENON_ERROR_INVALID_DATA, "has an open extent");
  expect_refused(INTS("k", "tensor_shape { dim { size: 99999999999 } }")
                     NODE("a", "Identity", "input: 'k'"),
                 TENON_ERROR_UNSUPPORTED, "need more than 1 GiB");
}

/* ---- UFF, as text ---- */

TENON_TEST(reads_uff) {
  EXPECT_STATUS(parse(UFF("nodes { id: 'MarkOutput_0' operation: 'MarkOutput' inputs: 'a' }\n"
                          "nodes { id: 'a' operation: 'Activation' inputs: 'x'"
                          " fields { key: 'func' value { s: 'relu' } } }\n" INPUT)),
                TENON_OK);
  EXPECT_TEXT(fake.messages, "");
  EXPECT_INT(fake.output_count, 1);
  expect_refused(UFF(INPUT "nodes { id: 'a' operation: 'Activation' inputs: 'x'"
                           " fields { key: 'func' value { s: 'swish' } } }"),
                 TENON_ERROR_UNSUPPORTED,
                 "Activation 'a': its func is 'swish', which UFF does not have");
  expect_refused(UFF(INPUT "nodes { id: 'a' operation: 'Unary' inputs: 'x'"
                           " fields { key: 'func' value { s: 'pow' } } }"),
                 TENON_ERROR_INVALID_DATA, "lost the exponent");
}

TENON_TEST(resolves_operations_of_others) {
  EXPECT_STATUS(parse(UFF(INPUT "nodes { id: 'a' operation: '_Rsqrt' inputs: 'x' }")), TENON_OK);
  EXPECT_STATUS(parse(UFF(INPUT "nodes { id: 'a' operation: '_NMS_TRT' inputs: 'x' }"
                                "nodes { id: 'b' operation: '_acme>Swish' inputs: 'x' }")),
                TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(fake.missing, "tensorflow:NMS_TRT:1:a\n");
  EXPECT_CONTAINS(fake.missing, "acme:Swish:1:b\n");
}

TENON_TEST(refuses_broken_references) {
  expect_refused(
      UFF("nodes { id: 'c' operation: 'Const' fields { key: 'values' value { ref: 'w' } } }"),
      TENON_ERROR_INVALID_DATA, "it refers to 'w', which referenced_data does not hold");
  expect_refused(UFF("nodes { id: 'c' operation: 'Const' fields { key: 'values' value { ref: 'w' } "
                     "} }") "referenced_data { key: 'w' value { ref: 'w' } }",
                 TENON_ERROR_INVALID_DATA, "refers to in turn");
  expect_refused(
      UFF(INPUT "nodes { id: 'a' operation: 'Softmax' inputs: 'x' fields { key: 'inputs_orders'"
                " value { dim_orders_list { val { } } } } }"),
      TENON_ERROR_INVALID_DATA, "a dimension order that names no axis");
  expect_refused("version: 1 descriptor_core_version: 1", TENON_ERROR_INVALID_DATA,
                 "it has no graph");
}

/* What is needed must be whole; what is not may be of any kind. */
TENON_TEST(looks_at_constants_that_are_needed) {
#define CONST(fields) "nodes { id: 'c' operation: 'Const' " fields " }\n"
#define READER "nodes { id: 'a' operation: 'Identity' inputs: 'c' }\n"
#define OTHER "nodes { id: 'b' operation: 'Identity' inputs: 'x' }\n"
#define BYTES(text) "fields { key: 'values' value { blob: '" text "' } } "
  static const struct {
    const char* needed;
    const char* left;
    tenon_status_t status;
    const char* expected;
  } cases[] = {
#define CASE(fields, status, expected) \
  {UFF(CONST(fields) READER), UFF(CONST(fields) INPUT OTHER), status, expected}
      CASE(BYTES("abc") "fields { key: 'shape' value { i_list { val: 2 } } }",
           TENON_ERROR_INVALID_DATA,
           "Const 'c' (line 2, column 7): its shape and dtype ask for 8 bytes, it has 3"),
      CASE(BYTES("abcd") "fields { key: 'dtype' value { dtype: 7 } }", TENON_ERROR_UNSUPPORTED,
           "its dtype is none that Tenon has"),
      CASE(BYTES("abcd") "fields { key: 'shape' value { i_list { val: -1 } } }",
           TENON_ERROR_INVALID_DATA, "its extent 0 is -1"),
      CASE(BYTES("abcd") "fields { key: 'shape' value { d_list { val: 1 } } }",
           TENON_ERROR_INVALID_DATA, "its shape is no list of up to 32 extents"),
      CASE("", TENON_ERROR_INVALID_DATA, "it has no values"),
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
    expect_refused(cases[i].needed, cases[i].status, cases[i].expected);
    EXPECT_STATUS(parse(cases[i].left), TENON_OK);
  }
}

/* TensorFlow's tensors that cannot be read. */
TENON_TEST(takes_tensors_of_other_types_that_nobody_needs) {
#define TENSOR(fields)                                                                      \
  "node { name: 'k' op: 'Const' attr { key: 'value' value { tensor { tensor_shape { dim { " \
  "size: 1 } } " fields " } } } }\n"
  static const char* const tensors[] = {TENSOR("dtype: DT_COMPLEX64 scomplex_val: [1, 2]"),
                                        TENSOR("dtype: DT_STRING string_val: 'a'"),
                                        TENSOR("dtype: DT_RESOURCE")};
  for (size_t i = 0; i < sizeof(tensors) / sizeof(*tensors); ++i) {
    char text[1024];
    (void)snprintf(text, sizeof(text), "%s" X NODE("a", "Neg", "input: 'x'"), tensors[i]);
    EXPECT_STATUS(parse(text), TENON_OK);
    (void)snprintf(text, sizeof(text), "%s" NODE("a", "Neg", "input: 'k'"), tensors[i]);
    expect_refused(text, TENON_ERROR_UNSUPPORTED,
                   "Const 'k': it has no 'value', or of a type that cannot be read");
  }
}

/* ---- Forms ---- */

TENON_TEST(reads_the_binary_form) {
  tenon__message_t graph = {.size = 0};
  tenon__message_begin(&graph, 1);
  tenon__message_text(&graph, 1, "c");
  tenon__message_text(&graph, 2, "Identity");
  tenon__message_varint(&graph, 99, 1);
  tenon__message_text(&graph, 3, "nowhere");
  tenon__message_end(&graph);
  EXPECT_STATUS(parse_bytes(graph.bytes, graph.size, NULL), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(fake.messages, "field 99 of NodeDef is not known and ignored");
  EXPECT_CONTAINS(fake.messages, "Identity 'c' (byte 0): its input 0 is 'nowhere'");
  for (size_t size = 1; size < graph.size; ++size) { /* no crash, never a network */
    EXPECT(parse_bytes(graph.bytes, size, NULL) != TENON_OK);
  }
}

TENON_TEST(says_where_text_is_wrong) {
  expect_refused("node { name: }", TENON_ERROR_INVALID_DATA,
                 "line 1, column 14: expected a value, found '}'");
  expect_refused("node { name: 'a' ", TENON_ERROR_INVALID_DATA,
                 "the file ends before the message that begins in line 1");
  expect_refused("node { name: 3 }", TENON_ERROR_INVALID_DATA,
                 "line 1, column 14: expected a text in quotes");
  expect_refused("node: 3", TENON_ERROR_INVALID_DATA, "expected '{' after a message's name");
  EXPECT_STATUS(parse("node { colour: RED name: 'a' op: 'Rank' }"), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(fake.messages, "field 'colour' of NodeDef is not known and ignored");
}

TENON_TEST(sniffs) {
  static const struct {
    const char* text;
    const char* name;
    int32_t least;
    int32_t most;
  } files[] = {{"# c\nnode {", "a.pbtxt", 50, 100},
               {"version: 1", "a.uff", 90, 100},
               {"layer { name: 'a' }", "a.prototxt", 0, 0},
               {"\010\001\020\001\032\002ab", "a.uff", 100, 100},
               {"\010\007\022\004test", "a.onnx", 0, 0},
               {"", "a.uff", 1, 60},
               {"\012\010\012\001a\022\003Neg", "a.pb", 80, 100}};
  for (size_t i = 0; i < sizeof(files) / sizeof(*files); ++i) {
    const int32_t sure =
        tenon__uff_parser_sniff(NULL, files[i].text, strlen(files[i].text), files[i].name);
    EXPECT(sure >= files[i].least && sure <= files[i].most);
  }
}

/* Each allocation fails once: no crash, no network, a word of it. */
TENON_TEST(survives_without_memory) {
  static const char text[] = X NODE("a", "Relu", "input: 'x'") NODE("b", "Rsqrt", "input: 'a'");
  for (size_t at = 1;; ++at) {
    tenon__fake_initialize(&fake, &under_test);
    tenon__fake_add_part(&fake, text, sizeof(text) - 1);
    fake.fail_at = at;
    const tenon_status_t status = tenon__fake_parse(&fake);
    const bool has_failed = fake.allocation_count >= at;
    tenon__fake_deinitialize(&fake);
    if (!has_failed) {
      break;
    }
    EXPECT_STATUS(status, TENON_ERROR_OUT_OF_MEMORY);
  }
}
