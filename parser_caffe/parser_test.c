#include "parser.h"

#include "core/base/test.h"
#include "testing/under_test.h"
#include "tests/support/message.h"

static tenon__fake_t fake;

static tenon_status_t parse(const char* prototxt) {
  const tenon_status_t status =
      tenon__fake_parse_file(&fake, &under_test, prototxt, strlen(prototxt));
  tenon__fake_deinitialize(&fake);
  return status;
}

static void expect_refused(const char* prototxt, tenon_status_t status, const char* expected) {
  EXPECT_STATUS(parse(prototxt), status);
  EXPECT_CONTAINS(fake.messages, expected);
  EXPECT_INT(fake.error_count, 1);
}

#define INPUT "input: 'x' input_dim: 1 input_dim: 2 input_dim: 4 input_dim: 4\n"
#define RELU(name, bottom, top) \
  "layer { name: '" name "' type: 'ReLU' bottom: '" bottom "' top: '" top "' }\n"

/* Each form gives one input, and the top that nobody reads is the output. */
TENON_TEST(reads_inputs_of_every_kind) {
  static const char* const forms[] = {
      INPUT, "input: 'x' input_shape { dim: 1 dim: 2 dim: 4 dim: 4 }",
      "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: [1, 2, 4, 4] } } }",
      "layer { name: 'x' type: 'MemoryData' top: 'x' top: 'label' memory_data_param {"
      " batch_size: 1 channels: 2 height: 4 width: 4 } }",
      "layers { name: 'x' type: MEMORY_DATA top: 'x' memory_data_param {"
      " batch_size: 1 channels: 2 height: 4 width: 4 } }"};
  for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); ++i) {
    char text[1024];
    (void)snprintf(text, sizeof(text), "%s\n" RELU("r", "x", "y"), forms[i]);
    EXPECT_STATUS(parse(text), TENON_OK);
    EXPECT_TEXT(fake.messages, "");
    EXPECT_INT(fake.output_count, 1);
    EXPECT_INT(fake.values[1].type.rank, 4);
    EXPECT_INT(fake.values[1].dims[1], 2);
  }
}

TENON_TEST(refuses_inputs_that_do_not_fit) {
  expect_refused("input: 'x' input_dim: 1 input_dim: 2 " RELU("r", "x", "y"),
                 TENON_ERROR_INVALID_DATA, "1 inputs with 0 input_shape and 2 input_dim");
  expect_refused("input: 'x' input: 'x' " RELU("r", "x", "y"), TENON_ERROR_INVALID_ARGUMENT,
                 "input 'x' has no extents in the file");
  expect_refused("input: 'x' input_shape { dim: -3 } " RELU("r", "x", "y"),
                 TENON_ERROR_INVALID_DATA, "negative extent");
  expect_refused(INPUT INPUT RELU("r", "x", "y"), TENON_ERROR_INVALID_DATA, "two inputs 'x'");
  expect_refused("layer { name: 'd' type: 'Data' top: 'x' }" RELU("r", "x", "y"),
                 TENON_ERROR_UNSUPPORTED, "Data 'd' (line 1) reads stored data");
  expect_refused("layer { name: 'd' type: 'MemoryData' top: 'x' }", TENON_ERROR_INVALID_DATA,
                 "needs memory_data_param");
}

/* The layers whose types nobody converts tell which layers were looked at. */
static void expect_layers(const char* prototxt, const char* missing) {
  (void)parse(prototxt);
  EXPECT_TEXT(fake.missing, missing);
  EXPECT_TEXT(fake.messages, "");
}

#define MARK(name, rules) "layer { name: '" name "' type: 'Mark' " rules " }\n"
#define SEEN(name) ":Mark:1:" name "\n"

