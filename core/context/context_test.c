/* Runs that another thread ends: within a kernel that asks, between steps, between iterations. What
 * such a run leaves behind does not show in the next one. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "core/base/allocator.h"
#include "core/base/file.h"
#include "core/context/border.h"
#include "core/context/context.h"
#include "tests/support/core_world.h"

enum { ZEROED_BYTES = 64 };
static const double hopeless_seconds = 60; /* then the test fails instead of hanging */

/* What the kernel does, y = x + 1 apart. */
typedef enum act_t {
  ACT_PASS,
  ACT_ASK, /* goes on until it hears that nobody wants the result, then finds fault with the data */
  ACT_SHARE, /* the same, in bodies of parallel */
  ACT_STALL  /* tells that it has begun, and waits; then ends as if nothing were */
} act_t;

static struct {
  _Atomic int act;
  atomic_uint calls;
  atomic_uint deaf;  /* that were never told */
  atomic_uint dirty; /* calls that found memory which should have been zero */
  sem_t began;       /* by each call that does not pass */
  sem_t go;          /* ACT_STALL waits for it */
} stage;

typedef struct share_t {
  tenon_run_t* run;
  const tenon_run_table_t* host;
} share_t;

static void ask(void* user, uint32_t index, uint32_t thread) {
  const share_t* share = user;
  const double begin = tenon__seconds();
  (void)thread;
  if (index == 0) {
    (void)sem_post(&stage.began);
  }
  while (share->host->cancelled(share->run) == 0) {
    if (tenon__seconds() - begin > hopeless_seconds) {
      (void)atomic_fetch_add(&stage.deaf, 1);
      return;
    }
  }
}

static tenon_status_t play(const tenon_enqueue_t* call) {
  const share_t share = {call->run, call->host};
  unsigned char* zeroed = call->host->zeroed(call->run);
  const int act = atomic_load(&stage.act);
  (void)atomic_fetch_add(&stage.calls, 1);
  (void)atomic_fetch_add(&stage.dirty, zeroed[0]);
  zeroed[0] = 1;
  const int64_t count = call->inputs[0].tensor.rank > 0 ? call->inputs[0].tensor.dims[0] : 1;
  for (int64_t k = 0; k < count; ++k) {
    ((float*)call->outputs[0].tensor.data)[k] = ((const float*)call->inputs[0].tensor.data)[k] + 1;
  }
  if (act == ACT_ASK) {
    ask(tenon__drop_const(&share), 0, 0);
    return call->host->fail(call->run, TENON_ERROR_INVALID_DATA, "the data are half done");
  }
  if (act == ACT_SHARE) {
    call->host->parallel(call->run, 100, ask, tenon__drop_const(&share));
    return TENON_ERROR_INTERNAL;
  }
  zeroed[0] = 0;
  if (act == ACT_STALL) {
    (void)sem_post(&stage.began);
    (void)sem_wait(&stage.go);
  }
  return TENON_OK;
}

static tenon_status_t offer_tactic(void* state, const tenon_region_t* region,
                                   const tenon_region_table_t* table, tenon_emit_t* emit,
                                   tenon_status_t (*add)(tenon_emit_t* emit,
                                                         const tenon_tactic_t* tactic)) {
  const tenon_tactic_t tactic = {
      .size = sizeof tactic, .name = "play", .zeroed_bytes = ZEROED_BYTES};
  (void)state;
  (void)region;
  (void)table;
  return add(emit, &tactic);
}

static const char* const takes_dice[] = {"test.dice/1", NULL};
static const tenon_kernel_t kernel = {.size = sizeof(tenon_kernel_t),
                                      .name = "stage",
                                      .device = "cpu",
                                      .version = 1,
                                      .operators = takes_dice,
                                      .tactics = offer_tactic,
                                      .enqueue = play};

static void begin(core_world_t* world) {
  core_world_begin(world, &kernel, 1);
  world->options.tuning.thread_count = 3;
  atomic_store(&stage.act, ACT_PASS);
  atomic_store(&stage.calls, 0);
  atomic_store(&stage.deaf, 0);
  atomic_store(&stage.dirty, 0);
  EXPECT_INT(sem_init(&stage.began, 0, 0), 0);
  EXPECT_INT(sem_init(&stage.go, 0, 0), 0);
}

