/* Times of different sorts: what was measured comes first, then what is estimated, then the rest;
 * what could not be timed is never 0 seconds. */
#include "tests/support/tactics_world.h"

enum { ROWS = 4, TERMS = 16 };

TACTICS(says_nothing) {
  IGNORE_REGION();
  const tenon_tactic_t tactic = {.size = sizeof(tactic), .name = "no idea"};
  return add(to, &tactic);
}

TACTICS(says_much) {
  IGNORE_REGION();
  const tenon_tactic_t tactic = {.size = sizeof(tactic), .name = "guess", .estimate_seconds = 1};
  return add(to, &tactic);
}

static tenon_kernel_t kernel_of(const char* name,
                                tenon_status_t (*tactics)(void*, const tenon_region_t*,
                                                          const tenon_region_table_t*,
                                                          tenon_emit_t*, add_t)) {
  tenon_kernel_t kernel = dense_of(name, run_right);
  kernel.tactics = tactics;
  return kernel;
}

TENON_TEST(no_idea_is_not_no_time) {
  const tenon_kernel_t kernels[] = {kernel_of("a", says_nothing), kernel_of("b", says_much)};
  char text[512];
  core_world_t world;
  measuring_world(&world, kernels, 2);
  world.options.tuning.no_measuring = true;
  make_ones(&world.fixture, ROWS, TERMS);
  EXPECT_TEXT(build_steps(&world, text), "b/guess");
  EXPECT_CONTAINS(refusals_of(&world, 0),
                  "tests:a (no idea): was slower: neither measured nor "
                  "estimated, this one estimated 1e+06 us");
  core_world_end(&world);
}

/* "slow" is known from a build before; the two others are new, and may not be measured. */
TENON_TEST(what_was_measured_is_preferred) {
  const tenon_kernel_t kernels[] = {kernel_of("a", says_nothing), kernel_of("b", says_much),
                                    kernel_of("slow", says_nothing)};
  static const char* const first[] = {"tests:a", "tests:b", NULL};
  tenon__timing_cache_t* cache = NULL;
  char text[512];
  EXPECT_STATUS(tenon__timing_cache_create(tenon__allocator_default(), &cache), TENON_OK);
  for (int k = 0; k < 3; ++k) {
    core_world_t world;
    measuring_world(&world, kernels, 3);
    world.options.cache = cache;
    world.options.tuning.exclude = k == 0 ? first : NULL;
    world.options.tuning.no_measuring = k == 1;
    world.options.tuning.time_budget_seconds = k == 2 ? 1e-9 : 0; /* ended when it begins */
    make_ones(&world.fixture, ROWS, TERMS);
    EXPECT_TEXT(build_steps(&world, text), "slow/no idea");
    core_world_end(&world);
  }
  tenon__timing_cache_destroy(cache);
}

/* ---- What cannot be timed ---- */

/* Elements of half a byte lie in rows alone, so nobody can make them lie in columns for a trial. */
TACTICS(in_columns) {
  static const uint32_t order[2] = {1, 0};
  static const tenon_layout_t columns = {
      .size = sizeof(tenon_layout_t), .name = "columns", .order = order, .rank = 2};
  const tenon_argument_rule_t exact = {.kind = TENON_LAYOUT_EXACT, .layout = &columns};
  IGNORE_REGION();
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic), .name = "columns", .inputs = &exact, .outputs = &exact};
  return add(to, &tactic);
}

static tenon_status_t copy_halves(const tenon_enqueue_t* call) {
  memcpy(call->outputs[0].tensor.data, call->inputs[0].tensor.data, 32);
  return TENON_OK;
}

static const tenon_operator_t halves_op = {OPERATOR("test.halves/1"), INPUTS(PORT("x", "u4", 0)),
                                           OUTPUTS(PORT("y", "u4", 0)), .shape = "y = x"};

TENON_TEST(what_cannot_be_timed_has_no_time) {
  static const char* const takes_halves[] = {"test.halves/1", NULL};
  tenon_kernel_t kernels[] = {dense_of("columns", copy_halves), dense_of("rows", copy_halves)};
  tenon__timing_cache_t* cache = NULL;
  char text[512];
  core_world_t world;
  const tenon__operator_t* op = NULL;
  kernels[0].operators = takes_halves;
  kernels[0].tactics = in_columns;
  kernels[1].operators = takes_halves;
  EXPECT_STATUS(tenon__timing_cache_create(tenon__allocator_default(), &cache), TENON_OK);
  measuring_world(&world, kernels, 2);
  world.options.cache = cache;
  test_fixture_t* b = &world.fixture;
  EXPECT_STATUS(tenon__operator_admit(&b->arena, &halves_op, "tests", NULL, NULL, &op), TENON_OK);
  b->operators[0] = op; /* instead of one that is not needed */
  core_world_offer(&world, &world.owner, "operator/1", &halves_op, 1, sizeof(halves_op));
  const tenon_value_t x = test_input_of(b, "x", TENON_DTYPE_UINT4, DIMS(8, 8));
  add_output(b, test_unary(b, "test.halves/1", "halves", x));
  EXPECT_TEXT(build_steps(&world, text), "rows/default");
  EXPECT_CONTAINS(refusals_of(&world, 0), "tests:columns (columns): was slower: neither measured");
  EXPECT_INT(tenon__timing_cache_count(cache), 1);
  core_world_end(&world);
  tenon__timing_cache_destroy(cache);
}

static const char* library_version;

static const char* depend_on_library(void* state, tenon_device_t* device) {
  EXPECT(state == NULL || device != NULL);
  return library_version;
}

