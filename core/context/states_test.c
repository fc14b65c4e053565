/* What a context keeps: states, extents within the profile, outputs that a run sizes, weights that
 * are replaced. */
#include "core/context/states.h"
#include "core/builder/build_options.h"
#include "core/builder/refit.h"
#include "core/context/context.h"
#include "core/engine/refit.h"
#include "tests/support/core_world.h"

/* ---- States ---- */

static tenon_value_t add_state(test_fixture_t* b, const char* name, const float* initial) {
  tenon_value_t read = {0};
  const int64_t dims[1] = {2};
  const tenon_state_descriptor_t state = {.size = sizeof(state),
                                          .name = name,
                                          .dtype = TENON_DTYPE_FLOAT32,
                                          .rank = 1,
                                          .dims = dims,
                                          .initial_data = initial};
  EXPECT_STATUS(b->build->add_state(b->builder, &state, &read), TENON_OK);
  return read;
}

TENON_TEST(states_are_carried_reset_and_copied) {
  core_world_t world;
  const float initial[2] = {10, 20};
  const float x[2] = {1, 2};
  core_world_begin(&world, NULL, 0);
  test_fixture_t* b = &world.fixture;
  const tenon_value_t in = test_input(b, "x", DIMS(2));
  const tenon_value_t old = add_state(b, "sum", initial);
  const tenon_value_t sum = test_binary(b, "test.plus/1", "sum", old, in);
  EXPECT_STATUS(b->build->write_state(b->builder, "sum", sum), TENON_OK);
  EXPECT_STATUS(b->build->output(b->builder, sum, "y"), TENON_OK);
  EXPECT_STATUS(b->build->output(b->builder, old, "before"), TENON_OK);
  if (core_world_start(&world)) {
    tenon__context_t* first = world.context;
    tenon__context_t* second = NULL;
    EXPECT_STATUS(tenon__context_create(world.engine, 0, NULL, &second), TENON_OK);
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(2), x), TENON_OK);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 11, 22);
    EXPECT_FLOATS(&world, 1, 10, 20);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 12, 24);
    EXPECT_FLOATS(&world, 1, 11, 22);
    world.context = second; /* has a state of its own */
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(2), x), TENON_OK);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 11, 22);
    EXPECT_STATUS(tenon__context_clone_states(second, first), TENON_OK);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 13, 26);
    EXPECT_STATUS(tenon__context_reset_states(second), TENON_OK);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 11, 22);
    tenon__context_destroy(first);
  }
  core_world_end(&world);
}

/* What becomes of a state is kept though all that reads it could be one step with it. */
TENON_TEST(updates_that_other_nodes_read_are_kept) {
  core_world_t world;
  const float initial[2] = {10, 20};
  const float x[2] = {1, 2};
  core_world_begin(&world, NULL, 0);
  test_fixture_t* b = &world.fixture;
  const tenon_value_t in = test_input(b, "x", DIMS(2));
  const tenon_value_t sum = test_binary(b, "test.plus/1", "sum", add_state(b, "sum", initial), in);
  EXPECT_STATUS(b->build->write_state(b->builder, "sum", sum), TENON_OK);
  EXPECT_STATUS(b->build->output(b->builder, test_unary(b, "test.scale/1", "scale", sum), "y"),
                TENON_OK);
  if (core_world_start(&world)) {
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(2), x), TENON_OK);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 22, 44);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 24, 48);
  }
  core_world_end(&world);
}

/* All states change at once: none sees another's new value. */
TENON_TEST(states_that_take_each_others_place) {
  core_world_t world;
  const float one[2] = {1, 2};
  const float other[2] = {3, 4};
  core_world_begin(&world, NULL, 0);
  test_fixture_t* b = &world.fixture;
  const tenon_value_t left = add_state(b, "left", one);
  const tenon_value_t right = add_state(b, "right", other);
  const tenon_value_t y = test_binary(b, "test.minus/1", "y", left, right);
  EXPECT_STATUS(b->build->write_state(b->builder, "left", right), TENON_OK);
  EXPECT_STATUS(b->build->write_state(b->builder, "right", left), TENON_OK);
  EXPECT_STATUS(b->build->output(b->builder, y, "y"), TENON_OK);
  if (core_world_start(&world)) {
    for (int k = 0; k < 3; ++k) {
      core_world_expect_ran(&world);
      const float sign = k % 2 == 0 ? 1 : -1;
      EXPECT_FLOATS(&world, 0, -2 * sign, -2 * sign);
    }
  }
  core_world_end(&world);
}

/* ---- Extents ---- */

