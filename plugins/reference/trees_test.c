/* Ensembles of trees: every comparison, the ways to gather, and trees that are refused. */
#include "fake_host.h"

#define F32 TENON_DTYPE_FLOAT32
#define I64 TENON_DTYPE_INT64

/* One node of `mode` on the one feature, then leaf 0 (gives 1) when true, leaf 1 (gives 2)
 * otherwise; its members are 3 and 5, its threshold 2. */
static fake_t stump(double mode, double missing, double feature, double child) {
  fake_t f = fake_of("standard.tree_ensemble/1");
  fake_string(&f, "aggregate", "sum");
  fake_int(&f, "target_count", 1);
  fake_input(&f, F32, DIMS(4, 1), NUMBERS(1, 2, 3, NAN));
  fake_input(&f, I64, DIMS(1, 7), NUMBERS(mode, feature, -1, child, missing, 0, 2));
  fake_input(&f, F32, DIMS(1), NUMBERS(2));
  fake_input(&f, F32, DIMS(2), NUMBERS(3, 5));
  fake_input(&f, I64, DIMS(1), NUMBERS(0));
  fake_input(&f, I64, DIMS(2, 2), NUMBERS(0, 1, 1, 1));
  fake_input(&f, I64, DIMS(2), NUMBERS(0, 0));
  fake_input(&f, F32, DIMS(2), NUMBERS(1, 2));
  fake_output(&f, F32, DIMS(4, 1));
  return f;
}

TENON_TEST(trees_compare_in_seven_ways) {
  static const double expected[7][4] = {{1, 1, 2, 2}, {1, 2, 2, 2}, {2, 1, 1, 2}, {2, 2, 1, 2},
                                        {2, 1, 2, 2}, {1, 2, 1, 1}, {2, 2, 1, 2}};
  for (int mode = 0; mode < 7; ++mode) {
    fake_t f = stump(mode, 0, 0, -2);
    EXPECT_STATUS(fake_run(&f), TENON_OK);
    fake_expect_numbers(&f, FAKE_HERE, 0, 0.0, expected[mode], 4);
    fake_done(&f);
  }
}

TENON_TEST(trees_send_missing_values_where_they_are_told) {
  fake_t f = stump(1, 1, 0, -2);
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 1, 2, 2, 1);
  fake_done(&f);
}

static void expect_refused(fake_t f, const char* words) {
  EXPECT_STATUS(fake_run(&f), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(f.failure, words);
  fake_done(&f);
}

TENON_TEST(trees_that_cannot_be_walked_are_refused) {
  expect_refused(stump(0, 0, 0, 0), "tree 0 has a cycle");
  expect_refused(stump(0, 0, 0, 1), "node 0 leads to 1, of 1 nodes, 2 leaves");
  expect_refused(stump(0, 0, 0, -3), "node 0 leads to -3");
  expect_refused(stump(0, 0, 1, -2), "feature 1 of 1");
  expect_refused(stump(0, 0, -1, -2), "feature -1 of 1");
  expect_refused(stump(7, 0, 0, -2), "mode 7");
}

/* Two trees of a leaf each for target 0; target 1 has none. */
static void expect_gathered(const char* aggregate, double expected) {
  fake_t f = fake_of("standard.tree_ensemble/1");
  fake_string(&f, "aggregate", aggregate);
  fake_int(&f, "target_count", 2);
  fake_input(&f, F32, DIMS(1, 1), NUMBERS(0));
  fake_input(&f, I64, DIMS(0, 7), NULL);
  fake_input(&f, F32, DIMS(0), NULL);
  fake_input(&f, F32, DIMS(0), NULL);
  fake_input(&f, I64, DIMS(2), NUMBERS(-1, -2));
  fake_input(&f, I64, DIMS(2, 2), NUMBERS(0, 1, 1, 1));
  fake_input(&f, I64, DIMS(2), NUMBERS(0, 0));
  fake_input(&f, F32, DIMS(2), NUMBERS(3, 5));
  fake_output(&f, F32, DIMS(1, 2));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, expected, 0);
  fake_done(&f);
}

TENON_TEST(trees_are_gathered_in_four_ways) {
  expect_gathered("sum", 8);
  expect_gathered("average", 4);
  expect_gathered("min", 3);
  expect_gathered("max", 5);
}
