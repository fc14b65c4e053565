/* Choosing: kernels that compute nothing and say how long they would take. Looks at the plan alone.
 */
#include "tests/support/tactics_world.h"

TACTICS(slow) {
  IGNORE_REGION();
  return emit(to, add, "slow", 1e-3);
}

/* More tactics than anybody needs, the fastest last. */
TACTICS(talkative) {
  tenon_status_t status = TENON_OK;
  IGNORE_REGION();
  for (int k = 0; k < 100 && status == TENON_OK; ++k) {
    status = emit(to, add, k == 99 ? "last" : "other", k == 99 ? 1e-5 : 1e-4);
  }
  return status;
}

TACTICS(greedy) {
  IGNORE_REGION();
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic), .name = "greedy", .scratch_bytes = 1 << 20, .estimate_seconds = 1e-6};
  return add(to, &tactic);
}

TACTICS(rough) {
  static const tenon_numerics_t numerics = {
      .size = sizeof(numerics), .product_mantissa_bits = 7, .product_exponent_bits = 8};
  IGNORE_REGION();
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic), .name = "rough", .numerics = &numerics, .estimate_seconds = 1e-6};
  return add(to, &tactic);
}

/* ---- Networks ---- */

/* x, dense, y. */
static void make_dense(test_fixture_t* b) {
  add_output(b, add_dense(b, "dense", test_input(b, "x", DIMS(4, 8))));
}

/* ---- One region ---- */

TENON_TEST(the_fastest_tactic_of_the_fastest_kernel_is_taken) {
  const tenon_kernel_t kernels[] = {dense_kernel("slow", slow), dense_kernel("fast", fast)};
  char text[512];
  core_world_t world;
  core_world_begin(&world, kernels, 2);
  make_dense(&world.fixture);
  EXPECT_TEXT(build_steps(&world, text), "fast/first");
  core_world_end(&world);
}

TENON_TEST(more_tactics_than_are_tried_are_told) {
  const tenon_kernel_t kernel = dense_kernel("talkative", talkative);
  char text[512];
  core_world_t world;
  core_world_begin(&world, &kernel, 1);
  make_dense(&world.fixture);
  world.options.tuning.keep_refusals = true;
  EXPECT_TEXT(build_steps(&world, text), "talkative/last");
  const char* refusals = schedule_of(&world)->steps[0].refusals;
  uint32_t slower = 0;
  uint32_t left_out = 0;
  for (const char* at = refusals; (at = strstr(at, "was slower")) != NULL; ++at) {
    ++slower;
  }
  for (const char* at = refusals; (at = strstr(at, "64 others of this kernel")) != NULL; ++at) {
    ++left_out;
  }
  EXPECT_INT(slower, 63);
  EXPECT_INT(left_out, 36);
  core_world_end(&world);
}

TENON_TEST(what_the_build_excludes_is_not_taken) {
  const tenon_kernel_t kernels[] = {dense_kernel("slow", slow), dense_kernel("fast", fast)};
  const char* const exclude[] = {"tests:fast", NULL};
  char text[512];
  core_world_t world;
  core_world_begin(&world, kernels, 2);
  make_dense(&world.fixture);
  world.options.tuning.exclude = exclude;
  EXPECT_TEXT(build_steps(&world, text), "slow/slow");
  core_world_end(&world);
}

TENON_TEST(limits_of_workspace_and_accuracy_are_kept) {
  const tenon_kernel_t kernels[] = {dense_kernel("slow", slow), dense_kernel("greedy", greedy),
                                    dense_kernel("rough", rough)};
  char text[512];
  core_world_t world;
  core_world_begin(&world, kernels, 3);
  make_dense(&world.fixture);
  world.options.tuning.workspace_limit_bytes = 1 << 10;
  EXPECT_TEXT(build_steps(&world, text), "slow/slow");
  core_world_end(&world);
  core_world_begin(&world, kernels, 2);
  make_dense(&world.fixture);
  world.options.tuning.workspace_limit_bytes = 1 << 24;
  EXPECT_TEXT(build_steps(&world, text), "greedy/greedy");
  core_world_end(&world);
  core_world_begin(&world, kernels, 3);
  make_dense(&world.fixture);
  world.options.tuning.workspace_limit_bytes = 1 << 10;
  world.options.tuning.permits = TENON__PERMIT_BF16;
  EXPECT_TEXT(build_steps(&world, text), "rough/rough");
  core_world_end(&world);
}

