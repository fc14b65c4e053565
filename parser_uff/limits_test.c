/* Files whose numbers are too large, or that ask for more memory than they are worth. */
#include <stdio.h>

#include "testing/graph_text.h"

enum { TEXT_SIZE = 4 * 1024 * 1024 };

static char text[TEXT_SIZE];
static size_t text_size;

#define DIM(extent) "dim { size: " #extent " } "
#define DIMS_16 \
  DIM(1)        \
  DIM(1)        \
  DIM(1) DIM(1) DIM(1) DIM(1) DIM(1) DIM(1) DIM(1) DIM(1) DIM(1) DIM(1) DIM(1) DIM(1) DIM(1) DIM(1)
#define INPUT_OF(name, dims)                                         \
  "node { name: '" name                                              \
  "' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT }" \
  " } attr { key: 'shape' value { shape { " dims "} } } }\n"
#define LIST(name, dims, values)                                   \
  "node { name: '" name                                            \
  "' op: 'Const' attr { key: 'value' value { tensor { dtype: DT_I" \
  "NT64 tensor_shape { " dims "} " values " } } } }\n"
#define WITH(name, op, inputs, attributes) \
  "node { name: '" name "' op: '" op "' " inputs " " attributes " }\n"
#define TEXT(key, text) "attr { key: '" key "' value { s: '" text "' } } "
#define NUMBERS(key, values) "attr { key: '" key "' value { list { i: [" values "] } } } "

TENON_TEST(refuses_orders_with_all_spatial_axes_twice) {
  static const char again[] = "2, 2147483647, 2, 2147483647, 2, 2147483647, 2, 2147483647";
  (void)snprintf(text, sizeof(text),
                 UFF("nodes { id: 'x' operation: 'Input' fields { key: 'shape' value { i_list {"
                     " val: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1] } } } }\n"
                     "nodes { id: 'a' operation: 'Softmax' inputs: 'x' fields { key:"
                     " 'inputs_orders' value { dim_orders_list { val { orders { key: -1 value {"
                     " val: [%s, %s] } } } } } } }\n"),
                 again, again);
  expect_refused(text, TENON_ERROR_INVALID_DATA,
                 "its dimension order '++++++++' does not fit rank 16");
  expect_refused(
      INPUT_OF("x", DIMS_16)
          WITH("a", "FusedBatchNorm", "input: ['x', 'x', 'x', 'x', 'x']",
               TEXT("data_format", "++++++++") "attr { key: 'is_training' value { b: false } }"),
      TENON_ERROR_INVALID_DATA, "its dimension order '++++++++' does not fit rank 16");
}

TENON_TEST(refuses_slices_that_begin_before_the_first_element) {
  expect_refused(INPUT_OF("x", DIM(4)) LIST("b", DIM(1), "int64_val: -1")
                     LIST("n", DIM(1), "int64_val: 9223372036854775807")
                         NODE("a", "Slice", "input: ['x', 'b', 'n']"),
                 TENON_ERROR_INVALID_DATA,
                 "begins at -1 and has 9223372036854775807 elements along axis 0");
  expect_refused(INPUT_OF("x", DIM(4)) LIST("b", DIM(1), "int64_val: 1") LIST(
                     "n", DIM(1), "int64_val: -2") NODE("a", "Slice", "input: ['x', 'b', 'n']"),
                 TENON_ERROR_INVALID_DATA, "begins at 1 and has -2 elements along axis 0");
}

