/* Kernels that compute something else than they should, and how they are found while they are
 * timed. */
#include "tests/support/tactics_world.h"

enum { ROWS = 4, TERMS = 24, RESULTS = ROWS * 8 };

static tenon_kernel_t oracle(void) {
  tenon_kernel_t kernel = dense_of("oracle", run_right);
  kernel.flags = TENON_KERNEL_REFERENCE;
  return kernel;
}

static tenon_status_t run_half(const tenon_enqueue_t* call) {
  compute_dense(call->inputs,
                &(tenon_tensor_view_t){.data = call->outputs[0].tensor.data,
                                       .dims = (const int64_t[]){ROWS / 2, 8},
                                       .strides = call->outputs[0].tensor.strides,
                                       .rank = 2},
                false);
  return TENON_OK;
}

static tenon_status_t run_double(const tenon_enqueue_t* call) {
  compute_dense(call->inputs, &call->outputs[0].tensor, false);
  for (int64_t k = 0; k < RESULTS; ++k) {
    ((float*)call->outputs[0].tensor.data)[k] *= 2;
  }
  return TENON_OK;
}

/* The plan has these steps; the report and a warning say what is wrong with another kernel. */
static void expect_refused(core_world_t* world, const char* steps, const char* message) {
  char text[512];
  EXPECT_TEXT(build_steps(world, text), steps);
  EXPECT_CONTAINS(refusals_of(world, 0), message);
  EXPECT_CONTAINS(world->fixture.messages.text, message + strcspn(message, ":") + 1);
  core_world_end(world);
}

/* ---- What the meaning decides ---- */

TENON_TEST(a_kernel_that_computes_nothing_is_found) {
  const tenon_kernel_t kernels[] = {dense_of("nothing", core_write_zeros),
                                    dense_of("right", run_right), oracle()};
  core_world_t world;
  measuring_world(&world, kernels, 3);
  make_ones(&world.fixture, ROWS, TERMS);
  expect_refused(&world, "right/default",
                 "tests:nothing (default): is wrong: computes something else than the operator's "
                 "definition: largest difference ");
}

/* The others are wrong together: the meaning counts, not the majority. */
TENON_TEST(the_meaning_overrules_the_many) {
  const tenon_kernel_t kernels[] = {dense_of("nothing", core_write_zeros),
                                    dense_of("nothing_either", core_write_zeros),
                                    dense_of("right", run_right), oracle()};
  core_world_t world;
  measuring_world(&world, kernels, 4);
  make_ones(&world.fixture, ROWS, TERMS);
  expect_refused(&world, "right/default", "tests:nothing_either (default): is wrong: computes");
}

TENON_TEST(where_all_are_wrong_the_oracle_computes) {
  const tenon_kernel_t kernels[] = {dense_of("double", run_double),
                                    dense_of("nothing", core_write_zeros), oracle()};
  core_world_t world;
  measuring_world(&world, kernels, 3);
  make_ones(&world.fixture, ROWS, TERMS);
  expect_refused(&world, "oracle/default", "tests:double (default): is wrong: computes");
}

/* ---- Where nobody knows the meaning ---- */

TENON_TEST(of_many_the_odd_one_is_refused) {
  const tenon_kernel_t kernels[] = {dense_of("nothing", core_write_zeros),
                                    dense_of("one", run_right),
                                    dense_of("other", run_right_from_the_end)};
  char text[512];
  core_world_t world;
  measuring_world(&world, kernels, 3);
  make_ones(&world.fixture, ROWS, TERMS);
  (void)build_steps(&world, text);
  EXPECT(strcmp(text, "one/default") == 0 || strcmp(text, "other/default") == 0);
  EXPECT_CONTAINS(refusals_of(&world, 0),
                  "tests:nothing (default): is wrong: computes something "
                  "else than tests:one (default): largest difference");
  core_world_end(&world);
}

TACTICS(rougher) {
  static const tenon_numerics_t numerics = {.size = sizeof(numerics), .error_bound = 2};
  IGNORE_REGION();
  const tenon_tactic_t tactic = {.size = sizeof(tactic), .name = "rough", .numerics = &numerics};
  return add(to, &tactic);
}

/* Of two the better numerics count, then who comes first; the user is told of both. */
TENON_TEST(of_two_one_is_taken_with_a_warning) {
  tenon_kernel_t kernels[] = {dense_of("a", core_write_zeros), dense_of("b", run_right)};
  core_world_t world;
  measuring_world(&world, kernels, 2);
  make_ones(&world.fixture, ROWS, TERMS);
  expect_refused(&world, "a/default",
                 "tests:b (default): is wrong: computes something else than tests:a (default)");
  kernels[0].tactics = rougher;
  measuring_world(&world, kernels, 2);
  make_ones(&world.fixture, ROWS, TERMS);
  expect_refused(&world, "b/default",
                 "tests:a (rough): is wrong: computes something else than tests:b (default)");
}