static void end(core_world_t* world) {
  core_world_end(world);
  (void)sem_destroy(&stage.began);
  (void)sem_destroy(&stage.go);
}

static tenon_value_t roll(test_fixture_t* b, const char* name, tenon_value_t x) {
  return test_unary(b, "test.dice/1", name, x);
}

/* Not NULL when it was cancelled. */
static void* run(void* user) {
  core_world_t* world = user;
  return tenon__context_run(world->context) == TENON_ERROR_CANCELLED ? world : NULL;
}

/* Runs in another thread, and cancels once the kernel has begun `count` times. */
static void expect_cancelled(core_world_t* world, act_t act, uint32_t count) {
  pthread_t thread;
  void* was_cancelled = NULL;
  atomic_store(&stage.act, (int)act);
  REQUIRE(pthread_create(&thread, NULL, run, world) == 0);
  for (uint32_t k = 0; k < count; ++k) {
    (void)sem_wait(&stage.began);
    if (k + 1 < count) {
      (void)sem_post(&stage.go);
    }
  }
  tenon__context_cancel(world->context);
  (void)sem_post(&stage.go);
  REQUIRE(pthread_join(thread, &was_cancelled) == 0);
  EXPECT(was_cancelled != NULL);
  EXPECT_INT(atomic_load(&stage.deaf), 0);
  EXPECT_CONTAINS(world->fixture.messages.text, "the run was cancelled");
  EXPECT(strstr(world->fixture.messages.text, "half done") == NULL);
  EXPECT(strstr(world->fixture.messages.text, "failed") == NULL);
  EXPECT_INT(tenon__context_get_output(world->context, 0)->kind, TENON_ARGUMENT_ABSENT);
  atomic_store(&stage.act, ACT_PASS);
}

static bool start_chain(core_world_t* world) {
  static const float x[2] = {1, 5};
  test_fixture_t* b = &world->fixture;
  const tenon_value_t y = roll(b, "second", roll(b, "first", test_input(b, "x", DIMS(2))));
  EXPECT_STATUS(b->build->output(b->builder, y, "y"), TENON_OK);
  return core_world_start(world) &&
         core_world_set(world, 0, TENON_DTYPE_FLOAT32, DIMS(2), x) == TENON_OK;
}

TENON_TEST(a_kernel_that_asks_ends_early) {
  static const act_t acts[] = {ACT_ASK, ACT_SHARE, ACT_ASK};
  core_world_t world;
  begin(&world);
  if (start_chain(&world)) {
    for (size_t k = 0; k < sizeof acts / sizeof acts[0]; ++k) {
      expect_cancelled(&world, acts[k], 1);
      core_world_expect_ran(&world);
      EXPECT_FLOATS(&world, 0, 3, 7);
      EXPECT_INT(atomic_load(&stage.dirty), 0);
    }
  }
  end(&world);
}

TENON_TEST(no_step_begins_after_one_that_does_not_ask) {
  core_world_t world;
  begin(&world);
  if (start_chain(&world)) {
    expect_cancelled(&world, ACT_STALL, 1);
    EXPECT_INT(atomic_load(&stage.calls), 1);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 3, 7);
    EXPECT_INT(atomic_load(&stage.calls), 3);
  }
  end(&world);
}

/* Nobody runs: it is not kept for later. */
TENON_TEST(without_a_run_nothing_happens) {
  core_world_t world;
  begin(&world);
  if (start_chain(&world)) {
    tenon__context_cancel(world.context);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 3, 7);
    tenon__context_cancel(world.context);
    EXPECT_FLOATS(&world, 0, 3, 7);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 3, 7);
  }
  end(&world);
}

