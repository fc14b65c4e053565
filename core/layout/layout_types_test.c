/* Types of several steps at once: what gains by a narrower one only where its neighbours have it.
 */
#include "tests/support/types_world.h"

/* A build that may narrow to bf16, by estimates. */
static void begin(core_world_t* world, const tenon_kernel_t* kernels, uint32_t count) {
  core_world_begin(world, kernels, count);
  world->options.tuning.permits = TENON__PERMIT_BF16;
  world->options.tuning.no_measuring = true;
}

static void expect_steps(core_world_t* world, int line, const char* steps) {
  char text[512];
  const char* made = build_steps(world, text);
  if (strcmp(made, steps) != 0) {
    tenon__test_fail(__FILE__, line, "the steps are %s", made);
  }
}

/* Products one behind the other, nothing between them that converts on the way: one by itself gains
 * nothing, for its neighbours would have to be given copies. */
TENON_TEST(of_a_chain_all_gain_together) {
  static float ones[COLUMNS * COLUMNS];
  tenon_kernel_t kernels[] = {plain_kernel(), narrow_kernel()};
  core_world_t world;
  for (size_t k = 0; k < sizeof ones / sizeof *ones; ++k) {
    ones[k] = 1;
  }
  kernels[0].tactics = in_f32_fast;
  kernels[1].tactics = in_bf16_somewhat_faster;
  begin(&world, kernels, 2);
  test_fixture_t* b = &world.fixture;
  const tenon_value_t x = test_input(b, "x", DIMS(ROWS, COLUMNS));
  const tenon_value_t w = test_floats(b, "w", ones, DIMS(COLUMNS, COLUMNS));
  const tenon_value_t first = test_unary(b, "test.ramp/1", "first", x);
  const tenon_value_t one = test_node(b, "test.dense/1", "one", first, w, NO_VALUE);
  const tenon_value_t two = test_node(b, "test.dense/1", "two", one, w, NO_VALUE);
  const tenon_value_t three = test_node(b, "test.dense/1", "three", two, w, NO_VALUE);
  const tenon_value_t last = test_unary(b, "test.ramp/1", "last", three);
  add_output(b, last);
  expect_steps(&world, __LINE__,
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
  core_world_t world;
  kernels[0].tactics = in_f32_fast;
  kernels[1].tactics = in_bf16_for_some;
  begin(&world, kernels, 2);
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
  expect_steps(&world, __LINE__,
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
  core_world_t world;
  kernels[0].tactics = in_f32_fast;
  kernels[1].tactics = in_bf16_but_for_one;
  begin(&world, kernels, 2);
  test_fixture_t* b = &world.fixture;
  const tenon_value_t x = test_input(b, "x", DIMS(ROWS, COLUMNS));
  const tenon_value_t z = test_input(b, "z", DIMS(ROWS, 24));
  const tenon_value_t left = add_dense(b, "left", test_unary(b, "test.ramp/1", "first", x));
  const tenon_value_t right =
      add_dense_of(b, "right", test_unary(b, "test.ramp/1", "second", z), 8, 24);
  const tenon_value_t end = add_dense_of(b, "end", add_join(b, left, right), 8, 16);
  add_output(b, test_unary(b, "test.ramp/1", "last", end));
  expect_steps(
      &world, __LINE__,
      "expressions/evaluator narrow/bf16 expressions/evaluator narrow/bf16 moves/evaluator "
      "narrow/bf16 expressions/evaluator");
  core_world_end(&world);
}

TACTICS(in_bf16_of_little_use) {
  IGNORE_REGION();
  return add_narrow(to, add, TENON_DTYPE_BFLOAT16, 99.5e-6);
}

/* Two kernels that add what stands behind a product: one that takes all types, and a faster one
 * that asks for bf16 by its rules and knows no programs that convert. Both take microseconds. */
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
  const tenon_numerics_t numerics = {
      .size = sizeof(numerics), .product_mantissa_bits = 7, .product_exponent_bits = 8};
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
  tenon_kernel_t kernels[] = {slot_kernel("any", any_type), narrow_kernel(),
                              slot_kernel("adds", all_in_bf16)};
  core_world_t world;
  kernels[1].tactics = in_bf16_of_little_use;
  kernels[2].match = match_own_types;
  begin(&world, kernels, 3);
  test_fixture_t* b = &world.fixture;
  const tenon_value_t x = test_input(b, "x", DIMS(ROWS, COLUMNS));
  const tenon_value_t z = test_input(b, "z", DIMS(ROWS, COLUMNS));
  const tenon_value_t first = test_unary(b, "test.ramp/1", "first", x);
  const tenon_value_t second = test_unary(b, "test.ramp/1", "second", z);
  const tenon_value_t product = add_dense(b, "product", second);
  const tenon_value_t side = add_dense(b, "side", first);
  const tenon_value_t sum = test_binary(b, "test.plus/1", "sum", product, side);
  add_output(b, test_unary(b, "test.ramp/1", "last", sum));
  expect_steps(&world, __LINE__,
               "expressions/evaluator expressions/evaluator narrow/bf16 adds/bf16 "
               "expressions/evaluator");
  EXPECT_INT(kept_as(&world, "side"), TENON_DTYPE_BFLOAT16);
  core_world_end(&world);
}