/* ---- What is wrong without a look at others ---- */

TENON_TEST(what_is_not_written_is_found) {
  const tenon_kernel_t half = dense_of("half", run_half);
  const tenon_kernel_t none = dense_of("none", core_do_nothing);
  core_world_t world;
  measuring_world(&world, &half, 1);
  make_ones(&world.fixture, ROWS, TERMS);
  EXPECT_STATUS(core_world_build(&world), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(world.fixture.messages.text,
                  "tests:half (default): is wrong: does not write 16 of 32 elements, the first of "
                  "them [2, 0] of 'dense'");
  core_world_end(&world);
  measuring_world(&world, &none, 1);
  make_ones(&world.fixture, ROWS, TERMS);
  EXPECT_STATUS(core_world_build(&world), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(world.fixture.messages.text, "does not write 32 of 32 elements");
  core_world_end(&world);
}

static tenon_status_t run_on_input(const tenon_enqueue_t* call) {
  compute_dense(call->inputs, &call->outputs[0].tensor, false);
  *element_of(&call->inputs[0].tensor, 1, 1) = 0;
  return TENON_OK;
}

static tenon_status_t run_on_weights(const tenon_enqueue_t* call) {
  compute_dense(call->inputs, &call->outputs[0].tensor, false);
  *element_of(&call->inputs[1].tensor, 1, 1) = 7;
  return TENON_OK;
}

TENON_TEST(who_writes_to_an_input_is_found) {
  const tenon_kernel_t kernels[] = {dense_of("clumsy", run_on_input), dense_of("right", run_right)};
  const tenon_kernel_t worse = dense_of("worse", run_on_weights);
  core_world_t world;
  measuring_world(&world, kernels, 2);
  make_ones(&world.fixture, ROWS, TERMS);
  expect_refused(&world, "right/default",
                 "tests:clumsy (default): is wrong: writes to its input 0, 'x'");
  measuring_world(&world, &worse, 1);
  make_ones(&world.fixture, ROWS, TERMS);
  EXPECT_STATUS(core_world_build(&world), TENON_ERROR_INTERNAL);
  EXPECT_CONTAINS(world.fixture.messages.text,
                  "trying tests:worse (default): the kernel writes to "
                  "the constant 'w'");
  core_world_end(&world);
}

TACTICS(with_counters) {
  IGNORE_REGION();
  const tenon_tactic_t tactic = {.size = sizeof(tactic), .name = "split", .zeroed_bytes = 64};
  return add(to, &tactic);
}

static tenon_status_t run_without_clearing(const tenon_enqueue_t* call) {
  ((char*)call->host->zeroed(call->run))[63] += 1;
  compute_dense(call->inputs, &call->outputs[0].tensor, false);
  return TENON_OK;
}

TENON_TEST(who_leaves_counters_behind_is_found) {
  tenon_kernel_t kernels[] = {dense_of("counts", run_without_clearing),
                              dense_of("right", run_right)};
  core_world_t world;
  kernels[0].tactics = with_counters;
  measuring_world(&world, kernels, 2);
  make_ones(&world.fixture, ROWS, TERMS);
  expect_refused(&world, "right/default",
                 "tests:counts (split): is wrong: does not leave its zeroed memory zero");
}

/* ---- What is not wrong ---- */

/* Thousands of terms in the other order, in columns: right all the same. */
TACTICS(in_columns) {
  static const uint32_t order[2] = {1, 0};
  static const tenon_layout_t columns = {
      .size = sizeof(tenon_layout_t), .name = "columns", .order = order, .rank = 2};
  const tenon_argument_rule_t exact = {.kind = TENON_LAYOUT_EXACT, .layout = &columns};
  const tenon_argument_rule_t inputs[2] = {exact, {0}};
  IGNORE_REGION();
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic), .name = "columns", .inputs = inputs, .outputs = &exact};
  return add(to, &tactic);
}

TENON_TEST(orders_of_sums_and_of_dimensions_do_not_matter) {
  tenon_kernel_t kernels[] = {dense_of("columns", run_right_from_the_end),
                              dense_of("rows", run_right), oracle()};
  char text[512];
  core_world_t world;
  kernels[0].tactics = in_columns;
  measuring_world(&world, kernels, 3);
  make_ones(&world.fixture, 8, 8192);
  (void)build_steps(&world, text);
  EXPECT(strstr(refusals_of(&world, 0), "is wrong") == NULL);
  EXPECT(strstr(world.fixture.messages.text, "is wrong") == NULL);
  core_world_end(&world);
}

