/* Equations that become moves and a product, and those that stay nodes of the operator. */
#include "core/base/test.h"
#include "testing/under_test.h"
#include "tests/support/onnx_message.h"

static tenon__message_t message;
static tenon__fake_t fake;

static const int64_t known[3] = {2, 3, 4};
static const int64_t open[3] = {-1, -1, -1};
static const int64_t large[3] = {2, 3037000500, 3037000500};

/* An equation of `count` operands, all of them x [dims]. */
static void parse(const char* equation, uint32_t count, const int64_t dims[3]) {
  memset(&message, 0, sizeof(message));
  tenon__message_begin_model(&message, 12);
  tenon__message_value_info(&message, 11, "x", 1, 3, dims);
  tenon__message_value_info(&message, 12, "y", 1, 3, dims);
  tenon__message_begin_node(&message, 1, "Einsum", "n",
                            count == 1   ? "x"
                            : count == 2 ? "x x"
                                         : "x x x",
                            "y");
  tenon__message_begin(&message, 5);
  tenon__message_text(&message, 1, "equation");
  tenon__message_varint(&message, 20, 3);
  tenon__message_text(&message, 4, equation);
  tenon__message_end(&message);
  tenon__message_end(&message);
  tenon__message_end_model(&message);
  EXPECT_STATUS(tenon__fake_parse_file(&fake, &under_test, message.bytes, message.size), TENON_OK);
}

static void expect(const char* expected) {
  EXPECT_CONTAINS(fake.log, expected);
  tenon__fake_deinitialize(&fake);
}

static const char product[] =
    "node standard.permute/1 'n' perm=[0,2,1] %1 -> %2\n"
    "node standard.mat_mul/1 'n' %1 %2 -> %3\nname %3 y";

TENON_TEST(an_axis_that_both_sum_is_a_product_of_matrices) {
  parse("bij,bkj->bik", 2, known);
  expect(product);
  parse("bij, bkj -> bik", 2, known);
  expect(product);
}

/* One of them may come to 1, which an equation repeats and a product of matrices does not. */
TENON_TEST(a_summed_axis_of_unknown_extent_stays_in_an_equation) {
  parse("bij,bkj->bik", 2, open);
  expect("node standard.einsum/1 'n' equation='bij,bkj->bik' %1 %1 -> %2");
  parse("bij, bkj -> bik", 2, open);
  expect("node standard.einsum/1 'n' equation='bij, bkj -> bik' %1 %1 -> %2");
}

TENON_TEST(operands_change_places_where_the_result_has_the_first_ones_axis_last) {
  parse("bij,bkj->bki", 2, known);
  expect(product);
}

TENON_TEST(several_axes_become_one_where_their_extents_are_known) {
  parse("bij,kij->bk", 2, known);
  expect(
      "node standard.permute/1 'n' perm=[1,2,0] %1 -> %2\n"
      "node standard.reshape/1 'n' fixed_dims=[12,2] %2 -> %3\n"
      "node standard.reshape/1 'n' fixed_dims=[2,12] %1 -> %4\n"
      "node standard.mat_mul/1 'n' %4 %3 -> %5\nname %5 y");
  parse("bij,kij->bk", 2, open);
  expect("node standard.einsum/1 'n' equation='bij,kij->bk' %1 %1 -> %2");
}

TENON_TEST(axes_whose_product_is_too_large_stay) {
  parse("bij,kij->bk", 2, large);
  expect("node standard.einsum/1 'n' equation='bij,kij->bk' %1 %1 -> %2");
}

TENON_TEST(without_a_sum_elements_are_multiplied) {
  parse("bij,bij->bij", 2, open);
  expect("node standard.mul/1 'n' %1 %1 -> %2\nname %2 y");
}

TENON_TEST(other_equations_stay) {
  static const struct {
    const char* equation;
    uint32_t count;
  } cases[] = {{"bij->bji", 1},          {"...ij,...kj->...ik", 2}, {"bij,bik->bj", 2},
               {"bij,bij,bij->bij", 3},  {"bij,ijb->", 2},          {"bij,bkj->bikz", 2},
               {"b\xE9j,bkj->b\xE9k", 2}};
  for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); ++k) {
    parse(cases[k].equation, cases[k].count, known);
    expect("node standard.einsum/1 'n' equation=");
  }
}
