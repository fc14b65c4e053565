/* Kernels that compute the right numbers and write outside of their memory. */
#include "stranger.h"

TENON_PLUGIN_MANIFEST("bounds", "1.0.0",
                      "offers: kernel behind standard.relu/1 cpu\n"
                      "offers: kernel front standard.abs/1 cpu\n"
                      "offers: kernel scratch standard.exp/1 cpu\n");

enum { SCRATCH_BYTES = 96 };

static void fill(float* y, const float* x, int64_t count) {
  for (int64_t k = 0; k < count; ++k) {
    y[k] = x[k] > 0 ? x[k] : 0;
  }
}

static tenon_status_t write_behind(const tenon_enqueue_t* call) {
  const int64_t count = stranger_count(&call->inputs[0].tensor);
  float* y = call->outputs[0].tensor.data;
  fill(y, call->inputs[0].tensor.data, count);
  y[count + 7] = 1;
  return TENON_OK;
}

static tenon_status_t write_in_front(const tenon_enqueue_t* call) {
  const float* x = call->inputs[0].tensor.data;
  float* y = call->outputs[0].tensor.data;
  for (int64_t k = 0; k < stranger_count(&call->inputs[0].tensor); ++k) {
    y[k] = x[k] > 0 ? x[k] : -x[k];
  }
  y[-1] = 1;
  return TENON_OK;
}

static tenon_status_t write_behind_scratch(const tenon_enqueue_t* call) {
  ((char*)call->host->scratch(call->run))[SCRATCH_BYTES] = 1;
  fill(call->outputs[0].tensor.data, call->inputs[0].tensor.data,
       stranger_count(&call->inputs[0].tensor));
  return TENON_OK;
}

STRANGER_TACTICS(with_scratch) {
  (void)state;
  (void)region;
  (void)table;
  return add(
      emit, &(tenon_tactic_t){
                .size = sizeof(tenon_tactic_t), .name = "scratch", .scratch_bytes = SCRATCH_BYTES});
}

static const char* const relu[] = {"standard.relu/1", NULL};
static const char* const abs_op[] = {"standard.abs/1", NULL};
static const char* const exp_op[] = {"standard.exp/1", NULL};

static const tenon_kernel_t kernels[] = {{.size = sizeof(tenon_kernel_t),
                                          .name = "behind",
                                          .device = "cpu",
                                          .operators = relu,
                                          .version = 1,
                                          .enqueue = write_behind},
                                         {.size = sizeof(tenon_kernel_t),
                                          .name = "front",
                                          .device = "cpu",
                                          .operators = abs_op,
                                          .version = 1,
                                          .enqueue = write_in_front},
                                         {.size = sizeof(tenon_kernel_t),
                                          .name = "scratch",
                                          .device = "cpu",
                                          .operators = exp_op,
                                          .version = 1,
                                          .tactics = with_scratch,
                                          .enqueue = write_behind_scratch}};
static const tenon_offering_t* const offerings[] = {TENON_OFFERING("kernel/1", kernels)};
STRANGER_QUERY("bounds")
