/* A tactic that asks for bf16 or f16 gets it where the build permits that and the whole gets
 * faster, with conversions in the expressions around it. */
#include "core/base/file.h"
#include "core/tensor/dtype.h"
#include "tests/tactics/kernels.h"

enum { ROWS = 4, COLUMNS = 8 };

TACTICS(in_f32) {
  IGNORE_REGION();
  const tenon_tactic_t tactic = {.size = sizeof(tactic), .name = "f32", .estimate_seconds = 100e-6};
  return add(to, &tactic);
}

static tenon_status_t add_narrow(tenon_emit_t* to, add_t add, tenon_dtype_t dtype, double seconds) {
  const bool is_f16 = dtype == TENON_DTYPE_FLOAT16;
  const tenon_argument_rule_t inputs[2] = {{.dtype = dtype}, {0}};
  const tenon_argument_rule_t output = {.dtype = dtype};
  const tenon_numerics_t numerics = {.product_mantissa_bits = is_f16 ? 10 : 7,
                                     .product_exponent_bits = is_f16 ? 5 : 8};
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = is_f16 ? "f16" : "bf16",
                                 .inputs = inputs,
                                 .outputs = &output,
                                 .numerics = &numerics,
                                 .estimate_seconds = seconds};
  return add(to, &tactic);
}

TACTICS(in_bf16) {
  IGNORE_REGION();
  return add_narrow(to, add, TENON_DTYPE_BFLOAT16, 30e-6);
}

TACTICS(in_f16) {
  IGNORE_REGION();
  return add_narrow(to, add, TENON_DTYPE_FLOAT16, 30e-6);
}

/* What a product gains is less than the microsecond that a conversion takes. */
TACTICS(in_bf16_somewhat_faster) {
  IGNORE_REGION();
  return add_narrow(to, add, TENON_DTYPE_BFLOAT16, 9.5e-6);
}

TACTICS(in_bf16_of_little_use) {
  IGNORE_REGION();
  return add_narrow(to, add, TENON_DTYPE_BFLOAT16, 99.5e-6);
}

TACTICS(in_f32_fast) {
  IGNORE_REGION();
  const tenon_tactic_t tactic = {.size = sizeof(tactic), .name = "f32", .estimate_seconds = 10e-6};
  return add(to, &tactic);
}

/* For who is timed: slower than anything else here. */
static tenon_status_t run_slowly(const tenon_enqueue_t* call) {
  const double end = tenon__seconds() + 2e-3;
  while (tenon__seconds() < end) {
  }
  return run_right(call);
}

static float at(const tenon_tensor_view_t* view, int64_t row, int64_t column) {
  const int64_t place = row * view->strides[0] + column * view->strides[1];
  return (float)tenon__element_load(view->data, view->dtype, (uint64_t)place).f;
}

static tenon_status_t run_narrow(const tenon_enqueue_t* call) {
  const tenon_tensor_view_t* x = &call->inputs[0].tensor;
  const tenon_tensor_view_t* w = &call->inputs[1].tensor;
  const tenon_tensor_view_t* y = &call->outputs[0].tensor;
  EXPECT(x->dtype == TENON_DTYPE_BFLOAT16 || x->dtype == TENON_DTYPE_FLOAT16);
  EXPECT_INT(w->dtype, TENON_DTYPE_FLOAT32);
  EXPECT_INT(y->dtype, x->dtype);
  for (int64_t i = 0; i < y->dims[0]; ++i) {
    for (int64_t j = 0; j < y->dims[1]; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < x->dims[1]; ++k) {
        sum += (double)at(x, i, k) * (double)at(w, j, k);
      }
      tenon__element_store(y->data, y->dtype, (uint64_t)(i * y->strides[0] + j * y->strides[1]),
                           (tenon__scalar_t){.f = sum}, TENON_DTYPE_FLOAT32);
    }
  }
  return TENON_OK;
}

static tenon_kernel_t plain_kernel(void) {
  tenon_kernel_t kernel = dense_of("plain", run_slowly);
  kernel.tactics = in_f32;
  return kernel;
}

