/* Branches on streams or in a row: a build runs both ways, and the faster one is the plan. */
#include "network_run.h"
#include "tests/support/timings.h"

enum { CHAIN = 5, RUNS = 4 };

/* Nanoseconds of a step in a row, and of one of a recording on several streams: by the device's
 * clock, which counts steps. */
typedef struct speeds_t {
  uint64_t in_a_row;
  uint64_t on_streams;
} speeds_t;

static const speeds_t streams_are_faster = {5000, 3000};
static const speeds_t streams_are_slower = {5000, 6000};
static const speeds_t nearly_the_same = {5000, 4960};

static tenon_value_t expression(const run_t* run, const char* text, tenon_value_t a,
                                tenon_value_t b) {
  static const char* const names[] = {"a", "b"};
  const tenon_value_t values[] = {a, b};
  tenon_builder_t* builder = tenon_network_get_builder(run->session.network);
  tenon_value_t y = {0};
  EXPECT_STATUS(tenon_builder_get_table()->expression(builder, text, names, values, 2, NULL, &y),
                TENON_OK);
  return y;
}

/* Two chains from one input, and their sum. */
static void make_chains(run_t* run) {
  static const int64_t dims[] = {1, PIXELS};
  tenon_value_t x = {0};
  EXPECT_STATUS(
      tenon_network_add_input(run->session.network, "x", TENON_DTYPE_FLOAT32, 2, dims, &x),
      TENON_OK);
  tenon_value_t left = x;
  tenon_value_t right = x;
  for (int k = 0; k < CHAIN; ++k) {
    left = expression(run, "y = a * 0.5 + b", left, x);
    right = expression(run, "y = max(a, b) - 1", right, x);
  }
  EXPECT_STATUS(tenon_network_add_output(run->session.network,
                                         expression(run, "y = a - b", left, right), "y"),
                TENON_OK);
}

/* The network, and its plan for a device of these speeds. */
static tenon_plan_t* build(run_t* run, speeds_t speeds, tenon_build_options_t options) {
  tenon_plan_t* plan = NULL;
  if (!begin_network(run)) {
    return NULL;
  }
  make_chains(run);
  run->far->set(0, FAR_SETTING_WORK_TIME, speeds.in_a_row);
  run->far->set(0, FAR_SETTING_JOINED_TIME, speeds.on_streams);
  options.device = "far";
  options.no_fusion = 1;
  EXPECT_STATUS(tenon_build(run->session.network, &options, &plan), TENON_OK);
  return plan;
}

static uint64_t count_waits(run_t* run) {
  static const int64_t dims[] = {1, PIXELS};
  const uint64_t before = calls(run, FAR_CALL_WAIT_EVENT);
  for (int k = 0; k < RUNS; ++k) {
    set_rows(run, 0, TENON_DTYPE_FLOAT32, 2, dims, run->numbers);
    EXPECT_STATUS(tenon_context_run(run->context), TENON_OK);
  }
  return calls(run, FAR_CALL_WAIT_EVENT) - before;
}

/* Do its runs have streams that wait for one another? Ends all. */
static bool is_on_streams(run_t* run, tenon_plan_t* plan) {
  uint64_t waits = 0;
  EXPECT_STATUS(tenon_engine_create_from_plan(run->session.registry, plan, NULL, &run->engine),
                TENON_OK);
  if (run->engine != NULL) {
    EXPECT_STATUS(tenon_context_create(run->engine, NULL, &run->context), TENON_OK);
    waits = count_waits(run);
  }
  tenon_plan_destroy(plan);
  end(run);
  return waits > 0;
}

static bool chooses_streams(speeds_t speeds, tenon_timing_cache_t* cache) {
  run_t run;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.timing_cache = cache;
  tenon_plan_t* plan = build(&run, speeds, options);
  return plan != NULL && is_on_streams(&run, plan);
}

TENON_TEST(the_faster_way_is_the_plan) {
  EXPECT(chooses_streams(streams_are_faster, NULL));
  EXPECT(!chooses_streams(streams_are_slower, NULL));
  EXPECT(!chooses_streams(nearly_the_same, NULL));
}

TENON_TEST(what_the_cache_knows_is_not_run_again) {
  run_t run;
  tenon_timing_cache_t* cache = NULL;
  REQUIRE(begin_network(&run));
  EXPECT_STATUS(tenon_timing_cache_create(run.session.registry, NULL, &cache), TENON_OK);
  EXPECT(chooses_streams(streams_are_faster, cache));
  EXPECT(chooses_streams(streams_are_slower, cache));
  tenon_timing_cache_destroy(cache);
  end(&run);
}

/* A file of times of which none is disturbed: a later build would measure those again. */
static void settle(run_t* first, const test_folder_t* folder, const char* path) {
  const char* known = NULL;
  int tries = 0;
  do {
    run_t run;
    tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
    EXPECT_STATUS(tenon_timing_cache_create(first->session.registry, known, &options.timing_cache),
                  TENON_OK);
    tenon_plan_destroy(build(&run, streams_are_slower, options));
    end(&run);
    EXPECT_STATUS(tenon_timing_cache_save(options.timing_cache, path), TENON_OK);
    tenon_timing_cache_destroy(options.timing_cache);
    known = path;
  } while (tries++ < TEST_TIMINGS_TRIES && test_timings_settle(folder, "timings"));
}

/* As one that was to have one stream, to the byte: with its memory, and what is made again from it.
 * Steps' times are the same by way of the cache. */
TENON_TEST(a_row_is_a_plan_for_one_stream) {
  run_t first;
  run_t runs[2];
  tenon_plan_t* plans[2];
  const void* data[2] = {NULL, NULL};
  size_t sizes[2] = {0, 0};
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  test_folder_t folder;
  char path[PATH_MAX];
  REQUIRE(test_folder_make(&folder));
  REQUIRE(begin_network(&first));
  settle(&first, &folder, test_folder_path(&folder, "timings", path));
  EXPECT_STATUS(tenon_timing_cache_create(first.session.registry, path, &options.timing_cache),
                TENON_OK);
  test_folder_remove(&folder);
  for (uint32_t k = 0; k < 2; ++k) {
    options.stream_limit = k;
    plans[k] = build(&runs[k], streams_are_slower, options);
    REQUIRE(plans[k] != NULL);
    EXPECT_STATUS(tenon_plan_get_data(plans[k], &data[k], &sizes[k]), TENON_OK);
  }
  EXPECT_INT(sizes[0], sizes[1]);
  EXPECT(sizes[0] == sizes[1] && memcmp(data[0], data[1], sizes[0]) == 0);
  EXPECT(!is_on_streams(&runs[0], plans[0]));
  EXPECT(!is_on_streams(&runs[1], plans[1]));
  tenon_timing_cache_destroy(options.timing_cache);
  end(&first);
}
