/* Ensembles of trees: every comparison, sums and averages over blocks of rows, trees refused. */
#include "fake_run.h"
#include "kernels.h"

enum { ROWS = 37 }; /* more than two blocks */

typedef struct result_t {
  double y[ROWS][2];
} result_t;

static const double values[] = {1, 2, 3, NAN};

static void fill(const fake_value_t* value, size_t count, const double* numbers) {
  for (size_t i = 0; i < count; i++) {
    value->numbers[i] = numbers[i];
  }
}

/* Two trees: a node of `mode` on the one feature, leaf 0 (gives 1 to target 0) when true, `child`
 * otherwise, where leaf 1 gives 2 to target 1; and leaf 0 alone. */
static tenon_status_t run(const double node[7], const char* aggregate, result_t* out_result) {
  const int64_t x_dims[] = {ROWS, 1};
  const int64_t y_dims[] = {ROWS, 2};
  const int64_t node_dims[] = {1, 7};
  const int64_t two_by_two[] = {2, 2};
  const int64_t one[] = {1};
  const int64_t two[] = {2};
  fake_t fake = {.kind = TENON_REGION_OPERATOR, .op = "standard.tree_ensemble/1", .seed = 1};
  const fake_value_t* x = fake_input(&fake, TENON_DTYPE_FLOAT32, 2, x_dims, false, false);
  for (int i = 0; i < ROWS; i++) {
    x->numbers[i] = values[i % 4];
  }
  fill(fake_input(&fake, TENON_DTYPE_INT64, 2, node_dims, false, false), 7, node);
  fill(fake_input(&fake, TENON_DTYPE_FLOAT32, 1, one, false, false), 1, (const double[]){2});
  fill(fake_input(&fake, TENON_DTYPE_FLOAT32, 1, two, false, false), 2, (const double[]){3, 5});
  fill(fake_input(&fake, TENON_DTYPE_INT64, 1, two, false, false), 2, (const double[]){0, -1});
  fill(fake_input(&fake, TENON_DTYPE_INT64, 2, two_by_two, false, false), 4,
       (const double[]){0, 1, 1, 1});
  fill(fake_input(&fake, TENON_DTYPE_INT64, 1, two, false, false), 2, (const double[]){0, 1});
  fill(fake_input(&fake, TENON_DTYPE_FLOAT32, 1, two, false, false), 2, (const double[]){1, 2});
  const fake_value_t* y = fake_output(&fake, TENON_DTYPE_FLOAT32, 2, y_dims);
  fake_string(&fake, "aggregate", aggregate);
  fake_int(&fake, "target_count", 2);
  tenon__cpu_state_t states[3];
  tenon_refusal_t refusal;
  tenon_status_t status = TENON_ERROR_UNSUPPORTED;
  if (fake_states(states) > 0 &&
      fake_tactic(&fake, &tenon__cpu_tree_kernel, &states[0], 0, &refusal)) {
    status = fake_run_tactic(&fake, &tenon__cpu_tree_kernel, &states[0]);
    memcpy(out_result->y, y->numbers, sizeof(out_result->y));
  }
  fake_free(&fake);
  return status;
}

TENON_TEST(trees_compare_in_seven_ways) {
  static const bool expected[7][4] = {{1, 1, 0, 0}, {1, 0, 0, 0}, {0, 1, 1, 0}, {0, 0, 1, 0},
                                      {0, 1, 0, 0}, {1, 0, 1, 1}, {0, 0, 1, 0}};
  result_t result;
  for (int mode = 0; mode < 7; mode++) {
    const double node[7] = {mode, 0, -1, -2, 0, 0, 2};
    REQUIRE(run(node, "sum", &result) == TENON_OK);
    for (int row = 0; row < ROWS; row++) {
      const bool is_true = expected[mode][row % 4];
      EXPECT_NEAR(result.y[row][0], is_true ? 2 : 1, 0);
      EXPECT_NEAR(result.y[row][1], is_true ? 0 : 2, 0);
    }
  }
}

TENON_TEST(trees_are_averaged_and_missing_values_go_where_they_are_told) {
  result_t result;
  const double node[7] = {1, 0, -1, -2, 1, 0, 0};
  REQUIRE(run(node, "average", &result) == TENON_OK);
  EXPECT_NEAR(result.y[1][0], 0.5, 0); /* 2 is not less than 2 */
  EXPECT_NEAR(result.y[1][1], 1, 0);
  EXPECT_NEAR(result.y[3][0], 1, 0); /* missing */
  EXPECT_NEAR(result.y[3][1], 0, 0);
}

TENON_TEST(trees_that_cannot_be_walked_are_refused) {
  result_t result;
  static const double nodes[][7] = {{0, 0, -1, 0, 0, 0, 0},
                                    {0, 0, -1, 1, 0, 0, 0},
                                    {0, 0, -1, -3, 0, 0, 0},
                                    {0, 1, -1, -2, 0, 0, 0},
                                    {0, -1, -1, -2, 0, 0, 0}};
  for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
    EXPECT_STATUS(run(nodes[i], "sum", &result), TENON_ERROR_INVALID_DATA);
  }
}

TENON_TEST(trees_whose_least_is_taken_are_left_to_others) {
  result_t result;
  const double node[7] = {0, 0, -1, -2, 0, 0, 0};
  EXPECT_STATUS(run(node, "min", &result), TENON_ERROR_UNSUPPORTED);
}