TENON_TEST(a_plan_says_why_the_others_were_not_taken) {
  tenon_kernel_t kernels[] = {dense_kernel("slow", slow), dense_kernel("fast", fast),
                              dense_kernel("choosy", slow), dense_kernel("rough", rough)};
  core_world_t world;
  kernels[2].match = core_refuse;
  core_world_begin(&world, kernels, 4);
  make_dense(&world.fixture);
  world.options.tuning.keep_refusals = true;
  if (core_world_start(&world) && schedule_of(&world)->step_count == 1) {
    const char* reasons = schedule_of(&world)->steps[0].refusals;
    EXPECT_CONTAINS(reasons, "tests:choosy: does not take these extents");
    EXPECT_CONTAINS(reasons, "too square");
    EXPECT_CONTAINS(reasons, "tests:rough");
    EXPECT_CONTAINS(reasons, "exceeds the numerics");
    EXPECT_CONTAINS(reasons, "tests:slow (slow)");
    EXPECT_CONTAINS(reasons, "was slower");
  }
  core_world_end(&world);
}

TENON_TEST(a_build_without_a_kernel_says_who_refused) {
  tenon_kernel_t kernel = dense_kernel("choosy", slow);
  core_world_t world;
  kernel.match = core_refuse;
  core_world_begin(&world, &kernel, 1);
  make_dense(&world.fixture);
  EXPECT_STATUS(core_world_build(&world), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(world.fixture.messages.text, "dense");
  EXPECT_CONTAINS(world.fixture.messages.text, "tests:choosy: does not take these extents");
  core_world_end(&world);
}

TENON_TEST(a_run_of_expressions_is_one_step) {
  char text[512];
  core_world_t world;
  for (int k = 0; k < 2; ++k) {
    core_world_begin(&world, NULL, 0);
    test_fixture_t* b = &world.fixture;
    const tenon_value_t x = test_input(b, "x", DIMS(4, 8));
    const tenon_value_t r = test_unary(b, "test.ramp/1", "ramp", x);
    const tenon_value_t e = test_unary(b, "test.exponential/1", "exponential", r);
    add_output(b, test_binary(b, "test.plus/1", "plus", e, x));
    world.options.tuning.no_fusion = k == 1;
    EXPECT_TEXT(build_steps(&world, text),
                k == 0 ? "expressions/evaluator"
                       : "expressions/evaluator expressions/evaluator expressions/evaluator");
    core_world_end(&world);
  }
}

/* One value read twice, once through another expression: neither is a step of its own. Where one is
 * read elsewhere too it is written besides. */
TENON_TEST(a_run_goes_round_both_sides) {
  char text[512];
  core_world_t world;
  for (int k = 0; k < 2; ++k) {
    core_world_begin(&world, NULL, 0);
    test_fixture_t* b = &world.fixture;
    const tenon_value_t r = test_unary(b, "test.ramp/1", "ramp", test_input(b, "x", DIMS(4, 8)));
    const tenon_value_t e = test_unary(b, "test.exponential/1", "exponential", r);
    const tenon_value_t sum = test_binary(b, "test.plus/1", "plus", e, r);
    add_output(b, test_binary(b, "test.plus/1", "again", sum, e));
    if (k == 1) {
      EXPECT_STATUS(b->build->output(b->builder, r, "r"), TENON_OK);
    }
    EXPECT_TEXT(build_steps(&world, text),
                k == 0 ? "expressions/evaluator" : "expressions/evaluator expressions/evaluator");
    core_world_end(&world);
  }
}

/* ---- Layouts ---- */

/* Column after column in and out. */
TACTICS(columns_alone) {
  static const uint32_t order[2] = {1, 0};
  static const tenon_layout_t columns = {
      .size = sizeof(tenon_layout_t), .name = "columns", .order = order, .rank = 2};
  const tenon_argument_rule_t exact = {.kind = TENON_LAYOUT_EXACT, .layout = &columns};
  tenon_argument_rule_t inputs[2] = {exact, {0}};
  IGNORE_REGION();
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = "columns",
                                 .inputs = inputs,
                                 .outputs = &exact,
                                 .estimate_seconds = 1e-4};
  return add(to, &tactic);
}

/* Or row-major, which is slower. */
TACTICS(either_way) {
  const tenon_status_t status = columns_alone(state, region, table, to, add);
  return status == TENON_OK ? emit(to, add, "rows", 1.5e-4) : status;
}

TACTICS(rows_alone) {
  IGNORE_REGION();
  return emit(to, add, "rows", 1e-6);
}

TENON_TEST(neighbours_agree_on_a_layout) {
  const tenon_kernel_t kernel = dense_kernel("dense", either_way);
  char text[512];
  core_world_t world;
  core_world_begin(&world, &kernel, 1);
  test_fixture_t* b = &world.fixture;
  tenon_value_t v = test_input(b, "x", DIMS(4, 8));
  v = add_dense(b, "first", v);
  add_output(b, add_dense(b, "second", v));
  /* Copies to columns at the beginning, and back at the end, but none in between. */
  EXPECT_TEXT(build_steps(&world, text),
              "moves/evaluator dense/columns dense/columns moves/evaluator");
  core_world_end(&world);
}

