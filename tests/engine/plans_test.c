/* One plan gives the same bytes in every process, and one timing cache gives one plan. */
#include <stdlib.h>

#include "core/base/allocator.h"
#include "core/base/test.h"
#include "tests/engine/networks.h"
#include "tests/support/plugin_folder.h"
#include "tests/support/timings.h"

enum { SEED = 3 };

static tenon_registry_t* make_registry(tenon__test_messages_t* messages) {
  tenon_registry_t* registry = NULL;
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  options.logger = *tenon__test_listen(messages);
  EXPECT_STATUS(tenon_registry_create(&options, &registry), TENON_OK);
  return registry;
}

static tenon_status_t run_plan(tenon_registry_t* registry, const tenon_plan_t* plan, int64_t most,
                               test_result_t* result) {
  tenon_engine_t* engine = NULL;
  tenon_context_t* context = NULL;
  TEST_TRY(tenon_engine_create_from_plan(registry, plan, NULL, &engine));
  tenon_status_t status = tenon_context_create(engine, NULL, &context);
  if (status == TENON_OK) {
    status = test_run(engine, context, most, SEED, result);
  }
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  return status;
}

static void expect_same(const char* name, const char* what, const test_result_t* expected,
                        const void* data, size_t size) {
  if (data == NULL || expected->data == NULL || expected->size != size ||
      memcmp(expected->data, data, size) != 0) {
    tenon__test_fail(__FILE__, __LINE__, "%s: %s: %zu bytes that differ from the %zu expected",
                     name, what, size, expected->size);
  }
}

/* What the runner in another process writes. */
static void run_elsewhere(const test_network_t* test, const char* plan_path,
                          const test_result_t* expected) {
  char command[PATH_MAX + 256];
  (void)snprintf(command, sizeof(command), "'%s' '%s' %lld %d", RUNNER, plan_path,
                 (long long)test->most, (int)SEED);
  static unsigned char bytes[1 << 16];
  /* A fixed program and a path that this test made. NOLINTNEXTLINE(cert-env33-c) */
  FILE* pipe = popen(command, "r");
  REQUIRE(pipe != NULL && expected->size < sizeof(bytes));
  const size_t size = fread(bytes, 1, sizeof(bytes), pipe);
  if (pclose(pipe) != 0) {
    tenon__test_fail(__FILE__, __LINE__, "%s: %s failed", test->name, command);
  }
  expect_same(test->name, "another process", expected, bytes, size);
}

static void check_network(const test_network_t* test, const test_folder_t* folder) {
  tenon__test_messages_t messages;
  tenon_registry_t* registry = make_registry(&messages);
  tenon_plan_t* plan = NULL;
  test_result_t result = {0};
  char path[PATH_MAX];
  tenon_status_t status = test_network_build(test, registry, NULL, &plan);
  if (status == TENON_OK) {
    status = run_plan(registry, plan, test->most, &result);
  }
  if (status == TENON_OK) {
    status = tenon_plan_save(plan, test_folder_path(folder, test->name, path));
  }
  if (status == TENON_OK) {
    run_elsewhere(test, path, &result);
  } else {
    tenon__test_fail(__FILE__, __LINE__, "%s: %s", test->name, messages.text);
  }
  test_result_free(&result);
  tenon_plan_destroy(plan);
  tenon_registry_release(registry);
}

TENON_TEST(another_process_gives_the_same_bytes) {
  const test_network_t* tests = NULL;
  test_folder_t folder;
  REQUIRE(test_folder_make(&folder));
  const uint32_t count = test_networks(&tests);
  for (uint32_t k = 0; k < count; ++k) {
    check_network(&tests[k], &folder);
  }
  test_folder_remove(&folder);
}

/* ---- Refit ---- */

static void refit(tenon_engine_t* engine, float number) {
  float weights[16];
  for (int k = 0; k < 16; ++k) {
    weights[k] = number * (float)(k + 1);
  }
  EXPECT_STATUS(tenon_engine_set_weights(engine, "w", weights, sizeof(weights)), TENON_OK);
  EXPECT_STATUS(tenon_engine_commit_weights(engine), TENON_OK);
}

