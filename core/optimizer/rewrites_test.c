/* Rewrites: patterns, guards, replacements by text and by code. */
#include "core/optimizer/test_world.h"

static tenon__owner_t owner = {.plugin = "tests", .version = "1", .path = ""};

static void use(test_world_t* world, tenon__rewrite_entry_t* entry,
                const tenon__rewrite_entry_t** list) {
  entry->owner = &owner;
  entry->rewrite.size = sizeof(entry->rewrite);
  list[0] = entry;
  world->options.rewrites = list;
  world->options.rewrite_count = 1;
}

static tenon__rewrite_entry_t squares = {
    .rewrite = {.name = "difference of squares",
                .pattern = "s = test.plus/1(a, b); d = test.minus/1(a, b); y = test.times/1(s, d)",
                .replacement = "p = test.times/1(a, a); q = test.times/1(b, b); "
                               "y = test.minus/1(p, q)"}};

TENON_TEST(replaces_a_pattern) {
  test_world_t world;
  const tenon__rewrite_entry_t* list[1];
  REQUIRE(test_world_open(&world));
  use(&world, &squares, list);
  const tenon_value_t a = test_input(&world.fixture, "a", DIMS(3));
  const tenon_value_t b = test_input(&world.fixture, "b", DIMS(3));
  const tenon_value_t s = test_binary(&world.fixture, "test.plus/1", "s", a, b);
  const tenon_value_t d = test_binary(&world.fixture, "test.minus/1", "d", a, b);
  test_output(&world, test_binary(&world.fixture, "test.times/1", "y", s, d), "y");
  EXPECT_TEXT(test_optimized(&world),
              "graph main\n  input a: f32[3]\n  input b: f32[3]\n"
              "  times_0: f32[3] = test.times/1(a, a)\n  times_1: f32[3] = test.times/1(b, b)\n"
              "  y: f32[3] = test.minus/1(times_0, times_1)\n  output y: y\n");
  test_expect_patches(&world, "rewrite tests:difference of squares", 1);
  test_world_close(&world);
}

TENON_TEST(leaves_a_pattern_that_others_read) {
  test_world_t world;
  const tenon__rewrite_entry_t* list[1];
  REQUIRE(test_world_open(&world));
  use(&world, &squares, list);
  const tenon_value_t a = test_input(&world.fixture, "a", DIMS(3));
  const tenon_value_t b = test_input(&world.fixture, "b", DIMS(3));
  const tenon_value_t s = test_binary(&world.fixture, "test.plus/1", "s", a, b);
  const tenon_value_t d = test_binary(&world.fixture, "test.minus/1", "d", a, b);
  test_output(&world, test_binary(&world.fixture, "test.times/1", "y", s, d), "y");
  test_output(&world, test_unary(&world.fixture, "test.ramp/1", "r", d), "r");
  /* Not the pattern: the inputs are not the same. */
  const tenon_value_t e = test_binary(&world.fixture, "test.minus/1", "e", b, a);
  const tenon_value_t t = test_binary(&world.fixture, "test.plus/1", "t", a, a);
  test_output(&world, test_binary(&world.fixture, "test.times/1", "z", t, e), "z");
  (void)test_optimized(&world);
  test_expect_patches(&world, "rewrite tests:difference of squares", 0);
  test_world_close(&world);
}

TENON_TEST(asks_attributes_and_guard) {
  static tenon__rewrite_entry_t twice = {
      .rewrite = {.name = "twice",
                  .pattern = "y = test.scale/1(x){mode='times', factor=f}",
                  .when = "rank(x) == 2",
                  .replacement = "y = test.plus/1(x, x)"}};
  for (uint32_t round = 0; round < 3; ++round) {
    test_world_t world;
    const tenon__rewrite_entry_t* list[1];
    REQUIRE(test_world_open(&world));
    use(&world, &twice, list);
    const tenon_builder_table_t* build = world.fixture.build;
    const tenon_value_t x = test_input(&world.fixture, "x", round == 1 ? DIMS(3) : DIMS(3, 3));
    tenon_value_t y = {0};
    EXPECT_STATUS(build->begin(world.fixture.builder, "test.scale/1", "s"), TENON_OK);
    EXPECT_STATUS(
        build->attribute_string(world.fixture.builder, "mode", round == 2 ? "plus" : "times"),
        TENON_OK);
    EXPECT_STATUS(build->add_input(world.fixture.builder, x), TENON_OK);
    EXPECT_STATUS(build->end(world.fixture.builder, &y, 1), TENON_OK);
    test_output(&world, y, "y");
    (void)test_optimized(&world);
    test_expect_patches(&world, "rewrite tests:twice", round == 0 ? 1 : 0);
    test_world_close(&world);
  }
}