TENON_TEST(refuses_single_elements_that_are_not_there) {
#define SINGLE(dims, at)                                   \
  INPUT_OF("x", dims)                                      \
  LIST("b", DIM(1), "int64_val: " at)                      \
  LIST("n", DIM(1), "int64_val: 1")                        \
  WITH("a", "StridedSlice", "input: ['x', 'b', 'n', 'n']", \
       "attr { key: 'shrink_axis_mask' value { i: 1 } }")
  static const char expected[] = "element 9223372036854775807 of axis 0, which has 4";
  expect_refused(SINGLE(DIM(4), "9223372036854775807"), TENON_ERROR_INVALID_DATA, expected);
  expect_refused(SINGLE(DIM(4), "-5"), TENON_ERROR_INVALID_DATA, "element -5 of axis 0");
  EXPECT_STATUS(parse(SINGLE(DIM(4), "-4")), TENON_OK);
  EXPECT_STATUS(parse(SINGLE(DIM(-1), "9223372036854775807")), TENON_OK); /* the run says no */
}

TENON_TEST(refuses_sums_and_products_past_64_bits) {
#define HALF "4611686018427387904"
#define MOST "9223372036854775807"
  expect_refused(INPUT_OF("x", DIM(4)) LIST("n", DIM(3), "int64_val: [" MOST ", " MOST ", -1]")
                     LIST("z", "", "int64_val: 0") WITH("a", "SplitV", "input: ['x', 'n', 'z']",
                                                        "attr { key: 'num_split' value { i: 3 } }")
                         NODE("b", "AddN", "input: ['a', 'a:1', 'a:2']"),
                 TENON_ERROR_INVALID_DATA, MOST " and " MOST " are too large together");
  expect_refused(INPUT_OF("x", DIM(1) DIM(9223372036854775807) DIM(1))
                     LIST("n", DIM(1), "int64_val: 2") LIST("p", DIM(1) DIM(2), "int64_val: [1, 1]")
                         NODE("a", "SpaceToBatchND", "input: ['x', 'n', 'p']"),
                 TENON_ERROR_INVALID_DATA, MOST " and 1 are too large together");
  expect_refused(INPUT_OF("x", DIM(4) DIM(4611686018427387904) DIM(1))
                     LIST("n", DIM(1), "int64_val: 4") LIST("p", DIM(1) DIM(2), "int64_val: [0, 0]")
                         NODE("a", "BatchToSpaceND", "input: ['x', 'n', 'p']"),
                 TENON_ERROR_INVALID_DATA, HALF " times 4 is too large");
}

TENON_TEST(refuses_windows_too_large_to_count) {
#define STEPS TEXT("padding", "SAME") NUMBERS("strides", "1, 2, 2, 1")
#define SIZES LIST("s", DIM(4), "int64_val: [1, 8, 8, 1]")
  expect_refused(INPUT_OF("x", DIM(1) DIM(4) DIM(4) DIM(1))
                     INPUT_OF("w", DIM(3) DIM(3) DIM(4294967296) DIM(4294967296))
                         WITH("a", "DepthwiseConv2dNative", "input: ['x', 'w']", STEPS),
                 TENON_ERROR_UNSUPPORTED, "4294967296 is more than 2147483647");
  expect_refused(INPUT_OF("x", DIM(1) DIM(4) DIM(4) DIM(1))
                     INPUT_OF("w", DIM(9223372036854775807) DIM(3) DIM(1) DIM(1))
                         SIZES WITH("a", "Conv2DBackpropInput", "input: ['s', 'w', 'x']",
                                    STEPS NUMBERS("dilations", "1, 2, 2, 1")),
                 TENON_ERROR_UNSUPPORTED, MOST " is more than 2147483647");
  expect_refused(INPUT_OF("x", DIM(1) DIM(9223372036854775807) DIM(4) DIM(1))
                     INPUT_OF("w", DIM(3) DIM(3) DIM(1) DIM(1))
                         SIZES WITH("a", "Conv2DBackpropInput", "input: ['s', 'w', 'x']", STEPS),
                 TENON_ERROR_UNSUPPORTED, MOST " is more than 2147483647");
  expect_refused(INPUT_OF("x", DIM(1) DIM(4) DIM(4) DIM(1))
                     INPUT_OF("w", DIM(3) DIM(3) DIM(1) DIM(1))
                         LIST("s", DIM(4), "int64_val: [1, 8, " MOST ", 1]")
                             WITH("a", "Conv2DBackpropInput", "input: ['s', 'w', 'x']", STEPS),
                 TENON_ERROR_UNSUPPORTED, MOST " is more than 2147483647");
}

