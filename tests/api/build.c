/* Building with a configuration: progress and cancel, limits, budget, exclusion, timing cache. */
#include "tests/api/lenet.h"
#include "tests/support/plugin_folder.h"

static bool begin(session_t* s) {
  if (!session_begin(s, NULL)) {
    return false;
  }
  lenet_build(s);
  s->tolerance = 1e-5; /* as in network.c */
  return true;
}

typedef struct progress_t {
  const char* cancel_in; /* phase, or NULL */
  uint32_t cancel_at;    /* call, counted from 1; 0: none */
  uint32_t calls;
  bool has_order; /* done never exceeds total */
  char phases[64];
} progress_t;

static int32_t tell(void* user, const char* phase, uint32_t done, uint32_t total) {
  progress_t* progress = user;
  ++progress->calls;
  progress->has_order = progress->has_order && done <= total;
  if (strstr(progress->phases, phase) == NULL) {
    const size_t used = strlen(progress->phases);
    (void)snprintf(progress->phases + used, sizeof progress->phases - used, "%s ", phase);
  }
  return progress->calls == progress->cancel_at ||
         (progress->cancel_in != NULL && strcmp(progress->cancel_in, phase) == 0);
}

TENON_TEST(tells_progress) {
  session_t s;
  progress_t progress = {.has_order = true};
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.progress = tell;
  options.progress_user = &progress;
  REQUIRE(begin(&s));
  session_run(&s, &options, NULL);
  EXPECT_TEXT(progress.phases, "optimise choose pack weights write ");
  EXPECT(progress.has_order);
  session_end(&s);
}

TENON_TEST(is_cancelled_in_each_phase) {
  static const char* const phases[] = {"optimise", "choose", "write"};
  for (int i = 0; i < 3; ++i) {
    session_t s;
    progress_t progress = {.cancel_in = phases[i]};
    tenon_plan_t* plan = NULL;
    tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
    options.progress = tell;
    options.progress_user = &progress;
    REQUIRE(begin(&s));
    EXPECT_STATUS(tenon_build(s.network, &options, &plan), TENON_ERROR_CANCELLED);
    EXPECT(plan == NULL);
    EXPECT_CONTAINS(s.messages.text, "cancelled");
    options.progress = NULL; /* the network is as it was */
    session_run(&s, &options, NULL);
    session_end(&s);
  }
}

/* At the first call, at the second, and so on until it is not called so often: never a plan. */
TENON_TEST(is_cancelled_wherever_it_asks) {
  session_t s;
  tenon_plan_t* plan = NULL;
  uint32_t cancelled = 0;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.progress = tell;
  options.no_measuring = 1;
  REQUIRE(begin(&s));
  while (plan == NULL && cancelled < 100000) {
    progress_t progress = {.cancel_at = cancelled + 1};
    options.progress_user = &progress;
    const tenon_status_t status = tenon_build(s.network, &options, &plan);
    EXPECT_INT(plan != NULL, status == TENON_OK);
    if (plan == NULL) {
      EXPECT_STATUS(status, TENON_ERROR_CANCELLED);
      EXPECT_TEXT(tenon_last_message(), "the build was cancelled");
      ++cancelled;
    }
  }
  EXPECT(cancelled > 8); /* each phase, and each of the nodes and steps */
  tenon_plan_destroy(plan);
  session_end(&s);
}

TENON_TEST(keeps_the_memory_limit) {
  session_t s;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.no_measuring = 1; /* the same choice each time */
  REQUIRE(begin(&s));
  session_run(&s, &options, &engine);
  REQUIRE(engine != NULL);
  EXPECT_STATUS(tenon_engine_get_info(engine, &info), TENON_OK);
  options.memory_limit_bytes = info.arena_bytes + info.scratch_bytes;
  session_run(&s, &options, NULL);
  options.memory_limit_bytes -= 1;
  EXPECT_STATUS(tenon_build(s.network, &options, &plan), TENON_ERROR_OUT_OF_MEMORY);
  EXPECT_CONTAINS(s.messages.text, "the limit is");
  EXPECT_INT(s.messages.count, 1);
  tenon_engine_release(engine);
  session_end(&s);
}

