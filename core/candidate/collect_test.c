/* Tactics that a plan cannot carry out are refused when it is built; and whatever a kernel says, or
 * leaves unsaid, reaches the user with its name. */
#include "tests/support/tactics_world.h"

enum { ROWS = 4, TERMS = 16 };

/* Built with one kernel that is refused beside one that is taken. */
static void expect_refused(const tenon_kernel_t* kernel, const char* message) {
  const tenon_kernel_t kernels[] = {*kernel, dense_of("right", run_right)};
  char text[512];
  core_world_t world;
  measuring_world(&world, kernels, 2);
  make_ones(&world.fixture, ROWS, TERMS);
  EXPECT_TEXT(build_steps(&world, text), "right/default");
  EXPECT_CONTAINS(refusals_of(&world, 0), message);
  core_world_end(&world);
  /* Alone, the build fails with the same words. */
  measuring_world(&world, kernel, 1);
  make_ones(&world.fixture, ROWS, TERMS);
  EXPECT_STATUS(core_world_build(&world), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(world.fixture.messages.text, "node 'dense' (test.dense/1): no kernel on device");
  EXPECT_CONTAINS(world.fixture.messages.text, message);
  core_world_end(&world);
}

static tenon_kernel_t kernel_of(const char* name,
                                tenon_status_t (*tactics)(void*, const tenon_region_t*,
                                                          const tenon_region_table_t*,
                                                          tenon_emit_t*, add_t)) {
  tenon_kernel_t kernel = dense_of(name, run_right);
  kernel.tactics = tactics;
  return kernel;
}

/* ---- Shapes ---- */

TACTICS(for_one_shape) {
  IGNORE_REGION();
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic), .name = "exact", .flags = TENON_TACTIC_EXACT_SHAPES};
  return add(to, &tactic);
}

static void set_profile(core_world_t* world, tenon__build_range_t* range, const int64_t* min,
                        const int64_t* max) {
  *range = (tenon__build_range_t){.input = "x", .rank = 2, .min = min, .optimum = max, .max = max};
  world->options.ranges = range;
  world->options.range_count = 1;
}

TACTICS(not_twice_the_same) {
  static const tenon_numerics_t numerics = {.size = sizeof(numerics), .nondeterministic = 1};
  IGNORE_REGION();
  const tenon_tactic_t tactic = {.size = sizeof(tactic), .name = "any", .numerics = &numerics};
  return add(to, &tactic);
}

TENON_TEST(what_differs_from_run_to_run_needs_a_permission) {
  const tenon_kernel_t kernel = kernel_of("dice", not_twice_the_same);
  char text[512];
  core_world_t world;
  expect_refused(&kernel,
                 "dice (any): exceeds the numerics that the build permits: two runs of it");
  measuring_world(&world, &kernel, 1);
  make_ones(&world.fixture, ROWS, TERMS);
  world.options.tuning.permits = TENON__PERMIT_NONDETERMINISTIC;
  EXPECT_TEXT(build_steps(&world, text), "dice/any");
  core_world_end(&world);
}

TENON_TEST(a_tactic_for_one_shape_needs_a_profile_of_one) {
  static const int64_t least[] = {1, TERMS};
  static const int64_t most[] = {4, TERMS};
  const tenon_kernel_t kernels[] = {kernel_of("exact", for_one_shape),
                                    dense_of("right", run_right)};
  for (int k = 0; k < 2; ++k) {
    char text[512];
    core_world_t world;
    tenon__build_range_t range;
    measuring_world(&world, kernels, k == 0 ? 2 : 1);
    make_ones(&world.fixture, -1, TERMS);
    set_profile(&world, &range, k == 0 ? least : most, most);
    EXPECT_TEXT(build_steps(&world, text), k == 0 ? "right/default" : "exact/exact");
    if (k == 0) {
      EXPECT_CONTAINS(refusals_of(&world, 0),
                      "tests:exact (exact): needs shapes that are known when building: the tactic "
                      "is for one shape, the profile has more");
    }
    core_world_end(&world);
  }
}

/* ---- Layouts ---- */

static const uint32_t in_order[2] = {1, 0};
static const uint32_t no_order[2] = {1, 1};
static const tenon_layout_t* wanted;

