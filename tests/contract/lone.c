/* Two closed operators with a reference and one faster kernel each. One of these kernels is wrong.
 */
#include "stranger.h"

TENON_PLUGIN_MANIFEST("lone", "1.0.0",
                      "offers: operator lone.twice/1\n"
                      "offers: operator lone.thrice/1\n"
                      "offers: kernel exact lone.twice/1 cpu\n"
                      "offers: kernel fast lone.twice/1 cpu\n"
                      "offers: kernel exact_thrice lone.thrice/1 cpu\n"
                      "offers: kernel fast_thrice lone.thrice/1 cpu\n");

static tenon_status_t multiply(const tenon_enqueue_t* call, float factor) {
  const float* x = call->inputs[0].tensor.data;
  float* y = call->outputs[0].tensor.data;
  for (int64_t k = 0; k < stranger_count(&call->inputs[0].tensor); ++k) {
    y[k] = x[k] * factor;
  }
  return TENON_OK;
}

static tenon_status_t by_two(const tenon_enqueue_t* call) {
  return multiply(call, 2);
}

static tenon_status_t by_three(const tenon_enqueue_t* call) {
  return multiply(call, 3);
}

static const tenon_operator_t operators[] = {STRANGER_UNARY("lone.twice/1"),
                                             STRANGER_UNARY("lone.thrice/1")};
static const char* const twice[] = {"lone.twice/1", NULL};
static const char* const thrice[] = {"lone.thrice/1", NULL};

#define KERNEL(kernel_name, ops, kernel_flags, function)                                        \
  {                                                                                             \
    .size = sizeof(tenon_kernel_t), .name = (kernel_name), .device = "cpu", .operators = (ops), \
    .version = 1, .flags = (kernel_flags), .enqueue = (function)                                \
  }

static const tenon_kernel_t kernels[] = {
    KERNEL("exact", twice, TENON_KERNEL_REFERENCE, by_two),
    KERNEL("fast", twice, 0, by_three), /* wrong */
    KERNEL("exact_thrice", thrice, TENON_KERNEL_REFERENCE, by_three),
    KERNEL("fast_thrice", thrice, 0, by_three)};

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("operator/1", operators),
                                                    TENON_OFFERING("kernel/1", kernels)};
STRANGER_QUERY("lone")
