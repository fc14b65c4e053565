/* A network on the device `far` by the application's interface: when the host waits, what is
 * recorded, and that it does not matter who computes what. */
#include "network_run.h"

TENON_TEST(enqueue_returns_before_the_device_begins) {
  run_t run;
  float scores[CLASSES];
  tenon_tensor_view_t none = {0};
  REQUIRE(begin_lazily(&run, true, "far", NULL));
  set_image(&run);
  const uint64_t before = calls(&run, FAR_CALL_WORK);
  EXPECT_STATUS(tenon_context_enqueue(run.context), TENON_OK);
  EXPECT_INT(calls(&run, FAR_CALL_WORK), before);
  EXPECT_STATUS(tenon_context_get_output(run.context, 0, &none), TENON_ERROR_INVALID_STATE);
  EXPECT_STATUS(tenon_context_synchronize(run.context), TENON_OK);
  EXPECT(calls(&run, FAR_CALL_WORK) > before);
  get_scores(&run, scores);
  EXPECT(scores[0] > 0);
  end(&run);
}

/* Once step by step, once recorded, then one call for all of it; other numbers in, other numbers
 * out. */
TENON_TEST(what_was_recorded_is_replayed) {
  run_t run;
  float first[CLASSES];
  float again[CLASSES];
  REQUIRE(begin(&run, "far", NULL));
  set_image(&run);
  EXPECT_STATUS(tenon_context_run(run.context), TENON_OK);
  get_scores(&run, first);
  EXPECT_INT(calls(&run, FAR_CALL_BEGIN_RECORD), 0);
  EXPECT_STATUS(tenon_context_run(run.context), TENON_OK);
  EXPECT_INT(calls(&run, FAR_CALL_BEGIN_RECORD), 1);
  const uint64_t kernels = calls(&run, FAR_CALL_KERNEL);
  const uint64_t copies = calls(&run, FAR_CALL_COPY);
  for (uint64_t k = 1; k <= 3; ++k) {
    EXPECT_STATUS(tenon_context_run(run.context), TENON_OK);
    EXPECT_INT(calls(&run, FAR_CALL_REPLAY), 1 + k);
    EXPECT_INT(calls(&run, FAR_CALL_COPY), copies + 2 * k); /* the image, the scores */
  }
  EXPECT_INT(calls(&run, FAR_CALL_KERNEL), kernels);
  get_scores(&run, again);
  EXPECT(are_same(first, again));
  run.numbers[9] = 3;
  EXPECT_STATUS(tenon_context_run(run.context), TENON_OK);
  get_scores(&run, again);
  EXPECT(!are_same(first, again));
  run.numbers[9] = 2.0F / 7;
  EXPECT_STATUS(tenon_context_run(run.context), TENON_OK);
  get_scores(&run, again);
  EXPECT(are_same(first, again));
  end(&run);
}

/* After one run, which gives `out_scores`. The next call of this kind fails. */
static bool begin_failing(run_t* run, far_call_t call, float* out_scores) {
  if (!begin(run, "far", NULL)) {
    return false;
  }
  set_image(run);
  EXPECT_STATUS(tenon_context_run(run->context), TENON_OK);
  get_scores(run, out_scores);
  run->far->fail(0, call, 1, TENON_ERROR_OUT_OF_MEMORY);
  return true;
}

static void run_and_compare(run_t* run, int times, const float* expected) {
  float scores[CLASSES];
  for (int k = 0; k < times; ++k) {
    EXPECT_STATUS(tenon_context_run(run->context), TENON_OK);
    get_scores(run, scores);
    EXPECT(are_same(expected, scores));
  }
}

/* The run that cannot be recorded is enqueued step by step, like all later ones. */
TENON_TEST(a_recording_that_fails_is_not_tried_again) {
  static const far_call_t recording[] = {FAR_CALL_BEGIN_RECORD, FAR_CALL_END_RECORD,
                                         FAR_CALL_KERNEL};
  float first[CLASSES];
  for (size_t k = 0; k < sizeof recording / sizeof *recording; ++k) {
    run_t run;
    REQUIRE(begin_failing(&run, recording[k], first));
    const uint64_t tried = calls(&run, FAR_CALL_BEGIN_RECORD) + 1;
    run_and_compare(&run, 3, first);
    EXPECT_INT(calls(&run, FAR_CALL_BEGIN_RECORD), tried);
    EXPECT_INT(calls(&run, FAR_CALL_REPLAY), 0);
    EXPECT_CONTAINS(run.session.messages.text, "cannot be recorded");
    end(&run);
  }
}