static float dice;

static tenon_status_t throw_dice(const tenon_enqueue_t* call) {
  for (int64_t k = 0; k < call->outputs[0].tensor.dims[0]; ++k) {
    ((float*)call->outputs[0].tensor.data)[k] = dice += 1;
  }
  return TENON_OK;
}

TENON_TEST(what_differs_from_call_to_call_is_not_compared) {
  static const char* const takes_dice[] = {"test.dice/1", NULL};
  tenon_kernel_t kernels[] = {dense_of("a", throw_dice), dense_of("b", throw_dice)};
  char text[512];
  core_world_t world;
  kernels[0].operators = takes_dice;
  kernels[1].operators = takes_dice;
  measuring_world(&world, kernels, 2);
  test_fixture_t* b = &world.fixture;
  const tenon_value_t x = test_input(b, "x", DIMS(8));
  add_output(b, test_unary(b, "test.dice/1", "dice", x));
  EXPECT(build_steps(&world, text)[0] != '\0');
  EXPECT(strstr(refusals_of(&world, 0), "is wrong") == NULL);
  core_world_end(&world);
}

/* Bytes that are what unwritten memory holds. */
static tenon_status_t fill_with_pattern(const tenon_enqueue_t* call) {
  memset(call->outputs[0].tensor.data, 0xa5, (size_t)call->outputs[0].tensor.dims[0]);
  return TENON_OK;
}

static const tenon_operator_t bytes_op = {OPERATOR("test.bytes/1"), INPUTS(PORT("x", "u8", 0)),
                                          OUTPUTS(PORT("y", "u8", 0)), .shape = "y = x"};

TENON_TEST(bytes_that_look_unwritten_are_written) {
  static const char* const takes_bytes[] = {"test.bytes/1", NULL};
  tenon_kernel_t kernel = dense_of("bytes", fill_with_pattern);
  char text[512];
  core_world_t world;
  const tenon__operator_t* op = NULL;
  kernel.operators = takes_bytes;
  measuring_world(&world, &kernel, 1);
  test_fixture_t* b = &world.fixture;
  EXPECT_STATUS(tenon__operator_admit(&b->arena, &bytes_op, "tests", NULL, NULL, &op), TENON_OK);
  b->operators[0] = op; /* instead of one that is not needed */
  core_world_offer(&world, &world.owner, "operator/1", &bytes_op, 1, sizeof(bytes_op));
  const tenon_value_t x = test_input_of(b, "x", TENON_DTYPE_UINT8, DIMS(100));
  add_output(b, test_unary(b, "test.bytes/1", "bytes", x));
  EXPECT_TEXT(build_steps(&world, text), "bytes/default");
  core_world_end(&world);
}

/* ---- Several nodes at once ---- */

static void make_dense_and_ramp(test_fixture_t* b) {
  static const float weights[64] = {1, -1, 1, -1, 1, -1, 1, -1, -2, 2};
  const tenon_value_t x = test_input(b, "x", DIMS(ROWS, 8));
  const tenon_value_t w = test_floats(b, "w", weights, DIMS(8, 8));
  const tenon_value_t h = test_node(b, "test.dense/1", "dense", x, w, NO_VALUE);
  add_output(b, test_unary(b, "test.ramp/1", "ramp", h));
}

/* It takes its neighbours' arithmetic, and forgets it. */
TENON_TEST(a_slot_that_is_not_obeyed_is_found) {
  tenon_kernel_t kernel = dense_of("slot", run_right);
  char text[512];
  core_world_t world;
  kernel.slots = (tenon_list_t)TENON_LIST(epilogue);
  measuring_world(&world, &kernel, 1);
  make_dense_and_ramp(&world.fixture);
  EXPECT_TEXT(build_steps(&world, text), "slot/default expressions/evaluator");
  EXPECT_CONTAINS(world.fixture.messages.text,
                  "tests:slot (default) is not used: it computes "
                  "something else than its nodes one by one: largest");
  core_world_end(&world);
}

/* The product, whatever is before it or beside it. */
static tenon_status_t run_each(const tenon_enqueue_t* call) {
  for (uint32_t k = 0; k < call->output_count; ++k) {
    compute_dense(call->inputs, &call->outputs[k].tensor, false);
  }
  return TENON_OK;
}