TENON_TEST(extents_outside_the_profile_are_refused) {
  core_world_t world;
  const float x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  core_world_begin(&world, NULL, 0);
  test_fixture_t* b = &world.fixture;
  const tenon_value_t in = test_input(b, "x", DIMS(-1, 2));
  const tenon_value_t y = test_unary(b, "test.scale/1", "scale", in);
  EXPECT_STATUS(b->build->output(b->builder, y, "y"), TENON_OK);
  const tenon__build_range_t range = {
      .input = "x", .rank = 2, .min = DIMS(2, 2), .optimum = DIMS(3, 2), .max = DIMS(4, 2)};
  world.options.ranges = &range;
  world.options.range_count = 1;
  if (core_world_start(&world)) {
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(5, 2), x),
                  TENON_ERROR_INVALID_ARGUMENT);
    EXPECT_CONTAINS(b->messages.text,
                    "input 'x': extent 5 of axis 0 is outside the profile, 2 to 4");
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(1, 2), x),
                  TENON_ERROR_INVALID_ARGUMENT);
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(2, 3), x),
                  TENON_ERROR_INVALID_ARGUMENT);
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(4), x),
                  TENON_ERROR_INVALID_ARGUMENT);
    EXPECT_CONTAINS(b->messages.text, "has rank 1, the engine expects 2");
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_INT64, DIMS(2, 2), x),
                  TENON_ERROR_INVALID_ARGUMENT);
    EXPECT_CONTAINS(b->messages.text, "is i64, the engine expects f32");
    EXPECT_STATUS(tenon__context_run(world.context), TENON_ERROR_INVALID_STATE);
    EXPECT_CONTAINS(b->messages.text, "input 'x' was not set");
    EXPECT_STATUS(core_world_set(&world, 1, TENON_DTYPE_FLOAT32, DIMS(2, 2), x),
                  TENON_ERROR_INVALID_ARGUMENT);
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(2, 2), x), TENON_OK);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 2, 4, 6, 8);
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(4, 2), x), TENON_OK);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 2, 4, 6, 8, 10, 12, 14, 16);
  }
  core_world_end(&world);
}

TENON_TEST(profiles_that_do_not_fit_the_network_fail_the_build) {
  core_world_t world;
  core_world_begin(&world, NULL, 0);
  test_fixture_t* b = &world.fixture;
  const tenon_value_t in = test_input(b, "x", DIMS(-1, 2));
  EXPECT_STATUS(b->build->output(b->builder, test_unary(b, "test.scale/1", "scale", in), "y"),
                TENON_OK);
  tenon__build_range_t range = {
      .input = "z", .rank = 2, .min = DIMS(2, 2), .optimum = DIMS(3, 2), .max = DIMS(4, 2)};
  world.options.ranges = &range;
  world.options.range_count = 1;
  EXPECT_STATUS(core_world_build(&world), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(b->messages.text, "'z'");
  range.input = "x";
  range.min = DIMS(5, 2); /* above the optimum */
  EXPECT_STATUS(core_world_build(&world), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(b->messages.text, "'x'");
  range.min = DIMS(1, 2);
  range.max = DIMS(4, 3); /* the network says 2 */
  EXPECT_STATUS(core_world_build(&world), TENON_ERROR_INVALID_ARGUMENT);
  range.rank = 1;
  EXPECT_STATUS(core_world_build(&world), TENON_ERROR_INVALID_ARGUMENT);
  core_world_end(&world);
}

/* ---- Outputs that a run sizes ---- */

/* The elements that are not 0. */
static tenon_status_t compress(const tenon_enqueue_t* call) {
  const float* x = call->inputs[0].tensor.data;
  const int64_t extent = call->inputs[0].tensor.dims[0];
  int64_t count = 0;
  void* y = NULL;
  for (int64_t k = 0; k < extent; ++k) {
    count += x[k] != 0 ? 1 : 0;
  }
  TENON_TRY(call->host->allocate_output(call->run, 0, 1, &count, &y));
  for (int64_t k = 0, at = 0; k < extent; ++k) {
    if (x[k] != 0) {
      ((float*)y)[at++] = x[k];
    }
  }
  return TENON_OK;
}

TENON_TEST(outputs_have_the_extents_that_the_run_finds) {
  static const char* const takes[] = {"test.compress/1", NULL};
  static const tenon_kernel_t kernel = {.size = sizeof(tenon_kernel_t),
                                        .name = "compress",
                                        .device = "cpu",
                                        .operators = takes,
                                        .version = 1,
                                        .enqueue = compress};
  core_world_t world;
  core_world_begin(&world, &kernel, 1);
  test_fixture_t* b = &world.fixture;
  const tenon_value_t in = test_input(b, "x", DIMS(4));
  const tenon_value_t found = test_unary(b, "test.compress/1", "compress", in);
  const tenon_value_t y = test_unary(b, "test.scale/1", "scale", found);
  EXPECT_STATUS(b->build->output(b->builder, y, "y"), TENON_OK);
  if (core_world_start(&world)) {
    float x[4] = {1, 0, 3, 0};
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(4), x), TENON_OK);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 2, 6);
    x[1] = 2;
    x[3] = 4;
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 2, 4, 6, 8);
    memset(x, 0, sizeof(x));
    core_world_expect_ran(&world);
    EXPECT_EMPTY(&world, 0);
  }
  core_world_end(&world);
}

