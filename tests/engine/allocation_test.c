/* Memory that ends at any moment: from registry to output, with the k-th allocation failing and, a
 * second time, with all from the k-th on, every call succeeds or fails with words, nothing crashes
 * and nothing is left behind. With TENON_TEST_EVERY=FIRST/STEP, k is FIRST, FIRST + STEP and so on,
 * each in both ways; without it, as many k as fit a minute, in one way each. */
#include <stdlib.h>

#include "core/base/allocator.h"
#include "core/base/test.h"
#include "tests/engine/networks.h"
#include "tests/support/plugin_folder.h"

/* How many places of each network are tried without TENON_TEST_EVERY. */
enum { TRIED = 150 };

/* Memory that ends. Numbers count from the last `arm`. */
typedef struct scarce_t {
  tenon__test_allocator_t counted;
  tenon_allocator_t inner;
  uint64_t number;
  uint64_t fail_from;
  uint64_t fail_to;
} scarce_t;

static void* resize_scarce(void* user, void* block, size_t old_size, size_t new_size) {
  scarce_t* scarce = user;
  if (new_size > 0) {
    const uint64_t number = __atomic_add_fetch(&scarce->number, 1, __ATOMIC_RELAXED);
    if (number >= scarce->fail_from && number <= scarce->fail_to) {
      return NULL;
    }
  }
  return scarce->inner.resize(scarce->inner.user, block, old_size, new_size);
}

static void arm(scarce_t* scarce, uint64_t fail_from, bool for_good) {
  scarce->number = 0;
  scarce->fail_from = fail_from;
  scarce->fail_to = for_good ? UINT64_MAX : fail_from;
}

static void disarm(scarce_t* scarce) {
  arm(scarce, UINT64_MAX, false);
}

/* What is tested: a network of ours, or a model file, from its beginning to outputs. */
typedef struct subject_t {
  const char* name;
  const test_network_t* network; /* NULL: the model */
  test_bytes_t model;
  const char* plan_path;
} subject_t;

typedef struct bench_t {
  scarce_t scarce;
  tenon_allocator_t allocator;
  tenon__test_messages_t messages;
  tenon_registry_t* registry;
} bench_t;

static void bench_begin(bench_t* bench) {
  memset(bench, 0, sizeof(*bench));
  bench->scarce.inner = tenon__test_allocator(&bench->scarce.counted);
  bench->allocator = (tenon_allocator_t){&bench->scarce, resize_scarce};
  disarm(&bench->scarce);
  (void)tenon__test_listen(&bench->messages);
}

static tenon_status_t bench_open(bench_t* bench) {
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  options.logger = bench->messages.sink;
  options.allocator = &bench->allocator;
  return tenon_registry_create(&options, &bench->registry);
}

static tenon_status_t build_model(const subject_t* subject, tenon_registry_t* registry,
                                  const tenon_build_options_t* options, tenon_plan_t** out_plan) {
  tenon_network_t* network = NULL;
  TEST_TRY(tenon_network_create(registry, &network));
  tenon_status_t status = tenon_network_parse_memory(network, subject->model.data,
                                                     subject->model.size, subject->name, NULL);
  if (status == TENON_OK) {
    status = tenon_build(network, options, out_plan);
  }
  tenon_network_destroy(network);
  return status;
}

static tenon_status_t make_plan(const subject_t* subject, tenon_registry_t* registry) {
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  tenon_timing_cache_t* cache = NULL;
  tenon_plan_t* plan = NULL;
  options.thread_count = 1;
  options.no_measuring = 1; /* nothing that differs from one time to the next */
  options.keep_refusals = 1;
  TEST_TRY(tenon_timing_cache_create(registry, NULL, &cache));
  options.timing_cache = cache;
  tenon_status_t status = subject->network != NULL
                              ? test_network_build(subject->network, registry, &options, &plan)
                              : build_model(subject, registry, &options, &plan);
  if (status == TENON_OK) {
    status = tenon_plan_save(plan, subject->plan_path);
  }
  tenon_plan_destroy(plan);
  tenon_timing_cache_destroy(cache);
  return status;
}