TENON_TEST(a_constant_is_brought_into_the_layout_that_is_asked_for) {
  static const float numbers[4 * 8] = {1, 2, 3};
  const tenon_kernel_t kernel = dense_kernel("dense", columns_alone);
  char text[512];
  core_world_t world;
  core_world_begin(&world, &kernel, 1);
  test_fixture_t* b = &world.fixture;
  add_output(b, add_dense(b, "only", test_floats(b, "x", numbers, DIMS(4, 8))));
  EXPECT_TEXT(build_steps(&world, text), "moves/evaluator dense/columns moves/evaluator");
  core_world_end(&world);
}

TENON_TEST(a_layout_that_costs_more_than_it_saves_is_not_taken) {
  tenon_kernel_t kernels[] = {dense_kernel("dense", either_way), dense_kernel("rows", rows_alone)};
  char text[512];
  core_world_t world;
  core_world_begin(&world, kernels, 2);
  make_dense(&world.fixture);
  EXPECT_TEXT(build_steps(&world, text), "rows/rows");
  core_world_end(&world);
}

/* Rows in; out in rows, or a little slower in columns. */
TACTICS(turns) {
  static const uint32_t order[2] = {1, 0};
  static const tenon_layout_t columns = {
      .size = sizeof(tenon_layout_t), .name = "columns", .order = order, .rank = 2};
  const tenon_argument_rule_t exact = {.kind = TENON_LAYOUT_EXACT, .layout = &columns};
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic), .name = "turned", .outputs = &exact, .estimate_seconds = 1.0001e-6};
  IGNORE_REGION();
  const tenon_status_t status = emit(to, add, "rows", 1e-6);
  return status == TENON_OK ? add(to, &tactic) : status;
}

/* The second product reads the first one's result as one row, turned before or not. */
static const char* steps_through_views(bool is_turned, char text[512]) {
  static const float zeros[64];
  static const int64_t flat[] = {1, 32};
  const tenon_kernel_t kernel = dense_kernel("dense", turns);
  core_world_t world;
  core_world_begin(&world, &kernel, 1);
  test_fixture_t* b = &world.fixture;
  tenon_value_t v = add_dense(b, "first", test_input(b, "x", DIMS(4, 8)));
  v = is_turned ? test_permute(b, "turned", v, DIMS(1, 0)) : v;
  v = test_binary(b, "test.reshape/1", "flat", v, test_vector(b, "shape", flat, 2));
  add_output(b, test_node(b, "test.dense/1", "second", v, test_floats(b, "w", zeros, DIMS(2, 32)),
                          NO_VALUE));
  (void)build_steps(&world, text);
  core_world_end(&world);
  return text;
}

TENON_TEST(views_lie_as_what_they_are_views_of) {
  char text[512];
  EXPECT_TEXT(steps_through_views(false, text), "dense/rows dense/rows");
  EXPECT_TEXT(steps_through_views(true, text), "dense/turned dense/rows");
}

/* ---- Limits of the whole ---- */

TENON_TEST(activations_above_the_limit_fail_the_build) {
  const tenon_kernel_t kernel = dense_kernel("greedy", greedy);
  core_world_t world;
  core_world_begin(&world, &kernel, 1);
  make_dense(&world.fixture);
  world.options.memory_limit_bytes = 1000;
  EXPECT_STATUS(core_world_build(&world), TENON_ERROR_OUT_OF_MEMORY);
  EXPECT_CONTAINS(world.fixture.messages.text, "the limit is 1000");
  core_world_end(&world);
}

static int32_t cancel(void* user, const char* phase, uint32_t done, uint32_t total) {
  (void)done;
  (void)total;
  return strcmp(user, phase) == 0 ? 1 : 0;
}

TENON_TEST(a_build_can_be_cancelled_in_each_phase) {
  static const char* const phases[] = {"optimise", "choose", "write"};
  const tenon_kernel_t kernel = dense_kernel("slow", slow);
  for (size_t k = 0; k < sizeof phases / sizeof phases[0]; ++k) {
    core_world_t world;
    core_world_begin(&world, &kernel, 1);
    make_dense(&world.fixture);
    tenon__interrupt_t interrupt;
    tenon__interrupt_initialize(&interrupt, cancel, tenon__drop_const(phases[k]));
    world.options.tuning.interrupt = &interrupt;
    if (core_world_build(&world) != TENON_ERROR_CANCELLED) {
      tenon__test_fail(__FILE__, __LINE__, "not cancelled in phase %s", phases[k]);
    }
    core_world_end(&world);
  }
}
