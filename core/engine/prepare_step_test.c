/* Plans from outside that hand a kernel what it never accepted: refused when they are loaded, with
 * the step, the kernel and the reason. */
#include "tests/support/core_world.h"

/* The second input is a constant. */
static int32_t want_constant(void* state, const tenon_region_t* region,
                             const tenon_region_table_t* table, tenon_refusal_t* out_refusal) {
  const uint32_t weights = table->node_input(region, 0, 1);
  (void)state;
  out_refusal->reason = TENON_REFUSAL_CONSTANT_REQUIRED;
  return table->value(region, weights)->constant_data != NULL ? 1 : 0;
}

static const char* const takes_dense[] = {"test.dense/1", NULL};
static const char* const takes_compress[] = {"test.compress/1", NULL};
static const tenon_slot_t epilogue[] = {{.size = sizeof(tenon_slot_t),
                                         .kind = TENON_SLOT_EPILOGUE,
                                         .max_operands = 2,
                                         .broadcasts = TENON_BROADCAST_SCALAR}};

#define KERNEL(kernel_name, ...)                                                          \
  {                                                                                       \
    .size = sizeof(tenon_kernel_t), .name = (kernel_name), .device = "cpu", .version = 1, \
    .enqueue = core_do_nothing, __VA_ARGS__                                               \
  }

/* Of those that take it the first by name is chosen. */
static const tenon_kernel_t kernels[] = {
    KERNEL("choosy", .operators = takes_dense, .match = core_refuse, .slots = TENON_LIST(epilogue)),
    KERNEL("compress", .operators = takes_compress),
    KERNEL("dense", .operators = takes_dense, .slots = TENON_LIST(epilogue)),
    KERNEL("plain", .operators = takes_dense),
};

static tenon_value_t add_dense(test_fixture_t* b, const char* name, tenon_value_t x) {
  const float numbers[64] = {(float)strlen(name)}; /* equal ones would be merged */
  char weights[32];
  (void)snprintf(weights, sizeof(weights), "%s_w", name);
  return test_node(b, "test.dense/1", name, x, test_floats(b, weights, numbers, DIMS(8, 8)),
                   NO_VALUE);
}

/* x, dense, max(x, 0), y: one step. */
static tenon_value_t make_dense(test_fixture_t* b) {
  return test_unary(b, "test.ramp/1", "ramp",
                    add_dense(b, "dense", test_input(b, "x", DIMS(8, 8))));
}