/* h' = h + 1 as often as `trips` says, or with an empty body that carries h alone. */
static bool start_loop(core_world_t* world, bool is_empty) {
  static const float h = 0;
  test_fixture_t* b = &world->fixture;
  tenon_value_t p[3] = {{0}};
  tenon_value_t y = {0};
  uint32_t loop_body = 0;
  const tenon_value_t trips = test_input_of(b, "trips", TENON_DTYPE_INT64, SCALAR);
  const tenon_value_t x = test_input(b, "x", SCALAR);
  EXPECT_STATUS(b->build->begin_body(b->builder, "body"), TENON_OK);
  EXPECT_STATUS(b->build->body_parameter(b->builder, "i", TENON_ARGUMENT_TENSOR, TENON_DTYPE_INT64,
                                         0, NULL, &p[0]),
                TENON_OK);
  EXPECT_STATUS(b->build->body_parameter(b->builder, "go", TENON_ARGUMENT_TENSOR, TENON_DTYPE_BOOL,
                                         0, NULL, &p[1]),
                TENON_OK);
  EXPECT_STATUS(b->build->body_parameter_like(b->builder, "h", x, &p[2]), TENON_OK);
  EXPECT_STATUS(b->build->body_result(b->builder, p[1]), TENON_OK);
  EXPECT_STATUS(b->build->body_result(b->builder, is_empty ? p[2] : roll(b, "roll", p[2])),
                TENON_OK);
  EXPECT_STATUS(b->build->end_body(b->builder, &loop_body), TENON_OK);
  EXPECT_STATUS(b->build->begin(b->builder, "test.repeat/1", "loop"), TENON_OK);
  EXPECT_STATUS(b->build->attribute_int(b->builder, "carried_count", 1), TENON_OK);
  EXPECT_STATUS(b->build->add_input(b->builder, trips), TENON_OK);
  EXPECT_STATUS(b->build->add_input(b->builder, (tenon_value_t){0}), TENON_OK);
  EXPECT_STATUS(b->build->add_input(b->builder, x), TENON_OK);
  EXPECT_STATUS(b->build->add_body(b->builder, loop_body), TENON_OK);
  EXPECT_STATUS(b->build->output_count(b->builder, 1), TENON_OK);
  EXPECT_STATUS(b->build->end(b->builder, &y, 1), TENON_OK);
  EXPECT_STATUS(b->build->output(b->builder, y, "y"), TENON_OK);
  return core_world_start(world) &&
         core_world_set(world, 1, TENON_DTYPE_FLOAT32, SCALAR, &h) == TENON_OK;
}

static void set_trips(core_world_t* world, int64_t* trips, int64_t count) {
  *trips = count;
  EXPECT_STATUS(core_world_set(world, 0, TENON_DTYPE_INT64, SCALAR, trips), TENON_OK);
}

TENON_TEST(a_loop_ends_between_two_iterations) {
  core_world_t world;
  int64_t trips = 0;
  begin(&world);
  if (start_loop(&world, false)) {
    set_trips(&world, &trips, INT64_C(1) << 40);
    expect_cancelled(&world, ACT_STALL, 3);
    EXPECT_INT(atomic_load(&stage.calls), 3);
    set_trips(&world, &trips, 4);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 4);
  }
  end(&world);
}

/* Its body has no step that could ask. */
TENON_TEST(a_loop_without_steps_ends_too) {
  core_world_t world;
  int64_t trips = 0;
  pthread_t thread;
  void* was_cancelled = NULL;
  begin(&world);
  if (start_loop(&world, true)) {
    set_trips(&world, &trips, INT64_C(1) << 50);
    REQUIRE(pthread_create(&thread, NULL, run, &world) == 0);
    while (pthread_tryjoin_np(thread, &was_cancelled) != 0) { /* before it runs, too */
      tenon__context_cancel(world.context);
      (void)sched_yield();
    }
    EXPECT(was_cancelled != NULL);
    set_trips(&world, &trips, 2);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 0);
  }
  end(&world);
}

TENON_TEST(states_stay_as_they_were) {
  core_world_t world;
  static const float initial[2] = {10, 20};
  const int64_t dims[1] = {2};
  const tenon_state_descriptor_t state = {.size = sizeof state,
                                          .name = "sum",
                                          .dtype = TENON_DTYPE_FLOAT32,
                                          .rank = 1,
                                          .dims = dims,
                                          .initial_data = initial};
  tenon_value_t old = {0};
  begin(&world);
  test_fixture_t* b = &world.fixture;
  EXPECT_STATUS(b->build->add_state(b->builder, &state, &old), TENON_OK);
  const tenon_value_t next = roll(b, "second", roll(b, "first", old));
  EXPECT_STATUS(b->build->write_state(b->builder, "sum", next), TENON_OK);
  EXPECT_STATUS(b->build->output(b->builder, next, "y"), TENON_OK);
  if (core_world_start(&world)) {
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 12, 22);
    expect_cancelled(&world, ACT_STALL, 2); /* in the last step */
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 14, 24);
  }
  end(&world);
}
