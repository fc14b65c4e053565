/* A tactic that asks for bf16 or f16 gets it where the build permits that and the whole gets
 * faster, with conversions in the expressions around it. */
#include "tests/support/types_world.h"

/* x, its ramp, two products with ones and a ramp between them and behind. With `first_row` the
 * first product is with that alone. */
static void make_chain(test_fixture_t* b, const float* first_row) {
  static float ones[COLUMNS * COLUMNS];
  static float rows[COLUMNS * COLUMNS];
  for (size_t k = 0; k < sizeof ones / sizeof *ones; ++k) {
    ones[k] = 1;
    rows[k] = first_row == NULL ? 1 : first_row[k % COLUMNS];
  }
  const tenon_value_t x = test_input(b, "x", DIMS(ROWS, COLUMNS));
  const tenon_value_t w = test_floats(b, "w", ones, DIMS(COLUMNS, COLUMNS));
  const tenon_value_t first = test_unary(b, "test.ramp/1", "first", x);
  const tenon_value_t v = test_floats(b, "v", rows, DIMS(COLUMNS, COLUMNS));
  const tenon_value_t one = test_node(b, "test.dense/1", "one", first, v, NO_VALUE);
  const tenon_value_t second = test_unary(b, "test.ramp/1", "second", one);
  const tenon_value_t two = test_node(b, "test.dense/1", "two", second, w, NO_VALUE);
  const tenon_value_t third = test_unary(b, "test.ramp/1", "third", two);
  add_output(b, third);
}

static void run_ones(core_world_t* world) {
  static float ones[ROWS * COLUMNS];
  for (size_t k = 0; k < sizeof ones / sizeof *ones; ++k) {
    ones[k] = 1;
  }
  EXPECT_STATUS(core_world_set(world, 0, TENON_DTYPE_FLOAT32, DIMS(ROWS, COLUMNS), ones), TENON_OK);
  core_world_expect_ran(world);
  const tenon_argument_t* y = tenon__context_get_output(world->context, 0);
  EXPECT_INT(y->tensor.dtype, TENON_DTYPE_FLOAT32);
  EXPECT_NEAR(((const float*)y->tensor.data)[0], COLUMNS * COLUMNS, 0);
}

TENON_TEST(a_tactic_that_asks_for_bf16_gets_it) {
  const tenon_kernel_t kernels[] = {plain_kernel(), narrow_kernel()};
  for (int measured = 0; measured < 2; ++measured) {
    char text[512];
    core_world_t world;
    core_world_begin(&world, kernels, 2);
    make_chain(&world.fixture, NULL);
    world.options.tuning.permits = TENON__PERMIT_BF16;
    world.options.tuning.no_measuring = measured == 0;
    /* In a measured build, times decide if a conversion is a step of its own. */
    const char* steps = build_steps(&world, text);
    const char* first = strstr(steps, "narrow/bf16 ");
    EXPECT(first != NULL && strstr(first + 1, "narrow/bf16 expressions/evaluator") != NULL);
    EXPECT(strstr(steps, "plain") == NULL);
    EXPECT_INT(kept_as(&world, "two"), TENON_DTYPE_BFLOAT16);
    EXPECT_INT(kept_as(&world, "third"), TENON_DTYPE_UNDEFINED);
    if (measured == 0) {
      EXPECT_TEXT(steps,
                  "expressions/evaluator narrow/bf16 expressions/evaluator narrow/bf16 "
                  "expressions/evaluator");
      EXPECT_INT(kept_as(&world, "first"), TENON_DTYPE_BFLOAT16);
    }
    run_ones(&world);
    core_world_end(&world);
  }
}

