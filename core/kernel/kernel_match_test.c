/* What a plan says of a tactic is believed only where the kernel says the same now. */
#include "core/kernel/kernel_match.h"

#include "core/base/test.h"
#include "core/network/test_operators.h"
#include "core/region/region_finish.h"

/* ---- Layouts ---- */

static const uint32_t straight[] = {0, 1};
static const uint32_t turned[] = {1, 0};

static const tenon_layout_t rows = {.size = sizeof rows, .rank = 2};
static const tenon_layout_t ordered_rows = {
    .size = sizeof ordered_rows, .rank = 2, .order = straight};
static const tenon_layout_t columns = {.size = sizeof columns, .rank = 2, .order = turned};

static uint32_t kind_in_plan(const tenon_layout_t* layout) {
  const tenon_argument_rule_t rule = {.kind = TENON_LAYOUT_EXACT, .layout = layout};
  return tenon__rule_in_plan(&rule).kind;
}

TENON_TEST(what_is_rows_is_called_rows_and_nothing_else_is) {
  EXPECT_INT(kind_in_plan(&rows), TENON_LAYOUT_ROW_MAJOR);
  EXPECT_INT(kind_in_plan(&ordered_rows), TENON_LAYOUT_ROW_MAJOR);
  EXPECT_INT(kind_in_plan(&columns), TENON_LAYOUT_EXACT);
}

/* ---- Tactics ---- */

/* What the kernel emits: a tactic with this rule for its first input. */
typedef struct emitter_t {
  tenon_argument_rule_t inputs[3];
  bool gives_none; /* NULL in place of a tactic */
} emitter_t;

static tenon_status_t emit(void* state, const tenon_region_t* region,
                           const tenon_region_table_t* table, tenon_emit_t* to,
                           tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const emitter_t* emitter = state;
  const tenon_tactic_t tactic = {
      .size = sizeof tactic, .name = "one", .inputs = emitter->inputs, .scratch_bytes = 64};
  (void)region;
  (void)table;
  return add(to, emitter->gives_none ? NULL : &tactic);
}

typedef struct world_t {
  test_fixture_t fixture;
  tenon__arena_t arena;
  tenon__profile_t profile;
  struct tenon_region_t region;
  tenon_kernel_t kernel;
  tenon_device_descriptor_t descriptor;
  tenon__device_t device;
  tenon__kernel_binding_t binding;
  emitter_t emitter;
} world_t;

/* test.dense/1 without its optional input. */
static bool open_world(world_t* world) {
  static const char* const takes[] = {"test.dense/1", NULL};
  memset(world, 0, sizeof *world);
  tenon__arena_initialize(&world->arena, tenon__allocator_default());
  if (!test_fixture_open(&world->fixture, tenon__allocator_default())) {
    return false;
  }
  test_fixture_t* b = &world->fixture;
  const tenon_value_t y = test_binary(b, "test.dense/1", "dense", test_input(b, "x", DIMS(4, 8)),
                                      test_input(b, "w", DIMS(2, 8)));
  tenon__extents_t* points[] = {&world->profile.min, &world->profile.optimum, &world->profile.max};
  for (size_t p = 0; p < sizeof points / sizeof points[0]; ++p) {
    EXPECT_STATUS(tenon__extents_create(&world->arena, b->network->pool, points[p]), TENON_OK);
    tenon__extents_update(points[p]);
  }
  EXPECT_STATUS(tenon__region_of_node(&world->arena, b->network, 0, test_value(b, y)->producer,
                                      &world->region),
                TENON_OK);
  EXPECT_STATUS(tenon__region_finish(&world->arena, &world->profile, &world->region), TENON_OK);
  world->descriptor = (tenon_device_descriptor_t){.size = sizeof world->descriptor, .name = "test"};
  world->device = (tenon__device_t){.source = {.descriptor = &world->descriptor}};
  world->kernel = (tenon_kernel_t){.size = sizeof world->kernel,
                                   .name = "dense",
                                   .device = "test",
                                   .operators = takes,
                                   .tactics = emit};
  world->binding = (tenon__kernel_binding_t){.kernel = &world->kernel,
                                             .state = &world->emitter,
                                             .plugin = "tests",
                                             .known = tenon__known_values_of(0),
                                             .device = &world->device};
  return true;
}

static void close_world(world_t* world) {
  tenon__arena_deinitialize(&world->arena);
  test_fixture_close(&world->fixture);
}

/* Does the kernel, which emits one rule, have the tactic of a plan that says another? */
static bool confirms(const tenon_argument_rule_t* emitted, const tenon_argument_rule_t* planned,
                     uint32_t argument) {
  world_t world;
  tenon_argument_rule_t rules[3] = {{0}};
  tenon_refusal_t refusal;
  EXPECT(open_world(&world));
  world.emitter.inputs[argument] = *emitted;
  rules[argument] = *planned;
  tenon__step_tactic_t tactic = {.name = "one", .input_rules = rules};
  const bool has = tenon__kernel_confirms(&world.binding, &world.region, &tactic, &refusal);
  EXPECT_INT(tactic.scratch_bytes, has ? 64 : 0);
  close_world(&world);
  return has;
}