/* Texts lie elsewhere, and go with the run that made them. */
TENON_TEST(a_state_holds_no_texts) {
  test_fixture_t fixture;
  tenon_value_t value = {0};
  const int64_t dims[1] = {2};
  const tenon_state_descriptor_t state = {
      .size = sizeof(state), .name = "words", .dtype = TENON_DTYPE_STRING, .rank = 1, .dims = dims};
  EXPECT(test_fixture_open(&fixture, tenon__allocator_default()));
  EXPECT_STATUS(fixture.build->add_state(fixture.builder, &state, &value), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(fixture.messages.text, "state 'words'");
  test_fixture_close(&fixture);
}

/* ---- Refit ---- */

TENON_TEST(weights_are_replaced_also_for_contexts_that_are_there) {
  core_world_t world;
  const float weights[2] = {2, 3};
  const float others[2] = {20, 30};
  const float x[2] = {1, 1};
  core_world_begin(&world, NULL, 0);
  test_fixture_t* b = &world.fixture;
  const tenon_value_t in = test_input(b, "x", DIMS(2));
  const tenon_value_t w = test_floats(b, "w", weights, DIMS(2));
  EXPECT_STATUS(b->build->output(b->builder, test_binary(b, "test.times/1", "y", in, w), "y"),
                TENON_OK);
  if (core_world_start(&world)) {
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(2), x), TENON_OK);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 2, 3);
    EXPECT_STATUS(tenon__engine_set_weights(world.engine, "v", others, sizeof(others)),
                  TENON_ERROR_NOT_FOUND);
    EXPECT_CONTAINS(b->messages.text, "no weights 'v'");
    EXPECT_STATUS(tenon__engine_set_weights(world.engine, "w", others, 4),
                  TENON_ERROR_INVALID_ARGUMENT);
    EXPECT_STATUS(tenon__engine_set_weights(world.engine, "w", others, sizeof(others)), TENON_OK);
    EXPECT_STATUS(tenon__refit_commit(world.catalog, world.engine), TENON_OK);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 20, 30);
    EXPECT_STATUS(tenon__engine_set_weights(world.engine, "w", weights, sizeof(weights)), TENON_OK);
    EXPECT_STATUS(tenon__refit_commit(world.catalog, world.engine), TENON_OK);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 2, 3);
  }
  core_world_end(&world);
}

/* What the build excluded does not keep an operator closed when it is refitted either. */
TENON_TEST(a_plan_is_refitted_without_what_it_was_built_without) {
  static const char* const takes[] = {"test.growth/1", NULL};
  static const char* const exclude[] = {"tests:growth", NULL};
  static const tenon_kernel_t kernel = {.size = sizeof(tenon_kernel_t),
                                        .name = "growth",
                                        .device = "cpu",
                                        .operators = takes,
                                        .version = 1,
                                        .enqueue = core_do_nothing};
  core_world_t world;
  const float weights[2] = {2, 3};
  const float others[2] = {20, 30};
  const float x[2] = {0, 0}; /* grows to 0 exactly */
  core_world_begin(&world, &kernel, 1);
  world.options.tuning.exclude = exclude;
  test_fixture_t* b = &world.fixture;
  const tenon_value_t in = test_input(b, "x", DIMS(2));
  const tenon_value_t grown = test_unary(b, "test.growth/1", "growth", in);
  const tenon_value_t w = test_floats(b, "w", weights, DIMS(2));
  EXPECT_STATUS(b->build->output(b->builder, test_binary(b, "test.plus/1", "y", grown, w), "y"),
                TENON_OK);
  if (core_world_start(&world)) {
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(2), x), TENON_OK);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 2, 3);
    EXPECT_STATUS(tenon__engine_set_weights(world.engine, "w", others, sizeof(others)), TENON_OK);
    EXPECT_STATUS(tenon__refit_commit(world.catalog, world.engine), TENON_OK);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 20, 30);
  }
  core_world_end(&world);
}
