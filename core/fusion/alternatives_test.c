/* Whole alternatives: what a kernel saves where it stands, and what that costs its neighbours. All
 * times are estimates, so that the choice is the same each time. */
#include <time.h>

#include "tests/support/tactics_world.h"

static const char* const takes_ramp[] = {"test.ramp/1", NULL};

/* What the arithmetic takes on its own, in core_world.h. */
#define EVALUATOR_SECONDS 1e-6

/* Row-major in and out. */
#define ROWS(function, seconds)                                                 \
  TACTICS(function) {                                                           \
    IGNORE_REGION();                                                            \
    const tenon_tactic_t tactic = {                                             \
        .size = sizeof(tactic), .name = "rows", .estimate_seconds = (seconds)}; \
    return add(to, &tactic);                                                    \
  }

/* Column after column in and out, whatever fills the slot. */
#define COLUMNS(function, seconds)                                                        \
  TACTICS(function) {                                                                     \
    static const uint32_t order[2] = {1, 0};                                              \
    static const tenon_layout_t columns = {                                               \
        .size = sizeof(tenon_layout_t), .name = "columns", .order = order, .rank = 2};    \
    const tenon_argument_rule_t exact = {.kind = TENON_LAYOUT_EXACT, .layout = &columns}; \
    const tenon_argument_rule_t inputs[4] = {exact};                                      \
    IGNORE_REGION();                                                                      \
    const tenon_tactic_t tactic = {.size = sizeof(tactic),                                \
                                   .name = "columns",                                     \
                                   .inputs = inputs,                                      \
                                   .outputs = &exact,                                     \
                                   .estimate_seconds = (seconds)};                        \
    return add(to, &tactic);                                                              \
  }

ROWS(as_quick, EVALUATOR_SECONDS)
ROWS(hardly_quicker, EVALUATOR_SECONDS * 0.97)
ROWS(quicker, EVALUATOR_SECONDS * 0.5)
ROWS(slower, EVALUATOR_SECONDS * 2)
COLUMNS(in_columns, 1e-4)

static tenon_status_t run_ramp(const tenon_enqueue_t* call) {
  const tenon_tensor_view_t* x = &call->inputs[0].tensor;
  for (int64_t k = 0; k < x->dims[0] * x->dims[1]; ++k) {
    const float value = ((const float*)x->data)[k];
    ((float*)call->outputs[0].tensor.data)[k] = value > 0 ? value : 0;
  }
  return TENON_OK;
}

static tenon_kernel_t kernel_of(const char* name, tactics_t tactics) {
  tenon_kernel_t kernel = dense_of(name, core_write_zeros);
  kernel.operators = NULL;
  kernel.tactics = tactics;
  return kernel;
}

static tenon_kernel_t ramp_of(tactics_t tactics) {
  tenon_kernel_t kernel = kernel_of("ramp", tactics);
  kernel.operators = takes_ramp;
  kernel.enqueue = run_ramp;
  return kernel;
}

static tenon_kernel_t pattern_of(const char* name, const char* pattern, tactics_t tactics) {
  tenon_kernel_t kernel = kernel_of(name, tactics);
  kernel.pattern = pattern;
  return kernel;
}

/* A product in columns, with a slot. */
static tenon_kernel_t dense_in_columns(void) {
  tenon_kernel_t kernel = kernel_of("dense", in_columns);
  kernel.operators = takes_dense;
  kernel.slots = (tenon_list_t)TENON_LIST(epilogue);
  return kernel;
}

static void open_world(core_world_t* world, const tenon_kernel_t* kernels, uint32_t count) {
  core_world_begin(world, kernels, count);
  world->options.tuning.keep_refusals = true;
}

/* x, max(x, 0), y. */
static void make_ramp(test_fixture_t* b) {
  add_output(b, test_unary(b, "test.ramp/1", "ramp", test_input(b, "x", DIMS(2, 2))));
}