TENON_TEST(keeps_the_workspace_limit) {
  session_t s;
  tenon_engine_t* engine = NULL;
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  REQUIRE(begin(&s));
  session_run(&s, NULL, &engine);
  REQUIRE(engine != NULL);
  EXPECT_STATUS(tenon_engine_get_info(engine, &info), TENON_OK);
  EXPECT(info.scratch_bytes > 256); /* else the limit limits nothing */
  tenon_engine_release(engine);
  options.workspace_limit_bytes = 256;
  session_run(&s, &options, &engine);
  REQUIRE(engine != NULL);
  EXPECT_STATUS(tenon_engine_get_info(engine, &info), TENON_OK);
  EXPECT(info.scratch_bytes <= 256);
  tenon_engine_release(engine);
  session_end(&s);
}

TENON_TEST(keeps_the_time_budget) {
  session_t s;
  tenon_timing_cache_t* timings = NULL;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  REQUIRE(begin(&s));
  EXPECT_STATUS(tenon_timing_cache_create(s.registry, NULL, &timings), TENON_OK);
  options.timing_cache = timings;
  options.time_budget_seconds = 1e-9; /* over before the first measurement */
  session_run(&s, &options, NULL);
  EXPECT_INT(tenon_timing_cache_entry_count(timings), 0);
  options.time_budget_seconds = 0;
  session_run(&s, &options, NULL);
  EXPECT(tenon_timing_cache_entry_count(timings) > 0);
  tenon_timing_cache_destroy(timings);
  session_end(&s);
}

/* Whose kernels are in the plan? */
static bool uses_plugin(tenon_engine_t* engine, const char* plugin) {
  for (uint32_t i = 0; i < tenon_engine_step_count(engine); ++i) {
    tenon_step_info_t step = {.size = sizeof(step)};
    if (tenon_engine_get_step(engine, i, &step) == TENON_OK && strcmp(step.plugin, plugin) == 0) {
      return true;
    }
  }
  return false;
}

TENON_TEST(leaves_out_what_is_excluded) {
  session_t s;
  tenon_engine_t* engine = NULL;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  REQUIRE(begin(&s));
  session_run(&s, NULL, &engine);
  REQUIRE(engine != NULL);
  EXPECT(uses_plugin(engine, "cpu"));
  tenon_engine_release(engine);
  options.exclude = (const char* const[]){"cpu", NULL};
  session_run(&s, &options, &engine);
  REQUIRE(engine != NULL);
  EXPECT(!uses_plugin(engine, "cpu"));
  tenon_engine_release(engine);
  session_end(&s);
}

TENON_TEST(stops_optimising_on_request) {
  session_t s;
  tenon_engine_t* engine = NULL;
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  const tenon_value_t zero = ABSENT;
  REQUIRE(begin(&s));
  /* Something to optimise: a node that nobody needs. */
  tenon_value_t unused = zero;
  const tenon_value_t w = session_constant(&s, "dense.w");
  session_add(&s, "standard.exp/1", &w, 1, NO_ATTRIBUTES, &unused, 1);
  options.strict = 1;
  options.optimizer_limit = 1;
  session_run(&s, &options, &engine);
  REQUIRE(engine != NULL);
  EXPECT_STATUS(tenon_engine_get_info(engine, &info), TENON_OK);
  EXPECT(strchr(info.patches, '\n') != NULL);
  EXPECT(strchr(strchr(info.patches, '\n') + 1, '\n') == NULL);
  tenon_engine_release(engine);
  session_end(&s);
}

