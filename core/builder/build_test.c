/* Branches that cannot run, from the build to the run that takes one. */
#include "core/builder/build_options.h"
#include "core/builder/load.h"
#include "core/builder/refit.h"
#include "core/context/context.h"
#include "core/engine/refit.h"
#include "core/network/fault.h"
#include "tests/support/core_world.h"

static const float weights[4] = {10.5F, 20.5F, 30.5F, 40.5F};

/* A body of one parameter like `like`. `kind` 0: twice the parameter; n: the parameter and n
 * numbers, added along its last axis; -1: one that failed. */
static uint32_t make_body(test_fixture_t* b, const char* name, tenon_value_t like, int64_t kind) {
  tenon_value_t p = {0};
  uint32_t body = 0;
  EXPECT_STATUS(b->build->begin_body(b->builder, name), TENON_OK);
  EXPECT_STATUS(b->build->body_parameter_like(b->builder, "p", like, &p), TENON_OK);
  if (kind < 0) {
    EXPECT_STATUS(
        b->build->fail_body(b->builder, TENON_ERROR_UNSUPPORTED, "node 'n' is bad", &body),
        TENON_OK);
    return body;
  }
  const tenon_value_t y = kind == 0 ? test_unary(b, "test.scale/1", NULL, p)
                                    : test_binary(b, "test.plus/1", "sum", p,
                                                  test_floats(b, "numbers", weights, DIMS(kind)));
  EXPECT_STATUS(b->build->body_result(b->builder, y), TENON_OK);
  EXPECT_STATUS(b->build->end_body(b->builder, &body), TENON_OK);
  return body;
}

static tenon_value_t choose(test_fixture_t* b, const char* name, tenon_value_t condition,
                            tenon_value_t x, uint32_t yes, uint32_t no) {
  tenon_value_t y = {0};
  EXPECT_STATUS(b->build->begin(b->builder, "test.branch/1", name), TENON_OK);
  EXPECT_STATUS(b->build->add_input(b->builder, condition), TENON_OK);
  EXPECT_STATUS(b->build->add_input(b->builder, x), TENON_OK);
  EXPECT_STATUS(b->build->add_body(b->builder, yes), TENON_OK);
  EXPECT_STATUS(b->build->add_body(b->builder, no), TENON_OK);
  EXPECT_STATUS(b->build->end(b->builder, &y, 1), TENON_OK);
  return y;
}

static uint32_t count_of(const char* text, const char* part) {
  uint32_t count = 0;
  for (const char* at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
    ++count;
  }
  return count;
}

static void set(core_world_t* world, const bool* condition, const int64_t* dims, const float* x) {
  EXPECT_STATUS(core_world_set(world, 0, TENON_DTYPE_BOOL, SCALAR, condition), TENON_OK);
  EXPECT_STATUS(core_world_set(world, 1, TENON_DTYPE_FLOAT32, dims, x), TENON_OK);
}

/* Branch `failed` cannot run. */
static void check_runs(core_world_t* world, int failed) {
  const float x[3] = {1, 2, 3};
  EXPECT_INT(count_of(world->fixture.messages.text, "cannot run"), 1);
  for (int k = 0; k < 4; ++k) {
    const bool takes = k % 2 == 0;
    const bool condition = takes == (failed == 0);
    set(world, &condition, DIMS(3), x);
    if (!takes) {
      core_world_expect_ran(world);
      EXPECT_FLOATS(world, 0, 2, 4, 6);
      continue;
    }
    EXPECT_STATUS(tenon__context_run(world->context), TENON_ERROR_UNSUPPORTED);
    EXPECT_CONTAINS(world->fixture.messages.text,
                    failed == 0
                        ? "'choice' takes its branch 'yes', which cannot run: node 'n' is bad"
                        : "'choice' takes its branch 'no', which cannot run: node 'n' is bad");
  }
}

