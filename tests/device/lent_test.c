/* Inputs and outputs that the application has in the device's memory: nothing is copied to the host
 * and back, and what is copied at all is counted. */
#include "network_run.h"

typedef struct lender_t {
  run_t run;
  const tenon_device_descriptor_t* table;
  tenon_device_t* device;
  char* image; /* with room to begin elsewhere */
  char* scores;
} lender_t;

enum { IMAGE_BYTES = PIXELS * (int)sizeof(float), SCORES_BYTES = CLASSES * (int)sizeof(float) };

static bool lender_begin(lender_t* lender, const char* const* node_devices, bool is_lazy) {
  void* blocks[2] = {NULL, NULL};
  if (!begin_lazily(&lender->run, is_lazy, "far", node_devices)) {
    return false;
  }
  lender->table = far_plugin_offering(far_plugin_open(FAR_DEVICE_PATH), "device/1")->items.items;
  EXPECT_STATUS(lender->table->open(NULL, 0, NULL, &lender->device), TENON_OK);
  for (int k = 0; k < 2; ++k) {
    EXPECT_STATUS(lender->table->allocate(lender->device, NULL, 4096, &blocks[k]), TENON_OK);
  }
  lender->image = blocks[0];
  lender->scores = blocks[1];
  return lender->image != NULL && lender->scores != NULL;
}

static void lender_end(lender_t* lender) {
  lender->table->free(lender->device, NULL, lender->image, 4096);
  lender->table->free(lender->device, NULL, lender->scores, 4096);
  lender->table->close(lender->device);
  end(&lender->run);
}

static void write_image(lender_t* lender, size_t offset) {
  EXPECT_STATUS(lender->table->copy(lender->device, NULL, TENON_COPY_TO_DEVICE,
                                    lender->image + offset, lender->run.numbers, IMAGE_BYTES),
                TENON_OK);
}

static void read_scores(lender_t* lender, size_t offset, float out_scores[CLASSES]) {
  EXPECT_STATUS(lender->table->copy(lender->device, NULL, TENON_COPY_TO_HOST, out_scores,
                                    lender->scores + offset, SCORES_BYTES),
                TENON_OK);
}

static tenon_status_t lend_image(lender_t* lender, size_t offset) {
  static const int64_t dims[] = {1, 1, 8, 8};
  const tenon_tensor_view_t image = {.data = lender->image + offset,
                                     .dims = dims,
                                     .rank = 4,
                                     .dtype = TENON_DTYPE_FLOAT32,
                                     .layout = TENON_NONE};
  return tenon_context_set_input_on_device(lender->run.context, 0, &image);
}

static tenon_status_t lend_scores(lender_t* lender, size_t offset) {
  static const int64_t dims[] = {1, CLASSES};
  const tenon_tensor_view_t scores = {.data = lender->scores + offset,
                                      .dims = dims,
                                      .rank = 2,
                                      .dtype = TENON_DTYPE_FLOAT32,
                                      .layout = TENON_NONE};
  return tenon_context_set_output_on_device(lender->run.context, 0, &scores);
}

static uint64_t all_calls(const lender_t* lender) {
  far_counts_t counts;
  uint64_t sum = 0;
  lender->run.far->counts(0, &counts);
  for (int k = 0; k < FAR_CALL_COUNT; ++k) {
    sum += k == FAR_CALL_WORK ? 0 : counts.calls[k]; /* what the device does with them */
  }
  return sum;
}

static uint64_t crossed_bytes(const lender_t* lender) {
  far_counts_t counts;
  lender->run.far->counts(0, &counts);
  return counts.copied_bytes[TENON_COPY_TO_DEVICE] + counts.copied_bytes[TENON_COPY_TO_HOST];
}

/* The same image by the host's memory. */
static void expect_by_host(lender_t* lender, float out_scores[CLASSES]) {
  set_image(&lender->run);
  EXPECT_STATUS(tenon_context_set_output(lender->run.context, 0, NULL), TENON_OK);
  EXPECT_STATUS(tenon_context_run(lender->run.context), TENON_OK);
  get_scores(&lender->run, out_scores);
}