TENON_TEST(one_timing_cache_gives_one_plan) {
  session_t s;
  test_folder_t folder;
  char path[PATH_MAX];
  tenon_timing_cache_t* timings = NULL;
  tenon_plan_t* plans[2] = {NULL};
  const void* data[2] = {NULL};
  size_t sizes[2] = {0};
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  REQUIRE(begin(&s));
  REQUIRE(test_folder_make(&folder));
  (void)test_folder_path(&folder, "timings", path);
  for (int i = 0; i < 2; ++i) {
    EXPECT_STATUS(tenon_timing_cache_create(s.registry, path, &timings), TENON_OK);
    const uint32_t known = tenon_timing_cache_entry_count(timings);
    options.timing_cache = timings;
    EXPECT_STATUS(tenon_build(s.network, &options, &plans[i]), TENON_OK);
    EXPECT_STATUS(tenon_plan_get_data(plans[i], &data[i], &sizes[i]), TENON_OK);
    EXPECT_STATUS(tenon_timing_cache_save(timings, path), TENON_OK);
    EXPECT_INT(known > 0, i == 1);
    EXPECT_INT(known == tenon_timing_cache_entry_count(timings), i == 1);
    tenon_timing_cache_destroy(timings);
  }
  EXPECT_INT(sizes[0], sizes[1]);
  EXPECT(sizes[0] == sizes[1] && memcmp(data[0], data[1], sizes[0]) == 0);
  tenon_plan_destroy(plans[0]);
  tenon_plan_destroy(plans[1]);
  test_folder_remove(&folder);
  session_end(&s);
}

TENON_TEST(refuses_profiles_that_make_no_sense) {
  static const int64_t small[] = {1, 1, 4, 4};
  static const int64_t right[] = {1, 1, 12, 12};
  session_t s;
  tenon_plan_t* plan = NULL;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  tenon_profile_range_t range = {"nobody", 4, right, right, right};
  const tenon_profile_t profile = {{&range, 1, sizeof(range)}};
  options.profiles = (tenon_list_t){&profile, 1, sizeof(profile)};
  REQUIRE(begin(&s));
  EXPECT(tenon_build(s.network, &options, &plan) != TENON_OK);
  EXPECT_CONTAINS(s.messages.text, "nobody");
  range.input = "lenet.x";
  range.max = small;
  EXPECT(tenon_build(s.network, &options, &plan) != TENON_OK);
  EXPECT_CONTAINS(s.messages.text, "lenet.x");
  session_end(&s);
}

static void expect_refused(session_t* s, const tenon_build_options_t* options, const char* words) {
  tenon_plan_t* plan = NULL;
  EXPECT(tenon_build(s->network, options, &plan) != TENON_OK);
  EXPECT_CONTAINS(s->messages.text, words);
  EXPECT(plan == NULL);
}

TENON_TEST(refuses_permissions_and_samples_that_make_no_sense) {
  session_t s;
  const tenon_sample_t none = {.inputs = NULL, .input_count = 0};
  REQUIRE(begin(&s));
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.permits = 1u << 20;
  expect_refused(&s, &options, "permits 0x100000 has bits that mean nothing");
  options.permits = TENON_PERMIT_NOTHING | TENON_PERMIT_F16;
  expect_refused(&s, &options, "permits 0x12 says nothing, and something");
  options.permits = 0;
  options.samples = (tenon_list_t){NULL, 2, sizeof(none)};
  expect_refused(&s, &options, "options->samples has 2 items at NULL");
  options.samples = (tenon_list_t){&none, 2, 4};
  expect_refused(&s, &options,
                 "the stride of options->samples is 4; make the list with TENON_LIST");
  options.samples = (tenon_list_t){0};
  options.accuracy_bound = -1;
  expect_refused(&s, &options, "accuracy_bound is -1");
  options.accuracy_bound = 0;
  options.permits = TENON_PERMIT_F16;
  options.samples = (tenon_list_t){&none, 1, sizeof(none)};
  expect_refused(&s, &options, "a sample has 0 inputs, the network has 1");
  session_end(&s);
}