TENON_TEST(the_run_that_takes_it_fails_and_no_other) {
  for (int failed = 0; failed < 2; ++failed) {
    core_world_t world;
    core_world_begin(&world, NULL, 0);
    test_fixture_t* b = &world.fixture;
    const tenon_value_t condition = test_input_of(b, "condition", TENON_DTYPE_BOOL, SCALAR);
    const tenon_value_t in = test_input(b, "x", DIMS(3));
    const uint32_t yes = make_body(b, "yes", in, failed == 0 ? -1 : 0);
    const uint32_t no = make_body(b, "no", in, failed == 0 ? 0 : -1);
    EXPECT_STATUS(b->build->output(b->builder, choose(b, "choice", condition, in, yes, no), "y"),
                  TENON_OK);
    if (core_world_start(&world)) {
      check_runs(&world, failed);
    }
    core_world_end(&world);
  }
}

/* ---- Profiles ---- */

static void give_range(core_world_t* world, tenon__build_range_t* range, const int64_t* min,
                       const int64_t* optimum, const int64_t* max) {
  *range =
      (tenon__build_range_t){.input = "x", .rank = 2, .min = min, .optimum = optimum, .max = max};
  world->options.ranges = range;
  world->options.range_count = 1;
}

/* x [2, n] and 2 numbers, or 3 numbers, or twice as much. */
static void add_numbers_or_double(core_world_t* world, int64_t yes, int64_t no) {
  test_fixture_t* b = &world->fixture;
  core_world_begin(world, NULL, 0);
  const tenon_value_t condition = test_input_of(b, "condition", TENON_DTYPE_BOOL, SCALAR);
  const tenon_value_t in = test_input(b, "x", DIMS(2, -1));
  const tenon_value_t y =
      choose(b, "choice", condition, in, make_body(b, "yes", in, yes), make_body(b, "no", in, no));
  EXPECT_STATUS(b->build->output(b->builder, y, "y"), TENON_OK);
}

TENON_TEST(what_the_profile_breaks_cannot_run) {
  const float x[6] = {1, 2, 3, 4, 5, 6};
  core_world_t world;
  tenon__build_range_t range;
  add_numbers_or_double(&world, 2, 0);
  give_range(&world, &range, DIMS(2, 3), DIMS(2, 3), DIMS(2, 3));
  if (core_world_start(&world)) {
    EXPECT_INT(count_of(world.fixture.messages.text, "'choice': its branch 'yes' cannot run"), 1);
    bool condition = false;
    set(&world, &condition, DIMS(2, 3), x);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 2, 4, 6, 8, 10, 12);
    condition = true;
    EXPECT_STATUS(tenon__context_run(world.context), TENON_ERROR_INVALID_DATA);
    EXPECT_CONTAINS(world.fixture.messages.text, "'choice' takes its branch 'yes'");
  }
  core_world_end(&world);
}

TENON_TEST(what_the_profile_breaks_in_both_fails_the_build) {
  core_world_t world;
  tenon__build_range_t range;
  add_numbers_or_double(&world, 2, 3);
  give_range(&world, &range, DIMS(2, 4), DIMS(2, 4), DIMS(2, 4));
  EXPECT_STATUS(core_world_build(&world), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(world.fixture.messages.text, "none of its bodies can run: 'yes': ");
  core_world_end(&world);
}

/* The optimum says nothing of a branch: a run need not take it. */
TENON_TEST(what_the_optimum_breaks_may_run_with_other_extents) {
  const float x[6] = {1, 2, 3, 4, 5, 6};
  core_world_t world;
  tenon__build_range_t range;
  add_numbers_or_double(&world, 2, 0);
  give_range(&world, &range, DIMS(2, 2), DIMS(2, 3), DIMS(2, 3));
  if (core_world_start(&world)) {
    EXPECT_INT(count_of(world.fixture.messages.text, "cannot run"), 0);
    bool condition = true;
    set(&world, &condition, DIMS(2, 2), x);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 11.5F, 22.5F, 13.5F, 24.5F);
    set(&world, &condition, DIMS(2, 3), x);
    EXPECT_STATUS(tenon__context_run(world.context), TENON_ERROR_INVALID_ARGUMENT);
    EXPECT_CONTAINS(world.fixture.messages.text, "node 'sum'");
    condition = false;
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 2, 4, 6, 8, 10, 12);
  }
  core_world_end(&world);
}