TENON_TEST(a_steady_run_is_one_replay_and_no_other_call) {
  lender_t lender;
  float expected[CLASSES];
  float scores[CLASSES];
  tenon_tensor_view_t result = {0};
  REQUIRE(lender_begin(&lender, NULL, false));
  expect_by_host(&lender, expected);
  EXPECT_STATUS(lend_image(&lender, 0), TENON_OK);
  EXPECT_STATUS(lend_scores(&lender, 0), TENON_OK);
  write_image(&lender, 0);
  const uint64_t crossed = crossed_bytes(&lender);
  for (int k = 0; k < 4; ++k) {
    const uint64_t calls_before = all_calls(&lender);
    const uint64_t replays = calls(&lender.run, FAR_CALL_REPLAY);
    EXPECT_STATUS(tenon_context_enqueue(lender.run.context), TENON_OK);
    if (k >= 2) { /* once step by step, once recorded */
      EXPECT_INT(calls(&lender.run, FAR_CALL_REPLAY), replays + 1);
      EXPECT_INT(all_calls(&lender), calls_before + 1);
    }
    EXPECT_STATUS(tenon_context_synchronize(lender.run.context), TENON_OK);
  }
  EXPECT_INT(crossed_bytes(&lender), crossed);
  EXPECT_STATUS(tenon_context_get_output(lender.run.context, 0, &result), TENON_OK);
  EXPECT(result.data == lender.scores);
  read_scores(&lender, 0, scores);
  EXPECT(are_same(expected, scores));
  /* The same recording with another image; then in the host's memory again. */
  lender.run.numbers[9] = 3;
  write_image(&lender, 0);
  EXPECT_STATUS(tenon_context_run(lender.run.context), TENON_OK);
  read_scores(&lender, 0, scores);
  EXPECT(!are_same(expected, scores));
  expect_by_host(&lender, expected);
  EXPECT(are_same(expected, scores));
  lender_end(&lender);
}

/* Another address for each run, and back: what was recorded for one holds for no other. */
TENON_TEST(addresses_may_change_between_runs) {
  lender_t lender;
  float expected[CLASSES];
  float scores[CLASSES];
  REQUIRE(lender_begin(&lender, NULL, false));
  expect_by_host(&lender, expected);
  for (size_t k = 0; k < 8; ++k) {
    const size_t offset = k % 3 * 512;
    write_image(&lender, offset);
    EXPECT_STATUS(lend_image(&lender, offset), TENON_OK);
    EXPECT_STATUS(lend_scores(&lender, offset), TENON_OK);
    EXPECT_STATUS(tenon_context_run(lender.run.context), TENON_OK);
    read_scores(&lender, offset, scores);
    EXPECT(are_same(expected, scores));
    memset(scores, 0, sizeof scores);
    EXPECT_STATUS(lender.table->fill(lender.device, NULL, lender.scores, 0, 4096), TENON_OK);
  }
  lender_end(&lender);
}

/* Two sets of tensors in turn, as who fills one while the other is computed with: each is recorded
 * once. More than a context remembers are recorded again, and right. */
TENON_TEST(addresses_that_take_turns_are_recorded_once_each) {
  enum { SETS = 6 };
  lender_t lender;
  float expected[CLASSES];
  float scores[CLASSES];
  REQUIRE(lender_begin(&lender, NULL, false));
  expect_by_host(&lender, expected);
  for (size_t k = 0; k < SETS; ++k) {
    write_image(&lender, k * 512);
  }
  for (size_t k = 0; k < 12; ++k) {
    EXPECT_STATUS(lend_image(&lender, k % 2 * 512), TENON_OK);
    EXPECT_STATUS(lend_scores(&lender, k % 2 * 512), TENON_OK);
    EXPECT_STATUS(tenon_context_run(lender.run.context), TENON_OK);
    read_scores(&lender, k % 2 * 512, scores);
    EXPECT(are_same(expected, scores));
  }
  EXPECT_INT(calls(&lender.run, FAR_CALL_BEGIN_RECORD), 2);
  EXPECT_INT(calls(&lender.run, FAR_CALL_REPLAY), 10);
  for (size_t k = 0; k < (size_t)3 * SETS; ++k) {
    EXPECT_STATUS(lend_image(&lender, k % SETS * 512), TENON_OK);
    EXPECT_STATUS(lend_scores(&lender, k % SETS * 512), TENON_OK);
    EXPECT_STATUS(tenon_context_run(lender.run.context), TENON_OK);
    read_scores(&lender, k % SETS * 512, scores);
    EXPECT(are_same(expected, scores));
  }
  lender_end(&lender);
}

TENON_TEST(an_odd_address_is_copied_on_the_device) {
  lender_t lender;
  float expected[CLASSES];
  float scores[CLASSES];
  REQUIRE(lender_begin(&lender, NULL, false));
  expect_by_host(&lender, expected);
  write_image(&lender, 4);
  EXPECT_STATUS(lend_image(&lender, 4), TENON_OK);
  EXPECT_STATUS(lend_scores(&lender, 12), TENON_OK);
  const uint64_t crossed = crossed_bytes(&lender);
  for (int k = 0; k < 3; ++k) {
    EXPECT_STATUS(tenon_context_run(lender.run.context), TENON_OK);
  }
  EXPECT_INT(crossed_bytes(&lender), crossed);
  read_scores(&lender, 12, scores);
  EXPECT(are_same(expected, scores));
  lender_end(&lender);
}

