/* Eight threads with a context each on one engine give, bit by bit, what one thread gives. Under
 * the thread sanitizer this also proves that they do not race. */
#include <pthread.h>
#include <stdatomic.h>

#include "core/base/test.h"
#include "tests/engine/networks.h"

enum { THREADS = 8 };

typedef struct work_t {
  const test_network_t* test;
  tenon_registry_t* registry;
  tenon_engine_t* engine;
  uint32_t seed;
  uint32_t thread_count; /* of the context's own pool */
  tenon_status_t status;
  test_result_t result;
} work_t;

static void* run_thread(void* user) {
  work_t* work = user;
  tenon_context_t* context = NULL;
  tenon_context_options_t options = TENON_OPTIONS(tenon_context_options_t);
  options.thread_count = work->thread_count;
  work->status = tenon_context_create(work->engine, &options, &context);
  if (work->status == TENON_OK) {
    work->status = test_run(work->engine, context, work->test->most, work->seed, &work->result);
  }
  tenon_context_destroy(context);
  return NULL;
}

static work_t make_work(const test_network_t* test, tenon_engine_t* engine, uint32_t thread) {
  return (work_t){.test = test, .engine = engine, .seed = thread, .thread_count = thread % 2 + 1};
}

static void check_engine(const test_network_t* test, tenon_engine_t* engine) {
  pthread_t threads[THREADS];
  work_t work[THREADS];
  uint32_t started = 0;
  for (; started < THREADS; ++started) {
    work[started] = make_work(test, engine, started);
    if (pthread_create(&threads[started], NULL, run_thread, &work[started]) != 0) {
      break;
    }
  }
  EXPECT_INT(started, THREADS);
  for (uint32_t k = 0; k < started; ++k) {
    (void)pthread_join(threads[k], NULL);
  }
  for (uint32_t k = 0; k < started; ++k) {
    work_t alone = make_work(test, engine, k);
    (void)run_thread(&alone);
    EXPECT_STATUS(alone.status, TENON_OK);
    EXPECT_STATUS(work[k].status, TENON_OK);
    if (work[k].result.size != alone.result.size || alone.result.size == 0 ||
        memcmp(work[k].result.data, alone.result.data, alone.result.size) != 0) {
      tenon__test_fail(__FILE__, __LINE__, "%s: thread %u gives something else", test->name, k);
    }
    test_result_free(&alone.result);
    test_result_free(&work[k].result);
  }
}

static void check_network(const test_network_t* test) {
  tenon__test_messages_t messages;
  tenon_registry_t* registry = NULL;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  options.logger = *tenon__test_listen(&messages);
  REQUIRE(tenon_registry_create(&options, &registry) == TENON_OK);
  tenon_build_options_t build = TENON_OPTIONS(tenon_build_options_t);
  build.thread_count = 2;
  tenon_status_t status = test_network_build(test, registry, &build, &plan);
  if (status == TENON_OK) {
    status = tenon_engine_create_from_plan(registry, plan, NULL, &engine);
  }
  if (status == TENON_OK) {
    check_engine(test, engine);
  } else {
    tenon__test_fail(__FILE__, __LINE__, "%s: %s", test->name, messages.text);
  }
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  tenon_registry_release(registry);
}

TENON_TEST(eight_contexts_of_one_engine_do_not_disturb_each_other) {
  const test_network_t* tests = NULL;
  const uint32_t count = test_networks(&tests);
  for (uint32_t k = 0; k < count; ++k) {
    check_network(&tests[k]);
  }
}

/* ---- Engines of one registry ---- */

static void* build_thread(void* user) {
  work_t* work = user;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  tenon_build_options_t build = TENON_OPTIONS(tenon_build_options_t);
  build.thread_count = 1;
  build.no_measuring = 1;
  work->status = test_network_build(work->test, work->registry, &build, &plan);
  if (work->status == TENON_OK) {
    work->status = tenon_engine_create_from_plan(work->registry, plan, NULL, &engine);
  }
  if (work->status == TENON_OK) {
    work->engine = engine;
    work->thread_count = 1;
    (void)run_thread(work);
  }
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  return NULL;
}