/* ---- Conditions that follow from extents ---- */

/* Is the last extent of x another than 3? */
static tenon_value_t last_is_not_3(test_fixture_t* b, tenon_value_t x) {
  static const int64_t numbers[2] = {2, 3};
  const tenon_value_t shape = test_unary(b, "test.shape_of/1", "shape", x);
  const tenon_value_t rest =
      test_binary(b, "test.minus/1", "rest", shape, test_vector(b, "numbers", numbers, 2));
  tenon_value_t parts[2] = {{0}};
  tenon_value_t condition = {0};
  EXPECT_STATUS(b->build->begin(b->builder, "test.part/1", "parts"), TENON_OK);
  EXPECT_STATUS(b->build->attribute_int(b->builder, "axis", 0), TENON_OK);
  EXPECT_STATUS(b->build->add_input(b->builder, rest), TENON_OK);
  EXPECT_STATUS(b->build->output_count(b->builder, 2), TENON_OK);
  EXPECT_STATUS(b->build->end(b->builder, parts, 2), TENON_OK);
  EXPECT_STATUS(b->build->begin(b->builder, "test.convert/1", "condition"), TENON_OK);
  EXPECT_STATUS(b->build->attribute_dtype(b->builder, "to", TENON_DTYPE_BOOL), TENON_OK);
  EXPECT_STATUS(b->build->add_input(b->builder, parts[1]), TENON_OK);
  EXPECT_STATUS(b->build->end(b->builder, &condition, 1), TENON_OK);
  return condition;
}

/* yes where x [2, n] has not n = 3, which failed; else twice x. */
static void choose_by_extent(core_world_t* world) {
  test_fixture_t* b = &world->fixture;
  core_world_begin(world, NULL, 0);
  const tenon_value_t in = test_input(b, "x", DIMS(2, -1));
  const tenon_value_t condition = last_is_not_3(b, in);
  const tenon_value_t y =
      choose(b, "choice", condition, in, make_body(b, "yes", in, -1), make_body(b, "no", in, 0));
  EXPECT_STATUS(b->build->output(b->builder, y, "y"), TENON_OK);
}

TENON_TEST(a_branch_that_the_profile_never_takes_is_not_spoken_of) {
  const float x[6] = {1, 2, 3, 4, 5, 6};
  core_world_t world;
  tenon__build_range_t range;
  choose_by_extent(&world);
  give_range(&world, &range, DIMS(2, 3), DIMS(2, 3), DIMS(2, 3));
  if (core_world_start(&world)) {
    EXPECT_INT(count_of(world.fixture.messages.text, "cannot run"), 0);
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(2, 3), x), TENON_OK);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 2, 4, 6, 8, 10, 12);
  }
  core_world_end(&world);
}

TENON_TEST(a_branch_that_the_profile_always_takes_fails_the_build) {
  core_world_t world;
  tenon__build_range_t range;
  choose_by_extent(&world);
  give_range(&world, &range, DIMS(2, 4), DIMS(2, 4), DIMS(2, 4));
  EXPECT_STATUS(core_world_build(&world), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(world.fixture.messages.text,
                  "test.branch/1 'choice' takes its branch 'yes', which cannot run: node 'n' is "
                  "bad");
  core_world_end(&world);
}

TENON_TEST(the_run_finds_out_which_is_taken) {
  const float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  core_world_t world;
  tenon__build_range_t range;
  choose_by_extent(&world);
  give_range(&world, &range, DIMS(2, 2), DIMS(2, 3), DIMS(2, 4));
  if (core_world_start(&world)) {
    EXPECT_INT(count_of(world.fixture.messages.text, "cannot run"), 1);
    for (int64_t n = 2; n <= 4; ++n) {
      EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(2, n), x), TENON_OK);
      EXPECT_STATUS(tenon__context_run(world.context), n == 3 ? TENON_OK : TENON_ERROR_UNSUPPORTED);
    }
  }
  core_world_end(&world);
}

