/* A network on the device `far` by the application's interface, for the tests of this folder. */
#ifndef TENON_TESTS_DEVICE_NETWORK_RUN_H_
#define TENON_TESTS_DEVICE_NETWORK_RUN_H_

#include "tests/support/far_device/control.h"

#include "tests/api/session.h"

enum { PIXELS = 64, CLASSES = 10 };

typedef struct run_t {
  session_t session;
  const far_control_t* far;
  tenon_engine_t* engine;
  tenon_context_t* context;
  float pixels[PIXELS];
} run_t;

/* Lazy from the beginning, where that is asked: what a context puts on its stream when it is made
 * would else be under way still. */
static inline bool begin_lazily(run_t* run, bool is_lazy, const char* device,
                                const char* const* node_devices) {
  char folder[1024];
  tenon_plan_t* plan = NULL;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  memset(run, 0, sizeof *run);
  options.device = device;
  options.node_devices = node_devices;
  options.no_measuring = 1;
  run->far = far_control_open(FAR_DEVICE_PATH);
  if (run->far == NULL ||
      !session_begin(&run->session, session_path("tests/far_device", folder, sizeof folder))) {
    return false;
  }
  run->far->reset();
  run->far->set(0, FAR_SETTING_LAZY, is_lazy);
  for (int k = 0; k < PIXELS; ++k) {
    run->pixels[k] = (float)(k % 7) / 7;
  }
  EXPECT_STATUS(tenon_network_parse_file(run->session.network, DIGITS_MODEL, NULL), TENON_OK);
  EXPECT_STATUS(tenon_build(run->session.network, &options, &plan), TENON_OK);
  EXPECT_STATUS(tenon_engine_create_from_plan(run->session.registry, plan, NULL, &run->engine),
                TENON_OK);
  tenon_plan_destroy(plan);
  return run->engine != NULL && tenon_context_create(run->engine, NULL, &run->context) == TENON_OK;
}

static inline bool begin(run_t* run, const char* device, const char* const* node_devices) {
  return begin_lazily(run, false, device, node_devices);
}

static inline void end(run_t* run) {
  far_counts_t counts;
  tenon_context_destroy(run->context);
  tenon_engine_release(run->engine);
  session_end(&run->session);
  run->far->counts(0, &counts);
  EXPECT_INT(counts.mistakes, 0);
  EXPECT_INT(counts.live_allocations + counts.live_streams + counts.live_recordings, 0);
}

static inline void set_image(run_t* run) {
  static const int64_t dims[] = {1, 1, 8, 8};
  static const int64_t strides[] = {64, 64, 8, 1};
  const tenon_tensor_view_t image = {.data = run->pixels,
                                     .dims = dims,
                                     .strides = strides,
                                     .rank = 4,
                                     .dtype = TENON_DTYPE_FLOAT32,
                                     .layout = TENON_NONE};
  EXPECT_STATUS(tenon_context_set_input(run->context, 0, &image), TENON_OK);
}

static inline void get_scores(run_t* run, float out_scores[CLASSES]) {
  tenon_tensor_view_t scores = {0};
  memset(out_scores, 0, CLASSES * sizeof *out_scores);
  EXPECT_STATUS(tenon_context_get_output(run->context, 0, &scores), TENON_OK);
  if (scores.data != NULL) {
    memcpy(out_scores, scores.data, CLASSES * sizeof *out_scores);
  }
}

static inline bool are_same(const float a[CLASSES], const float b[CLASSES]) {
  for (int k = 0; k < CLASSES; ++k) {
    if (a[k] != b[k]) {
      return false;
    }
  }
  return true;
}

static inline uint64_t calls(const run_t* run, far_call_t call) {
  far_counts_t counts;
  run->far->counts(0, &counts);
  return counts.calls[call];
}

#endif