/* Rows of a view that do not lie in rows are made whole in the type that the view is kept in. */
TENON_TEST(a_view_is_made_whole_in_its_type) {
  static float ones[COLUMNS * COLUMNS];
  static const int64_t dims[] = {ROWS, COLUMNS};
  const tenon_kernel_t kernels[] = {plain_kernel(), narrow_kernel()};
  char text[512];
  core_world_t world;
  for (size_t k = 0; k < sizeof ones / sizeof *ones; ++k) {
    ones[k] = 1;
  }
  core_world_begin(&world, kernels, 2);
  test_fixture_t* b = &world.fixture;
  const tenon_value_t x = test_input(b, "x", DIMS(ROWS, COLUMNS));
  const tenon_value_t w = test_floats(b, "w", ones, DIMS(COLUMNS, COLUMNS));
  const tenon_value_t shape = test_vector(b, "shape", dims, 2);
  const tenon_value_t first = test_unary(b, "test.ramp/1", "first", x);
  const tenon_value_t one = test_node(b, "test.dense/1", "one", first, w, NO_VALUE);
  const tenon_value_t turned = test_permute(b, "turned", one, DIMS(1, 0));
  const tenon_value_t flat = test_binary(b, "test.reshape/1", "flat", turned, shape);
  const tenon_value_t two = test_node(b, "test.dense/1", "two", flat, w, NO_VALUE);
  const tenon_value_t last = test_unary(b, "test.ramp/1", "last", two);
  add_output(b, last);
  world.options.tuning.permits = TENON__PERMIT_BF16;
  world.options.tuning.no_measuring = true;
  EXPECT_TEXT(
      build_steps(&world, text),
      "expressions/evaluator narrow/bf16 moves/evaluator narrow/bf16 expressions/evaluator");
  core_world_end(&world);
}

TENON_TEST(without_permission_it_is_refused) {
  const tenon_kernel_t kernels[] = {plain_kernel(), narrow_kernel()};
  char text[512];
  core_world_t world;
  core_world_begin(&world, kernels, 2);
  make_chain(&world.fixture, NULL);
  world.options.tuning.permits = TENON__PERMIT_F16;
  world.options.tuning.keep_refusals = true;
  EXPECT_TEXT(build_steps(&world, text),
              "expressions/evaluator plain/f32 expressions/evaluator plain/f32 "
              "expressions/evaluator");
  EXPECT_CONTAINS(refusals_of(&world, 1), "narrow (bf16)");
  run_ones(&world);
  core_world_end(&world);
}

/* ---- On samples ---- */

static const float differences[COLUMNS] = {1, -1};

/* Rows of `first` and then `others`, until it is called again. */
static const tenon__input_sample_t* sample_of(float first, float others) {
  static float data[ROWS * COLUMNS];
  static const int64_t dims[] = {ROWS, COLUMNS, -2};
  static const int64_t strides[] = {COLUMNS, 1};
  static const tenon_tensor_view_t view = {
      .data = data, .dims = dims, .strides = strides, .rank = 2, .dtype = TENON_DTYPE_FLOAT32};
  static const tenon__input_sample_t sample = {&view, 1};
  for (int k = 0; k < ROWS * COLUMNS; ++k) {
    data[k] = k % COLUMNS == 0 ? first : others;
  }
  return &sample;
}

/* A chain of differences between the first two columns. */
static void begin_differences(core_world_t* world, const tenon_kernel_t kernels[2],
                              uint32_t permits) {
  core_world_begin(world, kernels, 2);
  make_chain(&world->fixture, differences);
  world->options.tuning.permits = permits;
  world->options.tuning.keep_refusals = true;
}

/* Runs it; the first of what comes out. */
static float first_result(core_world_t* world, const tenon__input_sample_t* sample) {
  const tenon_tensor_view_t* view = &sample->inputs[0];
  EXPECT_STATUS(core_world_set(world, 0, view->dtype, view->dims, view->data), TENON_OK);
  core_world_expect_ran(world);
  return ((const float*)tenon__context_get_output(world->context, 0)->tensor.data)[0];
}