/* The first or the last step is the host's: what it reads or makes is copied. */
TENON_TEST(the_host_reads_and_makes_what_is_lent_too) {
  static const char* const lines[] = {"conv1=cpu", "softmax=cpu"};
  for (size_t k = 0; k < 2; ++k) {
    const char* const node_devices[] = {lines[k], NULL};
    lender_t lender;
    float expected[CLASSES];
    float scores[CLASSES];
    REQUIRE(lender_begin(&lender, node_devices, false));
    expect_by_host(&lender, expected);
    write_image(&lender, 0);
    EXPECT_STATUS(lend_image(&lender, 0), TENON_OK);
    EXPECT_STATUS(lend_scores(&lender, 0), TENON_OK);
    for (int again = 0; again < 3; ++again) {
      EXPECT_STATUS(tenon_context_run(lender.run.context), TENON_OK);
      read_scores(&lender, 0, scores);
      EXPECT(are_same(expected, scores));
    }
    lender_end(&lender);
  }
}

TENON_TEST(runs_are_enqueued_behind_one_another) {
  lender_t lender;
  float scores[CLASSES];
  REQUIRE(lender_begin(&lender, NULL, false));
  write_image(&lender, 0);
  EXPECT_STATUS(lend_image(&lender, 0), TENON_OK);
  EXPECT_STATUS(lend_scores(&lender, 0), TENON_OK);
  for (int k = 0; k < 3; ++k) {
    EXPECT_STATUS(tenon_context_run(lender.run.context), TENON_OK);
  }
  lender.run.far->set(0, FAR_SETTING_LAZY, 1);
  const uint64_t work = calls(&lender.run, FAR_CALL_WORK);
  for (int k = 0; k < 3; ++k) {
    EXPECT_STATUS(tenon_context_enqueue(lender.run.context), TENON_OK);
  }
  EXPECT_INT(calls(&lender.run, FAR_CALL_WORK), work);
  EXPECT_STATUS(tenon_context_synchronize(lender.run.context), TENON_OK);
  EXPECT(calls(&lender.run, FAR_CALL_WORK) >= work + 3);
  read_scores(&lender, 0, scores);
  EXPECT(scores[0] > 0);
  lender_end(&lender);
}

/* Each run's first kernel, however soon it follows the run before: the application has the stream
 * between them. Addresses are others each time, so that no step is replayed. */
TENON_TEST(a_run_has_no_kernel_before_it) {
  enum { RUNS = 3 };
  lender_t lender;
  far_counts_t before;
  far_counts_t counts;
  REQUIRE(lender_begin(&lender, NULL, false));
  lender.run.far->counts(0, &before);
  for (size_t k = 0; k < RUNS; ++k) {
    write_image(&lender, k * 512);
    EXPECT_STATUS(lend_image(&lender, k * 512), TENON_OK);
    EXPECT_STATUS(lend_scores(&lender, k * 512), TENON_OK);
    EXPECT_STATUS(tenon_context_enqueue(lender.run.context), TENON_OK);
  }
  EXPECT_STATUS(tenon_context_synchronize(lender.run.context), TENON_OK);
  lender.run.far->counts(0, &counts);
  const uint64_t kernels = counts.calls[FAR_CALL_KERNEL] - before.calls[FAR_CALL_KERNEL];
  EXPECT(kernels > RUNS);
  EXPECT_INT(counts.edges[0] - before.edges[0], RUNS);
  EXPECT_INT(counts.edges[TENON_EDGE_KERNEL] - before.edges[TENON_EDGE_KERNEL], kernels - RUNS);
  lender_end(&lender);
}

/* Neither what is bound nor what is recorded goes while the device may be at work with it. */
TENON_TEST(a_context_ends_while_runs_are_under_way) {
  lender_t lender;
  REQUIRE(lender_begin(&lender, NULL, false));
  write_image(&lender, 0);
  lender.run.far->set(0, FAR_SETTING_LAZY, 1);
  for (size_t k = 0; k < 20; ++k) {
    EXPECT_STATUS(lend_image(&lender, k % 6 * 512), TENON_OK);
    EXPECT_STATUS(lend_scores(&lender, k % 6 * 512), TENON_OK);
    EXPECT_STATUS(tenon_context_enqueue(lender.run.context), TENON_OK);
  }
  tenon_context_destroy(lender.run.context);
  lender.run.context = NULL;
  lender_end(&lender);
}