/* 0.1 in f32 is another number than the guard's, and written the same. */
TENON_TEST(a_guard_reads_constants_of_floats) {
  static tenon__rewrite_entry_t tenth = {
      .rewrite = {.name = "tenth",
                  .pattern = "y = test.times/1(x, c)",
                  .when = "elements(c) == 1 && rank(c) <= rank(x) && value(c) == 0.1",
                  .replacement = "y = test.scale/1(x){factor=0.1}"}};
  static const float numbers[] = {0.1F, 0.100001F, 2, -0.1F};
  for (uint32_t round = 0; round < 5; ++round) {
    test_world_t world;
    const tenon__rewrite_entry_t* list[1];
    REQUIRE(test_world_open(&world));
    use(&world, &tenth, list);
    const tenon_value_t x = test_input(&world.fixture, "x", DIMS(3, 3));
    const tenon_value_t c = round == 4 ? test_input(&world.fixture, "c", DIMS(1))
                                       : test_floats(&world.fixture, "c", &numbers[round], DIMS(1));
    test_output(&world, test_binary(&world.fixture, "test.times/1", "y", x, c), "y");
    (void)test_optimized(&world);
    test_expect_patches(&world, "rewrite tests:tenth", round == 0 ? 1 : 0);
    test_world_close(&world);
  }
}

TENON_TEST(carries_attributes_over) {
  static tenon__rewrite_entry_t back = {
      .rewrite = {.name = "again",
                  .pattern = "t = test.permute/1(x){perm=p}; y = test.ramp/1(t)",
                  .replacement = "t = test.ramp/1(x); y = test.permute/1(t){perm=p}"}};
  test_world_t world;
  const tenon__rewrite_entry_t* list[1];
  REQUIRE(test_world_open(&world));
  use(&world, &back, list);
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2, 3));
  const tenon_value_t p = test_permute(&world.fixture, "p", x, DIMS(1, 0));
  test_output(&world, test_unary(&world.fixture, "test.ramp/1", "y", p), "y");
  EXPECT_CONTAINS(test_optimized(&world), "y: f32[3, 2] = test.permute/1(ramp_0) {perm=[1, 0]}");
  test_world_close(&world);
}

TENON_TEST(says_what_is_wrong_with_a_rewrite) {
  static tenon__rewrite_entry_t broken = {
      .rewrite = {.name = "broken", .pattern = "y = = x", .replacement = "y = test.ramp/1(x)"}};
  test_world_t world;
  const tenon__rewrite_entry_t* list[1];
  REQUIRE(test_world_open(&world));
  use(&world, &broken, list);
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2, 3));
  test_output(&world, test_unary(&world.fixture, "test.ramp/1", "y", x), "y");
  EXPECT_STATUS(tenon__optimize(world.fixture.network, &world.options, &world.fixture.messages.sink,
                                &world.report),
                TENON_OK);
  EXPECT_CONTAINS(world.fixture.messages.text, "rewrite broken of tests: ");
  test_world_close(&world);
}

/* exponential(x) becomes ramp(x) where x has three elements in its last axis. The parameters are
 * the contract's. NOLINTNEXTLINE(readability-function-size) */
static int32_t by_code(const tenon_rewriting_t* call, tenon_value_t* out) {
  const tenon_value_info_t* info =
      call->table->value(call->match, call->table->input(call->match, 0));
  if (call->input_count != 1 || info->rank == 0 || info->dims_max[info->rank - 1] != 3) {
    return 0;
  }
  if (call->build->begin(call->builder, "test.ramp/1", NULL) != TENON_OK) {
    return 0;
  }
  if (call->build->add_input(call->builder, call->inputs[0]) != TENON_OK) {
    call->build->cancel(call->builder);
    return 0;
  }
  return call->build->end(call->builder, out, 1) == TENON_OK;
}

TENON_TEST(replaces_by_code) {
  static tenon__rewrite_entry_t code = {
      .rewrite = {.name = "code", .pattern = "y = test.exponential/1(x)", .rewrite = by_code}};
  test_world_t world;
  const tenon__rewrite_entry_t* list[1];
  REQUIRE(test_world_open(&world));
  use(&world, &code, list);
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2, 3));
  const tenon_value_t z = test_input(&world.fixture, "z", DIMS(2, 4));
  test_output(&world, test_unary(&world.fixture, "test.exponential/1", "y", x), "y");
  test_output(&world, test_unary(&world.fixture, "test.exponential/1", "w", z), "w");
  const char* text = test_optimized(&world);
  EXPECT_CONTAINS(text, "y: f32[2, 3] = test.ramp/1(x)\n");
  EXPECT_CONTAINS(text, "w: f32[2, 4] = test.exponential/1(z)\n");
  test_expect_patches(&world, "rewrite tests:code", 1);
  test_world_close(&world);
}

static int32_t by_input(const tenon_rewriting_t* call, tenon_value_t* out) {
  *out = call->inputs[0];
  return call->input_count == 1;
}

/* What no text can say. */
TENON_TEST(code_may_leave_an_input_itself) {
  static tenon__rewrite_entry_t code = {
      .rewrite = {.name = "code", .pattern = "y = test.exponential/1(x)", .rewrite = by_input}};
  test_world_t world;
  const tenon__rewrite_entry_t* list[1];
  REQUIRE(test_world_open(&world));
  use(&world, &code, list);
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2, 3));
  const tenon_value_t e = test_unary(&world.fixture, "test.exponential/1", "e", x);
  test_output(&world, test_unary(&world.fixture, "test.ramp/1", "y", e), "y");
  const char* text = test_optimized(&world);
  EXPECT_CONTAINS(text, "y: f32[2, 3] = test.ramp/1(x)\n");
  test_expect_patches(&world, "rewrite tests:code", 1);
  test_world_close(&world);
}