TACTICS(in_wanted_layout) {
  const tenon_argument_rule_t rules[2] = {{.kind = TENON_LAYOUT_EXACT, .layout = wanted}, {0}};
  IGNORE_REGION();
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic), .name = "wants", .inputs = rules, .estimate_seconds = 1e-9};
  return add(to, &tactic);
}

TENON_TEST(layouts_that_are_none_are_refused) {
  static const tenon_layout_t none[] = {
      {.size = sizeof(tenon_layout_t), .rank = 3},
      {.size = sizeof(tenon_layout_t), .rank = 2, .order = no_order},
  };
  const tenon_kernel_t kernel = kernel_of("wants", in_wanted_layout);
  for (size_t k = 0; k < sizeof none / sizeof *none; ++k) {
    wanted = &none[k];
    expect_refused(&kernel,
                   "tests:wants (wants): cannot read or write the layout: a rule's layout");
  }
  wanted = NULL;
  expect_refused(&kernel, "tests:wants (wants): cannot read or write the layout: a rule's layout");
}

TACTICS(after_nobody) {
  const tenon_argument_rule_t rule = {.kind = TENON_LAYOUT_FOLLOWS, .argument = 2};
  IGNORE_REGION();
  const tenon_tactic_t tactic = {.size = sizeof(tactic), .name = "follows", .outputs = &rule};
  return add(to, &tactic);
}

TACTICS(over_nobody) {
  const tenon_argument_rule_t rule = {.in_place = 4};
  IGNORE_REGION();
  const tenon_tactic_t tactic = {.size = sizeof(tactic), .name = "in place", .outputs = &rule};
  return add(to, &tactic);
}

TENON_TEST(rules_that_name_no_input_are_refused) {
  tenon_kernel_t kernel = kernel_of("stray", after_nobody);
  expect_refused(&kernel, "tests:stray (follows): cannot read or write the layout: a rule has an");
  kernel.tactics = over_nobody;
  expect_refused(&kernel, "tests:stray (in place): cannot read or write the layout: a rule has an");
}

static tenon_argument_rule_t odd_rule;

TACTICS(with_odd_output) {
  IGNORE_REGION();
  const tenon_tactic_t tactic = {.size = sizeof(tactic), .name = "odd", .outputs = &odd_rule};
  return add(to, &tactic);
}

TENON_TEST(rules_that_ask_what_there_is_not_are_refused) {
  static const struct {
    tenon_argument_rule_t rule;
    const char* message;
  } rows[] = {
      {{.flags = 1u << 7}, "a rule has an unknown kind"},
      {{.alignment = 24}, "a rule has an unknown kind"},
      {{.alignment = 128}, "a rule has an unknown kind"},
      {{.dtype = TENON_DTYPE_COUNT}, "a rule has an unknown kind"},
      {{.more = &odd_rule}, "a rule has an unknown kind"},
      {{.dtype = TENON_DTYPE_FLOAT16}, "asks for another element type than the network's"},
      {{.flags = TENON_RULE_HOST}, "an output's rule says HOST"},
  };
  const tenon_kernel_t kernel = kernel_of("odd", with_odd_output);
  for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
    char message[256];
    odd_rule = rows[k].rule;
    (void)snprintf(message, sizeof message, "tests:odd (odd): cannot read or write the layout: %s",
                   rows[k].message);
    expect_refused(&kernel, message);
  }
}

/* ---- Words ---- */

TACTICS(fail_without_words) {
  (void)to;
  (void)add;
  IGNORE_REGION();
  return TENON_ERROR_INVALID_DATA;
}

TACTICS(offer_none) {
  (void)to;
  (void)add;
  IGNORE_REGION();
  return TENON_OK;
}

TENON_TEST(tactics_that_fail_or_are_none_are_told) {
  tenon_kernel_t kernel = kernel_of("mute", fail_without_words);
  expect_refused(&kernel,
                 "tests:mute: failed when it was tried: its function `tactics`: invalid "
                 "data");
  kernel.tactics = offer_none;
  expect_refused(&kernel, "tests:mute: see the detail: it offers no tactic");
}

static int32_t refuse_without_reason(void* state, const tenon_region_t* region,
                                     const tenon_region_table_t* table,
                                     tenon_refusal_t* out_refusal) {
  IGNORE_REGION();
  (void)out_refusal;
  return 0;
}