/* The run fails with a message; the next one replays again. */
TENON_TEST(a_replay_that_fails_is_tried_again) {
  float first[CLASSES];
  run_t run;
  REQUIRE(begin_failing(&run, FAR_CALL_REPLAY, first));
  EXPECT_STATUS(tenon_context_run(run.context), TENON_ERROR_OUT_OF_MEMORY);
  EXPECT(tenon_last_message()[0] != '\0');
  run_and_compare(&run, 2, first);
  EXPECT(calls(&run, FAR_CALL_REPLAY) >= 2);
  end(&run);
}

/* Both devices have the same kernels: bit by bit the same, wherever a step is. */
TENON_TEST(a_step_that_moves_changes_nothing) {
  static const char* const nodes[] = {"conv1", "relu1",    "conv2",    "pool1",  "conv3",
                                      "pool2", "dense1_2", "dense2_2", "softmax"};
  float first[CLASSES];
  float moved[CLASSES];
  run_t run;
  REQUIRE(begin(&run, "far:0,far:1", NULL));
  set_image(&run);
  EXPECT_STATUS(tenon_context_run(run.context), TENON_OK);
  get_scores(&run, first);
  end(&run);
  for (size_t k = 0; k < sizeof nodes / sizeof *nodes; ++k) {
    char line[64];
    far_counts_t second;
    const char* const node_devices[] = {line, NULL};
    (void)snprintf(line, sizeof line, "%s=far:1", nodes[k]);
    REQUIRE(begin(&run, "far:0,far:1", node_devices));
    set_image(&run);
    run.far->set(0, FAR_SETTING_LAZY, k % 2);
    EXPECT_STATUS(tenon_context_run(run.context), TENON_OK);
    get_scores(&run, moved);
    EXPECT(are_same(first, moved));
    run.far->counts(1, &second);
    EXPECT(second.calls[FAR_CALL_KERNEL] >= 1); /* a view is made whole before it crosses */
    EXPECT_INT(second.mistakes, 0);
    end(&run);
  }
}

/* One context's device is lost; another's goes on, and so does the host. */
TENON_TEST(a_lost_device_ends_its_own_contexts) {
  run_t here;
  run_t there;
  run_t host;
  float scores[CLASSES];
  REQUIRE(begin(&host, "cpu", NULL) && begin(&there, "far:1", NULL) && begin(&here, "far:0", NULL));
  set_image(&here);
  set_image(&there);
  set_image(&host);
  here.far->lose(0, 4);
  EXPECT_STATUS(tenon_context_run(here.context), TENON_ERROR_DEVICE);
  EXPECT_CONTAINS(tenon_last_message(), "far:0");
  EXPECT_STATUS(tenon_context_run(here.context), TENON_ERROR_INVALID_STATE);
  EXPECT_CONTAINS(tenon_last_message(), "was lost");
  EXPECT_STATUS(tenon_context_run(there.context), TENON_OK);
  get_scores(&there, scores);
  EXPECT(scores[0] > 0);
  EXPECT_STATUS(tenon_context_run(host.context), TENON_OK);
  end(&here);
  end(&there);
  end(&host);
}

TENON_TEST(what_cannot_be_assigned_is_named) {
  static const struct {
    const char* line;
    const char* message;
  } cases[] = {{"nobody=far", "there is no node 'nobody'"},
               {"conv1=far:1", "the build is not for device 'far:1'; it is for: cpu, far:0"},
               {"conv1", "assigns no node to a device"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    session_t session;
    char folder[1024];
    tenon_plan_t* plan = NULL;
    const char* const node_devices[] = {cases[k].line, NULL};
    tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
    options.device = "far";
    options.node_devices = node_devices;
    options.no_measuring = 1;
    REQUIRE(session_begin(&session, session_path("tests/far_device", folder, sizeof folder)));
    EXPECT_STATUS(tenon_network_parse_file(session.network, DIGITS_MODEL, NULL), TENON_OK);
    EXPECT(tenon_build(session.network, &options, &plan) != TENON_OK);
    EXPECT_CONTAINS(tenon_last_message(), cases[k].message);
    session_end(&session);
  }
}
