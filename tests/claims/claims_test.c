/*
 * Kernels of several nodes, from a plugin: patterns and proposals take part in the covering, give
 * what the nodes give on their own, and where they lose the plan says why.
 */
#include <math.h>
#include <string.h>

#include "core/base/test.h"
#include "tenon/tenon.h"

enum { SIZE = 3, VALUES = SIZE * SIZE, INPUTS_MAX = 8 };

typedef struct world_t {
  tenon_registry_t* registry;
  tenon_network_t* network;
  tenon_plan_t* plan;
  tenon_engine_t* engine;
  tenon_context_t* context;
  uint32_t output_count;
} world_t;

static bool open_world(world_t* world) {
  static const char* const paths[] = {CLAIMS_FOLDER, NULL};
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  *world = (world_t){0};
  options.paths = paths;
  return tenon_registry_create(&options, &world->registry) == TENON_OK &&
         tenon_network_create(world->registry, &world->network) == TENON_OK;
}

static void close_world(world_t* world) {
  tenon_context_destroy(world->context);
  tenon_engine_release(world->engine);
  tenon_plan_destroy(world->plan);
  tenon_network_destroy(world->network);
  tenon_registry_release(world->registry);
}

static tenon_value_t input(world_t* world, const char* name) {
  const int64_t dims[] = {SIZE, SIZE};
  tenon_value_t value = {0};
  EXPECT_STATUS(tenon_network_add_input(world->network, name, TENON_DTYPE_FLOAT32, 2, dims, &value),
                TENON_OK);
  return value;
}

static tenon_value_t node(world_t* world, const char* op, const char* name, tenon_value_t a,
                          tenon_value_t b) {
  const tenon_value_t inputs[] = {a, b};
  tenon_value_t value = {0};
  EXPECT_STATUS(tenon_network_add(world->network, op, name, inputs, 2, NULL, &value, 1), TENON_OK);
  return value;
}

static tenon_value_t product(world_t* world, const char* name, tenon_value_t a, tenon_value_t b) {
  return node(world, "standard.mat_mul/1", name, a, b);
}

static void output(world_t* world, tenon_value_t value, const char* name) {
  EXPECT_STATUS(tenon_network_add_output(world->network, value, name), TENON_OK);
  world->output_count += 1;
}

/* Estimates decide, so that the choice is the same each time. */
static bool build(world_t* world, const char* const* exclude) {
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.no_measuring = 1;
  options.keep_refusals = 1;
  options.exclude = exclude;
  options.thread_count = 1;
  return tenon_build(world->network, &options, &world->plan) == TENON_OK &&
         tenon_engine_create_from_plan(world->registry, world->plan, NULL, &world->engine) ==
             TENON_OK &&
         tenon_context_create(world->engine, NULL, &world->context) == TENON_OK;
}

static void forget_plan(world_t* world) {
  tenon_context_destroy(world->context);
  tenon_engine_release(world->engine);
  tenon_plan_destroy(world->plan);
  world->context = NULL;
  world->engine = NULL;
  world->plan = NULL;
}

/* Runs on numbers that depend on the input alone; outputs one after the other. */
static bool run(world_t* world, float* out_values) {
  const int64_t dims[] = {SIZE, SIZE};
  float data[INPUTS_MAX][VALUES]; /* lent until the run is over */
  const uint32_t input_count = tenon_engine_input_count(world->engine);
  if (input_count > INPUTS_MAX) {
    return false;
  }
  for (uint32_t i = 0; i < input_count; ++i) {
    for (uint32_t k = 0; k < VALUES; ++k) {
      data[i][k] = (float)((i * 7 + k * 5) % 11) - 5;
    }
    const tenon_tensor_view_t view = {.data = data[i],
                                      .dims = dims,
                                      .rank = 2,
                                      .dtype = TENON_DTYPE_FLOAT32,
                                      .layout = TENON_NONE};
    if (tenon_context_set_input(world->context, i, &view) != TENON_OK) {
      return false;
    }
  }
  if (tenon_context_run(world->context) != TENON_OK) {
    return false;
  }
  for (uint32_t o = 0; o < world->output_count; ++o) {
    tenon_tensor_view_t view;
    if (tenon_context_get_output(world->context, o, &view) != TENON_OK) {
      return false;
    }
    memcpy(out_values + (size_t)o * VALUES, view.data, VALUES * sizeof(float));
  }
  return true;
}