/* x, then twice a product and max(x, 0), y: the second product has other weights, or the same. */
static void make_two(test_fixture_t* b, int64_t columns) {
  tenon_value_t v = test_input(b, "x", DIMS(4, 8));
  v = test_unary(b, "test.ramp/1", "first_ramp", add_dense_of(b, "first", v, columns, 8));
  v = test_unary(b, "test.ramp/1", "second_ramp", add_dense_of(b, "second", v, 8, columns));
  add_output(b, v);
}

/* ---- An operator with an expression, and a kernel for it ---- */

TENON_TEST(a_kernel_competes_with_its_operator_s_expression) {
  static const tactics_t tactics[] = {quicker, as_quick, hardly_quicker, slower};
  static const char* const refusals[] = {"1 node one by one: was slower",
                                         "tests:ramp: 1 node at once: was slower",
                                         "tests:ramp: 1 node at once: saves less than times vary",
                                         "tests:ramp: 1 node at once: was slower"};
  static const float data[] = {1, -1, 2, -2};
  for (size_t k = 0; k < sizeof tactics / sizeof *tactics; ++k) {
    const tenon_kernel_t kernel = ramp_of(tactics[k]);
    char text[512];
    core_world_t world;
    open_world(&world, &kernel, 1);
    make_ramp(&world.fixture);
    EXPECT_TEXT(build_steps(&world, text), k == 0 ? "ramp/rows" : "expressions/evaluator");
    EXPECT_CONTAINS(refusals_of(&world, 0), refusals[k]);
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(2, 2), data), TENON_OK);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 1, 0, 2, 0);
    core_world_end(&world);
  }
}

/* One kernel alone: what it computes is compared with the expression. */
TENON_TEST(a_wrong_one_is_found) {
  tenon_kernel_t kernel = ramp_of(quicker);
  char text[512];
  core_world_t world;
  kernel.enqueue = core_write_zeros;
  open_world(&world, &kernel, 1);
  make_ramp(&world.fixture);
  world.options.tuning.no_measuring = false;
  EXPECT_TEXT(build_steps(&world, text), "expressions/evaluator");
  EXPECT_CONTAINS(refusals_of(&world, 0), "computes something else");
  core_world_end(&world);
}

TENON_TEST(its_refusal_is_told) {
  tenon_kernel_t kernel = ramp_of(quicker);
  char text[512];
  core_world_t world;
  kernel.match = core_refuse;
  open_world(&world, &kernel, 1);
  make_ramp(&world.fixture);
  EXPECT_TEXT(build_steps(&world, text), "expressions/evaluator");
  EXPECT_CONTAINS(refusals_of(&world, 0),
                  "1 node at once: tests:ramp: does not take these extents: too square");
  core_world_end(&world);
}

TENON_TEST(one_node_a_step_is_no_fusion) {
  const tenon_kernel_t kernel = ramp_of(quicker);
  char text[512];
  core_world_t world;
  open_world(&world, &kernel, 1);
  make_ramp(&world.fixture);
  world.options.tuning.no_fusion = true;
  EXPECT_TEXT(build_steps(&world, text), "ramp/rows");
  core_world_end(&world);
}

/* Not even an estimate speaks for the kernel: that nobody else is there does. */
TENON_TEST(a_kernel_is_enough_where_nobody_computes_expressions) {
  tenon_kernel_t kernel = ramp_of(NULL);
  static const char* const exclude[] = {"tests:expressions", NULL};
  char text[512];
  core_world_t world;
  open_world(&world, &kernel, 1);
  make_ramp(&world.fixture);
  world.options.tuning.exclude = exclude;
  EXPECT_TEXT(build_steps(&world, text), "ramp/default");
  core_world_end(&world);
}

/* ---- Neighbours ---- */

/* Quicker than the evaluator where it stands, but in rows between products in columns. */
TENON_TEST(what_is_no_faster_slows_nothing) {
  const tenon_kernel_t dense = dense_in_columns();
  tenon_kernel_t kernels[] = {dense, ramp_of(quicker)};
  char plain[512];
  char text[512];
  core_world_t world;
  open_world(&world, &dense, 1);
  make_two(&world.fixture, 8);
  EXPECT_TEXT(build_steps(&world, plain),
              "moves/evaluator dense/columns dense/columns moves/evaluator");
  core_world_end(&world);
  for (int k = 0; k < 2; ++k) {
    kernels[1] = k == 0 ? ramp_of(quicker) : pattern_of("ramp", "y = test.ramp/1(x)", quicker);
    open_world(&world, kernels, 2);
    make_two(&world.fixture, 8);
    EXPECT_TEXT(build_steps(&world, text), plain);
    EXPECT_CONTAINS(refusals_of(&world, 1), "tests:ramp: 1 node at once: was slower");
    core_world_end(&world);
  }
}

