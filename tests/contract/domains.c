/* A kernel that looks at its data as its ports declare them, and fails where they are not so. */
#include "stranger.h"

TENON_PLUGIN_MANIFEST("domains", "1.0.0",
                      "offers: operator domains.table/1\n"
                      "offers: kernel table domains.table/1 cpu\n");

static const tenon_port_t ports[] = {
    {.size = sizeof(tenon_port_t), .name = "x", .type = "f32", .domain = "[0,1] sorted"},
    {.size = sizeof(tenon_port_t), .name = "rows", .type = "i64", .domain = "index(x, axis)"},
    {.size = sizeof(tenon_port_t), .name = "scale", .type = "f32", .domain = "positive"},
    {.size = sizeof(tenon_port_t), .name = "step", .type = "i32", .domain = "[2,5] nonzero"}};
static const tenon_attribute_descriptor_t attributes[] = {{.size = sizeof(*attributes),
                                                           .name = "axis",
                                                           .default_text = "-1",
                                                           .kind = TENON_ATTRIBUTE_INT}};

static int32_t is_within(const tenon_argument_t* argument, float low, float high, int32_t rises) {
  const float* data = argument->tensor.data;
  for (int64_t k = 0; k < stranger_count(&argument->tensor); ++k) {
    if (data[k] < low || data[k] > high || (rises && k > 0 && data[k] < data[k - 1])) {
      return 0;
    }
  }
  return 1;
}

static tenon_status_t run(const tenon_enqueue_t* call) {
  const int64_t* rows = call->inputs[1].tensor.data;
  const int32_t* step = call->inputs[3].tensor.data;
  if (!is_within(&call->inputs[0], 0, 1, 1)) {
    return call->host->fail(call->run, TENON_ERROR_INVALID_DATA, "x is not sorted within 0 and 1");
  }
  if (!is_within(&call->inputs[2], 1e-30F, 1e30F, 0)) {
    return call->host->fail(call->run, TENON_ERROR_INVALID_DATA, "scale is not positive");
  }
  for (int64_t k = 0; k < stranger_count(&call->inputs[1].tensor); ++k) {
    if (rows[k] < 0 || rows[k] >= call->inputs[0].tensor.dims[0]) {
      return call->host->fail(call->run, TENON_ERROR_INVALID_DATA, "rows is no index of x");
    }
  }
  if (step[0] < 2 || step[0] > 5) {
    return call->host->fail(call->run, TENON_ERROR_INVALID_DATA, "step is none of 2 to 5");
  }
  memcpy(call->outputs[0].tensor.data, call->inputs[0].tensor.data,
         (size_t)stranger_count(&call->inputs[0].tensor) * sizeof(float));
  return TENON_OK;
}

static const tenon_operator_t operators[] = {{.size = sizeof(tenon_operator_t),
                                              .name = "domains.table/1",
                                              .inputs = TENON_LIST(ports),
                                              .outputs = TENON_LIST(stranger_y),
                                              .attributes = TENON_LIST(attributes),
                                              .shape = "y = x"}};
static const char* const computes[] = {"domains.table/1", NULL};
static const tenon_kernel_t kernels[] = {{.size = sizeof(tenon_kernel_t),
                                          .name = "table",
                                          .device = "cpu",
                                          .operators = computes,
                                          .version = 1,
                                          .enqueue = run}};
static const tenon_offering_t* const offerings[] = {TENON_OFFERING("operator/1", operators),
                                                    TENON_OFFERING("kernel/1", kernels)};
STRANGER_QUERY("domains")