/* A library that was replaced makes another time. */
TENON_TEST(times_are_remembered_under_what_a_kernel_depends_on) {
  static const char* const versions[] = {NULL, "library 7", "library 8", "library 7"};
  static const uint32_t counts[] = {2, 3, 4, 4};
  tenon_kernel_t kernels[] = {dense_of("a", run_right), dense_of("b", run_right)};
  tenon__timing_cache_t* cache = NULL;
  kernels[0].validity = depend_on_library;
  EXPECT_STATUS(tenon__timing_cache_create(tenon__allocator_default(), &cache), TENON_OK);
  for (size_t k = 0; k < sizeof versions / sizeof *versions; ++k) {
    core_world_t world;
    library_version = versions[k];
    measuring_world(&world, kernels, 2);
    world.options.cache = cache;
    make_ones(&world.fixture, 4, 16);
    EXPECT_STATUS(core_world_build(&world), TENON_OK);
    EXPECT_INT(tenon__timing_cache_count(cache), counts[k]);
    core_world_end(&world);
  }
  tenon__timing_cache_destroy(cache);
}

/* ---- Many tactics, many layouts ---- */

/* All orders of four dimensions, each twice: the second time slower. */
TACTICS(in_all_orders) {
  IGNORE_REGION();
  uint32_t number = 0;
  for (uint32_t code = 0; code < 256; ++code) {
    const uint32_t order[4] = {code & 3u, code >> 2 & 3u, code >> 4 & 3u, code >> 6 & 3u};
    uint32_t seen = 0;
    for (int d = 0; d < 4; ++d) {
      seen |= 1u << order[d];
    }
    if (seen != 15u) {
      continue;
    }
    const tenon_layout_t layout = {
        .size = sizeof(layout), .name = "some order", .order = order, .rank = 4};
    const tenon_argument_rule_t exact = {.kind = TENON_LAYOUT_EXACT, .layout = &layout};
    tenon_tactic_t tactic = {.size = sizeof(tactic),
                             .name = "quick",
                             .configuration = &number,
                             .configuration_size = sizeof(number),
                             .inputs = &exact,
                             .outputs = &exact,
                             /* Those that others need come last. */
                             .estimate_seconds = 1e-6 * (1 + 0.001 * number)};
    tenon_status_t status = add(to, &tactic);
    tactic.name = "slow";
    tactic.estimate_seconds *= 2;
    status = status == TENON_OK ? add(to, &tactic) : status;
    if (status != TENON_OK) {
      return status;
    }
    ++number;
  }
  return TENON_OK;
}

static const tenon_operator_t four_op = {OPERATOR("test.four/1"), INPUTS(PORT("x", "f32", 0)),
                                         OUTPUTS(PORT("y", "f32", 0)), .shape = "y = x"};

/* Rows are the last of 24 orders that the kernel offers, and a copy costs more than all of them:
 * what is between an input and an output in rows is taken in rows. */
TENON_TEST(no_layout_is_lost_among_many) {
  static const char* const takes_four[] = {"test.four/1", NULL};
  tenon_kernel_t kernel = dense_of("four", core_write_zeros);
  char text[512];
  core_world_t world;
  const tenon__operator_t* op = NULL;
  kernel.operators = takes_four;
  kernel.tactics = in_all_orders;
  core_world_begin(&world, &kernel, 1);
  test_fixture_t* b = &world.fixture;
  EXPECT_STATUS(tenon__operator_admit(&b->arena, &four_op, "tests", NULL, NULL, &op), TENON_OK);
  b->operators[0] = op;
  core_world_offer(&world, &world.owner, "operator/1", &four_op, 1, sizeof(four_op));
  const tenon_value_t x = test_input(b, "x", DIMS(2, 3, 4, 5));
  add_output(b, test_unary(b, "test.four/1", "four", x));
  EXPECT_TEXT(build_steps(&world, text), "four/quick");
  core_world_end(&world);
}

/* ---- Constants in an order ---- */

/* Takes its weights in columns alone. */
TACTICS(with_weights_in_columns) {
  static const uint32_t order[2] = {1, 0};
  static const tenon_layout_t columns = {
      .size = sizeof(tenon_layout_t), .name = "columns", .order = order, .rank = 2};
  const tenon_argument_rule_t inputs[2] = {{0}, {.kind = TENON_LAYOUT_EXACT, .layout = &columns}};
  IGNORE_REGION();
  const tenon_tactic_t tactic = {.size = sizeof(tactic), .name = "columns", .inputs = inputs};
  return add(to, &tactic);
}

static tenon_status_t run_on_columns(const tenon_enqueue_t* call) {
  const tenon_tensor_view_t* w = &call->inputs[1].tensor;
  if (w->strides[0] != 1 || w->strides[1] != w->dims[0]) {
    return call->host->fail(call->run, TENON_ERROR_INTERNAL, "the weights do not lie in columns");
  }
  compute_dense(call->inputs, &call->outputs[0].tensor, false);
  return TENON_OK;
}

/* What is tried is what is run. */
TENON_TEST(weights_lie_in_the_order_that_is_asked_for) {
  tenon_kernel_t kernel = dense_of("columns", run_on_columns);
  const float weights[6] = {1, 2, 3, 4, 5, 6};
  const float x[3] = {1, 10, 100};
  core_world_t world;
  kernel.tactics = with_weights_in_columns;
  measuring_world(&world, &kernel, 1);
  test_fixture_t* b = &world.fixture;
  const tenon_value_t in = test_input(b, "x", DIMS(1, 3));
  const tenon_value_t w = test_floats(b, "w", weights, DIMS(2, 3));
  add_output(b, test_node(b, "test.dense/1", "dense", in, w, NO_VALUE));
  if (core_world_start(&world)) {
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(1, 3), x), TENON_OK);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 321, 654);
  }
  core_world_end(&world);
}