/* The same numbers as without the plugin. Whole numbers far below 2^24: sums are exact in any
 * order. */
static void expect_same_without(world_t* world) {
  static const char* const exclude[] = {"joined_products", NULL};
  float with[4 * VALUES] = {0};
  float without[4 * VALUES] = {0};
  REQUIRE(run(world, with));
  forget_plan(world);
  REQUIRE(build(world, exclude));
  REQUIRE(run(world, without));
  for (uint32_t k = 0; k < world->output_count * VALUES; ++k) {
    EXPECT_NEAR(with[k], without[k], 0);
  }
}

static bool step_info(const world_t* world, uint32_t index, tenon_step_info_t* out_info) {
  *out_info = (tenon_step_info_t){.size = sizeof(*out_info)};
  return tenon_engine_get_step(world->engine, index, out_info) == TENON_OK;
}

TENON_TEST(a_pattern_becomes_one_step) {
  world_t world;
  tenon_step_info_t info = {.size = sizeof(info)};
  REQUIRE(open_world(&world));
  const tenon_value_t t = product(&world, "first", input(&world, "a"), input(&world, "b"));
  output(&world, product(&world, "second", t, input(&world, "c")), "y");
  REQUIRE(build(&world, NULL));
  EXPECT(tenon_engine_step_count(world.engine) == 1);
  REQUIRE(step_info(&world, 0, &info));
  EXPECT_TEXT(info.plugin, "joined_products");
  EXPECT_TEXT(info.kernel, "chain");
  EXPECT_CONTAINS(info.nodes, "first");
  EXPECT_CONTAINS(info.nodes, "second");
  expect_same_without(&world);
  close_world(&world);
}

TENON_TEST(values_that_others_read_keep_a_pattern_apart) {
  world_t world;
  REQUIRE(open_world(&world));
  const tenon_value_t t = product(&world, "first", input(&world, "a"), input(&world, "b"));
  output(&world, product(&world, "second", t, input(&world, "c")), "y");
  output(&world, t, "t");
  REQUIRE(build(&world, NULL));
  EXPECT(tenon_engine_step_count(world.engine) == 2);
  close_world(&world);
}

/* Three in a row: the pattern of three is slow, and of the two pairs one is taken. */
TENON_TEST(a_slow_claim_is_not_taken_and_says_so) {
  world_t world;
  tenon_step_info_t info = {.size = sizeof(info)};
  REQUIRE(open_world(&world));
  tenon_value_t t = product(&world, "first", input(&world, "a"), input(&world, "b"));
  t = product(&world, "second", t, input(&world, "c"));
  output(&world, product(&world, "third", t, input(&world, "d")), "y");
  REQUIRE(build(&world, NULL));
  EXPECT(tenon_engine_step_count(world.engine) == 2);
  bool told = false;
  bool chained = false;
  for (uint32_t k = 0; k < 2; ++k) {
    REQUIRE(step_info(&world, k, &info));
    told = told || strstr(info.refusals, "joined_products:long_chain: 3 nodes at once") != NULL;
    chained = chained || strcmp(info.kernel, "chain") == 0;
  }
  EXPECT(told && chained);
  expect_same_without(&world);
  close_world(&world);
}

TENON_TEST(a_proposal_becomes_one_step_with_several_outputs) {
  world_t world;
  tenon_step_info_t info = {.size = sizeof(info)};
  REQUIRE(open_world(&world));
  const tenon_value_t x = input(&world, "x");
  output(&world, product(&world, "query", x, input(&world, "q")), "yq");
  output(&world, product(&world, "key", x, input(&world, "k")), "yk");
  output(&world, product(&world, "value", x, input(&world, "v")), "yv");
  REQUIRE(build(&world, NULL));
  EXPECT(tenon_engine_step_count(world.engine) == 1);
  REQUIRE(step_info(&world, 0, &info));
  EXPECT_TEXT(info.kernel, "siblings");
  expect_same_without(&world);
  close_world(&world);
}