TENON_TEST(declines_a_replacement_of_another_shape) {
  static tenon__rewrite_entry_t wrong = {.rewrite = {.name = "wrong",
                                                     .pattern = "y = test.permute/1(x)",
                                                     .replacement = "y = test.ramp/1(x)"}};
  test_world_t world;
  const tenon__rewrite_entry_t* list[1];
  REQUIRE(test_world_open(&world));
  use(&world, &wrong, list);
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2, 3));
  test_output(&world, test_permute(&world.fixture, "y", x, DIMS(1, 0)), "y");
  EXPECT_CONTAINS(test_optimized(&world), "y: f32[3, 2] = test.permute/1(x)");
  test_expect_patches(&world, "rewrite tests:wrong", 0);
  test_world_close(&world);
}

TENON_TEST(takes_a_node_for_one_statement_alone) {
  static tenon__rewrite_entry_t ramps = {
      .rewrite = {.name = "ramps",
                  .pattern = "a = test.ramp/1(x); b = test.ramp/1(z); y = test.plus/1(a, b)",
                  .replacement = "s = test.plus/1(x, z); y = test.ramp/1(s)"}};
  test_world_t world;
  const tenon__rewrite_entry_t* list[1];
  REQUIRE(test_world_open(&world));
  use(&world, &ramps, list);
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(3));
  const tenon_value_t ramp = test_unary(&world.fixture, "test.ramp/1", "ramp", x);
  test_output(&world, test_binary(&world.fixture, "test.plus/1", "y", ramp, ramp), "y");
  (void)test_optimized(&world);
  test_expect_patches(&world, "rewrite tests:ramps", 0);
  test_world_close(&world);
}

/* ---- Without an end ---- */

/* Two nodes; the bound is of the network as it came, however often the sweep begins again. */
static void expect_stopped(const tenon__rewrite_entry_t* const* list, uint32_t count,
                           const char* name) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  world.options.verifies = false;
  world.options.rewrites = list;
  world.options.rewrite_count = count;
  const tenon_value_t x = test_input(&world.fixture, "x", DIMS(2));
  const tenon_value_t y = test_unary(&world.fixture, "test.ramp/1", "y", x);
  test_output(&world, test_unary(&world.fixture, "test.exponential/1", "z", y), "z");
  EXPECT_STATUS(tenon__builder_finish(world.fixture.builder), TENON_OK);
  EXPECT_STATUS(tenon__optimize(world.fixture.network, &world.options, &world.fixture.messages.sink,
                                &world.report),
                TENON_OK);
  EXPECT(world.report.patch_count > 100 && world.report.patch_count <= 201 + 100);
  EXPECT_INT(world.fixture.messages.count, 1);
  EXPECT_CONTAINS(world.fixture.messages.text, "optimising stopped after");
  EXPECT_CONTAINS(world.fixture.messages.text, name);
  EXPECT_CONTAINS(world.fixture.messages.text, "of plugin tests was applied");
  EXPECT_STATUS(tenon__network_verify(world.fixture.network, &world.fixture.messages.sink),
                TENON_OK);
  test_world_close(&world);
}

static tenon__rewrite_entry_t itself = {.rewrite = {.size = sizeof(tenon_rewrite_t),
                                                    .name = "itself",
                                                    .pattern = "y = test.ramp/1(x)",
                                                    .replacement = "y = test.ramp/1(x)"},
                                        .owner = &owner};
static tenon__rewrite_entry_t grows = {
    .rewrite = {.size = sizeof(tenon_rewrite_t),
                .name = "grows",
                .pattern = "y = test.ramp/1(x)",
                .replacement = "t = test.ramp/1(x); y = test.ramp/1(t)"},
    .owner = &owner};
static tenon__rewrite_entry_t away = {.rewrite = {.size = sizeof(tenon_rewrite_t),
                                                  .name = "away",
                                                  .pattern = "y = test.ramp/1(x)",
                                                  .replacement = "y = test.same/1(x)"},
                                      .owner = &owner};
static tenon__rewrite_entry_t and_back = {.rewrite = {.size = sizeof(tenon_rewrite_t),
                                                      .name = "and back",
                                                      .pattern = "y = test.same/1(x)",
                                                      .replacement = "y = test.ramp/1(x)"},
                                          .owner = &owner};

TENON_TEST(one_that_matches_what_it_made_is_stopped) {
  const tenon__rewrite_entry_t* const alone[] = {&itself};
  const tenon__rewrite_entry_t* const buffer[] = {&grows};
  expect_stopped(alone, 1, "rewrite 'itself'");
  expect_stopped(buffer, 1, "rewrite 'grows'");
}

TENON_TEST(two_that_undo_one_another_are_stopped) {
  const tenon__rewrite_entry_t* const both[] = {&away, &and_back};
  expect_stopped(both, 2, "'");
}
