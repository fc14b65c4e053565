/* What an application without an interface of the device has of it: memory, times by the device's
 * clock, what it says of itself; and the names that its maker's tools are told. */
#include "network_run.h"

enum { IMAGE_BYTES = PIXELS * (int)sizeof(float), SCORES_BYTES = CLASSES * (int)sizeof(float) };

typedef struct lender_t {
  run_t run;
  void* image;
  void* scores;
} lender_t;

static tenon_tensor_view_t view_of(void* data, uint32_t rank, const int64_t* dims) {
  return (tenon_tensor_view_t){
      .data = data, .dims = dims, .rank = rank, .dtype = TENON_DTYPE_FLOAT32, .layout = TENON_NONE};
}

static bool lend_all(lender_t* lender) {
  tenon_engine_t* engine = lender->run.engine;
  EXPECT_STATUS(tenon_engine_allocate(engine, IMAGE_BYTES, &lender->image), TENON_OK);
  EXPECT_STATUS(tenon_engine_allocate(engine, SCORES_BYTES, &lender->scores), TENON_OK);
  if (lender->image == NULL || lender->scores == NULL) {
    return false;
  }
  EXPECT_STATUS(tenon_engine_copy(engine, TENON_COPY_TO_DEVICE, lender->image, lender->run.numbers,
                                  IMAGE_BYTES),
                TENON_OK);
  const tenon_tensor_view_t image = view_of(lender->image, 4, (const int64_t[]){1, 1, 8, 8});
  const tenon_tensor_view_t scores = view_of(lender->scores, 2, (const int64_t[]){1, CLASSES});
  EXPECT_STATUS(tenon_context_set_input_on_device(lender->run.context, 0, &image), TENON_OK);
  EXPECT_STATUS(tenon_context_set_output_on_device(lender->run.context, 0, &scores), TENON_OK);
  return true;
}

/* The network, with inputs and outputs in the host's memory unless `is_lent`. */
static bool lender_begin(lender_t* lender, const char* const* node_devices, bool is_lent) {
  memset(lender, 0, sizeof *lender);
  if (!begin(&lender->run, "far", node_devices)) {
    return false;
  }
  set_image(&lender->run);
  return !is_lent || lend_all(lender);
}

static void lender_end(lender_t* lender) {
  tenon_engine_free(lender->run.engine, lender->image, IMAGE_BYTES);
  tenon_engine_free(lender->run.engine, lender->scores, SCORES_BYTES);
  end(&lender->run);
}

static tenon_run_times_t times_of(lender_t* lender) {
  tenon_run_times_t times = TENON_OPTIONS(tenon_run_times_t);
  EXPECT_STATUS(tenon_context_get_times(lender->run.context, &times), TENON_OK);
  return times;
}

/* ---- Memory ---- */

TENON_TEST(memory_of_the_device_without_its_interface) {
  lender_t lender;
  float expected[CLASSES];
  float scores[CLASSES];
  REQUIRE(lender_begin(&lender, NULL, false));
  EXPECT_STATUS(tenon_context_run(lender.run.context), TENON_OK);
  get_scores(&lender.run, expected);
  REQUIRE(lend_all(&lender));
  EXPECT(lender.run.far->owns(0, lender.image));
  EXPECT_STATUS(tenon_context_run(lender.run.context), TENON_OK);
  /* Within the device, then back. */
  EXPECT_STATUS(tenon_engine_copy(lender.run.engine, TENON_COPY_WITHIN, lender.image, lender.scores,
                                  SCORES_BYTES),
                TENON_OK);
  EXPECT_STATUS(
      tenon_engine_copy(lender.run.engine, TENON_COPY_TO_HOST, scores, lender.image, SCORES_BYTES),
      TENON_OK);
  EXPECT(are_same(expected, scores));
  void* none = NULL;
  EXPECT_STATUS(tenon_engine_allocate(lender.run.engine, 0, &none), TENON_OK);
  EXPECT(none != NULL);
  tenon_engine_free(lender.run.engine, none, 0);
  tenon_engine_free(lender.run.engine, NULL, 0);
  tenon_engine_free(NULL, NULL, 0);
  EXPECT_STATUS(tenon_engine_copy(lender.run.engine, TENON_COPY_TO_HOST, NULL, NULL, 0), TENON_OK);
  lender_end(&lender);
}

