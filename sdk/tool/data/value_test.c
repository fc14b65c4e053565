/* Conversions tell what they lose. */
#include "data/value.h"

#include <math.h>

#include "core/base/test.h"
#include "text/console.h"

static tool_loss_t convert(tenon_dtype_t from, const double* numbers, uint64_t count,
                           tenon_dtype_t to) {
  tool_value_t value = {0};
  tool_value_t converted = {0};
  tool_loss_t loss = {0};
  (void)tool_value_make("x", from, 1, (int64_t[]){(int64_t)count}, &value);
  for (uint64_t i = 0; i < count; ++i) {
    tool_element_set(from, value.data, i, numbers[i]);
  }
  EXPECT_STATUS(tool_value_convert("x", &value, to, &converted, &loss), TENON_OK);
  tool_value_free(&value);
  tool_value_free(&converted);
  return loss;
}

TENON_TEST(counts_what_integers_do_not_have) {
  const double numbers[] = {2, 2.7, -3, 0.5, NAN};
  const tool_loss_t loss = convert(TENON_DTYPE_FLOAT64, numbers, 5, TENON_DTYPE_INT64);
  EXPECT_INT(loss.count, 3);
  EXPECT_NEAR(loss.from, 2.7, 0);
  EXPECT_NEAR(loss.to, 3, 0);
  EXPECT_INT(convert(TENON_DTYPE_INT64, (double[]){300, -1, 7}, 3, TENON_DTYPE_UINT8).count, 2);
}

TENON_TEST(counts_floats_that_overflow_or_vanish) {
  const double numbers[] = {70000, 0.1, 1e-30, 0, INFINITY, NAN};
  const tool_loss_t loss = convert(TENON_DTYPE_FLOAT64, numbers, 6, TENON_DTYPE_FLOAT16);
  EXPECT_INT(loss.count, 2);
  EXPECT_NEAR(loss.from, 70000, 0);
  EXPECT(isinf(loss.to));
}

TENON_TEST(what_keeps_its_value_is_not_counted) {
  EXPECT_INT(convert(TENON_DTYPE_UINT8, (double[]){0, 255}, 2, TENON_DTYPE_FLOAT32).count, 0);
  EXPECT_INT(convert(TENON_DTYPE_INT32, (double[]){-5, 9}, 2, TENON_DTYPE_INT64).count, 0);
}

TENON_TEST(nan_is_not_the_largest) {
  const double numbers[] = {NAN, -3, -INFINITY, 7, NAN, 7, NAN, NAN};
  bool taken[3] = {false};
  tool_value_t value = {0};
  REQUIRE(tool_value_make("x", TENON_DTYPE_FLOAT32, 1, (int64_t[]){8}, &value) == TENON_OK);
  for (uint64_t i = 0; i < 8; ++i) {
    tool_element_set(value.dtype, value.data, i, numbers[i]);
  }
  EXPECT_INT(tool_value_largest(&value, 0, 8, NULL), 3);
  EXPECT_INT(tool_value_largest(&value, 0, 3, taken), 1);
  taken[1] = true;
  EXPECT_INT(tool_value_largest(&value, 0, 3, taken), 2);
  EXPECT_INT(tool_value_largest(&value, 4, 2, NULL), 1);
  EXPECT_INT(tool_value_largest(&value, 6, 2, NULL), 2); /* none */
  tool_value_free(&value);
}

/* The least and the largest of 200 made numbers. */
static void expect_made(tenon_dtype_t dtype, double min, double max, double least, double largest) {
  tool_value_t value = {0};
  double low = INFINITY;
  double high = -INFINITY;
  REQUIRE(tool_value_make("x", dtype, 1, (int64_t[]){200}, &value) == TENON_OK);
  tool_value_randomize(&value, 1, min, max);
  for (uint64_t i = 0; i < value.count; ++i) {
    const double number = tool_element_get(dtype, value.data, i, 0);
    low = fmin(low, number);
    high = fmax(high, number);
  }
  EXPECT(low >= least && high <= largest);
  if (tool_dtype_class(dtype) != 'f') {
    EXPECT_NEAR(low, least, 0);
    EXPECT_NEAR(high, largest, 0);
  }
  tool_value_free(&value);
}

TENON_TEST(random_numbers_stay_in_their_range) {
  expect_made(TENON_DTYPE_INT64, -2, 4, -2, 4);
  expect_made(TENON_DTYPE_INT64, -INFINITY, INFINITY, 0, 1);
  expect_made(TENON_DTYPE_INT32, 3, INFINITY, 3, 4);
  expect_made(TENON_DTYPE_INT32, -INFINITY, -5, -5, -5);
  expect_made(TENON_DTYPE_UINT8, -2, 2.5, 0, 2);
  expect_made(TENON_DTYPE_INT8, -1000, -127, -128, -127);
  expect_made(TENON_DTYPE_BOOL, -INFINITY, INFINITY, 0, 1);
  expect_made(TENON_DTYPE_FLOAT32, -1, 1, -1, 1);
  expect_made(TENON_DTYPE_FLOAT32, 0.0625, INFINITY, 0.0625, 10);
}