static void ignore_text(void* user, const char* text) {
  (void)user;
  (void)text;
}

/* Runs; where memory ended, there is memory again, and the same context must still do its work. */
static tenon_status_t use_context(const subject_t* subject, tenon_engine_t* engine,
                                  scarce_t* scarce, test_result_t* result) {
  tenon_context_t* context = NULL;
  TEST_TRY(tenon_context_create(engine, NULL, &context));
  const int64_t most = subject->network != NULL ? subject->network->most : 0;
  const tenon_status_t status = test_run(engine, context, most, 1, result);
  if (status == TENON_ERROR_OUT_OF_MEMORY) {
    disarm(scarce);
    result->size = 0;
    EXPECT_STATUS(tenon_context_reset_states(context), TENON_OK);
    EXPECT_STATUS(test_run(engine, context, most, 1, result), TENON_OK);
  }
  tenon_context_destroy(context);
  return status;
}

/* Replaces the weights of the networks that have a matrix of 4 by 4 called "w". */
static tenon_status_t refit(tenon_engine_t* engine) {
  static const float zeros[16];
  tenon_status_t status = TENON_OK;
  for (uint32_t k = 0; k < tenon_engine_weights_count(engine) && status == TENON_OK; ++k) {
    const char* name = tenon_engine_get_weights_name(engine, k);
    if (name != NULL && strcmp(name, "w") == 0) {
      status = tenon_engine_set_weights(engine, name, zeros, sizeof(zeros));
    }
  }
  if (status == TENON_OK) {
    status = tenon_engine_commit_weights(engine);
  }
  /* Of another size; or memory ended where the optimiser proves something, and it left it at that,
   * so that the plan's network is another one than what the optimiser makes now. */
  const bool is_refused =
      status == TENON_ERROR_INVALID_ARGUMENT || status == TENON_ERROR_UNSUPPORTED;
  return is_refused ? TENON_OK : status;
}

static tenon_status_t use_engine(const subject_t* subject, tenon_engine_t* engine, scarce_t* scarce,
                                 test_result_t* result) {
  tenon_step_info_t step = {.size = sizeof(step)};
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  tenon_status_t status = use_context(subject, engine, scarce, result);
  if (status == TENON_OK) {
    status = tenon_engine_get_info(engine, &info);
  }
  if (status == TENON_OK && tenon_engine_step_count(engine) > 0) {
    status = tenon_engine_get_step(engine, 0, &step);
  }
  tenon_engine_print_network(engine, ignore_text, NULL);
  return status == TENON_OK ? refit(engine) : status;
}

/* Everything from a registry to outputs. */
static tenon_status_t go_through(const subject_t* subject, bench_t* bench, test_result_t* result) {
  tenon_registry_t* registry = bench->registry;
  tenon_engine_t* engine = NULL;
  TEST_TRY(make_plan(subject, registry));
  TEST_TRY(tenon_engine_create_from_file(registry, subject->plan_path, NULL, &engine));
  const tenon_status_t status = use_engine(subject, engine, &bench->scarce, result);
  tenon_engine_release(engine);
  return status;
}

/* ---- The expectations ---- */

typedef struct expected_t {
  test_result_t result;
  test_bytes_t plan;
} expected_t;

static bool same_plan(const subject_t* subject, const expected_t* expected) {
  const test_bytes_t plan = test_read_file(subject->plan_path);
  const bool same = plan.data != NULL && plan.size == expected->plan.size &&
                    memcmp(plan.data, expected->plan.data, plan.size) == 0;
  free(plan.data);
  return same;
}

/* Is there a message of no words, or of nothing but where? */
static bool says_nothing(const char* text) {
  return text[0] == '\n' || strstr(text, "\n\n") != NULL || strstr(text, ": \n") != NULL;
}

