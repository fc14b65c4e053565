/* Kernels for operators that need none: the standard ones with an expression. */
#include <time.h>

#include "stranger.h"

TENON_PLUGIN_MANIFEST("named", "1.0.0",
                      "offers: kernel quick standard.relu/1 cpu\n"
                      "offers: kernel slow standard.abs/1 cpu\n"
                      "offers: kernel choosy standard.exp/1 cpu\n");

static tenon_status_t run_relu(const tenon_enqueue_t* call) {
  const float* x = call->inputs[0].tensor.data;
  float* y = call->outputs[0].tensor.data;
  for (int64_t k = 0; k < stranger_count(&call->inputs[0].tensor); ++k) {
    y[k] = x[k] > 0 ? x[k] : 0;
  }
  return TENON_OK;
}

/* Right, but two milliseconds late, unless a second ends meanwhile. */
static tenon_status_t run_abs(const tenon_enqueue_t* call) {
  struct timespec begin;
  struct timespec now;
  const float* x = call->inputs[0].tensor.data;
  float* y = call->outputs[0].tensor.data;
  (void)timespec_get(&begin, TIME_UTC);
  do {
    (void)timespec_get(&now, TIME_UTC);
  } while (now.tv_sec == begin.tv_sec && now.tv_nsec - begin.tv_nsec < 2000000);
  for (int64_t k = 0; k < stranger_count(&call->inputs[0].tensor); ++k) {
    y[k] = x[k] > 0 ? x[k] : -x[k];
  }
  return TENON_OK;
}

static tenon_status_t never_run(const tenon_enqueue_t* call) {
  (void)call;
  return TENON_ERROR_INTERNAL;
}

STRANGER_TACTICS(quick) {
  (void)state;
  (void)region;
  (void)table;
  return add(emit, &(tenon_tactic_t){
                       .size = sizeof(tenon_tactic_t), .name = "loop", .estimate_seconds = 1e-12});
}

static int32_t refuse(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                      tenon_refusal_t* out_refusal) {
  (void)state;
  (void)region;
  (void)table;
  *out_refusal = (tenon_refusal_t){.reason = TENON_REFUSAL_SHAPE, .detail = "not on a Monday"};
  return 0;
}

static const char* const relu[] = {"standard.relu/1", NULL};
static const char* const abs_op[] = {"standard.abs/1", NULL};
static const char* const exp_op[] = {"standard.exp/1", NULL};

static const tenon_kernel_t kernels[] = {{.size = sizeof(tenon_kernel_t),
                                          .name = "quick",
                                          .device = "cpu",
                                          .operators = relu,
                                          .version = 1,
                                          .tactics = quick,
                                          .enqueue = run_relu},
                                         {.size = sizeof(tenon_kernel_t),
                                          .name = "slow",
                                          .device = "cpu",
                                          .operators = abs_op,
                                          .version = 1,
                                          .enqueue = run_abs},
                                         {.size = sizeof(tenon_kernel_t),
                                          .name = "choosy",
                                          .device = "cpu",
                                          .operators = exp_op,
                                          .version = 1,
                                          .match = refuse,
                                          .enqueue = never_run}};
static const tenon_offering_t* const offerings[] = {TENON_OFFERING("kernel/1", kernels)};
STRANGER_QUERY("named")