/* Loads the plan with its only step changed; the words say why not. */
static void expect_refused(core_world_t* world, tenon_value_t y,
                           void (*change)(tenon__plan_t* plan), const char* message) {
  EXPECT_STATUS(world->fixture.build->output(world->fixture.builder, y, "y"), TENON_OK);
  EXPECT_STATUS(core_world_load_changed(world, change), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(world->fixture.messages.text, "step 'dense': kernel '");
  EXPECT_CONTAINS(world->fixture.messages.text, message);
  core_world_end(world);
}

static tenon__step_t* only_step(tenon__plan_t* plan) {
  EXPECT_INT(plan->schedules[0].step_count, 1);
  return &plan->schedules[0].steps[0];
}

static const char* other_kernel;

static void name_another(tenon__plan_t* plan) {
  tenon__step_t* step = only_step(plan);
  EXPECT_TEXT(step->kernel, "dense");
  step->kernel = other_kernel;
}

static void expect_kernel_refused(const char* kernel, const char* message) {
  core_world_t world;
  core_world_begin(&world, kernels, sizeof kernels / sizeof kernels[0]);
  other_kernel = kernel;
  expect_refused(&world, make_dense(&world.fixture), name_another, message);
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

static void swap_weights(tenon__plan_t* plan) {
  tenon__step_t* step = only_step(plan);
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
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(8, 8));
  const tenon_value_t t = add_dense(&world.fixture, "before", x);
  expect_refused(&world, add_dense(&world.fixture, "dense", t), swap_weights,
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
  const tenon_kernel_t kernel = KERNEL("packing", .operators = takes_dense, .match = want_constant,
                                       .prepare = core_pack_second);
  core_world_t world;
  core_world_begin(&world, &kernel, 1);
  test_fixture_t* b = &world.fixture;
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

/* ---- Weights that are not there ---- */

static void forget_weights(tenon__plan_t* plan) {
  static const bool kept[1] = {false};
  EXPECT_INT(plan->network->weights_count, 1);
  plan->weights_kept = kept;
}

TENON_TEST(weights_that_a_step_reads_are_kept) {
  const tenon_kernel_t kernel = KERNEL("dense", .operators = takes_dense);
  core_world_t world;
  core_world_begin(&world, &kernel, 1);
  test_fixture_t* b = &world.fixture;
  const tenon_value_t y = add_dense(b, "dense", test_input(b, "x", DIMS(8, 8)));
  EXPECT_STATUS(b->build->output(b->builder, y, "y"), TENON_OK);
  EXPECT_STATUS(core_world_load_changed(&world, forget_weights), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(world.fixture.messages.text,
                  "step 'dense' reads weights 'dense_w', which it does not keep");
  core_world_end(&world);
}

/* ---- Tactics ---- */

enum { TILE_SCRATCH = 4096, TILE_ZEROED = 192 };

static tenon_status_t list_tiles(void* state, const tenon_region_t* region,
                                 const tenon_region_table_t* table, tenon_emit_t* emit,
                                 tenon_status_t (*add)(tenon_emit_t* emit,
                                                       const tenon_tactic_t* tactic)) {
  static const uint8_t tiles[2] = {4, 8};
  (void)state;
  (void)region;
  (void)table;
  for (size_t k = 0; k < 2; ++k) {
    const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                   .name = "tiles",
                                   .configuration = &tiles[k],
                                   .configuration_size = 1,
                                   .scratch_bytes = TILE_SCRATCH,
                                   .zeroed_bytes = TILE_ZEROED};
    const tenon_status_t status = add(emit, &tactic);
    if (status != TENON_OK) {
      return status;
    }
  }
  return TENON_OK;
}

/* Uses what it asked for. */
static tenon_status_t fill_scratch(const tenon_enqueue_t* call) {
  memset(call->host->scratch(call->run), 1, TILE_SCRATCH);
  memset(call->host->zeroed(call->run), 0, TILE_ZEROED);
  return TENON_OK;
}

static tenon_status_t load_tiles(core_world_t* world, void (*change)(tenon__plan_t* plan)) {
  static const tenon_kernel_t kernel = {.size = sizeof(kernel),
                                        .name = "tiles",
                                        .device = "cpu",
                                        .version = 1,
                                        .operators = takes_dense,
                                        .tactics = list_tiles,
                                        .enqueue = fill_scratch};
  core_world_begin(world, &kernel, 1);
  test_fixture_t* b = &world->fixture;
  const tenon_value_t y = add_dense(b, "dense", test_input(b, "x", DIMS(8, 8)));
  EXPECT_STATUS(b->build->output(b->builder, y, "y"), TENON_OK);
  return core_world_load_changed(world, change);
}

static void needs_nothing(tenon__plan_t* plan) {
  only_step(plan)->tactic.scratch_bytes = 0;
  only_step(plan)->tactic.zeroed_bytes = 0;
  plan->devices[0].scratch_bytes = 0;
  plan->devices[0].zeroed_bytes = 0;
}
static void needs_a_lot(tenon__plan_t* plan) {
  only_step(plan)->tactic.scratch_bytes = UINT64_C(1) << 60;
  plan->devices[0].scratch_bytes = UINT64_C(1) << 60;
}

/* Whatever a plan says of it. */
TENON_TEST(kernels_get_the_memory_that_they_ask_for) {
  static const float zeros[64];
  void (*const changes[])(tenon__plan_t * plan) = {needs_nothing, needs_a_lot};
  for (size_t k = 0; k < sizeof changes / sizeof changes[0]; ++k) {
    core_world_t world;
    EXPECT_STATUS(load_tiles(&world, changes[k]), TENON_OK);
    REQUIRE(world.engine != NULL);
    EXPECT_INT(tenon__engine_plan(world.engine)->devices[0].scratch_bytes, TILE_SCRATCH);
    EXPECT_INT(tenon__engine_plan(world.engine)->devices[0].zeroed_bytes, TILE_ZEROED);
    EXPECT_STATUS(tenon__context_create(world.engine, 0, NULL, &world.context), TENON_OK);
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(8, 8), zeros), TENON_OK);
    core_world_expect_ran(&world);
    core_world_end(&world);
  }
}

static void keep_as_it_is(tenon__plan_t* plan) {
  (void)plan;
}

/* More than there is: said with its numbers, before anything of it is touched. */
TENON_TEST(memory_that_no_machine_has_is_refused) {
  static const uint64_t sizes[] = {UINT64_MAX - 31, UINT64_MAX, UINT64_C(1) << 60};
  static const char* const messages[] = {"more scratch for", "more scratch for",
                                         "scratch (1152921504606846976)"};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
    core_world_t world;
    EXPECT_STATUS(load_tiles(&world, keep_as_it_is), TENON_OK);
    REQUIRE(world.engine != NULL);
    tenon__plan_t* plan = tenon__drop_const(tenon__engine_plan(world.engine));
    only_step(plan)->tactic.scratch_bytes = sizes[k];
    EXPECT_STATUS(tenon__context_create(world.engine, 0, NULL, &world.context),
                  TENON_ERROR_OUT_OF_MEMORY);
    EXPECT_CONTAINS(world.fixture.messages.text, messages[k]);
    core_world_end(&world);
  }
}