/* 1000.25 - 1000, which bf16 does not know of: its numbers there are 4 apart. */
TENON_TEST(what_bf16_ruins_stays_as_it_is) {
  const tenon_kernel_t kernels[] = {plain_kernel(), narrow_kernel()};
  const tenon__input_sample_t* sample = sample_of(1000.25F, 1000);
  char text[512];
  core_world_t world;
  begin_differences(&world, kernels, TENON__PERMIT_BF16);
  world.options.samples = sample;
  world.options.sample_count = 1;
  EXPECT_TEXT(build_steps(&world, text),
              "expressions/evaluator plain/f32 expressions/evaluator narrow/bf16 "
              "expressions/evaluator");
  EXPECT_CONTAINS(refusals_of(&world, 0),
                  "types: 'first' stays as it is: in bf16, by itself, it changes the results by 1");
  EXPECT_INT(kept_as(&world, "first"), TENON_DTYPE_UNDEFINED);
  EXPECT_INT(kept_as(&world, "two"), TENON_DTYPE_BFLOAT16);
  EXPECT_NEAR(first_result(&world, sample), 0.25 * COLUMNS, 0);
  core_world_end(&world);
}

/* 70001 - 70000: f16 ends at 65504. */
TENON_TEST(what_f16_cannot_hold_stays_as_it_is) {
  tenon_kernel_t kernels[] = {plain_kernel(), narrow_kernel()};
  const tenon__input_sample_t* sample = sample_of(70001, 70000);
  char text[512];
  core_world_t world;
  kernels[1].tactics = in_f16;
  begin_differences(&world, kernels, TENON__PERMIT_F16);
  world.options.samples = sample;
  world.options.sample_count = 1;
  EXPECT_TEXT(build_steps(&world, text),
              "expressions/evaluator plain/f32 expressions/evaluator narrow/f16 "
              "expressions/evaluator");
  EXPECT_CONTAINS(refusals_of(&world, 0),
                  "types: 'first' stays as it is: it reaches 7e+04, and f16 65504");
  EXPECT_CONTAINS(world.fixture.messages.text,
                  "'first' stays as it is: it reaches 7e+04, and f16 65504");
  EXPECT_INT(kept_as(&world, "first"), TENON_DTYPE_UNDEFINED);
  EXPECT_INT(kept_as(&world, "two"), TENON_DTYPE_FLOAT16);
  EXPECT_NEAR(first_result(&world, sample), COLUMNS, 0);
  core_world_end(&world);
}

/* The same without samples: nobody looks, and it is lost. */
TENON_TEST(without_samples_a_permit_is_taken_at_its_word) {
  tenon_kernel_t kernels[] = {plain_kernel(), narrow_kernel()};
  char text[512];
  core_world_t world;
  kernels[1].tactics = in_f16;
  begin_differences(&world, kernels, TENON__PERMIT_F16);
  EXPECT_TEXT(build_steps(&world, text),
              "expressions/evaluator narrow/f16 expressions/evaluator narrow/f16 "
              "expressions/evaluator");
  EXPECT_INT(kept_as(&world, "first"), TENON_DTYPE_FLOAT16);
  EXPECT(strstr(world.fixture.messages.text, "stays as it is") == NULL);
  EXPECT(first_result(&world, sample_of(70001, 70000)) != COLUMNS);
  core_world_end(&world);
}

TENON_TEST(what_is_to_be_kept_is_kept) {
  static const char* const kept[] = {"one", NULL};
  static const char* const unknown[] = {"none", NULL};
  const tenon_kernel_t kernels[] = {plain_kernel(), narrow_kernel()};
  char text[512];
  core_world_t world;
  core_world_begin(&world, kernels, 2);
  make_chain(&world.fixture, NULL);
  world.options.tuning.permits = TENON__PERMIT_BF16;
  world.options.kept = unknown;
  EXPECT_STATUS(core_world_build(&world), TENON_ERROR_NOT_FOUND);
  EXPECT_CONTAINS(world.fixture.messages.text, "there is no value 'none' to keep in its type");
  world.options.kept = kept;
  EXPECT_TEXT(build_steps(&world, text),
              "expressions/evaluator plain/f32 expressions/evaluator narrow/bf16 "
              "expressions/evaluator");
  core_world_end(&world);
}