/* A branch that holds a choice of its own, between its parameter and that twice side by side, and
 * adds 2 numbers to either; `again`: does so in a choice by the extent of what that gave. */
static uint32_t make_outer_body(test_fixture_t* b, tenon_value_t like, bool again) {
  const tenon_builder_table_t* build = b->build;
  tenon_value_t p = {0};
  tenon_value_t q = {0};
  tenon_value_t joined = {0};
  uint32_t body = 0;
  uint32_t bodies[2];
  EXPECT_STATUS(build->begin_body(b->builder, "outer"), TENON_OK);
  EXPECT_STATUS(build->body_parameter_like(b->builder, "p", like, &p), TENON_OK);
  EXPECT_STATUS(build->begin_body(b->builder, "twice"), TENON_OK);
  EXPECT_STATUS(build->body_parameter_like(b->builder, "q", p, &q), TENON_OK);
  EXPECT_STATUS(build->begin(b->builder, "test.join/1", "join"), TENON_OK);
  EXPECT_STATUS(build->attribute_int(b->builder, "axis", 1), TENON_OK);
  EXPECT_STATUS(build->add_input(b->builder, q), TENON_OK);
  EXPECT_STATUS(build->add_input(b->builder, q), TENON_OK);
  EXPECT_STATUS(build->end(b->builder, &joined, 1), TENON_OK);
  EXPECT_STATUS(build->body_result(b->builder, joined), TENON_OK);
  EXPECT_STATUS(build->end_body(b->builder, &bodies[0]), TENON_OK);
  bodies[1] = make_body(b, "once", p, 0);
  const tenon_value_t chosen = choose(b, "inner", last_is_not_3(b, p), p, bodies[0], bodies[1]);
  const tenon_value_t sum =
      again ? choose(b, "second", last_is_not_3(b, chosen), chosen,
                     make_body(b, "double", chosen, 0), make_body(b, "add", chosen, 2))
            : test_binary(b, "test.plus/1", "sum", chosen,
                          test_floats(b, "numbers", weights, DIMS(2)));
  EXPECT_STATUS(build->body_result(b->builder, sum), TENON_OK);
  EXPECT_STATUS(build->end_body(b->builder, &body), TENON_OK);
  return body;
}

/* With the profile the inner choices are known, and 2 numbers do not fit what they give. */
TENON_TEST(what_turns_out_while_optimising_cannot_run) {
  const float x[6] = {1, 2, 3, 4, 5, 6};
  for (int again = 0; again < 2; ++again) {
    core_world_t world;
    tenon__build_range_t range;
    core_world_begin(&world, NULL, 0);
    test_fixture_t* b = &world.fixture;
    const tenon_value_t condition = test_input_of(b, "condition", TENON_DTYPE_BOOL, SCALAR);
    const tenon_value_t in = test_input(b, "x", DIMS(2, -1));
    const uint32_t outer = make_outer_body(b, in, again == 1);
    const tenon_value_t y = choose(b, "choice", condition, in, outer, make_body(b, "no", in, 0));
    EXPECT_STATUS(b->build->output(b->builder, y, "y"), TENON_OK);
    give_range(&world, &range, DIMS(2, 3), DIMS(2, 3), DIMS(2, 3));
    if (core_world_start(&world)) {
      EXPECT_INT(count_of(b->messages.text, "cannot run, and"), 1);
      bool condition_data = false;
      set(&world, &condition_data, DIMS(2, 3), x);
      core_world_expect_ran(&world);
      EXPECT_FLOATS(&world, 0, 2, 4, 6, 8, 10, 12);
      condition_data = true;
      EXPECT_STATUS(tenon__context_run(world.context), TENON_ERROR_INVALID_DATA);
      EXPECT_CONTAINS(b->messages.text, "'choice' takes its branch 'outer', which cannot run: ");
      EXPECT_CONTAINS(b->messages.text, "[2, x:1] and [2] do not broadcast");
    }
    core_world_end(&world);
  }
}

/* ---- In other bodies, beside states ---- */

