/* Concatenations in place: whose output may be a part, and that a tactic is tried in the box before
 * it is believed. */
#include <time.h>

#include "tests/support/tactics_world.h"

static const tenon_argument_rule_t strided = {.flags = TENON_RULE_STRIDED};

TACTICS(takes_strides) {
  IGNORE_REGION();
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic), .name = "strided", .outputs = &strided, .estimate_seconds = 1e-3};
  return add(to, &tactic);
}

/* Boxes begin where they do: here at the eighth element of a row of eleven. */
static const tenon_argument_rule_t aligned = {.flags = TENON_RULE_STRIDED, .alignment = 64};

TACTICS(asks_for_alignment) {
  IGNORE_REGION();
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic), .name = "aligned", .outputs = &aligned, .estimate_seconds = 1e-3};
  return add(to, &tactic);
}

static bool has_gaps(const tenon_enqueue_t* call) {
  const tenon_tensor_view_t* y = &call->outputs[0].tensor;
  return y->strides[0] != y->dims[1];
}

/* As if what it writes were dense. */
static tenon_status_t run_blindly(const tenon_enqueue_t* call) {
  tenon_tensor_view_t y = call->outputs[0].tensor;
  const int64_t strides[] = {y.dims[1], 1};
  y.strides = strides;
  compute_dense(call->inputs, &y, false);
  return TENON_OK;
}

static tenon_status_t run_unless_gaps(const tenon_enqueue_t* call) {
  return has_gaps(call) ? TENON_ERROR_INTERNAL : run_right(call);
}

/* A hundred times as long as anything else here takes. */
static tenon_status_t run_slowly_in_gaps(const tenon_enqueue_t* call) {
  const clock_t begin = clock();
  while (has_gaps(call) && clock() - begin < CLOCKS_PER_SEC / 500) {
  }
  return run_right(call);
}

/* y = max([x * w, z * v], 0), joined side by side; no siblings. */
static void make_joined(test_fixture_t* b) {
  static float ones[64];
  tenon_value_t parts[2];
  tenon_value_t y = {0};
  for (size_t k = 0; k < 64; ++k) {
    ones[k] = 1;
  }
  const tenon_value_t x = test_input(b, "x", DIMS(4, 8));
  const tenon_value_t z = test_input(b, "z", DIMS(4, 8));
  parts[0] =
      test_node(b, "test.dense/1", "left", x, test_floats(b, "w", ones, DIMS(8, 8)), NO_VALUE);
  parts[1] =
      test_node(b, "test.dense/1", "right", z, test_floats(b, "v", ones, DIMS(3, 8)), NO_VALUE);
  EXPECT_STATUS(b->build->begin(b->builder, "test.join/1", "join"), TENON_OK);
  EXPECT_STATUS(b->build->attribute_int(b->builder, "axis", 1), TENON_OK);
  EXPECT_STATUS(b->build->add_input(b->builder, parts[0]), TENON_OK);
  EXPECT_STATUS(b->build->add_input(b->builder, parts[1]), TENON_OK);
  EXPECT_STATUS(b->build->end(b->builder, &y, 1), TENON_OK);
  add_output(b, test_unary(b, "test.ramp/1", "ramp", y));
}

/* Of which names `steps` are, and what they give: eight for each element of ones. */
static void expect_steps(tenon_kernel_t kernel, bool measures, const char* steps, int line) {
  core_world_t world;
  char text[512];
  float x[32];
  float eights[44];
  core_world_begin(&world, &kernel, 1);
  world.options.tuning.no_measuring = !measures;
  make_joined(&world.fixture);
  const char* made = build_steps(&world, text);
  if (strcmp(made, steps) != 0) {
    tenon__test_fail(__FILE__, line, "%s: %s", kernel.name, made);
  }
  for (size_t k = 0; k < 44; ++k) {
    eights[k] = 8;
    x[k % 32] = 1;
  }
  EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(4, 8), x), TENON_OK);
  EXPECT_STATUS(core_world_set(&world, 1, TENON_DTYPE_FLOAT32, DIMS(4, 8), x), TENON_OK);
  core_world_expect_ran(&world);
  core_world_expect(line, &world, 0, eights, 44);
  core_world_end(&world);
}

static tenon_kernel_t strided_of(const char* name,
                                 tenon_status_t (*enqueue)(const tenon_enqueue_t* call)) {
  tenon_kernel_t kernel = dense_of(name, enqueue);
  kernel.tactics = takes_strides;
  return kernel;
}

TENON_TEST(who_takes_strides_writes_in_place) {
  expect_steps(strided_of("right", run_right), false,
               "right/strided right/strided expressions/evaluator", __LINE__);
  expect_steps(dense_of("right", run_right), false,
               "right/default right/default moves/evaluator expressions/evaluator", __LINE__);
  tenon_kernel_t kernel = dense_of("right", run_right);
  kernel.tactics = asks_for_alignment;
  expect_steps(kernel, false, "right/aligned right/aligned moves/evaluator expressions/evaluator",
               __LINE__);
}

/* Unmeasured nobody can tell. */
TENON_TEST(who_is_wrong_in_a_box_does_not) {
  expect_steps(strided_of("blind", run_blindly), true,
               "blind/strided blind/strided moves/evaluator expressions/evaluator", __LINE__);
  expect_steps(strided_of("failing", run_unless_gaps), true,
               "failing/strided failing/strided moves/evaluator expressions/evaluator", __LINE__);
}

TENON_TEST(who_is_slower_in_a_box_does_not) {
  expect_steps(strided_of("slow", run_slowly_in_gaps), true,
               "slow/strided slow/strided moves/evaluator expressions/evaluator", __LINE__);
  expect_steps(strided_of("slow", run_slowly_in_gaps), false,
               "slow/strided slow/strided expressions/evaluator", __LINE__);
}