TENON_TEST(a_refusal_without_a_reason_is_one) {
  tenon_kernel_t kernel = dense_of("mute", run_right);
  kernel.match = refuse_without_reason;
  expect_refused(&kernel,
                 "tests:mute: see the detail: its function `match` refuses and gives no "
                 "reason");
}

static tenon_status_t prepare_with_message(const tenon_prepare_t* call, void** out_instance) {
  const tenon_sink_t* sink = call->host->sink(call->preparation);
  (void)out_instance;
  sink->report(sink->user, TENON_SEVERITY_ERROR, "the tables do not fit");
  return TENON_ERROR_UNSUPPORTED;
}

static tenon_status_t bind_without_memory(void* instance, tenon_binding_t* binding,
                                          const tenon_bind_table_t* host, void** out_bound) {
  (void)instance;
  (void)binding;
  (void)host;
  (void)out_bound;
  return TENON_ERROR_OUT_OF_MEMORY;
}

static tenon_status_t fail_with_words(const tenon_enqueue_t* call) {
  return call->host->fail(call->run, TENON_ERROR_INVALID_DATA, "index 7 out of range");
}

static tenon_status_t fail_silently(const tenon_enqueue_t* call) {
  (void)call;
  return TENON_ERROR_DEVICE;
}

TACTICS(for_giants) {
  IGNORE_REGION();
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic), .name = "giant", .scratch_bytes = (uint64_t)1 << 60};
  return add(to, &tactic);
}

TENON_TEST(what_a_kernel_says_while_it_is_tried_is_heard) {
  tenon_kernel_t kernel = dense_of("wordy", run_right);
  kernel.prepare = prepare_with_message;
  expect_refused(&kernel, "tests:wordy (default): failed when it was tried: the tables do not fit");
  kernel = dense_of("wordy", run_right);
  kernel.bind = bind_without_memory;
  expect_refused(&kernel,
                 "tests:wordy (default): failed when it was tried: the kernel cannot be "
                 "bound to these shapes: out of memory");
  kernel = dense_of("wordy", fail_with_words);
  expect_refused(&kernel, "tests:wordy (default): failed when it was tried: index 7 out of range");
  kernel = dense_of("wordy", fail_silently);
  expect_refused(
      &kernel, "tests:wordy (default): failed when it was tried: the kernel failed: device failed");
  kernel = kernel_of("wordy", for_giants);
  expect_refused(&kernel,
                 "tests:wordy (giant): failed when it was tried: there is no memory for "
                 "1152921504606846976 bytes of scratch");
}

/* Also for who only listens: before anybody asks why. */
TENON_TEST(trials_are_told_as_they_go_wrong) {
  const tenon_kernel_t kernels[] = {dense_of("wordy", fail_with_words),
                                    dense_of("right", run_right)};
  char text[512];
  core_world_t world;
  measuring_world(&world, kernels, 2);
  world.options.tuning.keep_refusals = false;
  make_ones(&world.fixture, ROWS, TERMS);
  EXPECT_TEXT(build_steps(&world, text), "right/default");
  EXPECT_CONTAINS(
      world.fixture.messages.text,
      "node 'dense' (test.dense/1), trying tests:wordy (default): index 7 out of range");
  core_world_end(&world);
}

/* When it runs: node, operator, plugin and kernel stand before the words. */
TENON_TEST(what_a_kernel_says_when_it_runs_has_its_name) {
  static const float zeros[ROWS * TERMS];
  static const char prefix[] = "dense (test.dense/1, tests:wordy): ";
  const struct {
    tenon_status_t (*enqueue)(const tenon_enqueue_t*);
    const char* message;
  } rows[] = {{fail_with_words, "index 7 out of range"},
              {fail_silently, "the kernel failed: device failed"}};
  for (int k = 0; k < 2; ++k) {
    const tenon_kernel_t kernel = dense_of("wordy", rows[k].enqueue);
    char message[128];
    core_world_t world;
    core_world_begin(&world, &kernel, 1);
    make_ones(&world.fixture, ROWS, TERMS);
    REQUIRE(core_world_start(&world));
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(ROWS, TERMS), zeros),
                  TENON_OK);
    EXPECT(tenon__context_run(world.context) != TENON_OK);
    (void)snprintf(message, sizeof(message), "%s%s", prefix, rows[k].message);
    EXPECT_CONTAINS(world.fixture.messages.text, message);
    core_world_end(&world);
  }
}

