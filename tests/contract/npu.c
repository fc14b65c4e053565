/* A device with memory of its own and two kernels, which name operators that have expressions, and
 * a reference that refuses matrices. */
#include <math.h>
#include <stdlib.h>

#include "stranger.h"

TENON_PLUGIN_MANIFEST("npu", "1.0.0",
                      "offers: device npu\n"
                      "offers: kernel tanh standard.tanh/1 npu\n"
                      "offers: kernel relu standard.relu/1 npu\n"
                      "offers: kernel plain standard.mat_mul/1 npu\n");

struct tenon_device_t {
  uint32_t index;
};

static uint32_t count(void* state, const tenon_sink_t* sink) {
  (void)state;
  (void)sink;
  return 1;
}

static tenon_status_t open_device(void* state, uint32_t index, const tenon_sink_t* sink,
                                  tenon_device_t** out_device) {
  (void)state;
  (void)sink;
  *out_device = malloc(sizeof(**out_device));
  if (*out_device == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  (*out_device)->index = index;
  return TENON_OK;
}

static void close_device(tenon_device_t* device) {
  free(device);
}

static const char* fingerprint(tenon_device_t* device) {
  (void)device;
  return "an npu";
}

static int32_t has(tenon_device_t* device, const char* name) {
  (void)device;
  (void)name;
  return 0;
}

static tenon_status_t allocate(tenon_device_t* device, tenon_stream_t* stream, size_t size_bytes,
                               void** out_data) {
  (void)device;
  (void)stream;
  *out_data = aligned_alloc(256, (size_bytes + 256) / 256 * 256);
  return *out_data == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

static void free_memory(tenon_device_t* device, tenon_stream_t* stream, void* data,
                        size_t size_bytes) {
  (void)device;
  (void)stream;
  (void)size_bytes;
  free(data);
}

static tenon_status_t copy(tenon_device_t* device, tenon_stream_t* stream, int32_t direction,
                           void* target, const void* source, size_t size_bytes) {
  (void)device;
  (void)stream;
  (void)direction;
  memcpy(target, source, size_bytes);
  return TENON_OK;
}

static tenon_status_t fill(tenon_device_t* device, tenon_stream_t* stream, void* target,
                           int32_t byte, size_t size_bytes) {
  (void)device;
  (void)stream;
  memset(target, byte, size_bytes);
  return TENON_OK;
}

static const tenon_device_descriptor_t devices[] = {{.size = sizeof(tenon_device_descriptor_t),
                                                     .name = "npu",
                                                     .flags = TENON_DEVICE_INLINE_STREAM,
                                                     .count = count,
                                                     .open = open_device,
                                                     .close = close_device,
                                                     .fingerprint = fingerprint,
                                                     .has = has,
                                                     .allocate = allocate,
                                                     .free = free_memory,
                                                     .copy = copy,
                                                     .fill = fill}};

static tenon_status_t run_tanh(const tenon_enqueue_t* call) {
  const float* x = call->inputs[0].tensor.data;
  float* y = call->outputs[0].tensor.data;
  for (int64_t k = 0; k < stranger_count(&call->inputs[0].tensor); ++k) {
    y[k] = tanhf(x[k]);
  }
  return TENON_OK;
}

static tenon_status_t run_relu(const tenon_enqueue_t* call) {
  const float* x = call->inputs[0].tensor.data;
  float* y = call->outputs[0].tensor.data;
  for (int64_t k = 0; k < stranger_count(&call->inputs[0].tensor); ++k) {
    y[k] = x[k] > 0 ? x[k] : 0;
  }
  return TENON_OK;
}

/* Vectors alone. */
static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon_value_info_t* x = table->value(region, table->input(region, 0));
  (void)state;
  *out_refusal = (tenon_refusal_t){.reason = TENON_REFUSAL_SHAPE, .detail = "no vector"};
  return x->dtype == TENON_DTYPE_FLOAT32 && x->rank == 1 ? 1 : 0;
}

static const char* const tanh_op[] = {"standard.tanh/1", NULL};
static const char* const relu_op[] = {"standard.relu/1", NULL};
static const char* const mat_mul_op[] = {"standard.mat_mul/1", NULL};

static tenon_status_t never_run(const tenon_enqueue_t* call) {
  (void)call;
  return TENON_ERROR_INTERNAL;
}

#define KERNEL(kernel_name, ops, run, ...)                                                      \
  {                                                                                             \
    .size = sizeof(tenon_kernel_t), .name = (kernel_name), .device = "npu", .operators = (ops), \
    .match = match, .enqueue = (run), .version = 1, __VA_ARGS__                                 \
  }
static const tenon_kernel_t kernels[] = {
    KERNEL("tanh", tanh_op, run_tanh, .flags = 0), KERNEL("relu", relu_op, run_relu, .flags = 0),
    KERNEL("plain", mat_mul_op, never_run, .flags = TENON_KERNEL_REFERENCE)};
static const tenon_offering_t* const offerings[] = {TENON_OFFERING("device/1", devices),
                                                    TENON_OFFERING("kernel/1", kernels)};
STRANGER_QUERY("npu")