/* A failure has the right status and words; what ran in the end gave what it should. */
static void expect_sound(const bench_t* bench, const subject_t* subject, tenon_status_t status,
                         const test_result_t* result, const expected_t* expected,
                         const char* which) {
  if (result->size > 0) {
    const test_result_t* right = &expected->result;
    const bool same =
        result->size == right->size && memcmp(result->data, right->data, right->size) == 0;
    if (!same && same_plan(subject, expected)) {
      tenon__test_fail(__FILE__, __LINE__, "%s: %s: gives other results", subject->name, which);
    }
  }
  if (status != TENON_OK && (status != TENON_ERROR_OUT_OF_MEMORY || bench->messages.count == 0 ||
                             says_nothing(bench->messages.text))) {
    tenon__test_fail(__FILE__, __LINE__, "%s: %s: '%s' with %d messages: %s", subject->name, which,
                     tenon_status_text(status), bench->messages.count, bench->messages.text);
  }
}

/* One passage, with memory that ends at allocation `place`. True when it was reached. */
static bool fail_at(bench_t* bench, const subject_t* subject, const expected_t* expected,
                    uint64_t place, bool for_good) {
  char which[64];
  test_result_t result = {0};
  const uint64_t blocks = bench->scarce.counted.live_blocks;
  (void)tenon__test_listen(&bench->messages);
  (void)snprintf(which, sizeof(which), "allocation %llu%s", (unsigned long long)place,
                 for_good ? " and all later ones" : "");
  arm(&bench->scarce, place, for_good);
  const tenon_status_t status = go_through(subject, bench, &result);
  const bool reached = bench->scarce.number >= place;
  disarm(&bench->scarce);
  expect_sound(bench, subject, status, &result, expected, which);
  if (bench->scarce.counted.live_blocks > blocks) {
    tenon__test_fail(__FILE__, __LINE__, "%s: %s: %llu blocks are left behind", subject->name,
                     which, (unsigned long long)(bench->scarce.counted.live_blocks - blocks));
  }
  test_result_free(&result);
  return reached;
}

/* The allocations to be tried. */
typedef struct places_t {
  uint64_t first;
  uint64_t step;
  bool both; /* each in both ways */
} places_t;

static places_t choose_places(uint64_t total) {
  const char* every = getenv("TENON_TEST_EVERY");
  if (every != NULL) {
    char* slash = NULL;
    char* end = NULL;
    places_t places = {.first = strtoull(every, &slash, 10), .both = true};
    places.step = *slash == '/' ? strtoull(slash + 1, &end, 10) : 0;
    if (places.first > 0 && places.step > 0 && *end == '\0') {
      return places;
    }
    tenon__test_fail(__FILE__, __LINE__, "TENON_TEST_EVERY is '%s', not FIRST/STEP", every);
  }
  const uint64_t step = total <= TRIED ? 1 : total / TRIED;
  return (places_t){.first = 1, .step = step, .both = step == 1};
}

static void try_all(bench_t* bench, const subject_t* subject, const expected_t* expected,
                    uint64_t total) {
  const places_t places = choose_places(total);
  for (uint64_t place = places.first; place <= total && tenon__test_failures < 5;
       place += places.step) {
    const bool for_good = place / places.step % 2 == 0;
    (void)fail_at(bench, subject, expected, place, for_good);
    if (places.both) {
      (void)fail_at(bench, subject, expected, place, !for_good);
    }
  }
}

static void check_subject(const subject_t* subject) {
  bench_t bench;
  expected_t expected = {{0}, {0}};
  test_result_t warm = {0};
  bench_begin(&bench);
  REQUIRE(bench_open(&bench) == TENON_OK);
  /* The first passage loads the plugins, whose state stays; the second counts. */
  tenon_status_t status = go_through(subject, &bench, &warm);
  arm(&bench.scarce, UINT64_MAX, false);
  if (status == TENON_OK) {
    status = go_through(subject, &bench, &expected.result);
  }
  const uint64_t total = bench.scarce.number;
  if (status == TENON_OK) {
    expected.plan = test_read_file(subject->plan_path);
    (void)printf("%s: %llu allocations\n", subject->name, (unsigned long long)total);
    try_all(&bench, subject, &expected, total);
  } else {
    tenon__test_fail(__FILE__, __LINE__, "%s: %s", subject->name, bench.messages.text);
  }
  tenon_registry_release(bench.registry);
  EXPECT_INT(bench.scarce.counted.live_blocks, 0);
  EXPECT_INT(bench.scarce.counted.live_bytes, 0);
  free(expected.plan.data);
  test_result_free(&expected.result);
  test_result_free(&warm);
}