static void names_no_tactic(tenon__plan_t* plan) {
  only_step(plan)->tactic.name = "bricks";
}
static void configures_what_was_not_listed(tenon__plan_t* plan) {
  static const uint8_t six = 6;
  only_step(plan)->tactic.configuration = &six;
}
static void allows_strides(tenon__plan_t* plan) {
  static const tenon_argument_rule_t rules[2] = {
      {.kind = TENON_LAYOUT_ANY, .flags = TENON_RULE_STRIDED}, {.kind = TENON_LAYOUT_ROW_MAJOR}};
  only_step(plan)->tactic.input_rules = rules;
}

TENON_TEST(tactics_that_the_kernel_does_not_have_are_refused) {
  void (*const changes[])(tenon__plan_t * plan) = {names_no_tactic, configures_what_was_not_listed,
                                                   allows_strides};
  for (size_t k = 0; k < sizeof changes / sizeof changes[0]; ++k) {
    core_world_t world;
    EXPECT_STATUS(load_tiles(&world, changes[k]), TENON_ERROR_INVALID_DATA);
    EXPECT_CONTAINS(world.fixture.messages.text,
                    "kernel 'tiles' of plugin 'tests' does not take it");
    EXPECT_CONTAINS(world.fixture.messages.text, "it has no such tactic");
    core_world_end(&world);
  }
}

/* ---- What a kernel depends on ---- */

static const char* depend_on_library(void* state, tenon_device_t* device) {
  (void)state;
  (void)device;
  return "library 7";
}

static void chosen_with_another(tenon__plan_t* plan) {
  only_step(plan)->validity = "library 6";
}
static void chosen_without(tenon__plan_t* plan) {
  only_step(plan)->validity = "";
}

