/* The comparer, rule by rule. */
#include "data/difference.h"

#include "core/base/test.h"

static const tool_tolerance_t usual = {-1, -1};

static tool_value_t floats(const float* numbers, int64_t count) {
  tool_value_t value;
  (void)tool_value_make("x", TENON_DTYPE_FLOAT32, 1, &count, &value);
  memcpy(value.data, numbers, (size_t)count * sizeof(float));
  return value;
}

static tool_difference_t compare(const float* ours, const float* recorded, int64_t count,
                                 tool_tolerance_t tolerance) {
  tool_value_t a = floats(ours, count);
  tool_value_t b = floats(recorded, count);
  tool_difference_t difference;
  tool_difference_find(&a, &b, &tolerance, &difference);
  tool_value_free(&a);
  tool_value_free(&b);
  return difference;
}

#define COMPARE(ours, recorded, tolerance) \
  compare((ours), (recorded), sizeof(recorded) / sizeof(float), (tolerance))

TENON_TEST(scales_the_tolerance_by_the_deviation) {
  const float recorded[] = {-1000, 1000, 0};
  const float near[] = {-1000, 1000, 0.08F};
  const float far[] = {-1000, 1000, 0.09F};
  const tool_difference_t fine = COMPARE(near, recorded, usual);
  EXPECT(fine.equal);
  EXPECT_NEAR(fine.deviation, 816.4966, 1e-3);
  EXPECT_NEAR(fine.atol, 0.08164966, 1e-6);
  const tool_difference_t wrong = COMPARE(far, recorded, usual);
  EXPECT(!wrong.equal);
  EXPECT_CONTAINS(wrong.reason, "(2)");
  EXPECT_CONTAINS(wrong.reason, "1 of 3");
}

/* One element of 16 bits. */
static bool agrees(tenon_dtype_t dtype, uint16_t ours, uint16_t recorded) {
  const int64_t one = 1;
  tool_value_t a;
  tool_value_t b;
  (void)tool_value_make("x", dtype, 1, &one, &a);
  (void)tool_value_make("x", dtype, 1, &one, &b);
  memcpy(a.data, &ours, sizeof(ours));
  memcpy(b.data, &recorded, sizeof(recorded));
  tool_difference_t difference;
  tool_difference_find(&a, &b, &usual, &difference);
  tool_value_free(&a);
  tool_value_free(&b);
  return difference.equal;
}

TENON_TEST(accepts_two_rounding_steps_of_16_bit_types) {
  EXPECT(agrees(TENON_DTYPE_BFLOAT16, 0x3f82, 0x3f80));
  EXPECT(!agrees(TENON_DTYPE_BFLOAT16, 0x3f83, 0x3f80));
  EXPECT(agrees(TENON_DTYPE_FLOAT16, 0x3c02, 0x3c00));
  EXPECT(!agrees(TENON_DTYPE_FLOAT16, 0x3c03, 0x3c00));
}

TENON_TEST(has_a_least_tolerance) {
  const float recorded[] = {0, 0};
  const float near[] = {0, 0.9e-7F};
  const float far[] = {0, 1.1e-7F};
  EXPECT(COMPARE(near, recorded, usual).equal);
  EXPECT(!COMPARE(far, recorded, usual).equal);
}

TENON_TEST(matches_what_is_not_finite) {
  const float recorded[] = {NAN, INFINITY, -INFINITY, 1};
  EXPECT(COMPARE(recorded, recorded, usual).equal);
  const float sign[] = {NAN, INFINITY, INFINITY, 1};
  EXPECT(!COMPARE(sign, recorded, usual).equal);
  const float number[] = {0, INFINITY, -INFINITY, 1};
  EXPECT(!COMPARE(number, recorded, usual).equal);
  const float large[] = {NAN, 3e38F, -INFINITY, 1};
  EXPECT(!COMPARE(large, recorded, usual).equal);
}

TENON_TEST(takes_the_callers_tolerance) {
  const float recorded[] = {1, 2};
  const float ours[] = {1.05F, 2};
  EXPECT(!COMPARE(ours, recorded, usual).equal);
  EXPECT(COMPARE(ours, recorded, ((tool_tolerance_t){0, 0.06})).equal);
  EXPECT(COMPARE(ours, recorded, ((tool_tolerance_t){0.06, 0})).equal);
}

TENON_TEST(is_exact_about_all_else) {
  tool_value_t a;
  tool_value_t b;
  tool_difference_t difference;
  const int64_t dims[] = {2, 1};
  (void)tool_value_make("x", TENON_DTYPE_INT64, 2, dims, &a);
  (void)tool_value_make("x", TENON_DTYPE_INT64, 2, dims, &b);
  ((int64_t*)a.data)[1] = (INT64_C(1) << 60) + 1;
  ((int64_t*)b.data)[1] = INT64_C(1) << 60;
  tool_difference_find(&a, &b, &usual, &difference);
  EXPECT(!difference.equal);
  EXPECT_CONTAINS(difference.reason, "(1, 0)");
  ((int64_t*)a.data)[1] = INT64_C(1) << 60;
  tool_difference_find(&a, &b, &usual, &difference);
  EXPECT(difference.equal);
  b.dims[0] = 1;
  b.dims[1] = 2;
  tool_difference_find(&a, &b, &usual, &difference);
  EXPECT_TEXT(difference.reason, "has shape 2x1, not 1x2");
  b.dtype = TENON_DTYPE_UINT64;
  tool_difference_find(&a, &b, &usual, &difference);
  EXPECT_TEXT(difference.reason, "has type i64, not u64");
  tool_value_free(&a);
  tool_value_free(&b);
}

TENON_TEST(compares_strings_and_items) {
  tool_value_t a;
  tool_value_t b;
  tool_difference_t difference;
  tool_value_make_items(TENON_ARGUMENT_SEQUENCE, 1, &a);
  tool_value_make_items(TENON_ARGUMENT_SEQUENCE, 1, &b);
  (void)tool_value_make("x", TENON_DTYPE_STRING, 0, NULL, &a.items[0]);
  (void)tool_value_make("x", TENON_DTYPE_STRING, 0, NULL, &b.items[0]);
  *(tenon_string_view_t*)a.items[0].data = (tenon_string_view_t){"beam", 4};
  *(tenon_string_view_t*)b.items[0].data = (tenon_string_view_t){"beams", 5};
  tool_difference_find(&a, &b, &usual, &difference);
  EXPECT_CONTAINS(difference.reason, "item 0: element () is \"beam\", not \"beams\"");
  *(tenon_string_view_t*)b.items[0].data = (tenon_string_view_t){"beam", 4};
  tool_difference_find(&a, &b, &usual, &difference);
  EXPECT(difference.equal);
  tool_difference_find(&a, &b.items[0], &usual, &difference);
  EXPECT_TEXT(difference.reason, "is of kind sequence, not tensor");
  tool_value_free(&a);
  tool_value_make_items(TENON_ARGUMENT_SEQUENCE, 0, &a);
  tool_difference_find(&a, &b, &usual, &difference);
  EXPECT_TEXT(difference.reason, "has 0 items, not 1");
  tool_value_free(&a);
  tool_value_free(&b);
}