/* The body of a loop that carries h: h' = choice(condition, h), of which `yes` failed. */
static uint32_t loop_body(test_fixture_t* b, tenon_value_t condition, tenon_value_t x) {
  tenon_value_t p[4] = {{0}};
  uint32_t body = 0;
  const tenon_builder_table_t* build = b->build;
  EXPECT_STATUS(build->begin_body(b->builder, "body"), TENON_OK);
  EXPECT_STATUS(build->body_parameter(b->builder, "i", TENON_ARGUMENT_TENSOR, TENON_DTYPE_INT64, 0,
                                      NULL, &p[0]),
                TENON_OK);
  EXPECT_STATUS(build->body_parameter(b->builder, "go", TENON_ARGUMENT_TENSOR, TENON_DTYPE_BOOL, 0,
                                      NULL, &p[1]),
                TENON_OK);
  EXPECT_STATUS(build->body_parameter_like(b->builder, "h", x, &p[2]), TENON_OK);
  EXPECT_STATUS(build->body_parameter_like(b->builder, "c", condition, &p[3]), TENON_OK);
  const tenon_value_t h =
      choose(b, "choice", p[3], p[2], make_body(b, "yes", p[2], -1), make_body(b, "no", p[2], 0));
  EXPECT_STATUS(build->body_result(b->builder, p[1]), TENON_OK);
  EXPECT_STATUS(build->body_result(b->builder, h), TENON_OK);
  EXPECT_STATUS(build->end_body(b->builder, &body), TENON_OK);
  return body;
}

TENON_TEST(a_loop_takes_it_when_it_comes_to_it) {
  core_world_t world;
  core_world_begin(&world, NULL, 0);
  test_fixture_t* b = &world.fixture;
  const tenon_builder_table_t* build = b->build;
  const tenon_value_t condition = test_input_of(b, "condition", TENON_DTYPE_BOOL, SCALAR);
  const tenon_value_t in = test_input(b, "x", DIMS(2));
  const tenon_value_t trips = test_input_of(b, "trips", TENON_DTYPE_INT64, SCALAR);
  const uint32_t body = loop_body(b, condition, in);
  tenon_value_t y = {0};
  EXPECT_STATUS(build->begin(b->builder, "test.repeat/1", "loop"), TENON_OK);
  EXPECT_STATUS(build->attribute_int(b->builder, "carried_count", 1), TENON_OK);
  EXPECT_STATUS(build->add_input(b->builder, trips), TENON_OK);
  EXPECT_STATUS(build->add_input(b->builder, NO_VALUE), TENON_OK);
  EXPECT_STATUS(build->add_input(b->builder, in), TENON_OK);
  EXPECT_STATUS(build->add_input(b->builder, condition), TENON_OK);
  EXPECT_STATUS(build->add_body(b->builder, body), TENON_OK);
  EXPECT_STATUS(build->end(b->builder, &y, 1), TENON_OK);
  EXPECT_STATUS(build->output(b->builder, y, "y"), TENON_OK);
  if (core_world_start(&world)) {
    const float x[2] = {1, 2};
    bool condition_data = false;
    int64_t trips_data = 3;
    set(&world, &condition_data, DIMS(2), x);
    EXPECT_STATUS(core_world_set(&world, 2, TENON_DTYPE_INT64, SCALAR, &trips_data), TENON_OK);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 8, 16);
    condition_data = true;
    EXPECT_STATUS(tenon__context_run(world.context), TENON_ERROR_UNSUPPORTED);
    trips_data = 0;
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 1, 2);
  }
  core_world_end(&world);
}