/* The registry is fresh, so that the threads also meet where plugins are loaded. */
TENON_TEST(eight_threads_build_from_one_registry) {
  tenon_registry_t* registry = NULL;
  const test_network_t* tests = NULL;
  pthread_t threads[THREADS];
  work_t work[THREADS];
  uint32_t started = 0;
  REQUIRE(tenon_registry_create(NULL, &registry) == TENON_OK);
  const uint32_t count = test_networks(&tests);
  for (; started < THREADS; ++started) {
    work[started] =
        (work_t){.test = &tests[started % count], .registry = registry, .seed = started};
    if (pthread_create(&threads[started], NULL, build_thread, &work[started]) != 0) {
      break;
    }
  }
  EXPECT_INT(started, THREADS);
  for (uint32_t k = 0; k < started; ++k) {
    (void)pthread_join(threads[k], NULL);
    EXPECT_STATUS(work[k].status, TENON_OK);
    test_result_free(&work[k].result);
  }
  tenon_registry_release(registry);
}

/* ---- Runs that are cancelled ---- */

typedef struct watch_t {
  tenon_context_t* context;
  atomic_bool is_over;
  uint32_t seed;
} watch_t;

/* Again and again, after waits that differ. */
static void* cancel_thread(void* user) {
  watch_t* watch = user;
  uint32_t state = watch->seed * 2654435761u + 1;
  while (!atomic_load(&watch->is_over)) {
    state = state * 1664525u + 1013904223u;
    for (uint32_t wait = state >> 20; wait > 0 && !atomic_load(&watch->is_over); --wait) {
    }
    tenon_context_cancel(watch->context);
  }
  return NULL;
}

/* Each run succeeds or is cancelled, and what comes after is as if nothing had been. */
static void check_cancelling(const test_network_t* test, tenon_engine_t* engine,
                             tenon_context_t* context, uint32_t* inout_cancelled) {
  watch_t watch = {.context = context, .seed = 1};
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, cancel_thread, &watch) == 0);
  /* Often enough, and until one was hit at least: a busy machine may need longer for that. */
  for (uint32_t k = 0; k < 50 || (*inout_cancelled == 0 && k < 100000); ++k) {
    test_result_t ignored = {0};
    const tenon_status_t status = test_run(engine, context, test->most, k, &ignored);
    if (status != TENON_OK && status != TENON_ERROR_CANCELLED) {
      tenon__test_fail(__FILE__, __LINE__, "%s: %s", test->name, tenon_last_message());
    }
    *inout_cancelled += status == TENON_ERROR_CANCELLED ? 1 : 0;
    test_result_free(&ignored);
  }
  atomic_store(&watch.is_over, true);
  (void)pthread_join(thread, NULL);
}

static void check_after_cancelling(const test_network_t* test, tenon_registry_t* registry,
                                   uint32_t* inout_cancelled) {
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  tenon_context_t* context = NULL;
  test_result_t expected = {0};
  test_result_t result = {0};
  work_t alone = {.test = test, .seed = 7, .thread_count = 2};
  tenon_build_options_t build = TENON_OPTIONS(tenon_build_options_t);
  tenon_context_options_t options = TENON_OPTIONS(tenon_context_options_t);
  build.thread_count = 2;
  build.no_measuring = 1;
  options.thread_count = 2;
  REQUIRE(test_network_build(test, registry, &build, &plan) == TENON_OK);
  REQUIRE(tenon_engine_create_from_plan(registry, plan, NULL, &engine) == TENON_OK);
  REQUIRE(tenon_context_create(engine, &options, &context) == TENON_OK);
  alone.engine = engine;
  (void)run_thread(&alone);
  expected = alone.result;
  check_cancelling(test, engine, context, inout_cancelled);
  EXPECT_STATUS(tenon_context_reset_states(context), TENON_OK);
  EXPECT_STATUS(test_run(engine, context, test->most, 7, &result), TENON_OK);
  if (result.size != expected.size || result.size == 0 ||
      memcmp(result.data, expected.data, result.size) != 0) {
    tenon__test_fail(__FILE__, __LINE__, "%s: gives something else after cancelled runs",
                     test->name);
  }
  test_result_free(&expected);
  test_result_free(&result);
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
}

TENON_TEST(runs_are_cancelled_by_another_thread) {
  tenon_registry_t* registry = NULL;
  const test_network_t* tests = NULL;
  uint32_t cancelled = 0;
  REQUIRE(tenon_registry_create(NULL, &registry) == TENON_OK);
  const uint32_t count = test_networks(&tests);
  for (uint32_t k = 0; k < count; ++k) {
    check_after_cancelling(&tests[k], registry, &cancelled);
  }
  EXPECT(cancelled > 0);
  tenon_registry_release(registry);
}