TENON_TEST(what_cannot_be_lent_is_refused) {
  static const int64_t dims[] = {1, 1, 8, 8};
  static const int64_t strides[] = {128, 128, 16, 1};
  lender_t lender;
  run_t host;
  REQUIRE(lender_begin(&lender, NULL, false));
  const tenon_tensor_view_t gaps = {.data = lender.image,
                                    .dims = dims,
                                    .strides = strides,
                                    .rank = 4,
                                    .dtype = TENON_DTYPE_FLOAT32,
                                    .layout = TENON_NONE};
  EXPECT_STATUS(tenon_context_set_input_on_device(lender.run.context, 0, &gaps),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "dense rows");
  EXPECT(tenon_context_get_stream(lender.run.context, "far.stream/1") != NULL);
  EXPECT(tenon_context_get_stream(lender.run.context, "other.stream/1") == NULL);
  REQUIRE(begin(&host, "cpu", NULL));
  run_t mine = lender.run;
  lender.run.context = host.context;
  EXPECT_STATUS(lend_image(&lender, 0), TENON_ERROR_INVALID_STATE);
  EXPECT_STATUS(lend_scores(&lender, 0), TENON_ERROR_INVALID_STATE);
  EXPECT_CONTAINS(tenon_last_message(), "the plan runs on the host alone");
  EXPECT(tenon_context_get_stream(host.context, "far.stream/1") == NULL);
  lender.run = mine;
  lender_end(&lender);
  end(&host);
}

/* A transposition of an input, which is an output, is done where both are. */
TENON_TEST(a_network_of_moves_alone_runs_on_the_device) {
  static const int64_t dims[] = {8, 8};
  run_t run;
  tenon_value_t x = ABSENT;
  void* blocks[2] = {NULL, NULL};
  float result[PIXELS];
  REQUIRE(begin_network(&run));
  EXPECT_STATUS(tenon_network_add_input(run.session.network, "x", TENON_DTYPE_FLOAT32, 2, dims, &x),
                TENON_OK);
  const tenon_value_t y =
      node(&run.session, "standard.permute/1", VALUES(x), ATTRIBUTES(ROW_INTS("perm", 1, 0)));
  EXPECT_STATUS(tenon_network_add_output(run.session.network, y, "y"), TENON_OK);
  REQUIRE(start(&run, "far", TENON_OPTIONS(tenon_build_options_t)));
  for (int k = 0; k < PIXELS; ++k) {
    run.numbers[k] = (float)k;
  }
  for (int k = 0; k < 2; ++k) {
    EXPECT_STATUS(tenon_engine_allocate(run.engine, IMAGE_BYTES, &blocks[k]), TENON_OK);
  }
  EXPECT_STATUS(
      tenon_engine_copy(run.engine, TENON_COPY_TO_DEVICE, blocks[0], run.numbers, IMAGE_BYTES),
      TENON_OK);
  tenon_tensor_view_t view = {.data = blocks[0],
                              .dims = dims,
                              .rank = 2,
                              .dtype = TENON_DTYPE_FLOAT32,
                              .layout = TENON_NONE};
  EXPECT_STATUS(tenon_context_set_input_on_device(run.context, 0, &view), TENON_OK);
  view.data = blocks[1];
  EXPECT_STATUS(tenon_context_set_output_on_device(run.context, 0, &view), TENON_OK);
  for (int k = 0; k < 3; ++k) {
    const far_counts_t before = counts_of(&run);
    EXPECT_STATUS(tenon_context_run(run.context), TENON_OK);
    const far_counts_t after = counts_of(&run);
    EXPECT_INT(after.copied_bytes[TENON_COPY_TO_DEVICE], before.copied_bytes[TENON_COPY_TO_DEVICE]);
    EXPECT_INT(after.copied_bytes[TENON_COPY_TO_HOST], before.copied_bytes[TENON_COPY_TO_HOST]);
  }
  EXPECT_STATUS(tenon_engine_copy(run.engine, TENON_COPY_TO_HOST, result, blocks[1], IMAGE_BYTES),
                TENON_OK);
  for (int k = 0; k < PIXELS; ++k) {
    EXPECT_NEAR(result[k], run.numbers[k % 8 * 8 + k / 8], 0);
  }
  for (int k = 0; k < 2; ++k) {
    tenon_engine_free(run.engine, blocks[k], IMAGE_BYTES);
  }
  end(&run);
}