static tenon_kernel_t narrow_kernel(void) {
  tenon_kernel_t kernel = dense_of("narrow", run_narrow);
  kernel.tactics = in_bf16;
  return kernel;
}

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

static tenon_dtype_t kept_as(const core_world_t* world, const char* name) {
  const tenon__plan_t* plan = tenon__engine_plan(world->engine);
  const tenon__graph_t* g = plan->network->graphs[0];
  for (uint32_t p = 0; p < plan->schedules[0].place_count; ++p) {
    const tenon__place_t* place = &plan->schedules[0].places[p];
    if (strcmp(g->values[place->value].name, name) == 0) {
      return place->dtype;
    }
  }
  tenon__test_fail(__FILE__, __LINE__, "there is no value '%s'", name);
  return TENON_DTYPE_UNDEFINED;
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
    EXPECT_TEXT(build_steps(&world, text),
                "expressions/evaluator narrow/bf16 expressions/evaluator narrow/bf16 "
                "expressions/evaluator");
    EXPECT_INT(kept_as(&world, "first"), TENON_DTYPE_BFLOAT16);
    EXPECT_INT(kept_as(&world, "two"), TENON_DTYPE_BFLOAT16);
    EXPECT_INT(kept_as(&world, "third"), TENON_DTYPE_UNDEFINED);
    run_ones(&world);
    core_world_end(&world);
  }
}

/* Products one behind the other, nothing between them that converts on the way: one by itself gains
 * nothing, for its neighbours would have to be given copies. */
TENON_TEST(of_a_chain_all_gain_together) {
  static float ones[COLUMNS * COLUMNS];
  tenon_kernel_t kernels[] = {plain_kernel(), narrow_kernel()};
  char text[512];
  core_world_t world;
  for (size_t k = 0; k < sizeof ones / sizeof *ones; ++k) {
    ones[k] = 1;
  }
  kernels[0].tactics = in_f32_fast;
  kernels[1].tactics = in_bf16_somewhat_faster;
  core_world_begin(&world, kernels, 2);
  test_fixture_t* b = &world.fixture;
  const tenon_value_t x = test_input(b, "x", DIMS(ROWS, COLUMNS));
  const tenon_value_t w = test_floats(b, "w", ones, DIMS(COLUMNS, COLUMNS));
  const tenon_value_t first = test_unary(b, "test.ramp/1", "first", x);
  const tenon_value_t one = test_node(b, "test.dense/1", "one", first, w, NO_VALUE);
  const tenon_value_t two = test_node(b, "test.dense/1", "two", one, w, NO_VALUE);
  const tenon_value_t three = test_node(b, "test.dense/1", "three", two, w, NO_VALUE);
  const tenon_value_t last = test_unary(b, "test.ramp/1", "last", three);
  add_output(b, last);
  world.options.tuning.permits = TENON__PERMIT_BF16;
  world.options.tuning.no_measuring = true;
  EXPECT_TEXT(build_steps(&world, text),
              "expressions/evaluator narrow/bf16 narrow/bf16 narrow/bf16 expressions/evaluator");
  EXPECT_INT(kept_as(&world, "two"), TENON_DTYPE_BFLOAT16);
  core_world_end(&world);
}

/* Products of 8 columns gain half a microsecond by bf16. Of others those by square matrices lose
 * more than a copy takes, and the rest gain less than two copies take. */
TACTICS(in_bf16_for_some) {
  const int64_t* w = table->value(region, table->input(region, 1))->dims_opt;
  (void)state;
  return add_narrow(to, add, TENON_DTYPE_BFLOAT16,
                    w[1] == COLUMNS ? 9.5e-6
                    : w[0] == w[1]  ? 11.2e-6
                                    : 9.2e-6);
}

/* Two neighbours gain together, and neither alone; elsewhere all in bf16 would be slower, and is no
 * faster where one of them is in f32. */