/* Likewise before the operator, and beside its output. */
TENON_TEST(other_slots_that_are_not_obeyed_are_found) {
  static const tenon_slot_t slots[] = {{.size = sizeof(tenon_slot_t), .kind = TENON_SLOT_PROLOGUE},
                                       {.size = sizeof(tenon_slot_t), .kind = TENON_SLOT_SIDE}};
  static const float weights[64] = {1, -1, 1, -1, 1, -1, 1, -1, -2, 2};
  tenon_kernel_t kernel = dense_of("slot", run_each);
  for (int k = 0; k < 2; ++k) {
    char text[512];
    core_world_t world;
    kernel.slots = (tenon_list_t){&slots[k], 1, sizeof(slots[k])};
    measuring_world(&world, &kernel, 1);
    test_fixture_t* b = &world.fixture;
    tenon_value_t x = test_input(b, "x", DIMS(ROWS, 8));
    x = k == 0 ? test_unary(b, "test.ramp/1", "before", x) : x;
    const tenon_value_t w = test_floats(b, "w", weights, DIMS(8, 8));
    const tenon_value_t h = test_node(b, "test.dense/1", "dense", x, w, NO_VALUE);
    add_output(b, h);
    if (k == 1) {
      EXPECT_STATUS(b->build->output(b->builder, test_unary(b, "test.ramp/1", "beside", h), "z"),
                    TENON_OK);
    }
    EXPECT_TEXT(build_steps(&world, text), k == 0 ? "expressions/evaluator slot/default"
                                                  : "slot/default expressions/evaluator");
    EXPECT_CONTAINS(world.fixture.messages.text,
                    "tests:slot (default) is not used: it computes "
                    "something else than its nodes one by one: largest");
    core_world_end(&world);
  }
}

TENON_TEST(a_pattern_that_computes_nothing_is_found) {
  tenon_kernel_t kernels[] = {dense_of("dense", run_right), dense_of("nothing", core_write_zeros)};
  char text[512];
  core_world_t world;
  kernels[1].operators = NULL;
  kernels[1].pattern = "h = test.dense/1(x, w); y = test.ramp/1(h)";
  measuring_world(&world, kernels, 2);
  make_dense_and_ramp(&world.fixture);
  EXPECT_TEXT(build_steps(&world, text), "dense/default expressions/evaluator");
  EXPECT_CONTAINS(world.fixture.messages.text,
                  "tests:nothing (default) is not used: it computes "
                  "something else than its nodes one by one: largest");
  core_world_end(&world);
}

/* ---- The timing cache ---- */

static int calls;

static tenon_status_t count_and_write_zeros(const tenon_enqueue_t* call) {
  calls += 1;
  return core_write_zeros(call);
}

static tenon_status_t count_and_compute(const tenon_enqueue_t* call) {
  calls += 1;
  return run_right(call);
}

/* What was checked stays so, and what was found wrong is not tried again. */
TENON_TEST(a_warm_cache_remembers_who_was_wrong) {
  const tenon_kernel_t kernels[] = {dense_of("nothing", count_and_write_zeros),
                                    dense_of("right", count_and_compute), oracle()};
  tenon__timing_cache_t* cache = NULL;
  char text[512];
  EXPECT_STATUS(tenon__timing_cache_create(tenon__allocator_default(), &cache), TENON_OK);
  for (int k = 0; k < 3; ++k) {
    core_world_t world;
    measuring_world(&world, kernels, 3);
    world.options.cache = cache;
    world.options.tuning.no_measuring = k == 2;
    make_ones(&world.fixture, ROWS, TERMS);
    calls = 0;
    EXPECT_TEXT(build_steps(&world, text), "right/default");
    EXPECT_INT(calls > 0, k == 0);
    EXPECT_CONTAINS(refusals_of(&world, 0), "tests:nothing (default): is wrong");
    core_world_end(&world);
  }
  tenon__timing_cache_destroy(cache);
}

/* Each was measured alone, in a build that excluded the other and had no reference. */
TENON_TEST(a_warm_cache_does_not_trust_what_was_never_compared) {
  const tenon_kernel_t kernels[] = {dense_of("nothing", count_and_write_zeros),
                                    dense_of("right", count_and_compute), oracle()};
  static const char* const without[3][2] = {{"tests:nothing", NULL}, {"tests:right", NULL}, {NULL}};
  tenon__timing_cache_t* cache = NULL;
  char text[512];
  EXPECT_STATUS(tenon__timing_cache_create(tenon__allocator_default(), &cache), TENON_OK);
  for (int k = 0; k < 4; ++k) {
    core_world_t world;
    measuring_world(&world, kernels, k < 2 ? 2 : 3);
    world.options.cache = cache;
    world.options.tuning.exclude = without[k < 2 ? k : 2];
    make_ones(&world.fixture, ROWS, TERMS);
    calls = 0;
    EXPECT_TEXT(build_steps(&world, text), k == 1 ? "nothing/default" : "right/default");
    EXPECT_INT(calls > 0, k < 3);
    core_world_end(&world);
  }
  EXPECT_INT(tenon__timing_cache_count(cache), 2);
  tenon__timing_cache_destroy(cache);
}