ROWS(less_than_a_product_and_its_copies, 1.01e-4)
ROWS(more_than_a_product_and_its_copies, 1.03e-4)

/* Copies from anywhere to anywhere, in no time. */
TACTICS(quick_copies) {
  static const tenon_argument_rule_t any = {.kind = TENON_LAYOUT_ANY, .flags = TENON_RULE_STRIDED};
  IGNORE_REGION();
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = "copies",
                                 .inputs = &any,
                                 .outputs = &any,
                                 .estimate_seconds = 1e-9};
  return add(to, &tactic);
}

/* The kernel of moves says that a copy takes a microsecond: 101 in rows are less than 100 in
 * columns with two copies, 103 are more. */
TENON_TEST(copies_count) {
  static const char pattern[] = "t = test.dense/1(x, w); y = test.ramp/1(t)";
  for (int k = 0; k < 2; ++k) {
    const tenon_kernel_t kernels[] = {dense_in_columns(),
                                      pattern_of("both", pattern,
                                                 k == 0 ? less_than_a_product_and_its_copies
                                                        : more_than_a_product_and_its_copies)};
    char text[512];
    core_world_t world;
    open_world(&world, kernels, 2);
    test_fixture_t* b = &world.fixture;
    const tenon_value_t h = add_dense(b, "dense", test_input(b, "x", DIMS(4, 8)));
    add_output(b, test_unary(b, "test.ramp/1", "ramp", h));
    EXPECT_TEXT(build_steps(&world, text),
                k == 0 ? "both/rows" : "moves/evaluator dense/columns moves/evaluator");
    core_world_end(&world);
  }
}

/* As it says of itself, not as the core thinks: with copies in no time 101 in rows are too many. */
TENON_TEST(a_copy_takes_what_its_kernel_says) {
  static const char pattern[] = "t = test.dense/1(x, w); y = test.ramp/1(t)";
  tenon_kernel_t copies = core_moves;
  copies.name = "quick";
  copies.tactics = quick_copies;
  const tenon_kernel_t kernels[] = {
      dense_in_columns(), pattern_of("both", pattern, less_than_a_product_and_its_copies), copies};
  for (uint32_t count = 2; count <= 3; ++count) {
    char text[512];
    core_world_t world;
    open_world(&world, kernels, count);
    test_fixture_t* b = &world.fixture;
    const tenon_value_t h = add_dense(b, "dense", test_input(b, "x", DIMS(4, 8)));
    add_output(b, test_unary(b, "test.ramp/1", "ramp", h));
    EXPECT_TEXT(build_steps(&world, text),
                count == 2 ? "both/rows" : "quick/copies dense/columns quick/copies");
    core_world_end(&world);
  }
}

ROWS(a_little_more_than_a_product, 1.005e-4)

/* One of two different steps in rows would need as many copies as before; both need none. */
TENON_TEST(a_layout_that_pays_only_where_all_have_it_is_found) {
  static const char pattern[] = "t = test.dense/1(x, w); y = test.ramp/1(t)";
  const tenon_kernel_t kernels[] = {dense_in_columns(),
                                    pattern_of("both", pattern, a_little_more_than_a_product)};
  char text[512];
  core_world_t world;
  open_world(&world, kernels, 2);
  make_two(&world.fixture, 16);
  EXPECT_TEXT(build_steps(&world, text), "both/rows both/rows");
  core_world_end(&world);
}

/* ---- Fusions and layouts ---- */

static tenon_status_t wait_and_write(const tenon_enqueue_t* call, long milliseconds) {
  const struct timespec time = {.tv_nsec = milliseconds * 1000000};
  (void)nanosleep(&time, NULL);
  return core_write_zeros(call);
}