TENON_TEST(a_plan_gives_no_rows_to_a_kernel_of_columns) {
  const tenon_argument_rule_t of_rows = {.kind = TENON_LAYOUT_ROW_MAJOR};
  const tenon_argument_rule_t of_ordered = {.kind = TENON_LAYOUT_EXACT, .layout = &ordered_rows};
  const tenon_argument_rule_t of_columns = {.kind = TENON_LAYOUT_EXACT, .layout = &columns};
  EXPECT(confirms(&of_rows, &of_rows, 0));
  EXPECT(confirms(&of_ordered, &of_rows, 0));
  EXPECT(confirms(&of_columns, &of_columns, 0));
  EXPECT(!confirms(&of_columns, &of_rows, 0));
}

/* What is absent lies nowhere: no rule for it matters. */
TENON_TEST(rules_of_absent_inputs_are_not_compared) {
  const tenon_argument_rule_t of_rows = {.kind = TENON_LAYOUT_ROW_MAJOR};
  const tenon_argument_rule_t of_columns = {.kind = TENON_LAYOUT_EXACT, .layout = &columns};
  EXPECT(confirms(&of_columns, &of_rows, 2));
}

/* ---- Plugins of an older version ---- */

static uint32_t reason_of(const tenon__known_values_t* known) {
  world_t world;
  tenon_refusal_t refusal = {0};
  if (open_world(&world)) {
    world.binding.known = known;
    EXPECT(tenon__kernel_takes(&world.binding, &world.region, &refusal) ==
           (refusal.reason == TENON_REFUSAL_NONE));
  }
  close_world(&world);
  return refusal.reason;
}

TENON_TEST(values_newer_than_the_plugin_are_refused_for_it) {
  tenon__known_values_t older = *tenon__known_values_of(0);
  EXPECT_INT(older.version, TENON_ABI_CURRENT);
  EXPECT(tenon__known_values_of(TENON_ABI_CURRENT) == tenon__known_values_of(0));
  EXPECT(tenon__known_values_of(TENON_ABI_VERSION(0, 65535)) == tenon__known_values_of(0));
  EXPECT_INT(reason_of(&older), TENON_REFUSAL_NONE);
  older.dtype_count = TENON_DTYPE_FLOAT32;
  EXPECT_INT(reason_of(&older), TENON_REFUSAL_DTYPE);
  older = *tenon__known_values_of(0);
  older.argument_count = TENON_ARGUMENT_TENSOR;
  EXPECT_INT(reason_of(&older), TENON_REFUSAL_OTHER);
}

/* max(x, 0): of an expression kernel, and in a slot. */
TENON_TEST(opcodes_newer_than_the_plugin_are_refused_for_it) {
  tenon__known_values_t older = *tenon__known_values_of(0);
  world_t world;
  tenon_refusal_t refusal = {0};
  REQUIRE(open_world(&world));
  test_fixture_t* b = &world.fixture;
  const tenon_value_t y = test_unary(b, "test.ramp/1", "ramp", test_input(b, "z", DIMS(4)));
  const struct tenon_region_t ramp = {.network = b->network,
                                      .kind = TENON_REGION_EXPRESSION,
                                      .expression = test_producer(b, y)->expression};
  older.opcode_count = TENON_OPCODE_MAX;
  EXPECT(!tenon__region_is_known(&ramp, &older, &refusal));
  EXPECT_INT(refusal.reason, TENON_REFUSAL_OTHER);
  const tenon__region_slot_t slot = {.kind = TENON_SLOT_EPILOGUE, .expression = *ramp.expression};
  world.region.slots = &slot;
  world.region.slot_count = 1;
  EXPECT(!tenon__region_is_known(&world.region, &older, &refusal));
  EXPECT_INT(refusal.reason, TENON_REFUSAL_SLOT);
  older.opcode_count = TENON_OPCODE_MAX + 1;
  EXPECT(tenon__region_is_known(&ramp, &older, &refusal));
  close_world(&world);
}

static tenon_status_t count_none(void* user, const tenon_tactic_t* tactic) {
  *(uint32_t*)user += tactic == NULL ? 1u : 0u;
  return TENON_OK;
}

TENON_TEST(a_tactic_that_is_none_is_none) {
  world_t world;
  uint32_t count = 0;
  EXPECT(open_world(&world));
  world.emitter.gives_none = true;
  EXPECT_STATUS(tenon__kernel_tactics(&world.binding, &world.region, count_none, &count), TENON_OK);
  EXPECT_INT(count, 1);
  close_world(&world);
}