TENON_TEST(networks_survive) {
  const test_network_t* tests = NULL;
  test_folder_t folder;
  char path[PATH_MAX];
  REQUIRE(test_folder_make(&folder));
  const uint32_t count = test_networks(&tests);
  for (uint32_t k = 0; k < count; ++k) {
    const subject_t subject = {.name = tests[k].name,
                               .network = &tests[k],
                               .plan_path = test_folder_path(&folder, "plan", path)};
    check_subject(&subject);
  }
  test_folder_remove(&folder);
}

TENON_TEST(models_survive) {
  static const char* const models[] = {"add",  "constants", "function", "if",
                                       "loop", "quantised", "scan",     "typed"};
  test_folder_t folder;
  char path[PATH_MAX];
  REQUIRE(test_folder_make(&folder));
  for (size_t k = 0; k < sizeof models / sizeof models[0]; ++k) {
    char model[PATH_MAX];
    (void)snprintf(model, sizeof(model), "%s/%s", MODELS, models[k]);
    const subject_t subject = {.name = models[k],
                               .model = test_read_file(model),
                               .plan_path = test_folder_path(&folder, "plan", path)};
    if (subject.model.data != NULL) {
      check_subject(&subject);
    }
    free(subject.model.data);
  }
  test_folder_remove(&folder);
}

/* ---- From nothing: the registry's own memory, and what plugins take when they start ---- */

static tenon_status_t open_and_go(bench_t* bench, const subject_t* subject, bool lists,
                                  test_result_t* result) {
  tenon_status_t status = bench_open(bench);
  if (status == TENON_OK && lists) {
    status = tenon_registry_print_index(bench->registry, ignore_text, NULL);
  } else if (status == TENON_OK) {
    status = go_through(subject, bench, result);
  }
  tenon_registry_release(bench->registry);
  bench->registry = NULL;
  return status;
}

/* A plugin that could not be loaded for want of memory is no use: anything may be missing then. */
static void open_at(const subject_t* subject, bool lists, uint64_t place, bool for_good) {
  bench_t bench;
  test_result_t result = {0};
  bench_begin(&bench);
  arm(&bench.scarce, place, for_good);
  const tenon_status_t status = open_and_go(&bench, subject, lists, &result);
  if (status != TENON_OK && bench.messages.count == 0) {
    tenon__test_fail(__FILE__, __LINE__, "allocation %llu: '%s' without words",
                     (unsigned long long)place, tenon_status_text(status));
  }
  if (bench.scarce.counted.live_blocks != 0 || bench.scarce.counted.live_bytes != 0) {
    tenon__test_fail(__FILE__, __LINE__, "allocation %llu: %llu blocks are left behind",
                     (unsigned long long)place,
                     (unsigned long long)bench.scarce.counted.live_blocks);
  }
  test_result_free(&result);
}

static void check_opening(const subject_t* subject, bool lists) {
  bench_t bench;
  test_result_t result = {0};
  bench_begin(&bench);
  EXPECT_STATUS(open_and_go(&bench, subject, lists, &result), TENON_OK);
  test_result_free(&result);
  const uint64_t total = bench.scarce.number;
  const places_t places = choose_places(total);
  (void)printf("opening: %llu allocations\n", (unsigned long long)total);
  for (uint64_t place = places.first; place <= total && tenon__test_failures < 5;
       place += places.step) {
    const bool for_good = place / places.step % 2 == 0;
    open_at(subject, lists, place, for_good);
    if (places.both) {
      open_at(subject, lists, place, !for_good);
    }
  }
}

TENON_TEST(registries_survive) {
  test_folder_t folder;
  char path[PATH_MAX];
  REQUIRE(test_folder_make(&folder));
  const subject_t subject = {.name = "branch",
                             .network = test_network_find("branch"),
                             .plan_path = test_folder_path(&folder, "plan", path)};
  check_opening(&subject, true);
  check_opening(&subject, false);
  test_folder_remove(&folder);
}