TENON_TEST(neighbours_gain_together) {
  tenon_kernel_t kernels[] = {plain_kernel(), narrow_kernel()};
  char text[512];
  core_world_t world;
  kernels[0].tactics = in_f32_fast;
  kernels[1].tactics = in_bf16_for_some;
  core_world_begin(&world, kernels, 2);
  test_fixture_t* b = &world.fixture;
  const tenon_value_t x = test_input(b, "x", DIMS(ROWS, COLUMNS));
  const tenon_value_t z = test_input(b, "z", DIMS(ROWS, 16));
  const tenon_value_t first = test_unary(b, "test.ramp/1", "first", x);
  const tenon_value_t two = add_dense(b, "two", add_dense(b, "one", first));
  const tenon_value_t other = test_unary(b, "test.ramp/1", "other", z);
  const tenon_value_t wide = add_dense_of(b, "wide", other, 32, 16);
  const tenon_value_t same = add_dense_of(b, "same", wide, 32, 32);
  const tenon_value_t again = add_dense_of(b, "again", same, 32, 32);
  const tenon_value_t end = add_dense_of(b, "end", again, 16, 32);
  EXPECT_STATUS(b->build->output(b->builder, test_unary(b, "test.ramp/1", "v", end), "v"),
                TENON_OK);
  add_output(b, test_unary(b, "test.ramp/1", "last", two));
  world.options.tuning.permits = TENON__PERMIT_BF16;
  world.options.tuning.no_measuring = true;
  EXPECT_TEXT(build_steps(&world, text),
              "expressions/evaluator narrow/bf16 narrow/bf16 expressions/evaluator plain/f32 "
              "plain/f32 plain/f32 plain/f32 expressions/evaluator expressions/evaluator");
  core_world_end(&world);
}

/* Products of 24 columns lose less by bf16 than a copy takes, others gain. */
TACTICS(in_bf16_but_for_one) {
  const int64_t* w = table->value(region, table->input(region, 1))->dims_opt;
  (void)state;
  return add_narrow(to, add, TENON_DTYPE_BFLOAT16, w[1] == 24 ? 10.7e-6 : 5e-6);
}

static tenon_value_t add_join(test_fixture_t* b, tenon_value_t left, tenon_value_t right) {
  tenon_value_t value = NO_VALUE;
  EXPECT_STATUS(b->build->begin(b->builder, "test.join/1", "join"), TENON_OK);
  EXPECT_STATUS(b->build->attribute_int(b->builder, "axis", 1), TENON_OK);
  EXPECT_STATUS(b->build->add_input(b->builder, left), TENON_OK);
  EXPECT_STATUS(b->build->add_input(b->builder, right), TENON_OK);
  EXPECT_STATUS(b->build->end(b->builder, &value, 1), TENON_OK);
  return value;
}

/* A move takes and makes all in one type: who leaves it for another makes copies on both sides of
 * it, of what lies beside it and of what it makes. */
TENON_TEST(what_is_joined_is_in_one_type) {
  tenon_kernel_t kernels[] = {plain_kernel(), narrow_kernel()};
  char text[512];
  core_world_t world;
  kernels[0].tactics = in_f32_fast;
  kernels[1].tactics = in_bf16_but_for_one;
  core_world_begin(&world, kernels, 2);
  test_fixture_t* b = &world.fixture;
  const tenon_value_t x = test_input(b, "x", DIMS(ROWS, COLUMNS));
  const tenon_value_t z = test_input(b, "z", DIMS(ROWS, 24));
  const tenon_value_t left = add_dense(b, "left", test_unary(b, "test.ramp/1", "first", x));
  const tenon_value_t right =
      add_dense_of(b, "right", test_unary(b, "test.ramp/1", "second", z), 8, 24);
  const tenon_value_t end = add_dense_of(b, "end", add_join(b, left, right), 8, 16);
  add_output(b, test_unary(b, "test.ramp/1", "last", end));
  world.options.tuning.permits = TENON__PERMIT_BF16;
  world.options.tuning.no_measuring = true;
  EXPECT_TEXT(build_steps(&world, text),
              "expressions/evaluator narrow/bf16 expressions/evaluator narrow/bf16 moves/evaluator "
              "narrow/bf16 expressions/evaluator");
  core_world_end(&world);
}