/* The plan is neither broken nor right: who may make it again does. */
TENON_TEST(a_plan_of_another_library_is_not_used) {
  static const tenon_kernel_t kernel =
      KERNEL("library", .operators = takes_dense, .validity = depend_on_library);
  void (*const changes[])(tenon__plan_t * plan) = {keep_as_it_is, chosen_with_another,
                                                   chosen_without};
  static const char* const messages[] = {NULL,
                                         "was chosen with library 6, here it is with library 7",
                                         "was chosen with nothing else, here it is with library 7"};
  for (size_t k = 0; k < sizeof changes / sizeof changes[0]; ++k) {
    core_world_t world;
    core_world_begin(&world, &kernel, 1);
    test_fixture_t* b = &world.fixture;
    const tenon_value_t y = add_dense(b, "dense", test_input(b, "x", DIMS(8, 8)));
    EXPECT_STATUS(b->build->output(b->builder, y, "y"), TENON_OK);
    EXPECT_STATUS(core_world_load_changed(&world, changes[k]),
                  k == 0 ? TENON_OK : TENON_ERROR_NOT_FOUND);
    if (k > 0) {
      EXPECT_CONTAINS(world.fixture.messages.text,
                      "step 'dense': kernel 'library' of plugin 'tests'");
      EXPECT_CONTAINS(world.fixture.messages.text, messages[k]);
    }
    core_world_end(&world);
  }
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
  test_fixture_t* b = &world.fixture;
  const tenon_value_t y = add_dense(b, "dense", test_input(b, "x", DIMS(8, 8)));
  EXPECT_STATUS(b->build->output(b->builder, y, "y"), TENON_OK);
  if (core_world_start(&world)) {
    is_failing = true;
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(8, 8), zeros), TENON_OK);
    EXPECT_STATUS(tenon__context_run(world.context), TENON_ERROR_UNSUPPORTED);
    is_failing = false;
    EXPECT_CONTAINS(world.fixture.messages.text,
                    "dense (test.dense/1, tests:silent): the kernel cannot be "
                    "bound to these shapes: unsupported");
  }
  core_world_end(&world);
}

/* ---- Zeroed memory ---- */

static int64_t found_there;

static tenon_status_t ask_for_a_counter(void* state, const tenon_region_t* region,
                                        const tenon_region_table_t* table, tenon_emit_t* emit,
                                        tenon_status_t (*add)(tenon_emit_t* emit,
                                                              const tenon_tactic_t* tactic)) {
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic), .name = "counter", .zeroed_bytes = sizeof(int64_t)};
  (void)state;
  (void)region;
  (void)table;
  return add(emit, &tactic);
}

/* Counts and puts the counter back to zero, unless it fails in between. */
static tenon_status_t count_and_clear(const tenon_enqueue_t* call) {
  int64_t* counter = call->host->zeroed(call->run);
  found_there = *counter;
  *counter += 7;
  if (is_failing) {
    return call->host->fail(call->run, TENON_ERROR_INTERNAL, "between two writes");
  }
  *counter = 0;
  return TENON_OK;
}

TENON_TEST(zeroed_memory_is_zero_after_a_run_that_failed) {
  static const float zeros[64];
  const tenon_kernel_t kernel = {.size = sizeof(kernel),
                                 .name = "counting",
                                 .device = "cpu",
                                 .version = 1,
                                 .operators = takes_dense,
                                 .tactics = ask_for_a_counter,
                                 .enqueue = count_and_clear};
  static const bool fails[] = {false, true, true, false, true, false, false};
  core_world_t world;
  core_world_begin(&world, &kernel, 1);
  test_fixture_t* b = &world.fixture;
  const tenon_value_t y = add_dense(b, "dense", test_input(b, "x", DIMS(8, 8)));
  EXPECT_STATUS(b->build->output(b->builder, y, "y"), TENON_OK);
  if (core_world_start(&world)) {
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(8, 8), zeros), TENON_OK);
    for (size_t k = 0; k < sizeof fails / sizeof fails[0]; ++k) {
      is_failing = fails[k];
      EXPECT_STATUS(tenon__context_run(world.context), fails[k] ? TENON_ERROR_INTERNAL : TENON_OK);
      EXPECT_INT(found_there, 0);
    }
  }
  is_failing = false;
  core_world_end(&world);
}