TENON_TEST(obeys_include_and_exclude) {
  expect_layers(MARK("a", "include { phase: TRAIN }") MARK("b", "include { phase: TEST }")
                    MARK("c", "exclude { phase: TEST }") MARK("d", "exclude { phase: TRAIN }")
                        MARK("e", "include { phase: TRAIN } include { phase: 1 }"),
                SEEN("b") SEEN("d") SEEN("e"));
  expect_layers(MARK("a", "include { min_level: 1 }") MARK("b", "include { max_level: 0 }")
                    MARK("c", "include { stage: 'deploy' }")
                        MARK("d", "include { not_stage: 'deploy' }"),
                SEEN("b") SEEN("d"));
  expect_layers("state { level: 2 stage: 'deploy' stage: 'other' }\n" MARK(
                    "a", "include { min_level: 1 }") MARK("b", "include { max_level: 1 }")
                    MARK("c", "include { stage: 'deploy' stage: 'other' }")
                        MARK("d", "include { not_stage: 'deploy' }")
                            MARK("e", "include { stage: 'deploy' stage: 'third' }"),
                SEEN("a") SEEN("c"));
  expect_refused(MARK("a", "include { phase: TEST } exclude { phase: TRAIN }"),
                 TENON_ERROR_INVALID_DATA, "include rules or exclude rules, not both");
  expect_refused(MARK("a", "include { phase: 7 }"), TENON_ERROR_INVALID_DATA,
                 "line 1, column 49: phase is the number 7, it must be TRAIN TEST");
}

TENON_TEST(names_layers_that_nobody_converts) {
  expect_layers(
      "layer { type: 'Foo' top: 'z' } layers { name: 'loss' type: HINGE_LOSS }"
      "layer { name: 'p' type: 'Python' python_param { module: 'rpn.x' layer: 'Y' } }",
      ":Foo:1:Foo_z\n:HingeLoss:1:loss\nrpn.x:Y:1:p\n");
}

TENON_TEST(names_fields_that_nobody_reads) {
  const char* text = INPUT
      "layer { name: 'r' type: 'ReLU' bottom: 'x' top: 'y' phase: TEST param { lr_mult: 1 }\n"
      " relu_param { negative_slope: 0.1 engine: CAFFE new_option: 3 }\n fork_param { a: 1 } }\n"
      "layer { name: 's' type: 'ReLU' bottom: 'y' top: 'z' relu_param { new_option: 3 } }";
  EXPECT_STATUS(parse(text), TENON_OK);
  EXPECT_TEXT(fake.messages,
              "line 3, column 61: ReLU 'r': its field 'relu_param.new_option' is not known and "
              "ignored\n"
              "line 4, column 13: ReLU 'r': its field 'fork_param' is not known and ignored\n");
}

TENON_TEST(refuses_fields_of_a_wrong_kind) {
  expect_refused(INPUT
                 "layer { name: 'r' type: 'ReLU' bottom: 'x' top: 'y'\n"
                 "  relu_param { negative_slope: 'a' } }",
                 TENON_ERROR_INVALID_DATA,
                 "line 3, column 32: negative_slope is the string 'a', it must be a number");
  expect_refused(INPUT
                 "layer { name: 'p' type: 'Pooling' bottom: 'x' top: 'y'\n"
                 "  pooling_param { kernel_size: 2.5 } }",
                 TENON_ERROR_INVALID_DATA,
                 "kernel_size is the number 2.5, it must be a whole number");
  expect_refused(INPUT
                 "layer { name: 'p' type: 'Pooling' bottom: 'x' top: 'y'\n"
                 "  pooling_param { kernel_size: 99999999999 } }",
                 TENON_ERROR_INVALID_DATA, "less than 33 bits");
  expect_refused(INPUT
                 "layer { name: 'p' type: 'Pooling' bottom: 'x' top: 'y'\n"
                 "  pooling_param { global_pooling: 2 } }",
                 TENON_ERROR_INVALID_DATA, "it must be true or false");
  expect_refused("layer: 3", TENON_ERROR_INVALID_DATA, "it must be a message");
  expect_refused("layer { name: 'a' }", TENON_ERROR_INVALID_DATA, "layer 'a' has no type");
  expect_refused("layers { layer { name: 'a' } }", TENON_ERROR_UNSUPPORTED,
                 "upgrade_net_proto_text");
  expect_refused("net: 'x.prototxt' base_lr: 0.1", TENON_ERROR_INVALID_DATA,
                 "is it a network's prototxt (and not a solver's)?");
}

TENON_TEST(follows_names) {
  EXPECT_STATUS(parse(INPUT RELU("a", "x", "y") RELU("b", "y", "y") RELU("c", "y", "z")), TENON_OK);
  EXPECT_INT(fake.output_count, 1);
  EXPECT_STATUS(parse(INPUT RELU("a", "x", "y")
                          RELU("b", "x", "z") "layer { name: 's' type: 'Silence' bottom: 'y' }"),
                TENON_OK);
  EXPECT_INT(fake.output_count, 1);
  expect_refused(INPUT RELU("a", "nowhere", "y"), TENON_ERROR_INVALID_DATA,
                 "ReLU 'a' (line 2): its bottom 'nowhere' is no input, and no top");
  expect_refused(INPUT "layer { name: 's' type: 'Silence' bottom: 'x' }", TENON_ERROR_INVALID_DATA,
                 "it has no outputs");
}