/* Two kernels that add what stands behind a product: one that takes all types, and a faster one
 * that asks for bf16 by its rules and knows no programs that convert. Both take microseconds. */
static const tenon_slot_t epilogue = {.size = sizeof(tenon_slot_t),
                                      .kind = TENON_SLOT_EPILOGUE,
                                      .max_operands = 2,
                                      .broadcasts = TENON_BROADCAST_FULL};

static tenon_kernel_t adding_kernel(const char* name, tactics_t tactics) {
  tenon_kernel_t kernel = dense_kernel(name, tactics);
  kernel.slots = &epilogue;
  kernel.slot_count = 1;
  kernel.slot_stride = sizeof(tenon_slot_t);
  return kernel;
}

static int32_t match_own_types(void* state, const tenon_region_t* region,
                               const tenon_region_table_t* table, tenon_refusal_t* out_refusal) {
  const tenon_program_t* program = table->slot_program(region, 0);
  bool is_own = program == NULL || program->outputs[0].dtype == TENON_DTYPE_FLOAT32;
  for (uint32_t k = 0; program != NULL && k < program->operand_count; ++k) {
    is_own = is_own && program->operands[k].dtype == TENON_DTYPE_FLOAT32;
  }
  (void)state, (void)out_refusal;
  return is_own ? 1 : 0;
}

TACTICS(all_in_bf16) {
  static const tenon_argument_rule_t inputs[3] = {
      {.dtype = TENON_DTYPE_BFLOAT16}, {0}, {.dtype = TENON_DTYPE_BFLOAT16}};
  static const tenon_argument_rule_t output = {.dtype = TENON_DTYPE_BFLOAT16};
  const tenon_numerics_t numerics = {.product_mantissa_bits = 7, .product_exponent_bits = 8};
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = "bf16",
                                 .inputs = inputs,
                                 .outputs = &output,
                                 .numerics = &numerics,
                                 .estimate_seconds = 20e-6};
  (void)state;
  return table->slot_program(region, 0) == NULL ? TENON_OK : add(to, &tactic);
}

TACTICS(any_type) {
  const tenon_tactic_t tactic = {.size = sizeof(tactic), .name = "any", .estimate_seconds = 27e-6};
  (void)state;
  return table->slot_program(region, 0) == NULL ? in_f32(state, region, table, to, add)
                                                : add(to, &tactic);
}

/* The sum's own type, or the other kernel, would cost more than what is gained before it. */
TENON_TEST(what_a_slot_reads_is_kept_as_its_tactic_asks) {
  tenon_kernel_t kernels[] = {adding_kernel("any", any_type), narrow_kernel(),
                              adding_kernel("adds", all_in_bf16)};
  char text[512];
  core_world_t world;
  kernels[1].tactics = in_bf16_of_little_use;
  kernels[2].match = match_own_types;
  core_world_begin(&world, kernels, 3);
  test_fixture_t* b = &world.fixture;
  const tenon_value_t x = test_input(b, "x", DIMS(ROWS, COLUMNS));
  const tenon_value_t z = test_input(b, "z", DIMS(ROWS, COLUMNS));
  const tenon_value_t first = test_unary(b, "test.ramp/1", "first", x);
  const tenon_value_t second = test_unary(b, "test.ramp/1", "second", z);
  const tenon_value_t product = add_dense(b, "product", second);
  const tenon_value_t side = add_dense(b, "side", first);
  const tenon_value_t sum = test_binary(b, "test.plus/1", "sum", product, side);
  add_output(b, test_unary(b, "test.ramp/1", "last", sum));
  world.options.tuning.permits = TENON__PERMIT_BF16;
  world.options.tuning.no_measuring = true;
  EXPECT_TEXT(build_steps(&world, text),
              "expressions/evaluator expressions/evaluator narrow/bf16 adds/bf16 "
              "expressions/evaluator");
  EXPECT_INT(kept_as(&world, "side"), TENON_DTYPE_BFLOAT16);
  core_world_end(&world);
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
