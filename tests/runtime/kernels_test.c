/* Plans from outside that hand a kernel what it never accepted: refused when they are loaded, with
 * the step, the kernel and the reason. */
#include "core/plan/plan_file.h"
#include "tests/support/core_world.h"

static int32_t refuse(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                      tenon_refusal_t* out_refusal) {
  (void)state;
  (void)region;
  (void)table;
  *out_refusal = (tenon_refusal_t){.reason = TENON_REFUSAL_SHAPE, .detail = "too square"};
  return 0;
}

/* The second input is a constant. */
static int32_t want_constant(void* state, const tenon_region_t* region,
                             const tenon_region_table_t* table, tenon_refusal_t* out_refusal) {
  const uint32_t weights = table->node_input(region, 0, 1);
  (void)state;
  out_refusal->reason = TENON_REFUSAL_CONSTANT_REQUIRED;
  return table->value(region, weights)->constant_data != NULL ? 1 : 0;
}

/* The contract counts the parameters. NOLINTNEXTLINE(readability-function-size) */
static tenon_status_t pack_second(void* state, const tenon_region_t* region,
                                  const tenon_region_table_t* table, const tenon_tactic_t* tactic,
                                  tenon_preparation_t* preparation,
                                  const tenon_prepare_table_t* host, void** out_instance) {
  const uint32_t source = table->node_input(region, 0, 1);
  int32_t is_ready = 0;
  (void)state;
  (void)tactic;
  return host->pack(preparation, "tests.zeros/1", NULL, &source, 1, 64, out_instance, &is_ready);
}

static const char* const takes_dense[] = {"test.dense/1", NULL};
static const char* const takes_compress[] = {"test.compress/1", NULL};
static const tenon_slot_t epilogue = {.size = sizeof(tenon_slot_t),
                                      .kind = TENON_SLOT_EPILOGUE,
                                      .max_operands = 2,
                                      .broadcasts = TENON_BROADCAST_SCALAR};

#define KERNEL(kernel_name, ...)                                                          \
  {                                                                                       \
    .size = sizeof(tenon_kernel_t), .name = (kernel_name), .device = "cpu", .version = 1, \
    .enqueue = core_do_nothing, __VA_ARGS__                                               \
  }

/* Of those that take it the first by name is chosen. */
static const tenon_kernel_t kernels[] = {
    KERNEL("choosy", .operators = takes_dense, .match = refuse, .slots = &epilogue, .slot_count = 1,
           .slot_stride = sizeof(tenon_slot_t)),
    KERNEL("compress", .operators = takes_compress),
    KERNEL("dense", .operators = takes_dense, .slots = &epilogue, .slot_count = 1,
           .slot_stride = sizeof(tenon_slot_t)),
    KERNEL("plain", .operators = takes_dense),
};

static tenon_value_t add_dense(test_bench_t* b, const char* name, tenon_value_t x) {
  const float numbers[64] = {(float)strlen(name)}; /* equal ones would be merged */
  char weights[32];
  (void)snprintf(weights, sizeof(weights), "%s_w", name);
  return test_node(b, "test.dense/1", name, x, test_floats(b, weights, numbers, DIMS(8, 8)),
                   NO_VALUE);
}

/* x, dense, max(x, 0), y: one step. */
static tenon_value_t make_dense(test_bench_t* b) {
  return test_unary(b, "test.ramp/1", "ramp",
                    add_dense(b, "dense", test_input(b, "x", DIMS(8, 8))));
}

static const tenon__operator_t* find_operator(void* user, const char* name) {
  return tenon__catalog_operator(user, name, NULL);
}