/* Samples are views as those of a run: without strides they are row-major. */
TENON_TEST(takes_samples_without_strides) {
  session_t s;
  tenon_plan_t* plan = NULL;
  tenon_io_info_t input = {.size = sizeof input};
  static float data[1 << 16];
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  REQUIRE(begin(&s));
  EXPECT_STATUS(tenon_network_get_input(s.network, 0, &input), TENON_OK);
  int64_t dims[TENON_RANK_LIMIT];
  for (uint32_t k = 0; k < input.rank; ++k) {
    dims[k] = input.dims[k] < 0 ? 1 : input.dims[k];
  }
  tenon_tensor_view_t view = {.data = data,
                              .dims = dims,
                              .rank = input.rank,
                              .dtype = TENON_DTYPE_FLOAT32,
                              .layout = TENON_NONE};
  const tenon_sample_t sample = {.inputs = &view, .input_count = 1};
  options.permits = TENON_PERMIT_F16;
  options.samples = (tenon_list_t){&sample, 1, sizeof(sample)};
  EXPECT_STATUS(tenon_build(s.network, &options, &plan), TENON_OK);
  tenon_plan_destroy(plan);
  plan = NULL;
  view.data = NULL;
  EXPECT_STATUS(tenon_build(s.network, &options, &plan), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(s.messages.text, "tenon_build: input 0 of sample 0: the view");
  EXPECT_CONTAINS(s.messages.text, "has no data");
  EXPECT(plan == NULL);
  session_end(&s);
}

/* By its own extents, or by the profile's largest. */
TENON_TEST(refuses_inputs_beyond_counting) {
  static const int64_t fixed[] = {INT64_MAX / 4, 8};
  static const int64_t open[] = {-1, 8};
  static const int64_t one[] = {1, 8};
  session_t s;
  tenon_plan_t* plan = NULL;
  tenon_value_t x = ABSENT;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  const tenon_profile_range_t range = {"x", 2, one, one, fixed};
  const tenon_profile_t profile = {{&range, 1, sizeof(range)}};
  options.profiles = (tenon_list_t){&profile, 1, sizeof(profile)};
  REQUIRE(session_begin(&s, NULL));
  EXPECT_STATUS(tenon_network_add_input(s.network, "wide", TENON_DTYPE_FLOAT32, 2, fixed, &x),
                TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(s.messages.text, "input 'wide' has more than 2^48 elements");
  EXPECT_STATUS(tenon_network_add_input(s.network, "x", TENON_DTYPE_FLOAT32, 2, open, &x),
                TENON_OK);
  EXPECT_STATUS(tenon_network_add_output(s.network, x, "y"), TENON_OK);
  EXPECT_STATUS(tenon_build(s.network, &options, &plan), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(s.messages.text, "the profile's maximum: 'x' has more than 2^48 elements");
  session_end(&s);
}

/* A transposed convolution with holes, which only the reference kernel computes: of some extent it
 * is worth a word, of hardly any it is not. */
TENON_TEST(says_when_a_heavy_step_is_left_to_the_reference) {
  static float numbers[16 * 16 * 9];
  static const int64_t w_dims[] = {16, 16, 3, 3};
  for (int64_t extent = 4; extent <= 32; extent += 28) {
    const int64_t dims[] = {1, 16, extent, extent};
    session_t s;
    tenon_plan_t* plan = NULL;
    tenon_value_t operands[2] = {ABSENT, ABSENT};
    tenon_value_t y = ABSENT;
    tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
    options.no_measuring = 1;
    REQUIRE(session_begin(&s, NULL));
    EXPECT_STATUS(
        tenon_network_add_input(s.network, "x", TENON_DTYPE_FLOAT32, 4, dims, &operands[0]),
        TENON_OK);
    EXPECT_STATUS(tenon_network_add_constant(s.network, "w", TENON_DTYPE_FLOAT32, 4, w_dims,
                                             numbers, &operands[1]),
                  TENON_OK);
    const tenon_attribute_t attributes[] = {TENON_INTS("dilations", 2, 2)};
    EXPECT_STATUS(
        tenon_network_add(s.network, "standard.deconvolution/1", "holes", operands, 2,
                          &(tenon_list_t){attributes, 1, sizeof(tenon_attribute_t)}, &y, 1),
        TENON_OK);
    EXPECT_STATUS(tenon_network_add_output(s.network, y, "y"), TENON_OK);
    EXPECT_STATUS(tenon_build(s.network, &options, &plan), TENON_OK);
    if (extent == 4) {
      EXPECT(strstr(s.messages.text, "reference") == NULL);
    } else {
      EXPECT_CONTAINS(s.messages.text, "1 heavy step runs on reference kernels");
      EXPECT_CONTAINS(s.messages.text, "'holes'");
    }
    tenon_plan_destroy(plan);
    session_end(&s);
  }
}
