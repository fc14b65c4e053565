/* The optimiser as a whole. */
#include "core/optimizer/optimizer.h"

#include "core/optimizer/test_world.h"

TENON_TEST(stops_after_so_many_patches) {
  for (uint32_t limit = 1; limit <= 4; ++limit) {
    test_world_t world;
    REQUIRE(test_world_open(&world));
    world.options.patch_limit = limit;
    const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2));
    tenon_value_t y = x;
    for (uint32_t i = 0; i < 6; ++i) {
      y = test_unary(&world.fixture, "test.same/1", NULL, y);
    }
    test_output(&world, test_unary(&world.fixture, "test.ramp/1", "y", y), "y");
    (void)test_optimized(&world);
    EXPECT_INT(world.report.patch_count, limit);
    test_world_close(&world);
  }
}

TENON_TEST(stops_when_it_is_told_to) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  tenon__interrupt_t interrupt;
  tenon__interrupt_initialize(&interrupt, NULL, NULL);
  tenon__interrupt_want(&interrupt);
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2));
  const tenon_value_t a = test_unary(&world.fixture, "test.same/1", NULL, x);
  test_output(&world, test_unary(&world.fixture, "test.ramp/1", "y", a), "y");
  world.fixture.network->interrupt = &interrupt;
  EXPECT_STATUS(tenon__optimize(world.fixture.network, &world.options, &world.fixture.messages.sink,
                                &world.report),
                TENON_ERROR_CANCELLED);
  world.fixture.network->interrupt = NULL;
  EXPECT_STATUS(tenon__network_verify(world.fixture.network, &world.fixture.messages.sink),
                TENON_OK);
  test_world_close(&world);
}

/* Something for most passes. False when memory is out. */
static bool build_small(test_fixture_t* fixture) {
  const float w_data[] = {1, 2, 3, 4, 5, 6};
  const float shift_data[] = {0.5F, 1};
  const tenon_value_t x = test_input(fixture, "x", DIMS(7, 3));
  const tenon_value_t w = test_floats(fixture, "w", w_data, DIMS(3, 2));
  const tenon_value_t wt = test_permute(fixture, "wt", w, DIMS(1, 0));
  const tenon_value_t shift = test_floats(fixture, "shift", shift_data, DIMS(2));
  const tenon_value_t d = test_binary(fixture, "test.dense/1", "dense", x, wt);
  const tenon_value_t a = test_binary(fixture, "test.plus/1", "a", d, shift);
  const tenon_value_t s = test_unary(fixture, "test.same/1", "s", a);
  const tenon_value_t p = test_permute(fixture, "p", s, DIMS(1, 0));
  const tenon_value_t r = test_unary(fixture, "test.ramp/1", "r", p);
  const tenon_value_t q = test_permute(fixture, "q", r, DIMS(1, 0));
  const tenon_value_t e = test_unary(fixture, "test.exponential/1", "e", q);
  const tenon_value_t scaled = test_unary(fixture, "test.scale/1", "scaled", e);
  return scaled.id != 0 && fixture->build->output(fixture->builder, scaled, "y") == TENON_OK;
}

static tenon__owner_t owner = {.plugin = "tests", .version = "1", .path = ""};
static const tenon__rewrite_entry_t doubling = {
    .owner = &owner,
    .rewrite = {.size = sizeof(tenon_rewrite_t),
                .name = "doubling",
                .pattern = "y = test.scale/1(x){mode='times', factor=f}",
                .when = "rank(x) == 2 && f == 2",
                .replacement = "y = test.plus/1(x, x)"}};

/* The network as text once it is optimised, or why it is not. */
static tenon_status_t optimize_small(test_world_t* world) {
  const tenon__rewrite_entry_t* rewrites[] = {&doubling};
  world->options.find = test_find;
  world->options.find_user = &world->fixture;
  world->options.rewrites = rewrites;
  world->options.rewrite_count = 1;
  const tenon_status_t status = tenon__optimize(world->fixture.network, &world->options,
                                                &world->fixture.messages.sink, &world->report);
  tenon__optimize_report_deinitialize(&world->report);
  return status;
}

