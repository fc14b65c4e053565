/* Matrix products on NVIDIA's GPUs through cuBLASLt: a kernel for the device that the plugin `cuda`
 * offers. */
#include <string.h>

#include "mat_mul.h"

TENON_PLUGIN_MANIFEST("cublas", "0.2.0",
                      "vendor: Tenon\n"
                      "licence: Apache-2.0\n"
                      "offers: kernel mat_mul standard.mat_mul/1 cuda\n"
                      "needs-library: libcublasLt.so.13 opened\n"
                      "needs-library: libcublasLt.so.12 opened\n"
                      "host-service: allocator/1\n");

static tenon_status_t start(const tenon_host_offer_t* host, void** out_state) {
  const tenon_allocator_t* allocator = host->table(host->host, "allocator/1");
  if (allocator == NULL) {
    return TENON_ERROR_DENIED;
  }
  tenon__cublas_state_t* state = allocator->resize(allocator->user, NULL, 0, sizeof(*state));
  if (state == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  memset(state, 0, sizeof(*state));
  state->allocator = *allocator;
  (void)pthread_mutex_init(&state->lock, NULL);
  *out_state = state;
  return TENON_OK;
}

static void stop(void* state) {
  tenon__cublas_state_t* cublas = state;
  const tenon_allocator_t allocator = cublas->allocator;
  (void)pthread_mutex_destroy(&cublas->lock);
  (void)allocator.resize(allocator.user, cublas, sizeof(*cublas), 0);
}

static const tenon_offering_t kernels = {
    .size = sizeof(tenon_offering_t),
    .kind = "kernel/1",
    .items = {&tenon__cublas_mat_mul_kernel, 1, sizeof(tenon_kernel_t)}};
static const tenon_offering_t* const offerings[] = {&kernels};
static const tenon_plugin_t plugin = {
    TENON_PLUGIN_HEADER, .name = "cublas", .version = "0.2.0", .offerings = TENON_LIST(offerings),
    .start = start,      .stop = stop,
};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  return host->abi_major == TENON_ABI_MAJOR ? &plugin : NULL;
}
