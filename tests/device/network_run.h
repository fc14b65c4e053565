/* Networks on the device `far` by the application's interface, for the tests of this folder: those
 * that a test makes, and one from a file. */
#ifndef TENON_TESTS_DEVICE_NETWORK_RUN_H_
#define TENON_TESTS_DEVICE_NETWORK_RUN_H_

#include <unistd.h>

#include "tests/support/far_device/control.h"

#include "tests/api/session.h"

enum { PIXELS = 64, CLASSES = 10 };

typedef struct run_t {
  session_t session;
  const far_control_t* far;
  tenon_engine_t* engine;
  tenon_context_t* context;
  float numbers[PIXELS]; /* an image, or a test's own: lent to the context, for later runs too */
} run_t;

/* ---- Networks ---- */

/* An empty network, and the device as it is at first. */
static inline bool begin_network(run_t* run) {
  char folder[1024];
  memset(run, 0, sizeof *run);
  run->far = far_control_open(FAR_DEVICE_PATH);
  if (run->far == NULL ||
      !session_begin(&run->session, session_path("tests/far_device", folder, sizeof folder))) {
    return false;
  }
  run->far->reset();
  return true;
}

/* An engine of the network and its context. By way of a file, so that what reads plans looks at it.
 */
static inline bool start(run_t* run, const char* device, tenon_build_options_t options) {
  char path[] = "/tmp/tenon_device_XXXXXX";
  tenon_plan_t* plan = NULL;
  options.device = device;
  options.no_measuring = 1;
  const int file = mkstemp(path);
  EXPECT(file >= 0);
  (void)close(file);
  EXPECT_STATUS(tenon_build(run->session.network, &options, &plan), TENON_OK);
  EXPECT_STATUS(tenon_plan_save(plan, path), TENON_OK);
  EXPECT_STATUS(tenon_engine_create_from_file(run->session.registry, path, NULL, &run->engine),
                TENON_OK);
  (void)unlink(path);
  tenon_plan_destroy(plan);
  const bool is_started =
      run->engine != NULL && tenon_context_create(run->engine, NULL, &run->context) == TENON_OK;
  if (!is_started) {
    tenon__test_fail(__FILE__, __LINE__, "%s", run->session.messages.text);
  }
  return is_started;
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

/* Dense rows, which stay the caller's until they are not read any more. */
static inline void set_rows(const run_t* run, uint32_t index, tenon_dtype_t dtype, uint32_t rank,
                            const int64_t* dims, const void* data) {
  int64_t strides[4];
  (void)tenon__strides_row_major(rank, dims, strides);
  const tenon_tensor_view_t view = {.data = tenon__drop_const(data),
                                    .dims = dims,
                                    .strides = strides,
                                    .rank = rank,
                                    .dtype = dtype,
                                    .layout = TENON_NONE};
  EXPECT_STATUS(tenon_context_set_input(run->context, index, &view), TENON_OK);
}

static inline far_counts_t counts_of(const run_t* run) {
  far_counts_t counts;
  run->far->counts(0, &counts);
  return counts;
}

static inline uint64_t calls(const run_t* run, far_call_t call) {
  return counts_of(run).calls[call];
}

/* ---- Digits ---- */

/* Lazy from the beginning, where that is asked: what a context puts on its stream when it is made
 * would else be under way still. */
static inline bool begin_lazily(run_t* run, bool is_lazy, const char* device,
                                const char* const* node_devices) {
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.node_devices = node_devices;
  if (!begin_network(run)) {
    return false;
  }
  run->far->set(0, FAR_SETTING_LAZY, is_lazy);
  for (int k = 0; k < PIXELS; ++k) {
    run->numbers[k] = (float)(k % 7) / 7;
  }
  EXPECT_STATUS(tenon_network_parse_file(run->session.network, DIGITS_MODEL, NULL), TENON_OK);
  return start(run, device, options);
}

static inline bool begin(run_t* run, const char* device, const char* const* node_devices) {
  return begin_lazily(run, false, device, node_devices);
}

static inline void set_image(run_t* run) {
  static const int64_t dims[] = {1, 1, 8, 8};
  set_rows(run, 0, TENON_DTYPE_FLOAT32, 4, dims, run->numbers);
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

#endif