TENON_TEST(takes_no_condition_without_an_element) {
  expect_refused(INPUT_OF("x", DIM(4))
                     "node { name: 'p' op: 'Const' attr { key: 'value' value { tensor {"
                     " dtype: DT_BOOL tensor_shape { dim { size: 0 } } } } } }\n" //
                 NODE("s", "Switch", "input: ['x', 'p']") NODE("a", "Neg", "input: 's'"),
                 TENON_ERROR_INVALID_DATA, "Switch 's' (line 3, column 6): its condition");
}

/* ---- Memory ---- */

/* `format` with the numbers from 0 on, one after the other. */
static void repeat(uint32_t count, const char* format) {
  for (uint32_t i = 0; i < count; ++i) {
    /* Formats of this file. NOLINTNEXTLINE(clang-diagnostic-format-nonliteral) */
    const int size = snprintf(text + text_size, TEXT_SIZE - text_size, format, i);
    REQUIRE(size > 0 && (size_t)size < TEXT_SIZE - text_size);
    text_size += (size_t)size;
  }
}

static void begin(const char* first) {
  text_size = 0;
  repeat(1, first);
}

static void expect_too_much(void) {
  EXPECT_STATUS(parse_bytes(text, text_size, NULL), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(fake.messages, "need more than 1 GiB");
}

/* Nodes of which a late output is asked for. */
TENON_TEST(counts_outputs_that_nobody_reads) {
  begin(X);
  repeat(5000, "node { name: 'a%u' op: 'Identity' input: 'x' }\n");
  repeat(1, "node { name: 'n' op: 'AddN' ");
  repeat(5000, "input: 'a%u:65535' ");
  repeat(1, "}\n");
  expect_too_much();
}

/* A border says how much is mirrored, not how long the axis is. */
TENON_TEST(mirrors_the_border_alone) {
  EXPECT_STATUS(parse(INPUT_OF("x", DIM(1000000000)) LIST("p", DIM(1) DIM(2), "int64_val: 1")
                          WITH("a", "MirrorPad", "input: ['x', 'p']", TEXT("mode", "SYMMETRIC"))),
                TENON_OK);
  EXPECT(fake.allocation_count < 100);
}

/* Lists in referenced_data, that many nodes refer to. */
static void expect_references_counted(const char* opening, const char* item) {
  begin("version: 1 graphs { id: 'main'\n" INPUT);
  repeat(5000,
         "nodes { id: 'n%u' operation: 'Identity' inputs: 'x' fields { key: 'l' value { ref: 'r'"
         " } } }\n");
  repeat(1, "}\n");
  repeat(1, opening);
  repeat(20000, item);
  repeat(1, "} } }\n");
  expect_too_much();
}

TENON_TEST(counts_lists_that_many_nodes_refer_to) {
  expect_references_counted("referenced_data { key: 'r' value { dim_orders_list {\n",
                            "val { orders { key: -1 value { val: [0, 1] } } }\n");
  expect_references_counted("referenced_data { key: 'r' value { s_list {\n", "val: 'a'\n");
}

/* A long list takes as much memory as it has orders, not its square. */
TENON_TEST(writes_long_lists_of_orders) {
  begin("version: 1 graphs { id: 'main'\n" INPUT
        "nodes { id: 'a' operation: 'Softmax' inputs: 'x' fields { key: 'inputs_orders' value {"
        " dim_orders_list {\n");
  repeat(40000, "val { orders { key: -1 value { val: [0, 1] } } }\n");
  repeat(1, "} } } } }\n");
  EXPECT_STATUS(parse_bytes(text, text_size, NULL), TENON_OK);
  EXPECT(fake.allocation_count < 2000); /* blocks of 64 KiB */
}