/* The state is what the last run that came to its end made of it. */
TENON_TEST(a_state_outlives_a_run_that_fails) {
  core_world_t world;
  core_world_begin(&world, NULL, 0);
  test_fixture_t* b = &world.fixture;
  const tenon_value_t condition = test_input_of(b, "condition", TENON_DTYPE_BOOL, SCALAR);
  const tenon_value_t in = test_input(b, "x", DIMS(2));
  const tenon_state_descriptor_t state = {.size = sizeof(state),
                                          .name = "total",
                                          .dtype = TENON_DTYPE_FLOAT32,
                                          .rank = 1,
                                          .dims = DIMS(2)};
  tenon_value_t total = {0};
  EXPECT_STATUS(b->build->add_state(b->builder, &state, &total), TENON_OK);
  const tenon_value_t sum = test_binary(b, "test.plus/1", "sum", total, in);
  const tenon_value_t y =
      choose(b, "choice", condition, sum, make_body(b, "yes", sum, 0), make_body(b, "no", sum, -1));
  EXPECT_STATUS(b->build->write_state(b->builder, "total", y), TENON_OK);
  EXPECT_STATUS(b->build->output(b->builder, y, "y"), TENON_OK);
  if (core_world_start(&world)) {
    const float x[2] = {1, 2};
    bool condition_data = true;
    set(&world, &condition_data, DIMS(2), x);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 2, 4);
    condition_data = false;
    EXPECT_STATUS(tenon__context_run(world.context), TENON_ERROR_UNSUPPORTED);
    condition_data = true;
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 6, 12);
  }
  core_world_end(&world);
}

/* ---- Refit ---- */

TENON_TEST(a_refit_leaves_it_as_it_is) {
  const float x[6] = {1, 2, 3, 4, 5, 6};
  const float other[3] = {100.5F, 200.5F, 300.5F};
  core_world_t world;
  tenon__build_range_t range;
  add_numbers_or_double(&world, 2, 3);
  give_range(&world, &range, DIMS(2, 3), DIMS(2, 3), DIMS(2, 3));
  if (core_world_start(&world)) {
    bool condition = false;
    set(&world, &condition, DIMS(2, 3), x);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 11.5F, 22.5F, 33.5F, 14.5F, 25.5F, 36.5F);
    EXPECT_STATUS(tenon__engine_set_weights(world.engine, "numbers", other, sizeof other),
                  TENON_OK);
    EXPECT_STATUS(tenon__refit_commit(world.catalog, world.engine), TENON_OK);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 101.5F, 202.5F, 303.5F, 104.5F, 205.5F, 306.5F);
    condition = true;
    EXPECT_STATUS(tenon__context_run(world.context), TENON_ERROR_INVALID_DATA);
  }
  core_world_end(&world);
}

/* ---- Made again ---- */

static tenon_status_t another_digest(void* user, const tenon__owner_t* owner,
                                     const tenon_sink_t* sink, tenon__digest_t* out_digest) {
  (void)user;
  (void)owner;
  (void)sink;
  *out_digest = (tenon__digest_t){{1, 2, 3}};
  return TENON_OK;
}

/* With other plugins the plan is made again from the network in it. */
TENON_TEST(a_plan_that_is_made_again_has_it_too) {
  const float x[6] = {1, 2, 3, 4, 5, 6};
  core_world_t world;
  tenon__build_range_t range;
  bool made_again = false;
  add_numbers_or_double(&world, 2, 0);
  give_range(&world, &range, DIMS(2, 3), DIMS(2, 3), DIMS(2, 3));
  EXPECT_STATUS(core_world_build(&world), TENON_OK);
  world.owner.digest = another_digest;
  const tenon__engine_options_t options = {.allocator = world.fixture.allocator,
                                           .sink = &world.sink};
  EXPECT_STATUS(
      tenon__load(world.catalog, world.plan, world.plan_size, &options, &world.engine, &made_again),
      TENON_OK);
  EXPECT(made_again);
  REQUIRE(world.engine != NULL);
  EXPECT_STATUS(tenon__context_create(world.engine, 0, NULL, &world.context), TENON_OK);
  bool condition = false;
  set(&world, &condition, DIMS(2, 3), x);
  core_world_expect_ran(&world);
  EXPECT_FLOATS(&world, 0, 2, 4, 6, 8, 10, 12);
  condition = true;
  EXPECT_STATUS(tenon__context_run(world.context), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(world.fixture.messages.text,
                  "'choice' takes its branch 'yes', which cannot run: ");
  core_world_end(&world);
}
