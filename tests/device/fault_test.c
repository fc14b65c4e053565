/* Faults that work on the device `far` finds in data: read when the host waits, told with the
 * step's name and the kernel's words, and forgotten before the next run. */
#include "network_run.h"

enum { PLACES = 4, WRITES = 2 };

typedef struct world_t {
  session_t session;
  const far_control_t* far;
  tenon_plan_t* plan;
  tenon_engine_t* engine;
  tenon_context_t* context;
} world_t;

/* y = -(x with updates at the indices, which are an input). */
static void make(session_t* session) {
  static const int64_t places[] = {PLACES};
  static const int64_t writes[] = {WRITES};
  tenon_value_t in[3] = {{0}};
  EXPECT_STATUS(
      tenon_network_add_input(session->network, "x", TENON_DTYPE_FLOAT32, 1, places, &in[0]),
      TENON_OK);
  EXPECT_STATUS(
      tenon_network_add_input(session->network, "indices", TENON_DTYPE_INT64, 1, writes, &in[1]),
      TENON_OK);
  EXPECT_STATUS(
      tenon_network_add_input(session->network, "updates", TENON_DTYPE_FLOAT32, 1, writes, &in[2]),
      TENON_OK);
  tenon_value_t y = ABSENT;
  EXPECT_STATUS(tenon_network_add(session->network, "standard.scatter_elements/1", "writes", in, 3,
                                  NULL, 0, &y, 1),
                TENON_OK);
  EXPECT_STATUS(tenon_network_add_output(session->network,
                                         node(session, "standard.neg/1", VALUES(y), NULL), "y"),
                TENON_OK);
}

static bool open_world(world_t* world, uint64_t is_lazy) {
  char folder[1024];
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  memset(world, 0, sizeof *world);
  options.device = "far";
  options.no_measuring = 1;
  world->far = far_control_open(FAR_DEVICE_PATH);
  if (world->far == NULL ||
      !session_begin(&world->session, session_path("tests/far_device", folder, sizeof folder))) {
    return false;
  }
  world->far->reset();
  make(&world->session);
  EXPECT_STATUS(tenon_build(world->session.network, &options, &world->plan), TENON_OK);
  EXPECT_STATUS(
      tenon_engine_create_from_plan(world->session.registry, world->plan, NULL, &world->engine),
      TENON_OK);
  world->far->set(0, FAR_SETTING_LAZY, is_lazy);
  return world->engine != NULL &&
         tenon_context_create(world->engine, NULL, &world->context) == TENON_OK;
}

static void close_world(world_t* world) {
  far_counts_t counts;
  tenon_context_destroy(world->context);
  tenon_engine_release(world->engine);
  tenon_plan_destroy(world->plan);
  session_end(&world->session);
  world->far->counts(0, &counts);
  EXPECT_INT(counts.mistakes, 0);
  EXPECT_INT(counts.live_allocations + counts.live_streams + counts.live_recordings, 0);
}

static void set_input(world_t* world, uint32_t index, tenon_dtype_t dtype, int64_t count,
                      void* data) {
  const int64_t one = 1;
  const tenon_tensor_view_t view = {.data = data,
                                    .dims = &count,
                                    .strides = &one,
                                    .rank = 1,
                                    .dtype = dtype,
                                    .layout = TENON_NONE};
  EXPECT_STATUS(tenon_context_set_input(world->context, index, &view), TENON_OK);
}

/* 10 goes to place 1, 20 to `second`. */
static tenon_status_t run(world_t* world, int64_t second) {
  float x[PLACES] = {1, 2, 3, 4};
  int64_t indices[WRITES] = {1, second};
  float updates[WRITES] = {10, 20};
  set_input(world, 0, TENON_DTYPE_FLOAT32, PLACES, x);
  set_input(world, 1, TENON_DTYPE_INT64, WRITES, indices);
  set_input(world, 2, TENON_DTYPE_FLOAT32, WRITES, updates);
  return tenon_context_run(world->context);
}

static void expect_good_run(world_t* world) {
  static const float expected[PLACES] = {-1, -10, -3, -20};
  tenon_tensor_view_t y = {0};
  EXPECT_STATUS(run(world, 3), TENON_OK);
  EXPECT_STATUS(tenon_context_get_output(world->context, 0, &y), TENON_OK);
  for (int k = 0; k < PLACES && y.data != NULL; ++k) {
    EXPECT_NEAR(((const float*)y.data)[k], expected[k], 0);
  }
}

/* Step by step, recorded, replayed: wherever it happens it is told, and told once. */
TENON_TEST(a_fault_names_the_step) {
  for (uint64_t is_lazy = 0; is_lazy < 2; ++is_lazy) {
    world_t world;
    REQUIRE(open_world(&world, is_lazy));
    for (int64_t round = 0; round < 5; ++round) {
      EXPECT_STATUS(run(&world, 70 + round), TENON_ERROR_INVALID_DATA);
      char words[128];
      (void)snprintf(
          words, sizeof words,
          "writes (standard.scatter_elements/1, far_device:scatter_elements): scatters to %d, "
          "where nothing is",
          (int)(70 + round));
      EXPECT_CONTAINS(tenon_last_message(), words);
      expect_good_run(&world);
      expect_good_run(&world);
    }
    close_world(&world);
  }
}

/* A step without faults to tell asks for nothing: here one copy of a few bytes. */
TENON_TEST(a_run_without_one_costs_a_copy) {
  world_t world;
  far_counts_t before;
  far_counts_t after;
  REQUIRE(open_world(&world, 0));
  for (int k = 0; k < 4; ++k) {
    expect_good_run(&world);
  }
  world.far->counts(0, &before);
  expect_good_run(&world);
  world.far->counts(0, &after);
  EXPECT_INT(after.copied_bytes[TENON_COPY_TO_HOST] - before.copied_bytes[TENON_COPY_TO_HOST],
             PLACES * sizeof(float) + sizeof(tenon_fault_t));
  close_world(&world);
}