/* ---- FOLLOWS ---- */

static const tenon_operator_t pair_op = {OPERATOR("test.pair/1"),
                                         INPUTS(PORT("a", "f32", 0), PORT("b", "f32", 0)),
                                         OUTPUTS(PORT("y", "f32", 0)), .shape = "y = a"};

/* a in rows; b in columns; y as b lies. */
TACTICS(after_the_second) {
  static const tenon_layout_t columns = {
      .size = sizeof(tenon_layout_t), .name = "columns", .order = in_order, .rank = 2};
  const tenon_argument_rule_t inputs[2] = {{0}, {.kind = TENON_LAYOUT_EXACT, .layout = &columns}};
  const tenon_argument_rule_t output = {.kind = TENON_LAYOUT_FOLLOWS, .argument = 1};
  IGNORE_REGION();
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic), .name = "as b", .inputs = inputs, .outputs = &output};
  return add(to, &tactic);
}

/* b as it comes, a as b lies, y in rows. */
TACTICS(first_after_second) {
  const tenon_argument_rule_t inputs[2] = {{.kind = TENON_LAYOUT_FOLLOWS, .argument = 1},
                                           {.kind = TENON_LAYOUT_ANY}};
  const tenon_argument_rule_t output = {.kind = TENON_LAYOUT_FOLLOWS, .argument = 0};
  IGNORE_REGION();
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic), .name = "as b", .inputs = inputs, .outputs = &output};
  return add(to, &tactic);
}

/* Counts on it: element after element of b, and of y. */
static tenon_status_t add_in_order(const tenon_enqueue_t* call) {
  const tenon_tensor_view_t* b = &call->inputs[1].tensor;
  const tenon_tensor_view_t* y = &call->outputs[0].tensor;
  if (b->strides[0] != y->strides[0] || b->strides[1] != y->strides[1]) {
    return call->host->fail(call->run, TENON_ERROR_INTERNAL, "y does not lie as b does");
  }
  for (int64_t i = 0; i < y->dims[0]; ++i) {
    for (int64_t j = 0; j < y->dims[1]; ++j) {
      *element_of(y, i, j) = *element_of(&call->inputs[0].tensor, i, j) + *element_of(b, i, j);
    }
  }
  return TENON_OK;
}

static void expect_followed(tenon_status_t (*tactics)(void*, const tenon_region_t*,
                                                      const tenon_region_table_t*, tenon_emit_t*,
                                                      add_t)) {
  static const char* const takes_pairs[] = {"test.pair/1", NULL};
  static const float a[] = {1, 2, 3, 4, 5, 6};
  static const float b[] = {10, 20, 30, 40, 50, 60};
  const tenon__operator_t* op = NULL;
  core_world_t world;
  tenon_kernel_t kernel = dense_of("pair", add_in_order);
  kernel.operators = takes_pairs;
  kernel.tactics = tactics;
  measuring_world(&world, &kernel, 1);
  test_fixture_t* fixture = &world.fixture;
  EXPECT_STATUS(tenon__operator_admit(&fixture->arena, &pair_op, "tests", NULL, NULL, &op),
                TENON_OK);
  fixture->operators[0] = op; /* instead of one that is not needed */
  core_world_offer(&world, &world.owner, "operator/1", &pair_op, 1, sizeof(pair_op));
  const tenon_value_t x = test_input(fixture, "a", DIMS(2, 3));
  /* Lies in columns, as a view: its transpose is the network's input. */
  const tenon_value_t turned =
      test_permute(fixture, "turned", test_input(fixture, "b", DIMS(3, 2)), DIMS(1, 0));
  EXPECT_STATUS(fixture->build->output(fixture->builder,
                                       test_binary(fixture, "test.pair/1", "pair", x, turned), "y"),
                TENON_OK);
  REQUIRE(core_world_start(&world));
  EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(2, 3), a), TENON_OK);
  EXPECT_STATUS(core_world_set(&world, 1, TENON_DTYPE_FLOAT32, DIMS(3, 2), b), TENON_OK);
  core_world_expect_ran(&world);
  EXPECT_FLOATS(&world, 0, 11, 32, 53, 24, 45, 66);
  core_world_end(&world);
}

TENON_TEST(what_follows_an_input_lies_as_that_input) {
  expect_followed(after_the_second);
  expect_followed(first_after_second);
}