/* A program may replace its weights all day long. */
TENON_TEST(refits_leave_nothing_behind) {
  enum { REFITS = 300 };
  tenon__test_messages_t messages;
  tenon__test_allocator_t memory = {0};
  const tenon_allocator_t allocator = tenon__test_allocator(&memory);
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  tenon_registry_t* registry = NULL;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  options.logger = *tenon__test_listen(&messages);
  options.allocator = &allocator;
  EXPECT_STATUS(tenon_registry_create(&options, &registry), TENON_OK);
  EXPECT_STATUS(test_network_build(test_network_find("branch"), registry, NULL, &plan), TENON_OK);
  REQUIRE(tenon_engine_create_from_plan(registry, plan, NULL, &engine) == TENON_OK);
  refit(engine, 1);
  const uint64_t bytes = memory.live_bytes;
  for (int k = 0; k < REFITS; ++k) {
    refit(engine, (float)(k % 2 + 2));
  }
  EXPECT_INT(memory.live_bytes, bytes);
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  tenon_registry_release(registry);
}

/* ---- One timing cache, one plan ---- */

static tenon_status_t build_with(const test_network_t* test, tenon_registry_t* registry,
                                 const char* cache_path, test_result_t* out_plan) {
  tenon_timing_cache_t* cache = NULL;
  tenon_plan_t* plan = NULL;
  const void* data = NULL;
  size_t size = 0;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  TEST_TRY(tenon_timing_cache_create(registry, cache_path, &cache));
  options.timing_cache = cache;
  tenon_status_t status = test_network_build(test, registry, &options, &plan);
  if (status == TENON_OK) {
    status = tenon_timing_cache_save(cache, cache_path);
  }
  if (status == TENON_OK && tenon_plan_get_data(plan, &data, &size) == TENON_OK) {
    out_plan->data = malloc(size);
    out_plan->size = size;
    if (out_plan->data != NULL) {
      memcpy(out_plan->data, data, size);
    }
  }
  tenon_plan_destroy(plan);
  tenon_timing_cache_destroy(cache);
  return status;
}

/* With a registry of its own, as in another process. */
static void build_alone(const test_network_t* test, const char* cache_path,
                        test_result_t* out_plan) {
  tenon__test_messages_t messages;
  tenon_registry_t* registry = make_registry(&messages);
  if (build_with(test, registry, cache_path, out_plan) != TENON_OK) {
    tenon__test_fail(__FILE__, __LINE__, "%s: %s", test->name, messages.text);
  }
  tenon_registry_release(registry);
}

static void check_builds(const test_network_t* test, const test_folder_t* folder) {
  enum { BUILDS = 3 };
  test_result_t plans[BUILDS] = {{0}};
  char path[PATH_MAX];
  char name[64];
  (void)snprintf(name, sizeof(name), "%s.timings", test->name);
  (void)test_folder_path(folder, name, path);
  build_alone(test, path, &plans[0]);
  for (int tries = 0; tries < TEST_TIMINGS_TRIES && test_timings_settle(folder, name); ++tries) {
    test_result_free(&plans[0]);
    build_alone(test, path, &plans[0]);
  }
  for (int k = 1; k < BUILDS; ++k) {
    build_alone(test, path, &plans[k]);
  }
  /* The first measured; what it found is all that the others use. */
  expect_same(test->name, "the second plan", &plans[0], plans[1].data, plans[1].size);
  expect_same(test->name, "the third plan", &plans[0], plans[2].data, plans[2].size);
  for (int k = 0; k < BUILDS; ++k) {
    test_result_free(&plans[k]);
  }
}

TENON_TEST(one_timing_cache_gives_one_plan) {
  const test_network_t* tests = NULL;
  test_folder_t folder;
  REQUIRE(test_folder_make(&folder));
  const uint32_t count = test_networks(&tests);
  for (uint32_t k = 0; k < count; ++k) {
    check_builds(&tests[k], &folder);
  }
  test_folder_remove(&folder);
}