/* All of them at once, by name. */
TENON_TEST(names_layers_without_weights) {
  expect_refused(INPUT
                 "layer { name: 'c1' type: 'Convolution' bottom: 'x' top: 'y'"
                 " convolution_param { num_output: 2 kernel_size: 1 } }"
                 "layer { name: 'f' type: 'InnerProduct' bottom: 'y' top: 'z'"
                 " inner_product_param { num_output: 2 } }",
                 TENON_ERROR_INVALID_DATA, "there are no weights for 2 of its layers: 'c1', 'f'");
}

TENON_TEST(takes_weights_from_the_prototxt_too) {
  EXPECT_STATUS(parse(INPUT "layer { name: 'f' type: 'InnerProduct' bottom: 'x' top: 'z'"
                            " blobs { data: [1, 2] data: 3 shape { dim: 3 } }"
                            " inner_product_param { num_output: 2 } }"),
                TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(fake.messages, "InnerProduct 'f': blob 0 has 3 weights, 64 are needed");
}

TENON_TEST(tells_parts_apart) {
  static const float values[] = {1, 2};
  tenon__message_t mean = {.size = 0};
  tenon__message_bytes(&mean, 5, values, sizeof(values));
  EXPECT_STATUS(tenon__fake_parse_file(&fake, &under_test, mean.bytes, mean.size),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(fake.messages, "name the network's prototxt as the model");
  tenon__fake_deinitialize(&fake);
  tenon__fake_initialize(&fake, &under_test);
  const char* text = INPUT RELU("a", "x", "y");
  tenon__fake_add_part(&fake, text, strlen(text));
  tenon__fake_add_part(&fake, mean.bytes, mean.size);
  EXPECT_STATUS(tenon__fake_parse(&fake), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(fake.messages, "the mean's extents do not cover");
  tenon__fake_deinitialize(&fake);
  tenon__fake_initialize(&fake, &under_test);
  tenon__fake_add_part(&fake, text, strlen(text));
  tenon__fake_add_part(&fake, "nonsense", 8);
  EXPECT_STATUS(tenon__fake_parse(&fake), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(fake.messages, "'part 1' is no caffemodel and no binaryproto");
  tenon__fake_deinitialize(&fake);
}

TENON_TEST(sniffs) {
  static const struct {
    const char* data;
    const char* name;
    int32_t at_least;
    int32_t at_most;
  } cases[] = {{"# a comment\nname: 'net'\nlayer {", "m.prototxt", 70, 100},
               {"layer {", "m", 90, 100},
               {"layers{", "m.txt", 90, 100},
               {"input : 'data'", NULL, 80, 100},
               {"inputs: 3", "m.txt", 0, 0},
               {"node { name: 'x' }", "m.pbtxt", 0, 0},
               {"", "m.prototxt", 1, 50},
               {"\x0A\x03net", "net.caffemodel", 90, 90},
               {"\x0A\x03net", "net.pb", 0, 0},
               {"ir_version: 3", "m.txt", 0, 0}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    const int32_t sure =
        tenon__caffe_parser_sniff(NULL, cases[i].data, strlen(cases[i].data), cases[i].name);
    EXPECT(sure >= cases[i].at_least && sure <= cases[i].at_most);
  }
}

/* Whatever fails, one message says so. */
TENON_TEST(each_allocation_may_fail) {
  static const char text[] = INPUT
      "layer { name: 'c1' type: 'Convolution' bottom: 'x' top: 'y'"
      " convolution_param { num_output: 2 kernel_size: 1 bias_term: false } }" RELU("r", "y", "y");
  for (size_t i = 1; i < 200; ++i) {
    tenon__fake_initialize(&fake, &under_test);
    tenon__fake_add_part(&fake, text, sizeof(text) - 1);
    fake.fail_at = i;
    EXPECT(tenon__fake_parse(&fake) != TENON_OK);
    EXPECT_INT(fake.error_count, 1);
    tenon__fake_deinitialize(&fake);
  }
}