/* The second product reads what is made of the first: together they would wait for each other. */
TENON_TEST(a_proposal_that_waits_for_itself_is_not_taken) {
  world_t world;
  REQUIRE(open_world(&world));
  const tenon_value_t x = input(&world, "x");
  const tenon_value_t first = product(&world, "first", x, input(&world, "q"));
  const tenon_value_t sum = node(&world, "standard.add/1", "sum", first, x);
  output(&world, first, "y1");
  output(&world, product(&world, "second", x, sum), "y2");
  REQUIRE(build(&world, NULL));
  EXPECT(tenon_engine_step_count(world.engine) >= 2);
  expect_same_without(&world);
  close_world(&world);
}

/* The sum reads the first product through another step, and the second product reads what the sum
 * is made of: as one step with the exponential, the sum would wait for both products, and they for
 * it. */
TENON_TEST(arithmetic_beside_a_claim_does_not_wait_for_itself) {
  world_t world;
  tenon_value_t middle = {0};
  tenon_value_t t = {0};
  REQUIRE(open_world(&world));
  const tenon_value_t x = input(&world, "x");
  const tenon_value_t first = product(&world, "first", x, input(&world, "q"));
  const tenon_value_t c = input(&world, "c");
  EXPECT_STATUS(
      tenon_network_add(world.network, "standard.hardmax/1", "middle", &first, 1, NULL, &middle, 1),
      TENON_OK);
  EXPECT_STATUS(
      tenon_network_add(world.network, "standard.exp/1", "exponential", &c, 1, NULL, &t, 1),
      TENON_OK);
  output(&world, node(&world, "standard.add/1", "sum", t, middle), "y1");
  output(&world, product(&world, "second", x, t), "y2");
  REQUIRE(build(&world, NULL));
  close_world(&world);
}

/* What the node between two products computes is shown to a kernel that knows no operator but the
 * product: when it is asked, and again when the plan's bytes are loaded. */
TENON_TEST(arithmetic_between_nodes_is_shown) {
  static const char* const exclude[] = {"shown_programs", NULL};
  world_t world;
  tenon_step_info_t info = {.size = sizeof(info)};
  const void* bytes = NULL;
  size_t size = 0;
  float made[VALUES] = {0};
  float loaded[VALUES] = {0};
  float without[VALUES] = {0};
  REQUIRE(open_world(&world));
  const tenon_value_t first = product(&world, "first", input(&world, "a"), input(&world, "b"));
  const tenon_value_t middle = node(&world, "standard.sub/1", "middle", input(&world, "c"), first);
  output(&world, product(&world, "second", middle, input(&world, "d")), "y");
  REQUIRE(build(&world, NULL));
  EXPECT(tenon_engine_step_count(world.engine) == 1);
  REQUIRE(step_info(&world, 0, &info));
  EXPECT_TEXT(info.kernel, "between");
  EXPECT_CONTAINS(info.nodes, "middle");
  REQUIRE(run(&world, made));
  tenon_context_destroy(world.context);
  tenon_engine_release(world.engine);
  world.context = NULL;
  world.engine = NULL;
  REQUIRE(tenon_plan_get_data(world.plan, &bytes, &size) == TENON_OK);
  REQUIRE(tenon_engine_create_from_memory(world.registry, bytes, size, NULL, &world.engine) ==
          TENON_OK);
  REQUIRE(tenon_context_create(world.engine, NULL, &world.context) == TENON_OK);
  REQUIRE(run(&world, loaded));
  forget_plan(&world);
  REQUIRE(build(&world, exclude));
  REQUIRE(run(&world, without));
  for (uint32_t k = 0; k < VALUES; ++k) {
    EXPECT_NEAR(made[k], without[k], 0);
    EXPECT_NEAR(loaded[k], without[k], 0);
  }
  close_world(&world);
}

/* A build without fusion gives every node a step of its own. */
TENON_TEST(no_fusion_takes_no_claims) {
  world_t world;
  REQUIRE(open_world(&world));
  const tenon_value_t t = product(&world, "first", input(&world, "a"), input(&world, "b"));
  output(&world, product(&world, "second", t, input(&world, "c")), "y");
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.no_measuring = 1;
  options.no_fusion = 1;
  REQUIRE(tenon_build(world.network, &options, &world.plan) == TENON_OK);
  REQUIRE(tenon_engine_create_from_plan(world.registry, world.plan, NULL, &world.engine) ==
          TENON_OK);
  EXPECT(tenon_engine_step_count(world.engine) == 2);
  close_world(&world);
}