static tenon_status_t write_after_a_millisecond(const tenon_enqueue_t* call) {
  return wait_and_write(call, 1);
}

static tenon_status_t write_after_two(const tenon_enqueue_t* call) {
  return wait_and_write(call, 2);
}

static tenon_status_t copy_after_six(const tenon_enqueue_t* call) {
  const struct timespec time = {.tv_nsec = 6000000};
  (void)nanosleep(&time, NULL);
  return core_moves.enqueue(call);
}

/* A product with a slot in columns takes 1 ms and two copies of 6 ms. Another one in rows takes 2 ms
 * and has no slot. */
TENON_TEST(a_fusion_whose_copies_cost_more_than_it_saves_is_given_up) {
  static const char* const exclude[] = {"tests:moves", NULL};
  tenon_kernel_t kernels[] = {dense_in_columns(), dense_kernel("rows", as_quick), core_moves};
  char text[512];
  core_world_t world;
  kernels[0].enqueue = write_after_a_millisecond;
  kernels[1].enqueue = write_after_two;
  kernels[2].name = "slow";
  kernels[2].enqueue = copy_after_six;
  open_world(&world, kernels, 3);
  test_fixture_t* b = &world.fixture;
  world.options.tuning.no_measuring = false;
  world.options.tuning.exclude = exclude;
  const tenon_value_t h = add_dense(b, "dense", test_input(b, "x", DIMS(4, 8)));
  add_output(b, test_unary(b, "test.ramp/1", "ramp", h));
  EXPECT_TEXT(build_steps(&world, text), "rows/rows expressions/evaluator");
  EXPECT_CONTAINS(refusals_of(&world, 0), "all steps and copies together");
  core_world_end(&world);
}

/* ---- Claims that exclude each other ---- */

ROWS(middle, 0.6e-4)
ROWS(outer, 0.7e-4)

/* The middle one saves more than either of the outer ones, but less than both. */
TENON_TEST(of_overlapping_claims_those_are_taken_that_save_the_most_together) {
  const tenon_kernel_t kernels[] = {
      dense_in_columns(),
      pattern_of("middle", "t = test.ramp/1(x); y = test.dense/1(t, w)", middle),
      pattern_of("outer", "t = test.dense/1(x, w); y = test.ramp/1(t)", outer)};
  char text[512];
  core_world_t world;
  open_world(&world, kernels, 3);
  make_two(&world.fixture, 8);
  EXPECT_TEXT(build_steps(&world, text), "outer/rows outer/rows");
  core_world_end(&world);
}

/* ---- Large networks ---- */

/* More nodes than are looked at bear a name that a kernel knows, and refuses: a pattern is found
 * all the same. */
TENON_TEST(names_take_nothing_from_patterns) {
  enum { MANY = 4200 };
  static const char pattern[] = "t = test.dense/1(x, w); y = test.ramp/1(t)";
  tenon_kernel_t kernels[] = {dense_of("dense", core_write_zeros), ramp_of(quicker),
                              pattern_of("both", pattern, quicker)};
  core_world_t world;
  kernels[1].match = core_refuse;
  core_world_begin(&world, kernels, 3);
  test_fixture_t* b = &world.fixture;
  tenon_value_t v = test_input(b, "x", DIMS(8, 8));
  for (int k = 0; k < MANY; ++k) {
    v = test_unary(b, "test.ramp/1", NULL, v);
  }
  const float ones[64] = {0};
  const tenon_value_t w = test_floats(b, "w", ones, DIMS(8, 8));
  v = test_node(b, "test.dense/1", "dense", v, w, NO_VALUE);
  v = test_unary(b, "test.ramp/1", "last", v);
  add_output(b, v);
  if (core_world_start(&world)) {
    const tenon__schedule_t* schedule = schedule_of(&world);
    EXPECT_TEXT(schedule->steps[schedule->step_count - 1].kernel, "both");
    EXPECT_CONTAINS(b->messages.text,
                    "of what kernels name in 'main' the first 4096 are looked at");
  }
  core_world_end(&world);
}