static bool survives(tenon_allocator_t allocator, void* user) {
  (void)user;
  test_world_t world;
  memset(&world, 0, sizeof(world));
  if (!test_fixture_open(&world.fixture, allocator)) {
    return false;
  }
  bool good = build_small(&world.fixture);
  if (good) {
    const tenon_status_t status = optimize_small(&world);
    EXPECT(status == TENON_OK || status == TENON_ERROR_OUT_OF_MEMORY);
    good = status == TENON_OK;
  }
  test_fixture_close(&world.fixture);
  return good;
}

TENON_TEST(survives_each_failing_allocation) {
  tenon__test_each_allocation(survives, NULL);
}

TENON_TEST(fails_when_memory_runs_out) {
  static test_world_t world;
  static test_text_t whole;
  uint64_t fail_at = 0; /* the first time: none does */
  bool failed = true;
  for (uint64_t round = 0; failed; ++round) {
    tenon__test_allocator_t state = {0};
    memset(&world, 0, sizeof(world));
    REQUIRE(test_fixture_open(&world.fixture, tenon__test_allocator(&state)));
    REQUIRE(build_small(&world.fixture));
    fail_at = round == 0 ? 0 : state.allocation_count + round;
    state.fail_at = fail_at;
    const tenon_status_t status = optimize_small(&world);
    failed = round == 0 || state.allocation_count >= fail_at;
    state.fail_at = 0;
    if (round == 0) {
      EXPECT_STATUS(status, TENON_OK);
      EXPECT_CONTAINS(test_print(world.fixture.network, &whole), "test.plus/1(e, e)");
    } else if (!failed || status == TENON_OK) {
      EXPECT_STATUS(status, TENON_OK);
      EXPECT_TEXT(test_print(world.fixture.network, &world.text), whole.text);
    } else {
      EXPECT_STATUS(status, TENON_ERROR_OUT_OF_MEMORY);
    }
    test_fixture_close(&world.fixture);
  }
}

/* Something for every pass, again and again. */
static uint64_t visits_of(uint32_t node_count) {
  test_world_t world;
  if (!test_world_open(&world)) {
    return 0;
  }
  test_fixture_t* fixture = &world.fixture;
  world.options.verifies = false;
  float w_data[64] = {1, 2, 3};
  const float scale_data[8] = {2, 2, 2, 2, 2, 2, 2, 2};
  const tenon_value_t scale = test_floats(fixture, "scale", scale_data, DIMS(8));
  tenon_value_t x = test_input(fixture, "x", DIMS(4, 8));
  while (fixture->network->graphs[0]->node_count < node_count) {
    w_data[0] += 0.5F;
    const tenon_value_t w = test_floats(fixture, "w", w_data, DIMS(8, 8));
    const tenon_value_t d = test_binary(fixture, "test.dense/1", "d", x, w);
    const tenon_value_t n = test_node(fixture, "test.channel_norm/1", "n", d, scale, scale);
    const tenon_value_t p = test_permute(fixture, "p", n, DIMS(1, 0));
    const tenon_value_t r = test_unary(fixture, "test.ramp/1", "r", p);
    const tenon_value_t q = test_permute(fixture, "q", r, DIMS(1, 0));
    const tenon_value_t a = test_unary(fixture, "test.exponential/1", "a", q);
    const tenon_value_t b = test_unary(fixture, "test.exponential/1", "b", q);
    const tenon_value_t shape = test_unary(fixture, "test.shape_of/1", "shape", a);
    const tenon_value_t s = test_binary(fixture, "test.plus/1", "s", a, b);
    x = test_binary(fixture, "test.reshape/1", "x", s, shape);
  }
  test_output(&world, x, "y");
  EXPECT_STATUS(
      tenon__optimize(fixture->network, &world.options, &fixture->messages.sink, &world.report),
      TENON_OK);
  EXPECT(world.report.patch_count > node_count);
  const uint64_t visits = world.report.visit_count;
  test_world_close(&world);
  return visits;
}

TENON_TEST(looks_at_nodes_in_proportion) {
  const uint64_t few = visits_of(500);
  const uint64_t many = visits_of(4000);
  EXPECT(many <= few * 9);
  EXPECT(many <= (uint64_t)4000 * 60);
}