TENON_TEST(memory_that_cannot_be_had) {
  lender_t lender;
  run_t host;
  char byte = 0;
  void* data = &byte;
  REQUIRE(lender_begin(&lender, NULL, true));
  tenon_engine_t* engine = lender.run.engine;
  EXPECT_STATUS(tenon_engine_allocate(engine, (size_t)1 << 40, &data), TENON_ERROR_OUT_OF_MEMORY);
  EXPECT_CONTAINS(tenon_last_message(), "1099511627776 bytes on device far");
  EXPECT(data == &byte);
  EXPECT_STATUS(tenon_engine_copy(engine, 7, lender.image, &byte, 1), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "no direction 7");
  EXPECT_STATUS(tenon_engine_copy(engine, TENON_COPY_TO_DEVICE, NULL, &byte, 1),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_STATUS(tenon_engine_allocate(engine, 1, NULL), TENON_ERROR_INVALID_ARGUMENT);
  lender.run.far->fail(0, FAR_CALL_COPY, 1, TENON_ERROR_IO);
  EXPECT_STATUS(tenon_engine_copy(engine, TENON_COPY_TO_DEVICE, lender.image, &byte, 1),
                TENON_ERROR_IO);
  EXPECT_CONTAINS(tenon_last_message(), "device 'far:0' (plugin far_device): copy");
  lender_end(&lender);
  REQUIRE(begin(&host, "cpu", NULL));
  EXPECT_STATUS(tenon_engine_allocate(host.engine, 1, &data), TENON_ERROR_INVALID_STATE);
  EXPECT_CONTAINS(tenon_last_message(), "the plan runs on the host alone");
  EXPECT_STATUS(tenon_engine_copy(host.engine, TENON_COPY_WITHIN, &byte, &byte, 1),
                TENON_ERROR_INVALID_STATE);
  end(&host);
}

/* ---- Times ---- */

TENON_TEST(a_run_is_timed_with_its_copies_apart) {
  enum { DELAY_US = 2000 };
  lender_t lender;
  REQUIRE(lender_begin(&lender, NULL, false));
  EXPECT_STATUS(tenon_context_set_timing(lender.run.context, 1), TENON_OK);
  lender.run.far->set(0, FAR_SETTING_DELAY, DELAY_US);
  EXPECT_STATUS(tenon_context_run(lender.run.context), TENON_OK);
  const tenon_run_times_t times = times_of(&lender);
  EXPECT_INT(times.run_count, 1);
  EXPECT_INT(times.wait_count, 0);
  EXPECT_INT(times.inputs_on_host + times.outputs_on_host, 0);
  /* Each piece of work comes at least so much later: between two marks stand the copy, and the
   * second mark; around the run besides them kernels and the marks of the copies. */
  EXPECT(times.transfer_in_seconds >= 2 * DELAY_US * 1e-6);
  EXPECT(times.transfer_out_seconds >= 2 * DELAY_US * 1e-6);
  EXPECT(times.seconds >= times.transfer_in_seconds + times.transfer_out_seconds + DELAY_US * 1e-6);
  lender_end(&lender);
}

TENON_TEST(what_is_lent_is_not_copied_and_runs_are_timed_as_one) {
  lender_t lender;
  REQUIRE(lender_begin(&lender, NULL, true));
  EXPECT_STATUS(tenon_context_set_timing(lender.run.context, 1), TENON_OK);
  for (int k = 0; k < 3; ++k) { /* step by step, recorded, replayed */
    EXPECT_STATUS(tenon_context_run(lender.run.context), TENON_OK);
    EXPECT_INT(times_of(&lender).run_count, 1);
  }
  tenon_run_times_t times = TENON_OPTIONS(tenon_run_times_t);
  for (int k = 0; k < 3; ++k) {
    EXPECT_STATUS(tenon_context_enqueue(lender.run.context), TENON_OK);
    EXPECT_STATUS(tenon_context_get_times(lender.run.context, &times), TENON_ERROR_INVALID_STATE);
    EXPECT_CONTAINS(tenon_last_message(), "a run is under way");
  }
  EXPECT_STATUS(tenon_context_synchronize(lender.run.context), TENON_OK);
  times = times_of(&lender);
  EXPECT_INT(times.run_count, 3);
  EXPECT_INT(times.wait_count, 0);
  EXPECT(times.seconds > 0);
  EXPECT(times.transfer_in_seconds == 0 && times.transfer_out_seconds == 0);
  /* An older application's structure ends sooner. */
  tenon_run_times_t shorter = {.size = offsetof(tenon_run_times_t, seconds), .seconds = -1};
  EXPECT_STATUS(tenon_context_get_times(lender.run.context, &shorter), TENON_OK);
  EXPECT_INT(shorter.run_count, 3);
  EXPECT(shorter.seconds == -1);
  shorter.size = 0;
  EXPECT_STATUS(tenon_context_get_times(lender.run.context, &shorter),
                TENON_ERROR_INVALID_ARGUMENT);
  lender_end(&lender);
}

TENON_TEST(no_event_lies_between_runs_that_are_timed_as_a_row) {
  lender_t lender;
  REQUIRE(lender_begin(&lender, NULL, true));
  for (uint32_t mode = 1; mode <= 2; ++mode) {
    EXPECT_STATUS(tenon_context_set_timing(lender.run.context, mode), TENON_OK);
    const uint64_t before = calls(&lender.run, FAR_CALL_RECORD_EVENT);
    for (int k = 0; k < 4; ++k) { /* step by step, recorded, replayed */
      EXPECT_STATUS(tenon_context_enqueue(lender.run.context), TENON_OK);
    }
    EXPECT_STATUS(tenon_context_synchronize(lender.run.context), TENON_OK);
    EXPECT_INT(times_of(&lender).run_count, 4);
    EXPECT(times_of(&lender).seconds > 0);
    EXPECT_INT(calls(&lender.run, FAR_CALL_RECORD_EVENT) - before, mode == 1 ? 5 : 2);
  }
  EXPECT_STATUS(tenon_context_set_timing(lender.run.context, 3), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "3");
  lender_end(&lender);
}

TENON_TEST(no_event_is_recorded_that_nobody_asked_for) {
  lender_t lender;
  tenon_run_times_t times = TENON_OPTIONS(tenon_run_times_t);
  REQUIRE(lender_begin(&lender, NULL, false));
  EXPECT_STATUS(tenon_context_run(lender.run.context), TENON_OK);
  EXPECT_INT(calls(&lender.run, FAR_CALL_RECORD_EVENT), 0);
  EXPECT_STATUS(tenon_context_get_times(lender.run.context, &times), TENON_ERROR_INVALID_STATE);
  EXPECT_CONTAINS(tenon_last_message(), "timing was not asked for");
  EXPECT_STATUS(tenon_context_set_timing(lender.run.context, 1), TENON_OK);
  EXPECT_STATUS(tenon_context_get_times(lender.run.context, &times), TENON_ERROR_INVALID_STATE);
  EXPECT_CONTAINS(tenon_last_message(), "no run ended well");
  EXPECT_STATUS(tenon_context_run(lender.run.context), TENON_OK);
  const uint64_t recorded = calls(&lender.run, FAR_CALL_RECORD_EVENT);
  EXPECT_INT(recorded, 6); /* around the run, the image, the scores */
  EXPECT_STATUS(tenon_context_set_timing(lender.run.context, 0), TENON_OK);
  EXPECT_INT(calls(&lender.run, FAR_CALL_DESTROY_EVENT), 6);
  EXPECT_STATUS(tenon_context_run(lender.run.context), TENON_OK);
  EXPECT_INT(calls(&lender.run, FAR_CALL_RECORD_EVENT), recorded);
  lender_end(&lender);
}

TENON_TEST(what_the_host_reads_or_makes_is_counted) {
  static const char* const lines[] = {"conv1=cpu", "softmax=cpu"};
  for (uint32_t k = 0; k < 2; ++k) {
    const char* const node_devices[] = {lines[k], NULL};
    lender_t lender;
    REQUIRE(lender_begin(&lender, node_devices, true));
    EXPECT_STATUS(tenon_context_set_timing(lender.run.context, 1), TENON_OK);
    EXPECT_STATUS(tenon_context_run(lender.run.context), TENON_OK);
    const tenon_run_times_t times = times_of(&lender);
    EXPECT_INT(times.inputs_on_host, k == 0);
    EXPECT_INT(times.outputs_on_host, k == 1);
    EXPECT_INT(times.wait_count, 1);
    lender_end(&lender);
  }
}

TENON_TEST(a_run_that_fails_has_no_times) {
  lender_t lender;
  run_t host;
  tenon_run_times_t times = TENON_OPTIONS(tenon_run_times_t);
  REQUIRE(lender_begin(&lender, NULL, false));
  EXPECT_STATUS(tenon_context_set_timing(lender.run.context, 1), TENON_OK);
  EXPECT_STATUS(tenon_context_run(lender.run.context), TENON_OK);
  lender.run.far->fail(0, FAR_CALL_WORK, 3, TENON_ERROR_IO);
  EXPECT_STATUS(tenon_context_run(lender.run.context), TENON_ERROR_IO);
  EXPECT_STATUS(tenon_context_get_times(lender.run.context, &times), TENON_ERROR_INVALID_STATE);
  EXPECT_STATUS(tenon_context_run(lender.run.context), TENON_OK);
  EXPECT_INT(times_of(&lender).run_count, 1);
  /* Events that cannot be had leave it as it was: not timed, and able to run. */
  lender.run.far->fail(0, FAR_CALL_CREATE_EVENT, 4, TENON_ERROR_IO);
  EXPECT_STATUS(tenon_context_set_timing(lender.run.context, 1), TENON_ERROR_IO);
  EXPECT_STATUS(tenon_context_run(lender.run.context), TENON_OK);
  EXPECT_STATUS(tenon_context_get_times(lender.run.context, &times), TENON_ERROR_INVALID_STATE);
  lender_end(&lender);
  REQUIRE(begin(&host, "cpu", NULL));
  EXPECT_STATUS(tenon_context_set_timing(host.context, 1), TENON_ERROR_INVALID_STATE);
  EXPECT_CONTAINS(tenon_last_message(), "by the host's clock");
  end(&host);
}

/* ---- What it says, and is told ---- */

TENON_TEST(the_device_says_how_much_memory_there_is) {
  lender_t lender;
  run_t host;
  tenon_device_reading_t before = TENON_OPTIONS(tenon_device_reading_t);
  tenon_device_reading_t after = TENON_OPTIONS(tenon_device_reading_t);
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  void* more = NULL;
  REQUIRE(lender_begin(&lender, NULL, true));
  tenon_engine_t* engine = lender.run.engine;
  EXPECT_STATUS(tenon_engine_read_device(engine, &before), TENON_OK);
  EXPECT_STATUS(tenon_engine_get_info(engine, &info), TENON_OK);
  EXPECT(info.uploaded_bytes > 0);
  EXPECT(before.used_bytes >= info.uploaded_bytes + info.arena_bytes + IMAGE_BYTES + SCORES_BYTES);
  EXPECT(before.total_bytes == before.free_bytes + before.used_bytes);
  EXPECT_STATUS(tenon_engine_allocate(engine, 1 << 20, &more), TENON_OK);
  tenon_engine_free(engine, more, 1 << 20);
  EXPECT_STATUS(tenon_engine_read_device(engine, &after), TENON_OK);
  EXPECT(after.used_bytes == before.used_bytes);
  EXPECT(after.peak_bytes >= before.used_bytes + (1 << 20));
  lender.run.far->fail(0, FAR_CALL_READ, 1, TENON_ERROR_IO);
  EXPECT_STATUS(tenon_engine_read_device(engine, &after), TENON_ERROR_IO);
  lender_end(&lender);
  REQUIRE(begin(&host, "cpu", NULL));
  after.used_bytes = 1;
  EXPECT_STATUS(tenon_engine_read_device(host.engine, &after), TENON_OK);
  EXPECT(after.used_bytes == 0 && after.total_bytes == 0);
  info = TENON_OPTIONS(tenon_engine_info_t);
  EXPECT_STATUS(tenon_engine_get_info(host.engine, &info), TENON_OK);
  EXPECT(info.uploaded_bytes == 0);
  end(&host);
}

/* Each step by name where it is asked for one by one and where it is recorded; a replay has one
 * range. begin_lazily resets the settings, so a second engine and context are made. */
TENON_TEST(tools_are_told_what_runs) {
  static const char* const names[] = {"conv1(", "relu3("};
  char ranges[8192];
  lender_t lender;
  tenon_engine_t* engine = NULL;
  tenon_context_t* context = NULL;
  tenon_plan_t* plan = NULL;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  REQUIRE(lender_begin(&lender, NULL, false));
  EXPECT_STATUS(tenon_context_run(lender.run.context), TENON_OK);
  lender.run.far->ranges(0, ranges, sizeof ranges);
  EXPECT_TEXT(ranges, ""); /* nobody looks */
  lender.run.far->set(0, FAR_SETTING_WATCHED, 1);
  options.device = "far";
  options.no_measuring = 1;
  EXPECT_STATUS(tenon_build(lender.run.session.network, &options, &plan), TENON_OK);
  EXPECT_STATUS(tenon_engine_create_from_plan(lender.run.session.registry, plan, NULL, &engine),
                TENON_OK);
  EXPECT_STATUS(tenon_context_create(engine, NULL, &context), TENON_OK);
  tenon_plan_destroy(plan);
  tenon_context_t* other = lender.run.context;
  lender.run.context = context;
  set_image(&lender.run);
  size_t length = 0;
  for (int k = 0; k < 3; ++k) { /* step by step, recorded and replayed, replayed */
    EXPECT_STATUS(tenon_context_run(context), TENON_OK);
    lender.run.far->ranges(0, ranges, sizeof ranges);
    for (size_t n = 0; n < 2; ++n) {
      EXPECT((strstr(ranges + length, names[n]) != NULL) == (k < 2));
    }
    EXPECT((strstr(ranges + length, "replay of ") != NULL) == (k > 0));
    length = strlen(ranges);
  }
  int depth = 0;
  for (size_t k = 0; k < length; ++k) {
    depth += ranges[k] == '(' ? 1 : ranges[k] == ')' ? -1 : 0;
    EXPECT(depth == 0 || depth == 1); /* steps do not lie in each other here */
  }
  EXPECT_INT(depth, 0);
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  lender.run.context = other;
  lender_end(&lender);
}