/* Loads the plan with its only step changed; the words say why not. */
static void expect_refused(core_world_t* world, tenon_value_t y,
                           void (*change)(tenon__step_t* step), const char* words) {
  tenon__plan_t* plan = NULL;
  void* data = NULL;
  size_t size = 0;
  EXPECT_STATUS(world->bench.build->output(world->bench.builder, y, "y"), TENON_OK);
  REQUIRE(core_world_build(world) == TENON_OK);
  REQUIRE(tenon__plan_read(world->bench.allocator, world->plan, world->plan_size, find_operator,
                           world->catalog, &world->sink, &plan) == TENON_OK);
  EXPECT_INT(plan->schedules[0].step_count, 1);
  change(&plan->schedules[0].steps[0]);
  EXPECT_STATUS(tenon__plan_write(plan, world->bench.allocator, &world->sink, &data, &size),
                TENON_OK);
  const tenon__engine_options_t options = {.allocator = world->bench.allocator,
                                           .sink = &world->sink};
  EXPECT_STATUS(tenon__engine_create(world->catalog, data, size, &options, &world->engine),
                TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(world->bench.messages.text, "step 'dense': kernel '");
  EXPECT_CONTAINS(world->bench.messages.text, words);
  tenon__plan_destroy(plan);
  tenon__free(world->bench.allocator, data, size);
  core_world_end(world);
}

static const char* other_kernel;

static void name_another(tenon__step_t* step) {
  EXPECT_TEXT(step->kernel, "dense");
  step->kernel = other_kernel;
}

static void expect_kernel_refused(const char* kernel, const char* words) {
  core_world_t world;
  core_world_begin(&world, kernels, sizeof kernels / sizeof kernels[0]);
  other_kernel = kernel;
  expect_refused(&world, make_dense(&world.bench), name_another, words);
}

TENON_TEST(a_kernel_for_another_operator_is_refused) {
  expect_kernel_refused("compress", "does not take it: is for another operator: test.dense/1");
}

TENON_TEST(a_kernel_for_another_form_is_refused) {
  expect_kernel_refused("expressions", "does not take it: is for another operator");
  expect_kernel_refused("moves", "does not take it: is for another operator");
}

TENON_TEST(a_kernel_without_the_slot_is_refused) {
  expect_kernel_refused("plain", "does not take it: cannot take the neighbours' arithmetic");
}

TENON_TEST(a_kernel_that_does_not_match_is_refused) {
  expect_kernel_refused("choosy", "does not take it: does not take these extents: too square");
}

/* ---- Several nodes ---- */

static void swap_weights(tenon__step_t* step) {
  struct tenon_region_t* region = tenon__drop_const(step->region);
  tenon__region_input_t* inputs = tenon__drop_const(region->inputs);
  uint32_t* places = tenon__drop_const(step->inputs);
  const tenon__region_input_t input = inputs[1];
  const uint32_t place = places[1];
  inputs[1] = inputs[2];
  places[1] = places[2];
  inputs[2] = input;
  places[2] = place;
}

static void expect_pair_refused(const tenon_kernel_t* kernel) {
  core_world_t world;
  core_world_begin(&world, kernel, 1);
  const tenon_value_t x = test_input(&world.bench, "x", DIMS(8, 8));
  const tenon_value_t t = add_dense(&world.bench, "before", x);
  expect_refused(&world, add_dense(&world.bench, "dense", t), swap_weights,
                 "does not take it: is for another operator: its nodes and arguments are not as");
}

static uint32_t propose_all(void* state, const tenon_region_t* graph,
                            const tenon_region_table_t* table, uint32_t seed, uint32_t* out_nodes,
                            uint32_t capacity) {
  const uint32_t count = table->node_count(graph);
  (void)state;
  for (uint32_t k = 0; seed == 0 && k < count && k < capacity; ++k) {
    out_nodes[k] = count - 1 - k; /* the last is the main one */
  }
  return seed == 0 && count <= capacity ? count : 0;
}

TENON_TEST(arguments_in_another_order_are_refused) {
  const tenon_kernel_t pattern =
      KERNEL("pattern", .pattern = "t = test.dense/1(a, b); y = test.dense/1(t, c)");
  const tenon_kernel_t proposal = KERNEL("proposal", .propose = propose_all);
  expect_pair_refused(&pattern);
  expect_pair_refused(&proposal);
}

/* Of packed weights a plan may hold the packed ones alone: they are constants nevertheless. */
TENON_TEST(constants_are_constants_without_their_bytes) {
  static const float zeros[64];
  const tenon_kernel_t kernel =
      KERNEL("packing", .operators = takes_dense, .match = want_constant, .prepare = pack_second);
  core_world_t world;
  core_world_begin(&world, &kernel, 1);
  test_bench_t* b = &world.bench;
  const tenon_value_t y = add_dense(b, "dense", test_input(b, "x", DIMS(8, 8)));
  EXPECT_STATUS(b->build->output(b->builder, y, "y"), TENON_OK);
  world.options.tuned_only = true;
  if (core_world_start(&world)) {
    const tenon__plan_t* plan = tenon__engine_plan(world.engine);
    EXPECT(plan->network->weights_count > 0 && plan->network->weights[0].data == NULL);
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(8, 8), zeros), TENON_OK);
    core_world_expect_ran(&world);
  }
  core_world_end(&world);
}

/* ---- Failing ---- */

static bool is_failing;

static tenon_status_t fail_in_silence(void* instance, tenon_binding_t* binding,
                                      const tenon_bind_table_t* host, void** out_bound) {
  (void)instance;
  (void)binding;
  (void)host;
  *out_bound = NULL;
  return is_failing ? TENON_ERROR_UNSUPPORTED : TENON_OK;
}

TENON_TEST(a_kernel_that_fails_without_a_word_is_named) {
  static const float zeros[64];
  const tenon_kernel_t kernel = KERNEL("silent", .operators = takes_dense, .bind = fail_in_silence);
  core_world_t world;
  core_world_begin(&world, &kernel, 1);
  test_bench_t* b = &world.bench;
  const tenon_value_t y = add_dense(b, "dense", test_input(b, "x", DIMS(8, 8)));
  EXPECT_STATUS(b->build->output(b->builder, y, "y"), TENON_OK);
  if (core_world_start(&world)) {
    is_failing = true;
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(8, 8), zeros), TENON_OK);
    EXPECT_STATUS(tenon__context_run(world.context), TENON_ERROR_UNSUPPORTED);
    is_failing = false;
    EXPECT_CONTAINS(world.bench.messages.text,
                    "dense (test.dense/1, tests:silent): the kernel cannot be "
                    "bound to these shapes: unsupported");
  }
  core_world_end(&world);
}
